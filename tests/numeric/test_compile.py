"""Compiled code is kept where it can be, done without elsewhere, and never in the way."""

import ast
import errno
import importlib.util
import os
import pickle
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numba
import numpy as np
import pytest

import coterie
from coterie.errors import CompilationWarning
from coterie.numeric import compile as compiling

compiles = pytest.mark.skipif(not compiling.COMPILES, reason="nothing is compiled")
SOURCE = Path(coterie.__file__).parent

LOOPS = """
from coterie.numeric.compile import entry, jit


@entry
def quadruple(x):
    return double(double(x))


@jit
def double(x):
    return 2 * x


@entry
def square(x):
    return x * x


@entry
def refuse(x):
    if x < 0:
        raise ValueError("below zero")
    return x


def adding(y):
    @entry
    def run(x):
        return double(x) + y

    return run
"""


@pytest.fixture(autouse=True)
def afresh(tmp_path, monkeypatch):
    """A file of loops, a cache of its own, and nothing said yet."""
    (tmp_path / "loops.py").write_text(LOOPS)
    os.utime(tmp_path / "loops.py", (1e9, 1e9))
    monkeypatch.setattr(numba.config, "CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.setattr(compiling, "_warned", [])


@pytest.fixture
def load(tmp_path, monkeypatch):
    """Import the file, each time as another process does."""

    def loaded():
        spec = importlib.util.spec_from_file_location("loops", tmp_path / "loops.py")
        module = importlib.util.module_from_spec(spec)
        monkeypatch.setitem(sys.modules, "loops", module)
        spec.loader.exec_module(module)
        return module

    return loaded


def hits(entry):
    return sum(entry.compiled.stats.cache_hits.values())


def kept(tmp_path, suffix="*"):
    return sorted((tmp_path / "cache").rglob(f"loops.quadruple-*.{suffix}"))


def block(tmp_path, monkeypatch):
    """No place can be written to: not the one wanted, not beside the file, not a home."""
    (tmp_path / "file").touch()
    (tmp_path / "__pycache__").touch()
    monkeypatch.setattr(numba.config, "CACHE_DIR", str(tmp_path / "file" / "wanted"))
    for name in ("HOME", "XDG_CACHE_HOME", "LOCALAPPDATA"):
        monkeypatch.setenv(name, str(tmp_path / "file" / "home"))


@compiles
def test_helpers_are_compiled_with_their_callers_and_python_for_python(load):
    loops = load()
    assert (loops.double("ab"), loops.quadruple(2), loops.double("ab")) == ("abab", 8, "abab")


@compiles
def test_the_next_process_finds_what_was_compiled(load):
    first, second = load(), load()
    assert (first.quadruple(2), second.quadruple(2)) == (8, 8)
    assert (hits(first.quadruple), hits(second.quadruple)) == (0, 1)


@compiles
def test_an_edit_compiles_again_what_it_concerns(load, tmp_path):
    assert load().quadruple(2) == 8
    (tmp_path / "loops.py").write_text(LOOPS.replace("return 2 * x", "return 3 * x"))
    after = load()
    assert after.quadruple(2) == 18
    assert hits(after.quadruple) == 0


@compiles
def test_what_is_made_within_a_function_is_compiled_too(load):
    loops = load()
    assert (loops.adding(1)(2), loops.adding(5)(2), loops.adding(1)(2)) == (5, 9, 5)


@compiles
def test_a_wanted_folder_that_cannot_be_written_to_is_done_without(load, tmp_path, monkeypatch):
    (tmp_path / "file").touch()
    monkeypatch.setattr(numba.config, "CACHE_DIR", str(tmp_path / "file" / "wanted"))
    assert (load().quadruple(2), load().quadruple(2)) == (8, 8)
    assert list((tmp_path / "__pycache__").glob("loops.quadruple-*.nbc"))


@compiles
def test_without_any_place_it_compiles_and_says_once_how_to_give_it_one(
    load, tmp_path, monkeypatch
):
    block(tmp_path, monkeypatch)
    loops = load()
    with pytest.warns(CompilationWarning, match="cannot be kept.*set NUMBA_CACHE_DIR") as told:
        assert (loops.quadruple(2), loops.square(3), load().quadruple(2)) == (8, 9, 8)
    assert len(told) == 1


@compiles
def test_a_read_only_install_without_a_home_works(tmp_path):
    (tmp_path / "file").touch()
    (tmp_path / "__pycache__").touch()
    nowhere = {"HOME": str(tmp_path / "file"), "LOCALAPPDATA": str(tmp_path / "file")}
    asked = "import loops; print(loops.quadruple(2), loops.square(3))"
    done = in_a_process(asked, tmp_path, nowhere)
    assert done.stdout.split() == ["8", "9"]
    assert done.stderr.count("CompilationWarning: compiled code cannot be kept") == 1


@pytest.mark.parametrize("disabled", ["0", "1"])
def test_numba_is_not_imported_before_something_is_compiled(tmp_path, disabled):
    asked = "import sys, coterie, loops; print(loops.double(2), 'numba' in sys.modules)"
    if disabled == "1":  # nor then
        asked += "; print(loops.quadruple(2), loops.adding(1)(2), 'numba' in sys.modules)"
    done = in_a_process(asked, tmp_path, {"NUMBA_DISABLE_JIT": disabled})
    assert done.stdout.split() == ["4", "False", *(["8", "5", "False"] if disabled == "1" else [])]
    assert done.stderr == ""


def in_a_process(code, folder, settings):
    """Run Python code beside the file of loops."""
    stays = {name: value for name, value in os.environ.items() if "CACHE" not in name}
    return subprocess.run(
        [sys.executable, "-c", code],
        cwd=folder,
        env={**stays, **settings},
        capture_output=True,
        text=True,
        check=True,
    )


def empty(path):
    path.write_bytes(b"")


def truncate(path):
    path.write_bytes(path.read_bytes()[:-9])


def scribble(path):
    path.write_bytes(b"\0" * 99)


@compiles
@pytest.mark.parametrize("suffix", ["nbi", "nbc"])
@pytest.mark.parametrize("damage", [empty, truncate, scribble])
def test_damage_is_noticed_said_and_compiled_past(load, tmp_path, damage, suffix):
    assert load().quadruple(2) == 8
    (path,) = kept(tmp_path, suffix)
    damage(path)
    damaged = load()
    with pytest.warns(CompilationWarning, match="was damaged .* compiled again") as told:
        assert damaged.quadruple(2) == 8
    assert (damaged.quadruple(3), len(told), kept(tmp_path)) == (12, 1, [])
    third, fourth = load(), load()
    assert (third.quadruple(2), fourth.quadruple(2)) == (8, 8)
    assert (hits(third.quadruple), hits(fourth.quadruple)) == (0, 1)


@compiles
@pytest.mark.parametrize("damage", [empty, truncate, scribble])
def test_damage_of_code_for_other_arguments_is_noticed_when_they_come(load, tmp_path, damage):
    first = load()
    assert (first.quadruple(2), first.quadruple(0.5)) == (8, 2.0)
    damage(kept(tmp_path, "2.nbc")[0])
    damaged = load()
    assert damaged.quadruple(2) == 8
    with pytest.warns(CompilationWarning, match="was damaged .* compiled again"):
        assert damaged.quadruple(0.5) == 2.0


@compiles
def test_damage_is_removed_after_an_edit_too(load, tmp_path):
    assert load().quadruple(2) == 8
    scribble(kept(tmp_path, "nbi")[0])
    (tmp_path / "loops.py").write_text(LOOPS.replace("return 2 * x", "return 3 * x"))
    with pytest.warns(CompilationWarning, match="damaged"):
        assert load().quadruple(2) == 18
    assert kept(tmp_path) == []


@compiles
def test_a_folder_where_a_file_should_be_is_done_without(load, tmp_path):
    assert load().quadruple(2) == 8
    (path,) = kept(tmp_path, "nbi")
    path.unlink()
    path.mkdir()
    with pytest.warns(CompilationWarning, match="could not be kept") as told:
        assert (load().quadruple(2), load().quadruple(3)) == (8, 12)
    assert len(told) == 1


@compiles
def test_a_full_disk_costs_no_result(load, monkeypatch):
    def full(*args):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, "replace", full)
    with pytest.warns(CompilationWarning, match="No space left on device.*NUMBA_CACHE_DIR") as told:
        assert (load().quadruple(2), load().quadruple(2)) == (8, 8)
    assert len(told) == 1


@compiles
@pytest.mark.parametrize("found", [False, True])
def test_errors_of_compiled_code_are_passed_on(load, tmp_path, found):
    loops = load()
    if found:  # in the cache
        assert load().refuse(1) == 1
    for _ in range(2):
        with pytest.raises(ValueError, match="below zero"):
            loops.refuse(-1)
    assert loops.refuse(1) == 1
    assert list((tmp_path / "cache").rglob("loops.refuse-*.nbc"))


@compiles
def test_what_cannot_be_compiled_says_why_and_removes_nothing(load, tmp_path):
    loops = load()
    assert loops.quadruple(2) == 8
    for _ in range(2):
        with pytest.raises(numba.core.errors.TypingError):
            loops.quadruple(None)
    assert loops.quadruple(3) == 12
    assert len(kept(tmp_path)) == 2


@compiles
def test_threads_that_call_first_together_compile_once(load):
    loops, together = load(), threading.Barrier(4)

    def ask(x):
        together.wait()
        return loops.quadruple(x)

    with ThreadPoolExecutor(4) as pool:
        assert list(pool.map(ask, range(4))) == [0, 4, 8, 12]
    assert sum(loops.quadruple.compiled.stats.cache_misses.values()) == 1


@compiles
def test_entries_are_pickled_by_name(load):
    loops = load()
    before = pickle.dumps(loops.quadruple)
    assert loops.quadruple(2) == 8
    assert pickle.dumps(loops.quadruple) == before
    assert pickle.loads(before) is loops.quadruple
    assert load() is not loops
    assert pickle.loads(before)(2) == 8


@compiles
def test_only_what_compiles_is_told_and_once(load, tmp_path):
    told = []

    def ask(loops):
        told.clear()
        with compiling.telling_of_compilation(lambda: told.append(1)):
            assert (loops.quadruple(2), loops.square(3), loops.quadruple(2)) == (8, 9, 8)
        return len(told)

    loops = load()
    assert (ask(loops), ask(loops), ask(load())) == (1, 0, 0)
    (tmp_path / "loops.py").write_text(LOOPS.replace("return 2 * x", "return x + x"))
    assert (ask(load()), ask(load())) == (1, 0)
    (tmp_path / "loops.py").touch()  # as an install of the same version does
    ask(load())
    assert ask(load()) == 0
    with compiling.telling_of_compilation(lambda: told.append(1)):
        pass
    assert (load().refuse(1), told) == (1, [])


@compiles
def test_who_is_told_may_compile(load):
    loops, told = load(), []
    with compiling.telling_of_compilation(lambda: told.append(loops.square(3))):
        assert loops.quadruple(2) == 8
    assert told == [9]


@compiles
def test_arrays_cross_as_they_are(load):
    values = np.arange(4.0)
    values.flags.writeable = False
    assert load().square(values).tolist() == [0, 1, 4, 9]


def compiled_functions():
    """Every function that is compiled by this layer, with what its file imports from others."""
    for path in SOURCE.rglob("*.py"):
        tree = ast.parse(path.read_text("utf-8"))
        imports = [node for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)]
        if not any(node.module == "coterie.numeric.compile" for node in imports):
            continue
        others = {
            alias.asname or alias.name
            for node in imports
            for alias in node.names
            if (node.module or "").startswith("coterie")
        }
        calls = [node for node in ast.walk(tree) if isinstance(node, ast.Call)]
        handed = {ast.unparse(call.args[0]) for call in calls if ast.unparse(call.func) == "entry"}
        for node in ast.walk(tree):
            if isinstance(node, ast.FunctionDef) and (
                node.name in handed
                or {"jit", "entry"} & {ast.unparse(name) for name in node.decorator_list}
            ):
                yield f"{path.relative_to(SOURCE)}:{node.name}", node, others


def test_compiled_code_names_nothing_of_other_files():
    names, found = 0, {}
    for place, function, others in compiled_functions():
        used = {part.id for body in function.body for part in ast.walk(body)
                if isinstance(part, ast.Name)}  # fmt: skip
        names += len(used)
        if used & others:
            found[place] = used & others
    assert found == {}
    assert names > 100
