"""The errors of a course, without nbgrader: a command that only looks at a folder need not load it."""


class CourseError(ValueError):
    """A course, an assignment or a submission is invalid; the message names the file."""
