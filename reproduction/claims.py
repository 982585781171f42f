"""The paper's claims, one by one: does our run support them, by how much, how surely."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import NamedTuple

from coterie.words.numbers import in_percent, plus_minus
from reproduction.base import Data
from reproduction.settings import CLUSTERED, MODELS
from reproduction.sparsity import with_interval

Levels = list[Data]


class Part(NamedTuple):
    """A number that a claim rests on, and whether it does."""

    verdict: str  # supported, not supported, undecided
    said: str


def judge(found: Mapping[str, Data]) -> list[dict[str, str]]:
    """Judge each claim whose experiments are there, from their data by name."""
    names = ("sparsity-synthetic", "sparsity-real", "accuracy", "cooccurrence-real")
    crowds, real, whole, pairs = (found.get(name, {}).get("sets", {}) for name in names)
    claims = {
        "On data with clusters, cBCC and hcBCC beat iBCC most when labels are few":
            _gains(crowds, ("dataset1", "dataset2")),
        "With few labels iBCC falls below the vote (dataset1)":
            _parts(crowds.get("dataset1", [])[-1:], "improvement", ["ibcc"], sign=-1),
        "On rte and valence the gain over iBCC grows as labels get scarce":
            _gains(real, ("rte", "valence")),
        "cBCC and hcBCC are more accurate than iBCC on rte, temp and valence, whole":
            _more(whole, ("rte", "temp", "valence")),
        "hcBCC finds fewer clusters than cBCC on the real sets":
            [_fewer(name, row["hcbcc"], row["cbcc"]) for name, row in whole.items()],
        "hcBCC's clusters are clearer than cBCC's":
            _clearer(crowds.get("dataset1", []), pairs),
        "On data without clusters nobody loses (dataset3; up to 1 point counts as none)":
            _parts(crowds.get("dataset3", []), "gain", ["cbcc-ibcc", "hcbcc-ibcc"], above=-1),
        "On valence iBCC falls below the vote as labels get scarce":
            _parts(real.get("valence", [])[-1:], "improvement", ["ibcc"], sign=-1),
        "On valence cBCC and hcBCC beat the vote at every level":
            _parts(real.get("valence", []), "improvement", CLUSTERED),
    }  # fmt: skip
    return [
        {"claim": claim, "verdict": together([part.verdict for part in parts]),
         "numbers": "; ".join(part.said for part in parts)}
        for claim, parts in claims.items() if parts
    ]  # fmt: skip


def verdict(one: Data, *, above: float = 0.0, sign: int = 1) -> str:
    """Say whether an interval, or its negative, lies above a value, below it, or holds it.

    >>> [verdict({"low": low, "high": high}) for low, high in ((1, 2), (-2, -1), (-1, 1))]
    ['supported', 'not supported', 'undecided']
    """
    if one["low"] is None:
        return "undecided"
    low, high = sorted((sign * one["low"], sign * one["high"]))
    return "supported" if low > above else "not supported" if high < above else "undecided"


def together(verdicts: list[str]) -> str:
    """Join verdicts on the parts of a claim.

    >>> together(["supported", "supported"]), together(["supported", "undecided"])
    ('supported', 'partly supported')
    """
    if len(set(verdicts)) == 1:
        return verdicts[0]
    return "partly supported" if "supported" in verdicts else "undecided"


def _parts(levels: Levels, kind: str, names: Iterable[str], **bar: float) -> list[Part]:
    """Judge differences in points (to the vote, or between two models) at each level."""
    return [
        Part(
            verdict(level[kind][name], **bar),
            f"{' less '.join(MODELS[model] for model in name.split('-'))} "
            f"{with_interval(level[kind][name])} at {in_percent(level['sparsity'], 1)} % missing",
        )
        for level in levels
        for name in names
    ]


def _change(first: Data, last: Data) -> Data:
    """Give how much larger the last is than the first, their errors independent."""
    mean = last["mean"] - first["mean"]
    if None in (first["low"], last["low"]):
        return {"mean": mean, "low": None, "high": None}
    half = ((first["high"] - first["mean"]) ** 2 + (last["high"] - last["mean"]) ** 2) ** 0.5
    return {"mean": mean, "low": mean - half, "high": mean + half}


def _gains(sets: Mapping[str, Levels], names: Iterable[str]) -> list[Part]:
    """Judge the gains over iBCC at the sparsest level, and that they are larger there."""
    parts = []
    for name in names:
        for pair in (f"{model}-ibcc" for model in CLUSTERED if name in sets):
            (last,) = _parts(sets[name][-1:], "gain", [pair])
            change = _change(sets[name][0]["gain"][pair], sets[name][-1]["gain"][pair])
            parts += [last._replace(said=f"{name}: {last.said}")]
            parts += [Part(verdict(change), f"{with_interval(change)} more than at the fullest")]
    return parts


def _more(sets: Mapping[str, Data], names: Iterable[str]) -> list[Part]:
    """Judge the items that a model has right more than iBCC, four chains pooled."""
    parts = []
    for name in (name for name in names if name in sets):
        ibcc = sets[name]["ibcc"]
        for model in CLUSTERED:
            n = round((sets[name][model]["accuracy"] - ibcc["accuracy"]) * ibcc["items"])
            said = f"{name} {MODELS[model]} {n:+d} items".replace("-", "−")
            parts.append(Part("supported" if n > 0 else "not supported", said))
    return parts


def _fewer(name: str, hc: Data, c: Data) -> Part:
    """Judge average numbers of clusters by two standard deviations between chains of either."""
    gap, sd = c["clusters"] - hc["clusters"], [one["clusters_sd"] or 0.0 for one in (hc, c)]
    spread = 2 * (sd[0] ** 2 + sd[1] ** 2) ** 0.5
    ours = " against ".join(plus_minus(one["clusters"], one["clusters_sd"]) for one in (hc, c))
    return Part(verdict({"low": gap - spread, "high": gap + spread}), f"{name} {ours}")


def _clearer(levels: Levels, pairs: Mapping[str, Data]) -> list[Part]:
    """Judge pairs wrongly together or apart in dataset1, and undecided ones of the real sets."""
    parts = []
    for level in (level for level in levels if level in (levels[0], levels[-1])):
        change = _change(level["pairs_wrong"]["hcbcc"], level["pairs_wrong"]["cbcc"])
        said = f"{with_interval(change)} points fewer pairs wrong at "
        said += f"{in_percent(level['sparsity'], 1)} % missing"
        parts.append(Part(verdict(change), said))
    if not parts:
        return []
    for name, one in pairs.items():
        h, c = one["hcbcc"]["undecided"], one["cbcc"]["undecided"]
        said = f"{name} {in_percent(h, 0)} against {in_percent(c, 0)} % of pairs undecided"
        parts.append(Part("supported" if h < c else "not supported", said))
    return parts
