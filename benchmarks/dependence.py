"""How often intervals of dependence cover what is so: ``python benchmarks/dependence.py``.

Independent annotators, and copycats, whose truth the fit does not know: the share of independent
pairs whose interval covers zero, their mean value, and the share of copies that covers 0.8.
"""

from __future__ import annotations

import warnings

import numpy as np

import coterie
from coterie.models import make_model

CROWDS = {
    "novices, 100 items": ({"novice": 1}, {"items": 100, "annotators": 8, "labels_per_item": 8}),
    "mixed, 300 items": ("mixed", {"items": 300, "annotators": 20, "labels_per_item": 8}),
    "copycats, 200 items": ("copycats", {"items": 200, "annotators": 10, "labels_per_item": 10}),
}
TIMES = {"quick": 10, "consensus": 3}


def pairs_of(scenario, sizes, model, seed):
    """Give value, low, high of independent pairs and of copies with their source."""
    classes = 3 if scenario == "mixed" else 2
    crowd = coterie.simulate(scenario, classes=classes, random_state=seed, **sizes)
    table = make_model(model, random_state=seed).fit(crowd.annotations).posterior_.dependence()
    none = dict.fromkeys(crowd.annotations.annotators)
    source = none if crowd.copied is None else crowd.copied.dropna().to_dict()
    alone, copies = [], []
    for first, second, *numbers in table.itertuples(index=False):
        if source.get(first) == second or source.get(second) == first:
            copies.append(numbers)
        elif not (source.get(first) and source.get(second)):
            alone.append(numbers)
    return alone, copies


def main() -> None:
    """Print a line per crowd and model."""
    warnings.simplefilter("ignore")
    for name, (scenario, sizes) in CROWDS.items():
        for model, times in TIMES.items():
            found = [pairs_of(scenario, sizes, model, seed) for seed in range(times)]
            value, low, high = np.transpose([row for alone, _ in found for row in alone])
            zero = np.mean((low <= 0) & (high >= 0))
            line = f"{name}, {model}: {len(value)} independent pairs, zero covered {zero:.3f}, "
            line += f"mean value {value.mean():.3f}"
            copies = [row for _, some in found for row in some]
            if copies:
                value, low, high = np.transpose(copies)
                held = np.mean((low <= 0.8) & (high >= 0.8))
                line += f"; {len(copies)} copies, mean {value.mean():.3f}, 0.8 covered {held:.3f}"
            print(line, flush=True)


if __name__ == "__main__":
    main()
