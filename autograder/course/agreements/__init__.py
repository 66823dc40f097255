"""Changes to what is agreed with learners, and what follows from them in the gradebook."""
