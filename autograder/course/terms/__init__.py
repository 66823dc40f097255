"""What is agreed with learners about an assignment, as the course keeps it: deadlines, extensions, groups."""
