"""The collapsed samplers, compiled or plain, states made to order, and their steps one by one.

``module`` is the file as it is shipped, or a plain copy of it, perhaps with a bug.
"""

import importlib.util
import itertools
import sys
from unittest.mock import patch

import numpy as np

from coterie.kernels import collapsed
from coterie.kernels.people import Crowd, OwnPeople, SharedPeople, SimilarPeople
from coterie.numeric import compile as compilation
from coterie.priors import Gamma
from reference.exact import all_partitions, all_truths

ALPHA = 0.8  # of states made to order, unless it is fixed
NUMBER = itertools.count()
MODELS = {"ibcc": OwnPeople.of, "cbcc": SharedPeople, "hcbcc": SimilarPeople}
PEOPLE = {}


def plain(**planted):
    """The file as plain Python, with others in place of some functions: ``planted[name](old)``."""
    name = f"plain_collapsed_{next(NUMBER)}"
    spec = importlib.util.spec_from_file_location(name, collapsed.__file__)
    module = sys.modules[name] = importlib.util.module_from_spec(spec)
    with patch.multiple(compilation, jit=lambda f: f, entry=lambda f: f):
        spec.loader.exec_module(module)
    for name, plant in planted.items():
        old = getattr(module, name)
        new = plant(old)
        for alias in [alias for alias, value in vars(module).items() if value is old]:
            setattr(module, alias, new)
    return module


PLAIN = plain()


def people_of(case):
    """The people, who have the prior: to make its tables takes longer than most checks."""
    if id(case) not in PEOPLE:  # a case that is kept shares its number with none
        PEOPLE[id(case)] = case, make_people(case.model, case.prior, case.problem.codes)
    return PEOPLE[id(case)][1]


def make_people(model, prior, data):
    """The people of a model, who have this resolved prior."""
    crowd = Crowd(np.diff(data.annotator_start), data.n_classes, data.n_answers)
    return MODELS[model](prior, crowd)


def untempered(word):
    """What MT19937 must hold to give this word."""
    word ^= word >> 18
    word ^= (word << 15) & 0xEFC60000
    low = high = word
    for _ in range(4):
        low = word ^ (low << 7) & 0x9D2C5680
    high = low
    for _ in range(2):
        high = low ^ high >> 11
    return high


def forced(*uniforms):
    """A generator whose next uniform numbers are these, for compiled code too."""
    bits = np.random.MT19937(1)
    key = bits.state["state"]["key"].copy()
    for k, u in enumerate(uniforms):
        whole = int(u * 2**53)
        key[2 * k] = untempered(whole >> 26 << 5)
        key[2 * k + 1] = untempered((whole & (2**26 - 1)) << 6)
    bits.state = {"bit_generator": "MT19937", "state": {"key": key, "pos": 0}}
    return np.random.Generator(bits)


def new_state(model, data, truth, group=None, alpha=ALPHA, beta=None, eta=None):
    """The state where items have these classes and annotators these coteries.

    beta has shape (coteries, T) and eta (coteries, T, C); there may be more of them than coteries.
    """
    n_labels, n_said = np.diff(data.item_start), np.diff(data.annotator_start)
    truth = np.where((n_labels > 0) | (data.gold >= 0), truth, -1).astype(np.int32)
    said = np.zeros((len(n_said), data.n_answers, data.n_classes), np.int32)
    np.add.at(said, (data.item_annotator, data.item_answer, np.repeat(truth, n_labels)), 1)
    totals = np.bincount(truth[truth >= 0], minlength=data.n_classes)
    state = {"truth": truth, "cell_total": totals, "said": said}
    if model != "ibcc":
        state["group"] = np.where(n_said > 0, group, -1).astype(np.int32)
        state["log_concentration"] = np.log([alpha])
    if model == "hcbcc":
        m = state["group"].max(initial=-1) + 1
        state["log_strength"] = np.log(beta[:m])
        state["log_mean"] = np.log(eta[:m]).swapaxes(1, 2).copy()
    return state


def parameters(case):
    """Arbitrary parameters for all the coteries that may be: beta (m, T), eta (m, T, C)."""
    problem, rng = case.problem, np.random.default_rng(1)
    n = problem.n_annotators + getattr(case.prior, "auxiliaries", 0) + 1
    beta = rng.gamma(4.0, 1.0, (n, problem.n_classes))
    return beta, rng.dirichlet(np.full(problem.n_answers, 2.0), (n, problem.n_classes))


def start(case, z, q=None, beta=None, eta=None):
    """The state with this truth, these coteries and these parameters of theirs."""
    truth, group = np.zeros(case.problem.n_items, int), np.zeros(case.problem.n_annotators, int)
    truth[list(z)], group[list(q or ())] = list(z.values()), list((q or {}).values())
    alpha = getattr(case.prior, "concentration", ALPHA)
    if beta is None:
        beta, eta = parameters(case)
    alpha = ALPHA if isinstance(alpha, Gamma) else alpha
    return new_state(case.model, case.problem.codes, truth, group, alpha, beta, eta)


def read(case, state):
    """What the state says, as the reference wants it: z, q, alpha, beta, eta."""
    z = {i: int(state["truth"][i]) for i in case.problem.counted}
    if not case.has_groups:
        return z, None, None, None, None
    q = {l: int(state["group"][l]) for l in case.problem.active}
    alpha = float(np.exp(state["log_concentration"][0]))
    if case.model == "cbcc":
        return z, q, alpha, None, None
    return z, q, alpha, np.exp(state["log_strength"]), np.exp(state["log_mean"]).swapaxes(1, 2)


def all_states(case):
    """Every (z, q); q is None for a model without coteries."""
    partitions = list(all_partitions(case.problem.active)) if case.has_groups else [None]
    return [(z, q) for z in all_truths(case.problem) for q in partitions]


def canonical(q):
    """Number coteries by first appearance."""
    numbers = {}
    return {l: numbers.setdefault(m, len(numbers)) for l, m in q.items()}


def move_items(module, case, state, free, rng, looked_up=True):
    """Draw the classes of these items only; give p(z[i] = t | rest) and the counts of coteries."""
    people, group = people_of(case), state.get("group")
    _, once, *labels = module.items_of(case.problem.codes)
    own = module.with_total(state["said"])
    everybody, none = np.arange(len(own), dtype=np.int32), np.zeros(len(own), np.int32)
    row, base, said, rest = everybody, none, own, own[:0]
    if case.model == "hcbcc":
        base, logs = group, module.with_strength(state["log_strength"], state["log_mean"])
    else:
        logs = np.log(module.with_total(people.weight))[None]
    if case.model == "cbcc":
        row, said, rest = group, module.members_of(own, group)[1], own
    sums, totals = np.zeros((len(state["truth"]), own.shape[2])), state["cell_total"]
    module.ibcc_loop(
        1, np.array(free), once & looked_up & (case.model != "cbcc"), *labels, row, base,
        state["truth"], totals, said, rest, people.space.class_weight, logs, logs[:0], sums,
        np.zeros((1, 5)), np.zeros((1, len(totals)), np.int64), rng,
    )  # fmt: skip
    state["said"][:] = own[:, :-1]
    return sums, said


def join(module, case, state, people, rng):
    """Seat these people in cBCC; give the counts and sizes of the coteries."""
    seated, own = people_of(case), module.with_total(state["said"])
    _, said, size = module.members_of(own, state["group"])
    logs, log_alpha = np.log(module.with_total(seated.weight))[None], state["log_concentration"][0]
    module.join_loop(
        np.array(people), own, said, state["group"], size, logs, seated.rising, float(log_alpha),
        rng,
    )  # fmt: skip
    return said, size


def reuse(module, case, state, people, rng, beta, eta):
    """Seat these people in hcBCC, where slots have these parameters; give spare slots, log p."""
    m, h = len(state["log_strength"]), case.prior.auxiliaries
    size, spare = np.full(len(beta), -1), np.arange(m, m + h)
    size[: m + h] = np.bincount(state["group"][case.problem.active], minlength=m + h)
    logs = module.with_strength(np.log(beta), np.log(eta).swapaxes(1, 2))
    done, _, log_p = module.reuse_loop(
        0, np.array(people), module.with_total(state["said"]), logs, state["group"], size, spare,
        m + h, float(state["log_concentration"][0]), rng,
    )  # fmt: skip
    assert done == len(people)
    return spare, log_p


def weighed(module, step):
    """The log weights of the places that ``step(module)`` lets the first person choose from."""
    module, seen = PLAIN if module is collapsed else module, []

    def pick(logs, weight, n, rng):
        seen.append(logs[:n].copy())
        return int(np.argmax(logs[:n]))

    with patch.object(module, "pick", pick):
        step(module)
    return seen[0]


def item_log_weights(case, state, i):
    """The log weights of an item's classes, however small they are."""
    weigh, seen = PLAIN.weigh, []

    def noting(*args):
        weigh(*args)
        seen.append(args[-1].copy() if args[-1].any() else np.log(args[-2]))

    with patch.object(PLAIN, "weigh", noting), np.errstate(all="ignore"):
        move_items(PLAIN, case, state, [i], forced(0.5), looked_up=False)
    return seen[0]
