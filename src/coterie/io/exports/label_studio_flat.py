"""Label Studio JSON-MIN and CSV: one record per annotation, task data and answers mixed."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from coterie.errors import Argument, DataError
from coterie.io.exports.part import Part
from coterie.io.exports.port import Other, Submission
from coterie.io.exports.values import MISSING, as_json, as_list, scalar, ticked, typed
from coterie.words.values import written

OWN = {"annotation_id", "annotator", "lead_time"}
_PLATFORM = OWN | {"id", "created_at", "updated_at", "agreement"}


def is_flat(part: Part) -> bool:
    """Tell it by the columns that the platform adds."""
    return set(part.first) >= OWN or set(part.header) >= OWN


def read_flat(part: Part, asked: str | None) -> Iterator[Submission]:
    """Give annotations; those that were skipped are not in such a file, nor is what is gold."""
    records = list(part.records())
    known = asked is not None and any(asked in record for record in records)
    names = [str(asked)] if known else _answer_columns(part, records)
    several = {
        name for name in names if any(_choices(one.get(name)) is not None for one in records)
    }
    for record in records:
        yield Submission(
            scalar(record.get("id")),
            scalar(record.get("annotator")),
            {name: _said(record.get(name), name in several) for name in names},
            time=record.get("created_at"),
            seconds=record.get("lead_time"),
            fields={"data": {k: v for k, v in record.items() if k not in names}, "file": part.stem},
        )


def _answer_columns(part: Part, records: Sequence[Mapping[str, Any]]) -> list[str]:
    """Find the columns that are answers: nothing says which, but task data never vary in a task."""
    seen: dict[str, dict[Any, set[str]]] = defaultdict(lambda: defaultdict(set))
    words: dict[str, set[str]] = defaultdict(set)
    structured: set[str] = set()
    times: dict[str, int] = defaultdict(int)
    columns = list(dict.fromkeys(name for record in records for name in record))
    for record in records:
        item = str(record.get("id"))
        times[item] += 1
        for name in columns:
            cell = record.get(name)
            seen[name][item].add(str(cell))
            words[name] |= {str(cell)} - {"None", ""}
            if _choices(cell) is not None:
                structured.add(name)
    names = [
        name
        for name in columns
        if name not in _PLATFORM
        and (name in structured or any(len(said) > 1 for said in seen[name].values()))
    ]
    telling = [name for name in names if len(words[name]) > 1]
    if not names:
        once = max(times.values(), default=0) < 2
        why = "no task was annotated twice" if once else "nobody disagrees"
        raise DataError(
            f"{part.name} does not say which columns are answers, and {why}; its columns are "
            f"{written(columns)}",
            argument="question",
            remedy=["export it as JSON, or pass ", Argument("question"), " with one of them"],
        )
    return telling or names


def _choices(cell: Any) -> list[Any] | None:
    """Give the options of a cell that holds several; None if it does not."""
    found = as_json(cell) if isinstance(cell, str) and cell[:1] in "{[" else cell
    if isinstance(found, Mapping) and isinstance(found.get("choices"), list):
        return ticked(found["choices"])
    if found is not MISSING and isinstance(found, list) and "taxonomy" not in str(cell)[:12]:
        return None if any(isinstance(one, (dict, list)) for one in found) else ticked(found)
    return None


def _said(cell: Any, several: bool) -> Any:
    """Give an answer; in a column where nobody has several, texts may be written ones."""
    answer = _answer(cell)
    return cell if answer == [cell] and not several else answer


def _control(found: Any) -> Any:
    """Read what controls other than choices leave: ``[{"rating": 4}]``; None if it is none."""
    told = found[0] if isinstance(found, list) and len(found) == 1 else found
    if not isinstance(told, Mapping) or len(told) != 1:
        return None
    if "taxonomy" in told:
        return _paths(as_list(told["taxonomy"]))
    if "number" in told or "datetime" in told:
        return Other.NUMBER if "number" in told else Other.TEXT
    return scalar(told.get("rating", told.get("selected")))


def _paths(taxonomy: list[Any]) -> list[Any]:
    return [" > ".join(map(str, as_list(path) or [path])) for path in taxonomy]


def _answer(cell: Any) -> Any:
    """Give an answer: plain text is one option, which a multi-select may have, too."""
    several = _choices(cell)
    if several is not None:
        return several
    found = as_json(cell) if isinstance(cell, str) and cell[:1] in "{[" else cell
    paths, control = as_list(found), _control(found)
    if paths and all(isinstance(path, list) for path in paths):
        return _paths(paths)
    if control is not None:
        return control
    if found is not cell:
        return Other.REGIONS if found is not MISSING and not isinstance(found, str) else cell
    answer = typed(cell)
    return [] if answer is None else answer if isinstance(answer, (Other, list)) else [answer]


__all__ = ["is_flat", "read_flat"]
