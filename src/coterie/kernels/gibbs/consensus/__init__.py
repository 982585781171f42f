"""Consensus: hcBCC with hard items and a learnt base."""

from coterie.kernels.gibbs.consensus.check import check_state
from coterie.kernels.gibbs.consensus.ended import carry
from coterie.kernels.gibbs.consensus.model import (
    Prior,
    State,
    find_ending,
    initial_state,
    layout_of,
    new_scratch,
    pack_prior,
    run_block,
)
from coterie.kernels.gibbs.consensus.votes import class_weights, mix_members

__all__ = [
    "Prior",
    "State",
    "carry",
    "check_state",
    "class_weights",
    "find_ending",
    "initial_state",
    "layout_of",
    "mix_members",
    "new_scratch",
    "pack_prior",
    "run_block",
]
