"""Logs of evaluations, of which models are judges: Inspect (JSON and ``.eval``) and promptfoo."""

from __future__ import annotations

import json
from collections.abc import Hashable, Iterator, Mapping, Sequence
from typing import Any

from coterie.errors import DataError
from coterie.files.values import json_text
from coterie.io.exports.part import Part, contents
from coterie.io.exports.port import (
    ExportFormat,
    Other,
    Submission,
    as_map,
    is_true,
    maps_in,
    scalar,
)
from coterie.io.reading import Reading
from coterie.words.numbers import count

Record = Mapping[str, Any]
_GRADES = ("C", "I", "P", "N")
"""Of Inspect: correct, incorrect, partial, no answer."""
SCORERS = "scorers"
"""Asks for scorers of any name as judges, who then answer one question."""
_HEADERS = ("header.json", "_journal/start.json")
_JUDGES = (
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
"""How the types of promptfoo's assertions begin that a model judges; others are computed."""
_UNPARSED = ("could not extract json", "could not parse", "no output", "invalid json")
"""What the reason says where a judge's answer could not be read: that is no verdict."""


def _inspect(parts: Sequence[Part], options: Reading) -> Iterator[Submission]:
    """Give the grades of all samples; answers of two models are not the same items."""
    logs = [_unpacked(part) if part.is_archive else as_map(part.content) for part in parts]
    tested = [str(as_map(log.get("eval")).get("model")) for log in logs]
    for log, model in zip(logs, tested, strict=True):
        judges = _scorers(log)
        for sample in maps_in(log.get("samples")):
            told = [model] if len(set(tested)) > 1 else []
            epoch, name = sample.get("epoch"), scalar(sample.get("id"))
            told += [] if epoch in (None, 1) else [f"epoch {epoch}"]  # another answer of the model
            item = name if name is None or not told else ", ".join(map(str, [name, *told]))
            yield from _of_sample(sample, item, log, judges, options)


def _of_sample(
    sample: Record,
    item: Hashable,
    log: Record,
    judges: Mapping[str, tuple[str, Hashable]],
    options: Reading,
) -> Iterator[Submission]:
    scores, target = as_map(sample.get("scores")), scalar(sample.get("target"))
    if isinstance(sample.get("score"), Mapping):  # the oldest logs have one, named elsewhere
        scorer = as_map(as_map(log.get("results")).get("scorer")).get("name")
        scores = {str(scorer or "score"): sample["score"]}
    if sample.get("error") and not scores:
        yield Submission(item, None, {}, status="error")
    for key, score in scores.items():
        panel = options.annotators == SCORERS
        scorer, judge = ("grade", key) if panel else judges.get(key, (key, key))
        value = as_map(score).get("value")
        grades = {scorer: value}
        if isinstance(value, Mapping):  # several, by name
            grades = {f"{scorer}.{name}": one for name, one in value.items()}
        answers = {name: _grade(one, options) for name, one in grades.items()}
        failed = bool(sample.get("error")) and not any(answers.values())
        yield Submission(
            item,
            judge,
            answers,
            status="error" if failed else "",
            known=dict.fromkeys(answers, target) if target in _GRADES else {},
            time=as_map(log.get("eval")).get("created"),
            seconds=sample.get("total_time"),
            fields={k: sample.get(k) for k in ("id", "epoch", "metadata", "target")},
            asks_all=False,
        )


def _scorers(log: Record) -> dict[str, tuple[str, Hashable]]:
    """Name scorer and judge behind each key: a number after the scorer's name is its place."""
    judges: dict[str, tuple[str, Hashable]] = {}
    seen: dict[str, int] = {}
    for scorer in maps_in(as_map(log.get("eval")).get("scorers")):
        name = str(scorer.get("name")).rsplit("/", 1)[-1]
        place = seen.get(name, 0)
        seen[name] = place + 1
        key = f"{name}{place or ''}"
        judges[key] = name, _model(as_map(scorer.get("options"))) or key
    if not judges:  # older logs list them in the results alone
        for result in maps_in(as_map(log.get("results")).get("scores")):
            name = str(result.get("name"))
            judges[name] = (
                str(result.get("scorer") or name),
                _model(as_map(result.get("params"))) or name,
            )
    return judges


def _model(told: Record) -> Any:
    model = told.get("model")
    return scalar(model.get("model") if isinstance(model, Mapping) else model)


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
    return {**as_map(found[header]), "samples": [found[name] for name in sorted(names)]}


def _is_inspect(part: Part) -> bool:
    if part.is_archive:
        return any(name in part.names for name in _HEADERS)
    return {"eval", "status", "samples"} <= {*part.first}


def _promptfoo(parts: Sequence[Part], options: Reading) -> Iterator[Submission]:
    """Give the verdicts of judges: every model-graded assertion is one."""
    results = [result for part in parts for result in _results(part)]
    question = _questions(results)
    for result in results:
        item = _tested(result)
        if result.get("error") and not _graded(result):
            yield Submission(item, None, {}, status="error")
        for component in _components(result):
            assertion, score = as_map(component.get("assertion")), component.get("score")
            verdict: Any = component.get("pass")
            if options.threshold is not None and isinstance(score, (int, float)):
                verdict = score >= options.threshold
            failed = "error" in component or ("parsed" in options.keep and _is_unparsed(component))
            took = result.get("latencyMs")
            yield Submission(
                item,
                _judge(assertion),
                {question(assertion): verdict if verdict is None else _word(is_true(verdict))},
                status="error" if failed else "",
                seconds=took / 1000 if isinstance(took, (int, float)) else None,
                fields={"vars": as_map(result.get("vars")), "test": as_map(result.get("testCase"))},
                asks_all=False,
            )


def _word(passed: bool) -> str:
    return "pass" if passed else "fail"


def _results(part: Part) -> list[Record]:
    """Give the results of all tests, of one JSON object or a line each."""
    if "gradingResult" in part.first:
        return list(part.records())
    found = as_map(as_map(part.content).get("results")).get("results")
    if not isinstance(found, list):
        raise DataError(f"{part.name} holds no results; run promptfoo eval with --output")
    return list(maps_in(found))


def _graded(result: Record) -> list[Record]:
    """Give the grades of a result, those of sets of assertions too, which some versions repeat."""
    own = list(maps_in(as_map(result.get("gradingResult")).get("componentResults")))
    inside = (one for group in own for one in maps_in(group.get("componentResults")))
    return [*own, *(one for one in inside if one not in own)]


def _components(result: Record) -> Iterator[Record]:
    """Give what judges say of a result."""
    for component in _graded(result):
        kind = str(as_map(component.get("assertion")).get("type"))
        if kind.removeprefix("not-").startswith(_JUDGES):
            yield component


def _questions(results: Sequence[Record]) -> Any:
    """Give what names an assertion's question: one rubric of all tests, or each has its own."""
    tests: dict[str, set[Any]] = {}
    several = False  # one grader is asked for each metric
    for result in results:
        told = [as_map(component.get("assertion")) for component in _components(result)]
        for assertion in told:
            tests.setdefault(_rubric(assertion), set()).add(_test(result))
        several |= len({str(one.get("metric")) for one in told if not one.get("provider")}) > 1
    every = {test for some in tests.values() for test in some}
    own = len(every) > 1 and len(tests) == len(every) and all(len(s) == 1 for s in tests.values())

    def question(assertion: Record) -> str:
        metric = scalar(assertion.get("metric"))
        if not assertion.get("provider") and metric:  # a judge without a model has its metric's
            return str(metric) if several else "verdict"
        return str(metric or assertion.get("type")) if own else _rubric(assertion)

    return question


def _rubric(assertion: Record) -> str:
    return str(scalar(assertion.get("value")) or assertion.get("metric") or assertion.get("type"))


def _is_unparsed(component: Record) -> bool:
    reason = str(component.get("reason") or "").lower()
    return any(words in reason for words in _UNPARSED)


def _tested(result: Record) -> str:
    provider = as_map(result.get("provider")).get("id", result.get("provider"))
    prompt = result.get("promptIdx", result.get("promptId"))
    if prompt is None:
        own = as_map(result.get("prompt"))
        prompt = next((own[key] for key in ("id", "label", "display", "raw") if own.get(key)), None)
    return f"test {_test(result)}, prompt {prompt}, {provider}"


def _test(result: Record) -> str:
    """Name a test by its number, in older versions by what went in."""
    number = result.get("testIdx")
    return json_text(result.get("vars")) if number is None else str(number)


def _judge(assertion: Record) -> Hashable:
    """Name the judge by its model, else by the metric: the default grader is not named."""
    provider = assertion.get("provider")
    if isinstance(provider, Mapping):
        provider = provider.get("id") or provider.get("label")
    return scalar(provider) or scalar(assertion.get("metric")) or str(assertion.get("type"))


def _notes(parts: Sequence[Part], options: Reading) -> list[str]:
    results = [result for part in parts for result in _results(part)]
    unparsed = sum(_is_unparsed(one) for result in results for one in _components(result))
    if not unparsed or "parsed" in options.keep:
        return []
    what = count(unparsed, "answer")
    return [f"{what} of judges could not be parsed, which promptfoo writes as fail"]


def _is_promptfoo(part: Part) -> bool:
    """Tell it by the results and the id of the evaluation, JSON Lines by what a result holds."""
    first, results = part.first, part.first.get("results")
    whole = isinstance(results, Mapping) and ("evalId" in first or "stats" in results)
    return whole or {"gradingResult", "promptIdx", "testIdx"} <= {*first}


INSPECT = ExportFormat(
    "Inspect",
    _is_inspect,
    _inspect,
    item="sample id",
    annotator="scorer's model",
    taken=lambda _, options: {"annotator": "scorer"} if options.annotators == SCORERS else {},
)
PROMPTFOO = ExportFormat(
    "promptfoo",
    _is_promptfoo,
    _promptfoo,
    item="test, prompt, provider",
    annotator="assertion.provider",
    notes=_notes,
)
