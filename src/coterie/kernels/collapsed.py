"""The paper's three models, confusion matrices and class balance integrated out.

tau ~ Dir(eps mu),  z[i] ~ tau,  and a label of an item of class t is drawn from row t of

=======  ====================  ===========================  ============================
model    the matrix of         whose rows are               sampled are
=======  ====================  ===========================  ============================
iBCC     the annotator         Dir(beta[t] eta[t])          z
cBCC     their coterie         Dir(beta[t] eta[t])          z, q, alpha
hcBCC    the annotator         Dir(beta[q, t] eta[q, t])    z, q, alpha, beta, eta
=======  ====================  ===========================  ============================

with q ~ CRP(alpha), beta[m, t] ~ Gamma(a, b), eta[m, t] ~ Dir(phi gamma[t]). With n[t, c] labels c
of items of class t, and (x)_(n) = x (x + 1) ... (x + n - 1), a matrix' labels have probability

    product over t of  product over c of (beta eta[t, c])_(n[t, c])  /  (beta[t])_(n[t]).

Loops visit items and people one by one. Counts n[l, c, t] and the logs of shapes are arrays (rows,
answers + 1, classes), where the sum over answers stands behind them: n[l, t], log beta.
"""

from __future__ import annotations

import math
from functools import partial
from typing import Any

import numpy as np
from numpy.random import Generator
from scipy.special import betaln, gammaln

from coterie.data.codes import Codes
from coterie.numeric import Array, State
from coterie.numeric.compile import entry, jit

UPDATES = 5  # of alpha in a sweep, as in the paper
SAFE = 1e-100  # weights only fall: if an item's sum is above, what underflowed was nothing
LONGEST, TABLE_SIZE = 64, 2**16  # of tables of rising factorials by coterie: counts, numbers
BASE_TABLE_SIZE = 2**18  # numbers in one of a given base
AHEAD = 8  # parameters drawn before they are needed
LABELS, SEATS, PARAMETERS, ALPHA, COTERIES = range(5)  # what is noted after a sweep
KINDS = {"truth": np.int32, "group": np.int32, "said": np.int32, "cell_total": np.int64}


# ---- Random numbers and rising factorials ----


@jit
def log_gamma(shape: float, rng: Generator) -> float:
    """Draw the log of a Gamma(shape, 1) number (Marsaglia and Tsang), however small it is."""
    if not shape < 1e30:  # its spread is nothing beside it
        return math.log(shape)
    d, w, right = (shape if shape >= 1 else shape + 1) - 1 / 3, 0.0, False
    while not right:
        x = rng.standard_normal()
        w = x / math.sqrt(9 * d)
        if w > -1:
            log_odds = x * x / 2 + d * (3 * math.log1p(w) - w * (3 + 3 * w + w * w))
            right = math.log1p(-rng.random()) < log_odds
    more = 0.0 if shape >= 1 else math.log1p(-rng.random()) / shape  # Gamma(s + 1) U^(1 / s)
    return math.log(d) + 3 * math.log1p(w) + more


@jit
def log_rising(x: float, n: int, log_x: float) -> float:
    """Give log (x)_(n) for n > 0; log x is handed in because x may underflow to zero."""
    if x > 1e4:  # Stirling's series, where the difference of two log-gammas loses digits
        series = (1 / (x + n) - 1 / x) / 12
        return n * log_x - n + (x + n - 0.5) * math.log1p(n / x) + series
    if n > 16:
        return log_x + math.lgamma(x + n) - math.lgamma(x + 1)
    product = 1.0
    for j in range(1, n):
        product *= x + j
    return log_x + math.log(product)


@jit
def pick(logs: Array, weight: Array, n: int, rng: Generator) -> int:
    """Pick one of the first n by log weights; one whose weight is zero is never picked."""
    highest, total, chosen = logs[:n].max(), 0.0, 0
    for k in range(n):
        weight[k] = math.exp(logs[k] - highest)
        total += weight[k]
    left = total * rng.random()
    for k in range(n):
        if weight[k] > 0:
            chosen = k
            if left < weight[k]:
                break
            left -= weight[k]
    return chosen


def concentration(alpha: Array, people: int, n_groups: int, rng: Generator) -> None:
    """Draw log alpha, alpha[0], given q (Escobar and West), a few times; its prior is alpha[1:].

    x ~ Beta(alpha + 1, L), then Gamma(a + M, b - log x) with odds (a + M - 1) / (L (b - log x))
    against Gamma(a + M - 1, b - log x). Where a is zero alpha is fixed.
    """
    for _ in range(UPDATES if alpha[1] > 0 else 0):
        a, b = alpha[1], alpha[2]
        if people > 0:
            log_odds = log_gamma(1.0 * people, rng) - log_gamma(math.exp(alpha[0]) + 1, rng)
            b += math.log1p(math.exp(log_odds))
            odds = (a + n_groups - 1) / (people * b)
            a += n_groups - (0 if rng.random() * (1 + odds) < odds else 1)
        alpha[0] = log_gamma(a, rng) - math.log(b)


# ---- Items ----
#
# p(z[i] = t | rest) is in proportion to n[t] + eps mu[t] times, one label of the item at a time,
#
#     (n[l, t, c] + beta eta[t, c]) / (n[l, t] + beta[t]),
#
# with the labels of all other items, and those before this one, counted. Annotator l's labels are
# counted in said[row[l]], a matrix with the shapes of base[l].


@jit
def weigh(
    lo: np.uintp, hi: np.uintp, t: np.uintp, annotator: Array, answer: Array, row: Array,
    base: Array, class_total: Array, said: Array, class_weight: Array, shape: Array, logs: Array,
    p: Array, log_p: Array,
) -> None:  # fmt: skip
    """Weigh the classes of an item of class t: count its labels lo..hi under each, and undo it."""
    total, in_logs = np.uintp(said.shape[1] - 1), False
    for k in range(lo, hi):
        m = np.uintp(row[annotator[k]])
        said[m, answer[k], t] -= 1
        said[m, total, t] -= 1
    for u in range(np.uintp(len(p))):
        product, log_product = class_total[u] - (1 if u == t else 0) + class_weight[u], 0.0
        for k in range(lo, hi):
            l, c = annotator[k], answer[k]
            m, b = np.uintp(row[l]), np.uintp(base[l])
            n, n_all = said[m, c, u], said[m, total, u]
            said[m, c, u], said[m, total, u] = n + 1, n_all + 1
            above, below = n + shape[b, c, u], n_all + shape[b, total, u]
            after = product * (above / below)
            if above > SAFE and after > SAFE:
                product = after
            else:  # a logarithm for all before it; shapes may be zero as floats, their logs are not
                log_product += math.log(product)
                log_product += math.log(above) if n > 0 else logs[b, c, u]
                log_product -= math.log(below) if n_all > 0 else logs[b, total, u]
                product, in_logs = 1.0, True
        for k in range(lo, hi if u != t else lo):
            m = np.uintp(row[annotator[k]])
            said[m, answer[k], u] -= 1
            said[m, total, u] -= 1
        p[u], log_p[u] = product, log_product
    if in_logs:
        log_p += np.log(p)
        p[:] = np.exp(log_p - log_p.max())


@jit
def set_ratios(
    l: int, t: int | np.uintp, b: int, said: Array, shape: Array, logs: Array, ratio: Array
) -> None:
    """Tabulate annotator l's ratios for class t, and behind them those with one label less."""
    total, n_classes = said.shape[1] - 1, said.shape[2]
    n_all, beta = said[l, total, t], shape[b, total, t]
    for c in range(total):
        n, weight = said[l, c, t], shape[b, c, t]
        # Where nothing is counted it is eta, also if the shapes are zero as floats.
        eta = math.exp(logs[b, c, t] - logs[b, total, t]) if n_all < 2 else 0.0
        ratio[l, c, t] = (n + weight) / (n_all + beta) if n_all > 0 else eta
        ratio[l, c, n_classes + t] = (n - 1 + weight) / (n_all - 1 + beta) if n_all > 1 else eta


@jit
def log_labels(said: Array, logs: Array, rising: Array) -> float:
    """Give log p(labels) of matrices with one base, whose rising factorials are tabulated."""
    total, log_p = said.shape[1] - 1, 0.0
    for m in range(len(said)):
        for t in range(said.shape[2]):
            for c in range(total + 1 if said[m, total, t] > 0 else 0):
                n, sign, log_x = said[m, c, t], 1 if c < total else -1, logs[0, c, t]
                if n < rising.shape[2]:
                    log_p += sign * rising[c, t, n]
                else:
                    log_p += sign * log_rising(math.exp(log_x), n, log_x)
    return log_p


def sweep_items(
    n: int, free: Array, once: Array, start: Array, annotator: Array, answer: Array,
    row: Array, base: Array, truth: Array, class_total: Array, said: Array, own: Array,
    class_weight: Array, logs: Array, rising: Array, sums: Array, trace: Array, totals: Array,
    rng: Generator,
) -> None:  # fmt: skip
    """Draw the class of every free item, one after the other, n times over.

    Where no two labels of an item share a matrix (``once``) their ratios are looked up. The item
    stays in the counts, its own class has the ratios with one label less: most items keep their
    class, and then nothing is written. Where coteries share matrices ``own`` has everybody's
    counts; elsewhere it is empty. Without ``rising`` log p(labels) is not noted.
    """
    n_classes, one, two = np.uintp(len(class_total)), np.uintp(1), np.uintp(2)
    total, shape = said.shape[1] - 1, np.exp(logs)
    p, log_p = np.zeros(len(class_total)), np.zeros(len(class_total))
    ratio = np.zeros((len(said) if len(own) == 0 else 0, total, 2 * said.shape[2]))
    for l in range(len(ratio)):
        for k in range(said.shape[2] if base[l] >= 0 else 0):
            set_ratios(l, k, base[l], said, shape, logs, ratio)
    for sweep in range(n):
        for i in free:
            sum_p, new = 0.0, np.uintp(0)
            t, lo, hi = np.uintp(truth[i]), np.uintp(start[i]), np.uintp(start[i + 1])
            if once[i] and n_classes == two:
                other, less, at = one - t, two + t, lo
                stay = class_total[t] - 1 + class_weight[t]
                move = class_total[other] + class_weight[other]
                stay_too, move_too = 1.0, 1.0  # two products at a time: they need not wait
                while at + one < hi:
                    l, c = annotator[at], answer[at]
                    stay *= ratio[l, c, less]
                    move *= ratio[l, c, other]
                    l, c = annotator[at + one], answer[at + one]
                    stay_too *= ratio[l, c, less]
                    move_too *= ratio[l, c, other]
                    at += two
                if at < hi:
                    stay *= ratio[annotator[at], answer[at], less]
                    move *= ratio[annotator[at], answer[at], other]
                p[t], p[other] = stay * stay_too, move * move_too
                sum_p = p[t] + p[other]
            elif once[i]:
                stay = class_total[t] - 1 + class_weight[t]
                for u in range(n_classes):
                    p[u] = class_total[u] + class_weight[u]
                for k in range(lo, hi):
                    l, c = annotator[k], answer[k]
                    stay *= ratio[l, c, n_classes + t]
                    for u in range(n_classes):
                        p[u] *= ratio[l, c, u]
                p[t] = stay
                sum_p = p.sum()
            if not sum_p > SAFE:
                weigh(
                    lo, hi, t, annotator, answer, row, base, class_total, said, class_weight,
                    shape, logs, p, log_p,
                )  # fmt: skip
                sum_p = p.sum()
            for u in range(n_classes if len(sums) > 0 else 0):
                sums[i, u] += p[u] / sum_p
            left = sum_p * rng.random()
            while new + one < n_classes and left >= p[new]:
                left -= p[new]
                new += one
            if new == t:
                continue
            truth[i] = new
            for v, sign in ((t, -1), (new, 1)):
                class_total[v] += sign
                for k in range(lo, hi):
                    l, c = annotator[k], answer[k]
                    said[row[l], c, v] += sign
                    said[row[l], total, v] += sign
                    if len(own) > 0:
                        own[l, c, v] += sign
                        own[l, total, v] += sign
                    else:
                        set_ratios(l, v, base[l], said, shape, logs, ratio)
        totals[sweep] = class_total
        if len(rising) > 0:
            trace[sweep, LABELS] = log_labels(said, logs, rising)


# ---- People ----


def open_tables(said: Array, group: Array, weight: Array, tables: Array, rng: Generator) -> None:
    """Add to ``tables`` the sum over members l of Antoniak(n[l, t, c], weight[m, c, t]).

    The label after j others opens a table with probability x / (x + j), the first always. Far on,
    where few do, the next is looked for: with k = max(x, 1) none before label e + 1 has a
    probability of at least (j / (e + 1))^k, and candidates that come so often are thinned.
    """
    for l in range(len(group)):
        for c in range(weight.shape[1] if group[l] >= 0 else 0):
            for t in range(weight.shape[2]):
                m, n, j = group[l], said[l, c, t], 1
                x, s = weight[m, c, t], min(n, 1)
                k = max(x, 1.0)
                while j < n and j < 16 * k:
                    s += rng.random() * (x + j) < x
                    j += 1
                while j < n:
                    e = math.floor(min(j * math.exp(-math.log1p(-rng.random()) / k), 1.0 * n))
                    candidate = -math.expm1(-k * math.log1p(1 / e))
                    s += e < n and rng.random() * candidate * (x + e) < x
                    j = e + 1
                tables[m, c, t] += s


@jit
def draw_parameters(
    first: int, said: Array, group: Array, weight: Array, a: Array, b: Array, logs: Array,
    log_mean: Array, rng: Generator,
) -> None:  # fmt: skip
    """Draw beta and eta of coteries from ``first`` on, into the logs, given their members' labels.

        nu[l, t]   ~ Beta(beta[m, t], n[l, t])  where n[l, t] > 0
        s[l, t, c] ~ Antoniak(n[l, t, c], beta[m, t] eta[m, t, c])
        eta[m, t]  ~ Dir(phi gamma[t] + sum over members of s)
        beta[m, t] ~ Gamma(a + sum over members and c of s,  b - sum over members of log nu)

    A Beta(x, n) number is U^(1 / x) times a Beta(x + 1, n - 1) number. The former may be too small
    for a float; minus their logs add up to a Gamma(members, x) number.
    """
    slots, total, n_classes = logs.shape[0], logs.shape[1] - 1, logs.shape[2]
    tables, log_g = np.zeros((slots, total, n_classes), np.int64), np.zeros(total)
    members, decay = np.zeros((slots, n_classes), np.int64), np.zeros((slots, n_classes))
    open_tables(said, group, np.exp(logs[:, :total]), tables, rng)
    for l in range(len(group)):
        for t in range(n_classes if group[l] >= 0 else 0):
            m, n = group[l], said[l, total, t]
            members[m, t] += n > 0
            if n > 1:
                log_odds = log_gamma(n - 1.0, rng)
                log_odds -= log_gamma(math.exp(logs[m, total, t]) + 1, rng)
                decay[m, t] += math.log1p(math.exp(log_odds))
    for m in range(first, slots):
        for t in range(n_classes):
            log_rate = math.log(b[t] + decay[m, t])
            if members[m, t] > 0:
                log_more = log_gamma(1.0 * members[m, t], rng) - logs[m, total, t]
                log_rate = np.logaddexp(log_rate, log_more)
            for c in range(total):
                log_g[c] = log_gamma(weight[c, t] + tables[m, c, t], rng)
            log_sum = log_g.max() + math.log(np.exp(log_g - log_g.max()).sum())
            logs[m, total, t] = log_gamma(a[t] + tables[m, :, t].sum(), rng) - log_rate
            for c in range(total):
                log_mean[m, c, t] = log_g[c] - log_sum
                logs[m, c, t] = log_mean[m, c, t] + logs[m, total, t]


def reuse(
    done: int, people: Array, said: Array, logs: Array, group: Array, size: Array, spare: Array,
    used: int, log_alpha: float, rng: Generator,
) -> tuple[int, int, float]:  # fmt: skip
    """Seat people from the ``done``-th on, one after the other (Reuse, Favaro and Teh).

    Places are the coteries, which weigh their size, and the slots ``spare``, which weigh alpha / h
    each; times the probability of the labels there. A coterie that is left empty takes, with its
    parameters, the place of a spare one *before* the weights are computed; a spare one that is
    chosen is a coterie, and the first slot not used yet takes its place. If none is left it stops.

    Given are how many people are seated, how many slots used, and log p(labels) of who sat down.
    """
    total, n_classes, tabulated, log_all = said.shape[1] - 1, said.shape[2], 0, 0.0
    longest = max(1, min(LONGEST, TABLE_SIZE // logs.size))
    table = np.zeros((total + 1, n_classes, longest + 1, len(logs)))  # log (beta eta[m, t, c])_(n)
    log_seat, log_p, weight = np.zeros(len(logs)), np.zeros(len(logs)), np.zeros(len(logs))
    log_spare = log_alpha - math.log(len(spare))
    for m in range(used):
        log_seat[m] = math.log(size[m]) if size[m] > 0 else -math.inf
    for m in spare:
        log_seat[m] = log_spare
    while done < len(people) and used < len(logs):
        for m in range(tabulated, used):
            for c in range(total + 1):
                for t in range(n_classes):
                    x, log_risen = math.exp(logs[m, c, t]), logs[m, c, t]
                    for n in range(1, longest + 1):
                        table[c, t, n, m] = log_risen
                        log_risen += math.log(x + n)
        tabulated, l = used, people[done]
        m = group[l]
        size[m] -= 1
        log_seat[m] = math.log(size[m]) if size[m] > 0 else log_spare
        if size[m] == 0:
            k = int(rng.random() * len(spare))
            size[spare[k]], log_seat[spare[k]], spare[k] = -1, -math.inf, m
        for m in range(used):
            log_p[m] = log_seat[m]
        for t in range(n_classes):
            for c in range(total + 1 if said[l, total, t] > 0 else 0):
                n, sign = said[l, c, t], 1.0 if c < total else -1.0
                if n <= longest:
                    risen = table[c, t, n]
                    for m in range(used if n > 0 else 0):
                        log_p[m] += sign * risen[m]
                else:
                    for m in range(used):
                        log_x = logs[m, c, t]
                        log_p[m] += sign * log_rising(math.exp(log_x), n, log_x)
        m = pick(log_p, weight, used, rng)
        log_all += log_p[m] - log_seat[m]
        if size[m] == 0:
            k = np.flatnonzero(spare == m)[0]
            size[used], log_seat[used], spare[k] = 0, log_spare, used
            used += 1
        group[l] = m
        size[m] += 1
        log_seat[m] = math.log(size[m])
        done += 1
    return done, used, log_all


def join(
    people: Array, own: Array, said: Array, group: Array, size: Array, logs: Array, rising: Array,
    log_alpha: float, rng: Generator,
) -> None:  # fmt: skip
    """Seat people, one after the other, where members of a coterie share a matrix.

    A coterie weighs its size, a new one alpha, times the probability of the labels after those of
    the members: for c and t, (beta eta)_(n[m] + n[l]) / (beta eta)_(n[m]).
    """
    total, used, cells = said.shape[1] - 1, len(size) - 1, np.zeros((own[:1].size, 3), np.int64)
    log_p, weight = np.zeros(len(size)), np.zeros(len(size))
    for l in people:
        m, n_cells, new = group[l], 0, -1
        size[m] -= 1
        for c in range(total + 1):
            for t in range(said.shape[2]):
                if own[l, c, t] > 0:
                    said[m, c, t] -= own[l, c, t]
                    cells[n_cells, 0], cells[n_cells, 1], cells[n_cells, 2] = c, t, own[l, c, t]
                    n_cells += 1
        while used > 0 and size[used - 1] == 0:
            used -= 1
        for m in range(used + 1):
            if size[m] == 0 and new >= 0:
                log_p[m] = -math.inf
                continue
            new = m if size[m] == 0 else new
            log_p[m] = math.log(size[m]) if size[m] > 0 else log_alpha
            for k in range(n_cells):
                c, t, n = cells[k, 0], cells[k, 1], cells[k, 2]
                before, sign = said[m, c, t], 1 if c < total else -1
                if before + n < rising.shape[2]:
                    log_p[m] += sign * (rising[c, t, before + n] - rising[c, t, before])
                else:
                    x = math.exp(logs[0, c, t]) + before
                    log_x = math.log(x) if before > 0 else logs[0, c, t]
                    log_p[m] += sign * log_rising(x, n, log_x)
        m = pick(log_p, weight, used + 1, rng)
        group[l] = m
        size[m] += 1
        used = max(used, m + 1)
        for k in range(n_cells):
            said[m, cells[k, 0], cells[k, 1]] += cells[k, 2]


# ---- Sweeps ----


def cbcc_sweeps(
    n: int, people: Array, free: Array, once: Array, start: Array, annotator: Array, answer: Array,
    base: Array, truth: Array, class_total: Array, own: Array, said: Array, group: Array,
    size: Array, class_weight: Array, logs: Array, rising: Array, alpha: Array, sums: Array,
    trace: Array, totals: Array, rng: Generator,
) -> None:  # fmt: skip
    """Sweep cBCC n times: items, people, alpha; then coteries are numbered without gaps."""
    place = np.zeros_like(size)
    for sweep in range(n):
        now, n_groups = trace[sweep : sweep + 1], 0
        sweep_items(
            1, free, once, start, annotator, answer, group, base, truth, class_total, said, own,
            class_weight, logs, rising[:0], sums, now, totals[sweep : sweep + 1], rng,
        )  # fmt: skip
        join(people, own, said, group, size, logs, rising, alpha[0], rng)
        for m in range(len(size)):
            if size[m] > 0:
                now[0, SEATS] += math.lgamma(size[m])
                size[n_groups], said[n_groups], place[m] = size[m], said[m], n_groups
                n_groups += 1
        size[n_groups:], said[n_groups:] = 0, 0
        for l in people:
            group[l] = place[group[l]]
        concentration(alpha, len(people), n_groups, rng)
        now[0, LABELS] = log_labels(said, logs, rising)
        now[0, ALPHA], now[0, COTERIES] = alpha[0], n_groups


def hcbcc_sweeps(
    n: int, people: Array, h: int, free: Array, once: Array, start: Array, annotator: Array,
    answer: Array, row: Array, truth: Array, class_total: Array, said: Array, group: Array,
    class_weight: Array, weight: Array, a: Array, b: Array, logs: Array, log_mean: Array,
    n_groups: int, alpha: Array, sums: Array, trace: Array, totals: Array, rng: Generator,
) -> int:  # fmt: skip
    """Sweep hcBCC n times: beta and eta, items, people, alpha; give how many coteries there are.

    ``logs`` has room for as many coteries as people, the auxiliary ones, and all that are opened.
    Log eta stands beside it: the difference of log (beta eta) and log beta would be another number.
    """
    total, size = said.shape[1] - 1, np.zeros(len(logs), np.int64)
    for sweep in range(n):
        now, slots = trace[sweep : sweep + 1], n_groups + h + AHEAD
        # beta and eta first: at the start they know nothing of the labels yet.
        draw_parameters(0, said, group, weight, a, b, logs[:slots], log_mean, rng)
        sweep_items(
            1, free, once, start, annotator, answer, row, group, truth, class_total, said, said[:0],
            class_weight, logs[:n_groups], logs[:0], sums, now, totals[sweep : sweep + 1], rng,
        )  # fmt: skip
        done, used, spare = 0, n_groups + h, np.arange(n_groups, n_groups + h)
        size[:used], size[used:] = 0, -1
        for l in people:
            size[group[l]] += 1
        while done < len(people):
            if used == slots:  # more are opened than was foreseen
                slots += AHEAD
                draw_parameters(used, said, group[:0], weight, a, b, logs[:slots], log_mean, rng)
            done, used, log_p = reuse(
                done, people, said, logs[:slots], group, size, spare, used, alpha[0], rng
            )
            now[0, LABELS] += log_p
        n_groups = 0
        for m in range(used):
            if size[m] > 0:
                now[0, SEATS] += math.lgamma(size[m])
                logs[n_groups], log_mean[n_groups], size[m] = logs[m], log_mean[m], n_groups
                n_groups += 1
        for l in people:
            group[l] = size[group[l]]
        for m in range(n_groups):
            for t in range(said.shape[2]):
                log_beta = logs[m, total, t]
                now[0, PARAMETERS] += (a[t] - 1) * log_beta - b[t] * math.exp(log_beta)
                for c in range(total):
                    now[0, PARAMETERS] += (weight[c, t] - 1) * log_mean[m, c, t]
        concentration(alpha, len(people), n_groups, rng)
        now[0, ALPHA], now[0, COTERIES] = alpha[0], n_groups
    return n_groups


# ---- What Python calls ----

ibcc_loop: Any = entry(sweep_items)
cbcc_loop: Any = entry(cbcc_sweeps)
hcbcc_loop: Any = entry(hcbcc_sweeps)
reuse_loop: Any = entry(reuse)
join_loop: Any = entry(join)
tables_loop: Any = entry(open_tables)
concentration_loop: Any = entry(concentration)
as_compiled = partial(np.require, requirements="CAWE")  # for others loops would be compiled again


def sweep(
    model: str, state: State, data: Codes, people: Any, n: int, rng: Generator, sums: Array | None
) -> dict[str, Array]:
    """Change the state by n sweeps, to the bit as n calls of one do; give what they went through.

    ``people`` are those of the model; see :mod:`coterie.kernels.people`. ``sums``, (items, T), gets
    every sweep's conditional probabilities; in burn-in it is None.
    """
    state |= {name: as_compiled(state[name], KINDS[name]) for name in KINDS if name in state}
    said, items = with_total(state["said"]), items_of(data)
    base = people.mean_weight if model == "hcbcc" else people.weight
    class_weight, base = (as_compiled(x, np.float64) for x in (people.space.class_weight, base))
    trace, totals = np.zeros((n, 5)), np.zeros((n, data.n_classes), np.int64)
    everybody, none = np.arange(len(said), dtype=np.int32), np.zeros(len(said), np.int32)
    truth = state["truth"], state["cell_total"]
    notes = np.zeros((0, data.n_classes)) if sums is None else sums, trace, totals, rng
    if model != "hcbcc":
        logs, rising = np.log(with_total(base))[None], as_compiled(people.rising, np.float64)
    if model != "ibcc":
        group, alpha = state["group"], np.append(state["log_concentration"], people.alpha)
        state["log_concentration"] = alpha[:1]  # that the loops draw
    if model == "ibcc":
        ibcc_loop(
            n, *items, everybody, none, *truth, said, said[:0], class_weight, logs, rising, *notes
        )
    elif model == "cbcc":
        items[1][:] = False  # coteries share matrices
        seated, of_groups, size = members_of(said, group)
        cbcc_loop(
            n, seated, *items, none, *truth, said, of_groups, group, size, class_weight, logs,
            rising, alpha, *notes,
        )  # fmt: skip
    else:
        seated, m, h = np.flatnonzero(group >= 0), len(state["log_strength"]), people.auxiliaries
        a, b = (as_compiled(array, np.float64) for array in (people.shape, people.rate))
        logs = np.zeros((2 * len(seated) + h + AHEAD + 1, *said.shape[1:]))
        log_mean = np.zeros((len(logs), *base.shape))
        log_mean[:m] = state["log_mean"]
        logs[:m] = with_strength(state["log_strength"], log_mean[:m])
        m = hcbcc_loop(
            n, seated, h, *items, everybody, *truth, said, group, class_weight, base, a, b, logs,
            log_mean, m, alpha, *notes,
        )  # fmt: skip
        state |= {"log_strength": logs[:m, -1].copy(), "log_mean": log_mean[:m].copy()}
    state["said"][:] = said[:, :-1]
    if sums is not None:  # known items are what they are, silent ones as the next would be
        known, n_labels, shares = data.gold >= 0, np.diff(data.item_start), totals + class_weight
        sums[known, data.gold[known]] += n
        silent = np.flatnonzero(~known & (n_labels == 0))
        for share in shares / shares.sum(axis=1, keepdims=True) if len(silent) else ():
            sums[silent] += share
    log_labels, log_sizes, of_parameters, log_alpha, n_groups = trace.T
    joint = log_labels + log_risen(class_weight, totals).sum(axis=1)
    joint -= log_risen(class_weight.sum(), totals.sum(axis=1))
    found = {"log_joint": joint, "log_likelihood": log_labels, "class_total": totals}
    if model != "ibcc":
        joint += people.log_seats(log_sizes, n_groups, log_alpha)
        found |= {"n_coteries": n_groups.astype(np.int64), "concentration": np.exp(log_alpha)}
    if model == "hcbcc":
        joint += people.log_parameters(of_parameters, n_groups)
    return found


def items_of(data: Codes) -> tuple[Array, ...]:
    """Give free items, whether labels of an item are of different people, and labels."""
    n_labels = np.diff(data.item_start)
    again = np.flatnonzero(data.item_annotator[1:] == data.item_annotator[:-1]) + 1
    item = np.searchsorted(data.item_start, again, side="right") - 1
    once = np.ones(len(n_labels), np.bool_)
    once[item[data.item_start[item] < again]] = False
    # Unsigned: then there is no code for negative places. Read-only: loops are compiled for that.
    labels = data.item_start[:], data.item_annotator.view("u4"), data.item_answer.view("u4")
    for array in labels:
        array.setflags(write=False)
    return np.flatnonzero((n_labels > 0) & (data.gold < 0)), once, *labels


def members_of(counts: Array, group: Array) -> tuple[Array, Array, Array]:
    """Give who is seated, what members said and how many they are; room for one coterie each."""
    people = np.flatnonzero(group >= 0)
    said = np.zeros((len(people) + 1, *counts.shape[1:]), np.int32)
    np.add.at(said, group[people], counts[people])
    return people, said, np.bincount(group[people], minlength=len(said))


def with_total(array: Array) -> Array:
    """Put the sum over answers behind (..., C, T)."""
    return np.concatenate([array, array.sum(axis=-2, keepdims=True, dtype=array.dtype)], axis=-2)


def with_strength(log_strength: Array, log_mean: Array) -> Array:
    """Give log (beta eta), and log beta behind it, (M, C + 1, T)."""
    log_beta = np.broadcast_to(log_strength[:, None], (len(log_mean), 1, log_mean.shape[2]))
    return np.concatenate([log_mean + log_beta, log_beta], axis=1)


def log_risings(weight: Array) -> Array:
    """Tabulate log (x)_(n) of weights (C, T) and their sums, (C + 1, T, n)."""
    x = with_total(weight)[..., None]
    steps = np.log(x + np.arange(max(BASE_TABLE_SIZE // x.size, 2) - 1))
    return np.concatenate([np.zeros_like(x), np.cumsum(steps, axis=2)], axis=2)


def log_risen(x: Any, n: Any) -> Array:
    """Give log (x)_(n); a difference of log-gammas would have no digits left where x is large."""
    some = np.where(np.greater(n, 0), n, 1.0)
    return np.where(np.greater(n, 0), gammaln(some) - betaln(x, some), 0.0)


def log_together(said: Array, weight: Array) -> Array:
    """Give log p(labels) of coteries that share a matrix, rows Dir(weight); said (M, C, T)."""
    rows = log_risen(weight.sum(axis=-2), said.sum(axis=-2))
    return np.asarray(log_risen(weight, said).sum(axis=(1, 2)) - rows.sum(axis=1))


def log_marginal(said: Array, weight: Array) -> float:
    return float(log_together(said, weight).sum())


def draw_tables(said: Array, group: Array, weight: Array, rng: Generator) -> Array:
    """Draw the sums over members l of Antoniak(said[l, c, t], weight[m, c, t]), (M, C, T)."""
    tables, counts = np.zeros(weight.shape, np.int64), said.astype(np.int32, copy=False)
    tables_loop(counts, group.astype(np.int32, copy=False), weight, tables, rng)
    return tables
