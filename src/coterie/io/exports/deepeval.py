"""deepeval test runs: the same metric under several evaluation models is a panel of judges."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from coterie.errors import DataError
from coterie.io.exports.part import Part
from coterie.io.exports.port import ExportFormat, Submission
from coterie.io.exports.values import as_map, maps_in, scalar
from coterie.io.reading import Reading

_CASES = ("testCases", "conversationalTestCases", "test_results")
_METRICS = ("metricsData", "metrics_data", "metricsMetadata", "metrics_metadata")
"""Of a run on disk, and of an EvaluationResult; the last two in older versions."""


def recognise(part: Part) -> bool:
    """Tell it by the test run, or by the link that newer versions leave instead."""
    return "testRunData" in part.first or "testRunLink" in part.first or _is_bare(part.first)


def _is_bare(first: Mapping[str, Any]) -> bool:
    cases = [case for name in _CASES for case in maps_in(first.get(name))]
    return bool(cases) and any(name in cases[0] for name in _METRICS)


def read(parts: Sequence[Part], options: Reading) -> Iterator[Submission]:
    """Give the verdict of every metric on every test case."""
    for part in parts:
        whole = as_map(part.content)
        run = as_map(whole.get("testRunData", whole))
        cases = [case for name in _CASES for case in maps_in(run.get(name))]
        if not cases:
            raise DataError(
                f"{part.name} holds no test cases, at most a link to them; save the results with "
                "DEEPEVAL_RESULTS_FOLDER, and name that file"
            )
        for place, case in enumerate(cases):
            for metric in (one for name in _METRICS for one in maps_in(case.get(name))):
                yield _verdict(case, place, metric, options)


def _verdict(
    case: Mapping[str, Any], place: int, metric: Mapping[str, Any], options: Reading
) -> Submission:
    score, own = metric.get("score"), metric.get("threshold")
    verdict = metric.get("success")
    failed = metric.get("error") is not None or score is None
    cut = options.threshold if options.threshold is not None or verdict is not None else own
    if isinstance(cut, (int, float)) and isinstance(score, (int, float)):
        verdict = score >= cut
    failed = failed or verdict is None
    judge = metric.get("evaluationModel", metric.get("evaluation_model"))
    return Submission(
        scalar(case.get("name")) or f"test case {place}",
        scalar(judge) or "no model",
        {str(metric.get("name", metric.get("metric"))): None if failed else str(bool(verdict))},
        status="error" if failed else "",
        seconds=case.get("runDuration"),
        fields=case,
        asks_all=False,
    )


FORMAT = ExportFormat("deepeval", recognise, read, item="name", annotator="evaluationModel")
