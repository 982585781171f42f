"""A model's kernels, as they are or with a planted bug, and states of them made to order."""

import inspect
import itertools
import sys
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from importlib.machinery import SourceFileLoader
from importlib.util import module_from_spec, spec_from_loader
from pathlib import Path
from types import ModuleType
from typing import Any

import numba
import numpy as np

import coterie
from coterie.files.atomic import text_writer, write_file
from coterie.kernels.keep import Record, Streams, keep_nothing, new_keep
from coterie.numeric.cache import keeping
from coterie.numeric.jit import Inner, how, kernel
from coterie.priors import Gamma
from reference.exact import all_partitions, all_truths

SOURCE = Path(coterie.__file__).parent
NUMBER = itertools.count()
PACKED, PLANTED = {}, {}
ALPHA = 0.8  # of states made to order, unless it is fixed


@cache
def compiled(function):
    """What is compiled into the kernels, compiled to be called from here; others as they are.

    A file that calls it makes it a kernel, which is kept for other files of tests and other
    processes: to compile the pieces takes longer than to check them.
    """
    if not isinstance(function, Inner):
        return function
    module, name = function.__module__, function.__name__
    with keeping(function.function, *how().facts) as folder:
        if folder is None:
            inner = function.compiled
            return numba.njit(error_model="numpy")(lambda *args: inner(*args))
        path = folder / "called" / f"{module}.{name}" / "call.source"  # nobody lists it
    names = ", ".join(inspect.signature(function.function).parameters)
    text = f"from {module} import {name}\n\n\ndef call({names}):\n    return {name}({names})\n"
    if not path.exists() or path.read_text("utf-8") != text:
        path.parent.mkdir(parents=True, exist_ok=True)
        write_file(path, text_writer(text))
    loader = SourceFileLoader(f"called.{module}.{name}", str(path))
    spec = spec_from_loader(loader.name, loader)
    called = sys.modules[spec.name] = module_from_spec(spec)  # what is kept names it
    loader.exec_module(called)
    return kernel(called.call)


class Compiled:
    """A module whose functions are called as the kernels call them, and not as Python."""

    def __init__(self, module: ModuleType):
        self.__name__ = module.__name__
        self.module = module

    def __getattr__(self, name):
        value = getattr(self.module, name)
        return compiled(value) if isinstance(value, Inner) else value


@dataclass(frozen=True)
class Sampler:
    """The modules that a model's sampler is made of."""

    package: str
    name: str

    def module(self, name) -> Any:
        return Compiled(import_module(f"{self.package}.kernels.{name}"))

    def part(self, name) -> Any:
        """A file of hcBCC's folder."""
        return self.module(f"gibbs.hcbcc.{name}")

    @property
    def model(self) -> Any:
        return self.part("model") if self.name == "hcbcc" else self.module(f"gibbs.{self.name}")

    def truth(self, name) -> Any:
        """A file of the truth update."""
        return self.module(f"truth.{name}")

    @property
    def groups(self) -> Any:
        """Where annotators move."""
        return self.part("reuse") if self.name == "hcbcc" else self.model


def real(case):
    """The sampler that the package ships."""
    return ours(case.model)


def ours(name):
    """The same by its name."""
    return Sampler("coterie", name)


def planted(case, folder, edits=()):
    """The sampler in plain Python, from a copy of its source with these edits.

    An edit is (file, old text, new text); the old text must occur exactly once.
    """
    forget_planted(folder)
    package = f"planted_{next(NUMBER)}"
    left = list(edits)
    for path in [*SOURCE.glob("kernels/**/*.py"), *SOURCE.glob("numeric/*.py")]:
        name = path.relative_to(SOURCE).as_posix()
        text = path.read_text("utf-8")
        for edit in [edit for edit in edits if edit[0] == name]:
            assert text.count(edit[1]) == 1, f"{edit[1]!r} occurs {text.count(edit[1])} times"
            text = text.replace(edit[1], edit[2])
            left.remove(edit)
        for layer in ("kernels", "numeric"):
            text = text.replace(f"coterie.{layer}", f"{package}.{layer}")
        if name == "numeric/jit.py":
            text = "def kernel(function):\n    return function\n\n\npart = piece = kernel\n"
            text += "int64 = int\nhow, COMPILES = None, False\n\n\nclass Compiled:\n"
            text += "    def __init__(self, function, kind):\n        self.function = function\n"
        target = folder / package / name
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(text, "utf-8")
    assert not left, f"no such file: {left}"
    if str(folder) not in sys.path:
        sys.path.insert(0, str(folder))
    PLANTED[package] = folder
    return Sampler(package, case.model)


def forget_planted(folder):
    """Unload what was planted elsewhere: there would be thousands of modules and places of them."""
    gone = {package: place for package, place in PLANTED.items() if place != folder}
    for name in [name for name in sys.modules if name.partition(".")[0] in gone]:
        del sys.modules[name]
    for key in [key for key in PACKED if key[0].package in gone]:
        del PACKED[key]
    for package, place in gone.items():
        del PLANTED[package]
        with suppress(ValueError):  # two of one place
            sys.path.remove(str(place))


def pack(sampler, case):
    """The prior as the kernels read it: to make its tables takes longer than most checks."""
    key = sampler, id(case)
    if key not in PACKED:  # a case that is kept shares its number with no other
        PACKED[key] = case, sampler.model.pack_prior(case.prior)
    return PACKED[key][1]


def start(sampler, case, z, q=None, alpha=ALPHA, beta=None, eta=None):
    """The state with this truth, these clusters and these parameters of theirs."""
    problem = case.problem
    truth = np.zeros(problem.n_items, np.int32)
    truth[list(z)] = list(z.values())
    group = np.zeros(problem.n_annotators, np.int32)
    if q is not None:
        group[list(q)] = list(q.values())
    rng = np.random.default_rng(0)
    state = sampler.model.initial_state(problem.codes, pack(sampler, case), truth, group, rng)
    if case.has_groups and isinstance(case.prior.concentration, Gamma):
        state.log_concentration[0] = np.log(alpha)
    if beta is not None:
        set_parameters(state, slice(len(beta)), beta, eta)
    return state


def set_parameters(state, m, beta, eta):
    """Give hcBCC's slots m these parameters, as far as there are slots.

    beta has shape (slots, T) and eta (slots, T, C); the kernels have the classes last.
    """
    n = len(state.slot)
    state.log_strength[m] = np.log(beta)[:n]
    state.log_mean[m] = np.log(eta)[:n].swapaxes(1, 2)
    state.strength[:] = np.exp(state.log_strength)
    state.weight[:] = np.exp(state.log_strength[:, None] + state.log_mean)


def read(case, state):
    """What the state says, as the reference wants it: z, q, alpha, beta, eta."""
    z = {i: int(state.truth[i]) for i in case.problem.counted}
    if not case.has_groups:
        return z, None, None, None, None
    q = {l: int(state.group[l]) for l in case.problem.active}
    alpha = float(np.exp(state.log_concentration[0]))
    if case.model == "cbcc":
        return z, q, alpha, None, None
    return z, q, alpha, np.exp(state.log_strength), np.exp(state.log_mean.swapaxes(1, 2))


def run_block(model, state, data, prior, rng, tally, trace, scratch=None):
    """As many sweeps as the trace has room for, of which no draw is kept.

    A chain has scratch of its own: to make it takes longer than a sweep of a small problem.
    """
    if scratch is None:
        scratch = model.new_scratch(state, data, prior)
    record = Record(tally, trace, keep_nothing(data))
    model.run_block(state, data, prior, Streams(rng, rng, rng), record, scratch)


def one_draw(model, state, data, prior, streams, scratch=None):
    """The mean matrices, a draw of the matrices, of the class balance and of the partition.

    Matrices have as many digits as they are computed with, of which a run keeps half.
    """
    if scratch is None:
        scratch = model.new_scratch(state, data, prior)
    keep = new_keep(data, keep_nothing(data).vote, draws=1, every=1)
    keep = keep._replace(confusion=keep.confusion.astype(np.float64))
    own = getattr(scratch, "plain", scratch)  # of a blocked sampler, that of the other one
    model.keep_draw(state, data, prior, streams, keep, own)
    return keep.confusion_sum, keep.confusion[0], keep.class_balance[0], keep.partition[0]


def at_work(sampler, case, state):
    """What the truth update needs: a view of the state, and room to weigh its items."""
    data = case.problem.codes
    view = sampler.model.view_of(state, pack(sampler, case))
    work = sampler.truth("counts").new_work(data, view)
    sampler.truth("counts").add_shapes(view, data, work)
    return view, work


def weighed(sampler, i, view, data, work):
    """The log weights of item i's classes, by every way that can weigh it; the slow one is last."""
    if len(work.ratio) > 0 and sampler.truth("own_matrix").weigh_many(i, view, data, work):
        yield np.log(work.weights)
    if len(work.ratio) > 0 and data.n_classes == 2:
        both = np.array(sampler.truth("own_matrix").weigh_two(i, view, data, work))
        if both.any():
            yield np.log(both)
    sampler.truth("shared_matrix").weigh_shared(i, view, data, work)
    yield np.log(work.weights) + work.logs


def choices(sampler, work, data):
    """The ways to pick a class."""
    if len(work.ratio) == 0:
        return [sampler.truth("shared_matrix").choose_shared]
    own = sampler.truth("own_matrix")
    two = [own.choose_two] if data.n_classes == 2 else []
    return [own.choose_many, sampler.truth("logs").choose_in_logs, *two]


def all_states(case):
    """Every (z, q); q is None for a model without groups."""
    partitions = list(all_partitions(case.problem.active)) if case.has_groups else [None]
    return [(z, q) for z in all_truths(case.problem) for q in partitions]


def canonical(q):
    """Number clusters by first appearance."""
    numbers = {}
    return {l: numbers.setdefault(m, len(numbers)) for l, m in q.items()}
