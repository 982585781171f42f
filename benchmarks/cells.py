"""What a sweep over cells costs beside one of the model without: ``python -m benchmarks.cells``.

Latent kinds, sub-types and easy or hard items weigh K times as many cells as there are classes; the
models without them have an update of their own. Nanoseconds a label and sweep, the fastest of some
runs in turns, and the ratio: K is what the arithmetic alone would cost.
"""

from __future__ import annotations

import multiprocessing
import time
from importlib import import_module
from typing import Any

import numpy as np

import coterie
from coterie.data.codes import Codes
from coterie.kernels.gibbs.kinds.shared import Kinds
from coterie.kernels.keep import Record, Streams, keep_nothing
from coterie.kernels.layout import Layout
from coterie.kernels.record import new_tally, new_trace
from coterie.priors import CBCCPrior, EasyHardPrior, EBCCPrior, HCBCCPrior, IBCCPrior

LATENT = Kinds(2, np.zeros(0, np.int32), 1.0)
# name: (kernels, prior, what its packing takes beside the prior, the model without)
MODELS: dict[str, tuple[str, Any, tuple[Any, ...], str]] = {
    "iBCC": ("ibcc", IBCCPrior(), (), "iBCC"),
    "cBCC": ("cbcc", CBCCPrior(), (), "cBCC"),
    "hcBCC": ("hcbcc", HCBCCPrior(), (), "hcBCC"),
    "iBCC, 2 kinds": ("kinds.ibcc", IBCCPrior(), (LATENT,), "iBCC"),
    "EBCC, 2 sub-types": ("ebcc", EBCCPrior(subtypes=2), (), "iBCC"),
    "EasyHard": ("easyhard", EasyHardPrior(), (), "iBCC"),
    "cBCC, 2 kinds": ("kinds.cbcc", CBCCPrior(), (LATENT,), "cBCC"),
    "hcBCC, 2 kinds": ("kinds.hcbcc", HCBCCPrior(), (LATENT,), "hcBCC"),
}
CROWDS = {
    "20,000 labels of 60, 2 classes": {"items": 2_000, "annotators": 60, "classes": 2},
    "20,000 labels of 60, 4 classes": {"items": 2_000, "annotators": 60, "classes": 4},
}
SWEEPS, WARM_UP, RUNS = 20, 50, 9


class Chain:
    """A chain that goes on."""

    def __init__(self, name: str, data: Codes, truth: Any) -> None:
        kernels, prior, more, _ = MODELS[name]
        self.module: Any = import_module(f"coterie.kernels.gibbs.{kernels}")
        self.data, rng = data, np.random.default_rng(0)
        self.prior = self.module.pack_prior(prior.resolve(data.n_classes, data.n_answers), *more)
        group = np.zeros(len(data.annotator_start) - 1, np.int32)
        self.state = self.module.initial_state(data, self.prior, truth, group, rng)
        self.scratch = self.module.new_scratch(self.state, data, self.prior)
        layout = getattr(self.module, "layout_of", lambda *_: Layout())(data, self.prior)
        trace = new_trace(SWEEPS, data.n_classes, layout)
        self.record = Record(new_tally(data, layout), trace, keep_nothing(data))
        self.streams = Streams(rng, rng, rng)

    def run(self) -> float:
        """Make some sweeps; give nanoseconds of the processor a label and sweep."""
        start = time.process_time()
        arguments = (self.state, self.data, self.prior, self.streams, self.record, self.scratch)
        self.module.run_block(*arguments)
        return 1e9 * (time.process_time() - start) / SWEEPS / len(self.data.item_answer)


def measure(crowd: str, name: str) -> tuple[float, float]:
    """Give the nanoseconds of a model, and of the model without, in turns."""
    drawn = coterie.simulate("mixed", labels_per_item=10, random_state=0, **CROWDS[crowd])
    data = drawn.annotations.codes
    names = {name: t for t, name in enumerate(drawn.annotations.classes)}
    truth = drawn.truth.map(names).to_numpy(np.int32)
    chains = [Chain(MODELS[name][3], data, truth), Chain(name, data, truth)]
    for chain in chains:
        for _ in range(WARM_UP):  # until as few items move as ever will
            chain.run()
    without, within = np.min([[chain.run() for chain in chains] for _ in range(RUNS)], axis=0)
    return float(within), float(without)


def main() -> None:
    # A process each, as in a fit: where a third kernel is loaded too, its place among the others
    # can cost one of them a third of its time.
    spawn = multiprocessing.get_context("spawn")
    for crowd in CROWDS:
        print(f"{crowd}: nanoseconds a label and sweep, beside the model without")
        for name, (*_, without) in MODELS.items():
            if name != without:
                with spawn.Pool(1) as pool:
                    ours, theirs = pool.apply(measure, (crowd, name))
                print(f"  {name:20s} {ours:7.1f} {theirs:7.1f}   {ours / theirs:5.2f}", flush=True)


if __name__ == "__main__":
    main()
