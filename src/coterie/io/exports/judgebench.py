"""JudgeBench outputs: one file per judge, both orders, the second not turned back."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from coterie.io.exports.part import Part
from coterie.io.exports.port import ExportFormat, Submission
from coterie.io.exports.values import as_map, maps_in, scalar
from coterie.io.reading import Reading

TURNED = {"A>B": "B>A", "B>A": "A>B"}


def recognise(part: Part) -> bool:
    """Tell it by pairs with judgments."""
    return {"pair_id", "judgments", "label"} <= set(part.first)


def read(parts: Sequence[Part], options: Reading) -> Iterator[Submission]:
    """Give decisions; the second one saw the answers the other way round."""
    for part in parts:
        named = part.stem.rsplit("judge_model=", 1)[-1]
        for record in part.records():
            label = scalar(record.get("label"))
            known = {} if label is None else {"decision": label}
            for game, judgment in enumerate(maps_in(record.get("judgments"))):
                judge = as_map(judgment.get("judgment")).get("judge_model")
                decision = scalar(judgment.get("decision"))
                swapped = game % 2 == 1
                told = TURNED.get(str(decision), decision) if swapped else decision
                yield Submission(
                    scalar(record.get("pair_id")),
                    options.judge(scalar(judge) or named, swapped),
                    {"decision": told},
                    status="failed" if decision is None else "",
                    known=known,
                    fields=record,
                )


FORMAT = ExportFormat(
    "JudgeBench", recognise, read, item="pair_id", annotator="judge_model and order"
)
