"""What somebody who writes a kernel forgets is said in one sentence, with what to do."""

import re
from pathlib import Path
from types import ModuleType, SimpleNamespace

import numpy as np
import pandas as pd
import pytest

import coterie
from coterie.extend import Abilities, Hooks, ItemNumbers, Reported
from onecoin import OneCoin, kernel

pytestmark = pytest.mark.filterwarnings("ignore::coterie.errors.ConvergenceWarning")

SOURCE = Path(kernel.__file__).read_text("utf-8").replace("@kernel\n", "")  # quick to start
QUICK = {"sweeps": 12, "burn_in": 4, "chains": 1, "random_state": 0, "progress": False}


@pytest.fixture(scope="module")
def labels():
    crowd = coterie.simulate("mixed", items=12, annotators=5, random_state=1).annotations
    truth = {crowd.items[0]: crowd.classes[0]}
    return coterie.data.with_gold(crowd, truth)


def kernel_with(*changes):
    """The kernel of OneCoin as Python, with some of its text changed."""
    text = SOURCE
    for old, new in changes:
        assert text.count(old) == 1, old
        text = text.replace(old, new)
    module = ModuleType("mine.kernel")
    exec(compile(text, "mine/kernel.py", "exec"), vars(module))
    return module


def fit(labels, module, **declared):
    mine = type("Mine", (OneCoin,), {"kernels": lambda self: module, **declared})
    return mine(**QUICK).fit(labels).posterior_


def test_the_kernel_as_python_is_the_kernel(labels):
    expected = OneCoin(**QUICK).fit(labels).posterior_
    found = fit(labels, kernel_with())
    np.testing.assert_allclose(found.item_probability, expected.item_probability, rtol=1e-10)


TALLY = "        tally.sweeps[0] += tally.weight"
NOTE = "        note_classes(sweep, state.class_total, trace)\n"
DUE = "        if draw_is_due(keep):\n            keep_draw(state, data, prior, streams, keep)\n"
BALANCE = "        keep_class_balance(state.class_total, prior.class_weight, streams.draws, keep)\n"
RETURN = "    return State(start, class_total, np"
START = "    start, class_total = starting_truth(truth, data)\n"


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        (TALLY, "", "tallied 0 of 8 sweeps; end every sweep of run_block with tally.sweeps"),
        (TALLY, TALLY.replace("weight", "weight + 1"), "tallied 20 of 8 sweeps"),
        (NOTE, "", "noted classes of 0 items where 12 have one; call note_classes"),
        ("    state.class_total[old] -= 1\n", "", "noted classes of 1. items where 12 have one"),
        ("trace.log_joint[sweep] = log_labels + log_prior", "pass", "noted no log joint; write"),
        (DUE, "", "asked after 0 of 8 sweeps whether a draw is due; ask draw_is_due"),
        ("    finish_draw(keep)\n", "", "finished 0 of 8 draws that were due; .*finish_draw"),
        ("    keep_state(0, state.truth, keep)\n", "", "kept draws without their state; begin"),
        (BALANCE, "        pass\n", "kept a draw without a class balance; call keep_class_bal"),
        (
            "        add_coin(a / (a + b), keep.confusion_sum[l])\n",
            "",
            r"kept a matrix of annotator 0 whose row 0 sums to 0; .* keep.confusion_sum in every",
        ),
        (
            "            add_coin(skill, keep.confusion[draw, l])\n",
            "",
            r"whose row 0 sums to 0; .* keep.confusion\[keep.used\[2\]\] where matrices_are_due",
        ),
        (
            "                normalise(weights)\n",
            "                weights[:] = 0.1\n",
            r"tallied probabilities of item .* that sum to 0.3; add tally.weight times its norm",
        ),
        ("if data.gold[i] < 0:", "if True:", "moved item .*, whose class is known; leave items"),
        (START, START.replace("starting_truth(truth, data)", "(truth - 9, truth)"), "without a c"),
        (
            RETURN,
            RETURN.replace("start,", "start[1:],"),
            r"shape \(12,\), .*\(11,\)",
        ),
        (
            RETURN,
            RETURN.replace("start,", "start * 1.0,"),
            "truth, .* there is float64",
        ),
        (
            RETURN,
            RETURN.replace("class_total", "7"),
            "must start in a NamedTuple of arrays, and its class_total is a int",
        ),
        ("return State(", "return (", "must start in a NamedTuple of arrays, and "),
        ("def new_scratch(", "def no_scratch(", "has no new_scratch; coterie.extend.Kernels says"),
        (
            "Packed(np.array(prior.class_weights)",
            "Packed(np.array(prior.class_weights)[:2]",
            r"class_weight, shape \(classes,\) = \(3,\), .* gave has one of shape \(2,\); give",
        ),
    ],
    ids=lambda value: re.sub(r"\W+", " ", value)[:30],
)
def test_what_is_forgotten_is_said(labels, old, new, said):
    with pytest.raises(coterie.CoterieError, match=f"^the kernel mine.kernel .*{said}") as caught:
        fit(labels, kernel_with((old, new)))
    assert "\n" not in str(caught.value)


def test_items_without_labels_are_tallied_too():
    wide = pd.DataFrame({"ann": ["no", "no", None], "bob": ["yes", "no", None]})
    silent = coterie.read(wide.assign(item=["q1", "q2", "q3"]), annotator=["ann", "bob"])
    assert silent.n_items == 3
    lazy = ("            tally_item(i,", "            old < 0 or tally_item(i,")
    with pytest.raises(coterie.CoterieError, match=r"item 'q3' that sum to 0; .* without labels"):
        fit(silent, kernel_with(lazy))


def test_coteries_that_are_declared_are_there(labels):
    declared = {"abilities": Abilities(coteries=True, uncertainty=True)}
    with pytest.raises(coterie.CoterieError, match=r"whole numbers group, shape \(5,\), .*is none"):
        fit(labels, kernel_with(), **declared)
    grouped = (
        ("    right: np", "    group: np.ndarray\n    right: np"),
        ("class_total, np.bin", "class_total, np.zeros(n_annotators, np.int32), np.bin"),
    )
    with pytest.raises(coterie.CoterieError, match="whole numbers size, and there is none; count"):
        fit(labels, kernel_with(*grouped), **declared)
    grouped = (
        ("    right: np", "    group: np.ndarray\n    size: np.ndarray\n    right: np"),
        ("class_total, np.bin", "class_total, *np.zeros((2, n_annotators), np.int32), np.bin"),
    )
    with pytest.raises(coterie.CoterieError, match="noted no coteries, which its model declares"):
        fit(labels, kernel_with(*grouped), **declared)
    noted = (NOTE, NOTE + "        trace.n_coteries[sweep] = 2\n")
    kept = ("keep_state(0,", "keep_state(2,")
    with pytest.raises(coterie.CoterieError, match="a partition of 1 coteries in a draw that has"):
        fit(labels, kernel_with(*grouped, noted, kept), **declared)


@pytest.mark.parametrize(
    ("probability", "hardness", "said"),
    [
        (np.ones((12, 2)) / 2, np.zeros((12, 1)), r"shape \(12, 2\); .*classes\) = \(12, 3\)"),
        (np.ones((12, 3)) / 3, np.zeros(12), r"'hardness' of shape \(12,\) with 1 columns; give"),
    ],
)
def test_a_report_of_another_shape_is_refused(labels, probability, hardness, said):
    def hooks(self):
        numbers = {"hardness": ItemNumbers(("hardness",), hardness)}
        return Hooks(layout=kernel.layout, report=lambda *_: Reported(probability, numbers))

    with pytest.raises(coterie.CoterieError, match=f"^the hook report gave .*{said}"):
        fit(labels, kernel_with(), hooks=hooks)


def test_kernels_need_be_no_module(labels):
    whole = SimpleNamespace(**vars(kernel_with()))
    del whole.__name__, whole.run_block
    with pytest.raises(coterie.CoterieError, match=r"^the kernel SimpleNamespace has no run_block"):
        fit(labels, whole)
