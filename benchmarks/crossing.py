"""Where blocked sweeps overtake collapsed ones: ``python -m benchmarks.crossing [most] [models]``.

A blocked sweep is cheaper and mixes more slowly. Counted is the processor time to a hundred
effective draws of the log joint after a burn-in, of one chain.
"""

from __future__ import annotations

import sys
import time
import warnings

import numpy as np
from arviz_stats.base import array_stats

import coterie

WANTED = 100
SIZES = (1_000, 10_000, 100_000, 300_000, 1_000_000)
KINDS = ("IBCC", "CBCC", "HCBCC")


def to_wanted(kind: str, sampler: str, crowd: coterie.Crowd, sweeps: int) -> tuple[float, float]:
    """Milliseconds per sweep, and seconds to so many effective draws, of the processor."""
    made = getattr(coterie, kind)
    settings = {"chains": 1, "n_jobs": 1, "random_state": 0, "progress": False}
    made(sampler=sampler, sweeps=3, burn_in=1, **settings).fit(crowd.annotations)
    model = made(sampler=sampler, sweeps=sweeps, burn_in=sweeps // 4, early_stop=False, **settings)
    start = time.process_time()
    draws = model.fit(crowd.annotations).posterior_.draws
    seconds = (time.process_time() - start) / sweeps
    series = np.asarray(draws.trace["log_joint"])
    effective = float(array_stats.ess(series, chain_axis=0, draw_axis=1, method="mean"))
    return 1e3 * seconds, seconds * series.size * WANTED / effective


def main(most: int = SIZES[-1], *kinds: str) -> None:
    """Print a row per model and size."""
    warnings.simplefilter("ignore")
    print(f"{'model':9} {'labels':>10} {'ms a sweep':>22} {'s to 100 effective':>22}   ratio")
    for kind in kinds or KINDS:
        for n_labels in (size for size in SIZES if size <= most):
            people = max(20, min(1_000, n_labels // 200))
            sizes = {"items": n_labels // 10, "annotators": people, "labels_per_item": 10}
            crowd = coterie.simulate("mixed", **sizes, random_state=0)
            sweeps = 2_000 if n_labels <= 100_000 else 1_000 if n_labels <= 300_000 else 400
            each = {s: to_wanted(kind, s, crowd, sweeps) for s in ("collapsed", "blocked")}
            ms, wanted = zip(*each.values(), strict=True)
            shown = "  ".join(f"{one:10.2f} {other:10.2f}" for one, other in (ms, wanted))
            print(f"{kind:9} {n_labels:10,} {shown}   {wanted[1] / wanted[0]:.2f}", flush=True)


if __name__ == "__main__":
    main(*map(int, sys.argv[1:2]), *sys.argv[2:])
