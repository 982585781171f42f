"""Split a coterie in two or merge two, in one Metropolis-Hastings step, with their beta and eta.

Which of the two is tossed up, and annotators i and j are chosen (pairs.py):

- *split*, if they share a coterie: i stays, j opens a new one, and each of the others goes to side
  k with probability proportional to

      size[k] p(what l said | beta[k], eta[k])

  of a *launch*: two sides that begin with i and j alone, are fitted, and then, some rounds long,
  get everybody by the same probabilities and are fitted again. Then beta and eta of both are drawn
  (density.py), by the fits of who is there now;
- *merge*, if they do not: the two become one, and its beta and eta are drawn. On the way back the
  others would have gone where they are with a probability that comes from a launch too.

A launch knows i, j and who the others are, not where they are: it is as probable either way. So the
ratio of a split of m into a and b is

    alpha (size[a] - 1)! (size[b] - 1)! / (size[m] - 1)!  W(a) W(b) / W(m)  /  p(they go so)
    p(i and j are chosen to merge, from a and b)  /  p(i and j are chosen to split, from m),

where W is p(beta, eta) p(what the members said | beta, eta) over the density that beta and eta are
drawn from, proposed or present; that of a merge is its inverse.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from coterie.kernels.gibbs.cells import gather_cells
from coterie.kernels.gibbs.groups import close_group
from coterie.kernels.gibbs.regroup.density import draw, log_weight
from coterie.kernels.gibbs.regroup.fit import begin, climb, fit
from coterie.kernels.gibbs.regroup.heaps import add_heaps, add_member, clear_heap, log_long
from coterie.kernels.gibbs.regroup.pairs import choose_pair, log_choice_back
from coterie.kernels.gibbs.regroup.room import BOTH, LEAVES, STAYS, Room
from coterie.kernels.gibbs.regroup.state import Crowd, Means
from coterie.kernels.gibbs.split_merge import SPLITS, gather_others, log_share
from coterie.numeric.jit import int64, part, piece

ROUNDS = 4
"""In which a launch seats everybody."""
LAUNCH_STEPS = 2
"""Steps towards a fit in each: a launch need not be where it would end."""


@part
def add_to_side(l: int, k: int, crowd: Crowd, room: Room) -> None:
    """Put annotator l on heap k."""
    gather_cells(l, crowd.said, room.cells)
    add_member(k, int64(crowd.said.shape[2]), int64(crowd.said.shape[1]), room)


@part
def begin_sides(crowd: Crowd, room: Room) -> None:
    """Begin: i and j, each on their side."""
    for k in range(2):
        clear_heap(k, room.heaps)
        add_to_side(int64(room.pair[k]), k, crowd, room)


@part
def know_side(k: int, room: Room) -> None:
    """Tabulate log rising factorials of the shapes of side k, by its fit."""
    fits, rising = room.fits, room.rising
    n_answers, n_classes = fits.tables.shape
    for cell in range(rising.shape[1]):
        c, t = cell // n_classes, cell % n_classes
        log_x = fits.log_strength[k, t % fits.log_strength.shape[1]]
        log_x += fits.log_mean[k, c, t] if c < n_answers else 0.0
        x = math.exp(log_x)
        rising[k, cell, 0], rising[k, cell, 1] = 0.0, log_x
        for n in range(1, rising.shape[2] - 1):
            rising[k, cell, n + 1] = rising[k, cell, n] + math.log(x + n)


@piece
def log_risen(k: int, cell: int, n: int, room: Room) -> float:
    """Give log (x)_(n) of a cell of side k."""
    longest = room.rising.shape[2] - 1
    if n <= longest:
        return float(room.rising[k, cell, n])
    log_x = room.rising[k, cell, 1]
    return float(room.rising[k, cell, longest] + log_long(n, math.exp(log_x), log_x, room.heaps))


@part
def weigh_side(k: int, room: Room) -> float:
    """Give the log weight of side k for the annotator whose cells are gathered."""
    cells, (n_answers, n_classes) = room.cells, room.fits.tables.shape
    result = math.log(room.heaps.size[k])
    for place in range(cells.lengths[0]):
        t, n = int64(cells.row[place, 0]), int64(cells.row[place, 1])
        result -= log_risen(k, n_answers * n_classes + t, n, room)
    for place in range(cells.lengths[1]):
        t, c, n = cells.cell[place, 0], cells.cell[place, 1], cells.cell[place, 2]
        result += log_risen(k, int64(c) * n_classes + t, int64(n), room)
    return float(result)


@part
def fit_sides(means: Means, room: Room) -> None:
    """Go towards the fits of both sides, and tabulate what everybody is weighed by."""
    for k in range(2):
        climb(k, LAUNCH_STEPS, means, room)
        know_side(k, room)


@piece
def odds_to_stay(room: Room) -> float:
    """Give the log odds of the sides for the annotator whose cells are gathered."""
    return weigh_side(STAYS, room) - weigh_side(LEAVES, room)


@part
def launch(crowd: Crowd, means: Means, room: Room, rng: np.random.Generator) -> None:
    """Fit two sides that begin with i and j, of all the others; what is noted of them stays."""
    begin_sides(crowd, room)
    for k in range(2):
        begin(k, means, room)
    fit_sides(means, room)
    for _ in range(ROUNDS):
        # Sizes and shapes are those of the round before until all are seated.
        for place in range(room.n_others[0]):
            l = int64(room.others[place])
            gather_cells(l, crowd.said, room.cells)
            stays = rng.random() < math.exp(log_share(odds_to_stay(room)))
            room.launched[place] = STAYS if stays else LEAVES
        begin_sides(crowd, room)
        for place in range(room.n_others[0]):
            add_to_side(int64(room.others[place]), int64(room.launched[place]), crowd, room)
        fit_sides(means, room)


@part
def allocate(picks: bool, crowd: Crowd, room: Room, rng: np.random.Generator) -> float:
    """Let the others go by what was launched; give the log probability that they go so.

    They go to the side that is noted, or one is picked and noted.
    """
    result = 0.0
    for place in range(room.n_others[0]):
        l = int64(room.others[place])
        gather_cells(l, crowd.said, room.cells)
        odds = odds_to_stay(room)
        if picks:
            room.side[l] = STAYS if rng.random() < math.exp(log_share(odds)) else LEAVES
        result += log_share(odds if room.side[l] == STAYS else -odds)
    return result


@part
def heap_sides(means: Means, crowd: Crowd, room: Room) -> None:
    """Make heaps of the sides as they are noted, and of both, and fit them."""
    begin_sides(crowd, room)
    for place in range(room.n_others[0]):
        l = int64(room.others[place])
        add_to_side(l, int64(room.side[l]), crowd, room)
    add_heaps(STAYS, LEAVES, BOTH, room.heaps)
    for k in range(3):
        fit(k, means, room)


@part
def note_present(k: int, m: int, crowd: Crowd, room: Room) -> None:
    """Note the present beta and eta of side k, which is coterie m."""
    drawn = room.drawn
    for g in range(drawn.log_strength.shape[1]):
        drawn.log_strength[k, g] = crowd.log_strength[m, g]
    for c in range(drawn.log_mean.shape[1]):
        for t in range(drawn.log_mean.shape[2]):
            drawn.log_mean[k, c, t] = crowd.log_mean[m, c, t]


@part
def draw_sides(splits: bool, crowd: Crowd, room: Room, rng: np.random.Generator) -> None:
    """Draw beta and eta of what is new, and note those that are there."""
    drawn = room.drawn
    for k in range(3):
        if (k == BOTH) == splits:
            note_present(k, int64(crowd.group[room.pair[k % 2]]), crowd, room)
        else:
            draw(k, k, drawn.log_strength, drawn.log_mean, room.fits, rng)


@part
def log_split(log_concentration: float, means: Means, room: Room) -> float:
    """Give the log of how much more probable the sides are as two coteries than as one.

    Divided by the densities that their parameters are drawn from.
    """
    result, drawn = log_concentration, room.drawn
    for k in range(3):
        log_p = math.lgamma(room.heaps.size[k])
        log_p += log_weight(k, k, drawn.log_strength, drawn.log_mean, means, room)
        result += log_p if k < BOTH else -log_p
    return result


@part
def propose_split(
    crowd: Crowd, log_concentration: float, means: Means, room: Room, rng: np.random.Generator
) -> float:
    """Choose where everybody would go, and parameters; give the log of the ratio."""
    log_choice = choose_pair(True, crowd, room, rng)
    if log_choice == -math.inf:
        return -math.inf
    seats: Any = crowd  # to a piece of cBCC's move
    listed: Any = room
    gather_others(seats, listed)
    launch(crowd, means, room, rng)
    log_so = allocate(True, crowd, room, rng)
    heap_sides(means, crowd, room)
    draw_sides(True, crowd, room, rng)
    log_ratio = log_split(log_concentration, means, room) - log_so
    return log_ratio + log_choice_back(True, crowd, room) - log_choice


@part
def propose_merge(
    crowd: Crowd, log_concentration: float, means: Means, room: Room, least: float,
    rng: np.random.Generator,
) -> float:  # fmt: skip
    """Choose two coteries, and parameters of both together; give the log of the ratio.

    If it is less than ``least``, so is what is given.
    """
    log_choice = choose_pair(False, crowd, room, rng)
    if log_choice == -math.inf:
        return -math.inf
    seats: Any = crowd  # to a piece of cBCC's move
    listed: Any = room
    gather_others(seats, listed)
    heap_sides(means, crowd, room)
    draw_sides(False, crowd, room, rng)
    log_most = log_choice_back(False, crowd, room) - log_choice
    log_most -= log_split(log_concentration, means, room)
    if not log_most >= least:  # p(they go so) makes it less still
        return log_most
    launch(crowd, means, room, rng)
    return log_most + allocate(False, crowd, room, rng)


@part
def write_parameters(k: int, m: int, crowd: Crowd, room: Room) -> None:
    """Make beta and eta of side k those of coterie m."""
    drawn = room.drawn
    for t in range(drawn.log_mean.shape[2]):
        log_beta = drawn.log_strength[k, t % drawn.log_strength.shape[1]]
        crowd.log_strength[m, t] = log_beta
        crowd.strength[m, t] = math.exp(log_beta)
        for c in range(drawn.log_mean.shape[1]):
            crowd.log_mean[m, c, t] = drawn.log_mean[k, c, t]
            crowd.weight[m, c, t] = math.exp(log_beta + drawn.log_mean[k, c, t])


@part
def seat_sides(crowd: Crowd, room: Room) -> None:
    """Make the sides coteries if they are one, or one if they are two."""
    i, j = room.pair[STAYS], room.pair[LEAVES]
    a, b = int64(crowd.group[i]), int64(crowd.group[j])
    splits = a == b
    if splits:
        b = int64(crowd.slot[crowd.n_coteries[0]])
        crowd.n_coteries[0] += 1
        write_parameters(LEAVES, b, crowd, room)
    write_parameters(STAYS if splits else BOTH, a, crowd, room)
    crowd.group[j] = b if splits else a
    for place in range(room.n_others[0]):
        l = room.others[place]
        crowd.group[l] = b if splits and room.side[l] == LEAVES else a
    sizes = room.heaps.size
    crowd.size[a] = sizes[STAYS if splits else BOTH]
    crowd.size[b] = sizes[LEAVES] if splits else 0
    if not splits:
        close_group(b, crowd.slot, crowd.n_coteries)


@part
def regroup(
    state: Any, log_concentration: float, means: Means, room: Room, rng: np.random.Generator
) -> bool:
    """Propose to split or merge, and do so if it is accepted; say whether it was.

    ``state`` is any that has the arrays of a :class:`Crowd`.
    """
    crowd = Crowd(
        said=state.said,
        group=state.group,
        size=state.size,
        slot=state.slot,
        n_coteries=state.n_coteries,
        weight=state.weight,
        strength=state.strength,
        log_mean=state.log_mean,
        log_strength=state.log_strength,
    )
    if len(room.people) < 2:
        return False
    least = math.log1p(-rng.random())  # of 1 - u: a uniform number may be zero, never one
    if rng.random() < SPLITS:
        log_ratio = propose_split(crowd, log_concentration, means, room, rng)
    else:
        log_ratio = propose_merge(crowd, log_concentration, means, room, least, rng)
    accepted = least < log_ratio  # what is no number is not accepted, either way
    if accepted:
        seat_sides(crowd, room)
    return accepted
