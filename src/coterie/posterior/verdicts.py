"""Two verdicts on a sampled result: are the labels settled, are the coteries."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from coterie.words.numbers import count, in_percent

if TYPE_CHECKING:
    from coterie.posterior.posterior import Posterior

ONE_LABEL = 0.95
"""Share of the items on which all chains must give one label."""
LIKE_PAIRS = 0.1
"""How much the chains may differ, on average over pairs, on who belongs with whom."""
NAMED = 5
"""Items that a sentence names."""


@dataclass(frozen=True)
class Verdict:
    """Whether something is settled, in a sentence, and the numbers behind it."""

    settled: bool
    sentence: str
    numbers: Mapping[str, Any]


@dataclass(frozen=True)
class Verdicts:
    """What may be trusted: the labels, and the coteries (None if the model finds none)."""

    labels: Verdict
    coteries: Verdict | None


def verdicts_of(posterior: Posterior) -> Verdicts:
    """Give both verdicts, from what the run noted; see :attr:`coterie.Posterior.verdicts`."""
    noted = posterior.run.get("verdicts") or {}
    if "labels" not in noted:
        return Verdicts(_of_converged(posterior.converged), None)
    grouped = noted.get("coteries")
    labels = _of_labels(noted["labels"], posterior)
    return Verdicts(labels, None if grouped is None else _of_coteries(grouped))


def _of_converged(converged: bool) -> Verdict:
    sentence = "The computation has come to rest." if converged else "The result still moves."
    return Verdict(converged, sentence, {})


def _of_labels(noted: Mapping[str, Any], posterior: Posterior) -> Verdict:
    share, chains, places = noted["one_label"], int(noted["chains"]), noted["differ"]
    if chains == 1:
        sentence = "One chain cannot show whether the labels are settled; run several."
        return Verdict(posterior.converged, sentence, noted)
    same = f"{chains} chains give one label on {_percent(share)} of the items"
    if share >= ONE_LABEL:
        return Verdict(True, f"Labels settled: {same}.", noted)
    items = [repr(x) for x in posterior.annotations.items[places[:NAMED]].tolist()]
    more = ", among them " if int(noted["n_differ"]) > len(items) else ": "
    which = f"they differ on {count(int(noted['n_differ']), 'item')}{more}{', '.join(items)}"
    remedy = "Known labels (gold) of those would settle it."
    return Verdict(False, f"Labels not settled: {same}; {which}. {remedy}", noted)


def _of_coteries(noted: Mapping[str, Any]) -> Verdict:
    numbers, apart = noted["n_coteries"], noted["pairs_apart"]
    low, high = min(numbers), max(numbers)
    many = f"{low:.1f}" if high - low < 0.05 else f"{low:.1f} to {high:.1f}"
    found = f"the chains have {many} on average"
    pairs = f"whether two annotators belong together by {_percent(apart)}, averaged over pairs"
    if noted["settled"]:
        return Verdict(True, f"Coteries settled: {found}, and differ on {pairs}.", noted)
    care = "Trust large coteries, not small ones, or run more sweeps."
    return Verdict(False, f"Coteries not settled: {found}, and differ on {pairs}. {care}", noted)


def _percent(share: float) -> str:
    return f"{in_percent(share, 1)} %"
