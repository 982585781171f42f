"""The bargain of ``piece`` and ``part``: no reference counting, so no array made or returned."""

import ast
import sys
from pathlib import Path
from typing import NamedTuple

import numba
import numpy as np
import pytest

import coterie
from coterie.kernels.record import new_tally, new_trace
from ladder.cases import LARGER, name
from ladder.sampler import all_states, pack, real, run_block, start

SOURCE = Path(coterie.__file__).parent
CASTS = ("np.uintp", "np.uint64", "np.int32")
"""Of one number to another: no array is made."""


class Module(NamedTuple):
    """What a file defines, and where the names that it imports come from."""

    defined: dict[str, ast.FunctionDef | ast.ClassDef]
    imported: dict[str, str]


def modules():
    """Read every file of the package, by the name of its module."""
    for path in sorted(SOURCE.rglob("*.py")):
        tree = ast.parse(path.read_text("utf-8"))
        imports = [node for node in tree.body if isinstance(node, ast.ImportFrom)]
        definitions = (
            node for node in tree.body if isinstance(node, ast.FunctionDef | ast.ClassDef)
        )
        name = ".".join(("coterie", *path.relative_to(SOURCE).with_suffix("").parts))
        yield (
            name,
            Module(
                {node.name: node for node in definitions},
                {
                    alias.asname or alias.name: node.module
                    for node in imports
                    for alias in node.names
                },
            ),
        )


MODULES = dict(modules())
PIECES = [
    (module, name)
    for module, (defined, _) in MODULES.items()
    for name, node in defined.items()
    if {"piece", "part"} & {ast.unparse(decorator) for decorator in node.decorator_list}
]


def find(module, name):
    """Give the module that defines a name, and the definition; None if it is none of ours."""
    home = MODULES[module].imported.get(name, module)
    return home, MODULES[home].defined.get(name) if home in MODULES else None


def is_number(module, kind):
    """Say whether a type is a number, or a tuple of numbers, as its module means it."""
    if isinstance(kind, ast.Subscript) and ast.unparse(kind.value) == "tuple":
        return all(is_number(module, one) for one in kind.slice.elts)
    if ast.unparse(kind) in ("None", "int", "float", "bool", *CASTS):
        return True
    home, node = find(module, ast.unparse(kind))
    if not isinstance(node, ast.ClassDef):
        return False
    fields = [field for field in node.body if isinstance(field, ast.AnnAssign)]
    return bool(fields) and all(is_number(home, field.annotation) for field in fields)


@pytest.mark.parametrize(("module", "name"), PIECES)
def test_a_piece_makes_and_returns_no_array(module, name):
    node = MODULES[module].defined[name]
    assert is_number(module, node.returns)
    for call in [ast.unparse(call.func) for call in ast.walk(node) if isinstance(call, ast.Call)]:
        assert call in CASTS or not call.startswith("np.")
        home, called = find(module, call)
        if isinstance(called, ast.FunctionDef):
            assert is_number(home, called.returns), call


def test_there_are_pieces_and_none_hides_another():
    assert {
        ("coterie.kernels.truth.shared_matrix", "weigh_shared"),
        ("coterie.numeric.rising", "log_rising"),
        ("coterie.kernels.gibbs.cbcc", "weigh_groups"),
        ("coterie.kernels.gibbs.hcbcc.reuse", "weigh_groups"),
        ("coterie.partition.state", "weigh"),
        ("coterie.roles.rule", "measure"),
    } <= set(PIECES)
    text = "".join(path.read_text("utf-8") for path in SOURCE.rglob("*.py"))
    assert len(PIECES) == text.count("\n@piece\n") + text.count("\n@part\n")


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
