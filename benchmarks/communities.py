"""Groups found after the fact against groups found while fitting, as labels get scarce.

``python -m benchmarks communities`` (or ``-m benchmarks.communities [figure.png]``). Simulated
crowds whose groups are known; the adjusted Rand index of what is found, averaged over seeds: 1 is
every group exactly, 0 what chance gives, and what one group of everybody gives. Coteries are those
of cBCC and hcBCC; communities are those of ``posterior.communities()`` on the matrices of iBCC, of
IBCCVB and of hcBCC. Last, communities of bluebird beside hcBCC's coteries.
"""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd

import coterie
from benchmarks.sisters import read
from coterie.metrics import adjusted_rand_index, variation_of_information
from coterie.posterior import Posterior

CROWDS = {
    "mixed": "mixed",
    "plain": {"expert": 2, "biased": 1, "adversary": 1},
}
ANNOTATORS, ITEMS = 40, 300
PER_ITEM = (1, 2, 4, 8, 16)
SEEDS = 5
SHORT = {"sweeps": 1_500, "burn_in": 500, "chains": 2, "progress": False, "n_jobs": 1}


def coteries(posterior: Posterior) -> pd.Series:
    """Give the groups found while fitting."""
    return posterior.annotators().set_index("annotator")["coterie"]


def communities(posterior: Posterior) -> pd.Series:
    """Give the groups found after the fact."""
    return posterior.communities().set_index("annotator")["community"]


WAYS: dict[str, tuple[str, Callable[[Posterior], pd.Series]]] = {
    "coteries of hcBCC": ("hcbcc", coteries),
    "coteries of cBCC": ("cbcc", coteries),
    "communities of hcBCC": ("hcbcc", communities),
    "communities of iBCC": ("ibcc", communities),
    "communities of IBCCVB": ("ibccvb", communities),
}


def fits(crowd: coterie.Crowd, seed: int) -> dict[str, Posterior]:
    """Fit the models, each once."""
    models = {
        "hcbcc": coterie.HCBCC(**SHORT, random_state=seed),
        "cbcc": coterie.CBCC(**SHORT, random_state=seed),
        "ibcc": coterie.IBCC(**SHORT, random_state=seed),
        "ibccvb": coterie.IBCCVB(random_state=seed),
    }
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return {name: model.fit(crowd.annotations).posterior_ for name, model in models.items()}


def measure(scenario: object, per_item: int, seed: int) -> dict[str, tuple[float, int]]:
    """Give the adjusted Rand index and the number of groups of every way."""
    crowd = coterie.simulate(
        scenario,
        items=ITEMS,
        annotators=ANNOTATORS,
        labels_per_item=per_item,
        random_state=seed,
    )
    posteriors = fits(crowd, seed)
    found = {}
    for way, (model, groups_of) in WAYS.items():
        groups = groups_of(posteriors[model]).dropna()
        index = adjusted_rand_index(groups.astype(int), crowd.groups)
        found[way] = index, groups.nunique()
    return found


def scarce() -> dict[str, pd.DataFrame]:
    """Print and give, for every crowd, the mean index by way and labels per annotator."""
    tables = {}
    for name, scenario in CROWDS.items():
        print(f"{name}: adjusted Rand index (groups found), {SEEDS} seeds")
        columns = {}
        for per_item in PER_ITEM:
            runs = [measure(scenario, per_item, seed) for seed in range(SEEDS)]
            labels = ITEMS * per_item // ANNOTATORS
            mean = {w: np.mean([run[w] for run in runs], axis=0) for w in WAYS}
            columns[labels] = {w: mean[w][0] for w in WAYS}
            said = "   ".join(f"{w} {m[0]:.2f} ({m[1]:.1f})" for w, m in mean.items())
            print(f"  {labels:4d} labels per annotator:  {said}", flush=True)
        tables[name] = pd.DataFrame(columns)
    return tables


def bluebird() -> None:
    """Print how far communities are from coteries on a real crowd."""
    data, _ = read("bluebird")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        posterior = coterie.HCBCC(**SHORT, random_state=0).fit(data).posterior_
    one, other = coteries(posterior), communities(posterior)
    far = variation_of_information(one.astype(int), other.astype(int))
    print(
        f"bluebird, of one hcBCC run: {one.nunique()} coteries, {other.nunique()} communities, "
        f"variation of information {far:.2f} nats"
    )


def draw(tables: dict[str, pd.DataFrame], path: Path) -> None:
    """Draw the index against the number of labels."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(9, 3.6), layout="constrained")
    for axes, (name, table) in zip(figure.subplots(1, len(tables)), tables.items(), strict=True):
        for way, row in table.iterrows():
            style = "-o" if str(way).startswith("coteries") else "--s"
            axes.plot(table.columns, row, style, label=way, markersize=4)
        axes.set(xscale="log", xlabel="labels per annotator", title=f"{name} crowd")
        axes.set_xticks(list(table.columns), [str(n) for n in table.columns], minor=False)
        axes.minorticks_off()
        axes.set_ylabel("adjusted Rand index")
    axes.legend(fontsize=7)
    figure.savefig(path, dpi=150)


def main(arguments: list[str]) -> None:
    tables = scarce()
    bluebird()
    paths = [Path(word) for word in arguments if word.endswith((".png", ".svg"))]
    for path in paths:
        draw(tables, path)
        print(f"drawn to {path}")


if __name__ == "__main__":
    main(sys.argv[1:])
