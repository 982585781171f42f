"""The labels as codes: possible truths first, then what may be said and is never true."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterable
from typing import NamedTuple

import numpy as np

from coterie.data.annotations import Array, IntArray
from coterie.data.encoding import Coded, look_up, sort_order, value_array
from coterie.data.forms import Triples
from coterie.data.table import Table
from coterie.errors import Argument, DataError
from coterie.words.values import did_you_mean, written
from coterie.words.visible import quoted


class Answers(NamedTuple):
    """The answers given, as codes, and the vocabulary behind them."""

    codes: IntArray  # (labels,)
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
    if not len(label.values):
        raise DataError(f"{table.name} holds no label, every cell is blank; expected some labels")
    extra = declared(extra_answers, "extra_answers")
    truths = seen(label, extra) if classes is None else declared(classes, "classes")
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
        raise _too_few(table, truths, classes is None)
    codes, never_true = look_up(label.values, truths), look_up(label.values, extra)
    codes = np.where(never_true < 0, codes, len(truths) + never_true).astype(np.int32)
    if codes.min() < 0:
        raise _outside(table, triples, codes < 0, truths, extra)
    return Answers(codes[label.codes], truths, extra)


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


def seen(label: Coded, extra: Array) -> Array:
    """Give every label seen that is not declared an extra answer, in order."""
    truths = label.values[look_up(label.values, extra) < 0]
    return truths[sort_order(truths)]


def _too_few(table: Table, truths: Array, guessed: bool) -> DataError:
    came = written(truths.tolist()) or "none"
    if not guessed:
        return DataError([Argument("classes"), f" needs at least two possible truths, got {came}"])
    return DataError(
        f"the only class among the labels of {table.name} is {came}, expected at least two",
        remedy=["pass ", Argument("classes"), " with every possible truth"],
    )


def _outside(
    table: Table, triples: Triples, unknown: Array, truths: Array, extra: Array
) -> DataError:
    (labels,) = np.nonzero(unknown[triples.label.codes])
    value = triples.label.values.tolist()[triples.label.codes[labels[0]]]
    others = len(labels) - 1
    more = f" (nor {'is' if others == 1 else 'are'} {others:,} more)" if others else ""
    allowed: list[str | Argument] = [Argument("classes", truths.tolist())]
    if len(extra):
        allowed += [" or ", Argument("extra_answers", extra.tolist())]
    row = table.row(triples.rows_of(labels)[0])
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
