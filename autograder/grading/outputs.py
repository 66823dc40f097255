"""The outputs of a graded notebook's cells, rebuilt from what the learner's process reports."""

from collections.abc import Callable
from typing import Any

from ..sandbox import DISPLAY_FORMATS
from ..values.texts import quoted


def error_output(name: str, say: str) -> dict[str, Any]:
    """The output of a cell that the grader stopped."""
    return {"output_type": "error", "ename": name, "evalue": say, "traceback": [f"{name}: {say}"]}


def cell_outputs(outputs: list[Any], fit: Callable[[Any], str | None]) -> list[Any]:
    """The outputs that the child reports for a cell, rebuilt: text only, of a notebook's types, while they fit."""
    from nbformat.v4 import new_output

    built = []
    for output in outputs:
        kind = output.get("output_type") if isinstance(output, dict) else None
        if kind == "stream" and (text := fit(output.get("text", ""))) is not None:
            name = "stderr" if output.get("name") == "stderr" else "stdout"
            built.append(new_output("stream", name=name, text=text))
        elif kind in ("display_data", "execute_result") and isinstance(output.get("data"), dict):
            forms = {mime: fit(output["data"][mime]) for mime in DISPLAY_FORMATS if mime in output["data"]}
            if data := {mime: text for mime, text in forms.items() if text is not None}:
                built.append(new_output(kind, data=data, metadata={}))
        elif kind == "error" and (value := fit(output.get("evalue", ""))) is not None:
            lines = output.get("traceback") if isinstance(output.get("traceback"), list) else []
            trace = [text for line in lines[:200] if (text := fit(line)) is not None]
            name = quoted(str(output.get("ename", "")), 200).strip("`")
            built.append(new_output("error", ename=name, evalue=value, traceback=trace))
    return built
