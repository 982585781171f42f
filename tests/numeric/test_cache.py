"""Compiled code is kept where it can be, is never stale, and is done without elsewhere."""

import ast
import errno
import os
import sys
from pathlib import Path

import numba
import numpy as np
import pytest
from numba.core import caching

import coterie
from coterie.errors import CompilationWarning
from coterie.files import locks
from coterie.numeric import cache, jit

compiles = pytest.mark.skipif(not jit.COMPILES, reason="nothing is compiled")
SOURCE = Path(coterie.__file__).parent


@pytest.fixture(autouse=True)
def afresh(tmp_path, monkeypatch):
    """A cache of its own, and nothing known of any other."""
    monkeypatch.setattr(numba.config, "CACHE_DIR", str(tmp_path))
    for known in (cache.stamp, cache.find_folder):
        known.cache_clear()
    yield
    for known in (cache.stamp, cache.find_folder, cache._given_up):
        known.clear() if known is cache._given_up else known.cache_clear()


def double(x):
    return 2 * x


def kernel():
    """The same kernel as another process would declare it."""
    return jit.Kernel(double, "kernel")


def hits(kernel):
    return sum(kernel.compiled.stats.cache_hits.values())


@compiles
def test_the_next_process_finds_what_was_compiled(tmp_path):
    first, second = kernel(), kernel()
    assert (first(2), second(2)) == (4, 4)
    assert (hits(first), hits(second)) == (0, 1)
    assert second.folder.parent == tmp_path
    assert str(tmp_path) == numba.config.CACHE_DIR


@compiles
def test_an_edit_of_any_source_compiles_again(tmp_path, monkeypatch):
    package = tmp_path / "package"
    (package / "kernels" / "deep").mkdir(parents=True)
    helper = package / "kernels" / "deep" / "helper.py"
    helper.write_text("ONE = 1\n")
    monkeypatch.setattr(cache, "PACKAGE", package)
    before = kernel()
    assert before(2) == 4
    helper.write_text("ONE = 2\n")
    cache.stamp.cache_clear()
    after = kernel()
    assert after(2) == 4
    assert hits(after) == 0
    assert before.folder != after.folder


def test_a_kernel_of_others_counts_the_files_beside_it(tmp_path):
    (tmp_path / "mine.py").write_text("ONE = 1\n")
    before = cache.stamp(tmp_path)
    (tmp_path / "mine.py").write_text("ONE = 2\n")
    cache.stamp.cache_clear()
    assert cache.stamp(tmp_path) != before
    assert cache.stamp(SOURCE / "kernels") == cache.stamp(SOURCE / "numeric")


def compiled_modules():
    """Every file with compiled code: its name and its tree."""
    for path in SOURCE.rglob("*.py"):
        tree = ast.parse(path.read_text("utf-8"))
        if any(is_compiled(node) for node in tree.body):
            yield path.relative_to(SOURCE).as_posix(), tree


def is_compiled(node):
    decorators = {ast.unparse(name) for name in getattr(node, "decorator_list", [])}
    return bool(decorators & {"kernel", "part", "piece"})


def is_stamped(name):
    return any(f"{name}/".startswith(f"{stamped}/") for stamped in cache.COMPILED)


def test_what_compiled_code_names_is_part_of_the_stamp():
    found = {}
    for name, tree in compiled_modules():
        found[name] = name
        origin = {
            alias.asname or alias.name: node.module
            for node in ast.walk(tree)
            if isinstance(node, ast.ImportFrom) and node.module.startswith("coterie")
            for alias in node.names
        }
        bodies = [part for node in tree.body if is_compiled(node) for part in node.body]
        names = {
            node.id for body in bodies for node in ast.walk(body) if isinstance(node, ast.Name)
        }
        for module in {origin[one] for one in names & origin.keys()}:
            place = module.removeprefix("coterie.").replace(".", "/")
            found[f"{place}.py" if (SOURCE / f"{place}.py").exists() else place] = name
    assert {place: name for place, name in found.items() if not is_stamped(place)} == {}
    assert len(found) > 20


@compiles
def test_without_a_place_it_compiles_and_says_once_how_to_give_it_one(tmp_path, monkeypatch):
    blocked = tmp_path / "file"
    blocked.touch()
    monkeypatch.setattr(numba.config, "CACHE_DIR", str(blocked / "folder"))
    with pytest.warns(CompilationWarning, match="set NUMBA_CACHE_DIR to a folder") as told:
        first = kernel()(2)
    assert (first, kernel()(2), len(told)) == (4, 4, 1)


@compiles
def test_an_install_that_cannot_be_written_to_uses_the_users_caches(tmp_path, monkeypatch):
    blocked = tmp_path / "install"
    blocked.touch()
    monkeypatch.setattr(numba.config, "CACHE_DIR", "")
    monkeypatch.setattr(cache, "PACKAGE", blocked)
    monkeypatch.setenv("LOCALAPPDATA" if os.name == "nt" else "XDG_CACHE_HOME", str(tmp_path / "c"))
    used = kernel()
    assert used(2) == 4
    assert used.folder.parent == tmp_path / "c" / "coterie"


@compiles
def test_no_home_is_no_place(tmp_path, monkeypatch):
    blocked = tmp_path / "install"
    blocked.touch()
    monkeypatch.setattr(numba.config, "CACHE_DIR", "")
    monkeypatch.setattr(cache, "PACKAGE", blocked)
    monkeypatch.delenv("XDG_CACHE_HOME", raising=False)

    def homeless():
        raise RuntimeError("Could not determine home directory.")

    monkeypatch.setattr(cache.Path, "home", homeless)
    with pytest.warns(CompilationWarning, match=f"compile again .{blocked}.*set NUMBA_CACHE_DIR"):
        assert kernel()(2) == 4


def empty(path):
    path.write_bytes(b"")


def truncate(path):
    path.write_bytes(path.read_bytes()[:-9])


def scribble(path):
    path.write_bytes(b"\0" * 99)


@compiles
@pytest.mark.parametrize("suffix", ["nbi", "nbc"])
@pytest.mark.parametrize("damage", [empty, truncate, scribble])
def test_damage_is_noticed_said_and_compiled_past(damage, suffix):
    first = kernel()
    assert first(2) == 4
    (path,) = first.folder.rglob(f"*.{suffix}")
    damage(path)
    damaged = kernel()
    with pytest.warns(CompilationWarning, match="is damaged.*removed and compiled again") as told:
        assert damaged(2) == 4
    assert (damaged(3), len(told)) == (6, 1)
    third, fourth = kernel(), kernel()
    assert (third(2), fourth(2), hits(third), hits(fourth)) == (4, 4, 0, 1)


@compiles
@pytest.mark.parametrize("damage", [empty, truncate, scribble])
def test_damage_of_what_a_kernel_calls_is_noticed_too(damage):
    inner = kernel()

    def twice(x):
        return inner(inner(x))

    assert jit.Kernel(twice, "kernel")(2) == 8
    for path in inner.folder.rglob("*.nb?"):
        damage(path)
    inner._round = -1  # as in another process
    with pytest.warns(CompilationWarning, match="is damaged.*removed and compiled again") as told:
        assert jit.Kernel(twice, "kernel")(2) == 8
    assert len(told) == 1


@compiles
def test_a_folder_where_a_file_should_be_is_done_without(tmp_path):
    first = kernel()
    assert first(2) == 4
    (path,) = first.folder.rglob("*.nbi")
    path.unlink()
    path.mkdir()
    with pytest.warns(CompilationWarning, match="cannot be kept") as told:
        assert kernel()(2) == 4
    assert (kernel()(2), len(told)) == (4, 1)


@compiles
def test_a_full_disk_costs_no_result(monkeypatch):
    def full(*args):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(caching.IndexDataCacheFile, "save", full)
    with pytest.warns(CompilationWarning, match="No space left on device.*NUMBA_CACHE_DIR") as told:
        first = kernel()(2)
    assert (first, kernel()(2), len(told)) == (4, 4, 1)


@compiles
def test_where_numba_would_keep_code_elsewhere_none_is_kept(tmp_path, monkeypatch):
    class Elsewhere(caching.UserProvidedCacheLocator):
        def get_cache_path(self):
            return str(tmp_path / "elsewhere")

    monkeypatch.setattr(caching.CacheImpl, "_locator_classes", [Elsewhere])
    with pytest.warns(CompilationWarning, match="numba does not write to"):
        assert kernel()(2) == 4
    monkeypatch.setattr(caching.CacheImpl, "_locator_classes", [])
    with pytest.warns(CompilationWarning, match="numba does not write to"):
        assert kernel()(2) == 4
    assert not list(tmp_path.rglob("*.nbc"))


def test_the_folders_used_last_stay(tmp_path):
    for age in range(cache.KEPT + 3):
        folder = cache.find_folder(f"{cache.PREFIX}{age}", str(tmp_path))
        os.utime(folder, (age, age))
    (tmp_path / "other").mkdir()
    cache.find_folder(f"{cache.PREFIX}new", str(tmp_path))
    left = {path.name.removeprefix(cache.PREFIX) for path in tmp_path.iterdir()}
    assert left == {"new", "other", *map(str, range(4, cache.KEPT + 3))}


def test_a_folder_that_is_used_again_is_not_old(tmp_path):
    folder = cache.find_folder(f"{cache.PREFIX}1", str(tmp_path))
    os.utime(folder, (1, 1))
    cache.find_folder.cache_clear()
    assert cache.find_folder(f"{cache.PREFIX}1", str(tmp_path)) == folder
    assert folder.stat().st_mtime > 1


@compiles
def test_arrays_cross_too():
    @jit.kernel
    def add(values):
        return values.sum()

    assert add(np.arange(4.0)) == 6


@compiles
@pytest.mark.skipif(sys.platform == "win32", reason="there are no such locks")
@pytest.mark.parametrize("gives_up", [False, True])
def test_who_finds_a_kernel_being_compiled_waits_but_not_for_ever(tmp_path, monkeypatch, gives_up):
    monkeypatch.setattr(numba.config, "CACHE_DIR", str(tmp_path))
    used, looks = kernel(), []
    assert used.compiled is not None  # declared: it has a folder
    name = f"{used.function.__module__}.{used.function.__qualname__}.lock"
    other = (used.folder / name).open("ab")
    assert locks.lock(other)

    def wait(seconds):
        looks.append(seconds)
        if not gives_up and len(looks) == 3:
            other.close()

    monkeypatch.setattr(cache.time, "sleep", wait)
    assert used(2) == 4
    assert len(looks) == (round(cache.PATIENCE / cache.LOOK) if gives_up else 3)
    other.close()
