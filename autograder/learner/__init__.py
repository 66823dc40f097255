"""What happens in the learner's kernel: the verbs, the look-up of declarations, progress, a copy of the book."""
