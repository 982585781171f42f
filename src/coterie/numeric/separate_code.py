"""A part of a kernel with machine code of its own, so that two processes can compile a sampler.

numba compiles all that a kernel calls into it, in one process. Here the kernel is handed an
:class:`Entry`, which says where the code of a part is, and goes there. Each has its own place in
the cache. The plain mode has no such thing: there an entry is ``None``, which kernels ask for, and
then call the part itself::

    if end is None:
        finish(sweep, state)
    else:
        go_to(end, sweep, state)
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from coterie.numeric.jit import COMPILES, Compiled, how


class GoTo:
    """Stands in kernels for the call of what an entry leads to."""

    def __call__(self, entry: Entry | None, *args: Any) -> None:
        """Have no meaning in Python: there entries are None."""
        raise TypeError("only compiled code can go to an entry")


go_to = GoTo()


class Apart(Compiled):
    """A part of a kernel that is compiled by itself."""

    def __init__(self, function: Callable[..., object]) -> None:
        super().__init__(function, "apart")
        self.entries: dict[Any, Entry] = {}

    def entry(self, *args: Any) -> Entry | None:
        """Say where its code for such arguments is; it is compiled when a kernel goes there."""
        if not (COMPILES and how().private):
            return None
        from coterie.numeric.code_address import entry_of

        return entry_of(self, args)

    def find(self, kinds: tuple[Any, ...]) -> int:
        """Compile for arguments of these types, or find what was, and give its address."""
        dispatcher = self.compiled
        if kinds not in dispatcher.overloads:
            self.compile_once(dispatcher, kinds)
        made = dispatcher.overloads[kinds]
        return int(made.library.get_pointer_to_function(made.fndesc.llvm_func_name))


def apart(inner: Callable[..., object]) -> Apart:
    """Compile a part by itself too."""
    return Apart(getattr(inner, "function", inner))


class Entry:
    """Where the code of a part is, for arguments of some types."""

    def __init__(self, part: Apart, kinds: tuple[Any, ...], kind: Any) -> None:
        self.part, self.kinds, self.kind = part, kinds, kind
        self._found = (-1, 0)  # in which round, and where

    @property
    def address(self) -> int:
        """What a kernel goes to; the part is compiled by now at the latest."""
        if self._found[0] != how().round:
            self._found = how().round, self.part.find(self.kinds)
        return self._found[1]
