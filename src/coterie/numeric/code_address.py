"""What numba is told of entries of code, in the fast mode only.

See :mod:`coterie.numeric.separate_code`.
"""

# mypy: disable-error-code="no-untyped-call"

from __future__ import annotations

import hashlib
from typing import Any

from llvmlite import ir
from numba import typeof
from numba._dispatcher import compute_fingerprint
from numba.core import cgutils, types
from numba.core.errors import TypingError
from numba.core.registry import cpu_target
from numba.extending import (
    NativeValue,
    intrinsic,
    models,
    register_model,
    typeof_impl,
    unbox,
)

from coterie.numeric.jit import how
from coterie.numeric.separate_code import Apart, Entry, GoTo


class EntryType(types.Type):
    """Of an entry for arguments of some types, which are in its name."""

    def __init__(self, kinds: tuple[Any, ...]) -> None:
        told = hashlib.sha256(str(kinds).encode()).hexdigest()
        super().__init__(f"Entry({told})")

    @property
    def literal_type(self) -> EntryType:
        """What numba asks for to see that it is never None, so that it omits what is for None."""
        return self


@register_model(EntryType)
class EntryModel(models.PrimitiveModel):
    """An address."""

    def __init__(self, manager: Any, of: Any) -> None:
        super().__init__(manager, of, ir.IntType(64))


@unbox(EntryType)  # type: ignore[untyped-decorator]
def read(of: Any, entry: Any, c: Any) -> Any:
    """Ask an entry for its address, by which it is compiled if need be."""
    number = c.pyapi.object_getattr_string(entry, "address")
    failed = cgutils.is_null(c.builder, number)
    address = cgutils.alloca_once_value(c.builder, ir.Constant(ir.IntType(64), 0))
    with c.builder.if_then(c.builder.not_(failed)):
        c.builder.store(c.pyapi.long_as_longlong(number), address)
        c.pyapi.decref(number)
    return NativeValue(c.builder.load(address), is_error=failed)


@intrinsic
def go(context: Any, entry: Any, *args: Any) -> Any:
    """Call what is at an address, as numba calls a function of its own."""
    if entry.name != EntryType(args).name:  # by name: this file may have been imported twice
        raise TypingError("an entry is for arguments of other types")

    def call(context: Any, builder: Any, signature: Any, values: Any) -> Any:
        convention = context.call_conv
        kind = convention.get_function_type(types.none, args)
        place = builder.inttoptr(values[0], kind.as_pointer())
        given = cgutils.unpack_tuple(builder, values[1], len(args))
        status, _ = convention.call_function(builder, place, types.none, args, given)
        with builder.if_then(status.is_error, likely=False):
            convention.return_status_propagate(builder, status)
        return context.get_dummy_value()

    return types.none(entry, types.Tuple.from_types(args)), call


def entry_of(part: Apart, args: tuple[Any, ...]) -> Entry:
    """Give the entry of a part for arguments such as these: one for all of the same types."""
    key = tuple(map(fingerprint, args))
    if key not in part.entries:
        kinds = tuple(map(typeof, args))
        part.entries[key] = Entry(part, kinds, EntryType(kinds))
    return part.entries[key]


def fingerprint(argument: Any) -> Any:
    """Give what differs if a type does; types themselves take a hundred times as long to find."""
    try:
        return compute_fingerprint(argument)
    except NotImplementedError:
        return typeof(argument)


@typeof_impl.register(Entry)
def type_of_entry(value: Entry, context: object) -> Any:
    """Tell what an entry is; in the plain mode, None."""
    return value.kind if how().private else types.none


@typeof_impl.register(GoTo)
def type_of_going(value: GoTo, context: object) -> Any:
    """Tell what the call is."""
    cpu_target.typing_context.refresh()
    return cpu_target.typing_context.resolve_value_type(go)
