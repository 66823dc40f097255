"""Moodle's grading worksheet, which it writes and reads."""
