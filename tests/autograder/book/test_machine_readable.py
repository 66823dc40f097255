"""The registries as JSON, and llms.txt: complete, each number with its source, and nothing that only the key has."""

import json
import re

import pytest

from autograder.book.indexes.uses import tables, uses_of
from autograder.book.site import machine_readable
from autograder.book.source import chapters
from autograder.book.source.contents import contents
from hwlib.notation import NOTATION
from tests.autograder.small_book import lay_out


@pytest.fixture(scope="module")
def site(tmp_path_factory, root):
    folder = tmp_path_factory.mktemp("elsewhere")
    lay_out(folder, root)
    made = folder / "site"
    made.mkdir()
    for page in ("07-links", "specs", "data"):
        (made / f"{page}.html").write_text("")
    chapter = chapters.load(folder, "07-links")
    machine_readable.write(made, [chapter], uses_of([chapter]), contents(folder))
    return made


def read(site, name):
    return json.loads((site / "data" / name).read_text(encoding="utf-8"))


def test_every_number_has_its_unit_source_and_confidence(site):
    found = read(site, "specs.json") | {"models": read(site, "models.json")}
    assert set(found) == set(tables())
    for kind, table in tables().items():
        assert list(found[kind]) == list(table)
        for key, record in table.items():
            values = found[kind][key]["values"]
            assert {name: value["value"] for name, value in values.items()} == {
                name: datum.value for name, datum in record.data.items()
            }
            for value in values.values():
                assert value["unit"]
                assert value["source"]
                assert value["confidence"]
                assert value["printed"]
    link = found["chips"]["h100-sxm"]["values"]["scaleup_bandwidth"]
    assert (link["printed"], link["factor"], link["value"]) == ("900 GB/s", 0.5, 450e9)


def test_the_formulas_and_the_symbols_are_those_of_the_library(site):
    formulas, symbols = read(site, "formulas.json"), read(site, "notation.json")
    assert set(symbols) == set(NOTATION)
    time = formulas["roofline.memory_time"]
    assert time["module"].startswith("hwlib.roofline")
    assert time["unit"] == "s"
    assert time["latex"]
    assert time["doc"]
    assert time["used_in"] == ["07-links.html"]


def test_an_exercise_is_its_public_record(site):
    found = read(site, "exercises.json")
    assert list(found) == ["links-time", "links-count", "links-guess", "links-half", "links-why"]
    assert found["links-time"]["page"] == "07-links.html#exercise-links-time"
    assert found["links-time"]["number"] == "7.1"
    text = (site / "data" / "exercises.json").read_text()
    for secret in ("mistake-sentence", "explanation-of", "model-answer-of", '"solution"', '"mistakes"'):
        assert secret not in text


def test_llms_txt_lists_the_pages_that_there_are(site):
    text = (site / "llms.txt").read_text()
    assert text.startswith("# GPUs, networks and parallelism\n\n> ")
    links = re.findall(r"^- \[.+?\]\((.+?)\)", text, re.M)
    assert links[0] == "07-links.html"
    assert {"specs.html", "data.html", "data/specs.json"} <= set(links)
    assert [link for link in links if not (site / link).is_file()] == []


def test_the_page_about_the_data_names_every_file_and_field(root, site):
    told = (root / "docs" / "data.md").read_text()
    for file in machine_readable.DATA:
        assert f"`data/{file}`" in told
    record = next(iter(read(site, "formulas.json").values()))
    assert [field for field in record if f"`{field}`" not in told] == ["name"]
