"""Verdicts of judges: AlpacaEval, arena votes, JudgeBench, LLMBar, MT-bench, deepeval.

A format says how a record becomes submissions; :func:`records_by` walks over the records.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from typing import Any

from coterie.errors import DataError
from coterie.io.exports.part import Part
from coterie.io.exports.port import (
    ExportFormat,
    Read,
    Submission,
    as_list,
    as_map,
    choice,
    maps_in,
    scalar,
)
from coterie.io.reading import Reading

Record = Mapping[str, Any]
_ORDERS = (("swap = False", False), ("swap = True", True))
_GAMES = (("g1_winner", False), ("g2_winner", True))
_TURNED = {"A>B": "B>A", "B>A": "A>B"}
_SIDES = {"model_a": "model_a", "model_b": "model_b", "a": "model_a", "b": "model_b"}
_CASES = ("testCases", "conversationalTestCases", "test_results")
_METRICS = ("metricsData", "metrics_data", "metricsMetadata", "metrics_metadata")
"""Of a deepeval run on disk, and of an EvaluationResult; the last two in older versions."""


def records_by(rows: Callable[[Record, Part, Reading], Iterable[Submission]]) -> Read:
    """Read files record by record."""

    def read(parts: Sequence[Part], options: Reading) -> Iterator[Submission]:
        for part in parts:
            for record in part.records():
                yield from rows(record, part, options)

    return read


def _verdict(
    item: Any,
    judge: Any,
    name: str,
    answer: Any,
    record: Record,
    failed: str = "failed",
    **more: Any,
) -> Submission:
    """Give a judge's verdict; one that is missing does not count, in the word ``failed``."""
    status = failed if answer is None else ""
    return Submission(item, judge, {name: answer}, status, fields=record, **more)


def _together(*cells: Any) -> str:
    return " | ".join(map(str, cells))


def _named_judge(judge: Any) -> Any:
    """Name a judge; a model stands in a list with its prompt."""
    return scalar(next(iter(as_list(judge)), judge))


def _alpacaeval(record: Record, part: Part, options: Reading) -> Iterator[Submission]:
    """Give preferences: 1, 2 or tie, which is 1.5, and 0 in older files; others are cut there."""
    cut = 1.5 if options.threshold is None else options.threshold
    told, answer = scalar(record.get("preference")), None
    if isinstance(told, (int, float)) and not isinstance(told, bool):
        answer = "tie" if told in (0, cut) else "2" if told > cut else "1"
    pair = _together(*(record.get(key) for key in ("instruction", "generator_1", "generator_2")))
    judge = scalar(record.get("annotator")) or part.stem
    seconds = record.get("time_per_example")
    yield _verdict(pair, judge, "preference", answer, record, seconds=seconds)


def _arena(record: Record, part: Part, options: Reading) -> Iterator[Submission]:
    """Give winners by the model's name, since models change places between rows."""
    winner = scalar(record.get("winner"))
    side = _SIDES.get(str(winner))
    told = record.get("question_id", record.get("conversation_id"))
    turn = [f"turn {record['turn']}"] if "turn" in record else []
    models = sorted(str(record.get(place)) for place in ("model_a", "model_b"))
    yield _verdict(
        _together(told, *turn, *models),
        _voter(record) or part.stem,
        "winner",
        choice(winner if side is None else record.get(side)),
        record,
        time=record.get("tstamp"),
    )


def _voter(record: Record) -> Any:
    return _named_judge(record.get("judge", record.get("judge_hash")))


def _judgebench(record: Record, part: Part, options: Reading) -> Iterator[Submission]:
    """Give decisions; the second one saw the answers the other way round."""
    label = scalar(record.get("label"))
    for game, one in enumerate(maps_in(record.get("judgments"))):
        judge = scalar(as_map(one.get("judgment")).get("judge_model"))
        swapped, said = game % 2 == 1, scalar(one.get("decision"))
        yield _verdict(
            scalar(record.get("pair_id")),
            options.judge(judge or part.stem.rsplit("judge_model=", 1)[-1], swapped),
            "decision",
            _TURNED.get(str(said), said) if swapped else said,
            record,
            known={} if label is None else {"decision": label},
        )


def _llmbar(parts: Sequence[Part], options: Reading) -> Iterator[Submission]:
    """Give winners, which are turned back already: 1 is output 1 in both orders."""
    several = len({_subset(part) for part in parts}) > 1
    for part in parts:
        judge = " / ".join(part.folders[-2:]) or part.stem  # model and prompt
        for number, record in enumerate(part.records(), 1):
            label = scalar(record.get("label"))
            result = next(maps_in(record.get("results")), {})
            for key, swapped in _ORDERS:
                if key in result:
                    winner = scalar(as_map(result[key]).get("winner"))
                    yield _verdict(
                        f"{_subset(part)}/{number}" if several else number,
                        options.judge(judge, swapped),
                        "winner",
                        None if winner in (None, "None") else str(winner),
                        record,
                        "unparsed",
                        known={} if label is None else {"winner": str(label)},
                    )


def _subset(part: Part) -> str:
    """Name the set of pairs by the folder above the evaluators; each counts its own from 1."""
    folders = list(part.folders[:-2])
    above = folders[: folders.index("evaluators")] if "evaluators" in folders else []
    return above[-1] if above else ""


def _mtbench(record: Record, part: Part, options: Reading) -> Iterator[Submission]:
    """Give verdicts: winners are named by the model, so the second game is turned back already."""
    judge: Hashable = _named_judge(record.get("judge")) or "judge"
    about = record.get("question_id"), f"turn {record.get('turn', 1)}"
    more: dict[str, Any] = {"time": record.get("tstamp"), "asks_all": False}
    if "g1_winner" in record:
        pair = _together(*about, record.get("model_1"), record.get("model_2"))
        for key, swapped in _GAMES:
            told = record.get(key)
            winner = None if told == "error" else scalar(told)
            own = options.judge(judge, swapped)
            yield _verdict(pair, own, "winner", winner, record, "error", **more)
        return
    score = scalar(record.get("score"))
    label: Any = score if isinstance(score, (int, float)) and score != -1 else None
    if options.threshold is not None and label is not None:
        label = "pass" if label >= options.threshold else "fail"
    item = _together(*about, record.get("model"))
    yield _verdict(item, judge, "score", label, record, "error", **more)


def _deepeval(parts: Sequence[Part], options: Reading) -> Iterator[Submission]:
    """Give the verdict of every metric on every test case."""
    for part in parts:
        whole = as_map(part.content)
        cases = _cases(as_map(whole.get("testRunData", whole)))
        if not cases:
            raise DataError(
                f"{part.name} holds no test cases, at most a link to them; save the results with "
                "DEEPEVAL_RESULTS_FOLDER, and name that file"
            )
        for place, case in enumerate(cases):
            for metric in (one for name in _METRICS for one in maps_in(case.get(name))):
                judge = metric.get("evaluationModel", metric.get("evaluation_model"))
                yield _verdict(
                    scalar(case.get("name")) or f"test case {place}",
                    scalar(judge) or "no model",
                    str(metric.get("name", metric.get("metric"))),
                    _metric(metric, options.threshold),
                    case,
                    "error",
                    seconds=case.get("runDuration"),
                    asks_all=False,
                )


def _metric(metric: Record, threshold: float | None) -> str | None:
    score, verdict = metric.get("score"), metric.get("success")
    cut = metric.get("threshold") if threshold is None and verdict is None else threshold
    if isinstance(cut, (int, float)) and isinstance(score, (int, float)):
        verdict = score >= cut
    failed = metric.get("error") is not None or score is None or verdict is None
    return None if failed else str(bool(verdict))


def _cases(run: Record) -> list[Record]:
    return [case for name in _CASES for case in maps_in(run.get(name))]


def _is_deepeval(part: Part) -> bool:
    """Tell it by the test run, or by the link that newer versions leave instead."""
    first, cases = part.first, _cases(part.first)
    bare = bool(cases) and any(name in cases[0] for name in _METRICS)
    return "testRunData" in first or "testRunLink" in first or bare


ALPACAEVAL = ExportFormat(
    "AlpacaEval",
    lambda part: {"preference", "generator_1", "generator_2"} <= {*part.first},
    records_by(_alpacaeval),
    item="instruction and generators",
    annotator="annotator",
    taken=lambda parts, _: {} if scalar(parts[0].first.get("annotator")) is not None
    else {"annotator": "file name"},
)  # fmt: skip
ARENA = ExportFormat(
    "arena votes",
    lambda part: {"model_a", "model_b", "winner"} <= {*part.first, *part.header},
    records_by(_arena),
    item="question and models",
    annotator="judge",
    taken=lambda parts, _: {} if _voter(parts[0].first or dict.fromkeys(parts[0].header, "there"))
    else {"annotator": "file name"},
)  # fmt: skip
DEEPEVAL = ExportFormat(
    "deepeval", _is_deepeval, _deepeval, item="name", annotator="evaluationModel"
)
JUDGEBENCH = ExportFormat(
    "JudgeBench",
    lambda part: {"pair_id", "judgments", "label"} <= {*part.first},
    records_by(_judgebench),
    item="pair_id",
    annotator="judge_model and order",
)
LLMBAR = ExportFormat(
    "LLMBar",
    lambda part: any(
        key in one for one in maps_in(part.first.get("results")) for key, _ in _ORDERS
    ),
    _llmbar,
    item="place in the list",
    annotator="folder and order",
)
MTBENCH = ExportFormat(
    "MT-bench",
    lambda part: (
        {"g1_winner", "g2_winner"} <= {*part.first}
        or {"judgment", "score", "question_id"} <= {*part.first}
    ),
    records_by(_mtbench),
    item="question, turn, models",
    annotator="judge and order",
)
