"""A small posterior with every part there is, and what tests of its file need."""

import io
import json
import zipfile

import numpy as np

from builders.posteriors import annotate
from coterie import priors
from coterie.abilities import Abilities
from coterie.data.provenance import Form, Format, Gold, Provenance, Source
from coterie.posterior import DrawnArray, Draws, ItemNumbers, Posterior


def rows(number):
    """Rows of matrices, no two alike, in numbers that any precision can hold."""
    k = np.arange(number)
    return np.column_stack([k, 2 * k, 64 - 3 * k]) / 64


def example():
    """A small posterior with every part there is."""
    annotations = annotate(
        ([0, 0, 1, 2], [0, 1, 0, 1], [0, 2, 1, 1]),
        ["q1", "q2", "ü3"],
        np.array([7, 11]),
        [False, True],
        ["unsure"],
        gold=[-1, 1, -1],
        provenance=Provenance(
            source=Source("labels.csv", Format.TEXT, "in/labels.csv", " (UTF-16)"),
            form=Form.LONG,
            item="task",
            annotators=("worker",),
            label=7,
            gold=Gold(source=Source("gold", Format.MAPPING)),
            duplicates="last",
            classes=(False, True),
            extra_answers=("unsure",),
            unread=(("a", 1),),
        ),
    )
    draws = Draws(
        confusion=rows(16).astype(np.float32).reshape(2, 2, 2, 2, 3),
        class_balance=np.array([[[0.25, 0.75]] * 2] * 2),
        partition=np.array([[[0, 0], [0, 1], [0, 1]], [[0, 1], [0, 0], [0, 0]]], np.int32),
        n_coteries=np.array([[1, 2, 2], [2, 1, 1]]),
        trace={
            "log_joint": -np.arange(12.0).reshape(2, 6),
            "n_coteries": np.ones((2, 6)),
            "class_total": np.arange(24.0).reshape(2, 6, 2),
            "kind_total": np.arange(24.0, 48.0).reshape(2, 6, 2),
        },
        watched=("log_joint", "kind_total"),
        extra={"guess": DrawnArray(("answer",), np.arange(12.0).reshape(2, 2, 3))},
        last=tuple(
            {
                "truth": np.array([0, 1, -1], np.int32),
                "group": np.array([k, 300], np.int64),
                "log_concentration": np.array([0.1]),
                "own": np.array([0, 1, 1, 0], np.int8),
            }
            for k in range(2)
        ),
    )
    return Posterior(
        annotations,
        np.array([[0.25, 0.75], [0.0, 1.0], [1 / 3, 2 / 3]]),
        np.array([0.4, 0.6]),
        rows(4).reshape(2, 2, 3),
        label=np.array([0, 1, 1]),
        draws=draws,
        model="HCBCC",
        method="gibbs",
        abilities=Abilities(coteries=True, uncertainty=True),
        converged=False,
        raw_probability=np.array([[0.125, 0.875], [0.0, 1.0], [0.5, 0.5]]),
        item_numbers={
            "kind": ItemNumbers(("plain", "hard"), np.arange(6.0).reshape(3, 2)),
            "hardness": ItemNumbers(("hardness",), np.array([[0.5], [0.25], [0.75]])),
        },
        settings={"prior": priors.HCBCCPrior(mean_strength=[3, 4]), "sweeps": 12, "thin": None},
        run={"stopped": "sweeps", "sweeps": 6, "left_out": [3]},
    )


def same_arrays(one, other):
    assert (one is None) == (other is None)
    if one is not None:
        assert one.dtype == other.dtype
        np.testing.assert_array_equal(one, other)


def same_vocabulary(one, other):
    same_arrays(one, other)
    assert list(map(type, one)) == list(map(type, other))


def same(one, other):
    for name in ("items", "annotators", "classes", "extra_answers"):
        same_vocabulary(getattr(one.annotations, name), getattr(other.annotations, name))
    for x, y in zip(one.annotations.codes[:7], other.annotations.codes[:7], strict=True):
        same_arrays(x, y)
    assert one.annotations.codes[7:] == other.annotations.codes[7:]
    assert one.annotations.columns == other.annotations.columns
    assert one.annotations.origin == other.annotations.origin
    assert one.annotations.provenance == other.annotations.provenance
    for name in ("item_probability", "class_balance", "confusion_mean", "label", "raw_probability"):
        same_arrays(getattr(one, name), getattr(other, name))
    assert one.mixing == other.mixing
    assert list(one.item_numbers) == list(other.item_numbers)
    for name, numbers in one.item_numbers.items():
        assert numbers.columns == other.item_numbers[name].columns
        same_arrays(numbers.values, other.item_numbers[name].values)
    assert (one.draws is None) == (other.draws is None)
    if one.draws is not None:
        for name in ("confusion", "class_balance", "partition", "n_coteries"):
            same_arrays(getattr(one.draws, name), getattr(other.draws, name))
        assert list(one.draws.trace) == list(other.draws.trace)
        for name in one.draws.trace:
            same_arrays(one.draws.trace[name], other.draws.trace[name])
        assert one.draws.watched == other.draws.watched
        assert list(one.draws.extra) == list(other.draws.extra)
        for name, drawn in one.draws.extra.items():
            assert drawn.dims == other.draws.extra[name].dims
            same_arrays(drawn.values, other.draws.extra[name].values)
        for state, expected in zip(one.draws.last, other.draws.last, strict=True):
            assert list(state) == list(expected)
            for name in state:
                same_arrays(state[name], expected[name])
    assert (one.model, one.settings, one.run) == (other.model, other.settings, other.run)
    assert (one.method, one.abilities) == (other.method, other.abilities)
    assert one.converged is other.converged


HEADER = "header.npy"


def npy(array, version=(1, 0), **options):
    """The bytes of an array as a member of the file."""
    content = io.BytesIO()
    np.lib.format.write_array(content, np.asarray(array), version, **options)
    return content.getvalue()


def header_of(contents):
    """What the header of a file says, of which these are the members."""
    return json.loads(np.lib.format.read_array(io.BytesIO(contents[HEADER])).tobytes())


def header_bytes(text):
    """A header of this text, of whatever kind, as a member of the file."""
    text = text if isinstance(text, bytes) else json.dumps(text).encode()
    return npy(np.frombuffer(text, np.uint8))


def members(path):
    with zipfile.ZipFile(path) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def write(path, contents, compression=zipfile.ZIP_STORED):
    with zipfile.ZipFile(path, "w", compression) as archive:
        for name, content in contents.items():
            archive.writestr(name, content)
