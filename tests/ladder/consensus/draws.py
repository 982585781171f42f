"""What is drawn, checked without chance: a generator that gives means shows which shapes were used.

And the one step whose auxiliary variables hide its target, against quadrature.
"""

from dataclasses import replace

import numpy as np
from scipy.special import gammaln

from ladder.consensus.cases import (
    DESIGN_EFFECT,
    file,
    given_drawn,
    make_state,
    packed,
    some_drawn,
    some_values,
)
from ladder.consensus.checks import kinds_of, new_tally_of, tempered_of
from ladder.montecarlo import assert_means
from reference import consensus as reference


class Means:
    """A generator whose Gamma draws are their shapes, and whose uniforms are zero."""

    def standard_gamma(self, shape):
        return shape

    def random(self):
        return 0.0


def mean_draw(shapes, axis=-1):
    """What a Dirichlet draw comes to by :class:`Means`: shapes below one are drawn one higher."""
    gammas = np.where(shapes >= 1, shapes, np.asarray(shapes) + 1)
    return gammas / gammas.sum(axis=axis, keepdims=True)


def check_given(sampler, case):
    """pi, rho, v and everybody's matrices are drawn from Dirichlets with the right shapes."""
    values, prior = some_values(case, 1), packed(sampler, case)
    state = make_state(sampler, case, values)
    drawn = file(sampler, "model").given_to_items(state, prior).drawn
    file(sampler, "parameters").draw_given(state, prior, drawn, Means())
    own, guessed = reference.counts_of(case.problem, values.z, values.g)
    problem = case.problem
    wanted = {
        "balance": count(values.z.values(), problem.n_classes) + case.prior.class_weights,
        "kinds": count(values.k.values(), case.n_kinds) + case.prior.kind_weights,
        "hard": [guessed[c] for c in range(problem.n_answers)] + case.prior.hard_guess_weights,
    }
    for name, shapes in wanted.items():
        np.testing.assert_allclose(getattr(drawn, name), mean_draw(shapes), rtol=1e-12)
        logs = getattr(drawn, f"log_{name}")
        np.testing.assert_allclose(logs, np.log(mean_draw(shapes)), rtol=1e-12, atol=1e-12)
    for l in problem.active:
        m = values.q[l]
        shapes = values.beta[m] * values.eta[m]
        for (annotator, t, c), n in own.items():
            shapes[t, c] += n * (annotator == l)
        np.testing.assert_allclose(drawn.chance[l].T, mean_draw(shapes), rtol=1e-12)
        np.testing.assert_allclose(np.exp(drawn.log_chance[l].T), mean_draw(shapes), rtol=1e-12)


def count(values, size):
    return np.bincount(list(values), minlength=size)


def check_fresh(sampler, case):
    """Auxiliary coteries come from the prior under the present w, and from nothing else.

    Whatever stood in their slots before the step leads to the same moves.
    """
    prior, groups = packed(sampler, case), file(sampler, "groups")
    # A large alpha: everybody opens a coterie, if there is an auxiliary.
    model, values = file(sampler, "model"), replace(some_values(case, 3), alpha=100.0)
    for seed in range(5):
        outcomes = []
        for garbage in (0.1, 0.7):
            state = make_state(sampler, case, values)
            spare = state.slot[state.n_coteries[0] :]
            for array in (state.weight, state.strength, state.log_mean, state.log_strength):
                array[spare] = garbage
            room = model.new_room(state, case.problem.codes, prior)
            rng = np.random.default_rng(seed)
            groups.sweep_groups(state, model.crowd_of(state), prior, room, rng)
            used = state.slot[: state.n_coteries[0]]
            outcomes.append((state.group.copy(), state.weight[used], room.crowd.log_likelihood[0]))
        for one, other in zip(*outcomes, strict=True):
            np.testing.assert_array_equal(one, other)
    groups.draw_fresh(0, state, prior, room, Means())
    where, _ = reference.points(case.prior)
    b = reference.base(where[state.known[0]], values.w, case.problem.n_classes)
    want = mean_draw(case.prior.mean_strength * b)
    np.testing.assert_allclose(np.exp(state.log_mean[0].T), want, rtol=1e-12)
    shape, rate = float(case.prior.strength.shape), float(case.prior.strength.rate)
    np.testing.assert_allclose(state.strength[0], shape / rate, rtol=1e-12)


def check_tally(sampler, case):
    """Tallied are the probabilities as they are, tempered, and those of the kinds."""
    problem, data, prior = case.problem, case.problem.codes, packed(sampler, case)
    state, drawn = make_state(sampler, case, some_values(case, 1)), some_drawn(case, 2)
    model, given = file(sampler, "model"), given_drawn(sampler, case, state, drawn)
    found, tally = model.found_of_items(state), new_tally_of(case, 2.0)
    model.clear_counts(found.counts)
    rng = np.random.default_rng(1)
    file(sampler, "items").sweep_items((0, problem.n_items), data, given, found, tally, rng)
    file(sampler, "tally").tally_bystanders(state, prior, data, tally)
    classes = mean_share(state.class_total + case.prior.class_weights)
    kinds = mean_share(state.kind_total + case.prior.kind_weights)
    for i in range(problem.n_items):
        raw, tempered, kind = classes, classes, kinds
        if i in case.labelled:
            p = np.array(
                [
                    [
                        reference.p_item(problem, case.prior, drawn, i, t, k)
                        for t in range(len(classes))
                    ]
                    for k in range(case.n_kinds)
                ]
            )
            n_labels = sum(j == i for j, _, _ in problem.labels)
            tau = 1 / (1 + DESIGN_EFFECT * (n_labels - 1))
            tempered = mean_share(drawn.pi * (p.sum(axis=0) / drawn.pi) ** tau)
            known = p[:, [problem.gold[i]]] if i in problem.gold else p
            raw, kind = mean_share(p.sum(axis=0)), mean_share(known.sum(axis=1))
        if i in problem.gold:
            raw = tempered = np.eye(len(classes))[problem.gold[i]]
        np.testing.assert_allclose(tally.probability[i], 2 * raw, rtol=1e-9, atol=1e-12)
        np.testing.assert_allclose(tempered_of(case, tally)[i], 2 * tempered, rtol=1e-9, atol=1e-12)
        np.testing.assert_allclose(kinds_of(case, tally)[i], 2 * kind, rtol=1e-9)


def mean_share(weights):
    return np.asarray(weights) / np.sum(weights)


TABLES = np.array([[[4, 1], [2, 6]], [[1, 2], [0, 3]]])  # of two coteries, S[m, t, c]


def check_base(sampler, case, n_draws=4_000):
    """At fixed tables, d and w have the posterior that quadrature gives, eta integrated out."""
    base, prior = file(sampler, "base"), packed(sampler, case)
    values = some_values(case, 0)
    people = {l: min(place, 1) for place, l in enumerate(case.problem.active)}
    state = make_state(sampler, case, replace(values, q=people))
    room = file(sampler, "model").new_room(state, case.problem.codes, prior)
    room.tables[:2] = TABLES.swapaxes(1, 2)
    rng, draws = np.random.default_rng(4), []
    for _ in range(n_draws):
        base.draw_base(state, prior, room, rng)
        draws.append([state.guess[0], *prior.point[state.known[:2]]])
    w, d, d_2 = np.array(draws).T
    series = {"w": w, "w^2": w**2, "d": d, "other d": d_2, "w d": w * d, "d d": d * d_2}
    assert_means(series, base_means(case))


def base_means(case):
    """Exact means for two classes, by Gauss and Legendre over w and sums over d."""
    nodes, weights = np.polynomial.legendre.leggauss(300)
    w = (nodes + 1) / 2
    a, b = case.prior.guess_weights
    weights = weights * w ** (a - 1) * (1 - w) ** (b - 1)
    where, shares = reference.points(case.prior)
    per_coterie = []
    for tables in TABLES:
        log_p = np.log(shares) + np.zeros((len(w), 1))
        for t, row in enumerate(tables):
            for c, n in enumerate(row):
                guess = (w if c == 0 else 1 - w)[:, None]
                x = case.prior.mean_strength * (where * (c == t) + (1 - where) * guess)
                log_p += gammaln(x + n) - gammaln(x)
        per_coterie.append(np.exp(log_p))
    one, other = per_coterie
    density = weights * one.sum(axis=1) * other.sum(axis=1)
    density /= density.sum()
    d, d_2 = one @ where / one.sum(axis=1), other @ where / other.sum(axis=1)
    return {
        "w": density @ w,
        "w^2": density @ w**2,
        "d": density @ d,
        "other d": density @ d_2,
        "w d": density @ (w * d),
        "d d": density @ (d * d_2),
    }
