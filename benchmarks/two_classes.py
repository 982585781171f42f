"""Why coteries of two-class crowds are hard: `python -m benchmarks two_classes`.

Simulated crowds, `simulate("mixed", items=300, annotators=40, labels_per_item=10)`, and the same
kinds of annotators with members who differ more or less. ARI of the coteries shown, means over
crowds. The oracle knows the truth, and mean, strength and share of every kind: it says who is most
probably of which, and nobody who has to learn all that can do better on average.
"""

from __future__ import annotations

import math
import warnings

import numpy as np
import pandas as pd
from scipy.special import gammaln

import coterie
from benchmarks.samplers.adapters import Sampler
from benchmarks.samplers.report import Report, run
from coterie.metrics import adjusted_rand_index
from coterie.simulation.groups import KINDS, SCENARIOS, Group

CROWDS = 6
QUIET = {"random_state": 0, "progress": False}
SHORT = {**QUIET, "sweeps": 2_000, "burn_in": 500}
ALIKE = coterie.ConsensusPrior(strength=coterie.Gamma(800, 20))
"""Members of a coterie are more alike than the default believes: beta near 40, not 10."""
LEARNT = coterie.ConsensusPrior(strength=coterie.Gamma(2, 0.1))
"""How alike they are is left to the data: beta anything from 2 to 60."""
WAYS = {
    "Consensus": (coterie.Consensus(**QUIET), "vi"),
    "ten times as long": (coterie.Consensus(**QUIET, sweeps=3_000, burn_in=1_000), "vi"),
    "coteries by Binder's loss": (coterie.Consensus(**QUIET), "binder"),
    "the truth of every item known": (coterie.Consensus(**QUIET), "vi"),
    "no hard items": (
        coterie.Consensus(
            prior=coterie.ConsensusPrior(guessing=(0.0,), kind_weights=(1.0,)), **QUIET
        ),
        "vi",
    ),
    "beta learnt, Gamma(2, 0.1)": (coterie.Consensus(prior=LEARNT, **QUIET), "vi"),
    "beta near 40, Gamma(800, 20)": (coterie.Consensus(prior=ALIKE, **QUIET), "vi"),
    "hcBCC, the paper's prior": (coterie.HCBCC(**SHORT), "vi"),
    "cBCC, the paper's prior": (coterie.CBCC(**SHORT), "vi"),
}
STRENGTHS = (10.0, 40.0, 100.0)
BLOCKS, SWEEPS = 20, 50
"""Of a chain from a start, whose second half counts."""


def crowd_of(n_classes: int, seed: int, strength: float | None = None) -> coterie.Crowd:
    """The crowd of kinds as they are, or with members of one strength, none of them blind."""
    sizes = {"items": 300, "annotators": 40, "labels_per_item": 10, "classes": n_classes}
    if strength is None:
        return coterie.simulate("mixed", **sizes, random_state=seed)
    groups = [
        Group(name, KINDS[name].mean(n_classes, n_classes), strength, share)
        for name, share in SCENARIOS["mixed"].items()
    ]
    return coterie.simulate(groups, **sizes, random_state=seed)


def oracle(crowd: coterie.Crowd, strength: float | None = None) -> float:
    """ARI of the most probable kind of everybody, all but that known."""
    classes = crowd.annotations.classes.tolist()
    rows = crowd.annotations.to_frame()
    rows["true"] = rows["item"].map(crowd.truth)
    shares = crowd.groups.value_counts(normalize=True)
    found = {}
    for annotator, own in rows.groupby("annotator"):
        n = pd.crosstab(own["true"], own["label"]).reindex(classes, fill_value=0)
        n = n.reindex(columns=classes, fill_value=0).to_numpy()
        logs = {name: math.log(p) + log_labels(n, name, strength) for name, p in shares.items()}
        found[annotator] = max(logs, key=logs.get)
    return adjusted_rand_index(pd.Series(found)[crowd.groups.index], crowd.groups)


def log_labels(n: np.ndarray, kind: str, strength: float | None) -> float:
    """The log probability of an annotator's labels, (true, said), if they are of this kind."""
    usual = KINDS[kind]
    weight = (usual.strength if strength is None else strength) * usual.mean(*n.shape)
    if usual.blind and strength is None:  # one row for all classes
        weight, n = weight[:1], n.sum(axis=0, keepdims=True)
    rows = gammaln(weight.sum(axis=1)) - gammaln((weight + n).sum(axis=1))
    return float(rows.sum() + (gammaln(weight + n) - gammaln(weight)).sum())


def measure(crowd: coterie.Crowd, way: str) -> tuple[float, float]:
    """ARI of the coteries that a model shows, and how many it has on average over draws."""
    model, loss = WAYS[way]
    given = crowd.annotations
    if way.startswith("the truth"):
        rows = given.to_frame()[["item", "annotator", "label"]]
        given = coterie.read(rows, gold=crowd.truth, classes=given.classes.tolist())
    posterior = model.fit(given).posterior_
    shown = posterior.annotators(loss=loss).set_index("annotator")["coterie"]
    ari = adjusted_rand_index(shown[crowd.groups.index], crowd.groups)
    return ari, float(posterior.n_coteries.mean())


def from_a_start(crowd: coterie.Crowd, model: coterie.Consensus, true: bool) -> tuple[float, float]:
    """Where a chain ends that starts in the true kinds, or with all in one: ARI, coteries."""
    given, found = crowd.annotations, []
    kinds = pd.factorize(crowd.groups[given.annotators])[0].astype(np.int32)
    truth = given.classes.searchsorted(crowd.truth[given.items]).astype(np.int32)
    chain = Sampler(model, given, (truth, kinds if true else 0 * kinds))
    for _ in range(BLOCKS):
        n_coteries = chain.run(SWEEPS)["n_coteries"].mean()
        found.append((adjusted_rand_index(chain.chain.state["group"], kinds), n_coteries))
    return tuple(np.mean(found[BLOCKS // 2 :], axis=0))


def main(report: Report, _: int) -> None:
    warnings.simplefilter("ignore")
    report.table("Coteries of crowds of five kinds", "", "ARI, two classes", "coteries", "four")
    crowds = {t: [crowd_of(t, seed) for seed in range(CROWDS)] for t in (2, 4)}
    two, four = (float(np.mean([oracle(crowd) for crowd in some])) for some in crowds.values())
    report.row("all known but who is who", f"{two:.2f}", "5", f"{four:.2f}")
    for way in WAYS:
        two, many = np.mean([measure(crowd, way) for crowd in crowds[2]], axis=0)
        four, _ = np.mean([measure(crowd, way) for crowd in crowds[4]], axis=0)
        report.row(way, f"{two:.2f}", f"{many:.1f}", f"{four:.2f}")
    report.table(
        "The same, by how alike the members of a kind are",
        *(
            "members differ as Dir(strength x mean)",
            "classes",
            "known",
            "Consensus",
            "beta near 40",
        ),
    )
    for n_classes in crowds:
        for strength in STRENGTHS:
            some = [crowd_of(n_classes, seed, strength) for seed in range(CROWDS)]
            known = np.mean([oracle(crowd, strength) for crowd in some])
            ways = ("Consensus", "beta near 40, Gamma(800, 20)")
            found = [np.mean([measure(crowd, way)[0] for crowd in some]) for way in ways]
            numbers = (f"{x:.2f}" for x in (known, *found))
            report.row(f"{strength:.0f}", f"{n_classes}", *numbers)
    report.table("Two classes: where chains end", "beta", "start", "ARI of a draw", "coteries")
    for way in ("Consensus", "beta learnt, Gamma(2, 0.1)", "beta near 40, Gamma(800, 20)"):
        for true in (True, False):
            runs = [from_a_start(crowd, WAYS[way][0], true) for crowd in crowds[2]]
            ari, many = np.mean(runs, axis=0)
            report.row(way, "the true kinds" if true else "all in one", f"{ari:.2f}", f"{many:.1f}")


if __name__ == "__main__":
    run(main)
