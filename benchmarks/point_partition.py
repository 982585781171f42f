"""One partition from many draws: seconds of a core, peak memory, against a loss from scratch.

``python -m benchmarks.point_partition [cells]``, cells being draws times 10,000 annotators. The
targets: 1,000 draws in under a minute on one core, with a few times the memory of the draws. The
draws have 12 coteries, annotators who waver between two of them, coteries that merge and split, and
strays: about 32 clusters each.
"""

from __future__ import annotations

import sys
import time

import numpy as np
from scipy.special import xlogy

from coterie.partition import expected_loss, point_partition
from coterie.partition.measure import block_values, canonical_draws, distinct_draws
from coterie.partition.moves import lay_out
from coterie.partition.search import Walk

CELLS = 10_000_000
N_ANNOTATORS, N_COTERIES, N_STRAY = 10_000, 12, 20


def simulate(n_draws: int) -> np.ndarray:
    rng = np.random.default_rng(0)
    share = rng.dirichlet(np.full(N_COTERIES, 0.7))
    home, second = rng.choice(N_COTERIES, p=share, size=(2, N_ANNOTATORS))
    wavers = rng.beta(0.5, 2, size=N_ANNOTATORS)
    draws = np.empty((n_draws, N_ANNOTATORS), np.int32)
    for draw in draws:
        draw[:] = np.where(rng.random(N_ANNOTATORS) < wavers, second, home)
        strays = rng.random(N_ANNOTATORS) < 0.03
        draw[strays] = N_COTERIES + rng.integers(N_STRAY, size=strays.sum())
        if rng.random() < 0.5:
            draw[draw == 1] = 0
        if rng.random() < 0.3:
            draw[(draw == 2) & (rng.random(N_ANNOTATORS) < 0.5)] = N_COTERIES + N_STRAY
    return draws


def peak_memory() -> float:
    """Peak of this process in MB."""
    import resource

    unit = 1 if sys.platform == "darwin" else 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit / 1e6


def loss_from_scratch(draws: np.ndarray, group: np.ndarray) -> float:
    """The expected variation of information, as one would write it in numpy."""
    total = 0.0
    for draw in draws:
        both = np.bincount(group * (draw.max() + 1) + draw)
        for side, size in ((1, np.bincount(group)), (1, np.bincount(draw)), (-2, both)):
            total += side * xlogy(size, size).sum()
    return total / draws.size


def seconds(work) -> float:
    start = time.process_time()
    work()
    return time.process_time() - start


def compare_with_scratch(draws: np.ndarray, group: np.ndarray) -> str:
    """One sweep looks at every seat for every annotator; so many losses from scratch instead."""
    sample = lay_out(*distinct_draws(canonical_draws(draws)), block_values(N_ANNOTATORS, "vi"))
    walk = Walk(sample, np.random.default_rng(0))
    walk.seat(group)
    sweep = seconds(lambda: walk.sweep(walk.everybody()))
    assert np.isclose(loss_from_scratch(draws, group), expected_loss(draws, group), rtol=1e-9)
    scratch = seconds(lambda: loss_from_scratch(draws, group))
    seats = N_ANNOTATORS * (int(group.max()) + 1)
    return (
        f"a sweep that weighs {seats:,} seats: {sweep:.2f} s; one loss from scratch: "
        f"{scratch:.2f} s, for each seat: {scratch * seats:,.0f} s "
        f"(1/{scratch * seats / sweep:,.0f} of the time)"
    )


def main(cells: int = CELLS) -> None:
    draws = simulate(max(cells // N_ANNOTATORS, 1))
    point_partition(draws[:20, :200])  # compiles
    point_partition(draws[:20, :200], k=3)
    print(
        f"one partition from {len(draws):,} draws of {N_ANNOTATORS:,} annotators "
        f"({draws.nbytes / 1e6:.0f} MB; peak before: {peak_memory():.0f} MB); "
        "target for 1,000: under 60 s"
    )
    print(f"{'loss':8s} {'k':>6s} {'seconds':>8s} {'peak MB':>8s} {'coteries':>9s} {'loss':>9s}")
    for loss, k in (("vi", None), ("binder", None), ("vi", 20)):
        start = time.process_time()
        found = point_partition(draws, loss=loss, k=k)
        took = time.process_time() - start
        print(
            f"{loss:8s} {k or 'free':>6} {took:8.1f} {peak_memory():8.0f} "
            f"{found.n_coteries:9d} {found.expected_loss:9.5f}",
            flush=True,
        )
    print(compare_with_scratch(draws, found.group))


if __name__ == "__main__":
    main(*map(int, sys.argv[1:2]))
