"""The league in Markdown: what ``docs/league.md`` is made of."""

from __future__ import annotations

from coterie.studies.league import tables
from coterie.studies.league.league import League
from coterie.studies.league.record import About
from coterie.studies.league.tables import Grid


def make_markdown(league: League, about: About) -> str:
    """Write the league as Markdown: the command, the means, every row, and what failed."""
    parts = [
        "# League of models",
        f"Made by `{about.command}`; with `--out`, it writes this page, one in HTML, and JSON.",
        _escape(tables.headline(league)),
        "## On average",
        tables.explanation(league),
        _table(tables.standing_grid(league)),
        "## Data set by data set",
        _table(tables.row_grid(league)),
    ]
    if league.failures:
        parts += ["## Not scored", _table(tables.failure_grid(league))]
    notes = tables.note_grid(league)
    if notes.rows:
        parts += ["## Warnings", _table(notes)]
    parts += ["## How to read it", _list(tables.glossary())]
    parts += ["## Settings", _list(tables.settings(about.settings))]
    if about.passed_over:
        parts += [_escape(f"Passed over, without labels.csv: {', '.join(about.passed_over)}.")]
    return "\n\n".join(parts) + "\n"


def _list(pairs: list[tuple[str, str]]) -> str:
    return "\n".join(f"- **{name}**: {_escape(text)}" for name, text in pairs)


def _table(grid: Grid) -> str:
    rule = ["---" if side == "l" else "--:" for side in grid.align]
    lines = [grid.header, rule, *([_escape(cell) for cell in row] for row in grid.rows)]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def _escape(cell: str) -> str:
    """Keep what Markdown or HTML would take for itself."""
    for sign in "\\`*_[]|$":
        cell = cell.replace(sign, "\\" + sign)
    return " ".join(cell.replace("&", "&amp;").replace("<", "&lt;").split())
