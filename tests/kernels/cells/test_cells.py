"""The update of cells against the joint, for random row maps: shared rows and repeated labels."""

import numba
import pytest

from ladder.bugs import in_file
from ladder.cells import checks
from ladder.cells.cases import ALONE, CASES, KNOWN, NESTED, OWN, SHARED
from ladder.cells.checks import Modules
from ladder.sampler import planted

every_case = pytest.mark.parametrize("case", CASES.values(), ids=CASES)
FOLDER = "kernels/cells"


@pytest.mark.exact
@every_case
def test_weights_are_differences_of_the_joint(case):
    checks.check_weights(Modules(), case)


@pytest.mark.exact
@every_case
def test_traced_joint_is_the_references(case):
    checks.check_joint(Modules(), case)


@pytest.mark.exact
@every_case
def test_counts_are_a_recount_after_every_sweep(case):
    checks.check_bookkeeping(Modules(), case)


@pytest.mark.exact
@pytest.mark.parametrize("case", [KNOWN, NESTED, ALONE], ids=["known", "nested", "alone"])
def test_updates_are_stationary(case):
    checks.check_stationary(Modules(), case)


@pytest.mark.skipif(bool(numba.config.DISABLE_JIT), reason="long chains need compiled kernels")
@pytest.mark.parametrize(
    "case", [OWN, SHARED, KNOWN, ALONE], ids=["own", "shared", "known", "alone"]
)
def test_visited_cells_have_the_exact_probabilities(case):
    checks.check_enumeration(Modules(), case)


# name: (case, check, edits)
BUGS = {
    "labels of a shared row taken as independent": (
        SHARED,
        checks.check_weights,
        in_file(
            f"{FOLDER}/rows.py",
            (
                "        rows.said[place] += 1\n        rows.said_total[r] += 1\n        left",
                "        left",
            ),
            ("    count_labels(i, f, -1, rows, data)\n    product", "    product"),
        ),
    ),
    "nested factor forgotten": (
        NESTED,
        checks.check_weights,
        in_file(
            f"{FOLDER}/space.py",
            ("        below *= chosen.block[b] + space.block_weight[b]\n", ""),
        ),
    ),
    "item not taken out": (
        KNOWN,
        checks.check_stationary,
        in_file(
            f"{FOLDER}/items.py",
            (
                "    take_out(i, view, data)\n    note_labels(i, old, view.rows, data, work)\n"
                "    if weigh_cells",
                "    done = weigh_cells(i, view, data, work)\n    take_out(i, view, data)\n"
                "    note_labels(i, old, view.rows, data, work)\n    if done or weigh_cells",
            ),
        ),
    ),
    "repeated labels taken as independent": (
        OWN,
        checks.check_weights,
        in_file(
            f"{FOLDER}/items.py",
            ("if work.apart[f] and not work.repeated[i]:", "if work.apart[f]:"),
        ),
    ),
    "tables left as they were": (
        OWN,
        checks.check_bookkeeping,
        in_file(
            f"{FOLDER}/items.py",
            (
                "    put_in(i, new, view, data)\n    note_labels(i, new, view.rows, data, work)\n",
                "    put_in(i, new, view, data)\n",
            ),
        ),
    ),
    "an item weighed with itself among the others": (
        ALONE,
        checks.check_weights,
        in_file(
            f"{FOLDER}/present.py", ("np.uintp(own) * np.uintp(len(work.above))", "np.uintp(0)")
        ),
    ),
    "ratios left as they were": (
        ALONE,
        checks.check_bookkeeping,
        in_file(
            f"{FOLDER}/items.py",
            ("    note_labels(i, old, view.rows, data, work)\n    note", "    note"),
        ),
    ),
    "gold forgotten": (
        SHARED,
        checks.check_bookkeeping,
        in_file(f"{FOLDER}/items.py", ("if data.gold[i] >= 0 and", "if data.gold[i] >= 9 and")),
    ),
    "known kinds forgotten": (
        KNOWN,
        checks.check_bookkeeping,
        in_file(f"{FOLDER}/items.py", ("bool(kind < 0 or", "bool(kind < 9 or")),
    ),
    "gold without labels not counted": (
        SHARED,
        checks.check_weights,
        in_file(f"{FOLDER}/items.py", ("choose(f, 1, True, view", "choose(f, 0, True, view")),
    ),
    "class of the cell not written": (
        SHARED,
        checks.check_bookkeeping,
        in_file(f"{FOLDER}/items.py", ("    view.truth[i] = t\n", "")),
    ),
}


@pytest.mark.parametrize("bug", BUGS)
def test_planted_bug_is_caught(bug, tmp_path):
    case, check, edits = BUGS[bug]
    modules = Modules(planted(case, tmp_path, edits).package)
    with pytest.raises(AssertionError):
        check(modules, case)


def test_without_a_bug_the_checks_pass(tmp_path):
    modules = Modules(planted(KNOWN, tmp_path).package)
    checks.check_stationary(modules, KNOWN)
    for case in (SHARED, NESTED, KNOWN, OWN, ALONE):
        checks.check_weights(modules, case)
        checks.check_bookkeeping(modules, case)
