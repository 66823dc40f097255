"""Answers in words, under the name by which notebooks and banks may import them; see `autograder.answers.written`."""

from .answers.written import *  # noqa: F403
from .answers.written import __all__ as __all__
