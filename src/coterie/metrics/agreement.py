"""How well the annotators agree, beyond chance, with no truth at hand; how close partitions are."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import csr_array
from scipy.special import xlogy

from coterie.arguments import checked
from coterie.data import annotations_from
from coterie.data.annotations import Annotations
from coterie.errors import DataError
from coterie.metrics.matching import first_of
from coterie.words.visible import quoted

FloatArray = NDArray[np.float64]
Partition = pd.Series | ArrayLike

# Patterns x resamples held at once by the bootstrap: 8 bytes each.
CHUNK = 4_000_000

MOST_RESAMPLES = 1_000_000


class Patterns(NamedTuple):
    """The items that have at least two labels; those with the same answers are one row."""

    n_items: NDArray[np.int64]  # (patterns,)
    counts: csr_array  # (patterns, answers)   an item's labels by answer
    n_labels: FloatArray  # (patterns,)        of an item
    disagreement: FloatArray  # (patterns,)    share of an item's pairs of labels that differ


def krippendorff_alpha(annotations: Any) -> float:
    """Give Krippendorff's alpha for nominal labels: 1 - disagreement seen / expected by chance.

    With n[i, c] labels c of item i, n[i] labels of item i, and n in all, over the items that have
    at least two labels::

        seen     = sum over i, c of n[i, c] (n[i] - n[i, c]) / (n[i] - 1) / n
        expected = sum over c of n[c] (n - n[c]) / (n (n - 1))

    1 is full agreement, 0 what chance would give, and it is NaN if only one answer is ever used
    (there is nothing to agree on). Extra answers count as answers like any other; an annotator's
    repeated labels of an item count as if different annotators had given them.

    Parameters
    ----------
    annotations
        Who said what about which item: Annotations, a dataframe or triples. Memory and time are
        linear in the number of labels.

    Examples
    --------
    >>> from coterie.simulation import simulate
    >>> crowd = simulate("experts", random_state=0)
    >>> round(krippendorff_alpha(crowd.annotations), 3)
    0.871
    """
    patterns = _find_patterns(annotations_from(annotations, duplicates="keep"))
    return float(_alpha(patterns, patterns.n_items[None, :])[0])


@checked
def krippendorff_interval(
    annotations: Any,
    *,
    level: float = 0.95,
    resamples: int = 2_000,
    random_state: int | np.random.Generator | None = None,
) -> tuple[float, float]:
    """Give the bootstrap interval of Krippendorff's alpha: items are drawn with replacement.

    The interval is equal-tailed, of the alphas of the resampled items. Resamples with only one
    answer have no alpha and are left out.

    Parameters
    ----------
    annotations
        Who said what about which item.
    level
        The interval's probability.
    resamples
        How many times the items are drawn.
    random_state
        A seed, or a generator.

    Examples
    --------
    >>> from coterie.simulation import simulate
    >>> crowd = simulate("experts", random_state=0)
    >>> low, high = krippendorff_interval(crowd.annotations, random_state=0)
    >>> low < krippendorff_alpha(crowd.annotations) < high
    True
    """
    if not 0 < level < 1:
        raise DataError(f"level must be between 0 and 1, got {level}", argument="level")
    if not 1 <= resamples <= MOST_RESAMPLES:
        raise DataError(
            f"resamples must be between 1 and {MOST_RESAMPLES:,}, got {resamples}",
            argument="resamples",
        )
    patterns = _find_patterns(annotations_from(annotations, duplicates="keep"))
    rng = np.random.default_rng(random_state)
    n_items = patterns.n_items.sum()
    step = max(CHUNK // len(patterns.n_items), 1)
    sizes = [min(step, resamples - done) for done in range(0, resamples, step)]
    drawn = (rng.multinomial(n_items, patterns.n_items / n_items, size) for size in sizes)
    alphas = np.concatenate([_alpha(patterns, some) for some in drawn])
    alphas = alphas[~np.isnan(alphas)]
    if len(alphas) == 0:
        return np.nan, np.nan
    low, high = np.quantile(alphas, [(1 - level) / 2, (1 + level) / 2])
    return float(low), float(high)


def fleiss_kappa(annotations: Any) -> float:
    """Give Fleiss' kappa: (agreement seen - by chance) / (1 - by chance).

    The agreement seen is the mean over items of the share of an item's pairs of labels that are
    equal; by chance it is the sum over answers of p[c]^2. Fleiss (1971) has the same number of
    labels on every item. Where it varies, this is Gwet's (2014) extension, in which each item
    counts once: the mean of the pairs runs over items with at least two labels, and p[c] is the
    mean over all labelled items of the share of their labels that are c. NaN if only one answer is
    ever used.

    Extra answers count as answers like any other; an annotator's repeated labels of an item count
    as if different annotators had given them.

    Parameters
    ----------
    annotations
        Who said what about which item: Annotations, a dataframe or triples. Memory and time are
        linear in the number of labels.

    Examples
    --------
    >>> from coterie.simulation import simulate
    >>> crowd = simulate("experts", random_state=0)
    >>> round(fleiss_kappa(crowd.annotations), 3)
    0.871
    """
    annotations = annotations_from(annotations, duplicates="keep")
    patterns = _find_patterns(annotations)
    seen = 1 - np.average(patterns.disagreement, weights=patterns.n_items)
    n_labels = annotations.labels_per_item
    weight = 1 / n_labels[n_labels > 0]
    share = np.bincount(
        annotations.codes.item_answer, weights=np.repeat(weight, n_labels[n_labels > 0])
    ) / len(weight)
    chance = float((share**2).sum())
    if np.count_nonzero(share) < 2:
        return np.nan
    return float((seen - chance) / (1 - chance))


def _find_patterns(annotations: Annotations) -> Patterns:
    """Count the answers of every item that has at least two labels; merge equal items."""
    codes = annotations.codes
    one_each = np.ones(annotations.n_labels, np.int64)
    rows = csr_array(
        (one_each, codes.item_answer.copy(), codes.item_start.copy()),
        shape=(annotations.n_items, annotations.n_answers),
    )
    rows.sum_duplicates()
    rows = rows[annotations.labels_per_item >= 2]
    if rows.shape[0] == 0:
        raise DataError("agreement needs an item with at least two labels, and there is none")
    # Items are merged by a 64-bit hash of their counts (sums wrap around): few patterns make the
    # bootstrap's cost independent of the number of items.
    multipliers = np.random.default_rng(0).integers(2**63, size=annotations.n_answers)
    hashes = np.asarray(rows @ multipliers)
    _, first, n_items = np.unique(hashes, return_index=True, return_counts=True)
    counts = rows[first]
    n_labels: FloatArray = counts.sum(axis=1).astype(np.float64)
    equal_pairs = counts.power(2).sum(axis=1) - n_labels
    return Patterns(n_items, counts, n_labels, 1 - equal_pairs / (n_labels * (n_labels - 1)))


def _alpha(patterns: Patterns, n_items: NDArray[np.int64]) -> FloatArray:
    """Give alpha for each row of items per pattern, shape (resamples, patterns) -> (resamples,)."""
    n = n_items @ patterns.n_labels
    seen = n_items @ (patterns.n_labels * patterns.disagreement) / n
    by_answer: NDArray[np.int64] = (patterns.counts.T @ n_items.T).T
    expected = 1 - (by_answer * (by_answer - 1.0)).sum(axis=1) / (n * (n - 1))
    only_one = np.count_nonzero(by_answer, axis=1) < 2
    return np.where(only_one, np.nan, 1 - seen / np.where(only_one, 1, expected))


def adjusted_rand_index(first: Partition, second: Partition) -> float:
    """Compare two partitions by pairs, corrected for chance (Hubert and Arabie, 1985).

    With a, b the numbers of pairs together in the first, in the second, and ab in both, out of
    n (n - 1) / 2 pairs::

        (ab - expected) / ((a + b) / 2 - expected),   expected = a b / (n (n - 1) / 2)

    1 if the partitions are the same, about 0 for unrelated ones, possibly negative.

    Parameters
    ----------
    first, second
        A block name or number for each thing. Two Series are matched by their index, and what is
        in only one of them is left out; arrays are matched by position.

    Examples
    --------
    >>> adjusted_rand_index([0, 0, 1, 1], ["b", "b", "a", "a"])
    1.0
    >>> round(adjusted_rand_index([0, 0, 1, 1], [0, 0, 1, 2]), 3)
    0.571
    """
    overlap = _overlap(first, second)
    ab, a, b = (float((size * (size - 1)).sum() / 2) for size in overlap)
    n = float(overlap[0].sum())
    if a == b == ab:
        return 1.0  # the same partition; also where the formula is 0 / 0
    expected = a * b / (n * (n - 1) / 2)
    return (ab - expected) / ((a + b) / 2 - expected)


def variation_of_information(first: Partition, second: Partition) -> float:
    """Measure the distance of two partitions in nats (Meila, 2007): H(A | B) + H(B | A).

    A metric: 0 if and only if the partitions are the same, at most log n.

    Parameters
    ----------
    first, second
        A block name or number for each thing, as for :func:`adjusted_rand_index`.

    Examples
    --------
    >>> variation_of_information([0, 0, 1, 1], ["b", "b", "a", "a"])
    0.0
    >>> round(variation_of_information([0, 0, 1, 1], [0, 1, 0, 1]), 3)  # 2 log 2
    1.386
    """
    overlap = _overlap(first, second)
    n = overlap[0].sum()
    both, one, other = (float(-xlogy(size / n, size / n).sum()) for size in overlap)
    return max(2 * both - one - other, 0.0)


def _overlap(first: Partition, second: Partition) -> list[FloatArray]:
    """Give the sizes of intersections that occur, of the first's blocks, and of the second's."""
    if isinstance(first, pd.Series) and isinstance(second, pd.Series):
        for partition, name in ((first, "first"), (second, "second")):
            if not partition.index.is_unique:
                twice = first_of(partition.index[partition.index.duplicated()])
                raise DataError(
                    f"{twice!r} is twice in the index of the {name} partition", argument=name
                )
        first = first[first.index.isin(second.index)]
        second = second.loc[first.index]
    a, b = (_codes(partition, name) for partition, name in ((first, "first"), (second, "second")))
    if len(a) != len(b):
        raise DataError(
            f"two partitions must be of the same things, got {len(a)} and {len(b)}",
            remedy="pass two Series to have them matched by their index",
        )
    if len(a) == 0:
        raise DataError("the two partitions have nothing in common: their index values differ")
    both = a * (b.max() + 1) + b
    return [np.unique(codes, return_counts=True)[1].astype(np.float64) for codes in (both, a, b)]


def _codes(partition: Partition, name: str) -> NDArray[np.int64]:
    values = partition if isinstance(partition, pd.Series) else pd.Series(np.ravel(partition))
    try:
        codes, _ = pd.factorize(values)
    except TypeError:
        raise DataError(
            f"the {name} partition is no list of names: {quoted(partition)}", argument=name
        ) from None
    if (codes < 0).any():
        raise DataError(
            f"the {name} partition has missing values: every thing needs a block", argument=name
        )
    return codes.astype(np.int64)
