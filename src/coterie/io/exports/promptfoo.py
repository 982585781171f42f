"""promptfoo results: every model-graded assertion is a judge."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping, Sequence
from typing import Any

from coterie.errors import DataError
from coterie.files.json_text import json_text
from coterie.io.exports.part import Part
from coterie.io.exports.port import ExportFormat, Submission
from coterie.io.exports.values import as_map, is_true, maps_in, scalar
from coterie.io.reading import Reading
from coterie.words.numbers import count

JUDGES = (
    "llm-rubric",
    "model-graded",
    "g-eval",
    "factuality",
    "answer-relevance",
    "context-",
    "conversation-relevance",
    "select-best",
    "pi",
    "agent-rubric",
    "search-rubric",
    "promptfoo:redteam:",
)
"""How the types of assertions begin that a model judges; others are computed."""
_UNPARSED = ("could not extract json", "could not parse", "no output", "invalid json")
"""What the reason says where a judge's answer could not be read: that is no verdict."""


def recognise(part: Part) -> bool:
    """Tell it by the results and the id of the evaluation, JSON Lines by what a result holds."""
    first = part.first
    results = first.get("results")
    whole = isinstance(results, Mapping) and ("evalId" in first or "stats" in results)
    return whole or {"gradingResult", "promptIdx", "testIdx"} <= set(first)


def read(parts: Sequence[Part], options: Reading) -> Iterator[Submission]:
    """Give the verdicts of judges."""
    results = [result for part in parts for result in _results(part)]
    asked = _Asked(results)
    for result in results:
        if result.get("error") and not _graded(result):
            yield Submission(_item(result), None, {}, status="error")
        for component in _components(result):
            yield _verdict(result, component, asked, options)


def _results(part: Part) -> list[Mapping[str, Any]]:
    """Give the results of all tests, of one JSON object or a line each."""
    if "gradingResult" in part.first:
        return list(part.records())
    found = as_map(as_map(part.content).get("results")).get("results")
    if not isinstance(found, list):
        raise DataError(f"{part.name} holds no results; run promptfoo eval with --output")
    return list(maps_in(found))


def _graded(result: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """Give the grades of a result, those of sets of assertions too, which some versions repeat."""
    own = list(maps_in(as_map(result.get("gradingResult")).get("componentResults")))
    inside = (one for group in own for one in maps_in(group.get("componentResults")))
    return [*own, *(one for one in inside if one not in own)]


def _components(result: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    """Give what judges say of a result."""
    for component in _graded(result):
        kind = str(as_map(component.get("assertion")).get("type"))
        if kind.removeprefix("not-").startswith(JUDGES):
            yield component


class _Asked:
    """What judges are asked: a rubric of all tests, or every test has its own."""

    def __init__(self, results: Sequence[Mapping[str, Any]]) -> None:
        tests: dict[str, set[Any]] = {}
        metrics: list[set[str]] = []
        for result in results:
            told = [as_map(component.get("assertion")) for component in _components(result)]
            for assertion in told:
                tests.setdefault(_rubric(assertion), set()).add(_test(result))
            metrics.append({str(one.get("metric")) for one in told if not one.get("provider")})
        every = {test for some in tests.values() for test in some}
        self._own = len(every) > 1 and len(tests) == len(every)  # one rubric per test
        self._own &= all(len(some) == 1 for some in tests.values())
        self._several = any(len(some) > 1 for some in metrics)  # one grader, asked for each metric

    def question(self, assertion: Mapping[str, Any]) -> str:
        """Name the question; a judge without a model of its own has its metric's."""
        metric = scalar(assertion.get("metric"))
        if not assertion.get("provider") and metric:
            return str(metric) if self._several else "verdict"
        return str(metric or assertion.get("type")) if self._own else _rubric(assertion)


def _rubric(assertion: Mapping[str, Any]) -> str:
    return str(scalar(assertion.get("value")) or assertion.get("metric") or assertion.get("type"))


def _verdict(
    result: Mapping[str, Any],
    component: Mapping[str, Any],
    asked: _Asked,
    options: Reading,
) -> Submission:
    assertion, value = as_map(component.get("assertion")), _value(component, options)
    failed = "error" in component or ("parsed" in options.keep and _is_unparsed(component))
    return Submission(
        _item(result),
        _judge(assertion),
        {asked.question(assertion): value},
        status="error" if failed else "",
        seconds=_seconds(result.get("latencyMs")),
        fields={"vars": as_map(result.get("vars")), "test": as_map(result.get("testCase"))},
        asks_all=False,
    )


def _is_unparsed(component: Mapping[str, Any]) -> bool:
    reason = str(component.get("reason") or "").lower()
    return any(words in reason for words in _UNPARSED)


def _value(component: Mapping[str, Any], options: Reading) -> Hashable | None:
    score = component.get("score")
    if options.threshold is not None and isinstance(score, (int, float)):
        return "pass" if score >= options.threshold else "fail"
    verdict = component.get("pass")
    return None if verdict is None else "pass" if is_true(verdict) else "fail"


def _item(result: Mapping[str, Any]) -> str:
    provider = as_map(result.get("provider")).get("id", result.get("provider"))
    prompt = result.get("promptIdx", result.get("promptId"))
    if prompt is None:
        own = as_map(result.get("prompt"))
        prompt = next((own[key] for key in ("id", "label", "display", "raw") if own.get(key)), None)
    return f"test {_test(result)}, prompt {prompt}, {provider}"


def _test(result: Mapping[str, Any]) -> str:
    """Name a test by its number, in older versions by what went in."""
    number = result.get("testIdx")
    return json_text(result.get("vars")) if number is None else str(number)


def _judge(assertion: Mapping[str, Any]) -> Hashable:
    """Name the judge by its model, else by the metric: the default grader is not named."""
    provider = assertion.get("provider")
    if isinstance(provider, Mapping):
        provider = provider.get("id") or provider.get("label")
    return scalar(provider) or scalar(assertion.get("metric")) or str(assertion.get("type"))


def _seconds(milliseconds: Any) -> float | None:
    return milliseconds / 1000 if isinstance(milliseconds, (int, float)) else None


def _notes(parts: Sequence[Part], options: Reading) -> list[str]:
    results = [result for part in parts for result in _results(part)]
    unparsed = sum(_is_unparsed(one) for result in results for one in _components(result))
    if not unparsed or "parsed" in options.keep:
        return []
    what = count(unparsed, "answer")
    return [f"{what} of judges could not be parsed, which promptfoo writes as fail"]


FORMAT = ExportFormat(
    "promptfoo",
    recognise,
    read,
    item="test, prompt, provider",
    annotator="assertion.provider",
    notes=_notes,
)
