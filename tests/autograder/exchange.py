"""nbgrader's exchange as it is after a submission was collected: the file beside the notebook, and what it keeps."""

from autograder.course.layout import read_config


def submitted_at(folder, who, name, when):
    """The exchange has taken the submission of `who`, which is in submitted/ by now, at that time."""
    (folder / "submitted" / who / name / "timestamp.txt").write_text(when)
    kept_at(folder, who, name, when)


def kept_at(folder, who, name, when):
    """What the exchange of a course keeps of a submission."""
    config, root = folder / "nbgrader_config.py", folder / "exchange"
    if str(root) not in config.read_text():
        config.write_text(f"{config.read_text()}\nc.Exchange.root = {str(root)!r}\n")
    course_id = read_config(folder).CourseDirectory.get("course_id", "")
    (root / course_id / "inbound" / f"{who}+{name}+{when}+x7Qa").mkdir(parents=True, exist_ok=True)
