"""ShardedPosterior: a result whose items stay in their shards; everything else is as before."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, fields, replace
from os import PathLike
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from coterie.data.annotations import Annotations
from coterie.data.codes import Codes, codes_of, encode
from coterie.data.frames import table
from coterie.data.gold import known_labels
from coterie.data.table import look_up, sort_order, value_array
from coterie.errors import CoterieError
from coterie.files.atomic import Writer, write_set
from coterie.files.paths import to_write
from coterie.io.scan import Scan
from coterie.io.write import table_writer
from coterie.kernels.right import Right, right_labels
from coterie.metrics import Score
from coterie.metrics.matching import check_items, warn_of_few
from coterie.posterior.draws import ItemNumbers, once
from coterie.posterior.posterior import Posterior
from coterie.posterior.sheets import label_counts, label_sheet
from coterie.words.visible import visible

Array = NDArray[Any]
FloatArray = NDArray[np.float64]

MOST_ON_PAGE = 200_000
"""Items that a page is made of."""
MOST_NAMED = 20
"""Items that are looked up because chains differ on them."""


class FoundItems(NamedTuple):
    """What a model found of the items of one shard, in its order."""

    probability: FloatArray  # (items, classes)
    label: NDArray[np.int64] | None = None  # (items,)           None: the most probable
    raw: FloatArray | None = None  # (items, classes)   the model's own, if others are reported
    numbers: Mapping[str, ItemNumbers] = MappingProxyType({})  # further ones, by name

    def changed(self, change: Callable[[str, Array], Array]) -> FoundItems:
        """Give the same with every array replaced by what is made of its name and it."""
        arrays = dict(zip(self._fields[:3], self[:3], strict=True))
        changed = {name: None if x is None else change(name, x) for name, x in arrays.items()}
        numbers = {
            name: replace(one, values=change(f"numbers.{name}", one.values))
            for name, one in self.numbers.items()
        }
        return FoundItems(**changed, numbers=numbers)  # type: ignore[arg-type]

    def array(self, name: str) -> Array:
        """Give one of its arrays by name."""
        _, _, own = name.partition("numbers.")
        found: Array = self.numbers[own].values if own else getattr(self, name)
        return found


Found = Callable[[int], FoundItems]
"""Gives what was found of the k-th shard's items, from wherever they are."""


@dataclass(frozen=True, eq=False, repr=False)
class SomeAnnotations(Annotations):
    """Labels of some items, by people of whom it is known how much they said in all: ``said``."""

    said: Any = None

    @property
    def labels_per_annotator(self) -> NDArray[np.int64]:
        """Number of labels of each annotator, of all items, shape (annotators,)."""
        return np.asarray(self.said)


def gathered(
    scan: Scan, found: Found, chosen: Callable[[Array], Array], most: int | None = None
) -> tuple[Annotations, FoundItems]:
    """Give items of all shards with their labels, and what was found of them, by their ids.

    ``chosen`` marks which items of a shard are wanted, from their ids; after ``most`` it stops.
    """
    parts: list[tuple[Array, ...]] = []
    some: list[FoundItems] = []
    n_items = 0
    for k in range(len(scan)):
        ids, shard = scan.items(k), scan.open(k)
        wanted = chosen(ids)
        item = np.repeat(np.arange(len(ids)), np.diff(shard.item_start))
        kept = wanted[item]
        place = (np.cumsum(wanted) - 1 + n_items)[item[kept]]
        labels = place, shard.item_annotator[kept], shard.item_answer[kept]
        parts.append((ids[wanted], shard.gold[wanted], *labels))
        some.append(found(k).changed(lambda name, x, wanted=wanted: x[wanted]))  # type: ignore[misc]
        n_items += len(parts[-1][0])
        if most is not None and n_items >= most:
            break
    ids, gold, item, annotator, answer = (np.concatenate(x) for x in zip(*parts, strict=True))
    order = sort_order(ids)
    rank = np.empty(len(order), np.int32)
    rank[order] = np.arange(len(order))
    sizes = (len(ids), scan.n_annotators, scan.n_classes, scan.n_answers)
    codes = encode(rank[item], annotator, answer, sizes=sizes, gold=gold[order])
    joined = some[0].changed(lambda name, _: np.concatenate([x.array(name) for x in some])[order])
    return annotations_of(scan, ids[order], codes), joined


def annotations_of(scan: Scan, items: Array, codes: Codes) -> Annotations:
    """Give labels of a scan's items, with its words; people are those of all its labels."""
    words = (scan.annotators, scan.classes, scan.extra_answers)
    by_annotator = len(codes.annotator_item) == len(codes.item_answer)
    if len(items) == scan.n_items and by_annotator:
        return Annotations(items, *words, codes, provenance=scan.provenance)
    said = scan.labels_per_annotator
    return SomeAnnotations(items, *words, codes, provenance=scan.provenance, said=said)


def people_of(scan: Scan) -> Annotations:
    """Give everybody of a scan, how much they said, and no items."""
    none = np.zeros(0, np.int32)
    sizes = (0, scan.n_annotators, scan.n_classes, scan.n_answers)
    return annotations_of(scan, value_array([]), encode(none, none, none, sizes=sizes))


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
        write_set(place, Totals(self).writers(place), old, force=force)

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
    """Some of the items of a ``whole`` result; what is said of people is of all their labels."""

    whole: ShardedPosterior = field(default=None)  # type: ignore[assignment]

    def right_labels(self) -> Right:
        """Give how many of everybody's labels are right, of all items."""
        return self.whole.right_labels()


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


def _ids(scan: Scan) -> Array:
    return np.concatenate([scan.items(k) for k in range(len(scan))])


def _stacked(parts: list[pd.DataFrame]) -> pd.DataFrame:
    """Put tables below each other; an empty one has no types to go by."""
    return pd.concat([part for part in parts if len(part)] or parts[:1])


class Totals:
    """What is summed over the shards of a result, while their labels are written or without."""

    def __init__(self, posterior: ShardedPosterior) -> None:
        scan, self.posterior = posterior.scan, posterior
        self.items = np.zeros(scan.n_classes, np.int64)  # by label
        self.review = 0  # items worth a second look
        self.said = np.zeros((scan.n_annotators, scan.n_classes, scan.n_answers), np.int64)

    def add(self, k: int) -> pd.DataFrame:
        """Add the k-th shard, and give its part of ``labels.csv``."""
        part = self.posterior.part(k)
        sheet = label_sheet(part)
        self.items += np.bincount(part.label_code, minlength=len(self.items))
        self.review += int(sheet["review"].sum())
        self.said += label_counts(part)
        return sheet

    def add_all(self) -> None:
        """Add every shard, without writing anything."""
        for k in range(len(self.posterior.scan)):
            self.add(k)

    def writers(self, folder: Path) -> dict[Path, Writer]:
        """Give what writes the labels of every shard, and adds it: ``part-00000.parquet`` ..."""

        def writer(k: int) -> Writer:
            return lambda path: table_writer(self.add(k), "parquet")(path)

        n = len(self.posterior.scan)
        return {folder / f"part-{k:05d}.parquet": writer(k) for k in range(n)}
