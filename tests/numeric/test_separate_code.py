"""A part that is compiled by itself does what it does within a kernel."""

import numba
import numpy as np
import pytest

from coterie.errors import CompilationWarning
from coterie.kernels.record import Tally
from coterie.numeric import cache, jit
from coterie.numeric.separate_code import apart, go_to

pytestmark = pytest.mark.skipif(not jit.COMPILES, reason="nothing is compiled")


@pytest.fixture(autouse=True)
def afresh(tmp_path, monkeypatch):
    monkeypatch.setattr(numba.config, "CACHE_DIR", str(tmp_path))
    monkeypatch.delenv("COTERIE_NUMBA", raising=False)
    jit._decided.cache_clear()
    yield
    jit._decided.cache_clear()
    cache.find_folder.cache_clear()


def example():
    @jit.part
    def add(k, tally, rng):
        if k == 3:
            raise ValueError("three")
        tally.sweeps[k] += rng.random()

    @jit.part
    def add_all(entry, n, tally, rng):
        for k in range(n):
            if entry is None:
                add(k, tally, rng)
            else:
                go_to(entry, k, tally, rng)

    @jit.kernel
    def run(entry, n, tally, rng):
        add_all(entry, n, tally, rng)

    return add, apart(add), run


def tally():
    return Tally(1.0, np.zeros((2, 2)), np.zeros(5), np.zeros((2, 0)))


def summed(run, entry, n=3):
    given = tally()
    run(entry, n, given, np.random.default_rng(0))
    return given.sweeps.tolist()


DRAWN = [*np.random.default_rng(0).random(3), 0, 0]


def test_it_is_compiled_by_itself_and_once():
    part, adding, run = example()
    entry = adding.entry(0, tally(), np.random.default_rng(1))
    assert not adding.compiled.signatures  # not before a kernel goes there
    assert summed(run, entry) == DRAWN
    assert len(adding.compiled.signatures) == 1
    assert not part.compiled.signatures
    assert adding.entry(2, tally(), np.random.default_rng(2)) is entry
    assert summed(run, None) == DRAWN
    assert len(part.compiled.signatures) == 1


def test_what_it_raises_is_raised():
    _, adding, run = example()
    with pytest.raises(ValueError, match="three"):
        summed(run, adding.entry(0, tally(), np.random.default_rng(0)), 4)


def test_an_entry_is_for_arguments_of_its_types():
    _, adding, run = example()
    wrong = tally()._replace(per_item=np.zeros((2, 2), np.float32))
    entry = adding.entry(0, wrong, np.random.default_rng(0))
    with pytest.warns(CompilationWarning, match="the fast mode does not work"):
        assert summed(run, entry) == DRAWN  # compiled in


def test_in_the_plain_mode_it_is_compiled_in(monkeypatch):
    _, adding, run = example()
    entry = adding.entry(0, tally(), np.random.default_rng(0))
    monkeypatch.setenv("COTERIE_NUMBA", "plain")
    jit._decided.cache_clear()
    part, adding, run = example()
    assert adding.entry(0, tally(), np.random.default_rng(0)) is None
    assert summed(run, entry) == DRAWN  # of before it was decided
    assert len(part.compiled.signatures) == 1


def test_in_python_nobody_goes_there():
    with pytest.raises(TypeError, match="only compiled code"):
        go_to(None, 1)
