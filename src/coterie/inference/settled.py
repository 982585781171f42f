"""Whether a run may be trusted to be where it would be after more sweeps, and what to say if not.

The paper's models are judged by what they watch along the way: R-hat and effective draws. Where
chains are short and many, what counts is that they give the items the same labels.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from coterie.diagnostics import diagnose
from coterie.errors import ConvergenceWarning
from coterie.posterior import Draws
from coterie.posterior.verdicts import ONE_LABEL


class Outcome(NamedTuple):
    """What the chains that are pooled came to."""

    draws: Draws
    sweeps: int
    n_left_out: int  # chains that are not pooled
    labels: NDArray[np.int64]  # (chains, items)   what each chain alone would say
    traces_settled: bool  # the run stopped because of it; else nobody has looked


class Settled(NamedTuple):
    """A verdict, and the warning if there is reason for one."""

    converged: bool
    warning: ConvergenceWarning | None


def settled_traces(outcome: Outcome) -> Settled:
    """Ask for R-hat and effective draws of all that is watched, and that no chain was left out."""
    looked = outcome.traces_settled and outcome.n_left_out == 0  # at the traces of all chains
    if looked or outcome.draws.settled():
        return Settled(outcome.n_left_out == 0, None)
    return Settled(False, _not_converged(outcome.draws, outcome.sweeps))


def settled_labels(outcome: Outcome) -> Settled:
    """Ask that all chains give one label on nearly all items."""
    labels = outcome.labels
    same = (labels == labels[:1]).all(axis=0)
    share = float(same.mean()) if same.size else 1.0
    if share >= ONE_LABEL:
        return Settled(True, None)
    return Settled(
        False,
        ConvergenceWarning(
            f"{len(labels)} chains give one label on {share:.0%} of the items, and differ on"
            f" {np.count_nonzero(~same):,}: two readings of these labels are about as good; add"
            " gold labels of such items to settle it, or run more chains",
            {"one_label": share},
        ),
    )


def _not_converged(draws: Draws, done: int) -> ConvergenceWarning:
    trace = {name: values for name, values in draws.trace.items() if name in draws.watched}
    # NaN: the R-hat of what is constant, and the effective draws of next to none.
    table = diagnose(trace, ["r_hat", "ess_bulk"]).fillna({"r_hat": 1.0, "ess_bulk": 0.0})
    worst = table.iloc[int(table["r_hat"].argmax())]
    least = table.iloc[int(table["ess_bulk"].argmin())]
    numbers = {"r_hat": float(worst["r_hat"]), "ess_bulk": float(least["ess_bulk"])}
    return ConvergenceWarning(
        f"the chains have not converged after {done:,} sweeps: R-hat {worst['r_hat']:.3f}"
        f" ({worst['quantity']}; 1.01 is fine), effective draws {least['ess_bulk']:,.0f}"
        f" ({least['quantity']}; 400 are enough); raise sweeps, and look at where chains differ",
        numbers,
    )
