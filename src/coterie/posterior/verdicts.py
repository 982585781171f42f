"""Two verdicts on a sampled result: are the labels settled, are the coteries."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import pandas as pd
from numpy.typing import NDArray

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
    grouped = noted.get("coteries")
    labels = _of_labels(noted["labels"], posterior)
    return Verdicts(labels, None if grouped is None else _of_coteries(grouped))


def verdicts_by_name(posterior: Posterior) -> dict[str, dict[str, Any] | None]:
    """Give both verdicts with all their numbers, as a record of the run."""
    verdicts = posterior.verdicts
    both = {"labels": verdicts.labels, "coteries": verdicts.coteries}
    return {
        name: None
        if one is None
        else {**one.numbers, "settled": one.settled, "sentence": one.sentence}
        for name, one in both.items()
    }


def _by_name(noted: Mapping[str, Any], posterior: Posterior) -> dict[str, Any]:
    """Put names where the run noted the places of items, and the codes of labels."""
    named, items = dict(noted), posterior.item_names
    if "differ" in noted:
        named["differ"] = items[noted["differ"]].tolist()
    two = noted.get("readings")
    if two is not None:
        labels = posterior.annotations.classes[two["labels"]].tolist()
        named["readings"] = {**two, "items": items[two["items"]].tolist(), "labels": labels}
    return named


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


def _of_labels(noted: Mapping[str, Any], posterior: Posterior) -> Verdict:
    alone = int(noted["chains"]) == 1 and "starts" not in noted
    settled = posterior.converged if alone else bool(noted["settled"])
    return Verdict(settled, say_labels(noted, posterior.item_names), _by_name(noted, posterior))


def say_labels(noted: Mapping[str, Any], items: NDArray[Any]) -> str:
    """Say whether the labels are settled, and which items would decide if not.

    Parameters
    ----------
    noted
        What the run noted of the labels: :func:`coterie.inference.verdicts.note_labels`.
    items
        What all items are called, shape (items,).
    """
    if int(noted["chains"]) == 1:
        return _said_by_one(noted)
    who = f"{noted['chains']} chains"
    if "starts" in noted:
        who = f"{noted['chains']} of {noted['starts']} starts reach the best bound, and"
    same = f"{who} give one label on {_percent(noted['one_label'])} of the items"
    if noted["settled"]:
        return f"Labels settled: {same}."
    if noted["one_label"] >= ONE_LABEL:
        few = count(int(noted["sweeps"]), "sweep")
        return f"Labels not settled: {same}, but {few} after burn-in are too few to show it."
    two = noted.get("readings")
    if two is None:
        which = f"they differ on {_named(noted['n_differ'], items[noted['differ'][:NAMED]])}"
        more = "restarts" if "starts" in noted else "chains"
        remedy = f"Known labels (gold) of those would settle it, or more {more}."
        return f"Labels not settled: {same}; {which}. {remedy}"
    one, other = _names(noted)
    which = _named(two["n_differ"], items[two["items"][:NAMED]])
    return (
        f"Labels not settled: {same}. There are two readings, and nothing says which holds: that"
        f" of {one} and that of {other}. They differ on {which}. Known labels (gold)"
        " of those would decide."
    )


def _said_by_one(noted: Mapping[str, Any]) -> str:
    if "starts" not in noted:
        return "One chain cannot show whether the labels are settled; run several."
    return (
        f"One of {noted['starts']} starts reached the best bound, and no other came near: more"
        " restarts would show whether there is a better one."
    )


def _noted(posterior: Posterior) -> Mapping[str, Any]:
    """Give what the run noted of the labels."""
    return (posterior.run.get("verdicts") or {}).get("labels") or {}


def _names(noted: Mapping[str, Any]) -> list[str]:
    """Name readings by the chains, or starts, that they are of."""
    one = "start" if "starts" in noted else "chain"
    return [chain_words(chains, one) for chains in noted["readings"]["chains"]]


def reading_names(posterior: Posterior) -> list[str]:
    """Name the readings of :func:`reading_table`, two or none, by the chains that they are of."""
    noted = _noted(posterior)
    return [] if noted.get("readings") is None else _names(noted)


def reading_table(posterior: Posterior) -> pd.DataFrame | None:
    """Set two readings side by side; see :meth:`coterie.Posterior.readings`."""
    two = _noted(posterior).get("readings")
    if two is None:
        return None
    a, names = posterior.annotations, reading_names(posterior)
    columns: dict[str, Any] = {}
    for name, codes, sure in zip(names, two["labels"], two["probability"], strict=True):
        columns |= {name: a.classes[codes], f"probability in {name}": sure}
    return pd.DataFrame({"item": posterior.item_names[two["items"]], **columns})


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
