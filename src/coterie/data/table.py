"""A table of any origin: its columns, and how its rows are named in a sentence."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from coterie.data.annotations import Array
from coterie.data.encoding import (
    Coded,
    Mixed,
    Unusable,
    code_arrow,
    code_objects,
    code_pandas,
    is_text,
    without_blanks,
)
from coterie.data.provenance import Format, Source
from coterie.errors import DataError, MissingExtraError
from coterie.words.values import join
from coterie.words.visible import quoted

if TYPE_CHECKING:
    import pandas as pd

FRAME = Source("the frame", Format.FRAME)
TRIPLES = Source("the list of triples", Format.TRIPLES)
INDEX = -1  # the place of a pandas index among the columns
_SHOWN = 3  # rows named in a sentence
_MOST_BITS = 10_000  # of a whole number


@dataclass(frozen=True)
class Table:
    """Columns that are coded when they are asked for, and how to speak of the rows.

    Parameters
    ----------
    source
        What the table was read from.
    columns
        The names of the columns.
    code
        Gives the cells of the column at a place; missing cells are coded -1.
    counted
        How rows are counted, for the reader of a sentence.
    number
        Turns places among the rows, from 0, into the numbers that a person sees.
    index
        The place of a nameless column that names the rows, if there is one.
    """

    source: Source
    columns: tuple[Hashable, ...]
    code: Callable[[Sequence[int]], list[Coded]]
    counted: str = "the first is row 0"
    number: Callable[[Sequence[int]], list[int]] = list
    index: int | None = None

    @property
    def name(self) -> str:
        """What to call the table in a sentence: "labels.csv", "the frame"."""
        return self.source.name

    def read(self, places: Sequence[int]) -> list[Coded]:
        """Code the columns at these places; blank text and NaN count as missing."""
        try:
            return [without_blanks(_settled(coded)) for coded in self.code(places)]
        except (Unusable, Mixed) as error:
            if len(places) > 1:  # which one?
                return [self.read([place])[0] for place in places]
            where = f"the column {self.column_name(places[0])} of {self.name}"
            if isinstance(error, Mixed):
                raise mixed(f"{where} holds", error) from error
            raise DataError(
                f"{where} holds lists or the like ({error}); expected text, numbers, dates or "
                "booleans"
            ) from error

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


def _settled(coded: Coded) -> Coded:
    """Give the same with one zero, not two; refuse numbers that Python will not write."""
    values = coded.values
    if values.dtype.kind == "f":
        return coded._replace(values=values + 0.0)  # -0.0 and 0.0 are equal: no row may decide
    if values.dtype == object and not is_text(values):
        for place, value in enumerate(values.tolist()):
            if isinstance(value, float) and value == 0:
                values[place] = 0.0
            elif _is_too_long(value):
                raise Unusable("a number of thousands of digits")
    return coded


def _is_too_long(value: object) -> bool:
    if isinstance(value, tuple):
        return any(map(_is_too_long, value))
    return isinstance(value, int) and value.bit_length() > _MOST_BITS


def mixed(where: str, error: Mixed) -> DataError:
    """Say that a boolean and a number cannot be told apart."""
    return DataError(
        f"{where} {error}, a boolean and a number that Python takes for equal",
        remedy="write them as one type, or as text",
    )


def table_from(data: Any) -> Table:
    """See a dataframe, triples or a mapping item -> annotator -> label as a table; a Table stays.

    Examples
    --------
    >>> table_from([("q1", "ann", "yes")]).columns
    ('item', 'annotator', 'label')
    """
    import narwhals as nw

    if isinstance(data, Table):
        return data
    if isinstance(data, Mapping):
        return _table_of_mapping(data)
    if nw.dependencies.is_pandas_dataframe(data):
        return _table_of_pandas(data)
    if nw.dependencies.is_pyarrow_table(data):
        return arrow_table(data, FRAME)
    frame = nw.from_native(data, pass_through=True, allow_series=True)
    if isinstance(frame, nw.LazyFrame):
        frame = frame.collect()
    if isinstance(frame, nw.DataFrame):
        return _table_of_arrow(frame)
    if isinstance(frame, nw.Series):
        raise DataError("a single column came, expected a frame with item, annotator and label")
    return _table_of_triples(data)


def is_frame(data: Any) -> bool:
    """Tell whether this is a dataframe of any library, lazy ones too.

    Examples
    --------
    >>> is_frame([("q1", "ann", "yes")])
    False
    """
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
        if not _is_name(name):
            raise DataError(
                f"the frame has a column called {quoted(name)}, a {type(name).__name__}, which "
                "cannot be a name; rename it"
            )
    return Table(FRAME, tuple(frame.columns), code, index=None if named else INDEX)


def _is_name(value: object) -> bool:
    """Tell whether a value can be looked up, as lists, arrays and signaling NaN cannot."""
    try:
        hash(value)
    except (TypeError, ValueError):
        return False
    return True


def _table_of_arrow(frame: Any) -> Table:
    try:
        table = frame.to_arrow()
    except ModuleNotFoundError as error:
        kind = frame.implementation.name.lower()
        raise MissingExtraError(f"reading a {kind} frame", "pyarrow", "parquet") from error
    return arrow_table(table, FRAME)


def arrow_table(table: Any, source: Source) -> Table:
    """See a pyarrow table as a table."""

    def code(places: Sequence[int]) -> list[Coded]:
        return [code_arrow(table.column(place)) for place in places]

    return Table(source, tuple(table.column_names), code)


def columns_table(source: Source, columns: Mapping[Hashable, Sequence[Any]], **said: Any) -> Table:
    """See lists of Python objects, one per column, as a table."""
    cells = list(columns.values())

    def code(places: Sequence[int]) -> list[Coded]:
        return [code_objects(cells[place]) for place in places]

    return Table(source, tuple(columns), code, **said)


def _table_of_mapping(data: Mapping[Any, Any]) -> Table:
    """See item -> annotator -> label as a table."""
    triples = []
    for item, labels in data.items():
        if not isinstance(labels, Mapping):
            raise DataError(
                f"the mapping's value at {quoted(item)} is {quoted(labels)}, expected a mapping "
                "annotator -> label; for columns of equal length, pass pandas.DataFrame(...)"
            )
        triples += [(item, annotator, label) for annotator, label in labels.items()]
    return _table_of_triples(triples, Source("the mapping", Format.MAPPING))


def _table_of_triples(data: Any, source: Source = TRIPLES) -> Table:
    single = getattr(data, "ndim", 1) == 0  # an array of numpy's without a length
    if isinstance(data, (str, bytes)) or not isinstance(data, Iterable) or single:
        raise DataError(
            f"got {quoted(data)}, expected a dataframe or triples (item, annotator, label)"
        )
    if hasattr(data, "tolist"):  # a numpy array: give Python objects
        data = data.tolist()
    cells: tuple[list[Any], ...] = ([], [], [])
    for place, triple in enumerate(data):
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
