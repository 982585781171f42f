"""The bargain of ``piece`` and ``part``: no reference counting, so no array made or returned."""

import ast
import sys
from pathlib import Path

import numba
import numpy as np
import pytest

import coterie
from coterie.kernels.record import new_tally, new_trace
from ladder.cases import LARGER, name
from ladder.sampler import all_states, pack, real, run_block, start

SOURCE = Path(coterie.__file__).parent


def functions():
    """Yield every function of the kernels with the name of its decorator."""
    for path in [*SOURCE.glob("kernels/**/*.py"), *SOURCE.glob("numeric/*.py")]:
        for node in ast.parse(path.read_text("utf-8")).body:
            if isinstance(node, ast.FunctionDef):
                yield node, [ast.unparse(decorator) for decorator in node.decorator_list]


RETURNS = {node.name: ast.unparse(node.returns) for node, _ in functions() if node.returns}
PIECES = {node.name: node for node, made in functions() if {"piece", "part"} & set(made)}
NUMBERS = {
    *("None", "int", "float", "bool", "np.uintp"),
    *("tuple[int, int]", "tuple[int, bool]", "tuple[float, float]", "tuple[np.uintp, np.uintp]"),
}


@pytest.mark.parametrize("piece", PIECES)
def test_a_piece_makes_and_returns_no_array(piece):
    node = PIECES[piece]
    assert RETURNS[piece] in NUMBERS
    called = [ast.unparse(call.func) for call in ast.walk(node) if isinstance(call, ast.Call)]
    assert {call for call in called if call.startswith("np.")} <= {"np.uintp"}  # a cast
    assert [call for call in called if RETURNS.get(call, "None") not in NUMBERS] == []


def test_there_are_pieces():
    assert {"weigh_shared", "sweep_own", "log_rising", "weigh_groups"} <= PIECES.keys()


@pytest.mark.skipif(bool(numba.config.DISABLE_JIT), reason="counts references of compiled code")
@pytest.mark.parametrize("case", LARGER, ids=name)
def test_a_block_leaves_no_reference_behind(case):
    sampler, data = real(case), case.problem.codes
    state, prior = start(sampler, case, *all_states(case)[0]), pack(sampler, case)
    tally, trace = new_tally(data), new_trace(2, data.n_classes)
    rng = np.random.default_rng(1)
    arrays = [*state, *data[:7], tally.probability, trace.log_joint]
    before = [sys.getrefcount(array) for array in arrays]
    for _ in range(20):
        run_block(sampler.model, state, data, prior, rng, tally, trace)
    assert [sys.getrefcount(array) for array in arrays] == before
