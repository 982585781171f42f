"""Chains as the package puts them together, on small problems, with every item in sight.

Items lie one in a shard, each with a holder of its own, so that what is counted of it can be seen;
what is swept, moved and noted is that of :class:`coterie.inference.chain.BlockedChain`.
"""

import inspect
import itertools
from collections import Counter
from dataclasses import replace
from types import SimpleNamespace

import numpy as np

from coterie.data.codes import Shard, count_votes
from coterie.inference.chain import BlockedChain, Plan, Sampler, make_chain
from coterie.inference.shards import Holder, Sizes, Totals
from coterie.kernels.people import Crowd, Streams
from ladder.tolerances import (
    assert_counts_fit,
    assert_means,
    effective_size,
    limit,
    standard_error,
)
from reference.problem import THREE_CLASSES

NEVER = 10**9
OFTEN = 10**12  # work of a sweep so large that as many splits and merges are proposed as ever are
DESIGN_EFFECT = 0.05


def crowd_of(problem):
    """Who there is."""
    n_labels = np.diff(problem.codes.annotator_start)
    return Crowd(n_labels, problem.n_classes, problem.n_answers)


class Session:
    """A holder for every item."""

    n_clear = 0

    def __init__(self, problem, sizes, people, keys=None):
        codes, self.sizes, kinds = problem.codes, sizes, people.kinds
        self.start, self.annotator = codes.item_start, codes.item_annotator
        if people.rows is not None:
            self.annotator = people.rows
        keys = np.arange(problem.n_items) if keys is None else np.array(keys)
        self.holders = []
        for i, (first, last) in enumerate(itertools.pairwise(self.start.tolist())):
            labels = self.annotator[first:last], codes.item_answer[first:last]
            start, gold = np.array([0, last - first]), codes.gold[i : i + 1]
            shard = Shard(keys[i : i + 1].astype(np.uint64), start, *labels, gold)
            kind = lambda k: None if kinds is None else kinds[k : k + 1]  # noqa: E731
            self.holders.append(Holder(sizes, {i: shard}, kind=kind))

    def sweep(self, order):
        self.parts = [holder.sweep(order) for holder in self.holders]
        totals = Totals.none(self.sizes)
        for part in self.parts:
            totals.add(part)
        return totals

    def sums(self, chain):
        return [holder.sums(chain)[0] for holder in self.holders]

    def answer(self, answers):
        """Write other answers, in the order of the items' labels."""
        column = self.annotator * self.sizes.n_answers + answers
        for i, (first, last) in enumerate(itertools.pairwise(self.start.tolist())):
            one = np.array(column[first:last], np.int32)
            one.setflags(write=False)
            self.holders[i].items[i] = self.holders[i].items[i]._replace(column=one)


class Live:
    """A chain, its live state, and where its items are."""

    def __init__(self, people, problem, *, tempered=False, seed=1, burn_in=NEVER, keys=None,
                 session=Session):  # fmt: skip
        self.people, self.problem = people, problem
        sizes = Sizes(
            n_rows=people.n_rows, n_classes=problem.n_classes, n_answers=problem.n_answers,
            space=people.space, guessing=people.guessing, tempered=tempered,
            design_effect=DESIGN_EFFECT,
        )  # fmt: skip
        self.session = session(problem, sizes, people, keys)
        places = [np.array([i]) for i in range(problem.n_items)]
        sampler = Sampler(
            people=people, data=problem.codes, plan=Plan(burn_in, burn_in, 1, 1, 1),
            votes=None, clear=None, items=None, sizes=sizes, blocks=SimpleNamespace(places=places),
        )  # fmt: skip
        self.chain = BlockedChain(sampler, 2, np.random.SeedSequence(seed), self.session)

    @property
    def state(self):
        return self.chain.state

    def sweep(self):
        """Make a sweep; give what is noted."""
        noted = self.chain._advance(1)
        self.chain.done += 1
        return {name: values[0] for name, values in noted.items()}

    def sums(self):
        """What is summed of all items, silent and known ones too."""
        self.chain.used[0] = self.chain.done
        self.chain.rest()
        return self.chain.sums

    @property
    def cells(self):
        """Where the counted items are: item -> cell."""
        parts = enumerate(self.session.parts)
        return {i: int(p.cell_total.argmax()) for i, p in parts if p.cell_total.any()}

    def seats(self):
        """The partition of those who are seated, canonical."""
        group, numbers = self.state.get("group", np.zeros(0, int)), {}
        return tuple(numbers.setdefault(m, len(numbers)) for m in group[group >= 0].tolist())

    def assert_counted(self):
        """Counts are a recount; known items are what they are, others are where they may be."""
        problem, state, cells = self.problem, self.state, self.cells
        assert sorted(cells) == problem.counted
        space = self.people.space
        assert all(space.cell_class[cells[i]] == t for i, t in problem.gold.items())
        if self.people.kinds is not None:
            assert all(space.cell_kind[f] == self.people.kinds[i] for i, f in cells.items())
        want = np.bincount(list(cells.values()), minlength=len(space.cell_class))
        np.testing.assert_array_equal(state["cell_total"], want)
        said = np.zeros_like(state["said"])
        for i, l, c in problem.labels:
            said[l, c, cells[i]] += 1
        said = said if "guessed" not in state else np.sum([p.said for p in self.session.parts], 0)
        np.testing.assert_array_equal(state["said"], said)
        self.people.check(state)


class ItemByItem(Live):
    """A chain that moves one item after the other: of a model of the paper, or with cells."""

    def __init__(self, people, problem, model, *, seed=1, burn_in=NEVER, keys=None):
        self.people, self.problem, self.session = people, problem, self
        sizes = Sizes(
            people.n_rows, problem.n_classes, problem.n_answers, people.space, people.guessing
        )
        sampler = Sampler(
            people=people, data=problem.codes, plan=Plan(burn_in, burn_in, 1, 1, 1),
            votes=count_votes(problem.codes), clear=None, items=None, collapsed=model, sizes=sizes,
        )  # fmt: skip
        self.chain = make_chain(sampler, 2, np.random.SeedSequence(seed), None)

    @property
    def state(self):
        return self.chain.state

    def sums(self):
        self.chain.used[0] = self.chain.done
        self.chain.rest()
        return self.chain.sums

    def answer(self, answers):
        """Write other answers, in the order of the items' labels."""
        self.chain.items.answer = np.array(answers, np.uint32)

    @property
    def cells(self):
        truth = self.chain.state["truth"]
        return {int(i): int(truth[i]) for i in np.flatnonzero(truth >= 0)}


def streams(*seeds):
    """Generators for the moves, the draws and the draws of those without labels."""
    return Streams(*map(np.random.default_rng, seeds))


def columns(rows):
    """Series by name, of rows by name."""
    rows = list(rows)
    return {name: np.array([row[name] for row in rows], float) for name in rows[0]}


def assert_visits(visited, exact, *series, least=10):
    """States visited, thinned to independence, have these exact probabilities (chi-square)."""
    series = [*series, [np.log(exact[one]) for one in visited]]
    thin = max(int(np.ceil(len(one) / effective_size(one))) for one in series)
    kept = visited[::thin]
    expected = {state: p * len(kept) for state, p in exact.items()}
    if sum(n >= 8 for n in expected.values()) < min(least, len(exact)):
        raise RuntimeError(f"run longer: {len(kept)} draws are too few to test")
    assert_counts_fit(Counter(kept), expected)


def assert_agree(prior, chain):
    """Independent draws and a chain have the same means: columns by name."""
    for name, draws in prior.items():
        error = np.hypot(np.std(draws) / np.sqrt(len(draws)), standard_error(chain[name]))
        off = abs(draws.mean() - chain[name].mean())
        assert off <= limit(len(prior)) * error, (
            f"{name}: {chain[name].mean():.4f} in the chain, {draws.mean():.4f} under the prior, "
            f"{off / error:.1f} standard errors"
        )


class Means:
    """A generator whose Gamma numbers are their shapes (one more below one): which these were."""

    def __init__(self, *uniforms):
        self.uniforms = list(uniforms)

    def standard_gamma(self, shape):
        return np.asarray(shape, float)

    def standard_exponential(self, size=None):
        return np.full(() if size is None else size, 1e-300)

    def random(self, size=None):
        assert self.uniforms, "more numbers are drawn than were told"
        return self.uniforms.pop(0) if size is None else np.reshape(self.uniforms.pop(0), size)


def mean_draw(shapes, axis=-1):
    """What a Dirichlet draw comes to by :class:`Means`."""
    gammas = np.where(np.asarray(shapes) >= 1, shapes, np.asarray(shapes) + 1)
    return gammas / gammas.sum(axis=axis, keepdims=True)


# ---- checks that models share ----


def check_means(live, n=1_500):
    """Means of matrices are those of many drawn ones; give what is kept."""
    kept = [live.people.keep(live.state, streams(0, k, k + n), True) for k in range(n)]
    drawn, mean = np.array([one["confusion"] for one in kept]), kept[0]["confusion_mean"]
    for one in (drawn, mean):
        np.testing.assert_allclose(one.sum(axis=-1), 1, rtol=1e-12)
    sites = [s for s in np.ndindex(mean.shape) if 8 < n * mean[s] < n - 8]  # others are too rare
    assert_means({s: drawn[:, *s] for s in sites}, {s: mean[s] for s in sites})
    return kept


ITEMS, HEARD = [0, 1, 2, 4, 5], [0, 1, 3]  # of THREE_CLASSES: item 3 and annotator 2 are not
PACKED = replace(
    THREE_CLASSES, n_items=5, n_annotators=3, gold={3: 1, 4: 2},
    labels=tuple((ITEMS.index(i), HEARD.index(l), c) for i, l, c in THREE_CLASSES.labels),
)  # fmt: skip


def check_silent(model_of, **how):
    """Items and annotators without labels: the same numbers, to the last bit, without them."""
    lives = [
        model_of(THREE_CLASSES).live(often=True, burn_in=0, **how),
        model_of(PACKED).live(often=True, burn_in=0, keys=ITEMS, **how),
    ]
    sources = [streams(1, 2, 3) for _ in lives]
    for _ in range(20):
        noted = [live.sweep() for live in lives]
        for name, value in noted[0].items():
            np.testing.assert_array_equal(value, noted[1][name])
        kept = [
            live.people.keep(live.state, some, True)
            for live, some in zip(lives, sources, strict=True)
        ]
        for name in kept[0].keys() - {"partition"}:  # it is numbered by first appearance
            everybodys = name in ("class_balance", "hard_share", "easy_confusion")
            mine = kept[0][name] if everybodys else kept[0][name][HEARD]
            np.testing.assert_array_equal(mine, kept[1][name])
    np.testing.assert_array_equal(lives[0].sums()[ITEMS], lives[1].sums())


# ---- bugs: functions in the place of functions ----


def instead(**changes):
    """The same function, with other arguments than it is called with."""

    def plant(function):
        names = inspect.signature(function).parameters

        def bug(*args):
            named = zip(names, args, strict=False)
            return function(*(changes[n](x) if n in changes else x for n, x in named))

        return bug

    return plant


def without(name):
    """A state in which something is zero."""
    return instead(state=lambda state: {**state, name: np.zeros_like(state[name])})


def keeps(*names):
    """A draw that leaves some as they are."""

    def plant(function):
        def bug(one, state, *args):
            before = {name: state[name] for name in names}
            function(one, state, *args)
            state |= before

        return bug

    return plant


def parameters_stay(seat_people):
    def bug(one, state, rng):
        log_labels = seat_people(one, state, rng)
        state |= {name: state[name][::-1] for name in one.of_coteries}
        return log_labels

    return bug


WRONG_SEAT = instead(state=lambda state: {**state, "group": np.minimum(state["group"], 0)})
