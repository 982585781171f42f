"""How long chains run, what is kept of them, and when they are looked at."""

from __future__ import annotations

from typing import NamedTuple

from coterie.data.codes import Codes

DRAWS = 1000
"""Draws that a chain keeps unless the user says otherwise."""
CHECK = 500
"""Sweeps after burn-in between two looks at convergence."""
PARTITION_BYTES = 256 * 2**20
"""Room for the partitions that one chain keeps; larger crowds keep fewer draws."""
MATRIX_BYTES = 64 * 2**20
"""Room for the matrices that one chain keeps; larger crowds keep those of fewer draws."""


class Plan(NamedTuple):
    """How long a chain runs and what is kept of it."""

    sweeps: int  # in all
    burn_in: int  # of which dropped
    thin: int  # sweeps between draws that are kept
    matrix_thin: int  # draws between those whose matrices are kept
    check: int  # sweeps between two looks at convergence, a multiple of thin

    @property
    def draws(self) -> int:
        """Number of draws that a whole run keeps."""
        return (self.sweeps - self.burn_in) // self.thin

    @property
    def end(self) -> int:
        """Sweeps of a whole run; what is left over after the last draw is not run."""
        return self.burn_in + self.draws * self.thin

    def next_look(self, done: int) -> int:
        """Give the first sweep number, not before ``done``, at which all chains are looked at.

        Examples
        --------
        >>> plan = make_plan(10_000, 3_000, None, labelled=10, matrix_cells=40)
        >>> plan.next_look(0), plan.next_look(3_001), plan.next_look(3_497), plan.next_look(9_999)
        (3000, 3497, 3497, 10000)
        """
        if done <= self.burn_in:
            return self.burn_in
        looks = -(-(done - self.burn_in) // self.check)
        return min(self.burn_in + looks * self.check, self.end)


def make_plan(
    sweeps: int, burn_in: int, thin: int | None, *, labelled: int, matrix_cells: int
) -> Plan:
    """Plan chains for a crowd.

    Parameters
    ----------
    sweeps, burn_in
        Sweeps in all, and how many of them are dropped.
    thin
        Sweeps between draws; None keeps about ``DRAWS``, fewer where they would not fit.
    labelled
        Annotators, L.
    matrix_cells
        Numbers in one draw of everybody's matrices, L T C.
    """
    kept = sweeps - burn_in
    if thin is None:
        draws = min(DRAWS, max(1, PARTITION_BYTES // (4 * max(labelled, 1))))
        thin = max(1, kept // draws)
    matrices = max(1, MATRIX_BYTES // (4 * max(matrix_cells, 1)))
    matrix_thin = -(-(kept // thin) // matrices)
    return Plan(sweeps, burn_in, thin, matrix_thin, thin * max(1, CHECK // thin))


def plan_for(
    data: Codes, sweeps: int, burn_in: int, thin: int | None, *, more_cells: int = 0
) -> Plan:
    """Plan chains for these data; ``more_cells`` are kept with the matrices of a draw."""
    n_annotators = len(data.annotator_start) - 1
    cells = n_annotators * data.n_classes * data.n_answers + 2 * more_cells  # twice as wide
    return make_plan(sweeps, burn_in, thin, labelled=n_annotators, matrix_cells=cells)
