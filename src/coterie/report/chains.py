"""What the page says of the chains: traces, R-hat, effective draws, and whether to trust them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from coterie.abilities import SAMPLED
from coterie.diagnostics import Quantity, quantities_of
from coterie.numeric import FloatArray
from coterie.posterior import Posterior
from coterie.posterior.verdicts import Verdict, reading_names
from coterie.report.people import records
from coterie.words.names import name

POINTS = 250
"""Points of a chain that a trace shows."""
MOST_QUANTITIES = 14
TRACES = {"n_coteries": "Number of coteries", "log_joint": "Log joint"}
WIDTH, HEIGHT = 600, 130
"""Of a chart, in its own units."""

Facts = dict[str, Any]


@dataclass(frozen=True)
class Convergence:
    """What the chains, or without any the iteration, say of the result."""

    method: str
    sampled: bool
    interrupted: bool
    labels: Verdict
    rested: bool
    iterations: int | None  # of a model with several starts and no chains
    coteries: Verdict | None = None
    n_chains: int = 0
    gone: Sequence[str] = ()  # chains that were left out, and why
    r_hat: float | None = None  # the largest, and the fewest effective draws, of what is watched
    ess: float | None = None
    traces: Sequence[Facts] = ()
    quantities: Sequence[Facts] = ()
    left_out: int = 0  # quantities
    readings: Facts | None = None


def convergence_facts(posterior: Posterior) -> Convergence:
    """Describe the chains; a model without any has only a verdict."""
    run, verdicts = posterior.run, posterior.verdicts
    without_chains = Convergence(
        method=posterior.method,
        sampled=posterior.method in SAMPLED,
        interrupted=run.get("stopped") == "interrupted",
        labels=verdicts.labels,
        rested=bool(run.get("rested", True)),
        iterations=run.get("iterations") if "starts" in run else None,
    )
    if not without_chains.sampled:
        return without_chains
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
    watched, gone = [row for row in quantities if row["watched"]], run.get("left_out") or {}
    n_kept = len(next(iter(draws.trace.values()), ()))
    kept = [k for k in range(1, n_kept + len(gone) + 1) if str(k) not in gone]
    return replace(
        without_chains,
        coteries=verdicts.coteries,
        n_chains=n_kept + len(gone),
        gone=[f"chain {k} ({why})" for k, why in gone.items()],
        r_hat=max((r for row in watched if (r := row["r_hat"]) is not None), default=None),
        ess=min((n for row in watched if (n := row["ess_bulk"]) is not None), default=None),
        traces=[
            _trace(TRACES[key], draws.trace[key], kept) for key in TRACES if key in draws.trace
        ],
        quantities=[row for row in quantities if row in worst_first],
        left_out=max(len(quantities) - MOST_QUANTITIES, 0),
        readings=reading_facts(posterior),
    )


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


def _trace(title: str, draws: FloatArray, kept: list[int]) -> Facts:
    """Thin a trace to what a picture can show, one line per chain."""
    low, high = float(draws.min()), float(draws.max())
    return {
        "name": title,
        "chains": list(zip(kept, draws.mean(axis=1).tolist(), strict=False)),
        "lines": [line(thin(chain).tolist(), low, high) for chain in draws],
        "low": low,
        "high": high,
        "sweeps": int(draws.shape[1]),
        "digits": 0 if title == TRACES["n_coteries"] or high - low >= 20 else 1,
    }


def thin(chain: FloatArray) -> FloatArray:
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


def line(values: Sequence[float], low: float, high: float) -> str:
    """Place a line in a chart: the points of an SVG polyline.

    Examples
    --------
    >>> line([1, 2, 3], 1, 3)
    '0,127 300,65 600,3'
    """
    across = WIDTH / max(len(values) - 1, 1)
    height = HEIGHT - 6
    up = [(value - low) / (high - low) if high > low else 0.5 for value in values]
    return " ".join(f"{k * across:.4g},{HEIGHT - 3 - y * height:.4g}" for k, y in enumerate(up))
