"""The table of fields in docs/training-logs.md: `python -m benchmarks.planted.fields_page` writes it."""

import click

from benchmarks.paths import DOCS
from hwlib.run_logs.fields import LogField, log_fields
from hwlib.run_logs.reader import TITLES
from hwlib.specs.table import markdown

PAGE = DOCS / "training-logs.md"
START, END = "<!-- fields -->", "<!-- end of fields -->"
HEAD = ("printed", "is", "unit", "printed when", "meaning")


def fields_page() -> str:
    """The page with the table as `hwlib/run_logs/fields.csv` has it."""
    before, _, rest = PAGE.read_text("utf-8").partition(START)
    after = rest.partition(END)[2]
    sections = [f"### {title}\n\n{_table(program)}" for program, title in TITLES.items()]
    return "\n\n".join([before + START, *sections, END + after])


def _table(program: str) -> str:
    rows = [field for field in log_fields() if field.program == program]
    return markdown(HEAD, [_row(field) for field in rows])


def _row(field: LogField) -> tuple[str, ...]:
    unit = "" if field.unit == "words" else field.unit
    when = f"{field.since} to {field.until}" if field.until else (f"since {field.since}" if field.since else "")
    return field.name, f"{field.holder}: {field.quantity}", unit, when, field.meaning


@click.command(help=__doc__)
def main() -> None:
    """Write the page."""
    PAGE.write_text(fields_page(), "utf-8")


if __name__ == "__main__":
    main()
