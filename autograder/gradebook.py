"""The late penalties, under the names that a course's configuration holds; see `autograder.course.gradebook`."""

from .course.gradebook import DaysToSpend, LatePerDay

__all__ = ["DaysToSpend", "LatePerDay"]
