"""The items half of a sweep: given everybody's matrices, every item by itself, in any order.

What an item may be is a *cell*: a class, or a sub-type of a class, or a class and a kind. Item i is
in cell (k, t) with a probability in proportion to

    rho[k] w[r, t]  product over its labels (l, c) of  (1 - lam[k]) Psi[l, c, t] + lam[k] v[c],

where w[r] are the prior weights of the cells of items like it: r = 0 where nothing is known, 1 + g
where gold says class g (the others are zero), and more where kinds are known. With lam = 0 and one
kind, which most models have, a label is Psi[l, c, t]. A label of an item of kind k came from the
matrix with the first part's share, else it was a guess.

Sums of what comes back are the counts of all items: whole numbers, the same in any order. Random
numbers are looked up, not drawn in turn: Philox 4x32 with ten rounds (Salmon and others, 2011)
turns sweep, place and the item's key into numbers under a key of the run and the chain. So an
item's numbers are the same whoever draws them, and none is used twice.
"""

from __future__ import annotations

import functools
import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from coterie.numeric import FloatArray, IntArray, LongArray
from coterie.numeric.compile import entry, jit

Keys = NDArray[np.uint64]

MASK, HALF = np.uint64(0xFFFFFFFF), np.uint64(32)
FIRST, SECOND = np.uint64(0xD2511F53), np.uint64(0xCD9E8D57)
GOLDEN, ROOT = np.uint64(0x9E3779B9), np.uint64(0xBB67AE85)
DROPPED, UNIT = np.uint64(11), 2.0**-53
# Weights only fall. Where the largest ends above this, others are right to 1e-200 of it, which no
# uniform number sees; where it does not, the item is weighed again in logs. So it is where a class
# is below the second that counts after all, tempered.
LEAST, LEAST_MARGINAL = 1e-100, 1e-260


@jit
def uniforms(stream: Keys, key: Any, place: int) -> tuple[float, float]:
    """Give two numbers in [0, 1) of an item: at a place of the stream (low, high, sweep)."""
    low, high = stream[0], stream[1]
    a, b, c, d = stream[2], np.uint64(place), np.uint64(key) & MASK, np.uint64(key) >> HALF
    for _ in range(10):
        first, second = a * FIRST, c * SECOND
        a, b = (second >> HALF) ^ b ^ low, second & MASK
        c, d = (first >> HALF) ^ d ^ high, first & MASK
        low, high = (low + GOLDEN) & MASK, (high + ROOT) & MASK
    first, second = ((a << HALF) | b) >> DROPPED, ((c << HALF) | d) >> DROPPED
    return np.float64(first) * UNIT, np.float64(second) * UNIT


@jit
def weigh_kinds(
    n: int, at: Keys, guess: FloatArray, kinds: FloatArray, lam: FloatArray, chance: FloatArray,
    n_cells: int, n_kinds: int, w: FloatArray,
) -> None:  # fmt: skip
    """Write the weights of an item's cells, but for the rows' w, where labels may be guesses.

    Three kinds, which the default model has, are weighed of two classes at a time.
    """
    paired = n_cells // 2 * 2 if n_kinds == 3 else 0
    for t in range(0, paired, 2):
        a, b, c = kinds[0], kinds[1], kinds[2]
        d, e, f = a, b, c
        for j in range(np.uintp(n)):
            x, y, v = chance[at[j] + np.uintp(t)], chance[at[j] + np.uintp(t + 1)], guess[j]
            a *= (1 - lam[0]) * x + lam[0] * v
            b *= (1 - lam[1]) * x + lam[1] * v
            c *= (1 - lam[2]) * x + lam[2] * v
            d *= (1 - lam[0]) * y + lam[0] * v
            e *= (1 - lam[1]) * y + lam[1] * v
            f *= (1 - lam[2]) * y + lam[2] * v
        w[t], w[n_cells + t], w[2 * n_cells + t] = a, b, c
        w[t + 1], w[n_cells + t + 1], w[2 * n_cells + t + 1] = d, e, f
    for t in range(paired, n_cells):
        for k in range(n_kinds):
            x = kinds[k]
            for j in range(np.uintp(n)):
                x *= (1 - lam[k]) * chance[at[j] + np.uintp(t)] + lam[k] * guess[j]
            w[k * n_cells + t] = x


@jit
def weigh_in_logs(
    labels: IntArray, n_answers: int, kinds: FloatArray, log_weight: FloatArray, lam: FloatArray,
    log_chance: FloatArray, hard: FloatArray, tau: float, w: FloatArray, tempered: FloatArray,
) -> float:  # fmt: skip
    """Write the weights of an item's cells, whatever their size, and tempered ones; sum the first.

    Where shapes have underflowed to nothing, nothing is known.
    """
    n_cells, top, highest, total = len(log_weight), -math.inf, -math.inf, 0.0
    for t in range(n_cells):
        marginal = -math.inf
        for k in range(len(kinds)):
            x = math.log(kinds[k]) if kinds[k] > 0 else -math.inf
            for column in labels:
                own = log_chance[np.int64(column) * n_cells + t]
                if lam[k] > 0:
                    by_guess = lam[k] * hard[column % n_answers]
                    log_guess = math.log(by_guess) if by_guess > 0 else -math.inf
                    own = np.logaddexp(math.log1p(-lam[k]) + own, log_guess)
                x += own
            marginal = np.logaddexp(marginal, x)
            w[k * n_cells + t] = x + log_weight[t]
            top = max(top, w[k * n_cells + t])
        tempered[t] = tau * marginal + log_weight[t]
        highest = max(highest, tempered[t])
    for t in range(n_cells):
        prior, known = math.exp(log_weight[t]), top > -math.inf
        tempered[t] = math.exp(tempered[t] - highest) if known else prior
        for k in range(len(kinds)):
            place = k * n_cells + t
            w[place] = math.exp(w[place] - top) if known else kinds[k] * prior
            total += w[place]
    return total


@jit
def count_sources(
    stream: Keys, key: Any, column: IntArray, first: int, n: int, n_answers: int, at: Keys,
    guess: FloatArray, t: int, lam: float, chance: FloatArray, said: IntArray, guessed: LongArray,
) -> int:  # fmt: skip
    """Draw which labels of an item are guesses, and count all by that; say how many they are."""
    n_guessed, u, v = 0, 0.0, 0.0
    for j in range(n):
        if j % 2 == 0:
            u, v = uniforms(stream, key, 1 + j // 2)
        place = at[j] + np.uintp(t)
        by_matrix = (1 - lam) * chance[place]
        both = by_matrix + lam * guess[j]
        if (u if j % 2 == 0 else v) * both < by_matrix or both == 0.0:
            said[place] += 1
        else:
            guessed[column[first + j] % n_answers] += 1
            n_guessed += 1
    return n_guessed


@functools.cache
def sweep_of(fixed_cells: int, fixed_kinds: int, guesses: bool) -> Any:
    """Give the loop over the items of a shard, for so many cells and kinds; zero: for any number.

    What is fixed are constants to the compiler: forms of one source, not copies.
    """

    def sweep_items(
        key: Keys, start: LongArray, column: IntArray, row: IntArray, winner: IntArray,
        n_answers: int, cell_class: LongArray, kinds: FloatArray,
        weight: FloatArray, log_weight: FloatArray, lam: FloatArray, chance: FloatArray,
        log_chance: FloatArray, hard: FloatArray, design_effect: float, stream: Keys,
        said: IntArray, cell_total: LongArray, kind_total: LongArray, source: LongArray,
        guessed: LongArray, agreed: LongArray, truth: IntArray, sums: FloatArray,
    ) -> None:  # fmt: skip
        """Draw every item's cell and where its labels came from; count them, and tally the items.

        Of the items there are keys, where the labels of each begin, labels as annotator * answers +
        answer, which row of weights (by kind and known class) and the vote's clear winner or -1.
        Given are the class of each cell, rho, w (rows, cells), lam, Psi (flat) and v. The stream is
        the chain's key, in two words, and the sweep. Counted are labels by column and cell (flat),
        items by cell, items with labels by kind, labels by kind that are guesses and that are not,
        guesses by answer, and clear votes that are the truth. Noted, where the arrays have a
        length, are the cell of every item and the sums of its probabilities: of the cells and,
        where labels may be guesses, tempered ones, in proportion to w[r, t] mar[t]^tau, tau =
        1 / (1 + design_effect (n - 1)), mar[t] being p(its n labels), and those of the kinds.
        """
        n_cells = fixed_cells if fixed_cells else weight.shape[1]
        n_kinds = fixed_kinds if fixed_kinds else len(kinds)
        longest = 0
        for i in range(len(row)):
            longest = max(longest, start[i + 1] - start[i])
        # Indices below zero would be asked for at every label, if there could be any.
        at, guess = np.empty(longest, np.uintp), np.empty(longest)
        w, tempered = np.empty(n_kinds * n_cells), np.empty(n_cells)
        n_rows = cell_class[n_cells - 1] + 2  # of weights, of items of a kind
        for i in range(len(row)):
            first, n, r = start[i], start[i + 1] - start[i], row[i]
            if n == 0 and (r % n_rows == 0 or guesses):
                if r % n_rows > 0:
                    cell_total[r % n_rows - 1] += 1
                continue
            for j in range(np.uintp(n)):
                label = np.uintp(column[np.uintp(first) + j])
                at[j] = label * np.uintp(n_cells)
                if guesses:
                    guess[j] = hard[label % np.uintp(n_answers)]
            if guesses:
                weigh_kinds(n, at, guess, kinds, lam, chance, n_cells, n_kinds, w)
            else:
                for t in range(n_cells):
                    x = kinds[0]
                    for j in range(np.uintp(n)):
                        x *= chance[at[j] + np.uintp(t)]
                    w[t] = x
            top, total, least, tau = 0.0, 0.0, 1.0, 1.0
            tempers = guesses and len(sums) > 0
            if tempers:
                tau = 1 / (1 + design_effect * (n - 1))
            for t in range(n_cells):
                marginal = 0.0
                for k in range(n_kinds):
                    x = w[k * n_cells + t]
                    marginal += x
                    x *= weight[r, t]
                    w[k * n_cells + t] = x
                    total += x
                    top = max(top, x)
                if tempers:
                    least = min(least, marginal)
                    tempered[t] = weight[r, t] * marginal**tau
            if top < LEAST or least < LEAST_MARGINAL:
                total = weigh_in_logs(
                    column[first : first + n], n_answers, kinds, log_weight[r], lam, log_chance,
                    hard, tau, w, tempered,
                )  # fmt: skip
            u, _ = uniforms(stream, key[i], 0)
            u *= total
            cell = 0
            while cell < n_kinds * n_cells - 1 and u >= w[cell]:
                u -= w[cell]
                cell += 1
            while w[cell] == 0.0:  # rounding: the last weights may be zeros
                cell -= 1
            k, t = cell // n_cells, cell % n_cells
            scale = 1 / total
            if tempers:
                whole = 0.0
                for f in range(n_cells):
                    whole += tempered[f]
                scale_tempered = 1 / whole
                for f in range(n_cells):
                    p = 0.0
                    for h in range(n_kinds):
                        p += w[h * n_cells + f]
                    sums[i, f] += p * scale
                    sums[i, n_cells + f] += tempered[f] * scale_tempered
                for h in range(n_kinds):
                    p = 0.0
                    for f in range(n_cells):
                        p += w[h * n_cells + f]
                    sums[i, 2 * n_cells + h] += p * scale
            elif len(sums) > 0:
                for place in range(n_cells):
                    sums[i, place] += w[place] * scale
            if len(truth) > 0:
                truth[i] = t
            cell_total[t] += 1
            agreed[0] += winner[i] == cell_class[t]
            n_guessed = 0
            if guesses and lam[k] > 0:
                n_guessed = count_sources(
                    stream, key[i], column, first, n, n_answers, at, guess, t, lam[k], chance,
                    said, guessed,
                )  # fmt: skip
            else:
                for j in range(np.uintp(n)):
                    said[at[j] + np.uintp(t)] += 1
            if guesses:
                kind_total[k] += 1
                source[k, 0] += n_guessed
                source[k, 1] += n - n_guessed

    sweep_items.__qualname__ = f"sweep_items_{fixed_cells}_{fixed_kinds}_{int(guesses)}"
    return entry(sweep_items)


@entry
def start_items(
    key: Keys, start: LongArray, column: IntArray, row: IntArray, n_answers: int, n_classes: int,
    cell_class: LongArray, weight: FloatArray, noise: float, ties: bool,
    stream: Keys, said: IntArray, cell_total: LongArray, kind_total: LongArray, source: LongArray,
) -> None:  # fmt: skip
    """Count every item where it starts: in the class that it is known to have, or its vote.

    A share ``noise`` of the items starts with the class of one of their own labels. Of classes
    that tie it is the first, or one by chance if ``ties``; among the cells of a class, one by its
    weight. Items are of the first kind, and no label is a guess.
    """
    votes = np.empty(n_classes)
    for i in range(len(row)):
        first, last, t = start[i], start[i + 1], np.int64(row[i] % (n_classes + 1)) - 1
        if first == last and t < 0:
            continue
        u, v = uniforms(stream, key[i], 0)
        w, tie = uniforms(stream, key[i], 1)
        if t < 0:
            votes[:] = 0.0
            for j in range(first, last):
                if column[j] % n_answers < n_classes:
                    votes[column[j] % n_answers] += 1
            best = votes.max()
            skip = np.int64((votes == best).sum() * tie) if ties else np.int64(0)
            for c in range(n_classes):
                if votes[c] == best:
                    if skip == 0:
                        t = np.int64(c)
                    skip -= 1
            said_one = column[first + np.int64(v * (last - first))] % n_answers
            if u < noise and said_one < n_classes:
                t = np.int64(said_one)
        total, cell = 0.0, -1
        for f in range(len(cell_class)):
            total += weight[row[i], f] if cell_class[f] == t else 0.0
        w *= total
        for f in range(len(cell_class)):
            if cell_class[f] == t and w >= 0 and (weight[row[i], f] > 0 or cell < 0):
                cell = f
                w -= weight[row[i], f]
        cell_total[cell] += 1
        if first < last and len(kind_total) > 0:
            kind_total[0] += 1
            source[0, 1] += last - first
        for j in range(first, last):
            said[np.int64(column[j]) * len(cell_class) + cell] += 1


@entry
def count_drawn(
    key: Keys, start: LongArray, column: IntArray, probability: FloatArray, stream: Keys,
    first_draw: int, said: IntArray,
) -> None:  # fmt: skip
    """Draw every item's class in some draws, from its probabilities, and count labels by it.

    The numbers of ``said`` (draws, columns, classes) are added to; the first draw's is even.
    """
    n_classes = probability.shape[1]
    for i in range(len(start) - 1):
        for d in range(0, len(said) if start[i] < start[i + 1] else 0, 2):
            both = uniforms(stream, key[i], (first_draw + d) // 2)
            for e in range(min(2, len(said) - d)):
                t, u = 0, both[e]
                while t < n_classes - 1 and u >= probability[i, t]:
                    u -= probability[i, t]
                    t += 1
                for j in range(start[i], start[i + 1]):
                    said[d + e, column[j], t] += 1
