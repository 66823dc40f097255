"""What somebody holds is recognised by its contents, and answered with one record or one sentence."""

import bz2
import gzip
import io
import json
import lzma
import sys
import tracemalloc
import zlib

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from autograder.cli.explain_run import explain_run
from autograder.live.cells import call
from autograder.reading import KINDS, READING_OPTIONS, HeldFile, ReadingError, answered, read
from autograder.reading.answer_html import LONGEST_LINK, answer_html
from autograder.reading.held_file import PIECE
from autograder.reading.kinds import TABLE
from autograder.reading.reading_options import FOLDS, ITSELF
from autograder.reading.recognition import by_lines, recognised
from tests.autograder.reading.held import CONFIG, HELD, OPTIONS, RAS, TRACE
from tests.conftest import ROOT
from tests.hostile import damaged, reads
from tests.node import from_node

DATA = ROOT / "tests" / "hwlib" / "data"
FOLDERS = {
    "nccl_logs": "bandwidth",
    "topologies": "topo",
    "run_logs": "explain-run",
    "hangs": "hang",
    "configs": "config",
}
FILES = [
    pytest.param(path, kind, id=f"{folder}-{path.stem}")
    for folder, kind in FOLDERS.items()
    for path in sorted((DATA / folder).rglob("*"))
    if path.is_file() and path.suffix not in (".md", ".csv", ".py", ".toml")
]
LINK = ROOT / "docs" / "_static" / "reading.js"
HOSTILE = '<img src=x onerror="parent.hacked=1"><script>hacked=1</script>'


def held(data, name=""):
    return HeldFile(name, lambda: io.BytesIO(data))


def pasted(text):
    return HeldFile.of_text(text)


def kinds_of(file):
    return [candidate.kind.name for candidate in recognised(file, TABLE)]


def node(program, data):
    head = f"const M = require({json.dumps(str(LINK))}), data = JSON.parse(require('fs').readFileSync(0, 'utf8'));"
    body = f"{head}(async () => {{ process.stdout.write(JSON.stringify(await (async () => {{ {program} }})())); }})();"
    return from_node(body, data)


@pytest.mark.parametrize("kind", HELD)
def test_a_text_is_recognised_by_its_contents_and_says_by_what(kind):
    candidates = recognised(pasted(HELD[kind]), TABLE)
    assert [candidate.kind.name for candidate in candidates][:1] == [kind]
    assert candidates[0].why


@pytest.mark.parametrize(("path", "kind"), FILES)
def test_every_file_of_the_readers_tests_is_for_its_reader(path, kind):
    assert kinds_of(HeldFile.of_path(path.name, path))[0] == kind


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        (RAS, "hang"),
        ('[{"ph": "X", "name": "gemm", "ts": 1, "dur": 2}]', "trace"),
        ('{"results": [{"out_of_place": {"bus_bw": "1"}}]}', "bandwidth"),
        ("{'loss': 1.2, 'grad_norm': 0.3, 'epoch': 0.1}", "explain-run"),
        ("step:  1  loss: 12.2  memory: 10.00GiB(10%)  tps: 1,234  mfu: 12%", "explain-run"),
        (" [default0]: iteration       10/     100 | elapsed time per iteration (ms): 500.1 |", "explain-run"),
        ("============ Serving Benchmark Result ============\nRequest throughput (req/s): 3.1", "explain-run"),
        ("> GPU0\tGPU1\n> GPU0\t X \tSYS", "topo"),
        ("=== Link Type between two GPUs ===", "topo"),
    ],
)
def test_other_forms_of_a_kind_are_recognised(text, kind):
    assert kinds_of(pasted(text))[0] == kind


def test_a_log_with_another_tools_lines_in_it_is_what_most_of_its_lines_are():
    both = HELD["topo"] + HELD["explain-run"]
    assert kinds_of(pasted(both)) == ["explain-run", "topo"]


def test_a_log_that_begins_with_a_bracket_or_prints_a_configuration_is_a_log():
    printed = f"[INFO|configuration_utils.py:690] Model config LlamaConfig {CONFIG}\n{HELD['explain-run']}"
    assert kinds_of(pasted(printed)) == ["explain-run"]
    assert kinds_of(pasted(f"{CONFIG}\n{HELD['explain-run']}")) == ["config"]
    assert [candidate.kind.name for candidate in by_lines(pasted(f"{CONFIG}\n{TRACE}"))] == []


def test_pickled_data_is_a_dump_whatever_its_name():
    assert kinds_of(held(b"\x80\x02}q\x00.", "trace.json")) == ["hang"]
    assert kinds_of(held(b"\x80\x00", "x")) == []


@pytest.mark.parametrize(
    "text", ["", "  \n ", "hello", "{}", "[1, 2]", '{"a": 1}', HOSTILE, "1 2 3\n" * 9, "GPU7 is slow"]
)
def test_of_a_text_that_is_nothing_known_the_sentence_lists_what_can_be_read(text):
    assert kinds_of(pasted(text)) == []
    with pytest.raises(ReadingError) as error:
        read([pasted(text)])
    assert all(kind.title in str(error.value) for kind in KINDS.values())
    assert "\n" not in str(error.value)


@pytest.mark.parametrize("kind", KINDS)
def test_the_record_is_the_readers_with_how_it_was_chosen(kind):
    answer = read([pasted(HELD[kind])], options=OPTIONS.get(kind))
    record = json.loads(json.dumps(answer.record, allow_nan=False))
    assert (record["kind"], record["title"], record["unused"]) == (kind, KINDS[kind].title, [])
    assert record["why"]
    assert record["text"]
    assert record["answer"]
    assert read([pasted(HELD[kind])], kind, OPTIONS.get(kind)).answer == answer.answer, "as where the kind is named"


def test_the_model_of_a_configuration_is_counted():
    answer = read([pasted(HELD["config"])])
    assert answer.answer["parameters"] == 124_439_808  # GPT-2's
    assert "124,439,808" in answer.text


@pytest.mark.parametrize("broken", ["{", "[]", '{"model_type": 7', '{"model_type": "no-such-type"}', "{" * 9999])
def test_a_configuration_that_is_none_is_one_sentence(broken):
    with pytest.raises(ReadingError) as error:
        read([pasted(broken)], "config")
    assert "config.json" in str(error.value)


@pytest.mark.parametrize(
    ("kind", "options", "field"),
    [
        ("no-such-kind", {}, "kind"),
        ("", {"colour": "red"}, "colour"),
        ("", {"gpus": "x"}, "gpus"),
        ("", {"gpus": "0"}, "gpus"),
        ("", {"tp": "x"}, "tp"),
        ("", {"batch": "many"}, "batch"),
    ],
)
def test_what_is_typed_beside_it_is_checked_and_named(kind, options, field):
    reply = answered([pasted(HELD["config"])], kind, options)
    assert reply["field"] == field
    assert field in reply["error"]
    assert "html" not in reply


@pytest.mark.parametrize(
    ("kind", "options", "field"),
    [
        ("explain-run", {"lora": "16@nonsense"}, "lora"),
        ("explain-run", {"on": "no-such-machine"}, "on"),
        ("explain-run", {"model": "no-such-model", "on": "dgx-h100"}, "model"),
        ("explain-run", {"sequence": "4x4096"}, "sequence"),
        ("bandwidth", {"on": "no-such-machine"}, "on"),
        ("bandwidth", {"network": "pigeons"}, "network"),
    ],
)
def test_what_only_its_reader_can_check_names_its_field_and_not_the_text(kind, options, field):
    reply = answered([pasted(HELD[kind])], "", options)
    assert reply["field"] == field
    assert reply["error"].startswith(f"{field}: ")
    assert read([pasted(HELD[kind])], options=OPTIONS[kind]).kind == kind, "with others it is read"


def test_the_order_in_which_options_are_typed_does_not_matter():
    options = {"model": "llama3-8b", "on": "h100-sxm", "gpus": "8"}
    typed = [dict(order) for order in (options.items(), reversed(options.items()))]
    one, other = (answered([pasted(HELD["explain-run"])], "", names)["html"] for names in typed)
    assert one == other
    assert "--model llama3-8b --on h100-sxm --gpus 8" in one


def test_an_option_that_the_reader_does_not_take_is_said_and_an_empty_one_is_none():
    answer = read([pasted(HELD["config"])], options={"on": "dgx-h100", "gpus": "1", "model": " "})
    assert answer.unused == ("on", "gpus")
    assert "on, gpus" in answered([pasted(HELD["config"])], "", {"on": "dgx-h100", "gpus": "1"})["html"]


def test_every_option_of_a_kind_is_in_the_table():
    names = {option.name for option in READING_OPTIONS}
    assert {name for kind in TABLE for name in kind.options} == names


@pytest.mark.parametrize("pack", [gzip.compress, bz2.compress, lzma.compress, bytes])
def test_a_compressed_file_is_unpacked_by_its_contents(pack):
    file = held(pack(HELD["config"].encode()), "model.bin")
    assert file.text() == HELD["config"]
    assert read([file]).kind == "config"


def test_a_text_of_powershell_and_one_with_a_byte_order_mark_are_read():
    for encoding in ("utf-16", "utf-8-sig"):
        assert read([held(HELD["config"].encode(encoding))]).kind == "config"
    odd = "é" * PIECE  # cut within a letter
    assert "".join(held(b"x" + odd.encode()).texts()) == f"x{odd}"


def test_a_file_is_cut_at_its_limit_and_a_bomb_never_lies_in_memory():
    assert held(b"x" * 10).data(10) == b"x" * 10
    with pytest.raises(ReadingError, match="over 9 B"):
        held(b"x" * 10, "log").data(9)
    bomb = held(gzip.compress(bytes(10**8), 1))
    tracemalloc.start()
    with pytest.raises(ReadingError):
        bomb.data(PIECE * 4)
    assert tracemalloc.get_traced_memory()[1] < 20e6
    tracemalloc.stop()


def test_what_is_cut_inside_its_compression_ends_there():
    whole = gzip.compress(HELD["config"].encode() * 1000)
    part = held(whole[: len(whole) // 2]).text()
    assert part
    assert (HELD["config"] * 1000).startswith(part)
    assert held(whole + whole).text() == HELD["config"] * 2000
    assert zlib.crc32(held(whole).data()) == zlib.crc32(HELD["config"].encode() * 1000)


def test_a_compression_that_this_python_has_not_is_a_sentence(monkeypatch):
    monkeypatch.setitem(sys.modules, "lzma", None)
    with pytest.raises(ReadingError, match=r"trace\.json\.xz.*unpack"):
        held(lzma.compress(TRACE.encode()), "trace.json.xz").text()


def test_several_files_are_for_traces_and_dumps_alone():
    with pytest.raises(ReadingError, match="got 2"):
        read([pasted(HELD["config"])] * 2)
    with pytest.raises(ReadingError):
        read([])


def test_an_answer_has_tables_lists_and_sentences():
    record = {
        "kind": "config",
        "title": "t",
        "why": "w",
        "also": [],
        "unused": [],
        "fine": True,
        "options": {"on": "2x8 h100"},
        "text": "It goes\non.\nAnother.\n\n- a: <b>\n- c\n  below it\n1. first\nsize   time\n  8 B   1 s",
    }
    html = str(answer_html(record))
    assert "<p>It goes on.</p><p>Another.</p><ul><li>a: &lt;b&gt;</li><li>c</li><li>below it</li></ul>" in html
    assert "<ol><li>first</li></ol>" in html
    assert "<pre>size   time\n  8 B   1 s</pre>" in html
    assert "--on &#39;2x8 h100&#39;" in html


def test_a_configuration_leads_to_the_pages_that_plan_unless_it_is_too_long():
    html = answered([pasted(CONFIG)])["html"]
    assert [f'data-address="{page}.html#config=%7B' in html for page in ("plan", "fill", "serve")] == [True] * 3
    longer = json.dumps(json.loads(CONFIG) | {"_name_or_path": "x" * LONGEST_LINK})
    assert "data-address" not in answered([pasted(longer)])["html"]


def test_markup_in_a_text_is_text():
    content = json.loads(HELD["config"]) | {"model_type": HOSTILE}
    for text in (json.dumps(content), json.dumps(json.loads(HELD["config"]) | {HOSTILE: 1}), f"{HOSTILE}\n{TRACE}"):
        reply = answered([pasted(text)])
        assert "<img" not in reply.get("html", "")
        assert "<script" not in reply.get("html", "")


def test_the_page_asks_by_the_worker(tmp_path):
    path = tmp_path / "held-0"
    path.write_text(HELD["config"])
    request = {"call": "read", "files": [["config.json", str(path)]], "kind": "", "options": {}}
    reply = json.loads(call(json.dumps(request)))
    assert reply["kind"] == "config"
    assert "124,439,808" in reply["html"]


FUZZED = st.one_of(st.text(max_size=300), damaged(sorted(HELD.values()))), st.sampled_from(["", *KINDS])


@settings(max_examples=30, deadline=None)
@given(*FUZZED)
def test_any_text_ends_in_an_answer_or_a_sentence(text, kind):
    reply = reads(answered, [pasted(text)], kind)
    assert ("html" in reply) != ("error" in reply)
    assert len(reply.get("error", "")) < 2000


@pytest.mark.nightly
@settings(max_examples=10_000, deadline=None)
@given(*FUZZED)
def test_ten_thousand_texts_end_in_an_answer_or_a_sentence(text, kind):
    reply = reads(answered, [pasted(text)], kind)
    assert ("html" in reply) != ("error" in reply)


@pytest.mark.parametrize(
    "line", ["1 " * 400_000, "GPU0" * 200_000, "{'" + "a" * 800_000, "iteration " * 80_000, "=" * 800_000]
)
def test_recognition_takes_linear_time(line):
    assert isinstance(kinds_of(pasted(line)), list)


def test_a_link_holds_the_text_and_the_fields():
    text = HELD["bandwidth"] + "é 漢 <b>&=#%"
    program = """
    const place = await M.fragment(data.text, { kind: "bandwidth", on: "2x8 h100-sxm, network 400 Gbit/s" });
    const read = new URLSearchParams(place.slice(1));
    return [place, read.get("kind"), read.get("on"), await M.unpacked(read.get("text"))];"""
    place, kind, on, back = node(program, {"text": text})
    assert (kind, on, back) == ("bandwidth", "2x8 h100-sxm, network 400 Gbit/s", text)
    assert place.startswith("#kind=")
    assert len(place) < len(text)


def test_a_text_too_long_for_a_link_has_none_and_a_bomb_in_a_link_is_refused():
    program = """
    const errors = [];
    for (const letters of [await M.packed("x".repeat(2000)), "!!", "AAAA"])
      errors.push(await M.unpacked(letters, 1999).then(() => "", (error) => String(error.message || error)));
    const noise = Array.from({ length: 9000 }, (_, i) => (i * 7919) ** 2).join("");
    return [errors, await M.fragment(noise, {}), (await M.unpacked(await M.packed("x".repeat(2000)), 2000)).length];"""
    errors, place, size = node(program, None)
    assert errors[0].startswith("The link")
    assert all(errors)
    assert (place, size) == ("", 2000)


def test_the_page_asks_for_all_that_the_command_takes():
    command = {param.name for param in explain_run.params} - {"file", "as_json"}
    assert set(KINDS["explain-run"].options) == command
    assert {option.fold for option in READING_OPTIONS} == {ITSELF, *FOLDS.values()}


def test_a_benchmark_is_held_against_the_model_by_what_is_typed_beside_it():
    rows = "Successful requests: 100\nTotal input tokens: 51200\nTotal generated tokens: 12800\n"
    text = f"Serving Benchmark Result\nBackend: sglang\n{rows}Request throughput (req/s): 4.0\n"
    options = {"on": "dgx-h100", "gpus": "1", "model": "llama3-8b", "concurrency": "8", "kv_dtype": "fp8", "tp": "1"}
    answer = read([pasted(text)], options=options)
    assert (answer.kind, answer.unused) == ("explain-run", ())
    assert answer.answer["model"]["load"] == {"users": 8.0, "rate": None, "requests": 100.0, "kind": "closed"}
    assert "cache in fp8" in answer.text
