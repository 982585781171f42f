"""A column's cells as codes and distinct values; the one rule by which values are ordered."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from decimal import Decimal, InvalidOperation
from numbers import Number
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from coterie.data.annotations import Array
from coterie.words.visible import quoted, text_of

if TYPE_CHECKING:
    import pandas as pd

_NUMERIC_KINDS = "biuf"
_BOOLEANS = frozenset({bool, np.bool_})
_CHARACTERS_OF_NUMBERS = frozenset("0123456789+-.eE")


class Coded(NamedTuple):
    """The cells of a column: each one's place among the distinct values."""

    codes: Array  # (rows,)  integers, -1 where the cell is missing
    values: Array  # (distinct,)


class Unusable(TypeError):
    """A cell holds a list, a mapping or the like, which cannot be an id or a label."""


class Mixed(TypeError):
    """Cells hold a boolean and a number that Python takes for equal, such as True and 1."""


def value_array(values: Iterable[Any]) -> Array:
    """Give values as an array: of numbers if all have one numeric type, else of objects.

    Examples
    --------
    >>> value_array([2, 10]).dtype, value_array(["2", "10"]).dtype, value_array([1, "1"]).dtype
    (dtype('int64'), dtype('O'), dtype('O'))
    """
    values = list(values)
    types = set(map(type, values))
    if len(types) == 1 and issubclass(next(iter(types)), (int, float, np.number, np.bool_)):
        numbers = np.array(values)
        # Integers beyond 64 bits would silently become floats.
        if numbers.dtype.kind in _NUMERIC_KINDS and (numbers.dtype.kind == "f") == issubclass(
            next(iter(types)), (float, np.floating)
        ):
            return numbers
    objects = np.empty(len(values), object)
    for place, value in enumerate(values):  # slice assignment would unpack tuples
        objects[place] = value
    return objects


def code_pandas(column: pd.Series[Any]) -> Coded:
    """Code a pandas column of any dtype; missing cells get -1."""
    import pandas as pd

    if isinstance(column.dtype, pd.CategoricalDtype):
        return _used(Coded(column.cat.codes.to_numpy(), _plain(column.cat.categories)))
    if column.dtype == object:
        return code_objects(column.to_numpy())
    if isinstance(column.dtype, np.dtype) and column.dtype.kind == "i":
        return code_integers(column.to_numpy())
    codes, values = pd.factorize(column)
    return Coded(codes, _plain(values))


def code_integers(cells: Array) -> Coded:
    """Code integers: by a table where they lie close together, which is faster than hashing."""
    import pandas as pd

    low, high = (int(cells.min()), int(cells.max())) if len(cells) else (0, 0)
    most = 4 * len(cells) + 1_000  # beyond, the table is larger than what a hash table takes
    if high - low > most:
        return Coded(*pd.factorize(cells))
    low = 0 if low >= 0 and high <= most else low  # saves a copy of the cells
    place = np.subtract(cells, low, dtype=np.int64) if low else cells
    present = np.zeros(high - low + 1, bool)
    present[place] = True
    rank = np.cumsum(present, dtype=np.int32)
    rank -= 1
    return Coded(rank[place], np.flatnonzero(present) + low)


def code_objects(cells: Sequence[Any] | Array) -> Coded:
    """Code Python objects; None, NaN and the like get -1.

    Equal numbers are one value, whatever their types; a boolean is never a number.
    """
    import pandas as pd

    types = set(map(type, cells))
    if any(issubclass(kind, (complex, np.complexfloating)) for kind in types):
        raise Unusable("complex numbers")
    if any(issubclass(kind, Decimal) for kind in types):  # a signaling NaN cannot even be compared
        cells = [None if isinstance(x, Decimal) and x.is_nan() else x for x in cells]
    numeric = [kind for kind in types - _BOOLEANS if issubclass(kind, Number)]
    if len(numeric) > 1:
        # 1 and 1.0 are equal: one type for all, or the first row would decide which is kept.
        whole = all(issubclass(kind, (int, np.integer)) for kind in numeric)
        common: Any = int if whole else as_float
        cells = [common(cell) if is_number(cell) else cell for cell in cells]
    if numeric and types & _BOOLEANS:
        _refuse_equal(cells)
    try:
        codes, values = pd.factorize(pd.Series(cells, dtype=object))  # a list may hold tuples
    except TypeError as error:
        raise Unusable(str(error)) from error
    return Coded(codes, value_array(values))


def as_float(cell: Any) -> Any:
    """Give a number as a float; one that is too large for any is equal to none, and stays."""
    try:
        return float(cell)
    except OverflowError:
        return cell


def is_number(cell: Any) -> bool:
    """Tell a number from a boolean, and from anything else."""
    return isinstance(cell, Number) and type(cell) not in _BOOLEANS


def _refuse_equal(cells: Sequence[Any] | Array) -> None:
    """Refuse a boolean and a number that no dictionary could tell apart."""
    booleans = {bool(cell): cell for cell in cells if type(cell) in _BOOLEANS}
    for cell in cells:
        if is_number(cell) and cell in booleans:
            raise Mixed(f"{quoted(booleans[cell])} and {quoted(cell)}")


def code_arrow(column: Any) -> Coded:
    """Code a pyarrow ChunkedArray; nulls get -1, types stay exact."""
    import pyarrow as pa

    try:
        return _code_arrow(column)
    except pa.ArrowNotImplementedError:  # what pyarrow cannot code, Python may
        return code_objects(column.to_pylist())


def _code_arrow(column: Any) -> Coded:
    import pyarrow as pa

    if pa.types.is_null(column.type):
        return Coded(np.full(len(column), -1), value_array([]))
    if pa.types.is_signed_integer(column.type) and not column.null_count:
        return code_integers(column.to_numpy())
    chunks = column if pa.types.is_dictionary(column.type) else column.dictionary_encode()
    encoded = chunks.unify_dictionaries().combine_chunks()
    indices = encoded.indices
    if indices.null_count:
        indices = indices.cast(pa.int64()).fill_null(-1)  # the indices may be unsigned
    codes = indices.to_numpy(zero_copy_only=False).astype(np.int64, copy=False)
    kind = encoded.dictionary.type
    if pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_boolean(kind):
        values = encoded.dictionary.to_numpy(zero_copy_only=False)
    else:
        values = value_array(encoded.dictionary.to_pylist())
    return _used(Coded(codes, values))


def _plain(values: Any) -> Array:
    """Give pandas' distinct values as a numpy array of numbers or objects."""
    plain = np.asarray(values) if values.dtype.kind in _NUMERIC_KINDS else None
    if plain is not None and plain.dtype.kind in _NUMERIC_KINDS:
        return plain
    objects = np.asarray(values, dtype=object)
    # Text is by far the commonest; numbers may hide in nullable and categorical columns.
    return objects if len(objects) and type(objects[0]) is str else value_array(objects)


def _used(coded: Coded) -> Coded:
    """Drop values that no cell holds (categories may be declared and never used)."""
    used = np.zeros(len(coded.values) + 1, bool)
    used[coded.codes] = True  # -1 marks the last place, which stands for missing
    return coded if used[:-1].all() else _keep(coded, used[:-1])


def _keep(coded: Coded, keep: Array) -> Coded:
    """Keep these values; the cells of the others become missing."""
    renumbered = np.full(len(keep) + 1, -1, np.int32)
    renumbered[:-1][keep] = np.arange(np.count_nonzero(keep))
    return Coded(renumbered[coded.codes], coded.values[keep])


def without_blanks(coded: Coded) -> Coded:
    """Count blank text and NaN as missing."""
    values = coded.values
    if values.dtype.kind == "f":
        blank = np.isnan(values)
    elif is_text(values):  # by far the commonest
        blank = np.array([not text or text.isspace() for text in values.tolist()], bool)
    elif values.dtype == object:
        blank = np.array([_is_blank(value) for value in values], bool)
    else:
        return coded
    return _keep(coded, ~blank) if blank.any() else coded


def is_text(values: Array) -> bool:
    """Tell whether all values are text.

    Examples
    --------
    >>> is_text(value_array(["1", "2"])), is_text(value_array([1, "2"]))
    (True, False)
    """
    return values.dtype == object and set(map(type, values.tolist())) <= {str}


def _is_blank(value: Any) -> bool:
    if isinstance(value, str):
        return not value or value.isspace()
    if isinstance(value, Decimal):
        return value.is_nan()
    return isinstance(value, float) and value != value


def in_order(coded: Coded) -> Coded:
    """Put the values in order, so that the order of the rows leaves no trace."""
    values = coded.values
    if values.dtype.kind in _NUMERIC_KINDS and (values[1:] > values[:-1]).all():
        return coded
    order = sort_order(values)
    rank = np.empty(len(order) + 1, np.int32)
    rank[order] = np.arange(len(order))
    rank[-1] = -1
    return Coded(rank[coded.codes], values[order])


def sort_order(values: Array) -> Array:
    """Give the permutation that sorts distinct values: by number if all are, else by text.

    Text that is written like a number counts as one: "2" comes before "10".

    Examples
    --------
    >>> numerals, words = value_array(["10", "2"]), value_array(["b", "B", "a"])
    >>> numerals[sort_order(numerals)].tolist(), words[sort_order(words)].tolist()
    (['2', '10'], ['B', 'a', 'b'])
    """
    if values.dtype.kind in _NUMERIC_KINDS:
        return np.argsort(values, kind="stable")
    cells = values.tolist()
    types = set(map(type, cells))
    if types == {str}:
        by_number = _order_of_numerals(cells)
        return by_number if by_number is not None else _sorted_by(cells)
    if all(issubclass(kind, Number) for kind in types):
        return _sorted_by(cells)
    # The type's name tells 1 from '1'.
    return _sorted_by([(text_of(cell), type(cell).__name__) for cell in cells])


def _order_of_numerals(texts: list[str]) -> Array | None:
    """Order texts by the numbers they write, or None if some text is no number."""
    if not set("".join(texts)) <= _CHARACTERS_OF_NUMBERS:
        return None
    try:
        numbers = np.array(list(map(float, texts)))
    except ValueError:
        return None
    order = np.argsort(numbers, kind="stable")
    if (numbers[order][1:] > numbers[order][:-1]).all():
        return order
    # "1" and "1.0", integers beyond 2**53, 12e345 and 67e890: compare exactly, then as written.
    try:
        return _sorted_by([(Decimal(text), text) for text in texts])
    except InvalidOperation:  # an exponent of twenty digits: no number that anybody means
        return None


def _sorted_by(keys: Sequence[Any]) -> Array:
    return np.array(sorted(range(len(keys)), key=keys.__getitem__), np.intp)


def look_up(values: Array, vocabulary: Array) -> Array:
    """Give the place of each value in the vocabulary, -1 where it has none.

    If one side is all text and the other has none, values are matched by how they are written:
    a text file's '7' is the typed source's 7. A boolean is never a number.

    Examples
    --------
    >>> look_up(value_array(["b", "z"]), value_array(["a", "b"])).tolist()
    [1, -1]
    >>> look_up(value_array(["7"]), value_array([6, 7])).tolist()
    [1]
    """
    cells: Sequence[Hashable] = values.tolist()
    places: Sequence[Hashable] = vocabulary.tolist()
    if cells and places and _all_text(cells) and not _any_text(places):
        places = list(map(text_of, places))
    elif cells and places and _all_text(places) and not _any_text(cells):
        cells = list(map(text_of, cells))
    if _BOOLEANS & {*map(type, cells), *map(type, places)}:
        cells, places = with_kinds(cells), with_kinds(places)
    place = {value: code for code, value in enumerate(places)}
    return np.array([place.get(cell, -1) for cell in cells], np.int32)


def with_kinds(values: Iterable[Hashable]) -> list[Hashable]:
    """Give values that tell a boolean from a number: True == 1, for a dictionary too.

    Examples
    --------
    >>> with_kinds([True, 1])
    [(True, True), (False, 1)]
    """
    return [(type(value) in _BOOLEANS, value) for value in values]


def _all_text(cells: Sequence[Hashable]) -> bool:
    return all(isinstance(cell, str) for cell in cells)


def _any_text(cells: Sequence[Hashable]) -> bool:
    return any(isinstance(cell, str) for cell in cells)
