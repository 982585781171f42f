"""A table of any origin: how its cells are coded and ordered, and its rows named in a sentence."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from numbers import Number
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from coterie.data.codes import Array
from coterie.data.provenance import Format, Source
from coterie.errors import DataError, MissingExtraError
from coterie.words.values import join
from coterie.words.visible import quoted, text_of

if TYPE_CHECKING:
    import pandas as pd

FRAME = Source("the frame", Format.FRAME)
TRIPLES = Source("the list of triples", Format.TRIPLES)
INDEX = -1  # the place of a pandas index among the columns
_SHOWN = 3  # rows named in a sentence
_MOST_BITS = 10_000  # of a whole number
_NUMERIC_KINDS = "biuf"
_BOOLEANS = frozenset({bool, np.bool_})
_CHARACTERS_OF_NUMBERS = frozenset("0123456789+-.eE")


class Coded(NamedTuple):
    """The cells of a column: each one's place among the distinct values."""

    codes: Array  # (rows,)  integers, -1 where the cell is missing
    values: Array  # (distinct,)


class Unusable(TypeError):
    """Cells that cannot be ids or labels: what they are, and what to do."""

    def __init__(
        self, what: str, remedy: str = "expected text, numbers, dates or booleans"
    ) -> None:
        super().__init__(what)
        self.remedy = remedy

    def where(self, place: str) -> DataError:
        """Say where they are: in a place that "holds", or places that "hold"."""
        return DataError(f"{place} {self}", remedy=self.remedy)


def value_array(values: Iterable[Any]) -> Array:
    """Give values as an array: of numbers if all have one numeric type, else of objects."""
    values = list(values)
    types = set(map(type, values))
    if len(types) == 1 and issubclass(kind := next(iter(types)), (int, float, np.number, np.bool_)):
        numbers = np.array(values)
        # Integers beyond 64 bits would silently become floats.
        as_given = (numbers.dtype.kind == "f") == issubclass(kind, (float, np.floating))
        if numbers.dtype.kind in _NUMERIC_KINDS and as_given:
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
        raise Unusable("lists or the like (complex numbers)")
    if any(issubclass(kind, Decimal) for kind in types):  # a signaling NaN cannot even be compared
        cells = [None if isinstance(x, Decimal) and x.is_nan() else x for x in cells]
    numeric = [kind for kind in types - _BOOLEANS if issubclass(kind, Number)]
    if len(numeric) > 1:
        # 1 and 1.0 are equal: one type for all, or the first row would decide which is kept.
        whole = all(issubclass(kind, (int, np.integer)) for kind in numeric)
        common: Any = int if whole else as_float
        cells = [common(cell) if is_number(cell) else cell for cell in cells]
    if numeric and types & _BOOLEANS:  # no dictionary could tell True from 1
        booleans = {bool(cell): cell for cell in cells if type(cell) in _BOOLEANS}
        for cell in cells:
            if is_number(cell) and cell in booleans:
                raise Unusable(
                    f"{quoted(booleans[cell])} and {quoted(cell)}, a boolean and a number that "
                    "Python takes for equal",
                    "write them as one type, or as text",
                )
    try:
        codes, values = pd.factorize(pd.Series(cells, dtype=object))  # a list may hold tuples
    except TypeError as error:
        raise Unusable(f"lists or the like ({error})") from error
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


def code_arrow(column: Any) -> Coded:
    """Code a pyarrow ChunkedArray; nulls get -1, types stay exact."""
    import pyarrow as pa

    kind = column.type
    if pa.types.is_null(kind):
        return Coded(np.full(len(column), -1), value_array([]))
    if pa.types.is_signed_integer(kind) and not column.null_count:
        return code_integers(column.to_numpy())
    try:
        chunks = column if pa.types.is_dictionary(kind) else column.dictionary_encode()
        encoded = chunks.unify_dictionaries().combine_chunks()
    except pa.ArrowNotImplementedError:  # what pyarrow cannot code, Python may
        return code_objects(column.to_pylist())
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


def _settled(coded: Coded) -> Coded:
    """Give the same with one zero, not two, and with blank text and NaN missing."""
    values = coded.values
    if values.dtype.kind == "f":
        values = values + 0.0  # -0.0 and 0.0 are equal: no row may decide
        blank = np.isnan(values)
    elif is_text(values):  # by far the commonest
        blank = np.array([not text or text.isspace() for text in values.tolist()], bool)
    elif values.dtype == object:
        for place, value in enumerate(values.tolist()):
            if isinstance(value, float) and value == 0:
                values[place] = 0.0
            elif _is_too_long(value):
                raise Unusable("lists or the like (a number of thousands of digits)")
        blank = np.array([_is_blank(value) for value in values], bool)
    else:
        return coded
    coded = coded._replace(values=values)
    return _keep(coded, ~blank) if blank.any() else coded


def _is_too_long(value: object) -> bool:
    if isinstance(value, tuple):
        return any(map(_is_too_long, value))
    return isinstance(value, int) and value.bit_length() > _MOST_BITS


def is_text(values: Array) -> bool:
    """Tell whether all values are text."""
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
        order = np.argsort(numbers, kind="stable")
        if (numbers[order][1:] > numbers[order][:-1]).all():
            return order
        # "1" and "1.0", integers beyond 2**53, 12e345 and 67e890: compare exactly, then as written.
        return _sorted_by([(Decimal(text), text) for text in texts])
    except (ValueError, InvalidOperation):  # an exponent of twenty digits: nobody means a number
        return None


def _sorted_by(keys: Sequence[Any]) -> Array:
    return np.array(sorted(range(len(keys)), key=keys.__getitem__), np.intp)


def look_up(values: Array, vocabulary: Array) -> Array:
    """Give the place of each value in the vocabulary, -1 where it has none.

    If one side is all text and the other has none, values are matched by how they are written:
    a text file's '7' is the typed source's 7. A boolean is never a number.
    """
    cells: Sequence[Hashable] = values.tolist()
    places: Sequence[Hashable] = vocabulary.tolist()
    texts = [sum(isinstance(x, str) for x in some) / max(len(some), 1) for some in (cells, places)]
    if texts == [1, 0] and places:
        places = list(map(text_of, places))
    elif texts == [0, 1] and cells:
        cells = list(map(text_of, cells))
    if _BOOLEANS & {*map(type, cells), *map(type, places)}:
        cells, places = with_kinds(cells), with_kinds(places)
    place = {value: code for code, value in enumerate(places)}
    return np.array([place.get(cell, -1) for cell in cells], np.int32)


def with_kinds(values: Iterable[Hashable]) -> list[Hashable]:
    """Give values that tell a boolean from a number: True == 1, for a dictionary too."""
    return [(type(value) in _BOOLEANS, value) for value in values]


@dataclass(frozen=True)
class Table:
    """Columns that are coded when they are asked for, and how to speak of the rows."""

    source: Source
    columns: tuple[Hashable, ...]
    code: Callable[[Sequence[int]], list[Coded]]  # of the columns at some places; -1 is missing
    counted: str = "the first is row 0"  # how rows are counted, for the reader of a sentence
    number: Callable[[Sequence[int]], list[int]] = list  # of places from 0: what a person sees
    index: int | None = None  # the place of a nameless column that names the rows

    @property
    def name(self) -> str:
        """What to call the table in a sentence: "labels.csv", "the frame"."""
        return self.source.name

    def read(self, places: Sequence[int]) -> list[Coded]:
        """Code the columns at these places; blank text and NaN count as missing."""
        try:
            return list(map(_settled, self.code(places)))
        except Unusable as error:
            if len(places) > 1:  # which one?
                return [self.read([place])[0] for place in places]
            column = self.column_name(places[0])
            raise error.where(f"the column {column} of {self.name} holds") from error

    def column_name(self, place: int) -> str:
        """Name a column in a sentence."""
        return "the index" if place == self.index else quoted(self.columns[place])

    def row(self, place: int) -> str:
        """Name one row: ``row 17 of labels.csv (the header is row 1)``."""
        return self.rows([place])

    def rows(self, places: Sequence[int] | Array) -> str:
        """Name rows: ``rows 3, 9 and 12 of labels.csv (the header is row 1), and 48 more``."""
        shown = [str(number) for number in self.number([int(p) for p in places[:_SHOWN]])]
        text = f"{'row' if len(places) == 1 else 'rows'} {join(shown)} of {self.name}"
        text += f" ({self.counted})"
        return text + (f", and {len(places) - _SHOWN:,} more," if len(places) > _SHOWN else "")


def table_from(data: Any) -> Table:
    """See a frame, triples or a mapping item -> annotator -> label as a table; a Table stays."""
    import narwhals as nw

    if isinstance(data, Table):
        return data
    if isinstance(data, Mapping):
        for item, labels in data.items():
            if not isinstance(labels, Mapping):
                raise DataError(
                    f"the mapping's value at {quoted(item)} is {quoted(labels)}, expected a mapping"
                    " annotator -> label; for columns of equal length, pass pandas.DataFrame(...)"
                )
        triples = [(item, *said) for item, labels in data.items() for said in labels.items()]
        return _table_of_triples(triples, Source("the mapping", Format.MAPPING))
    if nw.dependencies.is_pandas_dataframe(data):
        return _table_of_pandas(data)
    if nw.dependencies.is_pyarrow_table(data):
        return arrow_table(data, FRAME)
    frame = nw.from_native(data, pass_through=True, allow_series=True)
    if isinstance(frame, nw.LazyFrame):
        frame = frame.collect()
    if isinstance(frame, nw.DataFrame):
        try:
            return arrow_table(frame.to_arrow(), FRAME)
        except ModuleNotFoundError as error:
            kind = f"reading a {frame.implementation.name.lower()} frame"
            raise MissingExtraError(kind, "pyarrow", "parquet") from error
    if isinstance(frame, nw.Series):
        raise DataError("a single column came, expected a frame with item, annotator and label")
    return _table_of_triples(data)


def is_frame(data: Any) -> bool:
    """Tell whether this is a dataframe of any library, lazy ones too."""
    import narwhals as nw

    return isinstance(nw.from_native(data, pass_through=True), nw.DataFrame | nw.LazyFrame)


def _table_of_pandas(frame: pd.DataFrame) -> Table:
    named = [name for name in frame.index.names if name is not None and name not in frame.columns]
    if named:
        frame = frame.reset_index(level=named)

    def code(places: Sequence[int]) -> list[Coded]:
        return [
            code_pandas(frame.index.to_series() if place == INDEX else frame.iloc[:, place])
            for place in places
        ]

    for name in frame.columns:
        try:
            hash(name)
        except (TypeError, ValueError):  # lists, arrays, a signaling NaN
            raise DataError(
                f"the frame has a column called {quoted(name)}, a {type(name).__name__}, which "
                "cannot be a name; rename it"
            ) from None
    return Table(FRAME, tuple(frame.columns), code, index=None if named else INDEX)


def arrow_table(table: Any, source: Source) -> Table:
    """See a pyarrow table as a table."""
    return Table(
        source,
        tuple(table.column_names),
        lambda places: [code_arrow(table.column(place)) for place in places],
    )


def columns_table(source: Source, columns: Mapping[Hashable, Sequence[Any]], **said: Any) -> Table:
    """See lists of Python objects, one per column, as a table."""
    cells = list(columns.values())
    return Table(
        source, tuple(columns), lambda places: [code_objects(cells[k]) for k in places], **said
    )


def _table_of_triples(data: Any, source: Source = TRIPLES) -> Table:
    single = getattr(data, "ndim", 1) == 0  # an array of numpy's without a length
    if isinstance(data, (str, bytes)) or not isinstance(data, Iterable) or single:
        raise DataError(
            f"got {quoted(data)}, expected a dataframe or triples (item, annotator, label)"
        )
    rows = data.tolist() if hasattr(data, "tolist") else data  # of numpy: Python objects
    cells: tuple[list[Any], ...] = ([], [], [])
    for place, triple in enumerate(rows):
        if isinstance(triple, (str, bytes, Mapping)) or not hasattr(triple, "__len__"):
            size = "one value"
        elif len(triple) != 3:
            size = f"{len(triple)} values"
        else:
            for column, cell in zip(cells, triple, strict=True):
                column.append(cell)
            continue
        raise DataError(
            f"row {place} of {source.name} (the first is row 0) holds {size}, "
            f"{quoted(triple)}; expected three, (item, annotator, label)"
        )
    return columns_table(source, dict(zip(("item", "annotator", "label"), cells, strict=True)))
