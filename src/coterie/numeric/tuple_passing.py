"""How our tuples of arrays go from function to function: an array as its address and its shape.

numba hands over each array in full, in some ten numbers (for whom to count references, how many
cells, of what size, how far apart), and a sampler's state has a hundred arrays: two thirds of the
code that it makes of a sampler packs and unpacks them. For an array whose cells lie side by side
all the rest follows from address and shape. References are counted by who calls from Python.

Only of NamedTuples of this package. Others, and arrays by themselves, go as numba has it.
"""

# mypy: disable-error-code="no-untyped-call"

from __future__ import annotations

from typing import Any

from llvmlite import ir
from numba.core import types
from numba.core.compiler_lock import global_compiler_lock
from numba.core.datamodel.models import ArrayModel, TupleModel, UniTupleModel
from numba.core.datamodel.registry import default_manager
from numba.np.numpy_support import as_dtype

PACKAGE = __name__.partition(".")[0] + "."
ITEMS, CELL_SIZE, DATA, SHAPE, STRIDES = range(2, 7)
"""Places in numba's array; before them is who counts references, and whose memory it is."""
_array = default_manager.lookup(types.Array(types.float64, 1, "C"))
if _array._fields != ("meminfo", "parent", "nitems", "itemsize", "data", "shape", "strides"):
    raise ImportError("numba's arrays are made of other parts")


def is_slim(model: Any) -> bool:
    """Say whether something in a tuple is an array whose cells lie side by side."""
    return isinstance(model, ArrayModel) and model._fe_type.layout == "C"


def cell_size(model: Any) -> Any:
    """Give the bytes of an array's cell, as a constant."""
    kind = model.get_value_type().elements[CELL_SIZE]
    return ir.Constant(kind, as_dtype(model._fe_type.dtype).itemsize)


def hollow(model: Any) -> Any:
    """Give what a member of a tuple is before its numbers are filled in, as a constant."""
    kind = model.get_value_type()
    if not is_slim(model):
        return ir.Constant(kind, ir.Undefined)
    parts = [ir.Constant(one, ir.Undefined) for one in kind.elements]
    parts[:ITEMS] = [ir.Constant(one, None) for one in kind.elements[:ITEMS]]  # nobody
    parts[CELL_SIZE] = cell_size(model)
    return ir.Constant(kind, parts)


class Slim:
    """What differs from numba's own models of tuples."""

    _members_of: list[Any]
    get_value_type: Any

    def get_argument_type(self) -> tuple[Any, ...]:
        """Give the types that a tuple goes as."""
        return tuple(map(self._type, self._members_of))

    @staticmethod
    def _type(model: Any) -> Any:
        if not is_slim(model):
            return model.get_argument_type()
        parts = model.get_value_type().elements
        return parts[DATA], *[parts[SHAPE].element] * model._fe_type.ndim

    def as_argument(self, builder: Any, value: Any) -> tuple[Any, ...]:
        """Take a tuple apart."""
        return tuple(
            self._apart(builder, value, i, model) for i, model in enumerate(self._members_of)
        )

    @staticmethod
    def _apart(builder: Any, value: Any, i: int, model: Any) -> Any:
        if not is_slim(model):
            return model.as_argument(builder, builder.extract_value(value, [i]))
        places = [[i, DATA], *([i, SHAPE, axis] for axis in range(model._fe_type.ndim))]
        return tuple(builder.extract_value(value, place) for place in places)

    def from_argument(self, builder: Any, parts: Any) -> Any:
        """Put a tuple together again."""
        value = ir.Constant(self.get_value_type(), [hollow(model) for model in self._members_of])
        for i, (model, part) in enumerate(zip(self._members_of, parts, strict=True)):
            if is_slim(model):
                value = self._filled(builder, value, i, model, part)
            else:
                value = builder.insert_value(value, model.from_argument(builder, part), [i])
        return value

    @staticmethod
    def _filled(builder: Any, value: Any, i: int, model: Any, part: Any) -> Any:
        data, *shape = part
        value = builder.insert_value(value, data, [i, DATA])
        step = cell_size(model)
        count = ir.Constant(step.type, 1)
        for axis in reversed(range(len(shape))):
            value = builder.insert_value(value, shape[axis], [i, SHAPE, axis])
            value = builder.insert_value(value, builder.mul(count, step), [i, STRIDES, axis])
            count = builder.mul(count, shape[axis])
        return builder.insert_value(value, count, [i, ITEMS])


class SlimTuple(Slim, TupleModel):
    """Of members of several types."""

    def __init__(self, manager: Any, of: Any) -> None:
        TupleModel.__init__(self, manager, of)
        self._members_of = list(self._models)


class SlimUniTuple(Slim, UniTupleModel):
    """Of members of one type."""

    def __init__(self, manager: Any, of: Any) -> None:
        UniTupleModel.__init__(self, manager, of)
        self._members_of = [self._elem_model] * len(of)


_SLIM: dict[Any, Any] = {types.NamedTuple: SlimTuple, types.NamedUniTuple: SlimUniTuple}
_USUAL: dict[Any, Any] = {types.NamedTuple: TupleModel, types.NamedUniTuple: UniTupleModel}


def model_of(manager: Any, of: Any) -> Any:
    """Give numba's model of a tuple, or ours of one of this package."""
    ours = of.instance_class.__module__.startswith(PACKAGE)
    return (_SLIM if ours else _USUAL)[type(of)](manager, of)


def hand_over(less: bool) -> None:
    """Let our tuples go so from now on, or as numba has it, in all that is compiled anew."""
    with global_compiler_lock:  # nobody is in the middle of it
        for kind, usual in _USUAL.items():
            default_manager.register(kind, model_of if less else usual)
        default_manager._cache.clear()
