"""How labels are read: every option is declared here, for Python and for the command line."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Hashable, Iterable
from dataclasses import KW_ONLY, dataclass, field, replace
from os import PathLike
from typing import Any, Concatenate, ParamSpec, Self, TypeVar, cast

from coterie.errors import Argument, DataError
from coterie.words.values import not_one_of
from coterie.words.visible import text_of

P = ParamSpec("P")
M = TypeVar("M")
R = TypeVar("R")

ORDERS = ("annotator", "ignore")


def told(default: Any, help: str, several: str = "") -> Any:
    """Declare an option: its default, and what the help of the command line says of it.

    Parameters
    ----------
    default, help
        The value where nothing is told, and a sentence.
    several
        Whether commas separate several words in the command line: ``"always"``, or ``"perhaps"``
        where a word alone is no list.
    """
    return field(default=default, metadata={"help": help, "several": several})


@dataclass(frozen=True)
class Columns:
    """What may be told of any labels: which columns they are in, and which words there are."""

    item: Hashable | None = told(None, "Column of the items.")
    annotator: Hashable | Iterable[Hashable] | None = told(
        None, "Column of the annotators; or one each: ann,bob,cat", "perhaps"
    )
    label: Hashable | None = told(None, "Column of the labels.")
    gold: Any = told(None, "Known labels, clamped: a file, or a column of LABELS.")
    classes: Iterable[Hashable] | None = told(
        None, "The possible truths, separated by commas.", "always"
    )
    extra_answers: Iterable[Hashable] | None = told(
        None, "Answers that are never true: unsure,skip", "always"
    )
    duplicates: str = told(
        "error", "An annotator's repeated labels of an item: error, first, last, keep."
    )


@dataclass(frozen=True)
class Reading(Columns):
    """What may be told of labels in memory; :func:`coterie.read` says what each option means."""

    _: KW_ONLY
    format: str | None = told(None, "Format of the export (default: told from its content).")
    question: str | None = told(None, "Which question of an export.")
    option: str | None = told(None, "Which option of a multi-select; sets: whole sets.")
    keep: str | Iterable[str] = told(
        (), "Count what an export leaves out: rejected,drafts", "always"
    )
    anonymise: bool = told(False, "Hide the annotators' ids: salted hashes.")
    annotators: str | None = told(None, "Whose labels: predictions, suggestions, scorers, all.")
    order: str = told(
        "annotator", "A judge who sees both orders is two (annotator) or one (ignore)."
    )
    threshold: float | None = told(None, "Cut judges' scores into verdicts here.")
    workflow: str | int | None = told(None, "Workflow of a Zooniverse export.")
    time: str | None = told(None, "Column that says when a label was given, for dynamic.")

    def of_export(self) -> Self:
        """Give the same as a format is asked: fields by their names, ``keep`` as a set of words."""
        if text_of(self.order) not in ORDERS:
            raise DataError([Argument("order", self.order), not_one_of(self.order, ORDERS)])
        words = [self.keep] if isinstance(self.keep, str) else self.keep
        asked: dict[str, Any] = {"keep": frozenset(word.lower() for word in words)}
        if self.question is None and self.label is not None:
            asked["question"] = text_of(self.label)
        for role in ("item", "annotator", "gold"):
            asked[role] = name if isinstance(name := getattr(self, role), str) else None
        return replace(self, **asked)

    def judge(self, name: Hashable, swapped: bool) -> Hashable:
        """Name a judge who sees both orders: the order is part of the annotator, unless ignored.

        Examples
        --------
        >>> Reading().judge("gpt-4", True), Reading(order="ignore").judge("gpt-4", True)
        ('gpt-4 / swapped', 'gpt-4')
        """
        return f"{name} / swapped" if swapped and self.order == "annotator" else name


@dataclass(frozen=True)
class Scanning(Columns):
    """What may be told of labels in shards; :func:`coterie.scan` says what each option means."""

    _: KW_ONLY
    shard_labels: int | None = None
    folder: str | PathLike[str] | None = None
    engine: Any = None


def takes(
    made: Callable[P, M],
) -> Callable[[Callable[[Any, M], R]], Callable[Concatenate[Any, P], R]]:
    """Let a function of a source and a record of options take the options one by one."""

    def of(function: Callable[[Any, M], R]) -> Callable[Concatenate[Any, P], R]:
        own, asked = inspect.signature(function), inspect.signature(made, eval_str=True)
        source = own.parameters["source"]
        signature = own.replace(parameters=[source, *asked.parameters.values()])

        @functools.wraps(function)
        def call(*args: Any, **kwargs: Any) -> R:
            try:
                told = signature.bind(*args, **kwargs).arguments
            except TypeError as error:
                raise TypeError(f"{function.__name__}() {error}") from None
            return function(told.pop("source"), cast(Any, made)(**told))

        vars(call)["__signature__"] = signature
        return call

    return of
