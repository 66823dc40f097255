"""The explorer: every row and every value of the tables, with what its source printed, how surely, and from where."""

import html

import pytest
from bs4 import BeautifulSoup

from autograder.book.bibliography import Bibliography
from autograder.book.indexes.specs import REFERS, anchor, measurements, row_of, specs_page
from autograder.book.indexes.uses import Thing, Use, tables
from hwlib.specs.reader import given

KINDS = tuple(tables())


@pytest.fixture(scope="module")
def page():
    use = Use("03-rooflines", "two-clocks", "chapter 3", "Two $x$ *clocks*")
    text = specs_page([], {Thing("chips", "h100-sxm"): (use,)})
    return BeautifulSoup(text, "html.parser")


def words(element):
    return " ".join(element.get_text(" ").split())


@pytest.mark.parametrize("kind", KINDS)
def test_every_row_is_there_with_every_value(page, kind):
    overview = {row["data-key"] for row in page.select(f"table[data-explore={kind}] tbody tr")}
    assert overview == {anchor(kind, key) for key in tables()[kind]}
    for key, record in tables()[kind].items():
        details = page.select_one(f"details[id='{anchor(kind, key)}']")
        lines = {line["data-field"]: line for line in details.select("tr[data-field]")}
        assert set(lines) == set(record.data), key
        for name, datum in record.data.items():
            cells = [words(cell) for cell in lines[name].select("td")]
            printed = datum.printed if datum.factor == 1 else f"{datum.printed} × {datum.factor}"
            assert cells[1] == " ".join(printed.split()), (key, name)
            assert datum.meaning in words(lines[name])
            if cells[2] != "as above":
                assert (cells[2].split(" ")[0], cells[3]) == (datum.source, datum.confidence), (key, name)
            else:
                assert (datum.source, datum.confidence) == (record.source, record.confidence)
            for other in (*datum.also, datum.note):
                assert " ".join(html.unescape(other).split()) in cells[4]


def test_a_two_way_figure_is_shown_as_printed_and_as_used(page):
    line = page.select_one("details#h100-sxm tr[data-field=scaleup_bandwidth]")
    assert [words(cell) for cell in line.select("td")][:2] == ["450 GB/s", "900 GB/s × 0.5"]
    assert "both directions are printed" in words(line)


def test_anchors_are_unique_and_a_rack_stands_apart_from_its_chip(page):
    ids = [element["id"] for element in page.select("[id]")]
    assert len(ids) == len(set(ids))
    assert anchor("chips", "gb200-nvl72") == "gb200-nvl72"
    assert anchor("nodes", "gb200-nvl72") == "nodes-gb200-nvl72"
    for link in page.select("a[href^='#']"):
        target = link["href"][1:]
        assert target in ids or target in (f"{kind}" for kind in ("chips", "links", "switches", "nodes", "clusters"))


def test_a_row_links_to_what_it_is_made_of_to_what_it_is_part_of_and_to_its_uses(page):
    rack = page.select_one("details#nodes-gb200-nvl72")
    assert rack.select_one("a[href='#gb200-nvl72']")
    chip = page.select_one("details#h100-sxm")
    assert chip.select_one(".used a[href='#dgx-h100']")
    assert chip.select_one("a[href='03-rooflines.html#two-clocks']").get_text() == "Two x clocks"


def test_every_field_that_names_another_row_is_a_link():
    for table in tables().values():
        texts = [f for f in given(type(next(iter(table.values())))).values() if "unit" not in f.metadata]
        for row in table.values():
            for name in (f.name for f in texts if f.name not in ("name", "source")):
                other = [kind for kind, rows in tables().items() if getattr(row, name) in rows]
                assert not other or name in REFERS, (row.key, name)


def test_a_source_links_to_the_bibliography_and_to_its_own_address(root):
    bibliography = Bibliography(root / "docs" / "references.bib")
    row = row_of("chips", tables()["chips"]["h100-sxm"], bibliography, {})
    source = row.values["sms"].source
    assert source.anchor == "bibliography.html#cite-scaling-book"
    assert source.url.startswith("https://")
    assert "20" in source.text
    for kind, table in tables().items():
        for record in table.values():
            for value in row_of(kind, record, bibliography, {}).values.values():
                assert value.source.anchor, (record.key, value.name)


def test_every_table_of_measurements_is_listed_with_its_sources(page, root):
    files = {path.name for path in (root / "hwlib" / "specs").glob("measured_*.csv")}
    assert {table.file for table in measurements()} == files
    listed = page.find(string="measured_allreduce.csv").find_parent("tr")
    assert "bekman-ml-engineering" in words(listed)
    assert [cell.get_text() for cell in listed.select("td")[1:3]] == ["150", "80"]  # 70 are of a picture, a sample
