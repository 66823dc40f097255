"""What a chapter's cells put out: run once, kept, and shown before a learner runs anything."""
