"""Two verdicts on a sampled result: are the labels settled, are the coteries."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import pandas as pd
from numpy.typing import NDArray

from coterie.data.frames import table
from coterie.words.numbers import count, in_percent, listed

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
    """Whether something is settled, in a sentence, and the numbers behind it, items by name."""

    settled: bool
    sentence: str
    numbers: Mapping[str, Any]

    @property
    def agree(self) -> bool:
        """Whether several chains give one label on nearly all items, settled or not yet."""
        several = int(self.numbers.get("chains", 1)) > 1
        return several and bool(self.numbers["one_label"] >= ONE_LABEL)


@dataclass(frozen=True)
class Verdicts:
    """What may be trusted: the labels, and the coteries (None if the model finds none)."""

    labels: Verdict
    coteries: Verdict | None


def verdicts_of(posterior: Posterior) -> Verdicts:
    """Give both verdicts, from what the run noted; see :attr:`coterie.Posterior.verdicts`."""
    noted = posterior.run.get("verdicts") or {}
    if "labels" not in noted:
        return Verdicts(_of_point(posterior), None)
    labels, items = noted["labels"], posterior.item_names
    alone = int(labels["chains"]) == 1 and "starts" not in labels
    settled = posterior.converged if alone else bool(labels["settled"])
    named = dict(labels)  # names where the run noted places of items, and codes of labels
    if "differ" in labels:
        named["differ"] = items[labels["differ"]].tolist()
    if (two := labels.get("readings")) is not None:
        words = posterior.annotations.classes[two["labels"]].tolist()
        named["readings"] = {**two, "items": items[two["items"]].tolist(), "labels": words}
    grouped = noted.get("coteries")
    coteries = None if grouped is None else _of_coteries(grouped)
    return Verdicts(Verdict(settled, say_labels(labels, items), named), coteries)


def verdicts_by_name(posterior: Posterior) -> dict[str, dict[str, Any] | None]:
    """Give both verdicts with all their numbers, as a record of the run."""
    verdicts = posterior.verdicts
    return {
        name: None if v is None else {**v.numbers, "settled": v.settled, "sentence": v.sentence}
        for name, v in (("labels", verdicts.labels), ("coteries", verdicts.coteries))
    }


def _of_point(posterior: Posterior) -> Verdict:
    """Judge what was found without chains, from one start."""
    done = posterior.run.get("iterations")
    after = "" if done is None else f" after {count(int(done), 'iteration')}"
    if posterior.method == "count":
        said = "Labels settled: they are counted, and there is nothing to converge."
    elif posterior.converged:
        said = f"Labels settled: the iteration has come to rest{after}."
    else:
        said = f"Labels not settled: the iteration still moves{after}; raise n_iter, or tol."
    return Verdict(posterior.converged, said, {})


def say_labels(noted: Mapping[str, Any], items: NDArray[Any]) -> str:
    """Say whether the labels are settled, and which items would decide if not.

    ``noted`` is what :func:`coterie.inference.verdicts.note_labels` gives; ``items`` are the names
    of all items.
    """
    starts, chains = noted.get("starts"), int(noted["chains"])
    if chains == 1 and starts is None:
        return "One chain cannot show whether the labels are settled; run several."
    if chains == 1:
        return (
            f"One of {starts} starts reached the best bound, and no other came near: more"
            " restarts would show whether there is a better one."
        )
    who = f"{chains} chains"
    if starts is not None:
        who = f"{chains} of {starts} starts reach the best bound, and"
    same = f"{who} give one label on {_percent(noted['one_label'])} of the items"
    if noted["settled"]:
        return f"Labels settled: {same}."
    if noted["one_label"] >= ONE_LABEL:
        few = count(int(noted["sweeps"]), "sweep")
        return f"Labels not settled: {same}, but {few} after burn-in are too few to show it."
    two = noted.get("readings")
    if two is None:
        which = f"they differ on {_named(noted['n_differ'], items[noted['differ'][:NAMED]])}"
        more = "chains" if starts is None else "restarts"
        remedy = f"Known labels (gold) of those would settle it, or more {more}."
        return f"Labels not settled: {same}; {which}. {remedy}"
    one, other = _names(noted)
    which = _named(two["n_differ"], items[two["items"][:NAMED]])
    return (
        f"Labels not settled: {same}. There are two readings, and nothing says which holds: that"
        f" of {one} and that of {other}. They differ on {which}. Known labels (gold)"
        " of those would decide."
    )


def _names(noted: Mapping[str, Any]) -> list[str]:
    """Name readings by the chains, or starts, that they are of; two or none."""
    one = "start" if "starts" in noted else "chain"
    return [chain_words(chains, one) for chains in (noted.get("readings") or {}).get("chains", ())]


def reading_names(posterior: Posterior) -> list[str]:
    """Name the readings of :func:`reading_table`, two or none, by the chains that they are of."""
    return _names((posterior.run.get("verdicts") or {}).get("labels") or {})


@table
def readings(self: Posterior) -> pd.DataFrame | None:
    """Two readings of the labels side by side, where chains split between two; else None.

    Both are of chains that no rule leaves out, so that nothing in the labels says which holds;
    what is reported is pooled over both. One row per item that would decide: both readings are
    sure of different labels, and gold of such items settles it. The surest come first, 20 at
    most. Columns: item, then of each reading the label and its probability.
    """
    noted = (self.run.get("verdicts") or {}).get("labels") or {}
    if (two := noted.get("readings")) is None:
        return None
    columns: dict[str, Any] = {"item": self.item_names[two["items"]]}
    for name, codes, sure in zip(_names(noted), two["labels"], two["probability"], strict=True):
        words = self.annotations.classes[codes]
        columns |= {name: words, f"probability in {name}": sure}
    return pd.DataFrame(columns)


def chain_words(chains: Sequence[int], one: str = "chain") -> str:
    """Name some chains, or what takes their place.

    Examples
    --------
    >>> chain_words([3]), chain_words([1, 2, 4]), chain_words([2], "start")
    ('chain 3', 'chains 1, 2 and 4', 'start 2')
    """
    return f"{one}{'s' if len(chains) > 1 else ''} {listed([str(k) for k in chains], 9)}"


def _named(n: int, items: NDArray[Any]) -> str:
    """Count items and name the first ones."""
    words = [repr(item) for item in items.tolist()]
    more = ", among them " if n > len(words) else ": "
    return f"{count(int(n), 'item')}{more}{listed(words, NAMED)}"


def _of_coteries(noted: Mapping[str, Any]) -> Verdict:
    numbers, apart = noted["n_coteries"], noted["pairs_apart"]
    if len(numbers) == 1:
        alone = "One chain cannot show whether the coteries are settled; run several."
        return Verdict(False, alone, noted)
    low, high = f"{min(numbers):.1f}", f"{max(numbers):.1f}"
    many = low if low == high else f"{low} to {high}"
    found = f"the chains have {many} coteries on average"
    pairs = f"whether two annotators belong together by {_percent(apart)}, averaged over pairs"
    if noted["settled"]:
        return Verdict(True, f"Coteries settled: {found}, and differ on {pairs}.", noted)
    care = "Trust large coteries, not small ones, or run more sweeps."
    return Verdict(False, f"Coteries not settled: {found}, and differ on {pairs}. {care}", noted)


def _percent(share: float) -> str:
    return f"{in_percent(share, 1)} %"
