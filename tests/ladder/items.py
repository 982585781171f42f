"""The items half of a sweep: worlds to run it in, brute force, checks, and bugs to plant."""

import contextlib
import itertools
import math
from dataclasses import dataclass, replace
from typing import Any
from unittest import mock

import numpy as np
from scipy import stats
from scipy.special import logsumexp

from coterie.kernels import items

FALSE_ALARM = 1e-5
NEAR = 1e-9


@dataclass(frozen=True)
class World:
    """Some items, and what they are given."""

    labels: Any  # per item: (annotator, answer) pairs
    gold: Any  # (items,)
    row: Any  # (items,)
    winner: Any  # (items,)
    weight: Any  # (rows, cells)
    cell_class: Any  # (cells,)
    chance: Any  # (annotators, answers, cells)
    kinds: Any = (1.0,)
    lam: Any = (0.0,)
    hard: Any = (1.0,)
    guesses: bool = False
    key: Any = None

    @property
    def n_cells(self):
        return len(self.cell_class)

    @property
    def form(self):
        """What a model fixes; few forms, each of which has to be compiled."""
        cells = self.n_cells if self.n_cells < 4 else 0
        if len(self.kinds) == (3 if self.guesses else 1):
            return cells, len(self.kinds), self.guesses
        return 0, 0, self.guesses

    def only(self, which):
        """The same world with these items alone."""
        which = list(which)
        keys = self.keys()[which]
        part = {n: np.asarray(getattr(self, n))[which] for n in ("gold", "row", "winner")}
        return replace(self, labels=[self.labels[i] for i in which], key=keys, **part)

    def keys(self):
        return np.arange(len(self.gold), dtype=np.uint64) if self.key is None else self.key

    def arrays(self):
        """Keys, where labels begin, and the labels: what all loops are given first."""
        n_answers = self.chance.shape[1]
        start = np.cumsum([0, *map(len, self.labels)]).astype(np.int64)
        column = np.array([l * n_answers + c for one in self.labels for l, c in one], np.int32)
        return self.keys(), start, column

    def run(self, sweep=None, stream=(5, 6, 7), log_chance=None):
        """Sweep; everything that is counted and noted."""
        (n_people, n_answers, n_cells), n_kinds = self.chance.shape, len(self.lam)
        hard = self.hard if self.guesses else np.zeros(n_answers)
        with np.errstate(divide="ignore"):
            logs = np.log(self.weight), np.log(self.chance) if log_chance is None else log_chance
        found = {
            "said": np.zeros((n_people, n_answers, n_cells), np.int32),
            "cell_total": np.zeros(n_cells, np.int64),
            "kind_total": np.zeros(n_kinds, np.int64),
            "source": np.zeros((n_kinds, 2), np.int64),
            "guessed": np.zeros(n_answers, np.int64),
            "agreed": np.zeros(1, np.int64),
            "truth": np.full(len(self.gold), -1, np.int32),
            "sums": np.zeros((len(self.gold), 2 * n_cells + n_kinds if self.guesses else n_cells)),
        }
        numbers = [np.asarray(x, np.int32) for x in (self.row, self.winner)]
        (sweep or items.sweep_of(*self.form))(
            *self.arrays(), *numbers, n_answers, np.asarray(self.cell_class, np.int64),
            np.array(self.kinds), self.weight, logs[0], np.array(self.lam),
            np.ascontiguousarray(self.chance).reshape(-1),
            np.ascontiguousarray(logs[1]).reshape(-1), np.array(hard), EFFECT,
            np.array(stream, np.uint64), found["said"].reshape(-1),
            *[found[name] for name in list(found)[1:]],
        )  # fmt: skip
        return found

    def log_labels(self, i, k, t):
        """log of rho[k] and of the probability of item i's labels in a cell."""
        lam = self.lam[k]
        terms = [math.log(self.kinds[k])]
        for l, c in self.labels[i]:
            guess = lam * self.hard[c] if self.guesses else 0.0
            terms.append(math.log((1 - lam) * self.chance[l, c, t] + guess))
        return math.fsum(terms)

    def exact(self, i):
        """Probabilities (kinds, cells) of item i, and tempered ones of the cells."""
        n_kinds, n_cells = len(self.kinds), len(self.cell_class)
        log_p = [[self.log_labels(i, k, t) for t in range(n_cells)] for k in range(n_kinds)]
        with np.errstate(divide="ignore"):
            prior = np.log(self.weight[self.row[i]])
        joint = np.array(log_p) + prior
        tau = 1 / (1 + EFFECT * max(len(self.labels[i]) - 1, 0))
        tempered = prior + tau * logsumexp(log_p, axis=0)
        return np.exp(joint - logsumexp(joint)), np.exp(tempered - logsumexp(tempered))

    def wanted(self, i):
        """What is summed of item i."""
        p, tempered = self.exact(i)
        return np.concatenate([p.sum(axis=0), tempered, p.sum(axis=1)]) if self.guesses else p[0]

    def counted(self):
        """Items that the loop weighs."""
        known = [i for i, t in enumerate(self.gold) if t >= 0 and not self.guesses]
        return sorted({*known, *(i for i, one in enumerate(self.labels) if one)})


EFFECT = 0.3


def world(n_classes, n_answers, lam=None, subtypes=1, masked=False, n_items=14, seed=1, n_people=4):
    """Arbitrary numbers: unlabelled, known and repeatedly labelled items among the others."""
    rng = np.random.default_rng(seed)
    cell_class = np.tile(np.arange(n_classes), subtypes)
    sizes = rng.integers(1, 6, n_items)
    sizes[[2, 5]] = 0
    labels = [[(rng.integers(n_people), rng.integers(n_answers)) for _ in range(n)] for n in sizes]
    labels = [sorted((int(l), int(c)) for l, c in one) for one in labels]
    labels[3] += labels[3][-1:]
    gold = np.full(n_items, -1)
    gold[[4, 5, 8]] = n_classes - 1, 0, 0
    base = rng.dirichlet(np.ones(len(cell_class)))
    weight = [base, *(np.where(cell_class == g, base, 0.0) for g in range(n_classes))]
    row = 1 + gold
    if masked:  # each half of the cells is a kind, which some items are known to have
        late = np.arange(len(base)) >= len(base) // 2
        every = list(weight)
        for k, known in enumerate((late, ~late)):
            row[k] = len(weight)
            weight += [np.where(known, one, 0.0) for one in every]
    n_kinds = len(lam) if lam else 1
    return World(
        labels, gold, row, rng.integers(-1, n_classes, n_items), np.array(weight), cell_class,
        rng.dirichlet(np.ones(n_answers), (n_people, len(cell_class))).swapaxes(1, 2),
        tuple(rng.dirichlet(np.full(n_kinds, 5.0))) if lam else (1.0,), lam or (0.0,),
        tuple(rng.dirichlet(np.full(n_answers, 2.0))), bool(lam),
    )  # fmt: skip


WORLDS = {
    "two": world(2, 2),
    "three": world(3, 4),
    "five": world(5, 5),
    "sub-types": world(2, 3, subtypes=3),
    "known kinds": world(3, 3, subtypes=2, masked=True),
    "hard, two": world(2, 2, (0.0, 0.5, 0.9)),
    "hard, three": world(3, 4, (0.0, 0.4, 0.8)),
    "hard, four": world(4, 4, (0.1, 0.5, 0.9)),
    "hard, one": world(1, 2, (0.0, 0.5, 0.9)),
    "two kinds": world(3, 3, (0.0, 0.6)),
    "guesses alone": world(2, 3, (0.3,)),
    "four kinds": world(2, 2, (0.0, 0.2, 0.5, 0.7)),
}
PLAIN, KINDS = WORLDS["three"], WORLDS["hard, three"]
HELPERS = "uniforms", "weigh_kinds", "weigh_in_logs", "count_sources"


def python(name):
    """A helper as Python, compiled or not."""
    helper = getattr(items, name)
    return getattr(helper, "py_func", helper)


def as_python(*form):
    sweep = items.sweep_of(*form)
    return getattr(sweep, "function", sweep)


@contextlib.contextmanager
def planted(**bugs):
    """All helpers as Python, with other ones in place of some."""
    with contextlib.ExitStack() as stack:
        for name, own in {name: python(name) for name in HELPERS}.items():
            stack.enter_context(mock.patch.object(items, name, bugs.get(name, own)))
        yield


# The checks: each takes a way to get the loop of a form, and a world.


def check_probabilities(loop, one):
    got = one.run(loop(*one.form))["sums"]
    for i in range(len(one.gold)):
        want = one.wanted(i) if i in one.counted() else np.zeros(got.shape[1])
        np.testing.assert_allclose(got[i], want, rtol=1e-12, atol=1e-15)


def check_counts(loop, one):
    """One item at a time all of it can be seen; all together are the sum of these."""
    total, sweep = one.run(loop(*one.form)), loop(*one.form)
    alone = [one.only([i]).run(sweep) for i in range(len(one.gold))]
    for name in list(total)[:6]:
        np.testing.assert_array_equal(total[name], sum(found[name] for found in alone))
    for name in ("truth", "sums"):
        np.testing.assert_array_equal(total[name], np.concatenate([found[name] for found in alone]))
    for i, found in enumerate(alone):
        t, labels = int(found["truth"][0]), one.labels[i]
        assert (t >= 0) == (i in one.counted())
        silent = one.guesses and not labels and one.gold[i] >= 0  # counted once, and that is all
        cells = np.bincount([one.gold[i]] if silent else [t][: t >= 0], minlength=one.n_cells)
        np.testing.assert_array_equal(found["cell_total"], cells)
        assert found["agreed"][0] == (t >= 0 and one.cell_class[t] == one.winner[i])
        assert (np.delete(found["said"], t, axis=2) == 0).all()
        assert t < 0 or (one.gold[i] in (-1, one.cell_class[t]) and one.weight[one.row[i], t] > 0)
        said = np.zeros(found["said"].shape[:2], int)
        for label in labels:
            said[label] += 1
        own, n = found["said"].sum(axis=2), len(labels)
        assert (own <= said).all()
        np.testing.assert_array_equal((said - own).sum(axis=0), found["guessed"])
        if not one.guesses:
            np.testing.assert_array_equal(own, said)
            continue
        assert found["kind_total"].sum() == (n > 0)
        k = int(found["kind_total"].argmax())
        want = np.zeros((len(one.kinds), 2), int)
        want[k] = n - own.sum(), own.sum()
        np.testing.assert_array_equal(found["source"], want)
        assert one.lam[k] > 0 or own.sum() == n


def check_draws(_, one):
    """Where each outcome begins and ends, by numbers of our choice: exactly as probable as it is.

    They do not depend on where the chain is, so that the step leaves the posterior as it is.
    """
    for i in one.counted():
        p, _ = one.exact(i)
        edges = np.concatenate([[0], np.cumsum(p.ravel())])
        for place, (low, high) in enumerate(itertools.pairwise(edges)):
            if high - low < 4 * NEAR:
                continue
            k, t = divmod(place, one.n_cells)
            lam, shares = one.lam[k], []
            for l, c in one.labels[i]:
                mine = (1 - lam) * one.chance[l, c, t]
                shares.append(mine / (mine + (lam * one.hard[c] if one.guesses else 0.0)))
            for u, odd in ((low + NEAR, 0), (high - NEAR, 1)):
                own = [lam == 0 or n % 2 == odd for n in range(len(shares))]
                numbers = [u, 2.0]
                numbers += [
                    s - NEAR if mine else s + NEAR for s, mine in zip(shares, own, strict=True)
                ]
                found = forced(one, i, numbers)
                assert found["truth"][0] == t
                assert not one.guesses or found["kind_total"][k] == 1
                said = np.zeros(found["said"].shape, int)
                for (l, c), mine in zip(one.labels[i], own, strict=True):
                    said[l, c, t] += mine
                np.testing.assert_array_equal(found["said"], said)


def forced(one, i, numbers):
    """Sweep item i alone, with these numbers, none of which may be used twice."""
    used = []

    def uniforms(stream, key, place):
        assert key == i
        assert list(stream) == [5, 6, 7]
        assert place not in used
        used.append(place)
        return numbers[2 * place], (*numbers, 2.0)[2 * place + 1]

    with planted(uniforms=uniforms):
        return one.only([i]).run(as_python(*one.form))


def check_chances(loop, one, n=20_000):
    """One item again and again, by other keys: cells and sources as often as they are probable."""
    i = max(one.counted(), key=lambda i: (one.gold[i] < 0, len(one.labels[i])))
    many = replace(one.only([i] * n), key=np.arange(n, dtype=np.uint64) * np.uint64(2**33 + 7))
    found, (p, _) = many.run(loop(*one.form)), one.exact(i)
    assert_frequent(found["cell_total"], p.sum(axis=0))
    if one.guesses:
        assert_frequent(found["kind_total"], p.sum(axis=1))
    for (l, c), t in itertools.product(one.labels[i], range(one.n_cells)):
        own = [(1 - lam) * one.chance[l, c, t] for lam in one.lam]
        both = (
            [x + lam * one.hard[c] for x, lam in zip(own, one.lam, strict=True)]
            if one.guesses
            else own
        )
        times = one.labels[i].count((l, c))
        expected = n * times * (p[:, t] * own / both).sum()
        assert abs(found["said"][l, c, t] - expected) <= 5 * times * math.sqrt(expected) + 1


def assert_frequent(seen, p):
    assert len(p) == 1 or stats.chisquare(seen, p * seen.sum()).pvalue > FALSE_ALARM


def check_unlike(loop, one, n=4_000):
    """Items, sweeps and chains have numbers that know nothing of each other."""
    draws = []
    chance = np.broadcast_to(0.5, one.chance.shape)
    fair = replace(one, chance=chance, weight=np.ones_like(one.weight) / one.weight.shape[1])
    many = replace(fair.only([0] * n), gold=np.full(n, -1), row=np.zeros(n, int), key=None)
    for stream in ((1, 2, 0), (1, 2, 1), (1, 3, 0), (2, 2, 0)):
        truth = many.run(loop(*one.form), stream)["truth"] + 0.0
        assert np.ptp(truth) > 0
        draws += [truth, np.roll(truth, 1)]
    between = np.corrcoef(draws) - np.eye(len(draws))
    assert np.abs(between).max() < 5 / math.sqrt(n)


def contradicting(n_classes, order, lam=None, gold=False, n=400):
    """Labels for one class, then as many for another, from people who are mostly right."""
    one = world(n_classes, n_classes, lam, n_people=2)
    p = np.full((2, n_classes, n_classes), 0.02 / max(n_classes - 1, 1))
    p[:, range(n_classes), range(n_classes)] = 0.98
    p[1, 0, 0] -= 0.001  # not quite: so that the two have other weights
    p[1, 1, 0] += 0.001
    answers = [n_classes - 1] * n + [0] * n
    labels = [sorted((0 if c else 1, c) for c in answers)][0]
    known = (n_classes - 1) if gold else -1
    return replace(
        one.only([0]), labels=[labels[::order]], chance=p, gold=np.array([known]),
        row=np.array([1 + known]),
    )  # fmt: skip


def check_underflow(loop, one):
    np.testing.assert_allclose(one.run(loop(*one.form))["sums"][0], one.wanted(0), rtol=1e-10)


def changed(name, **change):
    """A helper that is given other arguments than it is called with, by their names."""
    own = python(name)
    places = own.__code__.co_varnames

    def bug(*args):
        given = dict(zip(places, args, strict=False))
        return own(*(change.get(place, lambda x: x)(x) for place, x in given.items()))

    return {name: bug}


def sources(first_place=1, every=2, turned=False, counts_guesses=True):
    """Sources of labels as the loop draws them, or otherwise."""

    def bug(stream, key, column, first, n, n_answers, at, guess, t, lam, chance, said, guessed):
        n_guessed = 0
        for j in range(n):
            if j % 2 == 0:
                numbers = items.uniforms(stream, key, first_place + j // 2)
            own = (1 - lam) * chance[at[j] + t]
            if (numbers[j % every] * (own + lam * guess[j]) < own) != turned:
                said[at[j] + t] += 1
            else:
                guessed[column[first + j] % n_answers] += counts_guesses
                n_guessed += 1
        return n_guessed

    return {"count_sources": bug}


def loop_with(**change):
    """The loop, given other arguments than it is called with."""

    def loop(*form):
        def sweep(*args):
            given = dict(zip(as_python(*form).__code__.co_varnames, args, strict=False))
            return items.sweep_of(*form)(
                *(given | {n: f(given) for n, f in change.items()}).values()
            )

        return sweep

    return loop


def exchanged():
    """Classes mixed up."""
    own = python("weigh_kinds")

    def bug(*args):
        own(*args)
        args[-1][:2] = args[-1][:2][::-1].copy()

    return {"weigh_kinds": bug}


def masked_stream(*kept):
    return changed("uniforms", stream=lambda x: x * np.array(kept, np.uint64))
