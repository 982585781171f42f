"""How far labels of a whole set are off together: ``python -m benchmarks.risk [--labels N]``.

For each real set with gold beside the project, and for two models: the share of labels that is
expected to be wrong, the share that is, the statement "at most ... with 95 % probability" of
``coterie.assign.stop``, and by how much the log odds of the whole are off. The last line has how
often the statement holds, and the spread of what is off: that is where ``SHARED`` in
``coterie.assign.risk`` comes from. Sets of more labels than N are left out (default: 60,000).
"""

from __future__ import annotations

import argparse
import math
import warnings
from typing import Any

import numpy as np

from benchmarks.default import sets
from coterie.assign import stop
from coterie.assign.risk import SHARED
from coterie.models import make_model

MODELS: dict[str, dict[str, Any]] = {
    "quick": {},
    "consensus": {"random_state": 0, "progress": False},
}


def off(expected: float, wrong: float) -> float:
    """By how much the log odds of the whole are off; half an item in a thousand against log 0."""
    return math.log((wrong + 1e-3) / (1 - wrong)) - math.log(expected / (1 - expected))


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.risk")
    parser.add_argument("--labels", type=int, default=60_000)
    most = parser.parse_args().labels
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
