"""The paper's claims, one by one: does our run support them, by how much, how surely."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from coterie.studies.paper.experiment import Data
from coterie.studies.paper.improvement import with_interval
from coterie.studies.paper.paper import MODELS
from coterie.studies.paper.work import CLUSTERED
from coterie.studies.table import Table
from coterie.words.numbers import in_percent, plus_minus

MARGIN = 1.0
"""Points of accuracy that count as no loss on data without clusters."""


class Claim(NamedTuple):
    """A claim of the paper, and what our run says of it."""

    claim: str
    verdict: str  # supported, not supported, undecided, partly supported
    numbers: str


def judge(found: Mapping[str, Data]) -> list[Claim]:
    """Judge each claim whose experiments are there.

    Parameters
    ----------
    found
        Data of the experiments, by name.
    """
    claims: list[Claim] = []
    if "sparsity-synthetic" in found:
        sets = found["sparsity-synthetic"]["sets"]
        claims += [_beat_most(sets), _below_vote(sets["dataset1"])]
    real = found.get("sparsity-real", {}).get("sets", {})
    if {"rte", "valence"} & real.keys():
        claims.append(_beat_most_real(real))
    if found.get("accuracy", {}).get("sets"):
        claims += [_beat_ibcc(found["accuracy"]["sets"]), _fewer(found["accuracy"]["sets"])]
    if "sparsity-synthetic" in found:
        pairs = found.get("cooccurrence-real", {}).get("sets", {})
        claims += [_clearer(sets["dataset1"], pairs.items()), _nobody_loses(sets["dataset3"])]
    if "valence" in real:
        claims += [_valence_falls(real["valence"]), _valence_above(real["valence"])]
    return claims


def verdict(low: float | None, high: float | None, *, above: float = 0.0) -> str:
    """Say whether an interval lies above a value, below it, or holds it.

    Examples
    --------
    >>> verdict(0.5, 2.0), verdict(-2.0, -0.5), verdict(-1.0, 1.0), verdict(None, None)
    ('supported', 'not supported', 'undecided', 'undecided')
    """
    if low is None or high is None:
        return "undecided"
    return "supported" if low > above else "not supported" if high < above else "undecided"


def together(verdicts: list[str]) -> str:
    """Join verdicts on the parts of a claim.

    Examples
    --------
    >>> together(["supported", "supported"]), together(["supported", "undecided"])
    ('supported', 'partly supported')
    """
    if len(set(verdicts)) == 1:
        return verdicts[0]
    return "partly supported" if "supported" in verdicts else "undecided"


def _change(first: Data, last: Data) -> dict[str, float | None]:
    """Give how much larger the last is than the first, their errors independent."""
    mean = last["mean"] - first["mean"]
    if None in (first["low"], last["low"]):
        return {"mean": mean, "low": None, "high": None}
    half = ((first["high"] - first["mean"]) ** 2 + (last["high"] - last["mean"]) ** 2) ** 0.5
    return {"mean": mean, "low": mean - half, "high": mean + half}


def _gain(levels: list[Data], model: str) -> tuple[list[str], str]:
    """Compare a model's gain over iBCC at the sparsest level with that at the fullest."""
    first, last = levels[0]["gain"][f"{model}-ibcc"], levels[-1]["gain"][f"{model}-ibcc"]
    change = _change(first, last)
    said = (
        f"{MODELS[model]} {with_interval(last)} at {in_percent(levels[-1]['sparsity'], 1)} % "
        f"missing, {with_interval(first)} at {in_percent(levels[0]['sparsity'], 1)} %"
    )
    return [verdict(last["low"], last["high"]), verdict(change["low"], change["high"])], said


def _beat_most(sets: Mapping[str, list[Data]]) -> Claim:
    parts = [
        (name, *_gain(sets[name], model))
        for name in ("dataset1", "dataset2")
        for model in CLUSTERED
    ]
    return Claim(
        "On data with clusters, cBCC and hcBCC beat iBCC most when labels are few",
        together([one for _, verdicts, _ in parts for one in verdicts]),
        "Gain over iBCC in points: " + "; ".join(f"{name}: {said}" for name, _, said in parts),
    )


def _beat_most_real(sets: Mapping[str, list[Data]]) -> Claim:
    names = [name for name in ("rte", "valence") if name in sets]
    parts = [(name, *_gain(sets[name], model)) for name in names for model in CLUSTERED]
    return Claim(
        "On rte and valence the gain over iBCC grows as labels get scarce",
        together([one for _, verdicts, _ in parts for one in verdicts]),
        "Gain over iBCC in points: " + "; ".join(f"{name}: {said}" for name, _, said in parts),
    )


def _below_vote(levels: list[Data]) -> Claim:
    last = levels[-1]
    one = last["improvement"]["ibcc"]
    negated = (None, None) if one["low"] is None else (-one["high"], -one["low"])
    return Claim(
        "With few labels iBCC falls below the vote (dataset1)",
        verdict(*negated),
        f"iBCC less the vote: {with_interval(one)} points at {in_percent(last['sparsity'], 1)} % "
        "missing",
    )


def _beat_ibcc(sets: Mapping[str, Any]) -> Claim:
    better, said = [], []
    for name in (name for name in ("rte", "temp", "valence") if name in sets):
        row = sets[name]
        for model in CLUSTERED:
            more = round((row[model]["accuracy"] - row["ibcc"]["accuracy"]) * row["ibcc"]["items"])
            better.append("supported" if more > 0 else "not supported")
            said.append(f"{name} {MODELS[model]} {more:+d}".replace("-", "−"))
    return Claim(
        "cBCC and hcBCC are more accurate than iBCC on rte, temp and valence, whole",
        together(better),
        f"Items more than iBCC, four chains pooled: {'; '.join(said)}",
    )


def _fewer(sets: Mapping[str, Any]) -> Claim:
    fewer, said = [], []
    for name, row in sets.items():
        c, hc = row["cbcc"], row["hcbcc"]
        # Two standard deviations between chains of either.
        gap = c["clusters"] - hc["clusters"]
        spread = 2 * ((c["clusters_sd"] or 0.0) ** 2 + (hc["clusters_sd"] or 0.0) ** 2) ** 0.5
        fewer.append(verdict(gap - spread, gap + spread))
        ours = [plus_minus(one["clusters"], one["clusters_sd"]) for one in (hc, c)]
        said.append(f"{name} {ours[0]} against {ours[1]}")
    return Claim(
        "hcBCC finds fewer clusters than cBCC on the real sets",
        together(fewer),
        "Average numbers ± standard deviation between chains: " + "; ".join(said),
    )


def _clearer(levels: list[Data], real: Iterable[tuple[str, Data]]) -> Claim:
    first = levels[0]
    wrong, clusters = first["pairs_wrong"], first["clusters"]
    better = _change(wrong["hcbcc"], wrong["cbcc"])
    sparse = levels[-1]["pairs_wrong"]
    worse = _change(sparse["hcbcc"], sparse["cbcc"])
    undecided = {name: (one["hcbcc"]["undecided"], one["cbcc"]["undecided"]) for name, one in real}
    said = "; ".join(
        f"{n} {in_percent(h, 0)} against {in_percent(c, 0)}" for n, (h, c) in undecided.items()
    )
    verdicts = [verdict(one["low"], one["high"]) for one in (better, worse)]
    verdicts += ["supported" if h < c else "not supported" for h, c in undecided.values()]
    return Claim(
        "hcBCC's clusters are clearer than cBCC's",
        together(verdicts),
        "dataset1, fullest level: pairs wrongly together or apart: hcBCC "
        f"{wrong['hcbcc']['mean']:.1f} %, cBCC "
        f"{wrong['cbcc']['mean']:.1f} %, difference {with_interval(better)} points; clusters "
        f"{clusters['hcbcc']['mean']:.1f} and {clusters['cbcc']['mean']:.1f}, three types; "
        f"sparsest level: difference {with_interval(worse)}"
        + (f". Undecided pairs of the real sets, hcBCC against cBCC, %: {said}" if said else ""),
    )


def _nobody_loses(levels: list[Data]) -> Claim:
    parts = [
        (level, model, level["gain"][f"{model}-ibcc"]) for level in levels for model in CLUSTERED
    ]
    level, model, worst = min(parts, key=lambda part: part[2]["mean"])
    return Claim(
        f"On data without clusters nobody loses (dataset3; up to {MARGIN:g} point counts as none)",
        together([verdict(one["low"], one["high"], above=-MARGIN) for _, _, one in parts]),
        f"Worst difference to iBCC: {MODELS[model]}, {with_interval(worst)} points at "
        f"{in_percent(level['sparsity'], 1)} % missing",
    )


def _valence_falls(levels: list[Data]) -> Claim:
    last = levels[-1]
    one, shared = last["improvement"]["ibcc"], last["improvement_ties_shared"]["ibcc"]
    negated = (None, None) if one["low"] is None else (-one["high"], -one["low"])
    return Claim(
        "On valence iBCC falls below the vote as labels get scarce",
        verdict(*negated),
        f"iBCC less the vote: {with_interval(one)} points at {in_percent(last['sparsity'], 1)} % "
        f"missing ({with_interval(shared)} against a vote whose ties are shared); "
        f"{with_interval(levels[0]['improvement']['ibcc'])} on the whole set",
    )


def _valence_above(levels: list[Data]) -> Claim:
    parts = [(level, model) for level in levels for model in CLUSTERED]
    worst, model = min(parts, key=lambda part: part[0]["improvement"][part[1]]["mean"])
    one = worst["improvement"][model]
    every = [level["improvement"][name] for level, name in parts]
    return Claim(
        "On valence cBCC and hcBCC beat the vote at every level",
        together([verdict(each["low"], each["high"]) for each in every]),
        f"Least improvement: {MODELS[model]}, {with_interval(one)} points at "
        f"{in_percent(worst['sparsity'], 1)} % missing "
        f"({with_interval(worst['improvement_ties_shared'][model])} against a vote whose ties are "
        "shared)",
    )


def table(claims: list[Claim]) -> Table:
    """One row per claim."""
    header = ["the paper says", "our run", "numbers, with 95 % intervals"]
    return Table("The paper's claims", header, [list(claim) for claim in claims], left=(0, 1, 2))
