"""How kernels are compiled: once, when they are first called, without the GIL, in IEEE arithmetic.

There are two modes. The *fast* one uses private parts of numba (:mod:`coterie.numeric.fast`), the
*plain* one only what numba documents; the numbers are the same. Plain is taken where the private
parts are missing or fail, with one warning, or by ``COTERIE_NUMBA=plain``. numba itself is imported
when something must be compiled: what needs no kernel does without it.

Under ``NUMBA_DISABLE_JIT=1`` everything stays Python.
"""

from __future__ import annotations

import functools
import gc
import importlib
import os
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import Any, TypeVar, cast

import numpy as np

from coterie.errors import CoterieError
from coterie.numeric import cache

F = TypeVar("F", bound=Callable[..., object])

int64 = cast(Callable[[Any], int], np.int64)
"""Of one kind, whatever an array holds: a function is compiled for each kind it is called with."""

COMPILES = os.environ.get("NUMBA_DISABLE_JIT", "0") in ("", "0")
PUBLIC: dict[str, dict[str, Any]] = {
    "kernel": {"nogil": True, "error_model": "numpy"},
    "part": {"nogil": True, "error_model": "numpy"},
    "apart": {"nogil": True, "error_model": "numpy"},
    "piece": {"nogil": True, "error_model": "numpy", "forceinline": True},
}
"""Documented options of ``numba.njit``."""
KEPT = ("kernel", "apart")
"""What is kept in the cache."""


RARELY = 100_000
"""New objects after which garbage is looked for while something is compiled."""


def kernel(function: F) -> F:
    """Compile a function that is called from Python; keep the code for the next time."""
    return _declared(Kernel, function, "kernel")


def piece(function: F) -> F:
    """Compile a small part of an inner loop with the kernel that calls it, pasted into it.

    Handing tuples of arrays from function to function costs more than the work in them, most of it
    for counting references; in the fast mode there is neither. In return a piece must neither make
    an array nor return one, nor call anything that returns one.

    Called from Python it runs as Python: the way in would take longer to compile than the piece.
    """
    return _declared(Inner, function, "piece")


def part(function: F) -> F:
    """Compile a larger part of a kernel, with the bargain of :func:`piece`, but not pasted.

    It is called: for what runs once per sweep, or hardly ever.
    """
    return _declared(Inner, function, "part")


def _declared(made: type[Compiled], function: F, kind: str) -> F:
    return cast(F, made(function, kind)) if COMPILES else function


class How:
    """How this process compiles; ``round`` counts the changes of mind."""

    def __init__(self) -> None:
        self.round = 0
        self.private: dict[str, dict[str, Any]] = {}
        self._hand_over: Callable[[bool], None] | None = None
        wanted = os.environ.get("COTERIE_NUMBA", "fast")
        if wanted not in ("fast", "plain"):
            raise CoterieError(f"COTERIE_NUMBA must be fast or plain, got {wanted!r}")
        if wanted == "fast":
            try:
                from coterie.numeric import code_address  # noqa: F401, numba is told of entries
                from coterie.numeric.fast import OPTIONS
                from coterie.numeric.tuple_passing import hand_over

                hand_over(True)
            except Exception as error:  # whatever another version of numba does
                warn_of_plain(error)
            else:
                self.private, self._hand_over = OPTIONS, hand_over
        _register()

    @property
    def facts(self) -> tuple[str, str]:
        """What compiled code depends on beside its sources."""
        from numba import __version__

        return "fast" if self.private else "plain", __version__

    def adapt(self, dispatcher: Any) -> Any:
        """Change what numba made of a function, where private parts are used."""
        if not self.private:
            return dispatcher
        from coterie.numeric.fast import widened

        return widened(dispatcher)

    def use(self, private: dict[str, dict[str, Any]]) -> None:
        """Compile from now on with these private options, if any, and anew what was compiled."""
        if self._hand_over is not None:
            self._hand_over(bool(private))
        self.private = private
        self.round += 1


_decided = functools.cache(How)
_declaring, _mending = threading.RLock(), threading.RLock()


def how() -> How:
    """Give what was decided when the first function was compiled."""
    with _declaring:
        return _decided()


def warn_of_plain(error: Exception) -> None:
    """Say that the fast mode does not work."""
    from numba import __version__

    cache.warn(
        f"the fast mode does not work with numba {__version__} ({type(error).__name__}: {error});"
        " sampling is several times slower: install a version that coterie declares, or set"
        " COTERIE_NUMBA=plain to see this no more"
    )


class Compiled:
    """A function that numba compiles when it is needed, in the way that works here."""

    def __init__(self, function: Callable[..., object], kind: str) -> None:
        functools.update_wrapper(cast(Any, self), function)
        self.function, self.kind = function, kind
        self.folder: Path | None = None  # where the code is kept
        self._dispatcher: Any = None
        self._round = -1

    def __reduce__(self) -> tuple[Any, ...]:
        """Be pickled by name: a kernel that is made of parts is found in the cache by theirs."""
        return find_by_name, (self.function.__module__, self.function.__qualname__)

    @property
    def compiled(self) -> Any:
        """What numba calls a dispatcher, declared in the present way."""
        with _declaring:
            if self._round != how().round:
                self._dispatcher = self._kept() if self.kind in KEPT else self.declare()
                self._round = how().round
            return self._dispatcher

    def declare(self, **more: bool) -> Any:
        """Hand the function to numba."""
        import numba

        njit: Any = numba.njit  # typed without some of these options
        options = PUBLIC[self.kind] | how().private.get(self.kind, {})
        return how().adapt(njit(**options, **more)(self.function))

    def _kept(self) -> Any:
        """Do so, the code to be kept if there is a place for it."""
        with cache.keeping(self.function, *how().facts) as self.folder:
            if self.folder is None:
                return self.declare()
            with suppress(RuntimeError):  # numba finds no place
                dispatcher = self.declare(cache=True)
                if Path(dispatcher.stats.cache_path).is_relative_to(self.folder):
                    return dispatcher
        # numba keeps it elsewhere, where code may be old, if at all.
        cache.warn_of_none(f"numba does not write to {self.folder}")
        self.folder = None
        return self.declare()

    def compile_once(self, dispatcher: Any, kinds: tuple[Any, ...]) -> None:
        """Compile for these types, or find what another process compiles meanwhile."""
        with ExitStack() as held:
            if self.folder is not None:
                held.enter_context(cache.alone(self.folder, self.function))
            held.enter_context(_rarely)
            dispatcher.compile(kinds)


def find_by_name(module: str, name: str) -> Any:
    """Give what a module has under a name."""
    return getattr(importlib.import_module(module), name)


class Inner(Compiled):
    """What is compiled into the kernels that call it; called from Python it runs as Python."""

    def __call__(self, *args: Any) -> object:
        """Run as Python."""
        return self.function(*args)


class Kernel(Compiled):
    """What is compiled to be called from Python."""

    def __call__(self, *args: Any) -> object:
        """Run, compiled before if need be."""
        number = how().round
        dispatcher: Any = None
        try:
            dispatcher = self.compiled
            if self.folder is not None and not dispatcher.signatures:
                self.compile_once(dispatcher, _kinds(args))
            return dispatcher(*args)
        except Exception as error:
            has_code = _has_code(dispatcher, args)
            if isinstance(error, OSError):  # not of the code: it could not be read, or not be kept
                cache.give_up(error)
                if has_code:
                    return dispatcher(*args)
            elif has_code:
                raise
            return self._with_less(args, error, number)

    def _with_less(self, args: tuple[Any, ...], error: Exception, number: int) -> object:
        """Compile without what is kept; if that is not to blame, without numba's private parts."""
        with _mending:
            if how().round != number:  # another thread has changed the way
                return self(*args)
            dispatcher: Any = None
            try:
                dispatcher = self.declare()
                result = dispatcher(*args)
            except Exception as again:
                if _has_code(dispatcher, args):
                    raise
                return self._all_afresh(args, again)
            if self.folder is not None and not isinstance(error, OSError):
                cache.remove(self.folder, error)
            self._dispatcher, self._round = dispatcher, number
            return result

    def _all_afresh(self, args: tuple[Any, ...], error: Exception) -> object:
        """Compile also those that it calls without what is kept of them; else plainly."""
        folder = self.folder
        if folder is not None:
            with cache.paused(), suppress(Exception):
                how().use(how().private)
                result = self.compiled(*args)
                cache.remove(folder, error)
                return result
        if not how().private:
            raise error
        return self._plainly(args, error)

    def _plainly(self, args: tuple[Any, ...], error: Exception) -> object:
        """Compile in the plain mode, and stay there if that works."""
        private = how().private
        how().use({})
        try:
            result = self.compiled(*args)
        except Exception:
            how().use(private)  # they are not to blame
            raise
        warn_of_plain(error)
        return result


class RareCollection:
    """Python looks for garbage rarely within, also where several threads are within.

    Compiling makes millions of objects that stay: to look at them again and again is an eighth of
    its time.
    """

    def __init__(self) -> None:
        self._within, self._often = 0, gc.get_threshold()

    def __enter__(self) -> None:
        """Begin, or join others that have."""
        with _declaring:
            if self._within == 0:
                self._often = gc.get_threshold()
                young, *old = self._often
                gc.set_threshold(max(young, RARELY) if young else 0, *old)  # 0: never
            self._within += 1

    def __exit__(self, *error: object) -> None:
        """Look as often as before, if nobody else is within."""
        with _declaring:
            self._within -= 1
            if self._within == 0:
                gc.set_threshold(*self._often)


_rarely = RareCollection()


def _has_code(dispatcher: Any, args: tuple[Any, ...]) -> bool:
    """Say whether there is code for these arguments, which then has run."""
    return dispatcher is not None and _kinds(args) in dispatcher.signatures


def _kinds(args: tuple[Any, ...]) -> tuple[Any, ...]:
    """Give numba's types of arguments."""
    import numba

    return tuple(map(numba.typeof, args))


def _register() -> None:
    """Tell numba that our functions, where others name them, are functions of its own."""
    from numba.extending import typeof_impl

    @typeof_impl.register(Compiled)
    def _typeof(value: Compiled, context: object) -> Any:
        return typeof_impl(value.compiled, context)


def is_kept() -> bool:
    """Say whether what is compiled now will be there for other processes."""
    with cache.keeping(is_kept, *how().facts) as folder:
        return folder is not None


class Compiling:
    """How long was compiled, by any thread; ``tell`` is called once, before the first time."""

    def __init__(self, tell: Callable[[], None]) -> None:
        self.seconds = 0.0
        self._tell: Callable[[], None] | None = tell
        self._open, self._since, self._lock = 0, 0.0, threading.Lock()

    def start(self) -> None:
        """Note that something is compiled from now on, which may be within something else."""
        told, self._tell = self._tell, None
        if told is not None:
            told()
        with self._lock:
            if self._open == 0:
                self._since = time.perf_counter()
            self._open += 1

    def end(self) -> None:
        """Note that it is done."""
        with self._lock:
            self._open -= 1
            if self._open == 0:
                self.seconds += time.perf_counter() - self._since


@contextmanager
def telling_of_compilation(tell: Callable[[], None]) -> Iterator[Compiling]:
    """Call ``tell`` once if anything must be compiled, just before it is; give how long it took."""
    compiling = Compiling(tell)
    if not COMPILES:
        yield compiling
        return
    try:
        from numba.core import event

        listener: Any = event.Listener
        install: Any = event.install_listener
    except (ImportError, AttributeError):  # for developers of numba: it may go
        yield compiling
        return

    class Teller(listener):  # type: ignore[misc]
        """What the cache holds starts nothing."""

        def on_start(self, event: Any) -> None:
            compiling.start()

        def on_end(self, event: Any) -> None:
            compiling.end()

    with install("numba:compile", Teller()):
        yield compiling
