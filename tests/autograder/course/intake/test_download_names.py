"""What the name of a file in a download says, on both sides of what each platform writes."""

import pytest

from autograder.course.intake.archives import Refused
from autograder.course.intake.download_names import composed, is_submitted, label_of, upload


class Packed:
    """As much of an archive's member as its name."""

    def __init__(self, name):
        self.name, self.path = name, tuple(name.split("/"))


def said(label):
    return label.owner.platform, label.owner.who, label.owner.number, label.title, label.kind, label.late


@pytest.mark.parametrize(
    ("part", "is_file", "expected"),
    [
        ("ada.ipynb", True, ("plain", "ada", "", "", "file", False)),
        ("bob", False, ("plain", "bob", "", "", "file", False)),
        ("bob.ipynb", False, ("plain", "bob.ipynb", "", "", "file", False)),
        ("lovelaceada_4711_90210_hw.ipynb", True, ("canvas", "lovelaceada", "4711", "hw.ipynb", "file", False)),
        ("lovelaceada_LATE_4711_90210_hw.ipynb", True, ("canvas", "lovelaceada", "4711", "hw.ipynb", "file", True)),
        ("Ada L_123_assignsubmission_file", False, ("moodle", "Ada L", "123", "", "file", False)),
        ("Ada L_123_assignsubmission_file_", False, ("moodle", "Ada L", "123", "", "file", False)),
        ("Ada L_123_assignsubmission_onlinetext", False, ("moodle", "Ada L", "123", "", "onlinetext", False)),
        ("Ada L_123_assignsubmission_file_hw.ipynb", True, ("moodle", "Ada L", "123", "hw.ipynb", "file", False)),
    ],
)
def test_a_name_says_its_owner_and_title(part, is_file, expected):
    assert said(label_of(part, {"ada"}, is_file=is_file)) == expected


def test_a_learner_of_the_gradebook_comes_before_any_platforms_form():
    name = "ann_1_2_x"
    assert said(label_of(f"{name}.ipynb", {name}, is_file=True))[:2] == ("plain", name)
    assert said(label_of(f"{name}.ipynb", (), is_file=True))[:3] == ("canvas", "ann", "1")


def test_the_owner_who_may_be_meant_as_well_is_named():
    assert label_of("ann_1_2_3_hw.ipynb", (), is_file=True).owner.others == (("ann_1", "2"),)
    assert label_of("ann_1_2_hw.ipynb", (), is_file=True).owner.others == ()


@pytest.mark.parametrize(
    ("name", "submitted"),
    [
        ("ann/hw.ipynb", True),
        ("__MACOSX/hw.ipynb", False),
        ("ann/.ipynb_checkpoints/hw.ipynb", False),
        ("ann/.DS_Store", False),
        ("ann/._hw.ipynb", False),
        ("._ann/hw.ipynb", True),
    ],
)
def test_what_a_system_packs_by_itself_is_not_submitted(name, submitted):
    assert is_submitted(Packed(name)) is submitted


@pytest.mark.parametrize(
    ("name", "around", "who", "title"),
    [
        ("ada.ipynb", 0, "ada", "ada.ipynb"),
        ("week/ada.ipynb", 1, "ada", "ada.ipynb"),
        ("week/ada/deep/hw.ipynb", 1, "ada", "hw.ipynb"),
        ("ada.ipynb", 1, "ada", "ada.ipynb"),  # it has no folder to leave out
        ("ada_1_2_hw.ipynb", 0, "ada", "hw.ipynb"),
    ],
)
def test_the_outermost_name_below_the_platforms_folders_counts(name, around, who, title):
    result = upload(Packed(name), around, {"ada"})
    assert (result.owner.who, result.title, result.late) == (who, title, False)


@pytest.mark.parametrize(
    "name", ["anon_x1_90210_hw.ipynb", "LATE_anon_x1_90210_hw.ipynb", "A_1_assignsubmission_onlinetext/x"]
)
def test_a_hidden_owner_and_a_typed_text_are_refused(name):
    with pytest.raises(Refused):
        upload(Packed(name), 0, ())


def test_a_learner_called_like_a_hidden_one_is_known():
    assert upload(Packed("anon_x1_2_hw.ipynb"), 0, {"anon_x1_2_hw"}).owner.who == "anon_x1_2_hw"


def test_a_letter_and_its_accent_are_one_character():
    assert composed("e\u0301") == "\u00e9"
