"""What goes wrong with a course, said without nbgrader: a command that only looks at a folder need not load it."""


class CourseError(ValueError):
    """A course, an assignment or a submission is not what it should be; the message names the file."""
