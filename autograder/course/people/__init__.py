"""What a course keeps of one learner: all of it to hand out, and all of it to delete."""
