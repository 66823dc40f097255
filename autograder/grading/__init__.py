"""One submission: run, judge, restore, judge again."""
