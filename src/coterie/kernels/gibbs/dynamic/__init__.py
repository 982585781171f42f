"""DynamicIBCC: matrices that change with time."""

from coterie.kernels.gibbs.dynamic.model import (
    Prior,
    State,
    initial_state,
    new_scratch,
    pack_prior,
    run_block,
)

__all__ = ["Prior", "State", "initial_state", "new_scratch", "pack_prior", "run_block"]
