"""The pictures of a report: what stands where in them, against geometry worked out by hand."""

import re
from xml.etree import ElementTree

import pytest

from autograder.course.report.items import ItemStatistics
from autograder.course.report.plots import histogram, scatter, stacked

NUMBERS = ("x", "y", "width", "height", "cx", "cy", "r", "x1", "y1", "x2", "y2")


def parts(picture, name):
    """The numbers of each element of a kind, in the order of NUMBERS."""
    root = ElementTree.fromstring(str(picture))
    return [tuple(float(one.get(key)) for key in NUMBERS if one.get(key)) for one in root.iter(name)]


def words(picture):
    """Each text with its place."""
    root = ElementTree.fromstring(str(picture))
    return {(one.text, float(one.get("x")), float(one.get("y"))) for one in root.iter("text")}


def titles(picture):
    return re.findall(r"<title>(.*?)</title>", str(picture))


def test_a_histogram_has_bars_on_one_line_the_highest_as_high_as_there_is_room():
    picture = histogram([(0.0, 5.0, 1), (5.0, 10.0, 2)], "points")
    assert 'viewBox="0 0 360 220"' in picture
    assert parts(picture, "rect") == [(35, 98, 156, 86), (193, 12, 156, 172)]
    assert parts(picture, "line") == [(34, 184, 350, 184)]
    assert words(picture) == {
        ("1", 113, 95),
        ("2", 271, 9),
        ("0", 34, 198),
        ("5", 192, 198),
        ("10", 350, 198),
        ("points", 192, 216),
    }
    assert titles(picture) == ["0 to 5: 1 learners", "5 to 10: 2 learners"]
    assert "in each of 2 ranges" in picture


def test_an_empty_bin_has_no_number_and_an_empty_histogram_is_none():
    picture = histogram([(0.0, 1.0, 0), (1.0, 2.0, 1)], "points")
    assert parts(picture, "rect")[0][3] == 0
    assert ("0", 113, 181) not in words(picture)
    assert histogram([], "points") == histogram([(0.0, 1.0, 0)], "points") == ""


@pytest.mark.parametrize(("count", "edges"), [(1, 2), (4, 5), (5, 6), (9, 10), (10, 6), (15, 6)])
def test_at_most_ten_edges_have_a_number(count, edges):
    picture = histogram([(float(at), at + 1.0, 1) for at in range(count)], "points")
    numbers = sorted((x, float(text)) for text, x, y in words(picture) if y == 198)
    assert len(numbers) == edges
    assert numbers[0] == (34, 0)
    assert numbers[-1] == (350, count)


def item(number, right, discrimination):
    outcomes = {} if right is None else {"right": round(4 * right), "wrong": 4 - round(4 * right)}
    return ItemStatistics(number, f"e{number}", "", 1.0, outcomes, right, discrimination)


def test_an_exercise_stands_at_its_share_and_its_discrimination():
    picture = scatter([item(3, 0.25, 0.5), item(4, 0.0, 0.0), item(5, None, 0.5), item(6, 0.5, None)])
    assert parts(picture, "circle") == [(113, 80.8, 9), (34, 149.6, 9)]
    assert parts(picture, "line") == [(34, 149.6, 350, 149.6), (34, 184, 350, 184), (34, 12, 34, 184)]
    assert words(picture) == {
        ("0", 34, 198),
        ("25", 113, 198),
        ("50", 192, 198),
        ("75", 271, 198),
        ("100", 350, 198),
        ("0", 30, 153.6),
        ("0.5", 30, 84.8),
        ("1", 30, 16),
        ("3", 113, 84.8),
        ("4", 34, 153.6),
        ("right, %", 197, 216),
        ("discrimination", 40, 16),
    }
    assert titles(picture) == ["e3: 25 % right, discrimination 0.50", "e4: 0 % right, discrimination 0.00"]
    assert scatter([]) == scatter([item(5, None, 0.5), item(6, 0.5, None)]) == ""


@pytest.mark.parametrize(("least", "zero"), [(0.3, 149.6), (-0.2, 149.6), (-0.75, 12 + 172 / 1.8)])
def test_the_axis_reaches_down_to_the_lowest_and_a_fifth_below_zero_at_least(least, zero):
    picture = scatter([item(1, 0.5, least)])
    assert parts(picture, "line")[0][1] == pytest.approx(zero, abs=0.05)
    assert parts(picture, "circle")[0][1] <= 184 - 172 * 0.05 / 1.8


def test_the_outcomes_of_an_exercise_are_one_bar():
    picture = stacked(ItemStatistics(1, "e", "", 1.0, {"right": 3, "wrong": 1}, None, None))
    assert parts(picture, "rect") == [(0, 0, 75, 10), (75, 0, 25, 10)]
    assert titles(picture) == ["right: 3", "wrong otherwise: 1"]
    assert "3 right, 1 wrong otherwise" in picture
    assert stacked(ItemStatistics(1, "e", "", 1.0, {}, None, None)) == ""
