"""A term of a course, and every number of it twice."""
