"""An answer -> a label of the question that is read."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from typing import Any

from coterie.io.exports.port import Other
from coterie.io.exports.questions import NO_OPTION, SETS, Question, on_in

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
