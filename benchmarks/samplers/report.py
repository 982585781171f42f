"""What a part of the benchmark prints, and leaves behind for the documentation."""

from __future__ import annotations

import json
import os
import re
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

TABLES = "COTERIE_BENCH_TABLES"
"""The environment variable that names the file to leave the tables in."""


class Report:
    """Tables, printed as they grow, with the targets that were met or missed."""

    def __init__(self) -> None:
        self.blocks: list[dict] = []

    def table(self, title: str, *columns: str) -> None:
        """Begin a table."""
        self.blocks.append({"title": title, "columns": columns, "rows": [], "lines": []})
        print(f"\n{title}\n{_aligned(columns)}", flush=True)

    def row(self, *given: str | float) -> None:
        cells = tuple(x if isinstance(x, str) else f"{x:.3g}" for x in given)
        self.blocks[-1]["rows"].append(cells)
        print(_aligned(cells), flush=True)

    def say(self, line: str) -> None:
        """A sentence below the table."""
        self.blocks[-1]["lines"].append(line)
        print(line, flush=True)

    def ratio(self, what: str, value: float, target: str, digits: int = 2) -> None:
        """A ratio with its target, such as "<= 1.5"."""
        self.say(_verdict(what, value, target, digits))

    def remark(self, what: str, value: float, target: str) -> None:
        """The same, printed only: for what stands in the table."""
        print(_verdict(what, value, target, 2), flush=True)


def held(ratio: float, target: str) -> str:
    """A cell with a ratio beside its target, such as ">= 2", and whether that is missed."""
    sign, bound = target.split()
    met = ratio <= float(bound) if sign == "<=" else ratio >= float(bound)
    return f"{ratio:.2f} ({target}{'' if met else ' MISSED'})"


def _verdict(what: str, value: float, target: str, digits: int) -> str:
    sign, bound = target.split()
    met = value <= float(bound) if sign == "<=" else value >= float(bound)
    return f"{what} = {value:,.{digits}f} (target {target}: {'met' if met else 'MISSED'})"


def _aligned(cells: Sequence[str]) -> str:
    first, *others = cells
    return f"{first:34s} " + " ".join(f"{cell:>13s}" for cell in others)


def markdown(blocks: Sequence[dict]) -> str:
    """The tables as Markdown."""
    parts = []
    for block in blocks:
        parts.append(f"**{block['title']}**\n")
        if block["rows"]:
            columns = block["columns"]
            parts.append("| " + " | ".join(columns) + " |")
            parts.append("| --- |" + " --: |" * (len(columns) - 1))
            parts += ["| " + " | ".join(row) + " |" for row in block["rows"]]
            parts.append("")
        parts += [f"- {line}" for line in block["lines"]]
        if block["lines"]:
            parts.append("")
    return "\n".join(parts)


def fill(page: Path, machine: str, tables: dict[str, str]) -> None:
    """Put each table between its marks in the page, ``<!-- name -->`` and ``<!-- /name -->``.

    If all tables of the page are new, its line on the machine is too; else each says its own.
    """
    text = page.read_text()
    if set(re.findall("<!-- (\\w+) -->", text)) - {"machine"} <= tables.keys():
        tables = {"machine": machine, **tables}
    else:
        tables = {
            name: f"{table.strip()}\n\nMeasured apart from the rest, on {machine}"
            for name, table in tables.items()
        }
    for name, table in tables.items():
        begin, end = f"<!-- {name} -->\n", f"<!-- /{name} -->"
        if begin in text:
            before, rest = text.split(begin, 1)
            text = f"{before}{begin}\n{table.strip()}\n\n{end}{rest.split(end, 1)[1]}"
    page.write_text(text)


def run(main: Callable[[Report, int], None], default: int = 10_000_000) -> None:
    """Run a part from the command line: ``python -m benchmarks.samplers.<part> [labels]``."""
    report = Report()
    sizes = [int(word) for word in sys.argv[1:] if word.isdigit()]
    main(report, sizes[0] if sizes else default)
    if os.environ.get(TABLES):
        Path(os.environ[TABLES]).write_text(json.dumps(report.blocks))
