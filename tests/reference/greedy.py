"""The choice of the next labels with nothing clever: every pair and every row of answers."""

import itertools

import numpy as np


def channel(belief, matrix, worth):
    """The matrix of an answer that is new evidence with this probability."""
    return worth * matrix + (1 - worth) * (belief @ matrix)


def answers_to_come(belief, steps):
    """Every row of answers with its chance and the belief after it; steps are (matrix, worth)."""
    for row in itertools.product(*(range(matrix.shape[1]) for matrix, _ in steps)):
        after, chance = belief.copy(), 1.0
        for c, (matrix, worth) in zip(row, steps, strict=True):
            joint = after * channel(after, matrix, worth)[:, c]
            chance *= joint.sum()
            after = joint / joint.sum()
        yield chance, after


def entropy(p):
    p = p[p > 0]
    return -(p * np.log2(p)).sum()


def expected(belief, steps):
    """Expected entropy in bits, and expected probability of the best class, after the answers."""
    rows = list(answers_to_come(belief, steps))
    return sum(w * entropy(p) for w, p in rows), sum(w * p.max() for w, p in rows)


def worth(problem, i, n):
    return problem.ease[i] / (1 + problem.overlap * (problem.n_labels[i] + n))


def matrix(problem, i, l):
    """Of person l about item i; matrices may be one for each pair."""
    n_people = len(problem.cost)
    return problem.matrix[l if len(problem.matrix) == n_people else i * n_people + l]


def choose_slowly(problem, left, n_picks):
    """Rows of (item, person, information, gain), the best for its price first."""
    left, asked, found = list(left), {i: [] for i in range(len(problem.items))}, []
    taken = {
        (i, problem.place[l])
        for i in asked
        for l in problem.item_annotator[problem.item_start[i] : problem.item_start[i + 1]]
    }
    for _ in range(n_picks):
        offers = []
        for i, people in asked.items():
            # As the kernel has it: the last that was asked has the first answer.
            n = len(people)
            steps = [(matrix(problem, i, l), worth(problem, i, n - 1 - k))
                     for k, l in enumerate(reversed(people))]  # fmt: skip
            before = expected(problem.items[i], steps)
            for l in range(len(problem.cost)):
                if left[l] > 0 and (i, l) not in taken and n < problem.most_per_item:
                    step = (matrix(problem, i, l), worth(problem, i, n))
                    after = expected(problem.items[i], [*steps, step])
                    bits, gain = before[0] - after[0], after[1] - before[1]
                    offers.append((bits / problem.cost[l], i, l, bits, gain))
        if not offers:
            break
        _, i, l, bits, gain = max(offers)
        asked[i].append(l)
        taken.add((i, l))
        left[l] -= 1
        found.append((i, l, bits, gain))
    return found
