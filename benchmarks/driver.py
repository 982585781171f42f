"""What the driver of many shards does between two passes: ``python -m benchmarks.driver``.

Nanoseconds of processor time per cell of everybody's matrices (annotators x classes x answers): the
sums of one more shard added, the M-step of Dawid-Skene, that of variational Bayes. With the time of
a pass per label these are the constants of the cost model in ``docs/scale.md``.
"""

from __future__ import annotations

import time

import numpy as np

from coterie.kernels.dawid_skene import Counts, Parameters, counts_of, estimate
from coterie.kernels.soft.dirichlet import row_prior, update_rows
from coterie.kernels.soft.engine import Size, add_sums, sums_of

TIMES = 5


def shortest(work) -> float:
    took = []
    for _ in range(TIMES):
        start = time.process_time()
        work()
        took.append(time.process_time() - start)
    return min(took)


def main() -> None:
    print("| annotators | MB of counts | add | M-step, EM | M-step, variational |")
    print("|--:|--:|--:|--:|--:|")
    for annotators in (1_000, 100_000, 1_000_000):
        sums = sums_of(Size(annotators, 3, 10**8, 10**7), 3)
        more = sums_of(Size(annotators, 3, 10**8, 10**7), 3)
        sums.said[:] = np.random.default_rng(0).integers(1, 2**40, sums.said.shape)
        counts = Counts(np.empty(3), np.empty(sums.said.shape))
        parameters = Parameters(np.empty(3), np.empty(sums.said.shape))
        prior, rows = row_prior(np.ones((1, 3, 3))), np.empty(sums.said.shape)

        def em(sums=sums, counts=counts, parameters=parameters) -> None:
            counts_of(sums, counts)
            estimate(counts, 0.0, parameters)

        work = (
            lambda sums=sums, more=more: add_sums(sums, more),
            em,
            lambda said=sums.said, rows=rows, prior=prior: update_rows(said, 2.0**30, prior, rows),
        )
        each = [f"{1e9 * shortest(one) / sums.said.size:.1f}" for one in work]
        print(f"| {annotators:,} | {sums.said.nbytes / 1e6:.1f} | {' | '.join(each)} |")


if __name__ == "__main__":
    main()
