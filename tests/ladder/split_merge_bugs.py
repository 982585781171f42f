"""Bugs to plant in splits and merges: each an edit of the source, and the check that catches it."""

from ladder.bugs import CBCC as CBCC_FILE
from ladder.bugs import in_file
from ladder.cases import CBCC_2
from ladder.split_merge import CBCC
from ladder.split_merge_checks import (
    check_orders,
    check_pairs,
    check_sides,
    check_split_is_stationary,
    check_split_ratio,
)

MOVE = "kernels/gibbs/split_merge.py"
PAIRS, PILES = "kernels/gibbs/pairs.py", "kernels/gibbs/piles.py"

# name: (case, check, edits)
BUGS = {
    "CRP factor forgotten": (
        CBCC_2,
        check_split_ratio,
        in_file(MOVE, ("    result = log_concentration\n", "    result = 0.0\n")),
    ),
    "sizes forgotten": (
        CBCC_2,
        check_split_ratio,
        in_file(PILES, ("math.lgamma(sides.size[k]) + log_p", "log_p")),
    ),
    "proposal probability forgotten": (
        CBCC_2,
        check_split_is_stationary,
        in_file(MOVE, ("base, room) - log_so\n", "base, room)\n")),
    ),
    "reverse proposal wrong": (
        CBCC_2,
        check_split_is_stationary,
        in_file(MOVE, ("log_share(odds if k == STAYS else -odds)", "log_share(abs(odds))")),
    ),
    "merge weighed as a split": (
        CBCC_2,
        check_split_is_stationary,
        in_file(MOVE, ("    log_ratio = log_ratio if splits else -log_ratio\n", "")),
    ),
    "sides exchanged": (
        CBCC_2,
        check_split_is_stationary,
        in_file(MOVE, ("math.exp(log_share(odds)) else", "math.exp(log_share(-odds)) else")),
    ),
    "emptied group kept": (
        CBCC_2,
        check_split_is_stationary,
        in_file(MOVE, ("    close_group(b, slot, n_coteries)\n", "")),
    ),
    "labels left behind": (
        CBCC_2,
        check_split_is_stationary,
        in_file(CBCC_FILE, ("            count_sides(left, state, room)\n", "")),
    ),
    "sides as probable whatever their size": (
        CBCC,
        check_sides,
        in_file(MOVE, ("float(math.log(sides.size[k]) + log_p)", "float(log_p)")),
    ),
    "some who may leave never chosen": (
        CBCC,
        check_pairs,
        in_file(PAIRS, ("int64(rng.random() * (size - 1))", "int64(rng.random() * (size - 2))")),
    ),
    "some to merge with never chosen": (
        CBCC,
        check_pairs,
        in_file(PAIRS, ("rng.random() * seating.size[b]", "rng.random() * (seating.size[b] - 1)")),
    ),
    "some orders never chosen": (
        CBCC_2,
        check_orders,
        in_file(MOVE, ("int64(rng.random() * (k + 1))", "int64(rng.random() * k)")),
    ),
    "choice of the pair forgotten": (
        CBCC,
        check_split_is_stationary,
        in_file(MOVE, (" - log_choice\n", "\n")),
    ),
    "choice on the way back forgotten": (
        CBCC_2,
        check_split_is_stationary,
        in_file(MOVE, ("log_choice_back(splits, seating, base, room) - log", "-log")),
    ),
    "more splits than merges": (
        CBCC,
        check_split_is_stationary,
        in_file(MOVE, ("SPLITS = 0.5\n", "SPLITS = 0.4\n")),
    ),
    "members of the other side on the way back": (
        CBCC,
        check_split_is_stationary,
        in_file(PAIRS, ("math.log(size[LEAVES])", "math.log(size[STAYS])")),
    ),
    "i among those who may leave": (
        CBCC,
        check_split_is_stationary,
        in_file(PAIRS, ("-math.log(size[BOTH] - 1)", "-math.log(size[BOTH])")),
    ),
    "i left with themselves": (
        CBCC_2,
        check_pairs,
        in_file(PAIRS, (" and l != but", "")),
    ),
    "new side no partner": (
        CBCC,
        check_split_is_stationary,
        in_file(PAIRS, ("share = size[pile] / others if pile >= 0", "share = 0.0 if pile >= 0")),
    ),
    "partner on the same side": (
        CBCC,
        check_split_is_stationary,
        in_file(PAIRS, ("weigh_partners(STAYS, LEAVES, own", "weigh_partners(STAYS, STAYS, own")),
    ),
    "piles not cleared": (
        CBCC,
        check_pairs,
        in_file(PAIRS, ("clear_pile(GROUPS + int64(seating.slot[k]), room.sides)", "pass")),
    ),
    "partner's probability not said": (
        CBCC,
        check_pairs,
        in_file(PAIRS, ("return math.log(weights[chosen]) - math", "return -math")),
    ),
}
