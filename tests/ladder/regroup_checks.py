"""Splits and merges of coteries that have parameters: the checks, on the stages of regroup.py."""

import itertools

import numpy as np
from scipy import stats

from ladder.checks import SAME
from ladder.montecarlo import FALSE_ALARM
from ladder.regroup import (
    ALPHA,
    Numbers,
    Stage,
    choices,
    every_side,
    every_state,
    expected_shares,
    odds_of,
)

NEAR = 1e-9


def check_density(sampler, case):
    """Conditional = joint: prior and labels of a heap, whoever is on it."""
    stage = Stage(sampler, case)
    for groups, parameters in every_state(stage):
        crowd, means, room = stage.at(groups, parameters)
        for m, (beta, eta) in enumerate(parameters):
            stage.heaps.heap_coterie(m, 1, crowd, room)
            stage.write(0, (beta, eta), room)
            drawn = room.drawn
            got = stage.density.log_prior(0, *drawn, means, room.fits) - in_logs(0, drawn)
            got += stage.density.log_labels(1, 0, *drawn, room.heaps)
            people = [l for l, k in zip(stage.people, groups, strict=True) if k == m]
            want = stage.log_group(people, beta, eta)
            assert abs(got - want) < SAME, f"{got} for {want}"


def in_logs(k, drawn):
    """The log of how much larger a density of log beta and log eta is than one of beta and eta."""
    return drawn.log_strength[k].sum() + drawn.log_mean[k].sum()


def fitted(stage):
    """The fit of everybody together, with room."""
    crowd, means, room = with_long_counts(stage)
    stage.heaps.heap_coterie(0, 2, crowd, room)
    stage.fit.fit(2, means, room)
    room.fits.slope[2] += [[0.4, -0.3], [-0.6, 0.5]]  # it would hardly be seen
    return means, room


def row(t, log_beta, fits):
    """Of row t: the two precisions, and the rates of the scaled Dirichlet."""
    p = fits.mean_precision[2, :, t]
    away = log_beta - fits.log_strength[2, t % fits.log_strength.shape[1]]
    return p, p * np.exp(-fits.log_mean[2, :, t] - fits.slope[2, :, t] * away)


def check_drawn_density(sampler, case):
    """The density of what is drawn is that of Student's t and of scaled Beta numbers."""
    stage = Stage(sampler, case)
    _, room = fitted(stage)
    fits, drawn = room.fits, room.drawn
    for seed in range(5):
        stage.write(0, stage.some_parameters(seed), room)
        log_beta, eta = drawn.log_strength[0], np.exp(drawn.log_mean[0])
        scale = fits.strength_precision[2] ** -0.5
        want = (stats.t.logpdf(log_beta, 5, fits.log_strength[2], scale) - log_beta).sum()
        for t in range(2):
            p, r = row(t, log_beta[t % len(log_beta)], fits)
            total = (r * eta[:, t]).sum()
            want += stats.beta.logpdf(r[0] * eta[0, t] / total, *p) + np.log(r.prod() / total**2)
        got = stage.density.log_drawn(2, 0, *drawn, fits) - in_logs(0, drawn)
        assert abs(got - want) < SAME, f"{got} for {want}"


def check_tiny_shapes(sampler, case):
    """Where a shape is tiny, and log eta as large as a number can be, no other term is lost."""
    stage = Stage(sampler, case)
    means, room = fitted(stage)
    shape, p = 1e-18, 2e-18
    for weight in (means.known, means.guess):
        weight[0, 1] = shape
    room.fits.mean_precision[2, 0, 1] = p
    stage.write(0, stage.some_parameters(3), room)

    def rest(log_eta):
        """The log weight, but for what is in proportion to log eta."""
        room.drawn.log_mean[0, 0, 1] = log_eta
        log_w = stage.density.log_prior(0, *room.drawn, means, room.fits)
        log_w -= stage.density.log_drawn(2, 0, *room.drawn, room.fits)
        return log_w - (shape - p) * log_eta

    for log_eta in (-1e18, -3e18):
        assert abs(rest(log_eta) - rest(-200.0)) < NEAR


def check_draws(sampler, case):
    """What is drawn has that density: every number, through its distribution, is uniform."""
    stage = Stage(sampler, case)
    _, room = fitted(stage)
    fits, drawn, rng = room.fits, room.drawn, np.random.default_rng(5)
    found = []
    for _ in range(600):
        stage.density.draw(2, 0, *drawn, fits, rng)
        log_beta, eta = drawn.log_strength[0], np.exp(drawn.log_mean[0])
        assert abs(eta.sum(axis=0) - 1).max() < NEAR
        scale = fits.strength_precision[2] ** -0.5
        uniform = list(stats.t.cdf(log_beta, 5, fits.log_strength[2], scale))
        for t in range(2):
            p, r = row(t, log_beta[t % len(log_beta)], fits)
            uniform.append(stats.beta.cdf(r[0] * eta[0, t] / (r * eta[:, t]).sum(), *p))
        found.append(uniform)
    for numbers in np.transpose(found):
        assert stats.kstest(numbers, "uniform").pvalue > FALSE_ALARM


def check_pairs(sampler, case):
    """Every pair is chosen in one way, with the probability that is said, and by who is alike."""
    stage = Stage(sampler, case)
    for groups, parameters in every_state(stage):
        crowd, _, room = stage.at(groups, parameters)
        for splits in (True, False):
            found = []
            for p, numbers, pair in choices(stage, splits, crowd, room):
                rng = Numbers(numbers)
                log_p = stage.pairs.choose_pair(splits, crowd, room, rng)
                assert not rng.numbers
                assert tuple(room.pair) == pair
                assert abs(np.exp(log_p) - p) < SAME
                found.append(pair)
            together = dict(zip(stage.people, groups, strict=True))
            assert sorted(found) == [
                (i, j)
                for i, j in itertools.permutations(stage.people, 2)
                if (together[i] == together[j]) == splits
            ]
        for own in range(len(parameters) if len(parameters) > 1 else 0):
            stage.heaps.heap_coterie(own, 0, crowd, room)
            stage.pairs.weigh_partners(own, False, crowd, room)
            want = expected_shares(stage, own, groups, parameters, crowd)
            np.testing.assert_allclose(room.weights[: len(want)], want, atol=NEAR)


def launched(stage, groups, parameters, pair, seed):
    """Room after a launch from i and j, with the numbers of this seed."""
    crowd, means, room = stage.at(groups, parameters)
    room.pair[:] = pair
    stage.move.gather_others(crowd, room)
    stage.move.launch(crowd, means, room, np.random.default_rng(seed))
    return crowd, means, room


def check_launch(sampler, case):
    """A launch knows who the others are, not where they are; they go by what it fitted."""
    stage = Stage(sampler, case)
    pair = tuple(stage.people[:2])
    one = [stage.some_parameters(1)]
    two = [stage.some_parameters(2), stage.some_parameters(3)]
    for seed, sides in itertools.product(range(3), every_side(len(stage.people) - 2)):
        _, _, room = launched(stage, (0,) * len(stage.people), one, pair, seed)
        before = [array.copy() for array in (*room.fits, room.heaps.size)]
        crowd, _, room = launched(stage, (0, 1, *sides), two, pair, seed)
        fits = room.fits
        for old, new in zip(before, (*fits, room.heaps.size), strict=True):
            np.testing.assert_array_equal(old[:2], new[:2])
        noted = [int(room.side[l]) for l in stage.people[2:]]
        assert noted == list(sides)
        want = 0.0
        for l, side in zip(stage.people[2:], sides, strict=True):
            odds = odds_of(stage, l, room.heaps.size, fits)
            want += np.log((odds, 1)[side] / (1 + odds))
        got = stage.move.allocate(False, crowd, room, Numbers([]))
        assert abs(got - want) < SAME
        check_picked(stage, sides, crowd, room)


def check_picked(stage, sides, crowd, room):
    """They go there by uniform numbers as probably as it is said."""
    numbers = []
    for l, side in zip(stage.people[2:], sides, strict=True):
        odds = odds_of(stage, l, room.heaps.size, room.fits)
        stays = odds / (1 + odds)
        numbers.append(stays * (1 - NEAR) if side == 0 else stays * (1 + NEAR))
    want = stage.move.allocate(False, crowd, room, Numbers([]))
    assert abs(stage.move.allocate(True, crowd, room, Numbers(numbers)) - want) < SAME
    assert [int(room.side[l]) for l in stage.people[2:]] == list(sides)


def check_balance(sampler, case):
    """There and back the ratios are each other's inverse, and that there is the joint's.

    What is drawn of beta and eta is forced: the density that it is drawn from is known.
    """
    stage = Stage(sampler, case)
    move, original = stage.move, stage.move.draw
    try:
        for number, (groups, parameters) in enumerate(every_state(stage)):
            crowd, _, room = stage.at(groups, parameters)
            ways = list(choices(stage, True, crowd, room))
            for p, numbers, pair in ways[:: max(len(ways) // 3, 1)]:
                there_and_back(stage, move, groups, parameters, pair, p, numbers, number)
    finally:
        move.draw = original


def forced(stage, parameters):
    """A way to draw that gives these, by place."""

    def draw(k, place, log_strength, log_mean, fits, rng):
        assert place in parameters, "drawn, though it is there"
        beta, eta = parameters[place]
        log_strength[place] = np.log(beta)[: log_strength.shape[1]]
        log_mean[place] = np.log(eta).T

    return draw


def there_and_back(stage, move, groups, parameters, pair, p, numbers, seed):
    rng = np.random.default_rng(seed)
    new = {k: stage.some_parameters(1000 + 10 * seed + k) for k in (0, 1)}
    crowd, means, room = stage.at(groups, parameters)
    a = groups[stage.people.index(pair[0])]
    others = groups.count(a) - 2
    launch, sides = list(rng.random(move.ROUNDS * others)), list(rng.random(others))
    move.draw = forced(stage, new)
    log_alpha = np.log(ALPHA)
    forward = move.propose_split(
        crowd, log_alpha, means, room, Numbers([*numbers, *launch, *sides])
    )
    log_q = [log_drawn(stage, k, room) for k in range(3)]
    went = [int(room.side[l]) for l in room.others[:others]]
    move.seat_sides(crowd, room)
    after, made = read(stage, crowd)
    back = list(choices(stage, False, crowd, room))
    [(p_back, numbers)] = [(q, more) for q, more, one in back if one == pair]
    _, _, room = launched_at(stage, crowd, means, pair, launch)
    log_so = move.allocate(False, crowd, room, Numbers([]))
    assert [int(room.side[l]) for l in room.others[:others]] == went
    move.draw = forced(stage, {2: parameters[a]})
    backward = move.propose_merge(
        crowd, log_alpha, means, room, -np.inf, Numbers([*numbers, *launch])
    )
    assert abs(forward + backward) < SAME, f"{forward} there, {backward} back"
    want = stage.log_joint(after, made) - stage.log_joint(groups, parameters)
    want -= log_q[0] + log_q[1] - log_q[2] + log_so
    want += np.log(p_back) - np.log(p)
    assert abs(forward - want) < SAME, f"{forward} for {want}"
    move.seat_sides(crowd, room)
    again, once_more = read(stage, crowd)
    assert again == groups
    assert abs(stage.log_joint(again, once_more) - stage.log_joint(groups, parameters)) < SAME


def launched_at(stage, crowd, means, pair, numbers):
    _, _, room, _ = stage.made
    room = room.split
    room.pair[:] = pair
    stage.move.gather_others(crowd, room)
    stage.move.launch(crowd, means, room, Numbers(numbers))
    return crowd, means, room


def log_drawn(stage, k, room):
    return stage.density.log_drawn(k, k, *room.drawn, room.fits) - in_logs(k, room.drawn)


def read(stage, crowd):
    """The groups, numbered as they appear, and their parameters; sizes and slots must agree."""
    people = list(stage.people)
    numbers = {}
    groups = tuple(numbers.setdefault(int(crowd.group[l]), len(numbers)) for l in people)
    np.testing.assert_array_equal(
        crowd.size, np.bincount(crowd.group[people], minlength=len(crowd.size))
    )
    np.testing.assert_array_equal(np.sort(crowd.slot), np.arange(len(crowd.slot)))
    assert set(crowd.slot[: crowd.n_coteries[0]].tolist()) == set(numbers)
    for m in numbers:
        shape = np.exp(crowd.log_strength[m]) * np.exp(crowd.log_mean[m])
        np.testing.assert_allclose(crowd.weight[m], shape)
        np.testing.assert_allclose(crowd.strength[m], np.exp(crowd.log_strength[m]))
    return groups, [(np.exp(crowd.log_strength[m]), np.exp(crowd.log_mean[m]).T) for m in numbers]


LONG = np.array(
    [[0, 3, 31, 32], [33, 100, 250, 1], [64, 7, 0, 40], [500, 2, 90, 12], [5, 35, 9, 0]]
)


def with_long_counts(stage):
    """Everybody together, some with more labels than are counted one by one."""
    crowd, means, room = stage.at((0,) * len(stage.people), [stage.some_parameters(1)])
    room_for = np.zeros((3, 99), np.int32)
    heaps = room.heaps._replace(cell=room_for, labels=room_for.copy())
    cells = room.cells._replace(cell=np.zeros((4, 3), np.int32))
    room = room._replace(heaps=heaps, cells=cells)
    crowd.said[:] = LONG[: len(crowd.said)].reshape(-1, 2, 2)
    stage.n = crowd.said.swapaxes(1, 2).astype(int)
    assert stage.room.LONGEST_COUNT == 32
    return crowd, means, room


def check_long_counts(sampler, case):
    """Labels, heaps put together, and odds: the same where counts are long."""
    stage = Stage(sampler, case)
    crowd, means, room = with_long_counts(stage)
    room.pair[:] = stage.people[:2]
    stage.move.gather_others(crowd, room)
    stage.move.launch(crowd, means, room, np.random.default_rng(3))
    want = 0.0
    for l in room.others[: room.n_others[0]]:
        odds = odds_of(stage, l, room.heaps.size, room.fits)
        want += np.log(odds / (1 + odds))
        room.side[l] = 0
    assert abs(stage.move.allocate(False, crowd, room, Numbers([])) - want) < 1e-6
    stage.move.heap_sides(means, crowd, room)
    leaves = [int(room.pair[1])]
    stays = [l for l in stage.people if l not in leaves]
    for k, people in enumerate((stays, leaves, stage.people)):
        for seed in range(3):
            beta, eta = stage.some_parameters(seed)
            stage.write(0, (beta, eta), room)
            got = stage.density.log_prior(0, *room.drawn, means, room.fits)
            got -= in_logs(0, room.drawn)
            got += stage.density.log_labels(k, 0, *room.drawn, room.heaps)
            assert abs(got - stage.log_group(people, beta, eta)) < 1e-7


def check_fit(sampler, case):
    """The fit is at the top of the density of log beta and log eta, as wide as it is there."""
    stage = Stage(sampler, case)
    crowd, means, room = with_long_counts(stage)
    stage.heaps.heap_coterie(0, 2, crowd, room)
    stage.fit.fit(2, means, room)
    fits, n_strengths = room.fits, len(means.shape)
    top = np.array([*fits.log_strength[2], *(fits.log_mean[2, 0] - fits.log_mean[2, 1])])

    def log_density(x):
        beta = np.exp(x[:n_strengths])[[t % n_strengths for t in range(2)]]
        first = 1 / (1 + np.exp(-x[n_strengths:]))
        eta = np.stack([first, 1 - first], axis=1)
        return stage.log_group(stage.people, beta, eta) + x[:n_strengths].sum() + np.log(eta).sum()

    step = 1e-3
    for k in range(len(top)):
        e = step * np.eye(len(top))[k]
        low, mid, high = (log_density(top + sign * e) for sign in (-1, 0, 1))
        slope, curvature = (high - low) / (2 * step), (2 * mid - high - low) / step**2
        assert abs(slope) < 0.02 * curvature**0.5
        if k >= n_strengths and not stage.is_consensus:  # there d moves with eta
            t = k - n_strengths
            eta = np.exp(fits.log_mean[2, :, t])
            want = (fits.mean_precision[2, :, t] * eta[::-1] ** 2).sum()
            assert abs(curvature / want - 1) < 0.02
        elif k < n_strengths:  # eta, moving along, makes it wider
            assert 0.3 < fits.strength_precision[2, k] / curvature < 1.02
