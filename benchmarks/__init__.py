"""The library's models beside published measurements and beside simpler models, one program each.

Rooms, the lowest first; an import goes up this list only:

- `rows`: reads published measurements. `grading`, `term`, `speed`, `gpu` and `launch` stand by themselves.
- `fit`: fits constants to rows.
- `score`: predicts rows, and says how far off; its command is `python -m benchmarks.fidelity`.
- `planner`: the planner beside published plans and other tools, and the generated parts of its pages.
"""
