"""What should not matter: who errs with whom, and how far a verdict follows order and length."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass

import numpy as np
import pandas as pd

from coterie.data.annotations import Annotations
from coterie.kernels.right import NORMAL_95
from coterie.metrics.scores import chance_interval
from coterie.numeric import LongArray
from coterie.posterior import Posterior
from coterie.posterior.dependence import Mean, counted_dependence

COPY = 0.5
"""Dependence surely above which two are called copies of each other."""
SWAPPED = " / swapped"
"""How readers name a judge who saw the pair the other way round."""
TIES = ("a=b", "equal", "both", "neither", "draw", "c")
"""Verdicts for neither side, beside those that begin with tie."""
LEAST = 10
"""Items below which nothing is said of a judge."""


@dataclass(frozen=True)
class Worth:
    """What n labels of an item are worth: n / (1 + (n - 1) d), d the mean dependence of pairs.

    Parameters
    ----------
    labels
        Labels per item: all judges of a panel, or a crowd's labels per item.
    number, low, high
        How many independent ones they are worth, between 1 and ``labels``; 95 % interval.
    dependence
        The mean dependence of pairs behind it, with its interval; negative ones make up for none
        of those who surely err together.
    """

    labels: float
    number: float
    low: float
    high: float
    dependence: Mean


def effective_number(posterior: Posterior, known: LongArray | None = None) -> Worth | None:
    """Say how many independent judges, or labels of a crowd, the labels of one item are worth.

    Parameters
    ----------
    posterior
        The result.
    known
        The known class of each item, -1 where unknown, shape (items,): then only those count.

    Returns
    -------
    Worth, or None where no item has two labels.

    Examples
    --------
    >>> import coterie
    >>> crowd = coterie.simulate("copycats", items=150, annotators=8, labels_per_item=8,
    ...                          classes=2, random_state=0)
    >>> posterior = coterie.QuickConsensus().fit(crowd.annotations).posterior_
    >>> worth = effective_number(posterior, (crowd.truth == "yes").to_numpy().astype(int))
    >>> worth.labels, worth.low < worth.number < worth.high < 8
    (8.0, True)
    """
    mean = counted_dependence(posterior, known, copy=COPY)
    if mean is None:
        return None
    size = posterior.annotations.labels_per_item
    labels = float(size[size > 0].mean())
    number, high, low = (labels / (1 + (labels - 1) * min(max(d, 0.0), 1.0)) for d in mean)
    return Worth(labels, number, low, high, mean)


def copies(dependence: pd.DataFrame, least: float = COPY) -> list[list[object]]:
    """Gather judges who surely err together more than not: linked pairs, the largest set first.

    Parameters
    ----------
    dependence
        The table of :meth:`coterie.Posterior.dependence`.
    least
        What the lower end of a pair's interval must be above.

    Examples
    --------
    >>> table = pd.DataFrame({"first": ["a", "b", "c"], "second": ["b", "c", "d"]})
    >>> copies(table.assign(low=[0.8, 0.6, 0.1]))
    [['a', 'b', 'c']]
    """
    home: dict[object, list[object]] = {}
    close = dependence[dependence["low"] > least]
    for first, second in zip(close["first"], close["second"], strict=True):
        one, other = home.setdefault(first, [first]), home.setdefault(second, [second])
        if one is not other:
            one += other
            home |= dict.fromkeys(other, one)
    sets = {id(group): group for group in home.values()}
    return sorted(sets.values(), key=lambda group: -len(group))


def first_class(annotations: Annotations) -> Hashable | None:
    """Tell the verdict for the answer that is shown first: the lower of the two that are no tie.

    Examples
    --------
    >>> import coterie
    >>> first_class(coterie.read([(1, "x", "B>A"), (1, "y", "A>B"), (2, "x", "tie")]))
    'A>B'
    """
    names = [(str(c).lower(), c) for c in annotations.classes.tolist()]
    sides = [c for text, c in names if text not in TIES and not text.startswith("tie")]
    return sides[0] if len(sides) == 2 else None


def position_table(annotations: Annotations, first: Hashable | None = None) -> pd.DataFrame:
    """Give what the order of the answers does to each judge who saw pairs in both orders.

    Columns: judge; pairs (seen in both orders); consistent (share with the same verdict), with its
    95 % interval low, high; bias: share of pairs won by whatever was first, less that won by
    whatever was second; explained: share of the variance of verdicts that the order explains.

    Parameters
    ----------
    annotations
        Verdicts about answers, whatever the order; the judge of the other order is called
        ``"<judge> / swapped"``, as readers of exports do.
    first
        The verdict for the answer that is shown first, by default :func:`first_class`.

    Examples
    --------
    >>> import coterie
    >>> rows = [(i, "gpt", "A" if i < 8 else "B") for i in range(10)]
    >>> rows += [(i, "gpt / swapped", "A" if i < 6 else "B") for i in range(10)]
    >>> position_table(coterie.read(rows))[["pairs", "consistent", "bias", "explained"]].round(2)
       pairs  consistent  bias  explained
    0     10         0.8   0.2       0.05
    """
    wide = annotations.to_frame().drop_duplicates(["item", "annotator"])
    wide = wide.pivot(index="item", columns="annotator", values="label")
    first = first_class(annotations) if first is None else first
    names = [name for name in wide.columns if f"{name}{SWAPPED}" in wide.columns]
    rows = []
    for name in names:
        both = wide[[name, f"{name}{SWAPPED}"]].dropna()
        if len(both) < LEAST:
            continue
        plain, swapped = (both[column] == first for column in both.columns)
        bias = float(plain.mean() - swapped.mean()) if first is not None else np.nan
        win = (plain.mean() + swapped.mean()) / 2
        spread = win * (1 - win)
        explained = (bias / 2) ** 2 / spread if spread > 0 else np.nan
        same = float((both.iloc[:, 0] == both.iloc[:, 1]).mean())
        rows.append((name, len(both), same, bias, explained))
    table = pd.DataFrame(rows, columns=["judge", "pairs", "consistent", "bias", "explained"])
    counted = table.rename(columns={"pairs": "items", "consistent": "accuracy"})
    low, high = chance_interval(counted) if len(table) else (np.zeros(0), np.zeros(0))
    table.insert(3, "low", low)
    table.insert(4, "high", high)
    return table


def column_table(
    annotations: Annotations, columns: pd.DataFrame, first: Hashable | None = None
) -> pd.DataFrame:
    """Give how far each judge's verdicts go with numbers of the items, such as a length.

    Columns: judge; column; items; correlation of the verdict for the first class with the column,
    with its 95 % interval low, high; explained: its square.

    Parameters
    ----------
    annotations
        The verdicts.
    columns
        Numbers, one row per item, indexed by item: the first answer's length less the second's.
    first
        The verdict that counts as one, by default :func:`first_class`, else the first class.

    Examples
    --------
    >>> import coterie
    >>> rows = [(i, who, "A" if i % 12 < 7 else "B") for i in range(24) for who in ("gpt", "pal")]
    >>> longer = pd.DataFrame({"longer": [12 - i % 12 for i in range(24)]})
    >>> column_table(coterie.read(rows), longer)[["judge", "correlation", "low", "high"]].round(2)
      judge  correlation   low  high
    0   gpt         0.86  0.69  0.94
    1   pal         0.86  0.69  0.94
    """
    first = first_class(annotations) if first is None else first
    first = annotations.classes[0] if first is None else first
    frame = annotations.to_frame()[["item", "annotator", "label"]].join(columns, on="item")
    rows = []
    for judge, own in frame.groupby("annotator", sort=False):
        for column in columns.columns:
            number = own[column].astype(float)
            said = (own["label"] == first)[number.notna()].astype(float)
            number = number.dropna()
            if len(number) < LEAST or number.std() == 0 or said.std() == 0:
                continue
            r = float(np.corrcoef(number, said)[0, 1])
            middle = np.arctanh(np.clip(r, -0.999999, 0.999999))
            reach = NORMAL_95 / np.sqrt(len(number) - 3)
            low, high = np.tanh([middle - reach, middle + reach])
            rows.append((judge, column, len(number), r, low, high, r * r))
    names = ["judge", "column", "items", "correlation", "low", "high", "explained"]
    return pd.DataFrame(rows, columns=names)
