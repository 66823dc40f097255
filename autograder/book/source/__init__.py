"""A chapter's source: how it is read, and the learner's edition that is made of it."""
