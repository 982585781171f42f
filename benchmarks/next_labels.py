"""How long the next labels take to choose: ``python -m benchmarks.next_labels``.

100,000 items, 1,000 annotators, three labels per item, a budget of 10,000 labels; processor time of
one core, compiled before.
"""

from __future__ import annotations

import time

import coterie
from coterie.assign import next_labels

ITEMS, ANNOTATORS, BUDGET = 100_000, 1_000, 10_000
CAPS: tuple[dict[str, int], ...] = ({}, {"most_per_item": 1}, {"most_per_annotator": 10_000})


def main() -> None:
    for classes in (2, 4):
        crowd = coterie.simulate(
            "mixed", items=ITEMS, annotators=ANNOTATORS, classes=classes, labels_per_item=3,
            random_state=0,
        )  # fmt: skip
        posterior = coterie.QuickConsensus().fit(crowd.annotations).posterior_
        next_labels(posterior, 1)
        for caps in CAPS:
            start = time.process_time()
            tasks = next_labels(posterior, BUDGET, **caps)
            seconds = time.process_time() - start
            given = ", ".join(f"{name}={value}" for name, value in caps.items()) or "as it comes"
            print(
                f"{ITEMS:,} items x {ANNOTATORS:,} annotators, {classes} classes, {given}:"
                f" {len(tasks):,} labels in {seconds:.1f} s of one core"
            )


if __name__ == "__main__":
    main()
