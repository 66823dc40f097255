"""A class of six who submit a chapter: `python -m tests.sample_class DIR` lays out their course.

Each learner is a short file whose `submit(nb, book)` edits the released notebook, by exercise id.
"""

LEARNERS = ("all_right", "other_units_and_forms", "declared_mistakes", "nothing", "crashes", "cheat")
