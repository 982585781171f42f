"""Consensus: hcBCC with hard items and a learnt base."""

from coterie.kernels.gibbs.consensus.model import (
    Prior,
    State,
    draw_class_balance,
    draw_confusion,
    initial_state,
    layout_of,
    mean_confusion,
    pack_prior,
    run_block,
)
from coterie.kernels.gibbs.consensus.votes import class_weights, mix_with_votes

__all__ = [
    "Prior",
    "State",
    "class_weights",
    "draw_class_balance",
    "draw_confusion",
    "initial_state",
    "layout_of",
    "mean_confusion",
    "mix_with_votes",
    "pack_prior",
    "run_block",
]
