"""Bugs to plant in splits and merges: each an edit of the source, and the check that catches it."""

from ladder.bugs import CBCC, in_file
from ladder.cases import CBCC_2, HCBCC_2
from ladder.split_merge import (
    CONSENSUS,
    check_pairs_and_orders,
    check_split_is_stationary,
    check_split_ratio,
)

MOVE, CONSENSUS_MOVE = "kernels/gibbs/split_merge.py", "kernels/gibbs/consensus/split.py"

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
        in_file(MOVE, ("math.lgamma(sides.size[k]) + sides", "sides")),
    ),
    "proposal probability forgotten": (
        CBCC_2,
        check_split_is_stationary,
        in_file(MOVE, ("base, room) - log_so\n", "base, room)\n")),
    ),
    "reverse proposal wrong": (
        HCBCC_2,
        check_split_is_stationary,
        in_file(MOVE, ("log_share(odds if k == STAYS else -odds)", "log_share(abs(odds))")),
    ),
    "merge weighed as a split": (
        CBCC_2,
        check_split_is_stationary,
        in_file(MOVE, ("return log_ratio if splits else -log_ratio", "return log_ratio")),
    ),
    "sides exchanged": (
        HCBCC_2,
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
        in_file(CBCC, ("            count_sides(left, state, room)\n", "")),
    ),
    "prior of strengths forgotten": (
        HCBCC_2,
        check_split_ratio,
        in_file(MOVE, (" + shape * math.log1p(decay / rate)", "")),
    ),
    "nu forgotten": (
        HCBCC_2,
        check_split_ratio,
        in_file(MOVE, ("            decay += room.said.decay[more, g]\n", "")),
    ),
    "some pairs never chosen": (
        CBCC_2,
        check_pairs_and_orders,
        in_file(MOVE, ("second >= first", "second > first")),
    ),
    "some orders never chosen": (
        CBCC_2,
        check_pairs_and_orders,
        in_file(MOVE, ("int64(rng.random() * (k + 1))", "int64(rng.random() * k)")),
    ),
    "knowledge not summed": (
        CONSENSUS,
        check_split_is_stationary,
        in_file(CONSENSUS_MOVE, ("room.points[j] = prior.log_share[j]", "room.points[j] = 0.0")),
    ),
    "correction of a merge not turned round": (
        CONSENSUS,
        check_split_is_stationary,
        in_file(
            CONSENSUS_MOVE, ("state.group[j] else -correction", "state.group[j] else correction")
        ),
    ),
    "first step forgotten in the second": (
        CONSENSUS,
        check_split_is_stationary,
        in_file(
            CONSENSUS_MOVE,
            ("        log_p -= log_marginal(", "        log_p -= 0 * log_marginal("),
        ),
    ),
    "knowledge of the other side": (
        CONSENSUS,
        check_split_is_stationary,
        in_file(CONSENSUS_MOVE, ("draw_side(b, LEAVES, state", "draw_side(b, STAYS, state")),
    ),
}
