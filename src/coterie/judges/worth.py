"""How many independent judges a panel is worth, and who copies whom."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from coterie.posterior import Posterior
from coterie.posterior.dependence import Mean, counted_dependence

COPY = 0.5
"""Dependence surely above which two are called copies of each other."""


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


def effective_number(posterior: Posterior, known: NDArray[np.int64] | None = None) -> Worth | None:
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
    number, high, low = (_worth(labels, d) for d in mean)
    return Worth(labels, number, low, high, mean)


def _worth(labels: float, dependence: float) -> float:
    """Give n / (1 + (n - 1) d), no less than one and no more than n."""
    return labels / (1 + (labels - 1) * min(max(dependence, 0.0), 1.0))


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
