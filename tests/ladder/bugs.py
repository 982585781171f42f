"""Bugs to plant: each an edit of the kernels' source, and the check that must catch it."""

from ladder import checks, stationarity
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
from ladder.montecarlo import check_enumeration
from ladder.parameters import check_augmented_joint

SHARED, CBCC, REUSE = (
    "kernels/truth/shared_matrix.py",
    "kernels/gibbs/cbcc.py",
    "kernels/gibbs/hcbcc/reuse.py",
)
SHAPES, CELLS, PARAMETERS = (
    "kernels/shapes.py",
    "kernels/gibbs/cells.py",
    "kernels/gibbs/hcbcc/parameters.py",
)
COUNTS, LOGS, OWN, SWEEP = (
    "kernels/truth/counts.py",
    "kernels/truth/logs.py",
    "kernels/truth/own_matrix.py",
    "kernels/truth/sweep.py",
)

EVERY_ITEM = """\
    for i in range(len(view.truth)):
        if is_free(i, data):
            new"""
EVERY_ITEM_OWN = EVERY_ITEM.replace("new", "u")
EVERY_ANNOTATOR = """\
    for l in range(len(state.group)):
        if state.group[l] >= 0:
            update"""
SKIP_REPEATED = """\
            if labels.before_row[k] > 0:
                k += np.uintp(1)
                continue
"""


MULTIPLY = "            factor = work.above"
MULTIPLY_OWN = "            factor = labels.own_above"


def check_enumeration_briefly(sampler, case):
    """Fewer draws than the package's own samplers get: a bug shows early, and Python is slow."""
    check_enumeration(sampler, case, n_draws=4_000, thin=1)


def in_file(file, *replacements):
    """Edits of one file."""
    return [(file, old, new) for old, new in replacements]


# name: (case, check, edits)
BUGS = {
    "item not taken out": (
        CBCC_2,
        stationarity.check_truth_is_stationary,
        in_file(
            SHARED,
            ("        own = step == 0\n", "        own = False\n"),
        ),
    ),
    "CRP mass halved": (
        CBCC_2,
        checks.check_group_weights,
        in_file(
            CBCC,
            (
                "else state.log_concentration[0]\n",
                "else state.log_concentration[0] - math.log(2)\n",
            ),
        ),
    ),
    "labels scored as independent": (
        CBCC_2,
        checks.check_truth_weights,
        in_file(LOGS, ("= labels.seen[cell], labels.seen_row[row]\n", "= 0, 0\n")),
    ),
    "repeated labels scored as independent": (
        IBCC_3,
        checks.check_truth_weights,
        in_file(OWN, ("        repeats += l == last", "        repeats += 0")),
    ),
    "first and second label scored as independent": (
        IBCC_REPEATED,
        checks.check_truth_weights,
        in_file(OWN, ("(l == last) | (l == next_l)", "(l == last)")),
    ),
    "second and third label scored as independent": (
        IBCC_REPEATED,
        checks.check_truth_weights,
        in_file(OWN, ("(l == last) | (l == next_l)", "(l == next_l)")),
    ),
    "last two labels scored as independent": (
        IBCC_REPEATED,
        checks.check_truth_weights,
        in_file(OWN, ("repeated |= data.item_annotator[k] == last", "pass")),
    ),
    "item not taken out, by ratios": (
        IBCC_3,
        stationarity.check_truth_is_stationary,
        in_file(OWN, ("np.uintp(t == own) *", "np.uintp(0) *")),
    ),
    "item not taken out, two classes": (
        IBCC_2,
        stationarity.check_truth_is_stationary,
        in_file(OWN, ("(ONE - own) * less, own * less + ONE", "np.uintp(0), ONE")),
    ),
    "last of an odd number of labels forgotten": (
        IBCC_2,
        checks.check_truth_weights,
        in_file(
            OWN,
            (
                "    if k < end:\n        cell = cell_of",
                "    if k > end:\n        cell = cell_of",
            ),
        ),
    ),
    "ratios left as they were": (
        IBCC_3,
        checks.check_moving_back_undoes_moving,
        in_file(
            COUNTS,
            ("                add_shapes_to(m, t, view, data, work)\n", "                pass\n"),
        ),
    ),
    "one ratio for a repeated label": (
        IBCC_3,
        checks.check_truth_weights,
        in_file(
            SHARED,
            (MULTIPLY, SKIP_REPEATED + MULTIPLY),
            (MULTIPLY_OWN, SKIP_REPEATED + MULTIPLY_OWN),
        ),
    ),
    "emptied group kept": (
        CBCC_2,
        stationarity.check_groups_are_stationary,
        in_file(
            CBCC,
            ("    if state.size[m] == 0:\n", "    if state.size[m] < 0:\n"),
            ("starting_groups(group, data)", "starting_groups(group, data, 1)"),
            ("math.log(state.size[m]) if", "math.log(max(state.size[m], 1)) if"),
        ),
    ),
    "class prior forgotten": (
        CBCC_2,
        checks.check_truth_weights,
        in_file(
            SHARED,
            (
                "            start = view.class_total[t] + view.class_weight[t]\n",
                "            start = view.class_total[t] + 1.0\n",
            ),
        ),
    ),
    "prior transposed": (
        CBCC_2,
        checks.check_truth_weights,
        in_file(SHAPES, ("(strength[:, None] * mean).T", "(strength[:, None] * mean.T).T")),
    ),
    "uniforms reused": (
        CBCC_2,
        check_enumeration_briefly,
        in_file(
            SWEEP,
            (EVERY_ITEM, "    u = rng.random()\n" + EVERY_ITEM),
            (
                "choose_shared(i, view, data, work, rng.random())",
                "choose_shared(i, view, data, work, u)",
            ),
        ),
    ),
    "counts drift": (
        CBCC_3,
        checks.check_bookkeeping,
        in_file(CELLS, ("said_total[m, t] += sign * n", "said_total[m, t] += sign")),
    ),
    "first annotator skipped": (
        CBCC_2,
        checks.check_one_uniform_a_site,
        in_file(CBCC, (EVERY_ANNOTATOR, EVERY_ANNOTATOR.replace("range(", "range(1, "))),
    ),
    "first item skipped": (
        CBCC_2,
        check_enumeration_briefly,
        in_file(SWEEP, (EVERY_ITEM, EVERY_ITEM.replace("range(", "range(1, "))),
    ),
    "first item skipped, a matrix each": (
        IBCC_2,
        check_enumeration_briefly,
        in_file(SWEEP, (EVERY_ITEM_OWN, EVERY_ITEM_OWN.replace("range(", "range(1, "))),
    ),
    "classes exchanged, two classes": (
        IBCC_2,
        stationarity.check_truth_is_stationary,
        in_file(OWN, ("int(u >= first * scale)", "int(u < first * scale)")),
    ),
    "gold forgotten": (
        CBCC_3,
        checks.check_bookkeeping,
        in_file(SWEEP, ("bool(data.gold[i] < 0 and data", "bool(data")),
    ),
    # The lone annotator's group displaces the auxiliary only once the annotator is seated.
    "displaced after weighing": (
        HCBCC_ONE_AUXILIARY,
        stationarity.check_reuse_is_stationary,
        in_file(
            REUSE,
            ("first + int(u * prior.auxiliaries), first", "first - 1, first"),
            (
                "    take_out_annotator(l, state, prior, u[0])\n",
                "    lone = state.size[state.group[l]] == 1\n"
                "    take_out_annotator(l, state, prior, u[0])\n",
            ),
            (
                "    return refill, n_places\n",
                "    if lone and refill < 0:\n"
                "        swap(state.slot, state.n_coteries[0], state.n_coteries[0] + 1)\n"
                "    return -1 if lone else refill, n_places\n",
            ),
        ),
    ),
    "auxiliaries weigh alpha each": (
        HCBCC_3,
        checks.check_group_weights,
        in_file(REUSE, (" - math.log(prior.auxiliaries)\n", "\n")),
    ),
    "nu forgotten": (
        HCBCC_2,
        check_augmented_joint,
        in_file(
            PARAMETERS,
            (
                "log_add(math.log(prior.rate[t] + sums.decay[t]), sums.log_decay[t])",
                "math.log(prior.rate[t])",
            ),
        ),
    ),
    "tables forgotten": (
        HCBCC_2,
        check_augmented_joint,
        in_file(
            PARAMETERS, ("prior.mean_weight[c, t] + sums.tables[c, t]", "prior.mean_weight[c, t]")
        ),
    ),
}
