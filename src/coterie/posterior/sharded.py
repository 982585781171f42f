"""ShardedPosterior: a result whose items stay in their shards; everything else is as before."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, fields, replace
from os import PathLike
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from coterie.data.annotations import Annotations
from coterie.data.codes import Codes, codes_of, encode
from coterie.data.frames import table
from coterie.data.gold import known_labels
from coterie.data.table import look_up, sort_order, value_array
from coterie.errors import CoterieError
from coterie.files.atomic import write_set
from coterie.files.paths import to_write
from coterie.io.scan import Scan
from coterie.kernels.right import Right, right_labels
from coterie.metrics import Score
from coterie.metrics.matching import check_items, warn_of_few
from coterie.posterior.gathered import Found, FoundItems, annotations_of, gathered
from coterie.posterior.parts import part_writers
from coterie.posterior.posterior import Posterior, once
from coterie.posterior.sheets import label_sheet
from coterie.words.visible import visible

Array = NDArray[Any]
FloatArray = NDArray[np.float64]


@dataclass(frozen=True, eq=False, repr=False)
class ShardedPosterior(Posterior):
    """What a model knows of labels in shards: people in memory, items where they are.

    ``annotators()``, ``coteries()``, ``confusion()`` and all else that is about people are tables
    as of any :class:`coterie.Posterior`. ``labels()`` and ``probabilities()`` gather the items of
    all shards, in the order that :func:`coterie.read` would give them; ``parts()`` goes through
    them shard by shard, and ``gather()`` gives an ordinary posterior, labels and all.

    Parameters
    ----------
    scan
        The labels.
    found
        Gives what was found of a shard's items.
    names
        What items are called, by their place among all, where a run has noted any.

    Examples
    --------
    >>> import coterie
    >>> crowd = coterie.simulate("mixed", items=90, annotators=7, random_state=0)
    >>> crowd.annotations.to_frame().to_parquet("labels.parquet")
    >>> labels = coterie.scan("labels.parquet", shard_labels=200)
    >>> posterior = coterie.DawidSkene().fit(labels).posterior_
    >>> posterior
    <ShardedPosterior of DawidSkene: 90 items in 3 shards, 7 annotators, 3 classes>
    >>> posterior.labels().shape, [len(part) for part in posterior.parts()]
    ((90, 6), [35, 25, 30])
    """

    scan: Scan = field(default=None)  # type: ignore[assignment]
    found: Found = field(default=None)  # type: ignore[assignment]
    names: Any = None

    def __repr__(self) -> str:
        s = self.scan
        sizes = f"{s.n_items:,} items in {len(s):,} {'shard' if len(s) == 1 else 'shards'}"
        sizes += f", {s.n_annotators:,} annotators, {s.n_classes} classes"
        return f"<ShardedPosterior of {visible(self.model)}: {sizes}>"

    def part(self, k: int) -> Posterior:
        """Give the k-th shard's items, in its order, with what is known of everybody.

        Its ``annotations`` hold the shard's labels only; matrices and draws are of all.
        """
        shard = codes_of(self.scan.open(k), self.scan.n_classes, self.scan.n_answers)
        some = annotations_of(self.scan, self.scan.items(k), shard)
        return self._of(some, self.found(k), {**self.run, "verdicts": None})

    def parts(self) -> Iterator[pd.DataFrame]:
        """Go through the tables that :meth:`labels` is made of, shard by shard, items by key."""
        return (self.part(k).labels() for k in range(len(self.scan)))

    def sheet(self, k: int) -> pd.DataFrame:
        """Give the k-th shard's part of ``labels.csv``: labels, review, one column per class."""
        return label_sheet(self.part(k))

    @property
    def item_names(self) -> Any:
        """What items are called, by their place among those of the run: looked up when asked."""
        return self.annotations.items if self.names is None else self.names

    @once
    def right_labels(self) -> Right:
        """Give how many of everybody's labels are right: sums over shards."""
        scan = self.scan

        def parts() -> Iterator[tuple[Codes, FloatArray]]:
            for k in range(len(scan)):
                shard = codes_of(scan.open(k), scan.n_classes, scan.n_answers)
                yield shard, self.found(k).probability

        return right_labels(parts, scan.labels_per_annotator)

    def _of(
        self,
        annotations: Annotations,
        found: FoundItems,
        run: Mapping[str, Any] | None = None,
    ) -> Posterior:
        """Give a posterior of these items; a run that is not given is told by their places."""
        own = {f.name for f in fields(Posterior) if f.init}
        told = {name: getattr(self, name) for name in own}
        told |= {
            "run": placed_in(self, annotations) if run is None else run,
            "annotations": annotations,
            "item_probability": found.probability,
            "label": found.label,
            "raw_probability": found.raw,
            "item_numbers": found.numbers,
        }
        if annotations.n_items == self.scan.n_items:
            return Posterior(**told)
        return SomeItems(**told, whole=self)

    def gather(self, items: Iterable[Any] | None = None) -> Posterior:
        """Give an ordinary posterior in memory, labels and all: there must be room for it.

        Parameters
        ----------
        items
            The ids of some items, with all their labels; by default all items.
        """
        wanted = None if items is None else value_array(items)

        def chosen(ids: Array) -> Array:
            return np.ones(len(ids), bool) if wanted is None else look_up(ids, wanted) >= 0

        return self._of(*gathered(self.scan, self.found, chosen))

    def sample(self, n_items: int) -> Posterior:
        """Give about so many items in memory, those with the lowest keys: by chance, by their ids.

        Parameters
        ----------
        n_items
            How many; all if there are no more.
        """
        seen = 0

        def chosen(ids: Array) -> Array:
            nonlocal seen
            seen += len(ids)
            return np.arange(seen - len(ids), seen) < n_items

        return self._of(*gathered(self.scan, self.found, chosen, most=n_items))

    @property
    def label_code(self) -> NDArray[np.int64]:
        """The chosen class of each item as a code, shape (items,); gathers all items."""
        return self.gather().label_code

    @table
    def labels(self) -> pd.DataFrame:
        """One row per item, as :meth:`coterie.Posterior.labels`; gathers all items."""
        whole = _stacked(list(self.parts())).reset_index(drop=True)
        order = sort_order(_ids(self.scan))
        return whole.iloc[order].reset_index(drop=True)

    @table
    def probabilities(self, *, raw: bool = False) -> pd.DataFrame:
        """Probability of each class, as :meth:`coterie.Posterior.probabilities`; gathers all items.

        Parameters
        ----------
        raw
            The model's own, where what it reports was calibrated afterwards.
        """
        parts = [self.part(k).probabilities(raw=raw) for k in range(len(self.scan))]
        return _stacked(parts).iloc[sort_order(_ids(self.scan))]

    @table
    def item_table(self, name: str) -> pd.DataFrame:
        """Further numbers per item, as :meth:`coterie.Posterior.item_table`; gathers all items."""
        return self.gather().item_table(name)

    def score(self, truth: Any, **options: Any) -> Score:
        """Score the result, as :meth:`coterie.Posterior.score`; gathers the items with a truth."""
        known, n_items = known_labels(truth, "truth"), self.scan.n_items
        some = self.gather(known.index.tolist())
        n_both = some.annotations.n_items
        if n_both == 0:
            check_items(pd.Index(_ids(self.scan), tupleize_cols=False), known.index)
        warn_of_few(n_both, n_items, len(known))
        return replace(some.score(known, **options), n_without_truth=n_items - n_both)

    def write_labels(self, folder: str | PathLike[str], *, force: bool = False) -> None:
        """Write the labels shard by shard, ``part-00000.parquet`` and so on: all of them or none.

        Parameters
        ----------
        folder
            Where to.
        force
            Replace what an earlier call has written there.
        """
        place = to_write(folder)
        old = sorted(place.glob("part-*.parquet"))
        write_set(place, part_writers(self, place), old, force=force)

    def save(self, path: Any) -> None:
        """Say that items in shards are in no one file."""
        raise CoterieError(
            "a result whose items are in shards is not one file; gather() gives one that can be"
            " saved, write_labels() writes the items shard by shard"
        )

    def report(self, path: Any, **options: Any) -> None:
        """Write a report, as :meth:`coterie.Posterior.report`: of at most 200,000 of the items.

        Of more than that the page shows so many, drawn by a hash of their ids, and says so in its
        title; what it says of people is of all labels.
        """
        shown = self.sample(MOST_ON_PAGE)
        if shown.annotations.n_items < self.scan.n_items and options.get("title") is None:
            options["title"] = sample_title(self, shown)
        shown.report(path, **options)


@dataclass(frozen=True, eq=False, repr=False)
class SomeItems(Posterior):
    """Some of the items of a result; what is said of people is of all their labels.

    Parameters
    ----------
    whole
        The result.
    """

    whole: ShardedPosterior = field(default=None)  # type: ignore[assignment]

    def right_labels(self) -> Right:
        """Give how many of everybody's labels are right, of all items."""
        return self.whole.right_labels()


MOST_ON_PAGE = 200_000
"""Items that a page is made of."""
MOST_NAMED = 20
"""Items that are looked up because chains differ on them."""


def placed_in(posterior: ShardedPosterior, some: Annotations) -> Mapping[str, Any]:
    """Give the facts of a run with items that it noted by their places among others."""
    verdicts = posterior.run.get("verdicts") or {}
    noted = verdicts.get("labels")
    if posterior.names is None or noted is None:
        return posterior.run

    def placed(places: list[int]) -> NDArray[np.int64]:
        return look_up(posterior.names[places], some.items)

    differ = placed(noted["differ"][:MOST_NAMED])
    labels = {**noted, "differ": differ[differ >= 0].tolist()}
    if (two := noted.get("readings")) is not None:
        where = placed(two["items"])
        kept = np.flatnonzero(where >= 0)
        labels["readings"] = {
            **two,
            "items": where[kept].tolist(),
            "labels": [[side[k] for k in kept] for side in two["labels"]],
            "probability": [[side[k] for k in kept] for side in two["probability"]],
        }
    return {**posterior.run, "verdicts": {**verdicts, "labels": labels}}


def sample_title(posterior: ShardedPosterior, shown: Posterior) -> str:
    """Say in a page's title that it shows some of the items."""
    return (
        f"{posterior.scan.n_annotators:,} annotators, {posterior.scan.n_items:,} items: "
        f"a sample of {shown.annotations.n_items:,} items"
    )


def people_of(scan: Scan) -> Annotations:
    """Give everybody of a scan, how much they said, and no items."""
    none = np.zeros(0, np.int32)
    sizes = (0, scan.n_annotators, scan.n_classes, scan.n_answers)
    return annotations_of(scan, value_array([]), encode(none, none, none, sizes=sizes))


def _ids(scan: Scan) -> Array:
    return np.concatenate([scan.items(k) for k in range(len(scan))])


def _stacked(parts: list[pd.DataFrame]) -> pd.DataFrame:
    """Put tables below each other; an empty one has no types to go by."""
    return pd.concat([part for part in parts if len(part)] or parts[:1])
