"""The update of cells against the joint, for random row maps: shared rows and repeated labels."""

import pytest

from ladder.bugs import in_file
from ladder.cells import checks
from ladder.cells.cases import ALONE, CASES, EASY, KNOWN, MATRICES, NESTED, OWN, SHARED
from ladder.cells.checks import Modules
from ladder.marks import needs_compiler
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
@pytest.mark.parametrize(
    "case", [KNOWN, NESTED, ALONE, EASY], ids=["known", "nested", "alone", "easy"]
)
def test_updates_are_stationary(case):
    checks.check_stationary(Modules(), case)


@needs_compiler
@pytest.mark.parametrize(
    "case",
    [OWN, SHARED, KNOWN, ALONE, EASY, MATRICES],
    ids=["own", "shared", "known", "alone", "easy", "matrices"],
)
def test_visited_cells_have_the_exact_probabilities(case):
    checks.check_enumeration(Modules(), case)


# name: (case, check, edits)
BUGS = {
    "labels of a shared row taken as independent": (
        MATRICES,
        checks.check_weights,
        in_file(f"{FOLDER}/tables.py", ("        before[k] = seen\n", "        before[k] = 0\n")),
    ),
    "labels of a shared row taken as independent, its total": (
        EASY,
        checks.check_weights,
        in_file(
            f"{FOLDER}/tables.py",
            ("        before_row[k] = seen_row\n", "        before_row[k] = 0\n"),
        ),
    ),
    "labels of a shared row taken as independent, without tables": (
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
        checks.check_weights,
        in_file(
            f"{FOLDER}/items.py",
            (
                "    count_item(f, -1, view)\n    for g",
                "    count_item(f, 0, view)\n    for g",
            ),
        ),
    ),
    "labels not taken out": (
        KNOWN,
        checks.check_stationary,
        in_file(
            f"{FOLDER}/items.py",
            (
                "        total = weigh_cells(i, -1, view, data, work)\n",
                "        count_and_note(i, view.cell[i], 1, view.rows, data, work)\n"
                "        total = weigh_cells(i, -1, view, data, work)\n"
                "        count_and_note(i, view.cell[i], -1, view.rows, data, work)\n",
            ),
        ),
    ),
    "repeated labels taken as independent": (
        ALONE,
        checks.check_weights,
        in_file(
            f"{FOLDER}/tables.py", ("~repeated_items(data) if", "np.ones(len(data.gold), bool) if")
        ),
    ),
    "tables left as they were": (
        OWN,
        checks.check_bookkeeping,
        in_file(
            f"{FOLDER}/items.py",
            (
                "    count_and_note(i, new, 1, view.rows, data, work)\n    if new",
                "    count_labels(i, new, 1, view.rows, data)\n    if new",
            ),
        ),
    ),
    "priors left as they were": (
        SHARED,
        checks.check_bookkeeping,
        in_file(f"{FOLDER}/items.py", ("    forget_priors(work)\n", "")),
    ),
    "an item weighed with itself among the others": (
        ALONE,
        checks.check_weights,
        in_file(f"{FOLDER}/products.py", ("+ less * np.uintp(len(work.above))", "")),
    ),
    "an item weighed with itself among the others in a shared row": (
        EASY,
        checks.check_weights,
        in_file(
            f"{FOLDER}/products.py", ("rows.said[place] - 1 - layers", "rows.said[place] - layers")
        ),
    ),
    "ratios left as they were": (
        ALONE,
        checks.check_bookkeeping,
        in_file(
            f"{FOLDER}/items.py",
            (
                "            count_and_note(i, view.cell[i], -1, view.rows, data, work)\n",
                "            count_labels(i, view.cell[i], -1, view.rows, data)\n",
            ),
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
    for case in (SHARED, NESTED, KNOWN, OWN, ALONE, EASY, MATRICES):
        checks.check_weights(modules, case)
        checks.check_bookkeeping(modules, case)
