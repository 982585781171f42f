"""MT-bench judgments (FastChat): pairs in both orders, or single scores."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping, Sequence
from typing import Any

from coterie.io.exports.part import Part
from coterie.io.exports.port import ExportFormat, Submission
from coterie.io.exports.values import as_list, scalar
from coterie.io.reading import Reading

_GAMES = (("g1_winner", False), ("g2_winner", True))


def recognise(part: Part) -> bool:
    """Tell pairs by the winners of both games, single scores by score and judgment."""
    first = {*part.first}
    return {"g1_winner", "g2_winner"} <= first or {"judgment", "score", "question_id"} <= first


def read(parts: Sequence[Part], options: Reading) -> Iterator[Submission]:
    """Give verdicts; winners are named by the model, so the second game is turned back already."""
    for part in parts:
        for record in part.records():
            if "g1_winner" in record:
                for key, swapped in _GAMES:
                    yield _verdict(record, record.get(key), swapped, options)
            else:
                yield _score(record, options)


def _judge(record: Mapping[str, Any]) -> Hashable:
    """Name the judge by its model: the prompt differs by category."""
    judge = record.get("judge")
    names = as_list(judge)
    return scalar(names[0]) or "judge" if names else scalar(judge) or "judge"


def _item(record: Mapping[str, Any], models: Sequence[str]) -> str:
    told = [record.get("question_id"), f"turn {record.get('turn', 1)}"]
    return " | ".join(map(str, [*told, *(record.get(model) for model in models)]))


def _verdict(record: Mapping[str, Any], winner: Any, swapped: bool, options: Reading) -> Submission:
    failed = winner in (None, "error")
    return Submission(
        _item(record, ("model_1", "model_2")),
        options.judge(_judge(record), swapped),
        {"winner": None if failed else scalar(winner)},
        status="error" if failed else "",
        time=record.get("tstamp"),
        fields=record,
        asks_all=False,
    )


def _score(record: Mapping[str, Any], options: Reading) -> Submission:
    score = scalar(record.get("score"))
    failed = not isinstance(score, (int, float)) or score == -1
    label: Hashable | None = None if failed else score
    if options.threshold is not None and isinstance(label, (int, float)):
        label = "pass" if label >= options.threshold else "fail"
    return Submission(
        _item(record, ("model",)),
        _judge(record),
        {"score": label},
        status="error" if failed else "",
        time=record.get("tstamp"),
        fields=record,
        asks_all=False,
    )


FORMAT = ExportFormat(
    "MT-bench", recognise, read, item="question, turn, models", annotator="judge and order"
)
