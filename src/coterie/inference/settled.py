"""Whether a run may be trusted to be where it would be after more sweeps, and what to say if not.

What counts is that chains give the items the same labels: numbers of coteries, and with them R-hat,
move long after that. Where there is one chain only, its traces have to do.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from numpy.typing import NDArray

from coterie.diagnostics import LARGEST_R_HAT, LEAST_ESS, diagnose
from coterie.errors import ConvergenceWarning
from coterie.posterior import Draws
from coterie.posterior.verdicts import say_labels


class Outcome(NamedTuple):
    """What the chains that are pooled came to."""

    draws: Draws
    sweeps: int
    n_left_out: int  # chains that are not pooled
    noted: Mapping[str, Any]  # of the labels: see coterie.inference.verdicts.note_labels
    items: NDArray[Any]  # (items,)   what they are called
    traces_settled: bool = False  # the run stopped because of it; else nobody has looked


class Settled(NamedTuple):
    """A verdict, and the warning if there is reason for one."""

    converged: bool
    warning: ConvergenceWarning | None


def settled_labels(outcome: Outcome) -> Settled:
    """Ask that all chains that are kept give one label on nearly all items."""
    noted = outcome.noted
    if noted["chains"] == 1:
        return settled_traces(outcome)
    if noted["settled"]:
        return Settled(True, None)
    sentence = say_labels(noted, outcome.items)
    warning = ConvergenceWarning(sentence.rstrip("."), {"one_label": float(noted["one_label"])})
    return Settled(False, warning)


def settled_traces(outcome: Outcome) -> Settled:
    """Ask for R-hat and effective draws of all that is watched, and that no chain was left out."""
    looked = outcome.traces_settled and outcome.n_left_out == 0  # at the traces of all chains
    if looked or outcome.draws.settled():
        return Settled(outcome.n_left_out == 0, None)
    return Settled(False, _not_converged(outcome.draws, outcome.sweeps))


def _not_converged(draws: Draws, done: int) -> ConvergenceWarning:
    trace = {name: values for name, values in draws.trace.items() if name in draws.watched}
    # NaN: the R-hat of what is constant, and the effective draws of next to none.
    table = diagnose(trace, ["r_hat", "ess_bulk"]).fillna({"r_hat": 1.0, "ess_bulk": 0.0})
    worst = table.iloc[int(table["r_hat"].argmax())]
    least = table.iloc[int(table["ess_bulk"].argmin())]
    numbers = {"r_hat": float(worst["r_hat"]), "ess_bulk": float(least["ess_bulk"])}
    return ConvergenceWarning(
        f"the chains have not converged after {done:,} sweeps: R-hat {worst['r_hat']:.3f}"
        f" ({worst['quantity']}; {LARGEST_R_HAT:g} is fine), effective draws"
        f" {least['ess_bulk']:,.0f} ({least['quantity']}; {LEAST_ESS} are enough);"
        " raise sweeps, and look at where chains differ",
        numbers,
    )
