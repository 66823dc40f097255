"""The table of a folder's configurations: read, or refused with a sentence."""

import json

from click.testing import CliRunner

from benchmarks.configs import main, read_configs
from tests.hwlib.test_hf_config import FILES, LLAMA

ALGORITHM = {"quantization": {"quant_algo": "NVFP4", "exclude_modules": ["lm_head"]}}


def test_a_folder_of_configurations_is_a_table(tmp_path):
    (tmp_path / "org--small_config.json").write_text(json.dumps(LLAMA), "utf-8")
    (tmp_path / "org--small_hf_quant_config.json").write_text(json.dumps(ALGORITHM), "utf-8")
    (tmp_path / "own").mkdir()
    (tmp_path / "own" / "config.json").write_text(json.dumps(LLAMA | {"model_type": "other"}), "utf-8")
    (tmp_path / "cut_config.json").write_text('{"model_type": "llama", "hidden', "utf-8")
    (tmp_path / "list_config.json").write_text("[1]", "utf-8")
    (tmp_path / "deep_config.json").write_text("[" * 100_000, "utf-8")
    done = CliRunner().invoke(main, [str(tmp_path)])
    assert done.exit_code == 0
    rows = {line.split(" | ")[0].lstrip("| "): line for line in done.output.splitlines() if line.startswith("| ")}
    assert "1,235,814,400 | 1,235,814,400 | modelopt NVFP4, 4 bit | 1.1 |" in rows["org--small"]
    assert "nearest to llama" in rows["own"]
    for name in ("cut", "list", "deep"):
        assert "expected" in rows[name]
    assert done.output.endswith("1 of 5 are read.\n")
    refused = CliRunner().invoke(main, [str(tmp_path), "--refused"]).output
    assert "org--small" not in refused
    assert "own" in refused
    empty = tmp_path / "empty"
    empty.mkdir()
    assert CliRunner().invoke(main, [str(empty)]).exit_code == 1


def test_every_kept_file_is_read():
    names = {path.stem for path in FILES.glob("*.json")}
    assert {config.name for config in read_configs(FILES)} <= names
