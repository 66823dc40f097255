"""The late penalty, under the name that a course's configuration holds; see `autograder.course.gradebook`."""

from .course.gradebook import LatePerDay

__all__ = ["LatePerDay"]
