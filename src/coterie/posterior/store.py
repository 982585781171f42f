"""A Posterior in one file: ``save`` and ``load``, and what must hold of its parts.

The file is a zip archive (:mod:`coterie.files.container`) of numpy arrays, those of
:data:`coterie.posterior.draws.TABLE`, and a JSON header, which is a ``Header``. Of the labels only
the order by item is kept; the order by annotator is worked out again, so that the two cannot
disagree. Numbers are stored as narrow as they fit, and come back bit by bit.

A change of the layout raises the version; ``load`` refuses files of another one in a sentence.
"""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import astuple, dataclass, fields, is_dataclass
from enum import Enum
from os import PathLike
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
from numpy.typing import NDArray

from coterie.abilities import Abilities, Method
from coterie.data.annotations import Annotations
from coterie.data.codes import encode, item_order, times_of
from coterie.data.provenance import Provenance
from coterie.errors import DataError
from coterie.files.atomic import Writer, check_whole, write_file
from coterie.files.container import (
    Arrays,
    Format,
    container_writer,
    damage_of,
    narrow,
    pack_vocabulary,
    read_container,
    unpack_vocabulary,
)
from coterie.files.paths import is_folder, to_write
from coterie.files.values import UnknownPrior, from_json, to_json
from coterie.kernels.vote import Mixing
from coterie.partition import PointPartition
from coterie.posterior.draws import TABLE, DrawnArray, Draws, ItemNumbers, row_of
from coterie.posterior.posterior import Posterior

FORMAT = Format("coterie posterior", 5)
RUN = "run.coterie"
"""The file of a folder of results."""
VOCABULARIES = ("items", "annotators", "classes", "extra_answers")
OWN = ("item_probability", "class_balance", "confusion_mean", "label", "raw_probability")
"""Arrays that are the posterior's own fields."""
ALIKE = ("model", "settings", "run", "method", "abilities", "converged", "mixing")
"""Other fields, which are the header's too."""
NAMED = ("item_numbers.", "draws.extra.", "draws.last.")
"""What the names of arrays begin with of which the header says more."""
SLACK = 1e-3
"""By how much a sum of rounded probabilities may miss 1: some are kept in 32 bits."""


@dataclass
class Header:
    """What a file says beside its arrays."""

    model: str
    settings: dict[Any, Any]
    run: dict[Any, Any]
    method: Method
    abilities: Abilities
    converged: bool
    mixing: Mixing
    columns: tuple[Hashable, ...]
    origin: str
    provenance: Provenance | None
    item_numbers: dict[str, tuple[str, ...]]  # what the columns of each are called
    groups: tuple[str, float] | None  # the loss of one grouping, and how large it is expected
    watched: tuple[str, ...]
    extra: dict[str, tuple[str, ...]]  # the further axes of each
    last: tuple[dict[str, str], ...]  # types that the parts of a chain's state have in memory

    def as_json(self) -> dict[str, Any]:
        """Give what JSON can write; settings that it cannot keep become text."""
        said: dict[str, Any] = to_json(_facts(self), or_text=True)
        return said


def _facts(value: Any) -> Any:
    """Give the fields of records, and theirs, by name; whatever else there is stays as it is."""
    if is_dataclass(value):
        return {one.name: _facts(getattr(value, one.name)) for one in fields(value)}
    return value.value if isinstance(value, Enum) else value


def save(posterior: Posterior, path: str | PathLike[str]) -> None:
    """Write a posterior to one file, replacing what was there only when it is whole.

    Settings that a file cannot keep (a generator, a callback) come back as text, time zones as
    offsets from UTC; ids keep their types, and one that cannot is a DataError.
    """
    write_file(to_write(path), writer(posterior), parents=False)


def writer(posterior: Posterior) -> Writer:
    """Give what writes a posterior to a path, for :func:`coterie.files.atomic.write_files`."""
    check_parts(posterior)
    a, draws, groups = posterior.annotations, posterior.draws, posterior.groups
    header = Header(
        model=posterior.model,
        settings=dict(posterior.settings),
        run=dict(posterior.run),
        method=posterior.method,
        abilities=posterior.abilities,
        converged=bool(posterior.converged),
        mixing=Mixing(*map(float, astuple(posterior.mixing))),
        columns=tuple(a.columns),
        origin=a.origin,
        provenance=a.provenance,
        item_numbers={name: tuple(one.columns) for name, one in posterior.item_numbers.items()},
        groups=None if groups is None else (groups.loss, float(groups.expected_loss)),
        watched=draws.watched if draws else (),
        extra={name: tuple(one.dims) for name, one in draws.extra.items()} if draws else {},
        last=tuple({x: part.dtype.str for x, part in one.items()} for one in draws.last)
        if draws
        else (),
    )
    arrays: Arrays = {}
    words = {name: pack_vocabulary(name, getattr(a, name), arrays) for name in VOCABULARIES}
    for name, array in arrays_of(posterior).items():
        if name == "draws.confusion":
            with np.errstate(over="ignore"):  # half precision, if that loses nothing
                half = array.astype(np.float16)
            array = half if np.array_equal(half, array) else array
        arrays[name] = narrow(array) if array.dtype.kind in "iu" else array
    return container_writer(FORMAT, {**header.as_json(), **words}, arrays)


def arrays_of(posterior: Posterior) -> Arrays:
    """Give every array of a result by its name in ``TABLE``."""
    a, groups = posterior.annotations, posterior.groups
    found = {
        "labels_per_item": a.labels_per_item,
        "annotator": a.codes.item_annotator,
        "answer": a.codes.item_answer,
        "gold": a.codes.gold,
        "time": None if a.times is None else a.times.time[item_order(a.times)],
        **{name: getattr(posterior, name) for name in OWN},
        **{f"item_numbers.{name}": one.values for name, one in posterior.item_numbers.items()},
        "groups.group": groups and groups.group,
        "groups.membership": groups and groups.membership,
        **(posterior.draws.arrays() if posterior.draws else {}),
    }
    return {name: np.asarray(array) for name, array in found.items() if array is not None}


def load(path: str | PathLike[str]) -> Posterior:
    """Read a posterior that ``Posterior.save`` wrote, or the folder that ``coterie aggregate`` did.

    Nothing in the file is executed. A file that is truncated, damaged, foreign or written by a
    coterie with another layout is a DataError that says so.

    Examples
    --------
    >>> import coterie, tempfile, pathlib
    >>> rows = [("q1", "ann", "yes"), ("q2", "bob", "no")]
    >>> posterior = coterie.MajorityVote().fit(rows).posterior_
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     posterior.save(pathlib.Path(folder, "run.coterie"))
    ...     coterie.load(pathlib.Path(folder, "run.coterie"))
    <Posterior of MajorityVote: 2 items, 2 annotators, 2 classes>
    """
    if not isinstance(path, str | PathLike):
        raise DataError(f"coterie.load takes the name of a file or folder, not {type(path)}")
    path = Path(path, RUN) if is_folder(path) else path
    said, arrays = read_container(path, FORMAT)
    check_whole(Path(path).expanduser())
    with damage_of(path):
        try:
            return _unpack(said, arrays)
        except UnknownPrior as unknown:
            raise DataError(
                f"{path} holds a prior {str(unknown)!r} that nothing imported defines; import the "
                "package of its model, then load again"
            ) from None
        except DataError as error:
            raise ValueError(str(error)) from error  # named with the file


def _unpack(said: dict[str, Any], arrays: Arrays) -> Posterior:
    words = [unpack_vocabulary(name, said.pop(name), arrays) for name in VOCABULARIES]
    header = msgspec.convert(from_json(said), Header, dec_hook=lambda kind, value: value)
    free = ("settings", "run")  # values that need not be written as they were
    again = {**header.as_json(), **{name: said[name] for name in free}}
    if again != said:
        raise ValueError("it says more than a result has, or less")
    overlap, *weights = astuple(header.mixing)
    if not 0 <= overlap < np.inf or not all(0 <= one <= 1 for one in weights):
        raise ValueError(f"the mixing is {header.mixing}")
    vocabularies = {f"{name}{part}" for name in VOCABULARIES for part in ("", ".utf8", ".length")}
    kept = {
        name: _in_memory(name, array, header)
        for name, array in arrays.items()
        if name not in vocabularies
    }
    named = {f"item_numbers.{name}" for name in header.item_numbers}
    named |= {f"draws.extra.{name}" for name in header.extra}
    named |= {f"draws.last.{k}.{name}" for k, one in enumerate(header.last) for name in one}
    stored = {name for name in kept if name.startswith(NAMED)}
    if stored != named:
        raise ValueError(f"the file has arrays {sorted(stored)}, but names {sorted(named)}")
    needed = {name for name, row in TABLE.items() if not row.optional and "*" not in name}
    if missing := sorted(needed - kept.keys()):
        raise ValueError(f"without {', '.join(missing)}")
    own: dict[str, Any] = {name: kept[name] for name in OWN if name in kept}
    own |= {name: getattr(header, name) for name in ALIKE}
    posterior = Posterior(
        annotations=_annotations(words, header, kept),
        draws=_draws(header, kept) if "draws.confusion" in kept else None,
        item_numbers={
            name: ItemNumbers(columns, kept[f"item_numbers.{name}"])
            for name, columns in header.item_numbers.items()
        },
        groups=None if header.groups is None else _groups(*header.groups, kept),
        **own,
    )
    check_parts(posterior)
    return posterior


def _in_memory(name: str, array: NDArray[Any], header: Header) -> NDArray[Any]:
    """Give an array at the type that it has in memory; ValueError if the file holds another."""
    kind = row_of(name).kind
    if kind is np.number:
        _, _, k, part = name.split(".", 3)
        widened = array.astype(np.dtype(header.last[int(k)][part]))
        if widened.dtype.kind not in "biuf" or not np.array_equal(widened, array, equal_nan=True):
            raise ValueError(f"{array.dtype} does not fit into {widened.dtype}")
        return widened
    if issubclass(kind, np.floating):
        if array.dtype not in (np.float16, np.float32, np.float64):
            raise ValueError(f"{name} must hold floats, got {array.dtype}")
        return array.astype(kind) if array.dtype == np.float16 and kind is np.float32 else array
    if array.dtype.kind not in "iu" or array.dtype.itemsize > np.dtype(kind).itemsize:
        raise ValueError(f"{name} must hold whole numbers, got {array.dtype}")
    widened = array.astype(kind)
    if array.dtype.kind == "u" and (widened < 0).any():
        raise ValueError(f"{name} holds numbers that are too large")
    return widened


def _annotations(words: list[NDArray[Any]], header: Header, kept: Arrays) -> Annotations:
    items, annotators, classes, extra_answers = words
    per_item, annotator, answer = (kept[x] for x in ("labels_per_item", "annotator", "answer"))
    whole = len(per_item) == len(items) and not (per_item > len(annotator)).any()
    if not whole or not per_item.sum() == len(annotator) == len(answer):
        raise ValueError("the numbers of items and labels disagree")
    item = np.repeat(np.arange(len(items), dtype=np.int32), per_item)
    sizes = (len(items), len(annotators), len(classes), len(classes) + len(extra_answers))
    times = None
    if (time := kept.get("time")) is not None:
        if time.shape != item.shape or not np.isfinite(time).all():
            raise ValueError("time must hold a number per label")
        times = times_of(item, annotator, answer, time.astype(np.float64), len(annotators))
    codes = encode(item, annotator, answer, sizes=sizes, gold=kept["gold"])
    told = (header.columns, header.origin, header.provenance)
    return Annotations(items, annotators, classes, extra_answers, codes, *told, times)


def _groups(loss: str, expected_loss: float, kept: Arrays) -> PointPartition:
    group = kept["groups.group"]
    n_coteries = int(group.max(initial=-1)) + 1
    return PointPartition(group, kept["groups.membership"], expected_loss, loss, n_coteries)


def _draws(header: Header, kept: Arrays) -> Draws:
    start = "draws.trace."
    return Draws(
        kept["draws.confusion"],
        kept["draws.class_balance"],
        kept.get("draws.partition"),
        kept.get("draws.n_coteries"),
        trace={name.removeprefix(start): x for name, x in kept.items() if name.startswith(start)},
        watched=header.watched,
        extra={x: DrawnArray(dims, kept[f"draws.extra.{x}"]) for x, dims in header.extra.items()},
        last=tuple(
            {name: kept[f"draws.last.{k}.{name}"] for name in one}
            for k, one in enumerate(header.last)
        ),
    )


def check_parts(posterior: Posterior) -> None:
    """Check that ids are distinct, and every array by its row of the table; DataError if not."""
    a, draws = posterior.annotations, posterior.draws
    for name, values in (("items", a.items), ("annotators", a.annotators), ("answers", a.answers)):
        if len(set(values.tolist())) < len(values):
            raise DataError(f"{name} must be distinct")
    kinds = posterior.item_numbers.get("kind")
    split = kinds is not None and "kinds" in posterior.settings  # a coterie per person and kind
    seats = a.n_annotators * (len(kinds.columns) if kinds is not None and split else 1)
    sizes = {"item": a.n_items, "annotator": a.n_annotators, "true": a.n_classes}
    sizes |= {"answer": a.n_answers, "label": len(a.codes.item_answer), "coteries": seats + 1}
    for name, array in arrays_of(posterior).items():
        _check_shape(name, array, posterior, sizes)
        _check_numbers(name, array, sizes)
    if draws is None:
        return
    if len(draws.last) not in (0, len(draws.confusion)):
        raise DataError(
            f"draws.last must hold {len(draws.confusion)} chains, got {len(draws.last)}"
        )
    rooms = {"truth": [(a.n_items,)], "group": [(a.n_annotators,), (seats,)]}  # or one per kind
    for state in draws.last:
        for name, shapes in rooms.items():
            if name in state and state[name].shape not in shapes:
                found = state[name].shape
                raise DataError(f"draws.last: {name} must have shape {shapes[0]}, got {found}")


def _check_shape(
    name: str, array: NDArray[Any], posterior: Posterior, sizes: dict[str, int]
) -> None:
    """Check that axes are as long as they should be; note those that are new in ``sizes``."""
    dims = row_of(name).dims.split()
    if dims == ["..."]:
        return
    if dims[-1] == "column":
        sizes["column"] = len(posterior.item_numbers[name.partition(".")[2]].columns)
    if dims[-1] == "...":
        extra = posterior.draws.extra if posterior.draws else {}
        own = extra.get(name.removeprefix("draws.extra."))
        # Of an array of the model's own as many more axes as it says, of a trace one at most.
        more = len(own.dims) if own else min(max(array.ndim - 2, 0), 1)
        dims[-1:] = [""] * more
    lengths = [*array.shape, *[0] * len(dims)]
    shape = tuple(
        sizes.setdefault(dim, n) if dim else n for dim, n in zip(dims, lengths, strict=False)
    )
    if array.shape != shape:
        raise DataError(f"{name} must have shape {shape}, got {array.shape}")


def _check_numbers(name: str, array: NDArray[Any], sizes: dict[str, int]) -> None:
    _, _, holds, of, _ = row_of(name)
    if holds == "shares":
        array = array[~np.isnan(array)]  # who is in no group has no share in one
    if not holds or not array.size:
        return
    low, high = array.min(), array.max()
    if holds == "numbers" and np.isnan(array).any():
        raise DataError(f"{name} holds what is not a number")
    if holds == "codes":
        least, most = (-1 if name == "groups.group" else 0), sizes[of] - 1
        if not least <= low <= high <= most:
            raise DataError(f"{name} must lie in {least}..{most}, got {low}..{high}")
    # What is not a number is no probability either.
    if holds in ("shares", "sums") and not -SLACK <= low <= high <= 1 + SLACK:
        raise DataError(f"{name} must hold probabilities, between 0 and 1, got {low} to {high}")
    if holds == "sums":
        sums = array.sum(axis=-1, dtype=np.float64)
        off = float(sums.flat[np.abs(sums - 1).argmax()])
        if abs(off - 1) > SLACK:
            raise DataError(f"{name} must hold probabilities that sum to 1, got a sum of {off:.6g}")
