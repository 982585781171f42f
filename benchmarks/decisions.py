"""What decisions miss: ``python -m benchmarks decisions``, or ``-m benchmarks.decisions [part]``.

``information``: what next_labels expects of a label, against exact refits with every answer, on
four to six items with random labels; with likeliest matrices plugged in, with the Dirichlets that
their counts imply, with matrices as they are on average, and as draws tell.
``refits``: the same of models that report other probabilities than those of draws, each fitted
again with every answer.
``stop``: simulated crowds, labels asked for until the rule stops: accuracy then, and of all labels.
``update``: how far item probabilities of updates and of fresh fits are from those of long chains,
on average over items, and the processor time of both.
``forecast``: crowds from the prior of IBCC, two labels per item and two more to come: how often the
95 % interval holds the accuracy of a real refit, and how far that is from the middle.
"""

from __future__ import annotations

import sys
import time
import warnings
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

import coterie
from benchmarks.default import sets
from coterie.abilities import Abilities
from coterie.inference.ascent import in_memory
from coterie.kernels.expected import estimate
from coterie.posterior import Posterior

sys.path.append(str(Path(__file__).parents[1] / "tests"))  # what is exact, and slow, lies there

STRENGTHS, DRAWS = (20.0, 6.0, 3.0), 4000
FITS, LONG = 8, {"sweeps": 3000, "burn_in": 1000}
CROWDS = (range(40), range(100, 200))


def information() -> None:
    """Print errors of the expected information, in bits."""
    from assign.test_information import RANDOM_SIZES, asked_for, random_problem, skewed
    from reference.refits import posterior_of, refitted_information, sampled_posterior_of

    for strength in STRENGTHS:
        plain, drawn, bits = [], [], []
        plugged, counted = [], []
        for size in RANDOM_SIZES:
            for seed in range(4):
                problem, missing = random_problem(size, seed)
                prior = skewed(np.random.default_rng(seed + 10), *size[2:], strength)
                rng = np.random.default_rng(seed)
                exactly = posterior_of(problem, prior)
                means = asked_for(exactly)
                likeliest = _likeliest(exactly)
                plug = asked_for(likeliest)
                rest = asked_for(replace(likeliest, abilities=Abilities(likeliest=True)))
                draws = asked_for(sampled_posterior_of(problem, prior, DRAWS, rng))
                exact = {pair: refitted_information(problem, prior, *pair) for pair in missing}
                bits += exact.values()
                plain += [means.get(pair, 0.0) - x for pair, x in exact.items()]
                plugged += [plug.get(pair, 0.0) - x for pair, x in exact.items()]
                counted += [rest.get(pair, 0.0) - x for pair, x in exact.items()]
                drawn += [draws.get(pair, 0.0) - x for pair, x in exact.items()]
        print(
            f"information, rows that rest on {strength:.0f} labels: {len(bits)} pairs,"
            f" {np.mean(bits):.2f} bits each; likeliest matrices {_off(plugged)};"
            f" Dirichlets of their counts {_off(counted)}; mean"
            f" matrices {_off(plain)}; draws {_off(drawn)}",
            flush=True,
        )


def _likeliest(posterior: Posterior) -> Posterior:
    """Give the same with the likeliest matrices for these beliefs."""
    codes, p = posterior.annotations.codes, posterior.item_probability
    found = estimate(in_memory(codes).count(p, codes.n_classes))
    return replace(posterior, confusion_mean=found.confusion.swapaxes(1, 2))


def _off(errors: list[float]) -> str:
    size = np.abs(errors)
    return f"off by {size.mean():.4f}, at most {size.max():.3f}, on average {np.mean(errors):+.4f}"


def refits() -> None:
    """Print what models expect of a label against what their own refits with every answer find."""
    for name, make in REFITTED.items():
        errors, bits, order = [], [], []
        for seed in range(4):
            crowd = coterie.simulate("mixed", items=12, annotators=5, labels_per_item=3,
                                     random_state=seed).annotations  # fmt: skip
            expected, found = _against_refits(make, crowd, np.random.default_rng(seed))
            errors += (expected - found).tolist()
            bits += found.tolist()
            order.append(np.corrcoef(expected, found)[0, 1])
        print(
            f"refits, {name}: {len(bits)} pairs, {np.mean(bits):.3f} bits each by refits;"
            f" expected {_off(errors)}; correlation {np.mean(order):.2f}",
            flush=True,
        )


def _against_refits(make: Any, crowd: Any, rng: np.random.Generator) -> tuple[Any, Any]:
    """Give the expected information of six pairs, and how far apart the answers leave belief.

    That is the entropy of the mean of what is believed after each answer minus their mean entropy:
    belief that is tempered by the number of labels is on average not what it was before.
    """
    from assign.test_information import asked_for
    from coterie.assign.belief import belief_of
    from reference.refits import entropy

    frame, posterior = crowd.to_frame(), make().fit(crowd).posterior_
    belief, expected = belief_of(posterior), asked_for(posterior)
    pairs = sorted(expected)
    chosen = [pairs[k] for k in rng.choice(len(pairs), 6, replace=False)]
    found = []
    for i, l in chosen:
        chance, after = belief.items[i] @ belief.matrix[l], []
        for answer in crowd.answers:
            row = (crowd.items[i], crowd.annotators[l], answer)
            rows = [*frame.itertuples(index=False, name=None), row]
            more = coterie.read(rows, classes=list(crowd.classes))
            place = list(more.items).index(crowd.items[i])
            after.append(make().fit(more).posterior_.item_probability[place])
        found.append(float(entropy(chance @ after) - chance @ entropy(np.array(after))))
    return np.array([expected[pair] for pair in chosen]), np.array(found)


def stop() -> None:
    """Print where the rule to stop ends on simulated crowds, by policy, and the risk statement."""
    from coterie.studies.replay import Settings, replay

    for kind in ("mixed", "novices", "copycats"):
        for policy in ("balanced", "information"):
            rows = []
            for seed in range(3):
                crowd = coterie.simulate(kind, items=100, annotators=30, labels_per_item=30,
                                         random_state=seed)  # fmt: skip
                run = replay(crowd.annotations, crowd.truth, policy, seed, Settings())
                end = next((p for p in run[1:] if p.asks == 0), run[-1])
                holds = np.mean([1 - p.accuracy <= p.at_most_wrong for p in run])
                rows.append((end.labels / run[-1].labels, end.accuracy, run[-1].accuracy, holds))
            share, then, whole, holds = 100 * np.mean(rows, axis=0)
            print(
                f"stop, {kind}, {policy}: at {share:.0f} % of the labels with {then:.1f} % right,"
                f" all labels {whole:.1f} %; the risk statement holds after {holds:.0f} %",
                flush=True,
            )


def update() -> None:
    """Print how far updates and fits are from long chains, and what they take."""
    for name, (labels, _) in sets(["valence", "rte"], 60_000).items():
        whole = coterie.read(labels, duplicates="keep")
        frame = whole.to_frame()
        long = np.mean([_found(_model(1000 + k, **LONG).fit(whole), whole) for k in range(2)], 0)
        print(f"update, {name}, {FITS} seeds, distance from long chains on average (at worst):")
        rows: dict[str, list[tuple[float, float]]] = {}
        for seed in range(FITS):
            start = time.process_time()
            fitted = _model(seed).fit(whole)
            took = time.process_time() - start
            rows.setdefault("fit", []).append((_apart(fitted, whole, long), took))
            for share in (0.5, 0.1):
                mixed = frame.sample(frac=1, random_state=seed)
                n_old = round(len(mixed) * (1 - share))
                fitted = _model(seed).fit(mixed.iloc[:n_old])
                start = time.process_time()
                fitted.update(mixed.iloc[n_old:])
                took = time.process_time() - start
                row = rows.setdefault(f"update, {share:.0%} new", [])
                row.append((_apart(fitted, whole, long), took))
        for what, numbers in rows.items():
            apart, took_all = np.array(numbers).T
            print(f"  {what}: {apart.mean():.4f} ({apart.max():.3f}), {took_all.mean():.2f} s",
                  flush=True)  # fmt: skip


def _model(seed: int, **changes: Any) -> coterie.Consensus:
    return coterie.Consensus(
        random_state=seed, progress=False, n_jobs=1, duplicates="keep", **changes
    )


def _found(fitted: coterie.Consensus, whole: coterie.Annotations) -> Any:
    return fitted.predict_proba().loc[whole.items].to_numpy()


def _apart(fitted: coterie.Consensus, whole: coterie.Annotations, long: Any) -> float:
    return float(np.abs(_found(fitted, whole) - long).mean())


def forecast() -> None:
    """Print how often the interval holds, and how far the middle is off."""
    from assign.test_forecast import outcome

    for seeds in CROWDS:
        holds, off = zip(*(outcome(seed) for seed in seeds), strict=True)
        n = len(seeds)
        print(
            f"forecast, crowds {seeds[0]} to {seeds[-1]}: the interval holds {sum(holds)} of {n}"
            f" ({0.95 * n:.0f} expected, deviation {np.sqrt(0.95 * 0.05 * n):.1f}); the refit"
            f" expects {100 * np.mean(off):+.1f} points more than the middle, standard error"
            f" {100 * np.std(off, ddof=1) / np.sqrt(n):.1f}",
            flush=True,
        )


REFITTED = {
    "quick": lambda: coterie.QuickConsensus(tol=1e-9, n_iter=1000),
    "consensus": lambda: _model(0, sweeps=1000, burn_in=200, chains=2),
}
PARTS = {
    "information": information,
    "refits": refits,
    "stop": stop,
    "update": update,
    "forecast": forecast,
}


def main() -> None:
    warnings.simplefilter("ignore")
    chosen = [name for name in sys.argv[1:] if name in PARTS] or list(PARTS)
    for name in chosen:
        PARTS[name]()


if __name__ == "__main__":
    main()
