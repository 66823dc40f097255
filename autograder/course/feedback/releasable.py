"""What nbgrader's `release_feedback` reads beside a feedback page.

It stops at the first page without these files, which only a submission of its exchange has; those behind it then get
no feedback. Beside the page of any other submission they are made: without a time, and with a secret that nobody
knows, so that what is released of it is found by nobody.
"""

import hashlib
import hmac
import shutil
from pathlib import Path

from ...ranks.seeds import secret_of
from ...values.atomic_write import write_whole
from ...values.digest import add_parts

TIME, SECRET = "timestamp.txt", "submission_secret.txt"


def complete(page: Path, course: Path, learner: str) -> None:
    """Write what is missing beside a learner's feedback `page`; the same at every run."""
    made = hmac.new(secret_of(course).encode(), digestmod=hashlib.sha256)
    add_parts(made, ("release", learner, page.stem))
    for name, text in ((TIME, ""), (SECRET, made.hexdigest())):
        path = page.with_name(name)
        if path.is_dir() and not path.is_symlink():  # a learner's, who may call a folder so
            shutil.rmtree(path)
        if not path.is_file():
            write_whole(path, text)
