"""Where a computed number comes from, read from its expression."""

import json
import re

import pytest

from autograder.book.bibliography import Bibliography
from autograder.book.numbers.provenance import Origins, has_origin
from hwlib import roofline
from hwlib.specs import accelerators, measured_link, measured_links
from hwlib.units import GB, show
from tests.autograder.small_book import BIBLIOGRAPHY
from tests.conftest import ROOT
from tests.kept import loaded

EXERCISES = """\
from hwlib.roofline import *
from hwlib.specs import accelerators, measured_link, measured_links
from hwlib.units import GB, show
h100 = accelerators["h100-sxm"]
SIDES = 512, 1024
HALF = h100.hbm_bandwidth/2
FROM_HALF = HALF

def reached(key):
    \"\"\"What a link got. And more.\"\"\"
    row = measured_link(key)
    return row.reached

def best():
    \"\"\"The best link.\"\"\"
    return max(one.reached for one in measured_links())
"""


@pytest.fixture(scope="module")
def origins(tmp_path_factory):
    folder = tmp_path_factory.mktemp("origins")
    (folder / "references.bib").write_text(BIBLIOGRAPHY)
    file = folder / "exercises.py"
    file.write_text(EXERCISES)
    namespace = {"__name__": "gpubook_origins"}
    exec(compile(EXERCISES, str(file), "exec"), namespace)
    import linecache

    linecache.cache[str(file)] = (len(EXERCISES), None, EXERCISES.splitlines(keepends=True), str(file))
    return Origins(namespace, [file], Bibliography(folder / "references.bib"), {"ridge"})


def entries(origins, expression, **quantities):
    return [origins.entries[at] for at in origins.of(expression, quantities)]


def test_a_value_of_a_table_has_what_was_printed_and_its_source(origins):
    (entry,) = entries(origins, 'show(h100.scaleup_bandwidth, "B/s")')
    datum = accelerators["h100-sxm"].datum("scaleup_bandwidth")
    kind, name, key, _, value, printed, source, factor, confidence, _ = entry
    assert (kind, name, key, value) == ("d", accelerators["h100-sxm"].name, "h100-sxm", "450 GB/s")
    assert (printed, factor, confidence, source) == (datum.printed, datum.factor, datum.confidence, ["", datum.source])
    assert entries(origins, 'h100.datum("scaleup_bandwidth").value') == [entry]


def test_a_source_of_the_bibliography_is_kept_once_with_address_and_title(origins):
    entries(origins, "ridge(h100.bf16_flops, h100.hbm_bandwidth)")
    found = origins._source("scaling-book chapter 1")
    assert found == ["scaling-book", "chapter 1"]
    assert origins.sources["scaling-book"] == ["Writer and Reader, 2025", "https://example.org/scaling", "Scaling"]


def test_a_formula_shows_its_arguments_two_levels_deep(origins):
    (entry,) = entries(origins, "attainable_flops(ridge(ridge(C, 1), h100.hbm_bandwidth), 1, 2)", C=3.0)
    kind, name, indexed, tex, _, rows, _ = entry
    assert (kind, name, indexed) == ("f", "attainable_flops", 0)
    assert tex == roofline.attainable_flops.tex
    inner = origins.entries[rows[0][3][0]]
    assert inner[1:3] == ["ridge", 1]
    assert [origins.entries[at][0] for row in inner[5] for at in row[3]] == ["f", "d"]
    assert entries(origins, "ridge(1, 2)")[0][5][0][2:] == ["1 FLOP/s", []]


def test_a_name_is_what_it_was_assigned(origins):
    assert entries(origins, "FROM_HALF") == entries(origins, "h100.hbm_bandwidth")
    assert entries(origins, "SIDES[0]") == [["c", "SIDES", "(512, 1024)", ""]]


def test_a_function_of_the_chapter_is_what_it_returns(origins):
    key = measured_links()[0].key
    (row,) = entries(origins, f"reached({key!r})/GB")
    assert row[0] == "r"
    assert row[2:4] == ["reached", show(measured_link(key).reached, "B/s")]
    (rows,) = entries(origins, "best()")
    assert rows[:2] == ["m", "measured_links"]
    assert rows[3] == len(measured_links())


@pytest.mark.parametrize(
    ("expression", "told"),
    [("512", False), ('f"{64:d}"', False), ('show(3*GB, "B")', False), ("max(2, rows)", False), ("h100.sms", True)],
)
def test_a_number_that_is_only_typed_has_no_origin(expression, told):
    names = {"show": show, "GB": GB, "h100": accelerators["h100-sxm"]}
    assert has_origin(expression, names, {"rows": 2}) is told


def test_a_page_gets_each_entry_once_and_only_those_of_its_own_numbers():
    chapter = loaded(ROOT, "03-rooflines")
    live, text = chapter.roles.live, json.dumps(dict(chapter.page))
    assert chapter.bank.path is not None
    made = live.scripts(text, [chapter.bank.path], chapter.roles.bibliography, {"ridge"})
    (script,) = re.findall(r'id="origins">(.*?)</script>', made)
    data = json.loads(script)
    keys = [json.dumps(entry) for entry in data["entries"]]
    assert len(set(keys)) == len(keys)
    assert {"d", "f", "r"} <= {entry[0] for entry in data["entries"]}
    assert len(made) < 40_000
    first = next(iter(chapter.page.values()))
    some = live.scripts(json.dumps(first), [chapter.bank.path], chapter.roles.bibliography, {"ridge"})
    assert len(some) < len(made) / 3
