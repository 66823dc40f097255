"""What somebody holds in their hands, read: which reader a text is for, and that reader's answer.

The page "Read this for me" asks it in the reader's browser, and agents by the tool `read` of `gpubook mcp`. Nothing
here opens a path that a text names, and nothing is sent anywhere.
"""

from .answer import ReadAnswer, answered, read
from .held_file import HeldFile
from .kinds import KINDS, ReaderKind
from .reading_error import ReadingError
from .reading_options import READING_OPTIONS

__all__ = ["KINDS", "READING_OPTIONS", "HeldFile", "ReadAnswer", "ReaderKind", "ReadingError", "answered", "read"]
