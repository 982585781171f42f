"""Which questions an export holds, of what type, which one is read, and what answers say to it."""

from __future__ import annotations

import re
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from coterie.data.table import sort_order, value_array
from coterie.errors import Argument, DataError, Words, alternatives
from coterie.io.exports.port import Other, Submission, Ticked
from coterie.io.reading import Reading
from coterie.words.values import did_you_mean, join, written

SETS = "sets"
"""The option that asks for whole sets of a multi-select as classes."""
NO_OPTION = "(none)"
"""The class of an empty set."""
_MOST_WORDS = 50
"""Different texts beyond which a question asks for free text, unless they come back often."""
_ENOUGH = 8
"""Answers below which nothing is said about how often words come back."""
_WRITTEN = re.compile(
    "comments?|explanation|feedback|freetext|justification|notes?|rationale|reason(s|ing)?|remarks?"
)
"""Words in the name of a question that asks for free text."""
_LONG = 25
"""Characters of a text, on average, that is rather written than chosen."""

_OTHERS: dict[Other, tuple[str, Words]] = {
    Other.SPANS: ("marks spans in the text", "make every candidate span an item of its own"),
    Other.REGIONS: ("marks regions or places", "make every candidate region an item of its own"),
    Other.PER_REGION: (
        "answers for a region, not for the whole item",
        "make every region an item of its own",
    ),
    Other.TEXT: ("takes free text", "sort the texts into categories first"),
    Other.RANKING: (
        "ranks options",
        "make every pair of options an item, labelled by the one ranked higher",
    ),
    Other.RELATIONS: (
        "links spans to each other",
        "make every candidate link an item of its own",
    ),
    Other.NUMBER: ("takes a number on a scale", "cut it into classes first"),
    Other.SCORE: (
        "gives scores between the grades",
        ["cut them into verdicts: pass ", Argument("threshold")],
    ),
}
"""What a question does that has no fixed answers, and what a person may do about it."""


SINGLE, MULTIPLE = "single choice", "multi-select"


@dataclass(frozen=True)
class Question:
    """One question of an export: its kind is a choice, or what :class:`Other` says."""

    name: str  # as the platform calls it
    kind: str
    options: tuple[Hashable, ...] = ()  # the answers seen, in order

    @property
    def several(self) -> bool:
        """Whether more than one option can be ticked."""
        return self.kind == MULTIPLE

    @property
    def categorical(self) -> bool:
        """Whether it has fixed answers."""
        return self.kind in (SINGLE, MULTIPLE)


def questions_of(
    submissions: Iterable[Submission], stray: float = 0.0, option: str | None = None
) -> dict[str, Question]:
    """Find the questions and their types from the answers; the platform often does not say."""
    answers: dict[str, list[Any]] = {}
    for submission in submissions:
        for name, answer in submission.answers.items():
            answers.setdefault(name, []).append(answer)
    return {name: _question(name, given, stray, option) for name, given in answers.items()}


def _question(name: str, answers: list[Any], stray: float, option: str | None) -> Question:
    others = [answer for answer in answers if isinstance(answer, Other)]
    if others:
        return Question(name, others[0])
    boxes = [answer for answer in answers if isinstance(answer, Mapping)]
    if boxes:
        radio = (
            option is None and len(boxes) >= _ENOUGH and all(len(on_in(box)) == 1 for box in boxes)
        )
        kind = SINGLE if radio else MULTIPLE
        return Question(name, kind, in_order(word for box in boxes for word in box))
    lists = [answer for answer in answers if isinstance(answer, list)]
    options = in_order(word for answer in lists for word in answer)
    many = sum(len(answer) > 1 for answer in lists)
    declared = any(isinstance(answer, Ticked) for answer in lists)
    if declared or many > stray * len(lists) or (many and option is not None):
        return Question(name, MULTIPLE, options)
    words = [answer for answer in answers if answer is not None and not isinstance(answer, list)]
    if words and (is_free_text(words) or (_asks_for_text(name) and isinstance(words[0], str))):
        return Question(name, Other.TEXT)
    return Question(name, SINGLE, in_order([*options, *words]))


def on_in(boxes: Mapping[Any, Any]) -> list[Any]:
    """Give the check boxes that are ticked: where it is always one, they are radio buttons.

    Examples
    --------
    >>> on_in({"cat": "true", "dog": "false"})
    ['cat']
    """
    return [word for word, said in boxes.items() if str(said).lower() in ("true", "yes", "1")]


def _asks_for_text(name: str) -> bool:
    """Tell a question for a comment or the like by its name."""
    return any(map(_WRITTEN.fullmatch, re.split(r"[\W_]+", name.lower())))


def is_free_text(words: Sequence[Any]) -> bool:
    """Tell texts that hardly come back, and are long or many."""
    texts = [word for word in words if isinstance(word, str)]
    different = set(texts)
    if len(different) > _MOST_WORDS:
        return 3 * len(different) > len(texts)
    long = sum(map(len, different)) > _LONG * len(different)
    return long and len(texts) >= _ENOUGH and 2 * len(different) > len(texts)


def in_order(values: Iterable[Hashable]) -> tuple[Hashable, ...]:
    """Give different values in the order of classes."""
    different = list(dict.fromkeys(values))
    return tuple(different[place] for place in sort_order(value_array(different)))


def choose(name: str, questions: Mapping[str, Question], options: Reading) -> Question:
    """Take the question asked for, or the only one with fixed answers; refuse with the choices."""
    fixed = [one for one in questions.values() if one.categorical and one.options]
    if not fixed and all(question.categorical for question in questions.values()):
        raise DataError(f"{name} holds no answers; export it again with its annotations")
    asked = options.question
    if asked is None:
        if len(fixed) == 1:
            return _with_option(name, fixed[0], options.option)
        raise _several(name, fixed) if fixed else _none(name, questions.values())
    columns = ("{}", "Answer.{}", "Answer.{}.label", "OUTPUT:{}")  # a question, by its column, too
    found = (one for own, one in questions.items() if asked in [x.format(own) for x in columns])
    question = next(found, None)
    if question is None:
        told = ", ".join(f"{q.name!r} ({q.kind})" for q in [*questions.values()][:_LISTED])
        near = f"{did_you_mean(asked, questions)}; its questions are {told}"
        raise DataError([f"{name} has no ", Argument("question", asked), near])
    if question.categorical:
        return _with_option(name, question, options.option)
    kind = Other(question.kind)
    instead = f"choose a question with fixed answers ({written([q.name for q in fixed])})"
    raise DataError(
        f"{question.name!r} {_OTHERS[kind][0]}; coterie aggregates one label per item",
        argument="question",
        remedy=instead if fixed and kind != Other.SCORE else _OTHERS[kind][1],
    )


def _with_option(name: str, question: Question, option: str | None) -> Question:
    words, own = [str(word) for word in question.options], f"{question.name!r} of {name}"
    if not question.several:
        if option is None:
            return question
        raise DataError(
            [f"{own} is a single choice and ", Argument("option"), " is for a multi-select"],
            remedy="leave it out",
        )
    if option is None:
        one, sets = Argument("option", words[0] if words else None), Argument("option", SETS)
        remedy: list[str | Argument] = ["pass ", one, " to read one as yes or no, or ", sets]
        raise DataError(
            f"{own} allows several answers, {written(words)}",
            argument="option",
            remedy=[*remedy, " to read whole sets as classes"],
        )
    if option not in words and option != SETS:
        near = did_you_mean(option, [*words, SETS])
        raise DataError(
            [f"{own} has no ", Argument("option", option), near],
            remedy=f"choose one of {written(words)}",
        )
    return question


_LISTED = 12


def _several(name: str, fixed: Sequence[Question]) -> DataError:
    told = [f"{question.name!r} ({question.kind})" for question in fixed]
    choices = [Argument("question", question.name) for question in fixed]
    holds, remedy = join(told), ["pass ", *alternatives(choices)]
    if len(fixed) > _LISTED:
        holds = f"{', '.join(told[:_LISTED])} and more"
        table = "make a table of one row per label: item, annotator, label"
        remedy = [
            "pass ",
            choices[0],
            f" or another; or, if one task asks about many items, {table}",
        ]
    held = f"{name} holds {len(fixed)} questions, {holds}"
    return DataError(held, argument="question", remedy=remedy)


def _none(name: str, questions: Iterable[Question]) -> DataError:
    first = next(question for question in questions if not question.categorical)
    does, remedy = _OTHERS[Other(first.kind)]
    return DataError(
        f"{name} holds no question with fixed answers: {first.name!r} {does}, and coterie "
        "aggregates one label per item",
        remedy=remedy,
    )


SEVERAL = object()
"""An answer with several options where one was meant."""


def label_of(answer: Any, question: Question, option: str | None) -> Any:
    """Give the label that an answer is; None if it is none, :data:`SEVERAL` if it is too many.

    Examples
    --------
    >>> topics = Question("topics", "multi-select", ("price", "taste"))
    >>> label_of(["taste"], topics, "price"), label_of([], topics, "sets")
    ('no', '(none)')
    >>> label_of({"price": "true"}, topics, "price")
    'true'
    """
    if isinstance(answer, Other):
        return None
    if not question.several:
        return _single(answer)
    if isinstance(answer, Mapping):
        return _of_boxes(answer, question, option)
    said = {answer} if not isinstance(answer, list) else set(answer)
    said.discard(None)
    if option == SETS and SETS not in map(str, question.options):
        return _set([word for word in question.options if word in said])
    return "yes" if str(option) in map(str, said) else "no"


def _single(answer: Any) -> Any:
    answer = on_in(answer) if isinstance(answer, Mapping) else answer
    if isinstance(answer, list):
        if len(answer) > 1:
            return SEVERAL
        return answer[0] if answer else None
    return answer


def _of_boxes(answer: Mapping[Any, Any], question: Question, option: str | None) -> Any:
    """Read check boxes: their own words for ticked and not."""
    if option == SETS and SETS not in question.options:
        on = on_in(answer)
        return _set([word for word in question.options if word in on])
    return {str(word): said for word, said in answer.items()}.get(str(option))


def _set(words: list[Hashable]) -> str:
    return " | ".join(map(str, words)) if words else NO_OPTION
