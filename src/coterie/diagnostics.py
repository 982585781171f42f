"""Have the chains converged? R-hat, effective sample size and error of what a sampler watches.

All through arviz-stats, on plain arrays of shape (chains, draws). With one chain, R-hat compares
the halves of that chain: the agreement of chains from different starts is then not tested.
"""

from __future__ import annotations

import importlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from coterie.errors import DataError

FloatArray = NDArray[np.float64]

LARGEST_R_HAT = 1.01
LEAST_ESS = 400
"""The limits of Vehtari and others (2021); the effective sample size is that of the bulk."""

TAILS = (0.05, 0.95)
WATCHED = ("log_joint", "n_coteries", "concentration", "class_total")
"""Names of the traces that must have converged, whatever the model."""

LEAST_DRAWS = 4
"""Draws per chain below which there is no R-hat."""

GLANCE = 1_000
"""Draws per chain that the quick first look at long chains takes."""


@dataclass(frozen=True)
class Quantity:
    """What one number of a trace is: its name, and which one of several, if it is one of them."""

    name: str
    index: int | None = None

    def __str__(self) -> str:
        return self.name if self.index is None else f"{self.name}[{self.index}]"


def quantities_of(trace: Mapping[str, NDArray[Any]]) -> dict[Quantity, FloatArray]:
    """Give every single number of the traces, each of shape (chains, draws), in their order.

    Traces are arrays by name, of shape (chains, draws), or (chains, draws, k) for k numbers.
    """
    found: dict[Quantity, FloatArray] = {}
    for name, values in trace.items():
        draws = np.asarray(values, np.float64)
        if draws.ndim not in (2, 3) or draws.size == 0:
            raise DataError(
                f"{name} must have shape (chains, draws) or (chains, draws, k), not empty, "
                f"got {draws.shape}"
            )
        if draws.ndim == 2:
            found[Quantity(name)] = draws
        else:
            found |= {Quantity(name, k): draws[:, :, k] for k in range(draws.shape[2])}
    return found


NUMBERS = ("mean", "sd", "mcse", "ess_bulk", "ess_tail", "r_hat")
"""What there is to say about a quantity."""


def diagnose(trace: Mapping[str, NDArray[Any]], numbers: Sequence[str] = NUMBERS) -> pd.DataFrame:
    """Summarise traces: quantity, mean, sd, mcse, ess_bulk, ess_tail, r_hat.

    There is one row per :class:`Quantity`, in the order of :func:`quantities_of`; its name is
    text: "log_joint", "class_total[2]".

    R-hat is the rank-normalised one of Vehtari and others (2021). Of a quantity that never moves
    it is NaN if all chains agree, which counts as converged, and infinite if they do not. It is
    also NaN where there are too few draws (4 per chain, 8 if there is only one).

    ``numbers`` are the columns beside the quantity: effective sample sizes of long chains take
    their time.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> table = diagnose({"moves": rng.normal(size=(4, 500)), "stays": np.full((4, 500), 2.0)})
    >>> table[["quantity", "mean", "sd", "mcse", "r_hat"]].round(2)
      quantity  mean   sd  mcse  r_hat
    0    moves -0.03  1.0  0.02    1.0
    1    stays  2.00  0.0  0.00    NaN
    """
    rows = [
        (str(quantity), *(_number(name, draws) for name in numbers))
        for quantity, draws in quantities_of(trace).items()
    ]
    return pd.DataFrame(rows, columns=["quantity", *numbers])


def has_converged(
    trace: Mapping[str, NDArray[Any]],
    *,
    watched: Sequence[str] = WATCHED,
    r_hat: float = LARGEST_R_HAT,
    ess: float = LEAST_ESS,
) -> bool:
    """Say whether every watched quantity has R-hat and bulk effective sample size in the limits.

    Watched are the log joint, the number of coteries, the concentration and the class totals,
    unless a model watches more; other traces are passed over, and without any watched one nothing
    shows convergence. What is constant and equal in all chains has converged, constant and
    different has failed.

    The tail's effective sample size does not count: of counts such as the number of coteries it
    jumps with the few values that they take. Long chains are looked at thinned first, which shows
    most failures in a tenth of the time; only the whole chains can pass. Of two numbers with a
    constant sum, the totals of two classes, one says what the other does.

    Examples
    --------
    >>> noise = np.random.default_rng(0).normal(size=(4, 500))
    >>> has_converged({"log_joint": noise, "concentration": np.ones((4, 500))})
    True
    >>> has_converged({"log_joint": noise + [[0], [0], [0], [1]]})
    False
    """
    told = {name: values for name, values in trace.items() if name in watched}
    for name, values in told.items():
        if values.ndim == 3 and values.shape[2] == 2 and np.ptp(values.sum(axis=2)) == 0:
            told[name] = values[:, :, :1]  # the ranks of the second are those of the first
    whole = list(quantities_of(told).values())
    long = [draws for draws in whole if draws.shape[1] >= 2 * GLANCE]
    thinned = [draws[:, :: draws.shape[1] // GLANCE] for draws in long]
    return bool(whole) and all(_is_settled(draws, r_hat, ess) for draws in thinned + whole)


def _is_settled(draws: FloatArray, r_hat: float, ess: float) -> bool:
    if not np.isfinite(draws).all() or draws.shape[1] < LEAST_DRAWS:
        return False
    if _stays(draws):
        return _is_constant(draws)
    # Written so that NaN fails.
    return _r_hat(draws) <= r_hat and _ess(draws, "bulk") >= ess


def _stays(draws: FloatArray) -> bool:
    """Say whether no chain ever moves."""
    return bool((draws == draws[:, :1]).all())


def _is_constant(draws: FloatArray) -> bool:
    """Say whether no chain ever moves and all are equal."""
    return bool((draws == draws[0, 0]).all())


def load() -> Any:
    """Import what the diagnostics need, which takes about a second; its functions have no types."""
    return importlib.import_module("arviz_stats.base").array_stats


def _number(name: str, draws: FloatArray) -> float:
    """Give one of ``NUMBERS``."""
    if name == "r_hat":
        return _r_hat(draws)
    if name == "ess_bulk":
        return _ess(draws, "bulk")
    if name == "ess_tail":
        return _ess(draws, "tail", prob=TAILS)
    if _is_constant(draws):
        return float(draws[0, 0]) if name == "mean" else 0.0  # no rounding
    with np.errstate(all="ignore"):  # infinite values give NaN, as they should
        if name == "mcse":
            return float(load().mcse(draws))
        return float(draws.mean() if name == "mean" else draws.std(ddof=1))


def _ess(draws: FloatArray, method: str, **options: Any) -> float:
    with np.errstate(all="ignore"):
        return float(load().ess(draws, method=method, **options))


def _r_hat(draws: FloatArray) -> float:
    """Give R-hat: NaN for what is constant, infinite for what is constant only in each chain."""
    if draws.shape[1] < LEAST_DRAWS or _is_constant(draws):
        return np.nan
    if _stays(draws):
        return np.inf
    if len(draws) == 1:
        half = draws.shape[1] // 2
        draws = np.stack([draws[0, :half], draws[0, -half:]])
    with np.errstate(all="ignore"):
        return float(load().rhat(draws))
