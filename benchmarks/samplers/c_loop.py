"""The plain C loop of ``loop.c``: compiled when gcc is there, checked, called."""

from __future__ import annotations

import ctypes
import shutil
import subprocess
import tempfile
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.samplers.adapters import Sampler, count, ibcc_prior, truth_conditional
from coterie.data.codes import Codes

ARRAYS = (
    "item_start", "item_annotator", "item_answer", "class_weight", "weight", "strength",
    "truth", "class_total", "said", "said_total", "tally",
)  # fmt: skip
FLAGS = ("-O3", "-march=native", "-std=c11")


class Crowd(ctypes.Structure):
    """As in loop.c."""

    _fields_ = (
        *((name, ctypes.c_int64) for name in ("n_items", "n_classes", "n_answers")),
        *((name, ctypes.c_void_p) for name in ARRAYS),
        ("rng", ctypes.c_uint64 * 4),
    )


def build(*flags: str) -> Any:
    """The compiled loop."""
    source = Path(__file__).with_name("loop.c")
    with tempfile.TemporaryDirectory() as folder:
        library = Path(folder, "loop.so")
        command = ["gcc", *FLAGS, *flags, "-Wall", "-shared", "-fPIC", "-o", library, source]
        subprocess.run(command, check=True)
        return ctypes.CDLL(str(library))


def build_both() -> list[Any]:
    """The loop, and the one for data without repeated labels; nothing without gcc."""
    return [] if shutil.which("gcc") is None else [build(), build("-DNO_REPEATS")]


class CLoop:
    """iBCC's truth sweep in C, from where a sampler is; the arrays are its own."""

    def __init__(self, library: Any, sampler: Sampler) -> None:
        data, (truth, _) = sampler.data, sampler.where()
        n_items = len(truth)
        assert (data.gold < 0).all()
        assert (np.diff(data.item_start) > 0).all(), "the C loop knows no gold and no bare items"
        self.arrays = {
            "item_start": data.item_start.astype(np.int64),
            "item_annotator": data.item_annotator.astype(np.int32),
            "item_answer": data.item_answer.astype(np.int32),
            **ibcc_prior(data)._asdict(),
            "truth": truth,
            "class_total": np.bincount(truth, minlength=data.n_classes),
            "tally": np.zeros((n_items, data.n_classes)),
            **_recount(truth, data),
        }
        pointers = {name: array.ctypes.data for name, array in self.arrays.items()}
        seed = np.random.default_rng(0).integers(2**63, size=4).tolist()
        self.crowd = Crowd(
            n_items, data.n_classes, data.n_answers, rng=(ctypes.c_uint64 * 4)(*seed), **pointers
        )
        self.library, self.data = library, data

    def run(self, sweeps: int) -> None:
        self.library.sweep(ctypes.byref(self.crowd), ctypes.c_int64(sweeps))

    def conditional(self, i: int) -> np.ndarray:
        """The probabilities of item i's truth given all else, shape (T,)."""
        out = np.empty(self.data.n_classes)
        pointer = ctypes.c_void_p(out.ctypes.data)
        self.library.conditional(ctypes.byref(self.crowd), ctypes.c_int64(i), pointer)
        return out


def _recount(truth: np.ndarray, data: Codes) -> dict[str, np.ndarray]:
    said = count(truth, data)
    return {"said": said, "said_total": said.sum(axis=2, dtype=np.int32)}


def check(loop: CLoop, sampler: Sampler, items: int = 20) -> None:
    """Assert that the loop and the sampler give the same conditionals for the same state.

    All items but one are clamped as gold, so that a sweep tallies that item's conditional,
    whatever the sampler draws.
    """
    truth, _ = sampler.where()
    assert (loop.arrays["truth"] == truth).all()
    for i in np.linspace(0, len(truth) - 1, items).astype(int).tolist():
        expected = truth_conditional(sampler, i)
        np.testing.assert_allclose(loop.conditional(i), expected, rtol=1e-9, atol=1e-12)
    loop.run(2)
    again = _recount(loop.arrays["truth"], loop.data)
    assert all((loop.arrays[name] == again[name]).all() for name in again), "counts drift"
    np.testing.assert_allclose(loop.arrays["tally"].sum(axis=1), 2, rtol=1e-9)
