"""A Posterior in one file: ``save`` and ``load``.

The file is a zip archive (:mod:`coterie.files.container`) of numpy arrays and a JSON header.
Of the labels only the order by item is kept; the order by annotator is worked out again, so that
the two cannot disagree. Numbers are stored as narrow as they fit, and come back bit by bit.

A change of the layout raises the version; ``load`` refuses files of another one in a sentence.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import asdict, fields
from os import PathLike
from pathlib import Path
from typing import Any, get_args

import numpy as np
from numpy.typing import NDArray

from coterie.abilities import Abilities, Method
from coterie.data.annotations import Annotations
from coterie.data.codes import Times, encode, item_order, times_of
from coterie.errors import DataError
from coterie.files.atomic import Writer, check_whole, write_file
from coterie.files.container import Format, container_writer, damage_of, read_container
from coterie.files.json_values import UnknownPrior, from_json, to_json
from coterie.files.paths import is_folder, to_write
from coterie.files.vocabulary import (
    Arrays,
    narrow,
    narrow_floats,
    pack_vocabulary,
    unpack_vocabulary,
)
from coterie.kernels.vote import Mixing
from coterie.partition import PointPartition
from coterie.posterior.consistency import check_parts
from coterie.posterior.draws import DrawnArray, Draws
from coterie.posterior.items import ItemNumbers
from coterie.posterior.posterior import Posterior
from coterie.posterior.provenance_json import provenance_from_json, provenance_to_json

FORMAT = Format("coterie posterior", 4)
TRACE, EXTRA, LAST = "draws.trace.", "draws.extra.", "draws.last."
ITEM_NUMBERS = "item_numbers."
"""What the names of arrays begin with of which a model may have any number."""
RUN = "run.coterie"
"""The file of a folder of results."""
VOCABULARIES = ("items", "annotators", "classes", "extra_answers")


def save(posterior: Posterior, path: str | PathLike[str]) -> None:
    """Write a posterior to one file, replacing what was there only when it is whole.

    Settings that a file cannot keep (a generator, a callback) come back as text, time zones as
    offsets from UTC; ids keep their types, and one that cannot is a DataError.
    """
    write_file(to_write(path), writer(posterior), parents=False)


def writer(posterior: Posterior) -> Writer:
    """Give what writes a posterior to a path, for :func:`coterie.files.atomic.write_files`."""
    check_parts(posterior)
    arrays: Arrays = {}
    header = {
        "model": posterior.model,
        "settings": to_json(dict(posterior.settings), or_text=True),
        "run": to_json(dict(posterior.run), or_text=True),
        "method": posterior.method,
        "abilities": asdict(posterior.abilities),
        "converged": posterior.converged,
        "mixing": {name: float(weight) for name, weight in asdict(posterior.mixing).items()},
        "annotations": _pack_annotations(posterior.annotations, arrays),
        "item_numbers": _pack_item_numbers(posterior.item_numbers, arrays),
        "trace": [],
        "watched": [],
        "extra": {},
        "last": [],
    }
    for name in ("item_probability", "class_balance", "confusion_mean"):
        arrays[name] = getattr(posterior, name)
    if posterior.label is not None:
        arrays["label"] = narrow(posterior.label)
    if posterior.raw_probability is not None:
        arrays["raw_probability"] = posterior.raw_probability
    if posterior.groups is not None:
        header["groups"] = _pack_groups(posterior.groups, arrays)
    if posterior.draws is not None:
        header |= _pack_draws(posterior.draws, arrays)
    return container_writer(FORMAT, header, arrays)


def _pack_annotations(annotations: Annotations, arrays: Arrays) -> dict[str, Any]:
    codes = annotations.codes
    arrays["labels_per_item"] = narrow(annotations.labels_per_item)
    arrays["annotator"] = narrow(codes.item_annotator)
    arrays["answer"] = narrow(codes.item_answer)
    arrays["gold"] = narrow(codes.gold)
    if annotations.times is not None:
        arrays["time"] = annotations.times.time[item_order(annotations.times)]
    header = {
        name: pack_vocabulary(name, getattr(annotations, name), arrays) for name in VOCABULARIES
    }
    columns = to_json(list(annotations.columns), or_text=True)
    return {
        **header,
        "columns": columns,
        "origin": annotations.origin,
        "provenance": provenance_to_json(annotations.provenance),
    }


def _pack_item_numbers(numbers: Mapping[str, ItemNumbers], arrays: Arrays) -> dict[str, list[str]]:
    arrays |= {f"{ITEM_NUMBERS}{name}": one.values for name, one in numbers.items()}
    return {name: list(one.columns) for name, one in numbers.items()}


def _pack_groups(groups: PointPartition, arrays: Arrays) -> dict[str, Any]:
    arrays["groups.group"] = narrow(groups.group)
    arrays["groups.membership"] = groups.membership
    return {"loss": groups.loss, "expected_loss": to_json(groups.expected_loss)}


def _unpack_groups(header: Any, arrays: Arrays) -> PointPartition | None:
    if header is None:
        return None
    group = _codes(arrays, "groups.group", np.int32)
    return PointPartition(
        group,
        _floats(arrays, "groups.membership"),
        float(from_json(header["expected_loss"])),
        str(header["loss"]),
        int(group.max(initial=-1)) + 1,
    )


def _pack_draws(draws: Draws, arrays: Arrays) -> dict[str, Any]:
    arrays["draws.confusion"] = narrow_floats(draws.confusion)
    arrays["draws.class_balance"] = draws.class_balance
    if draws.partition is not None:
        arrays["draws.partition"] = narrow(draws.partition)
    if draws.n_coteries is not None:
        arrays["draws.n_coteries"] = narrow(draws.n_coteries)
    for name, values in draws.trace.items():
        arrays[f"{TRACE}{name}"] = np.asarray(values, np.float64)
    arrays |= {f"{EXTRA}{name}": one.values for name, one in draws.extra.items()}
    return {
        "trace": list(draws.trace),
        "watched": list(draws.watched),
        "extra": {name: list(one.dims) for name, one in draws.extra.items()},
        "last": [_pack_last(k, state, arrays) for k, state in enumerate(draws.last)],
    }


def _pack_last(k: int, state: Mapping[str, NDArray[Any]], arrays: Arrays) -> dict[str, str]:
    """Put the state of a chain among the arrays; give the types that its parts have in memory."""
    for name, part in state.items():
        arrays[f"{LAST}{k}.{name}"] = narrow(part) if part.dtype.kind in "iu" else part
    return {name: part.dtype.str for name, part in state.items()}


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
    content = read_container(path, FORMAT)
    check_whole(Path(path).expanduser())
    with damage_of(path):
        try:
            return _unpack(content.header, content.arrays)
        except UnknownPrior as unknown:
            raise DataError(
                f"{path} holds a prior {str(unknown)!r} that nothing imported defines; import the "
                "package of its model, then load again"
            ) from None


def _unpack(header: dict[str, Any], arrays: Arrays) -> Posterior:
    try:
        posterior = Posterior(
            annotations=_unpack_annotations(header["annotations"], arrays),
            item_probability=_floats(arrays, "item_probability"),
            class_balance=_floats(arrays, "class_balance"),
            confusion_mean=_floats(arrays, "confusion_mean"),
            label=_codes_if_any(arrays, "label", np.int64),
            draws=_unpack_draws(header, arrays) if "draws.confusion" in arrays else None,
            raw_probability=_floats_if_any(arrays, "raw_probability"),
            item_numbers={
                name: ItemNumbers(columns, values)
                for name, columns, values in _named(header["item_numbers"], ITEM_NUMBERS, arrays)
            },
            groups=_unpack_groups(header.get("groups"), arrays),
            method=_method(header["method"]),
            abilities=_abilities(header["abilities"]),
            converged=_flag(header["converged"]),
            mixing=_mixing(header["mixing"]),
            model=str(header["model"]),
            settings=dict(from_json(header["settings"])),
            run=dict(from_json(header["run"])),
        )
        check_parts(posterior)
    except DataError as error:
        raise ValueError(str(error)) from error  # the caller names the file
    return posterior


def _unpack_annotations(header: dict[str, Any], arrays: Arrays) -> Annotations:
    items, annotators, classes, extra_answers = (
        unpack_vocabulary(name, header[name], arrays) for name in VOCABULARIES
    )
    per_item = _codes(arrays, "labels_per_item", np.int64)
    annotator, answer = (_codes(arrays, name, np.int32) for name in ("annotator", "answer"))
    whole = len(per_item) == len(items) and not (per_item > len(annotator)).any()
    if not whole or not per_item.sum() == len(annotator) == len(answer):
        raise ValueError("the numbers of items and labels disagree")
    item = np.repeat(np.arange(len(items), dtype=np.int32), per_item)
    n_answers = len(classes) + len(extra_answers)
    sizes = (len(items), len(annotators), len(classes), n_answers)
    codes = encode(item, annotator, answer, sizes=sizes, gold=_codes(arrays, "gold", np.int32))
    return Annotations(
        items=items,
        annotators=annotators,
        classes=classes,
        extra_answers=extra_answers,
        codes=codes,
        columns=tuple(from_json(header["columns"])),
        origin=str(header["origin"]),
        provenance=provenance_from_json(header["provenance"]),
        times=_times(arrays, item, annotator, answer, len(annotators)),
    )


def _times(
    arrays: Arrays,
    item: NDArray[Any],
    annotator: NDArray[Any],
    answer: NDArray[Any],
    n_annotators: int,
) -> Times | None:
    """Give the times of the labels, if they are there."""
    if "time" not in arrays:
        return None
    time = _floats(arrays, "time")
    if time.shape != item.shape or not np.isfinite(time).all():
        raise ValueError("time must hold a number per label")
    return times_of(item, annotator, answer, time.astype(np.float64), n_annotators)


def _method(found: Any) -> Method:
    if found not in get_args(Method):
        raise ValueError(f"unknown method {found!r}")
    method: Method = found
    return method


def _abilities(found: Any) -> Abilities:
    return Abilities(**{field.name: _flag(found[field.name]) for field in fields(Abilities)})


def _mixing(found: Any) -> Mixing:
    weights = {field.name: found[field.name] for field in fields(Mixing)}
    for name, weight in weights.items():
        most = np.finfo(np.float64).max if name == "overlap" else 1
        if type(weight) is not float or not 0 <= weight <= most:
            raise ValueError(f"{name} of the mixing is {weight!r}")
    return Mixing(**weights)


def _flag(found: Any) -> bool:
    if type(found) is not bool:
        raise ValueError(f"expected true or false, got {found!r}")
    return found


def _unpack_draws(header: dict[str, Any], arrays: Arrays) -> Draws:
    names = header["trace"]
    kept = sorted(name for name in arrays if name.startswith(TRACE))
    if not isinstance(names, list) or sorted(f"{TRACE}{name}" for name in names) != kept:
        raise ValueError("the trace has other names than arrays")
    return Draws(
        confusion=_matrices(arrays),
        class_balance=_floats(arrays, "draws.class_balance"),
        partition=_codes_if_any(arrays, "draws.partition", np.int32),
        n_coteries=_codes_if_any(arrays, "draws.n_coteries", np.int64),
        trace={str(name): _floats(arrays, f"{TRACE}{name}") for name in names},
        watched=_words(header["watched"]),
        extra={
            name: DrawnArray(dims, values)
            for name, dims, values in _named(header["extra"], EXTRA, arrays)
        },
        last=_unpack_last(header["last"], arrays),
    )


def _matrices(arrays: Arrays) -> NDArray[Any]:
    """Give the draws of matrices, in half precision or not, as they are in memory."""
    found = _floats(arrays, "draws.confusion")
    return found.astype(np.float32) if found.dtype == np.float16 else found


def _unpack_last(states: Any, arrays: Arrays) -> tuple[dict[str, NDArray[Any]], ...]:
    """Give the states of the chains, their parts at the width that they have in memory."""
    named = [f"{LAST}{k}.{name}" for k, types in enumerate(states) for name in types]
    if sorted(named) != sorted(name for name in arrays if name.startswith(LAST)):
        raise ValueError("the chains have other parts than arrays")
    return tuple(
        {name: _part(arrays[f"{LAST}{k}.{name}"], kind) for name, kind in types.items()}
        for k, types in enumerate(states)
    )


def _part(part: NDArray[Any], kind: str) -> NDArray[Any]:
    widened = part.astype(np.dtype(str(kind)))
    if widened.dtype.kind not in "biuf" or not np.array_equal(widened, part, equal_nan=True):
        raise ValueError(f"{part.dtype} does not fit into {kind}")
    return widened


def _named(
    words: Any, prefix: str, arrays: Arrays
) -> Iterator[tuple[str, tuple[str, ...], NDArray[Any]]]:
    """Give name, words and array of everything that is stored under a prefix."""
    stored = {name.removeprefix(prefix) for name in arrays if name.startswith(prefix)}
    if stored != set(words):
        raise ValueError(f"the file has arrays {sorted(stored)}, but names {sorted(words)}")
    for name, some in words.items():
        yield name, _words(some), _floats(arrays, f"{prefix}{name}")


def _words(found: Any) -> tuple[str, ...]:
    if not isinstance(found, list) or not all(isinstance(word, str) for word in found):
        raise ValueError(f"expected a list of words, got {found!r}")
    return tuple(found)


def _floats(arrays: Arrays, name: str) -> NDArray[Any]:
    if arrays[name].dtype not in (np.float16, np.float32, np.float64):
        raise ValueError(f"{name} must hold floats, got {arrays[name].dtype}")
    return arrays[name]


def _floats_if_any(arrays: Arrays, name: str) -> NDArray[Any] | None:
    return _floats(arrays, name) if name in arrays else None


def _codes(arrays: Arrays, name: str, kind: type[np.signedinteger[Any]]) -> NDArray[Any]:
    """Give whole numbers at the width that they have in memory."""
    codes = arrays[name]
    if codes.dtype.kind not in "iu" or codes.dtype.itemsize > np.dtype(kind).itemsize:
        raise ValueError(f"{name} must hold whole numbers, got {codes.dtype}")
    widened = codes.astype(kind)
    if codes.dtype.kind == "u" and (widened < 0).any():
        raise ValueError(f"{name} holds numbers that are too large")
    return widened


def _codes_if_any(
    arrays: Arrays, name: str, kind: type[np.signedinteger[Any]]
) -> NDArray[Any] | None:
    return _codes(arrays, name, kind) if name in arrays else None
