"""A Posterior in one file: ``save`` and ``load``.

The file is a zip archive (:mod:`coterie.files.container`) of numpy arrays and a JSON header.
Of the labels only the order by item is kept; the order by annotator is worked out again, so that
the two cannot disagree. Whole numbers are stored as narrow as they fit, floats bit by bit.

A change of the layout raises the version; ``load`` then still reads every older one
(:mod:`coterie.posterior.older`).
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
from coterie.data.codes import encode
from coterie.errors import DataError
from coterie.files.atomic import Writer, write_file
from coterie.files.container import Format, container_writer, damage_of, read_container
from coterie.files.json_values import UnknownPrior, from_json, to_json
from coterie.files.vocabulary import Arrays, narrow, pack_vocabulary, unpack_vocabulary
from coterie.posterior.consistency import check_parts
from coterie.posterior.draws import DrawnArray, Draws
from coterie.posterior.items import ItemNumbers
from coterie.posterior.older import upgraded
from coterie.posterior.posterior import Posterior
from coterie.posterior.provenance_json import provenance_from_json, provenance_to_json

FORMAT = Format("coterie posterior", 2)
TRACE, EXTRA, ITEM_NUMBERS = "draws.trace.", "draws.extra.", "item_numbers."
"""What the names of arrays begin with of which a model may have any number."""
VOCABULARIES = ("items", "annotators", "classes", "extra_answers")


def save(posterior: Posterior, path: str | PathLike[str]) -> None:
    """Write a posterior to one file, replacing what was there only when it is whole.

    Settings that a file cannot keep (a generator, a callback) come back as text, time zones as
    offsets from UTC; ids keep their types, and one that cannot is a DataError.
    """
    write_file(Path(path).expanduser(), writer(posterior), parents=False)


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
        "annotations": _pack_annotations(posterior.annotations, arrays),
        "item_numbers": _pack_item_numbers(posterior.item_numbers, arrays),
        "trace": [],
        "watched": [],
        "extra": {},
    }
    for name in ("item_probability", "class_balance", "confusion_mean"):
        arrays[name] = getattr(posterior, name)
    if posterior.label is not None:
        arrays["label"] = narrow(posterior.label)
    if posterior.raw_probability is not None:
        arrays["raw_probability"] = posterior.raw_probability
    if posterior.draws is not None:
        header |= _pack_draws(posterior.draws, arrays)
    return container_writer(FORMAT, header, arrays)


def _pack_annotations(annotations: Annotations, arrays: Arrays) -> dict[str, Any]:
    codes = annotations.codes
    arrays["labels_per_item"] = narrow(annotations.labels_per_item)
    arrays["annotator"] = narrow(codes.item_annotator)
    arrays["answer"] = narrow(codes.item_answer)
    arrays["gold"] = narrow(codes.gold)
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


def _pack_draws(draws: Draws, arrays: Arrays) -> dict[str, Any]:
    arrays["draws.confusion"] = draws.confusion
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
    }


def load(path: str | PathLike[str]) -> Posterior:
    """Read a posterior that ``Posterior.save`` wrote.

    Nothing in the file is executed. A file that is truncated, damaged, foreign or written by a
    newer coterie is a DataError that says so; files of older versions load.

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
    content = read_container(path, FORMAT)
    with damage_of(path):
        try:
            return _unpack(*upgraded(content))
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
            method=_method(header["method"]),
            abilities=_abilities(header["abilities"]),
            converged=_flag(header["converged"]),
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
    )


def _method(found: Any) -> Method:
    if found not in get_args(Method):
        raise ValueError(f"unknown method {found!r}")
    method: Method = found
    return method


def _abilities(found: Any) -> Abilities:
    return Abilities(**{field.name: _flag(found[field.name]) for field in fields(Abilities)})


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
        confusion=_floats(arrays, "draws.confusion"),
        class_balance=_floats(arrays, "draws.class_balance"),
        partition=_codes_if_any(arrays, "draws.partition", np.int32),
        n_coteries=_codes_if_any(arrays, "draws.n_coteries", np.int64),
        trace={str(name): _floats(arrays, f"{TRACE}{name}") for name in names},
        watched=_words(header["watched"]),
        extra={
            name: DrawnArray(dims, values)
            for name, dims, values in _named(header["extra"], EXTRA, arrays)
        },
    )


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
    if arrays[name].dtype.kind != "f":
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
