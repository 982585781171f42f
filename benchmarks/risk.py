"""How far labels of a whole set are off together: ``python -m benchmarks.risk [--labels N]``.

For each real set with gold beside the project, and for two models: the share of labels that is
expected to be wrong, the share that is, the statement "at most ... with 95 % probability" of
``coterie.assign.stop``, and by how much the log odds of the whole are off. The last line has how
often the statement holds, and the spread of what is off: that is where ``SHARED`` in
``coterie.assign.draws`` comes from. Sets of more labels than N are left out (default: 60,000).

``--chosen`` does the same where people were chosen: a fifth and two fifths of the labels of each
set, revealed as a policy asks for them (``coterie replay``), with QuickConsensus.
"""

from __future__ import annotations

import argparse
import math
import warnings
from typing import Any

import numpy as np

from benchmarks.default import sets
from coterie.assign import stop
from coterie.assign.draws import SHARED
from coterie.io.read import read
from coterie.models import make_model
from coterie.studies.replay import Settings, replay

MODELS: dict[str, dict[str, Any]] = {
    "quick": {},
    "consensus": {"random_state": 0, "progress": False},
}
POLICIES, SHARES = ("balanced", "information"), (0.2, 0.4)


def off(expected: float, wrong: float) -> float:
    """By how much the log odds of the whole are off; half an item in a thousand against log 0."""
    return math.log((wrong + 1e-3) / (1 - wrong)) - math.log(expected / (1 - expected))


def chosen(most: int) -> None:
    """Print what is off after a part of the labels, by policy."""
    found: dict[tuple[str, float], list[tuple[bool, float]]] = {}
    missed: dict[tuple[str, float], list[str]] = {}
    for name, (labels, truth) in sets([], most).items():
        classes = list(labels.classes)
        annotations = read(labels.to_frame(), duplicates="first", classes=classes)
        for policy in POLICIES:
            run = replay(annotations, truth, policy, 0, Settings())
            for share in SHARES:
                at = next(point for point in run if point.labels >= share * run[-1].labels)
                wrong = 1 - at.accuracy
                row = (wrong <= at.at_most_wrong, off(at.expected_wrong, wrong))
                found.setdefault((policy, share), []).append(row)
                if not row[0]:
                    missed.setdefault((policy, share), []).append(name)
    for (policy, share), rows in found.items():
        holds, z = zip(*rows, strict=True)
        print(
            f"{policy}, {share:.0%} of the labels: holds on {sum(holds)} of {len(holds)} sets,"
            f" fails on {', '.join(missed.get((policy, share), ['none']))}; log odds off: mean"
            f" {np.mean(z):+.2f}, deviation {np.std(z, ddof=1):.2f}",
            flush=True,
        )


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.risk")
    parser.add_argument("--labels", type=int, default=60_000)
    parser.add_argument("--chosen", action="store_true")
    given = parser.parse_args()
    if given.chosen:
        chosen(given.labels)
        return
    most = given.labels
    found: dict[str, list[tuple[bool, float]]] = {name: [] for name in MODELS}
    print("| set | model | expected wrong | at most, 95 % | wrong | log odds off |")
    print("|---|---|--:|--:|--:|--:|")
    for name, (labels, truth) in sets([], most).items():
        for model, settings in MODELS.items():
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                fitted = make_model(model, duplicates="keep", **settings).fit(labels)
            risk = stop(fitted.posterior_)
            wrong = 1 - fitted.posterior_.score(truth).accuracy
            z = off(risk.expected_wrong, wrong)
            found[model].append((wrong <= risk.at_most_wrong, z))
            numbers = (risk.expected_wrong, risk.at_most_wrong, wrong)
            row = " | ".join(f"{100 * x:.1f}" for x in numbers)
            print(f"| {name} | {model} | {row} | {z:+.2f} |", flush=True)
    for model, rows in found.items():
        holds, z = zip(*rows, strict=True)
        print(
            f"{model}: holds on {sum(holds)} of {len(holds)} sets with shared mistakes of {SHARED};"
            f" log odds off: mean {np.mean(z):+.2f}, deviation {np.std(z, ddof=1):.2f}"
        )


if __name__ == "__main__":
    main()
