"""The collapsed samplers of the paper's three models, asked array in, array out."""

from copy import copy
from dataclasses import replace

import numpy as np
import pytest
from numpy.polynomial import polynomial
from scipy import stats
from scipy.special import poch, polygamma

from coterie.data.codes import encode
from coterie.kernels import collapsed
from coterie.priors import CBCCPrior, Gamma, HCBCCPrior, IBCCPrior
from ladder import collapsed_checks as checks
from ladder.cases import (
    CBCC_2,
    CBCC_3,
    CBCC_FIXED,
    HCBCC_2,
    HCBCC_3,
    HCBCC_ONE_AUXILIARY,
    IBCC_3,
    LARGER,
    MEAN_2,
    MEAN_3,
    ONE_ONE,
    RATES_2,
    RATES_3,
    REPEATED,
    SMALL,
    case,
    hierarchical,
    name,
)
from ladder.collapsed import PLAIN, make_people, new_state, people_of, plain, start
from ladder.collapsed_bugs import BUGS
from ladder.collapsed_evidence import (
    CROWD,
    Chain,
    assert_item_probabilities,
    check_enumeration,
    check_geweke,
    check_tables,
)
from ladder.marks import needs_compiler, rest_slow
from ladder.tolerances import FALSE_ALARM, assert_means
from reference.exact import (
    alpha_moment,
    concentration_mean,
    gamma_nodes,
    item_probabilities,
    mean_over_eta,
)
from reference.joint import count
from reference.problem import THREE_CLASSES, TWO_CLASSES, Problem

exact, slow = pytest.mark.exact, pytest.mark.slow
each = pytest.mark.parametrize
every_case = each("case", SMALL + REPEATED + LARGER, ids=name)
HCBCC_TWO_AUXILIARIES = case("hcbcc", TWO_CLASSES, hierarchical(MEAN_2, RATES_2, auxiliaries=2))
IN_LOGS = plain()
IN_LOGS.SAFE = np.inf

# ---- Single steps and whole sweeps: what they do, and to the bit ----


@exact
@every_case
@each(
    ("module", "looked_up"),
    [(collapsed, True), (collapsed, False), (IN_LOGS, False)],
    ids=["looked up", "one by one", "in logs"],
)
def test_items_move_by_the_joint(case, module, looked_up):
    checks.check_items(module, case, looked_up)


@exact
@each("case", [CBCC_2, CBCC_3], ids=name)
def test_people_of_cbcc_move_by_the_joint(case):
    checks.check_join(collapsed, case)


@exact
@each("case", [HCBCC_2, HCBCC_3], ids=name)
def test_people_of_hcbcc_are_weighed_by_the_joint(case):
    checks.check_reuse_weights(collapsed, case)


@exact
@each("case", [HCBCC_ONE_AUXILIARY, HCBCC_TWO_AUXILIARIES], ids=["one", "two auxiliaries"])
def test_reuse_is_stationary(case):
    checks.check_reuse_is_stationary(collapsed, case)


@exact
@every_case
@each(
    "check",
    [checks.check_sweeps, checks.check_cut, checks.check_one_uniform_a_site],
    ids=["recounts and log joints", "cut anywhere", "one uniform a site"],
)
def test_sweeps(case, check):
    check(collapsed, case)


def crowd(n_classes, n_items=60, n_annotators=8):
    """Annotators who are right seven times in ten; the last never labels."""
    rng = np.random.default_rng(1)
    z = rng.integers(n_classes, size=n_items)
    item, annotator = np.divmod(np.arange(n_items * (n_annotators - 1)), n_annotators - 1)
    noise = rng.integers(n_classes, size=len(item))
    answer = np.where(rng.random(len(item)) < 0.7, z[item], noise)
    sizes = (n_items, n_annotators, n_classes, n_classes)
    return encode(item, annotator, answer, sizes=sizes), z


def run(module, model, prior, data, blocks, truth=0, seed=2):
    """Run from one coterie that is like the prior; give the state and what was noted."""
    truth = np.broadcast_to(truth, len(data.gold))
    beta, eta = np.full((1, data.n_classes), 2.0), np.full((1, data.n_classes, data.n_answers), 0.3)
    group = np.zeros(len(data.annotator_start) - 1, int)
    known = np.where(data.gold >= 0, data.gold, truth)
    state = new_state(model, data, known, group, 0.8, beta, eta)
    people = make_people(model, prior.resolve(data.n_classes, data.n_answers), data)
    rng, sums = np.random.default_rng(seed), np.zeros((len(data.gold), data.n_classes))
    noted = [module.sweep(model, state, data, people, n, rng, sums) for n in blocks]
    series = {name: np.concatenate([one[name] for one in noted]) for name in noted[0]}
    return state | series | {"sums": sums}


MODELS = {"ibcc": IBCCPrior(), "cbcc": CBCCPrior(), "hcbcc": HCBCCPrior()}


@exact
@each("model", MODELS)
@each("n_classes", [2, 3, 12])
def test_larger_crowds_are_cut_anywhere_and_run_as_plain_python_does(model, n_classes):
    data = crowd(n_classes)[0]
    whole = run(collapsed, model, MODELS[model], data, [6])
    checks.assert_same_runs(whole, run(collapsed, model, MODELS[model], data, [1] * 6))
    checks.assert_same_runs(whole, run(PLAIN, model, MODELS[model], data, [6]), rtol=1e-9)


@exact
@every_case
def test_compiled_sweeps_are_those_of_plain_python(case):
    runs = []
    for module in (collapsed, PLAIN):
        state, rng = start(case, *checks.all_states(case)[-1]), np.random.default_rng(3)
        sums = np.zeros((case.problem.n_items, case.problem.n_classes))
        runs.append(state | checks.sweep(module, case, state, 60, rng, sums) | state)
        runs[-1] |= {"sums": sums, "next": rng.random()}
    checks.assert_same_runs(*runs, rtol=1e-9)


# THREE_CLASSES without item 3 and annotator 2, who have no labels.
ITEM, ANNOTATOR = {0: 0, 1: 1, 2: 2, 4: 3, 5: 4}, {0: 0, 1: 1, 3: 2}
PACKED = replace(
    THREE_CLASSES,
    n_items=5,
    n_annotators=3,
    labels=tuple((ITEM[i], ANNOTATOR[l], c) for i, l, c in THREE_CLASSES.labels),
    gold={ITEM[i]: t for i, t in THREE_CLASSES.gold.items()},
)


@exact
@each("case", LARGER, ids=name)
def test_bystanders_change_nobodys_bits(case):
    mine, theirs = (
        run(collapsed, case.model, case.prior, one.codes, [200]) for one in (THREE_CLASSES, PACKED)
    )
    assert mine["truth"][3] == -1
    assert case.model == "ibcc" or mine["group"][2] == -1
    rows = {"truth": ITEM, "sums": ITEM, "said": ANNOTATOR, "group": ANNOTATOR}
    kept = {name: a[list(rows[name])] if name in rows else a for name, a in mine.items()}
    checks.assert_same_runs(theirs, kept)


@exact
@each("model", MODELS)
def test_no_labels_at_all_give_the_prior(model):
    nothing = np.zeros(0, int)
    data = encode(nothing, nothing, nothing, sizes=(2, 3, 2, 3), gold=np.array([-1, 1]))
    found = run(collapsed, model, MODELS[model], data, [20])
    # One item is known to be of class 1, and each class has a pseudo-count of one.
    np.testing.assert_allclose(found["sums"] / 20, [[1 / 3, 2 / 3], [0, 1]])
    assert np.isfinite(found["log_joint"]).all()
    assert (found.get("n_coteries", nothing) == 0).all()


@needs_compiler
@each("case", LARGER, ids=name)
def test_loops_are_compiled_once_whatever_arrays_come_in(case):
    loop, data = getattr(collapsed, f"{case.model}_loop"), case.problem.codes
    people, runs = people_of(case), []

    def read_only(array):
        array = array.copy()
        array.setflags(write=False)
        return array

    kinds = [
        lambda array: array,
        lambda array: array.astype(np.int64) if array.dtype.kind == "i" else array,
        lambda array: array.astype(np.int32) if array.dtype.kind == "i" else array,
        lambda array: np.asfortranarray(array),
        lambda array: np.repeat(array, 2, axis=0)[::2],
        read_only,
    ]
    for kind in kinds:
        state = {name: kind(a) for name, a in start(case, *checks.all_states(case)[0]).items()}
        (step,), others = people.space.steps, copy(people)
        space = replace(people.space, steps=(step._replace(weight=kind(step.weight)),))
        arrays = {name: kind(a) for name, a in vars(people).items() if isinstance(a, np.ndarray)}
        vars(others).update(arrays, space=space)
        codes = data._replace(
            **{f: kind(getattr(data, f)) for f in data._fields[:7] if kind is read_only}
        )
        rng = np.random.default_rng(1)
        noted = [collapsed.sweep(case.model, state, codes, others, 3, rng, None)]
        noted += [collapsed.sweep(case.model, state, data, people, 3, rng, None)]
        runs.append(state | noted[0] | noted[1])
        if kind is kinds[0]:
            compiled = len(loop.compiled.signatures)
    checks.assert_same_runs(*runs)
    assert len(loop.compiled.signatures) == compiled


# ---- What is drawn, and the log Gamma numbers that it is drawn with ----


@exact
@each("shape", [1e-100, 0.02, 0.7, 1.0, 3.5, 400.0])
def test_log_gamma_numbers(shape):
    rng = np.random.default_rng(1)
    draws = np.array([PLAIN.log_gamma(shape, rng) for _ in range(3_000)])
    law = stats.expon.cdf if shape < 1e-9 else stats.loggamma(shape).cdf
    draws = -draws * shape if shape < 1e-9 else draws  # U^(1 / s)
    assert stats.kstest(draws, law).pvalue > FALSE_ALARM


@exact
@each("x", [1e-300, 1e-8, 0.3, 5.0, 999.5, 1e4, 1e6, 1e12, 1e40])
def test_rising_factorials_are_sums_of_logs(x):
    """One by one, tabulated, and of whole arrays; where x is no float, from its logarithm on."""
    n = np.array([0, 1, 2, 16, 17, 300])
    want = np.array([np.log(x + np.arange(k)).sum() for k in n])
    one_by_one = [PLAIN.log_rising(x, int(k), np.log(x)) for k in n[1:]]
    np.testing.assert_allclose(one_by_one, want[1:], rtol=1e-12, atol=1e-12)
    table = collapsed.log_risings(np.array([[x]]))[0, 0]
    np.testing.assert_allclose(table[n], want, rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(collapsed.log_risen(x, n), want, rtol=2e-10, atol=1e-12)
    underflowed = PLAIN.log_rising(0.0, 5, -2_000.0)
    np.testing.assert_allclose(underflowed, -2_000 + np.log(24), rtol=1e-12)


@exact
@each(("n_groups", "people"), [(0, 0), (1, 1), (2, 3), (5, 7), (3, 30)])
def test_concentrations(n_groups, people):
    alpha, draws, rng = np.array([0.0, 1.0, 1.0]), np.zeros(4_000), np.random.default_rng(1)
    for draw in range(len(draws)):
        collapsed.concentration_loop(alpha, people, n_groups, rng)
        draws[draw] = np.exp(alpha[0])
    exact = [alpha_moment(n_groups, people, ONE_ONE, k) for k in range(3)]
    assert_means({k: draws**k for k in (1, 2)}, {k: exact[k] / exact[0] for k in (1, 2)})
    fixed = np.array([0.3, 0.0, 0.0])
    collapsed.concentration_loop(fixed, people, n_groups, rng)
    assert fixed[0] == 0.3


@exact
def test_tables():
    check_tables(collapsed, HCBCC_2)


@exact
def test_parameters_are_drawn_from_the_augmented_joint():
    checks.check_augmented_joint(PLAIN, HCBCC_2)


@exact
@each("strength", [2.0, 0.7])
def test_nu_has_its_moments(strength):
    """Mean and variance of -log Beta(strength, n), summed over those who have labels."""
    module, rng, base = plain(), np.random.default_rng(1), np.ones((2, 2))
    totals = np.array([[5, 4], [3, 1], [3, 0]])
    said = np.zeros((3, 3, 2), np.int32)
    said[:, 0], said[:, 2] = totals, totals
    a, b, log_gamma = np.full(2, 1e7), np.ones(2), module.log_gamma
    module.log_gamma = lambda shape, rng: 0.0 if shape > 1e6 else log_gamma(shape, rng)
    decay = np.zeros((3_000, 2))
    for draw in decay:
        logs = np.log([[[strength / 2] * 2, [strength / 2] * 2, [strength] * 2]])
        group, log_mean = np.zeros(3, np.int32), np.zeros((1, 2, 2))
        module.draw_parameters(0, said, group, base, a, b, logs, log_mean, rng)
        draw[:] = np.exp(-logs[0, 2]) - 1  # the rate without b
    for t in range(2):
        moments = [
            sum((-1) ** (k + 1) * (polygamma(k, strength) - polygamma(k, strength + n)) for n in ns)
            for ns in [totals[totals[:, t] > 0, t]]
            for k in (0, 1)
        ]
        draws = {"mean": decay[:, t], "variance": (decay[:, t] - moments[0]) ** 2}
        assert_means(draws, dict(zip(draws, moments, strict=True)))


@slow
def test_updates_keep_the_posterior_of_strength_and_mean():
    """At fixed z and q: E of beta, of beta^2, of eta and of beta eta, per coterie and class."""
    z, q, prior = {0: 0, 1: 1, 2: 0}, {0: 0, 1: 0, 2: 1}, HCBCC_2.prior
    state, rng, people = start(HCBCC_2, z, q), np.random.default_rng(2), people_of(HCBCC_2)
    logs = PLAIN.with_strength(state["log_strength"], state["log_mean"])
    said, log_mean = PLAIN.with_total(state["said"]), state["log_mean"]
    beta, eta = np.zeros((20_000, 2, 2)), np.zeros((20_000, 2, 2))
    for draw in range(len(beta)):
        PLAIN.draw_parameters(
            0, said, state["group"], people.mean_weight, people.shape, people.rate, logs, log_mean,
            rng,
        )  # fmt: skip
        beta[draw], eta[draw] = np.exp(logs[:, 2]), np.exp(log_mean[:, 0])
    n, draws, exact = count(HCBCC_2.problem, z, owner=lambda l: l), {}, {}
    for m, t in np.ndindex(2, 2):
        counts = [tuple(n[l, t, c] for c in range(2)) for l in q if q[l] == m]
        b, e = beta[:, m, t], eta[:, m, t]
        draws |= {
            (m, t, "beta"): b,
            (m, t, "beta^2"): b**2,
            (m, t, "eta"): e,
            (m, t, "both"): b * e,
        }
        exact |= {(m, t, name): mean for name, mean in row_means(prior, t, counts).items()}
    assert_means(draws, exact)


def row_means(prior, t, counts):
    """Exact posterior means for one row of one coterie."""
    beta, weights = gamma_nodes(prior.strength.shape[t], prior.strength.rate[t])
    shapes = prior.mean_strength[t] * prior.mean[t]
    below = np.prod([poch(beta, sum(n)) for n in counts], axis=0)
    # E of eta[0] times the rest: Dirichlet with one more at 0, and the mean of eta[0] in front.
    more = mean_over_eta(counts, shapes + np.array([1, 0])) * shapes[0] / shapes.sum()
    plain = weights * polynomial.polyval(beta, mean_over_eta(counts, shapes)) / below
    tilted = weights * polynomial.polyval(beta, more) / below
    means = plain @ beta, plain @ beta**2, tilted.sum(), tilted @ beta
    return dict(zip(["beta", "beta^2", "eta", "both"], means / plain.sum(), strict=True))


# ---- Many classes, weak priors ----

# Shapes of 2e-4 per answer: log eta down to -2e5, far below what a float holds.
TINY = HCBCCPrior(mean_strength=0.01, strength=Gamma(0.5, 1.0))
LEAST = 1e-100
WEAK = {
    "ibcc": IBCCPrior(strength=LEAST, class_weights=LEAST),
    "cbcc": CBCCPrior(strength=LEAST, concentration=Gamma(LEAST, LEAST)),
    "hcbcc": HCBCCPrior(mean_strength=LEAST, strength=Gamma(1e-10, LEAST), class_weights=LEAST),
}
PRIORS = [*MODELS.items(), ("hcbcc", TINY), *WEAK.items()]


@needs_compiler
@each("n_classes", [2, 5, 50])
@each(("model", "prior"), PRIORS, ids=[*MODELS, "tiny", *(f"weak {model}" for model in MODELS)])
def test_every_number_stays_finite(model, prior, n_classes):
    data, z = crowd(n_classes)
    found = run(collapsed, model, prior, data, [100], z)
    for array in found.values():
        assert np.isfinite(array).all()
    np.testing.assert_allclose(found["sums"].sum(axis=1), 100, rtol=1e-9)
    # Seven annotators who are right in 70 %: even the vote does better. Under a prior that says
    # nothing, a hundred sweeps stay near where they happen to go first.
    least = 0.85 if prior is MODELS[model] else 0.7 if prior is TINY else 0.0
    assert (found["sums"].argmax(axis=1) == z).mean() > least or least == 0


# ---- Chains against the exact posterior ----


@needs_compiler
@slow
@each("case", (*SMALL, *REPEATED, *LARGER, CBCC_FIXED), ids=name)
def test_visited_states_have_the_exact_probabilities(case):
    check_enumeration(collapsed, case)


@needs_compiler
@slow
def test_one_auxiliary_is_enough():
    check_enumeration(collapsed, HCBCC_ONE_AUXILIARY, thin=4)


def test_a_fixed_concentration_stays_fixed():
    noted, _ = Chain(collapsed, CBCC_FIXED, 1).sweep(50)
    np.testing.assert_allclose(noted["concentration"], 0.6, rtol=1e-12)


@needs_compiler
@each("case", [IBCC_3, CBCC_3, HCBCC_3, HCBCC_ONE_AUXILIARY], ids=name)
def test_item_probabilities_are_averaged_conditionals(case):
    """Labelled, known and unlabelled items against enumeration."""
    assert_item_probabilities(Chain(collapsed, case, 2), case, batches=200, size=200)


@needs_compiler
@slow
@each("case", [CBCC_3, HCBCC_3, HCBCC_ONE_AUXILIARY], ids=name)
def test_coteries_and_concentration_have_the_exact_means(case):
    posterior, chain = case.posterior(), Chain(collapsed, case, 4)
    visited, n_coteries, _ = chain.visit(10_000, 2)
    partitions = np.array([q for _, q in visited])
    pairs = [(a, b) for a in range(partitions.shape[1]) for b in range(a)]
    draws = {(a, b): partitions[:, a] == partitions[:, b] for a, b in pairs}
    exact = {(a, b): sum(p for (_, q), p in posterior.items() if q[a] == q[b]) for a, b in pairs}
    draws["coteries"] = n_coteries
    exact["coteries"] = sum(p * len(set(q)) for (_, q), p in posterior.items())
    draws["concentration"] = chain.sweep(20_000)[0]["concentration"]
    exact["concentration"] = concentration_mean(case.problem, posterior, case.prior.concentration)
    assert_means(draws, exact)


def random_case(model, seed):
    """Two or three classes, perhaps an extra answer, repeated labels, gold, and gaps."""
    rng = np.random.default_rng(seed)
    n, n_items, n_annotators = rng.integers([2, 3, 3], [4, 6, 5]).tolist()
    n_answers = n + int(rng.integers(2))
    times = rng.choice([0, 1, 1, 1, 2], (n_items, n_annotators))
    times[rng.integers(n_items)] = 0
    times[:, rng.integers(n_annotators)] = 0
    times[0, 0] = times[1, 1] = 1  # somebody says something
    item, annotator = np.nonzero(times)
    labels = np.repeat(np.column_stack([item, annotator]), times[item, annotator], axis=0)
    answers = rng.integers(n_answers, size=len(labels))
    gold = {int(rng.integers(n_items)): int(rng.integers(n))} if rng.random() < 0.7 else {}
    triples = tuple((int(i), int(l), int(c)) for (i, l), c in zip(labels, answers, strict=True))
    mean = rng.dirichlet(np.full(n_answers, 2.0), n) + 0.02
    mean /= mean.sum(axis=1, keepdims=True)
    strength, class_weights = rng.gamma(3.0, 1.0, n) + 0.2, rng.gamma(2.0, 0.5, n) + 0.1
    alpha = Gamma(*rng.uniform(0.8, 2.0, 2))
    spread = Gamma(rng.uniform(3, 9, n), rng.uniform(0.5, 2, n))
    prior = {
        "ibcc": IBCCPrior(mean, strength, class_weights),
        "cbcc": CBCCPrior(mean, strength, class_weights, alpha),
        "hcbcc": HCBCCPrior(mean, strength, spread, class_weights, alpha, seed % 4 + 1),
    }[model]
    return case(model, Problem(n_items, n_annotators, n, n_answers, triples, gold), prior)


@needs_compiler
@each("model", MODELS)
@each("seed", rest_slow(range(8), 0, 1, 2, 3))
def test_chains_agree_with_enumeration_on_problems_nobody_chose(model, seed):
    one = random_case(model, seed)
    chain = Chain(collapsed, one, seed)
    assert_item_probabilities(chain, one, batches=100, size=100)
    if one.has_groups:
        n = sum(p * len(set(q)) for (_, q), p in one.posterior().items())
        assert_means({"coteries": chain.sweep(20_000)[0]["n_coteries"]}, {"coteries": n})


# ---- Limits in which one model becomes another ----

IBCC = case("ibcc", TWO_CLASSES, IBCCPrior(MEAN_2, **RATES_2))
LONERS = case("cbcc", TWO_CLASSES, CBCCPrior(MEAN_2, **RATES_2, concentration=1e12))
# beta -> infinity: the members of a coterie are copies, (phi, gamma) is their (beta, eta)
COPIES = case("hcbcc", TWO_CLASSES, hierarchical(MEAN_2, RATES_2, strength=Gamma(1e8, 1e2)))
# phi, a, b -> infinity with a/b fixed: every coterie has beta = a/b and eta = gamma
STRENGTH = Gamma([3e7, 2e7], [1e7, 1e7])
ALIKE = case(
    "hcbcc", TWO_CLASSES, hierarchical(MEAN_2, RATES_2, mean_strength=1e7, strength=STRENGTH)
)
PAIRS = {
    "cBCC with many coteries is iBCC": (LONERS, IBCC),
    "hcBCC with strong coteries is cBCC": (COPIES, CBCC_2),
    "hcBCC with one kind of coterie is iBCC": (ALIKE, IBCC),
}


@each("pair", PAIRS.values(), ids=PAIRS)
def test_exact_posteriors_meet(pair):
    got, want = (item_probabilities(TWO_CLASSES, one.posterior()) for one in pair)
    np.testing.assert_allclose(got, want, atol=1e-5)


@needs_compiler
@each("pair", PAIRS.values(), ids=PAIRS)
def test_chains_meet_the_exact_limit(pair):
    limiting, limit = pair
    assert_item_probabilities(Chain(collapsed, limiting, 6), limit, batches=200, size=100)


@needs_compiler
def test_coteries_meet_the_exact_limit():
    exact = sum(p * len(set(q)) for (_, q), p in CBCC_2.posterior().items())
    noted, _ = Chain(collapsed, COPIES, 7).sweep(20_000)
    assert_means({"coteries": noted["n_coteries"]}, {"coteries": exact})


def test_an_infinite_concentration_leaves_nobody_together():
    assert (Chain(collapsed, LONERS, 8).sweep(50)[0]["n_coteries"] == 3).all()


def test_the_limits_are_not_all_one_model():
    """The exact limits differ from one another: the tests above can fail."""
    ibcc, cbcc = (item_probabilities(TWO_CLASSES, one.posterior()) for one in (IBCC, CBCC_2))
    assert np.abs(ibcc - cbcc).max() > 0.02


# ---- Geweke's joint test, and tests of the tests ----

GEWEKE = {
    "ibcc": case("ibcc", CROWD, IBCCPrior(MEAN_3, **RATES_3)),
    "cbcc": case("cbcc", CROWD, CBCCPrior(MEAN_3, **RATES_3, concentration=ONE_ONE)),
    "hcbcc": case("hcbcc", CROWD, hierarchical(MEAN_3, RATES_3, auxiliaries=3)),
}


@needs_compiler
@slow
@each("model", GEWEKE)
def test_prior_and_chain_agree(model):
    check_geweke(collapsed, GEWEKE[model])


@each("bug", BUGS)
def test_planted_bug_is_caught(bug):
    case, check, plants = BUGS[bug]
    module = plain(**plants)
    with pytest.raises(AssertionError):
        check(module, case)


CONTROLS = {(check.__name__, id(case)): (check, case) for case, check, _ in BUGS.values()}


@each(
    ("check", "case"),
    CONTROLS.values(),
    ids=[f"{name}-{k}" for k, (name, _) in enumerate(CONTROLS)],
)
def test_without_a_bug_the_check_passes(check, case):
    check(PLAIN, case)


@slow
def test_enumeration_too_sees_that_the_order_is_wrong():
    case, _, plants = BUGS["displaced after weighing"]
    with pytest.raises(AssertionError, match="chi-square"):
        check_enumeration(plain(**plants), case, n_draws=15_000)
