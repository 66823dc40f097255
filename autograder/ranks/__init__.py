"""The ranks of a learner's algorithm, and the judge as their network."""
