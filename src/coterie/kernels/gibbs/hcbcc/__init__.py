"""hcBCC: the annotators of a coterie resemble one another."""

from coterie.kernels.gibbs.hcbcc.model import (
    Prior,
    State,
    carry,
    check_state,
    initial_state,
    new_scratch,
    pack_prior,
    run_block,
)

__all__ = [
    "Prior",
    "State",
    "carry",
    "check_state",
    "initial_state",
    "new_scratch",
    "pack_prior",
    "run_block",
]
