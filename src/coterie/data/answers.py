"""The labels as codes: possible truths first, then what may be said and is never true."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterable
from typing import NamedTuple

import numpy as np

from coterie.data.annotations import Array, IntArray
from coterie.data.encoding import look_up, sort_order, value_array
from coterie.data.forms import Triples
from coterie.data.table import Table
from coterie.errors import Argument, DataError
from coterie.words.values import did_you_mean, written
from coterie.words.visible import quoted


class Answers(NamedTuple):
    """The answers given, as codes, and the vocabulary behind them."""

    codes: IntArray  # (labels,), or one for each different label
    classes: Array  # (classes,)
    extra_answers: Array  # (answers - classes,)


def code_answers(
    table: Table,
    triples: Triples,
    classes: Iterable[Hashable] | None,
    extra_answers: Iterable[Hashable] | None,
) -> Answers:
    """Code the labels by the declared classes, or by every label seen, in order."""
    label = triples.label
    words = code_words(table.name, label.values, classes, extra_answers)
    if words.codes.min() < 0:
        (outside,) = np.nonzero(words.codes[label.codes] < 0)
        value = label.values.tolist()[label.codes[outside[0]]]
        row = table.row(triples.rows_of(outside)[0])
        raise never_declared(value, row, len(outside) - 1, words)
    return words._replace(codes=words.codes[label.codes])


def code_words(
    name: str,
    words: Array,
    classes: Iterable[Hashable] | None,
    extra_answers: Iterable[Hashable] | None,
) -> Answers:
    """Code the different labels that were given; -1 for one that was not declared.

    Parameters
    ----------
    name
        What the table is called.
    words
        The different labels.
    classes, extra_answers
        Those declared; without classes every label is one that is no extra answer.
    """
    if not len(words):
        raise DataError(f"{name} holds no label, every cell is blank; expected some labels")
    extra = declared(extra_answers, "extra_answers")
    truths = seen(words, extra) if classes is None else declared(classes, "classes")
    both = set(truths.tolist()) & set(extra.tolist())
    if both:
        raise DataError(
            [
                f"{quoted(next(x for x in extra.tolist() if x in both))} is in ",
                *(Argument("classes"), " and in ", Argument("extra_answers")),
            ],
            remedy="an extra answer is never true, so keep it in one of them",
        )
    if len(truths) < 2:
        raise _too_few(name, truths, classes is None)
    codes, never_true = look_up(words, truths), look_up(words, extra)
    codes = np.where(never_true < 0, codes, len(truths) + never_true).astype(np.int32)
    return Answers(codes, truths, extra)


def declared(values: Iterable[Hashable] | None, argument: str) -> Array:
    """Give declared classes or extra answers as an array, in the order declared."""
    if isinstance(values, str):
        raise DataError(
            [Argument(argument, values), " is a text"],
            remedy=["pass a list, ", Argument(argument, several=True)],
        )
    try:
        array = value_array([] if values is None else values)
        counts = Counter(array.tolist())
    except TypeError as error:
        raise DataError(
            [Argument(argument), f" must be a list of text, numbers or the like ({error})"],
            remedy=["pass ", Argument(argument, several=True)],
        ) from error
    for value, count in counts.items():
        if count > 1:
            raise DataError(
                [Argument(argument), f" names {quoted(value)} {count} times"], remedy="name it once"
            )
    return array[sort_order(array)] if isinstance(values, (set, frozenset)) else array


def seen(words: Array, extra: Array) -> Array:
    """Give every label seen that is not declared an extra answer, in order."""
    truths = words[look_up(words, extra) < 0]
    return truths[sort_order(truths)]


def _too_few(name: str, truths: Array, guessed: bool) -> DataError:
    came = written(truths.tolist()) or "none"
    if not guessed:
        return DataError([Argument("classes"), f" needs at least two possible truths, got {came}"])
    return DataError(
        f"the only class among the labels of {name} is {came}, expected at least two",
        remedy=["pass ", Argument("classes"), " with every possible truth"],
    )


def never_declared(value: Hashable, row: str, others: int, words: Answers) -> DataError:
    """Say which label is neither a class nor an extra answer.

    Parameters
    ----------
    value, row
        The first of them, and where it stands.
    others
        How many more there are.
    words
        What was declared.
    """
    truths, extra = words.classes, words.extra_answers
    more = f" (nor {'is' if others == 1 else 'are'} {others:,} more)" if others else ""
    allowed: list[str | Argument] = [Argument("classes", truths.tolist())]
    if len(extra):
        allowed += [" or ", Argument("extra_answers", extra.tolist())]
    return DataError(
        [
            f"label {quoted(value)} in {row} is not one of ",
            *allowed,
            did_you_mean(value, [*truths.tolist(), *extra.tolist()]),
            more,
        ],
        remedy=[
            *("correct it, or add it to ", Argument("classes"), " if it can be the truth, "),
            *("to ", Argument("extra_answers"), " if it never is"),
        ],
    )
