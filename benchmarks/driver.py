"""What the driver of many shards does between two passes: ``python -m benchmarks.driver``.

Nanoseconds of processor time per cell of everybody's matrices (annotators x classes x answers): the
sums of one more shard added, the M-step of Dawid-Skene, that of variational Bayes. With the time of
a pass per label these are the constants of the cost model in ``docs/scale.md``.
"""

from __future__ import annotations

import time

import numpy as np

from coterie.kernels.expected import Model, Size, add_sums, believe, estimate, new_sums

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
        sums, more = (new_sums(Size(1, annotators, 3, 10**8, 10**7), 3) for _ in range(2))
        sums.said[:] = np.random.default_rng(0).integers(1, 2**40, sums.said.shape)
        model = Model(np.ones(3), np.ones(1), np.ones((3, 3)))
        work = (
            lambda sums=sums, more=more: add_sums(sums, more),
            lambda sums=sums: estimate(sums),
            lambda sums=sums, model=model: believe(model, sums),
        )
        each = [f"{1e9 * shortest(one) / sums.said.size:.1f}" for one in work]
        print(f"| {annotators:,} | {sums.said.nbytes / 1e6:.1f} | {' | '.join(each)} |")


if __name__ == "__main__":
    main()
