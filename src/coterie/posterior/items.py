"""The tables of items: labels, and what numbers a model gives to items beside."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from coterie.errors import CoterieError

if TYPE_CHECKING:
    from coterie.posterior.posterior import Posterior


@dataclass(frozen=True, eq=False)
class ItemNumbers:
    """Some numbers per item, such as how probable each kind of item is.

    Parameters
    ----------
    columns
        What the numbers are.
    values
        Shape (items, columns).
    """

    columns: tuple[str, ...]
    values: NDArray[np.float64]

    @property
    def is_single(self) -> bool:
        """Whether there is one number per item: it is then a column of the labels too."""
        return len(self.columns) == 1


def label_table(posterior: Posterior) -> pd.DataFrame:
    """Give one row per item; see :meth:`coterie.posterior.Posterior.labels`."""
    a, p, chosen = posterior.annotations, posterior.item_probability, posterior.label_code
    entropy = -np.sum(p * np.log(p, where=p > 0, out=np.zeros_like(p)), axis=1)
    numbers = posterior.item_numbers.items()
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


def item_table(posterior: Posterior, name: str) -> pd.DataFrame:
    """Give some numbers per item; see :meth:`coterie.posterior.Posterior.item_table`."""
    numbers = posterior.item_numbers
    if name not in numbers:
        known = ", ".join(map(repr, numbers)) or "none"
        raise CoterieError(
            f"{posterior.model} has no numbers {name!r} of items",
            argument="name",
            remedy=f"it has {known}",
        )
    index = pd.Index(posterior.annotations.items, name="item")
    return pd.DataFrame(numbers[name].values, index=index, columns=pd.Index(numbers[name].columns))


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
