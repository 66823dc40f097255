"""What a cell uses, binds and changes."""

import pytest

from autograder.values.cell_names import names_of


@pytest.mark.parametrize(
    ("source", "uses", "binds", "changes", "imports"),
    [
        ("", set(), set(), set(), set()),
        ("a = b", {"b"}, {"a"}, set(), set()),
        ("import math", set(), {"math"}, set(), {"math"}),
        ("from math import sqrt as root", set(), {"root"}, set(), {"root"}),
        ("def f(x):\n    y = x + z\n    return y", {"z"}, {"f"}, set(), set()),
        ("def f():\n    global z\n    z = w", {"w"}, {"f", "z"}, set(), set()),
        ("a.b[0] = c", {"a", "c"}, set(), {"a"}, set()),
        ("a[0] += 1", {"a"}, set(), {"a"}, set()),
        ("del a[0]", {"a"}, set(), {"a"}, set()),
        ("a.append(1)", {"a"}, set(), {"a"}, set()),
        ("a.b[0].append(c)", {"a", "c"}, set(), {"a"}, set()),
        ("print(a)", {"print", "a"}, set(), set(), set()),
        ("b = a.copy()", {"a"}, {"b"}, set(), set()),
        ("a[0]", {"a"}, set(), set(), set()),
        ("a.b", {"a"}, set(), set(), set()),
        ("if c:\n    a.b = 1", {"a", "c"}, set(), {"a"}, set()),
        ("def f():\n    a.b = 1", {"a"}, {"f"}, set(), set()),
        ("class C:\n    a.b = 1", {"a"}, {"C"}, set(), set()),
        ("async def f():\n    a.b = 1", {"a"}, {"f"}, set(), set()),
        ("x = 1 is 1", set(), {"x"}, set(), set()),  # Python warns, and this does not
    ],
)
def test_the_names_of_a_cell(source, uses, binds, changes, imports):
    assert names_of(source) == (uses, binds, changes, imports)


@pytest.mark.parametrize("source", ["a =", "%time a", "from math import *", "if a:\n    from math import *", "a\0b"])
def test_what_cannot_be_told(source):
    assert names_of(source) is None


def test_an_import_of_one_name_is_not_of_all():
    assert names_of("from math import sqrt, pi").imports == {"sqrt", "pi"}
