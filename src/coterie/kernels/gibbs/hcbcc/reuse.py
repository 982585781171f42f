"""The groups of hcBCC: annotators move by the Reuse algorithm (Favaro and Teh).

Beside the groups stand h auxiliary ones without annotators, with parameters from the prior. The
weight of a place is its size (alpha / h for an auxiliary) times the probability of the annotator's
labels there, the matrix integrated out:

    product over t of  product over c of (beta eta[c])_(n[c])  /  (beta)_(n),

where (x)_(n) is the rising factorial. Short ones are tabulated, divided by n! to keep them of a
moderate size; what is long, tiny or huge goes through logarithms.
"""

from __future__ import annotations

import math

import numpy as np

from coterie.kernels.gibbs.cells import gather_cells
from coterie.kernels.gibbs.groups import close_group, swap
from coterie.kernels.gibbs.hcbcc.parameters import clear_sums, draw_parameters
from coterie.kernels.gibbs.hcbcc.state import Prior, Room, Spare, State
from coterie.kernels.shapes import Shapes
from coterie.numeric.choice import normalise, pick, scale_to_one
from coterie.numeric.jit import int64, part, piece
from coterie.numeric.rising import log_rising_known

# Products that leave these bounds on the way are left to logarithms.
TINY_PRODUCT = 1e-150
LARGE_PRODUCT = 1e150


@piece
def take_out_annotator(l: int, state: State, prior: Spare, u: float) -> None:
    """Take annotator l out of their group.

    A group that is left empty takes, with its parameters, the place of an auxiliary one chosen
    uniformly by ``u``: so a lone annotator can return to the parameters they had.
    """
    m = state.group[l]
    state.group[l] = -1
    state.size[m] -= 1
    if state.size[m] > 0:
        return
    close_group(m, state.slot, state.n_coteries)
    # Now m stands first behind the groups and h auxiliaries follow: one of them goes to the end.
    first = state.n_coteries[0] + 1
    swap(state.slot, first + int(u * prior.auxiliaries), first + prior.auxiliaries - 1)


@piece
def put_back_annotator(l: int, chosen: int, state: State, prior: Spare) -> int:
    """Seat annotator l at the ``chosen`` place in ``slot``.

    An auxiliary that is chosen becomes a group; the slot that takes its place, and needs
    parameters from the prior, is returned (-1: none does).
    """
    m = state.slot[chosen]
    state.group[l] = m
    state.size[m] += 1
    if chosen < state.n_coteries[0]:
        return -1
    swap(state.slot, chosen, state.n_coteries[0])
    state.n_coteries[0] += 1
    return int(state.slot[state.n_coteries[0] + prior.auxiliaries - 1])


@piece
def know_group(m: int, state: State, room: Room) -> None:
    """Tabulate for slot m, whose shapes stay as they are while annotators move."""
    for t in range(state.strength.shape[1]):
        # Gamma(x) = Gamma(x + 1) / x: x may be too small for lgamma, its log is not.
        x, log_x = state.strength[m, t], state.log_strength[m, t]
        room.log_gamma_row[m, t] = math.lgamma(x + 1) - log_x
        product = 1.0
        for n in range(room.rising.shape[3]):
            room.rising_row[m, t, n] = product
            product *= (x + n) / (n + 1)
        for c in range(state.weight.shape[1]):
            x = state.weight[m, c, t]
            room.log_gamma[m, c, t] = math.lgamma(x + 1) - log_x - state.log_mean[m, c, t]
            product = 1.0
            for n in range(room.rising.shape[3]):
                room.rising[m, c, t, n] = product
                product *= (x + n) / (n + 1)


@piece
def weigh_labels(m: int, state: State, room: Room) -> tuple[float, float]:
    """Weigh the annotator's labels in slot m: a product, and the log of another factor.

    Tabulated factors are divided by n!, which is the same in every slot.
    """
    cells, length = room.cells, room.rising.shape[3]
    above, below, least, logs = 1.0, 1.0, 1.0, 0.0
    for k in range(cells.lengths[0]):
        t, n = cells.row[k, 0], cells.row[k, 1]
        if n < length:
            below *= room.rising_row[m, t, n]
            least = below if below < least else least
        else:
            logs -= log_row(m, t, n, state, room)
    for k in range(cells.lengths[1]):
        t, c, n = cells.cell[k, 0], cells.cell[k, 1], cells.cell[k, 2]
        if n < length:
            above *= room.rising[m, c, t, n]
            least = above if above < least else least
        else:
            logs += log_cell(m, c, t, n, state, room)
    if least > TINY_PRODUCT and above < LARGE_PRODUCT and below < LARGE_PRODUCT:
        return above / below, logs
    return 1.0, weigh_in_logs(m, state, room)


@piece
def log_row(m: int, t: int, n: int, state: State, room: Room) -> float:
    """Give log (beta[m, t])_(n)."""
    x, log_x = state.strength[m, t], state.log_strength[m, t]
    return log_rising_known(x, int64(n), log_x, room.log_gamma_row[m, t])


@piece
def log_cell(m: int, c: int, t: int, n: int, state: State, room: Room) -> float:
    """Give log (beta eta[m, t, c])_(n)."""
    log_x = state.log_strength[m, t] + state.log_mean[m, c, t]
    return log_rising_known(state.weight[m, c, t], int64(n), log_x, room.log_gamma[m, c, t])


@part
def weigh_in_logs(m: int, state: State, room: Room) -> float:
    """Give the log of all factors of :func:`weigh_labels`, whatever their size."""
    cells, length, result = room.cells, room.rising.shape[3], 0.0
    for k in range(cells.lengths[0]):
        t, n = cells.row[k, 0], cells.row[k, 1]
        result -= log_row(m, t, n, state, room)
        if n < length:
            result += room.log_factorial[n]
    for k in range(cells.lengths[1]):
        t, c, n = cells.cell[k, 0], cells.cell[k, 1], cells.cell[k, 2]
        result += log_cell(m, c, t, n, state, room)
        if n < length:
            result -= room.log_factorial[n]
    return result


@piece
def log_constant(room: Room) -> float:
    """Give the log of what :func:`weigh_labels` leaves out, the same in every slot."""
    cells, length, result = room.cells, room.rising.shape[3], 0.0
    for k in range(cells.lengths[0]):
        if cells.row[k, 1] < length:
            result -= room.log_factorial[cells.row[k, 1]]
    for k in range(cells.lengths[1]):
        if cells.cell[k, 2] < length:
            result += room.log_factorial[cells.cell[k, 2]]
    return result


@piece
def weigh_groups(l: int, state: State, prior: Spare, room: Room) -> tuple[int, bool]:
    """Weigh the groups, then the auxiliaries, for annotator l who is taken out.

    Returned are how many places there are, and whether ``room.weights`` are logs.
    """
    gather_cells(l, state.said, room.cells)
    n_coteries = state.n_coteries[0]
    n_places = n_coteries + prior.auxiliaries
    log_auxiliary = state.log_concentration[0] - math.log(prior.auxiliaries)
    auxiliary = math.exp(log_auxiliary)
    in_logs = auxiliary < TINY_PRODUCT
    for k in range(n_places):
        room.product[k], room.logs[k] = weigh_labels(state.slot[k], state, room)
        in_logs |= room.logs[k] != 0
    for k in range(n_places):
        if in_logs:
            log_seat = math.log(state.size[state.slot[k]]) if k < n_coteries else log_auxiliary
            room.weights[k] = log_seat + math.log(room.product[k]) + room.logs[k]
        else:
            seat = state.size[state.slot[k]] if k < n_coteries else auxiliary
            room.weights[k] = seat * room.product[k]
    return int(n_places), in_logs


@piece
def update_group(
    l: int, state: State, prior: Spare, room: Room, u: tuple[float, float]
) -> tuple[int, int]:
    """Give annotator l a new group; ``u`` are uniforms for the auxiliary and for the group.

    Returned are the slot to refill from the prior (-1: none), and how many probabilities there
    are in ``room.weights``, which the group was picked from.
    """
    take_out_annotator(l, state, prior, u[0])
    n_places, in_logs = weigh_groups(l, state, prior, room)
    weights = room.weights[:n_places]
    if in_logs:
        normalise(weights)
    else:
        scale_to_one(weights)
    chosen = pick(weights, u[1])
    room.log_likelihood[0] += math.log(room.product[chosen]) + room.logs[chosen]
    room.log_likelihood[0] += log_constant(room)
    refill = put_back_annotator(l, chosen, state, prior)
    return refill, n_places


@part
def sweep_groups(state: State, prior: Prior, room: Room, rng: np.random.Generator) -> None:
    """Update the group of every annotator who has labels.

    Left in ``room.log_likelihood`` is log p(Y | z, q, beta, eta), the confusion matrices integrated
    out: everybody's labels have just been weighed where they went.
    """
    shapes = Shapes(state.weight, state.strength, state.log_mean, state.log_strength)
    clear_sums(room.sums)
    for k in range(state.n_coteries[0] + prior.auxiliaries):
        know_group(int64(state.slot[k]), state, room)
    room.log_likelihood[0] = 0.0
    for l in range(len(state.group)):
        if state.group[l] >= 0:
            refill, _ = update_group(l, state, prior, room, (rng.random(), rng.random()))
            if refill >= 0:
                draw_parameters(refill, room.sums, prior.base, shapes, rng)
                know_group(refill, state, room)
