"""hcBCC: the annotators of a coterie resemble one another."""

from coterie.kernels.gibbs.hcbcc.model import (
    Prior,
    State,
    draw_class_balance,
    draw_confusion,
    initial_state,
    mean_confusion,
    pack_prior,
    run_block,
)

__all__ = [
    "Prior",
    "State",
    "draw_class_balance",
    "draw_confusion",
    "initial_state",
    "mean_confusion",
    "pack_prior",
    "run_block",
]
