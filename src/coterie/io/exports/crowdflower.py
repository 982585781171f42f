"""CrowdFlower, Figure Eight, Appen: the full report, one row per judgment, and the JSON report."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from coterie.data.moments import elapsed
from coterie.errors import Argument, DataError
from coterie.io.exports.part import Part
from coterie.io.exports.port import ExportFormat, Submission
from coterie.io.exports.values import MISSING, as_json, as_map, is_true, maps_in, scalar, ticked
from coterie.io.reading import Reading
from coterie.words.numbers import count
from coterie.words.values import written

_GOLD = "_gold"
_OWN = ("worker_id", "created_at", "started_at", "golden", "tainted", "trust")
"""What the platform says of a judgment; the full report has it with an underscore."""


def recognise(part: Part) -> bool:
    """Tell it by the columns of the unit and the worker; the aggregated report has no worker."""
    if _is_json(part):
        return True
    columns = {*part.header}
    return "_unit_id" in columns and bool(
        columns & {"_worker_id", "_unit_state", "_trusted_judgments"}
    )


def read(parts: Sequence[Part], options: Reading) -> Iterator[Submission]:
    """Give judgments; tainted ones count, since models weigh workers themselves."""
    for part in parts:
        if not _is_json(part) and "_worker_id" not in part.header:
            raise DataError(
                f"{part.name} is the aggregated report, which has no workers; download the full "
                "report"
            )
        rows = _rows(part)
        known = options.question is not None and any(options.question in row for row in rows)
        names = [str(options.question)] if known else _answer_columns(part, rows)
        split = {name for name in names if any(_lines(row.get(name)) for row in rows)}
        for row in rows:
            tainted = is_true(row.get("_tainted")) and "trusted" in options.keep
            yield Submission(
                row.get("_unit_id"),
                row.get("_worker_id"),
                {name: _answer(row.get(name), name in split) for name in names},
                status="tainted" if tainted else "",
                known=_known(row, names, split),
                time=row.get("_created_at"),
                seconds=elapsed(row.get("_started_at"), row.get("_created_at")),
                fields=row,
            )


def _is_json(part: Part) -> bool:
    return isinstance(as_map(part.first.get("results")).get("judgments"), list)


def _rows(part: Part) -> list[dict[str, Any]]:
    """Give judgments as the full report has them: those of a unit stand together in JSON."""
    if not _is_json(part):
        return list(part.records())
    rows = []
    for unit in part.records():
        given = {"_unit_id": str(unit.get("id")), **_as_text(unit.get("data"))}
        for judgment in maps_in(as_map(unit.get("results")).get("judgments")):
            own = {f"_{name}": _text(judgment.get(name)) for name in _OWN}
            rows.append({**given, **own, **_as_text(judgment.get("data"))})
    return rows


def _as_text(data: Any) -> dict[str, Any]:
    return {str(name): _text(value) for name, value in as_map(data).items()}


def _text(value: Any) -> Any:
    """Write a value as a cell of the full report has it: several answers are lines."""
    if isinstance(value, list):
        return "\n".join(str(one) for one in ticked(value)) or None
    found = scalar(value)
    return None if found is None else str(found)


def _answer_columns(part: Part, rows: Sequence[Mapping[str, Any]]) -> list[str]:
    """Find the columns that are answers: they have no mark, but vary within a unit."""
    seen: dict[str, dict[Any, set[Any]]] = defaultdict(lambda: defaultdict(set))
    for row in rows:
        for name, cell in row.items():
            if not name.startswith("_") and not name.endswith((_GOLD, "_gold_reason")):
                seen[name][row.get("_unit_id")].add(cell)
    vary = [name for name, units in seen.items() if any(len(said) > 1 for said in units.values())]
    found = vary or [name for name in seen if rows and f"{name}{_GOLD}" in rows[0]]
    if rows and not found:
        raise DataError(
            f"{part.name} does not say which columns are answers, and nobody disagrees; its "
            f"columns are {written(seen)}",
            argument="question",
            remedy=["pass ", Argument("question"), " with one of them"],
        )
    return found


def _lines(cell: Any) -> bool:
    """Tell several options in a cell: lines, or a JSON list."""
    return isinstance(cell, str) and ("\n" in cell.strip() or cell.startswith("["))


def _answer(cell: Any, split: bool) -> Any:
    if not split or cell is None:
        return [] if split else cell
    found = as_json(cell) if cell.startswith("[") else MISSING
    if isinstance(found, list):
        return ticked(found)
    return [line.strip() for line in cell.splitlines() if line.strip()]


def _known(row: Mapping[str, Any], names: Sequence[str], split: set[str]) -> dict[str, Any]:
    """Give the accepted answers of a test question: several are no single truth."""
    if not is_true(row.get("_golden")):
        return {}
    told = {name: row.get(f"{name}{_GOLD}") for name in names}
    return {
        name: _answer(cell, True) if name in split or _lines(cell) else cell
        for name, cell in told.items()
        if cell is not None
    }


def _notes(parts: Sequence[Part], options: Reading) -> list[str]:
    tainted = sum(is_true(row.get("_tainted")) for part in parts for row in _rows(part))
    if not tainted or "trusted" in options.keep:
        return []
    return [f"{count(tainted, 'judgment')} of workers that were not trusted counted, too"]


FORMAT = ExportFormat(
    "CrowdFlower", recognise, read, item="_unit_id", annotator="_worker_id", notes=_notes
)
