"""The tables of items: labels, of which kind and how hard items are, other numbers of a model."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from coterie.data.frames import table
from coterie.errors import CoterieError
from coterie.posterior.draws import ItemNumbers, once

if TYPE_CHECKING:
    from coterie.posterior.posterior import Posterior

HARDNESS, KIND = "hardness", "kind"
"""Names in ``item_numbers``."""


def unknown_hardness(n_items: int) -> ItemNumbers:
    """Give the column of a model that cannot tell, so that its tables are like those that can."""
    return ItemNumbers((HARDNESS,), np.full((n_items, 1), np.nan))


@table
@once
def labels(self: Posterior) -> pd.DataFrame:
    """One row per item: item, label, its probability, the entropy (in nats), and more.

    n_labels is the number of labels that the item has; runner_up the next most probable class
    (missing where there is only one). Numbers of the model's own, such as hardness, come last.
    """
    a, p, chosen = self.annotations, self.item_probability, self.label_code
    entropy = -np.sum(p * np.log(p, where=p > 0, out=np.zeros_like(p)), axis=1)
    numbers = self.item_numbers.items()
    return pd.DataFrame(
        {
            "item": a.items,
            "label": a.classes[chosen],
            "probability": p[np.arange(len(p)), chosen],
            "entropy": np.abs(entropy),  # no minus zero
            "n_labels": a.labels_per_item,
            "runner_up": runners_up(p, chosen, a.classes),
            **{name: one.values[:, 0] for name, one in numbers if one.is_single},
        }
    )


@table
def probabilities(self: Posterior, *, raw: bool = False) -> pd.DataFrame:
    """Probability of each class: index item, one column per class.

    Parameters
    ----------
    raw
        The model's own, where what it reports was calibrated afterwards.
    """
    a = self.annotations
    own = self.item_probability if self.raw_probability is None else self.raw_probability
    return pd.DataFrame(
        own if raw else self.item_probability,
        index=pd.Index(a.items, name="item"),
        columns=pd.Index(a.classes, name="label"),
    )


@table
def item_table(self: Posterior, name: str) -> pd.DataFrame:
    """Further numbers per item, such as the probabilities of its kinds: index item.

    Parameters
    ----------
    name
        Which numbers, of those in ``item_numbers``.
    """
    numbers = self.item_numbers
    if name not in numbers:
        known = ", ".join(map(repr, numbers)) or "none"
        raise CoterieError(
            f"{self.model} has no numbers {name!r} of items",
            argument="name",
            remedy=f"it has {known}",
        )
    index = pd.Index(self.annotations.items, name="item")
    return pd.DataFrame(numbers[name].values, index=index, columns=pd.Index(numbers[name].columns))


@table
def difficulty(self: Posterior) -> pd.DataFrame:
    """One row per item, the hardest first: item, label, hardness, n_labels.

    Hardness is the probability that the item is hard: of EasyHardBCC, that everybody answers
    it in a way of their own; of Consensus, that some answers are guesses whoever answers.
    """
    numbers = self.item_numbers.get(HARDNESS)
    if numbers is None or np.isnan(numbers.values).all():
        raise CoterieError(
            f"{self.model} does not say how hard items are; fit EasyHardBCC or Consensus"
        )
    table = self.labels()[["item", "label", HARDNESS, "n_labels"]]
    return table.sort_values(HARDNESS, ascending=False, kind="stable", ignore_index=True)


@table
def kinds(self: Posterior) -> pd.DataFrame:
    """One row per item: item, its most probable kind, the probability, and those of all kinds.

    Known kinds have their names and are certain. Latent ones are numbered, the largest first;
    a kind means the same for all items of this run, not of another.
    """
    if KIND not in self.item_numbers:
        raise CoterieError(
            f"{self.model} knows no kinds of items; fit IBCC, CBCC or HCBCC with kinds=2"
        )
    a, numbers = self.annotations, self.item_numbers[KIND]
    best = numbers.values.argmax(axis=1)
    names = pd.Index(numbers.columns)
    table = pd.DataFrame({"item": a.items, KIND: names[best], "probability": numbers.values.max(1)})
    table["n_labels"] = a.labels_per_item
    return table.join(pd.DataFrame(numbers.values, columns=names.map("kind {}".format)))


def runners_up(
    probability: NDArray[np.float64], chosen: NDArray[np.int64], classes: NDArray[Any]
) -> NDArray[Any]:
    """Give the most probable class of each item but the chosen one; None where there is none."""
    if len(classes) < 2:
        return np.full(len(probability), None)
    found: NDArray[Any] = classes[second_codes(probability, chosen)]
    return found


def second_codes(probability: NDArray[np.float64], chosen: NDArray[np.int64]) -> NDArray[np.int64]:
    """Give the code of the runner-up of each item; of one class there is none but itself.

    Examples
    --------
    >>> second_codes(np.array([[0.2, 0.5, 0.3], [0.0, 0.0, 1.0]]), np.array([1, 2]))
    array([2, 0])
    """
    others = probability.copy()
    others[np.arange(len(others)), chosen] = -1
    second: NDArray[np.int64] = others.argmax(axis=1)
    return second
