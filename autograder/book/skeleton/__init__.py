"""A new chapter: a draft that builds and tests itself, with an example of each thing that a chapter has."""

import re
import shutil
import tempfile
from pathlib import Path

from ..source.chapters import chapter_names

NAME = re.compile(r"([0-9]{2})-([a-z][a-z0-9]*(?:-[a-z0-9]+)*)")
HERE = Path(__file__).parent


class SkeletonError(ValueError):
    """A chapter of that name cannot be created; the message says why, and which name was expected."""


def new_chapter(root: Path, name: str, *, sections: bool = False) -> list[Path]:
    """Write solutions/NAME/ as a draft, and return its files: NAME.md, and exercises.py or a folder exercises/.

    All files are written, or none.
    """
    solutions = root / "solutions"
    number, topic = _checked(root, name)
    text = _filled("chapter.md", number, topic)
    exercises = _filled("exercises.txt", number, topic)
    declared = Path("exercises", "first_section.py") if sections else Path("exercises.py")
    files = {Path(f"{name}.md"): text, declared: exercises}
    with tempfile.TemporaryDirectory(prefix=".new-", dir=solutions) as scratch:
        made = Path(scratch, name)
        for path, content in files.items():
            (made / path).parent.mkdir(parents=True, exist_ok=True)
            (made / path).write_text(content, encoding="utf-8")
        shutil.move(made, solutions / name)
    return [solutions / name / path for path in files]


def _checked(root: Path, name: str) -> tuple[str, str]:
    """The number and the topic of a name that no chapter has yet."""
    parts = NAME.fullmatch(name)
    if parts is None:
        raise SkeletonError(
            f"{name!r} cannot name a chapter; two digits and a topic were expected, e.g. 08-sharded-matmuls"
        )
    number, topic = parts[1], parts[2]
    if root.name == "_book":
        raise SkeletonError(f"{root} is an installed copy of the book; chapters are written in a checkout")
    if (root / "solutions" / name).exists():
        raise SkeletonError(f"{root / 'solutions' / name} already exists; the name of a new chapter was expected")
    for other in chapter_names(root, with_drafts=True):
        its_number, _, its_topic = other.partition("-")
        if its_number == number:
            raise SkeletonError(f"{name}: number {number} is taken by {other}; the next free one is {_free(root)}")
        if its_topic == topic:
            raise SkeletonError(
                f"{name}: the topic is taken by {other}, and the ids of exercises begin with it; another was expected"
            )
    return number, topic


def _free(root: Path) -> str:
    taken = [int(found[1]) for name in chapter_names(root, with_drafts=True) if (found := NAME.fullmatch(name))]
    return f"{max(taken, default=0) + 1:02}"


def _filled(file: str, number: str, topic: str) -> str:
    text = (HERE / file).read_text(encoding="utf-8")
    title = topic.replace("-", " ").capitalize()
    return text.replace("the-topic", topic).replace("The topic", title).replace("chapter NN", f"chapter {int(number)}")
