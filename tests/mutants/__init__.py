"""Mutants: one small error at a time in a copy of the source, and whether the closest fast tests see it.

    python -m tests.mutants --count 100 --seed 7

Coverage says which lines the tests run; this says which they check. The seed and the source determine the mutants.
`record.toml` lists those that change nothing, each with its reason, and the scores so far.
"""
