"""Assignments: what there is to assign, the notebook that is released, exercises that no longer count."""
