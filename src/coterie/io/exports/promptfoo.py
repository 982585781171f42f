"""promptfoo results: every model-graded assertion is a judge."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping, Sequence
from typing import Any

from coterie.errors import DataError
from coterie.io.exports.part import Part
from coterie.io.exports.port import ExportFormat, Options, Submission
from coterie.io.exports.values import as_map, is_true, maps_in, scalar
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
    """Tell it by the results and the id of the evaluation."""
    first = part.first
    results = first.get("results")
    return isinstance(results, Mapping) and ("evalId" in first or "stats" in results)


def read(parts: Sequence[Part], options: Options) -> Iterator[Submission]:
    """Give the verdicts of judges."""
    for part in parts:
        found = as_map(part.content).get("results")
        results = as_map(found).get("results")
        if not isinstance(results, list):
            raise DataError(f"{part.name} holds no results; run promptfoo eval with --output")
        for result, component in _components(part):
            yield _verdict(result, component, as_map(component.get("assertion")), options)


def _components(part: Part) -> Iterator[tuple[Mapping[str, Any], Mapping[str, Any]]]:
    """Give every result of a judge, with the test that it judges."""
    results = as_map(as_map(part.content).get("results")).get("results")
    for result in maps_in(results):
        for component in maps_in(as_map(result.get("gradingResult")).get("componentResults")):
            kind = str(as_map(component.get("assertion")).get("type"))
            if kind.removeprefix("not-").startswith(JUDGES):
                yield result, component


def _verdict(
    result: Mapping[str, Any],
    component: Mapping[str, Any],
    assertion: Mapping[str, Any],
    options: Options,
) -> Submission:
    value = _value(component, options)
    failed = "error" in component or ("parsed" in options.keep and _is_unparsed(component))
    return Submission(
        _item(result),
        _judge(assertion),
        {_question(assertion): value},
        status="error" if failed else "",
        seconds=_seconds(result.get("latencyMs")),
        fields={"vars": as_map(result.get("vars")), "test": as_map(result.get("testCase"))},
        asks_all=False,
    )


def _is_unparsed(component: Mapping[str, Any]) -> bool:
    reason = str(component.get("reason") or "").lower()
    return any(words in reason for words in _UNPARSED)


def _value(component: Mapping[str, Any], options: Options) -> Hashable | None:
    score = component.get("score")
    if options.threshold is not None and isinstance(score, (int, float)):
        return "pass" if score >= options.threshold else "fail"
    verdict = component.get("pass")
    return None if verdict is None else "pass" if is_true(verdict) else "fail"


def _item(result: Mapping[str, Any]) -> str:
    provider = as_map(result.get("provider")).get("id", result.get("provider"))
    prompt = result.get("promptIdx", result.get("promptId"))
    return f"test {result.get('testIdx')}, prompt {prompt}, {provider}"


def _judge(assertion: Mapping[str, Any]) -> Hashable:
    """Name the judge by its model, else by the metric: the default grader is not named."""
    provider = assertion.get("provider")
    if isinstance(provider, Mapping):
        provider = provider.get("id") or provider.get("label")
    return scalar(provider) or scalar(assertion.get("metric")) or str(assertion.get("type"))


def _question(assertion: Mapping[str, Any]) -> str:
    """Name the question by its rubric; a judge without a model of its own has its metric's."""
    if not assertion.get("provider") and scalar(assertion.get("metric")):
        return "verdict"
    return str(scalar(assertion.get("value")) or assertion.get("metric") or assertion.get("type"))


def _seconds(milliseconds: Any) -> float | None:
    return milliseconds / 1000 if isinstance(milliseconds, (int, float)) else None


def _notes(parts: Sequence[Part], options: Options) -> list[str]:
    unparsed = sum(_is_unparsed(one) for part in parts for _, one in _components(part))
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
