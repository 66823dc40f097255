"""A class and the archives of its submissions, as the platforms write them."""

import json
import warnings
import zipfile

from autograder import course
from autograder.course import gradebook, gradebook_url

ADA, BOB, LEE = (
    {"first_name": "Ada", "last_name": "O'Lovelace", "email": "ada@x.org", "lms_user_id": "4711"},
    {"first_name": "Bob", "last_name": "Müller Ōta"},
    {"first_name": "Kim", "last_name": "Lee"},
)
PEOPLE = {"ada": ADA, "bob": BOB, "kim1": LEE, "kim2": LEE}
ASSIGNMENTS = {"week1": ("a", "b"), "week2": ("c", "d")}


def notebook(*questions, text="answer = 1"):
    """A notebook with an answer cell for each question."""
    cells = [
        {
            "cell_type": "code",
            "id": f"cell-{one}",
            "metadata": {"nbgrader": {"grade_id": one}},
            "source": text,
            "outputs": [],
            "execution_count": None,
        }
        for one in questions
    ]
    return json.dumps({"nbformat": 4, "nbformat_minor": 5, "metadata": {}, "cells": cells})


def small_course(folder, people=PEOPLE):
    """A course with two released assignments and these learners."""
    course.init(folder)
    with warnings.catch_warnings(), gradebook_url.opened(gradebook.url_of(folder)) as book:
        warnings.simplefilter("ignore")
        for name, more in people.items():
            book.add_student(name, **more)
        for name in ASSIGNMENTS:
            book.add_assignment(name)
    for name, questions in ASSIGNMENTS.items():
        (folder / "release" / name).mkdir()
        (folder / "release" / name / f"{name}.ipynb").write_text(notebook(*questions))
    return folder


def packed(path, members, when=(2030, 1, 7, 12, 0, 0)):
    """A zip with these members: a text by name, or by a ZipInfo."""
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, text in members.items() if isinstance(members, dict) else members:
            info = name if isinstance(name, zipfile.ZipInfo) else zipfile.ZipInfo(name, when)
            info.compress_type = zipfile.ZIP_DEFLATED
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # two members of one name are meant
                archive.writestr(info, text)
    return path
