"""Kernels are compiled in the fast mode where it works, and plainly where it does not."""

import ast
import gc
import importlib
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numba
import numpy as np
import pytest

from coterie.errors import CompilationWarning, CoterieError
from coterie.numeric import cache, code_address, fast, jit, tuple_passing

pytestmark = pytest.mark.skipif(not jit.COMPILES, reason="nothing is compiled")
PRIVATE = ("code_address", "fast", "tuple_passing")
"""Where private parts of numba are used."""


@pytest.fixture(autouse=True)
def afresh(tmp_path, monkeypatch):
    """A process that has decided nothing yet, and a cache of its own."""
    monkeypatch.setattr(numba.config, "CACHE_DIR", str(tmp_path))
    monkeypatch.delenv("COTERIE_NUMBA", raising=False)
    for name in PRIVATE:
        monkeypatch.delitem(sys.modules, f"coterie.numeric.{name}")
        monkeypatch.delattr(f"coterie.numeric.{name}")
    jit._decided.cache_clear()
    yield
    jit._decided.cache_clear()
    cache.find_folder.cache_clear()
    cache._given_up.clear()


def example(last=None):
    """A kernel that calls a part that calls a piece."""

    @jit.piece
    def twice(x):
        return 2 * x

    @jit.part
    def add(totals, i):
        totals[i] += twice(i)

    @jit.kernel
    def run(totals):
        for i in range(len(totals)):
            add(totals, i)
        if last is not None:
            totals[0] = last

    return run


def works(run):
    totals = np.ones(3)
    run(totals)
    return totals.tolist() == [1, 3, 5]


TREE = ast.parse(Path(fast.__file__).read_text("utf-8"))
TREES = [
    TREE,
    *(ast.parse(Path(one.__file__).read_text("utf-8")) for one in (code_address, tuple_passing)),
]
IMPORTED = sorted(
    {
        (node.module, alias.name)
        for tree in TREES
        for node in ast.walk(tree)
        if isinstance(node, ast.ImportFrom) and node.module.startswith("numba.")
        if node.module != "numba.extending"  # which is public
        for alias in node.names
        if f"{node.module}.{alias.name}" not in sys.modules  # a module can be imported anyway
    }
)
CALLED = {
    "_finalize_dynamic_globals": "codegen.CPUCodeLibrary",
    "_ensure_finalized": "codegen.CodeLibrary",
    "enable_object_caching": "codegen.CodeLibrary",
    "define_nopython_pipeline": "compiler.DefaultPassBuilder",
    "add_pass_after": "compiler_machinery.PassManager",
    "finalize": "compiler_machinery.PassManager",
    "codegen": "cpu.CPUContext",
    "compile_extra": "compiler.CompilerBase",
    "top": "targetconfig.ConfigStack",
}
"""Methods of numba's that fast.py calls, and the classes that have them."""
LLVM = {
    "create_pass_builder", "PipelineTuningOptions", "create_new_function_pass_manager", "run",
}  # fmt: skip
"""What it calls of llvmlite's, all of it documented."""


def test_the_names_of_all_methods_are_here():
    calls = [node.func for node in ast.walk(TREE) if isinstance(node, ast.Call)]
    called = {call.attr for call in calls if isinstance(call, ast.Attribute)}
    assert called - {"__init__", "items"} - LLVM == CALLED.keys()


@pytest.mark.parametrize(("module", "name"), IMPORTED)
def test_without_a_private_name_it_is_plain_with_one_warning(module, name, monkeypatch):
    with monkeypatch.context() as numba_without:  # numba itself may need it later
        numba_without.delattr(importlib.import_module(module), name)
        with pytest.warns(CompilationWarning, match=f"does not work with numba .*'{name}'") as told:
            jit.how()
    assert len(told) == 1
    assert works(example())
    assert not jit.how().private


@pytest.mark.parametrize("name", CALLED)
def test_without_a_private_method_it_is_plain_with_one_warning(name, monkeypatch):
    """numba itself needs these too: only what coterie asks for is missing."""
    module, _, owner = CALLED[name].partition(".")
    place = getattr(importlib.import_module(f"numba.core.{module}"), owner)
    whole = vars(place)[name]
    method = getattr(whole, "__func__", whole)

    def missing(*args):
        if sys._getframe(1).f_globals["__name__"] == "coterie.numeric.fast":
            raise AttributeError(name)
        return method(*args)

    made = staticmethod(missing) if isinstance(whole, staticmethod) else missing
    monkeypatch.setattr(place, name, made)
    with pytest.warns(CompilationWarning, match=f"does not work with numba .*{name}") as told:
        assert works(example())
    assert len(told) == 1
    assert works(example())
    assert not jit.how().private


@pytest.mark.parametrize("option", sorted({o for made in fast.OPTIONS.values() for o in made}))
def test_without_a_private_option_it_is_plain(option, monkeypatch):
    njit = numba.njit

    def strict(**options):
        if option in options:
            raise KeyError(f"Unrecognized options: {option}")
        return njit(**options)

    monkeypatch.setattr(numba, "njit", strict)
    with pytest.warns(CompilationWarning, match=f"Unrecognized options: {option}") as told:
        assert works(example())
    assert len(told) == 1


def test_failing_while_it_compiles_is_noticed(monkeypatch):
    fast = importlib.import_module("coterie.numeric.fast")

    def fail(self, state):
        raise ValueError("changed")

    monkeypatch.setattr(fast.UseLinkedLibrary, "run_pass", fail)
    with pytest.warns(CompilationWarning, match="changed") as told:
        assert works(example())
    assert len(told) == 1


def test_an_older_llvmlite_does_without_the_few_passes(monkeypatch):
    fast = importlib.import_module("coterie.numeric.fast")
    assert fast.LIBRARY is fast.TidiedLibrary
    monkeypatch.setattr(fast, "LIBRARY", fast.LinkedLibrary)
    assert works(example())
    assert jit.how().private


def test_what_is_remembered_while_it_compiles_is_forgotten():
    from numba.core.types.functions import BaseFunction

    ask = BaseFunction.get_call_type
    assert works(example())
    assert BaseFunction.get_call_type is ask

    @jit.kernel
    def wrong(totals):
        totals.no_such_name()

    with pytest.raises(numba.TypingError):
        wrong(np.ones(3))
    assert BaseFunction.get_call_type is ask


def test_a_part_is_compiled_once_for_numbers_and_constants():
    @jit.part
    def add(totals, i, more):
        totals[i] += more

    @jit.kernel
    def run(totals):
        add(totals, 1, 2)
        add(totals, 2, 4)
        add(totals, len(totals) - 1, -0)

    totals = np.ones(3)
    run(totals)
    assert totals.tolist() == [1, 3, 5]
    assert len(add.compiled.signatures) == 1


def test_threads_that_fail_together_warn_once(monkeypatch):
    fast = importlib.import_module("coterie.numeric.fast")
    monkeypatch.delattr(fast.InnerCompiler, "define_pipelines")
    run, barrier = example(), threading.Barrier(4)

    def call():
        barrier.wait()
        return works(run)

    with pytest.warns(CompilationWarning) as told, ThreadPoolExecutor(4) as pool:
        assert all(future.result() for future in [pool.submit(call) for _ in range(4)])
    assert len(told) == 1


def test_the_switch(monkeypatch):
    monkeypatch.setenv("COTERIE_NUMBA", "plain")
    assert works(example())
    assert "coterie.numeric.fast" not in sys.modules
    jit._decided.cache_clear()
    monkeypatch.setenv("COTERIE_NUMBA", "quick")
    with pytest.raises(CoterieError, match="COTERIE_NUMBA must be fast or plain, got 'quick'"):
        works(example())


def test_the_modes_share_no_code(tmp_path, monkeypatch):
    run = example()
    assert works(run)
    assert jit.how().private
    first = run.folder
    jit._decided.cache_clear()
    monkeypatch.setenv("COTERIE_NUMBA", "plain")
    run = example()
    assert works(run)
    assert run.folder != first


def test_what_a_kernel_raises_is_its_own():
    @jit.kernel
    def run(totals):
        totals[0] += 1
        if totals[0] > 0:
            raise ValueError("too many")

    totals = np.zeros(1)
    with pytest.raises(ValueError, match="too many"):
        run(totals)
    assert totals[0] == 1  # it was run once
    assert jit.how().private


def test_what_cannot_be_compiled_in_any_way_is_said_and_the_mode_stays():
    @jit.kernel
    def run(totals):
        return totals.nonsense()

    with pytest.raises(numba.errors.TypingError, match="nonsense"):
        run(np.zeros(1))
    assert jit.how().private
    assert works(example())


def test_nothing_but_a_kernel_needs_numba():
    code = (
        "import sys; sys.modules['numba'] = None\n"
        "import coterie\n"
        "rows = [('q1', 'ann', 'yes'), ('q1', 'bob', 'yes'), ('q2', 'ann', 'no')]\n"
        "print(coterie.MajorityVote().fit(rows).labels_.tolist())"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.stdout.strip() == "['yes', 'no']", done.stderr


def test_garbage_is_looked_for_as_before_after_compiling():
    often, rarely = gc.get_threshold(), jit.RareCollection()
    try:
        with rarely, rarely:
            assert gc.get_threshold() == (jit.RARELY, *often[1:])
        assert gc.get_threshold() == often
        gc.set_threshold(0)
        with rarely:
            assert gc.get_threshold()[0] == 0  # who has none gets none
    finally:
        gc.set_threshold(*often)
