"""What the page says of the chains: traces, R-hat, effective draws, and whether to trust them."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from coterie.abilities import SAMPLED
from coterie.diagnostics import LARGEST_R_HAT, LEAST_ESS, Quantity, quantities_of
from coterie.posterior import Posterior
from coterie.posterior.verdicts import reading_names
from coterie.report.people import records
from coterie.words.names import name
from coterie.words.numbers import be, count, decimal, listed

POINTS = 250
"""Points of a chain that a trace shows."""

MOST_QUANTITIES = 14
TRACES = {"n_coteries": "Number of coteries", "log_joint": "Log joint"}

Facts = dict[str, Any]


def convergence_facts(posterior: Posterior) -> Facts:
    """Describe the chains; a model without any has only a sentence."""
    if posterior.method not in SAMPLED:
        nothing: Facts = {"traces": [], "quantities": [], "left_out": 0, "readings": None}
        nothing |= {"gone": "", "coteries": None}
        return {"trust": trust_point(posterior), **nothing}
    draws = posterior.require_draws("diagnostics")
    quantities = [
        {
            **row,
            "name": quantity_name(posterior, quantity),
            "watched": quantity.name in draws.watched,
            "digits": digits_of(row["mcse"]),
        }
        for quantity, row in zip(
            quantities_of(draws.trace), records(posterior.diagnostics()), strict=True
        )
    ]
    worst_first = sorted(quantities, key=lambda row: -(row["r_hat"] or 0))[:MOST_QUANTITIES]
    shown = [row for row in quantities if row in worst_first]
    return {
        "trust": trust_chains(posterior, [row for row in quantities if row["watched"]]),
        "traces": [
            trace_facts(key, draws.trace[key], posterior) for key in TRACES if key in draws.trace
        ],
        "quantities": shown,
        "left_out": len(quantities) - len(shown),
        "gone": without_chains(*gone_of(posterior)),
        "coteries": posterior.verdicts.coteries,
        "readings": reading_facts(posterior),
    }


def reading_facts(posterior: Posterior) -> Facts | None:
    """Set two readings of the labels side by side, where the chains found two."""
    frame = posterior.readings()
    if frame is None:
        return None
    two = posterior.verdicts.labels.numbers["readings"]
    rows = [[name(row[0]), (name(row[1]), row[2]), (name(row[3]), row[4])] for row in frame.values]
    heads, left_out = reading_names(posterior), int(two["n_differ"]) - len(rows)
    return {"heads": heads, "rows": rows, "left_out": left_out}


def quantity_name(posterior: Posterior, quantity: Quantity) -> str:
    """Say what a watched quantity is, in words."""
    if quantity.name == "class_total" and quantity.index is not None:
        return f"Items of class {name(posterior.annotations.classes[quantity.index])}"
    return TRACES.get(quantity.name, str(quantity).replace("_", " ").capitalize())


def digits_of(error: float | None) -> int:
    """Give the decimals that a number with this error deserves: up to its first digit.

    Examples
    --------
    >>> digits_of(0.013), digits_of(0.4), digits_of(25.0), digits_of(0.0)
    (2, 1, 0, 1)
    """
    if not error or not np.isfinite(error):
        return 1
    return int(np.clip(-np.floor(np.log10(error)), 0, 6))


def trace_facts(key: str, draws: NDArray[np.float64], posterior: Posterior) -> Facts:
    """Thin a trace to what a picture can show, one line per chain."""
    kept = chain_numbers(posterior, len(draws))
    return {
        "name": TRACES[key],
        "chains": kept,
        "lines": [thin(chain).tolist() for chain in draws],
        "means": draws.mean(axis=1).tolist(),
        "low": float(draws.min()),
        "high": float(draws.max()),
        "sweeps": int(draws.shape[1]),
        "digits": 0 if key == "n_coteries" or np.ptp(draws) >= 20 else 1,
    }


def thin(chain: NDArray[np.float64]) -> NDArray[np.float64]:
    """Give the lowest and the highest of each of equal parts of a long chain, in their order.

    Examples
    --------
    >>> chain = np.zeros(10_000)
    >>> chain[[17, 8_888]] = -1, 1
    >>> shown = thin(chain)
    >>> len(shown), float(shown.min()), float(shown.max())
    (250, -1.0, 1.0)
    """
    if len(chain) <= POINTS:
        return chain
    parts = np.array_split(chain, POINTS // 2)
    ends = [sorted((int(part.argmin()), int(part.argmax()))) for part in parts]
    return np.concatenate([part[places] for part, places in zip(parts, ends, strict=True)])


def chain_numbers(posterior: Posterior, n: int) -> list[int]:
    """Give the numbers that the run gave to the chains that were kept."""
    gone = {int(k) for k in posterior.run.get("left_out") or ()}
    everyone = range(1, n + len(gone) + 1)
    return [k for k in everyone if k not in gone][:n]


def left_out(posterior: Posterior) -> list[Facts]:
    """Say of each chain that was left out why, where the run knows it."""
    gone = posterior.run.get("left_out") or {}
    why = gone if isinstance(gone, dict) else dict.fromkeys(map(str, gone), "left out")
    return [{"chain": int(k), "why": str(word)} for k, word in why.items()]


def gone_of(posterior: Posterior) -> tuple[list[Facts], int]:
    """Give the chains that were left out, and how many there were."""
    gone = left_out(posterior)
    trace = posterior.require_draws("chains").trace
    return gone, len(next(iter(trace.values()), ())) + len(gone)


def trust_point(posterior: Posterior) -> Facts:
    """Say what a result without chains is worth."""
    labels = posterior.verdicts.labels
    said = [labels.sentence, _limits(posterior) if labels.settled else ""]
    iterations = posterior.run.get("iterations")
    if "starts" in posterior.run and iterations is not None:
        rested = "came to rest" if posterior.run.get("rested", True) else "still moved"
        said.insert(0, f"The iteration {rested} after {count(int(iterations), 'iteration')}.")
    sentence = " ".join(one for one in said if one)
    return {"state": "ok" if labels.settled else "bad", "sentence": sentence}


def _limits(posterior: Posterior) -> str:
    """Say what numbers without chains leave out."""
    if posterior.method == "count":
        return (
            "Nothing says how uncertain the shares are: it gives point estimates, without "
            "intervals."
        )
    if posterior.method == "variational":
        return (
            "Its intervals are those of a variational approximation, which are too narrow, and its "
            "probabilities are rather too sure."
        )
    if posterior.abilities.uncertainty:
        return "Its intervals are approximate, and rather too narrow than too wide."
    return "It gives point estimates, without intervals: few labels look as sure as many."


def _trust_labels(posterior: Posterior, gone: list[Facts], n: int, numbers: str) -> Facts:
    """Say what may be trusted by the verdicts, with the numbers of the traces."""
    verdicts = posterior.verdicts
    grouped = verdicts.coteries.sentence if verdicts.coteries is not None else ""
    decide = "" if n == len(gone) + 1 else ", which decide nothing here"
    traces = f"The traces{decide}: {numbers}"
    said = [verdicts.labels.sentence, without_chains(gone, n), grouped, traces]
    return {
        "state": "ok" if verdicts.labels.settled else "bad",
        "sentence": " ".join(sentence for sentence in said[:2] if sentence),
        "sentences": [sentence for sentence in said if sentence],
    }


def without_chains(gone: list[Facts], n: int) -> str:
    """Say which chains were left out, of how many, and why; nothing if none was."""
    if not gone:
        return ""
    which = listed([f"chain {row['chain']} ({row['why']})" for row in gone])
    are = be(len(gone))
    return f"{len(gone)} of {count(n, 'chain')} ended in another mode and {are} left out: {which}."


def trust_chains(posterior: Posterior, quantities: list[Facts]) -> Facts:
    """Say whether a sampler's result can be trusted, with the numbers that decide it."""
    run = posterior.run
    gone, n = gone_of(posterior)
    worst = max((r for row in quantities if (r := row["r_hat"]) is not None), default=None)
    least = min((e for row in quantities if (e := row["ess_bulk"]) is not None), default=None)
    few = least is None or least < LEAST_ESS
    whose = "the slowest quantity has" if few else "every quantity has at least"
    close = worst is not None and worst > LARGEST_R_HAT >= round(worst, 3)
    numbers = (
        f"the largest R-hat is {decimal(worst, 5 if close else 3)} ({LARGEST_R_HAT} or less is "
        f"fine), and {whose} {decimal(least, 0)} effective draws ({LEAST_ESS} are enough)."
    )
    have = "the chain has" if n == 1 else f"the {n} chains have"
    stopped = run.get("stopped") == "interrupted"
    early = " The run was interrupted: this is what the draws so far say." if stopped else ""
    if "verdicts" in run:  # not in older runs
        return _trust_labels(posterior, gone, n, f"{numbers}{early}")
    if not posterior.chains_agree:
        sentence = (
            f"Do not trust this result yet: {have} not converged. In numbers: {numbers} "
            f"Run more sweeps, and look at where the chains differ.{early}"
        )
        return {"state": "bad", "sentence": sentence}
    if gone:
        sentence = (
            f"Use with care: {without_chains(gone, n)} The others agree: {numbers} "
            f"More chains, or some known labels, would show which mode holds.{early}"
        )
        return {"state": "bad", "sentence": sentence}
    if n == 1:
        sentence = f"One chain, whose halves agree; run several to be sure: {numbers}{early}"
        return {"state": "ok", "sentence": sentence}
    sentence = (
        f"The computation has settled: {n} chains that started far apart agree; {numbers}{early}"
    )
    return {"state": "ok", "sentence": sentence}
