"""Arena votes: which of two models a person or judge prefers."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping, Sequence
from typing import Any

from coterie.io.exports.part import Part
from coterie.io.exports.port import ExportFormat, Submission
from coterie.io.exports.values import as_list, choice, scalar
from coterie.io.reading import Reading

PLACES = {"model_a": "model_a", "model_b": "model_b", "a": "model_a", "b": "model_b"}


def recognise(part: Part) -> bool:
    """Tell it by two models and a winner."""
    found = {*part.first, *part.header}
    return {"model_a", "model_b", "winner"} <= found


def read(parts: Sequence[Part], options: Reading) -> Iterator[Submission]:
    """Give winners by the model's name, since models change places between rows."""
    for part in parts:
        for record in part.records():
            winner = scalar(record.get("winner"))
            place = PLACES.get(str(winner))
            yield Submission(
                _item(record),
                _judge(record) or part.stem,
                {"winner": choice(winner if place is None else record.get(place))},
                time=record.get("tstamp"),
                fields=record,
            )


def _judge(record: Mapping[str, Any]) -> Any:
    """Name who voted; a model that judges stands in a list with its prompt."""
    judge = record.get("judge", record.get("judge_hash"))
    return scalar(next(iter(as_list(judge)), judge))


def _item(record: Mapping[str, Any]) -> Hashable:
    models = sorted(str(record.get(place)) for place in ("model_a", "model_b"))
    told = record.get("question_id", record.get("conversation_id"))
    turn = [] if "turn" not in record else [f"turn {record['turn']}"]
    return " | ".join(map(str, [told, *turn, *models]))


def _taken(parts: Sequence[Part], options: Reading) -> dict[str, str]:
    first = parts[0].first or dict.fromkeys(parts[0].header, "in a column")
    return {} if _judge(first) else {"annotator": "file name"}


FORMAT = ExportFormat(
    "arena votes",
    recognise,
    read,
    item="question and models",
    annotator="judge",
    taken=_taken,
)
