"""Inspect logs, JSON and ``.eval``: every scorer that a model grades by is a judge."""

from __future__ import annotations

import json
from collections.abc import Hashable, Iterator, Mapping, Sequence
from typing import Any

from coterie.errors import DataError
from coterie.io.exports.archive import contents
from coterie.io.exports.part import Part
from coterie.io.exports.port import ExportFormat, Other, Submission
from coterie.io.exports.values import as_list, as_map, maps_in, scalar
from coterie.io.reading import Reading

GRADES = ("C", "I", "P", "N")
"""Correct, incorrect, partial, no answer."""
SCORERS, GRADE = "scorers", "grade"
"""Asks for scorers of any name as judges, and the question that all of them then answer."""
_HEADERS = ("header.json", "_journal/start.json")


def recognise(part: Part) -> bool:
    """Tell a log by its keys, or by the files in its zip."""
    if part.is_archive:
        return any(name in part.names for name in _HEADERS)
    return {"eval", "status", "samples"} <= set(part.first)


def read(parts: Sequence[Part], options: Reading) -> Iterator[Submission]:
    """Give the grades of all scorers of all samples."""
    logs = [_unpacked(part) if part.is_archive else as_map(part.content) for part in parts]
    several = len({_tested(log) for log in logs}) > 1
    for log in logs:
        for sample in maps_in(log.get("samples")):
            item = _item(sample, _tested(log) if several else "")
            yield from _of_sample(sample, item, log, options)


def _tested(log: Mapping[str, Any]) -> str:
    """Name the model whose answers are graded: those of two models are not the same items."""
    return str(as_map(log.get("eval")).get("model"))


def _of_sample(
    sample: Mapping[str, Any], item: Hashable, log: Mapping[str, Any], options: Reading
) -> Iterator[Submission]:
    evaluation, scores = as_map(log.get("eval")), _scores(sample, log)
    judges = _judges(evaluation) or _judges_of_results(log)
    target = scalar(sample.get("target"))
    if sample.get("error") and not scores:
        yield Submission(item, None, {}, status="error")
    for key, score in scores.items():
        panel = options.annotators == SCORERS
        scorer, judge = (GRADE, key) if panel else judges.get(key, (key, key))
        answers = _answers(scorer, as_map(score).get("value"), options)
        failed = bool(sample.get("error")) and not any(answers.values())
        yield Submission(
            item,
            judge,
            answers,
            status="error" if failed else "",
            known=dict.fromkeys(answers, target) if target in GRADES else {},
            time=evaluation.get("created"),
            seconds=sample.get("total_time"),
            fields={k: sample.get(k) for k in ("id", "epoch", "metadata", "target")},
            asks_all=False,
        )


def _scores(sample: Mapping[str, Any], log: Mapping[str, Any]) -> Mapping[str, Any]:
    """Give the scores of a sample by scorer; the oldest logs have one, named elsewhere."""
    if isinstance(sample.get("score"), Mapping):
        scorer = as_map(as_map(log.get("results")).get("scorer")).get("name")
        return {str(scorer or "score"): sample["score"]}
    return as_map(sample.get("scores"))


def _answers(scorer: str, value: Any, options: Reading) -> dict[str, Any]:
    """Give the grade of a scorer, or its grades where it gives several by name."""
    if isinstance(value, Mapping):
        return {f"{scorer}.{name}": _grade(one, options) for name, one in value.items()}
    return {scorer: _grade(value, options)}


def _item(sample: Mapping[str, Any], model: str) -> Hashable | None:
    """Name a sample; a further epoch is another answer of the model, so another item."""
    epoch, name = sample.get("epoch"), scalar(sample.get("id"))
    told = [model] if model else []
    told += [] if epoch in (None, 1) else [f"epoch {epoch}"]
    return name if name is None or not told else ", ".join(map(str, [name, *told]))


def _judges(evaluation: Mapping[str, Any]) -> dict[str, tuple[str, Hashable]]:
    """Name scorer and judge behind each key: a number after the scorer's name is its place."""
    judges: dict[str, tuple[str, Hashable]] = {}
    seen: dict[str, int] = {}
    for scorer in maps_in(evaluation.get("scorers")):
        name = str(scorer.get("name")).rsplit("/", 1)[-1]
        place = seen.get(name, 0)
        seen[name] = place + 1
        model = as_map(scorer.get("options")).get("model")
        if isinstance(model, Mapping):
            model = model.get("model")
        key = f"{name}{place or ''}"
        judges[key] = name, scalar(model) or key
    return judges


def _judges_of_results(log: Mapping[str, Any]) -> dict[str, tuple[str, Hashable]]:
    """Name them by the results where older logs do not list the scorers."""
    judges: dict[str, tuple[str, Hashable]] = {}
    for result in maps_in(as_map(log.get("results")).get("scores")):
        name, scorer = str(result.get("name")), str(result.get("scorer") or result.get("name"))
        model = as_map(result.get("params")).get("model")
        judges[name] = scorer, scalar(as_map(model).get("model") or model) or name
    return judges


def _grade(value: Any, options: Reading) -> Any:
    """Give a grade; numbers are cut by a threshold, and between grades they are none without it."""
    if options.threshold is not None and isinstance(value, (int, float)):
        return "C" if value >= options.threshold else "I"
    if isinstance(value, float) and not (2 * value).is_integer():  # a half is a partial grade
        return Other.SCORE if value == value else None
    return scalar(value)


def _unpacked(part: Part) -> dict[str, Any]:
    """Put the samples of an ``.eval`` file behind its header."""
    names = [name for name in part.names if name.startswith("samples/") and name.endswith(".json")]
    header = next(name for name in _HEADERS if name in part.names)
    try:
        found = {n: json.loads(raw) for n, raw in contents(part.file, [header, *names]).items()}
    except (ValueError, RecursionError) as error:
        raise DataError(f"{part.name} holds a file that is not JSON: {error}") from None
    if not names:
        raise DataError(f"{part.name} holds no samples; log them, or finish the run")
    samples = [found[name] for name in sorted(names)]
    return {**as_map(found[header]), "samples": as_list(samples)}


def _taken(parts: Sequence[Part], options: Reading) -> dict[str, str]:
    return {"annotator": "scorer"} if options.annotators == SCORERS else {}


FORMAT = ExportFormat(
    "Inspect", recognise, read, item="sample id", annotator="scorer's model", taken=_taken
)
