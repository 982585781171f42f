"""Bugs to plant in the collapsed samplers: functions in place of others, and the check for each."""

import inspect
import itertools

import numpy as np

from ladder import collapsed_checks as checks
from ladder.cases import (
    CBCC_2,
    CBCC_3,
    HCBCC_2,
    HCBCC_3,
    HCBCC_ONE_AUXILIARY,
    IBCC_2,
    IBCC_3,
    IBCC_REPEATED,
)
from ladder.collapsed_evidence import check_enumeration, check_tables


def changed(**changes):
    """Plant: the function is called with some arguments changed."""

    def plant(function):
        names = list(inspect.signature(function).parameters)

        def bug(*args):
            pairs = zip(names, args, strict=True)
            return function(*(changes.get(name, lambda x: x)(value) for name, value in pairs))

        return bug

    return plant


def instead(bug):
    """Plant: ``bug(function, *args)`` is called."""
    return lambda function: lambda *args: bug(function, *args)


class Uniforms:
    """A generator whose uniform numbers are changed."""

    def __init__(self, rng, change):
        self.rng, self.change = rng, change

    def random(self):
        return self.change(self.rng.random())


class Same:
    """A generator that gives its first uniform number again and again."""

    def __init__(self, rng):
        self.first = rng.random()

    def random(self):
        return self.first


def without_total(said):
    said = said.copy()
    said[:, -1] = 0
    return said


def count(lo, hi, t, sign, annotator, answer, row, said):
    for k in range(lo, hi):
        said[row[annotator[k]], [answer[k], -1], t] += sign


def left_in(weigh, lo, hi, t, annotator, answer, row, base, class_total, said, *rest):
    """The item is not taken out."""
    said, class_total = said.copy(), class_total + (np.arange(len(class_total)) == t)
    count(lo, hi, t, 1, annotator, answer, row, said)
    weigh(lo, hi, t, annotator, answer, row, base, class_total, said, *rest)


def one_by_one(weigh, lo, hi, t, annotator, answer, row, base, class_total, said, weight, *rest):
    """Labels of an item are weighed as if the others were not there."""
    said, p = said.copy(), rest[-2]
    prior = class_total - (np.arange(len(p)) == t) + weight
    count(lo, hi, t, -1, annotator, answer, row, said)
    product = prior.copy()
    for k in range(lo, hi):
        count(k, k + 1, t, 1, annotator, answer, row, said)
        weigh(k, k + 1, t, annotator, answer, row, base, class_total, said, weight, *rest)
        count(k, k + 1, t, -1, annotator, answer, row, said)
        product *= p / prior
    p[:] = product


def once_each(weigh, lo, hi, t, annotator, answer, *rest):
    """A label that an annotator repeats has one ratio."""
    kept = [k for k in range(lo, hi) if k == lo or annotator[k] != annotator[k - 1]]
    weigh(0, len(kept), t, annotator[kept], answer[kept], *rest)


def last_of_odd_forgotten(sweep_items, n, free, once, start, *rest):
    for i in free:
        ends = start.copy()
        ends[i + 1] -= (ends[i + 1] - ends[i]) % 2
        sweep_items(n, [i], once, ends, *rest)


def compared_at(place):
    """Only two labels of an item are compared: are they of one annotator?"""

    def items_of(function, data):
        free, _, start, annotator, answer = function(data)
        pairs = [annotator[a:b][place] for a, b in itertools.pairwise(start)]
        return free, np.array([len(set(p)) == len(p) for p in pairs]), start, annotator, answer

    return instead(items_of)


def stale_ratios():
    """Ratios are tabulated once: what moves later leaves them as they are."""

    def set_ratios(function, l, t, b, said, shape, logs, ratio):
        if not ratio[l, :, t].any():
            function(l, t, b, said, shape, logs, ratio)

    return instead(set_ratios)


def not_taken_out(set_ratios, l, t, b, said, shape, logs, ratio):
    set_ratios(l, t, b, said, shape, logs, ratio)
    ratio[l, :, said.shape[2] + t] = ratio[l, :, t]


def own_left(sweep_items, *args):
    """What annotators said is not kept up when items move."""
    own = args[11]
    before = own.copy()
    sweep_items(*args)
    own[:] = before


def transposed(with_total, array):
    """The prior's mean is read by its columns."""
    if array.ndim == 2:
        array = array.sum(axis=0) * (array / array.sum(axis=0)).T
    return with_total(array)


def emptied_kept(join, people, own, said, group, size, logs, rising, log_alpha, rng):
    """A coterie that is left empty weighs as much as one of a single person."""
    for l in people:
        weight = 0.0 if size[group[l]] == 1 else log_alpha
        join([l], own, said, group, size, logs, rising, weight, rng)


def displaced_late(reuse, done, people, said, logs, group, size, spare, used, log_alpha, rng):
    """Whose coterie is left empty cannot return: it displaces an auxiliary one afterwards."""
    log_all = 0.0
    for l in people[done:]:
        if used == len(logs):
            return done, used, log_all
        m, lone = group[l], size[group[l]] == 1
        if lone:  # taken out from elsewhere, and nobody sees their coterie
            group[l] = next(other for other in group if other not in (m, -1))
            size[m], size[group[l]] = -1, size[group[l]] + 1
        _, used, log_p = reuse(0, [l], said, logs, group, size, spare, used, log_alpha, rng)
        if lone:
            k = int(rng.random() * len(spare))
            size[spare[k]], size[m], spare[k] = -1, 0, m
        done, log_all = done + 1, log_all + log_p
    return done, used, log_all


def check_enumeration_briefly(module, case):
    """Fewer draws than the package's own samplers get: a bug shows early, and Python is slow."""
    check_enumeration(module, case, n_draws=4_000, thin=1)


def check_one_by_one(module, case):
    checks.check_items(module, case, looked_up=False)


# name: (case, check, what is planted)
BUGS = {
    "item not taken out": (IBCC_3, check_one_by_one, {"weigh": instead(left_in)}),
    "item not taken out, by ratios": (IBCC_3, checks.check_items,
        {"set_ratios": instead(not_taken_out)}),
    "item not taken out, two classes": (IBCC_2, checks.check_items,
        {"set_ratios": instead(not_taken_out)}),
    "CRP mass halved": (CBCC_2, checks.check_join,
        {"join": changed(log_alpha=lambda x: x - np.log(2))}),
    "labels scored as independent": (CBCC_2, checks.check_items, {"weigh": instead(one_by_one)}),
    "repeated labels scored as independent": (IBCC_3, checks.check_items,
        {"sweep_items": changed(once=np.ones_like)}),
    "first two labels compared only": (IBCC_REPEATED, checks.check_items,
        {"items_of": compared_at(slice(2))}),
    "last two labels compared only": (IBCC_REPEATED, checks.check_items,
        {"items_of": compared_at(slice(-2, None))}),
    "one ratio for a repeated label": (IBCC_3, checks.check_items, {"weigh": instead(once_each)}),
    "last of an odd number of labels forgotten": (IBCC_2, checks.check_items,
        {"sweep_items": instead(last_of_odd_forgotten)}),
    "ratios left as they were": (IBCC_3, checks.check_cut, {"set_ratios": stale_ratios()}),
    "emptied group kept": (CBCC_2, checks.check_join, {"join": instead(emptied_kept)}),
    "class prior forgotten": (CBCC_2, checks.check_items,
        {"sweep_items": changed(class_weight=np.ones_like)}),
    "prior transposed": (CBCC_2, checks.check_items, {"with_total": instead(transposed)}),
    "uniforms reused": (CBCC_2, check_enumeration_briefly, {"sweep_items": changed(rng=Same)}),
    "uniforms squared": (IBCC_2, checks.check_items,
        {"sweep_items": changed(rng=lambda rng: Uniforms(rng, np.square))}),
    "counts drift": (CBCC_3, checks.check_sweeps, {"sweep_items": instead(own_left)}),
    "first annotator skipped": (CBCC_2, checks.check_one_uniform_a_site,
        {"join": changed(people=lambda l: l[1:])}),
    "first item skipped": (CBCC_2, check_enumeration_briefly,
        {"sweep_items": changed(free=lambda i: i[1:])}),
    "first item skipped, a matrix each": (IBCC_2, check_enumeration_briefly,
        {"sweep_items": changed(free=lambda i: i[1:])}),
    "gold forgotten": (CBCC_3, checks.check_sweeps,
        {"items_of": changed(data=lambda data: data._replace(gold=np.full_like(data.gold, -1)))}),
    "displaced after weighing": (HCBCC_ONE_AUXILIARY, checks.check_reuse_is_stationary,
        {"reuse": instead(displaced_late)}),
    "auxiliaries weigh alpha each": (HCBCC_3, checks.check_reuse_weights,
        {"reuse": changed(log_alpha=lambda x: x + np.log(HCBCC_3.prior.auxiliaries))}),
    "nu forgotten": (HCBCC_2, checks.check_augmented_joint,
        {"draw_parameters": changed(said=without_total)}),
    "tables forgotten": (HCBCC_2, check_tables, {"open_tables": instead(lambda *_: None)}),
}  # fmt: skip
