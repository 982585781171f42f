"""A file -> Table: which format it has; Parquet."""

from __future__ import annotations

from collections.abc import Sequence
from os import PathLike
from typing import Any, BinaryIO

from coterie.data import Coded, Table
from coterie.data.encoding import code_arrow
from coterie.data.provenance import Format, Source
from coterie.errors import DataError, MissingExtraError
from coterie.io.files import File, find
from coterie.io.jsonl import jsonl_table
from coterie.io.text import text_table

_PARQUET, _ZIP = b"PAR1", b"PK\x03\x04"
_BLANK = b"\xef\xbb\xbf \t\r\n"  # with the mark that may stand before UTF-8


def table_of_file(path: str | PathLike[str] | File) -> Table:
    """See a CSV, TSV, Parquet or JSONL file as a table; ``"-"`` is standard input."""
    file = path if isinstance(path, File) else find(path)
    head = file.head()
    if head.startswith(_PARQUET):
        return _parquet_table(file)
    if file.suffix in (".parquet", ".pq"):
        raise DataError(f"{file.name} is not a Parquet file: it does not begin with PAR1")
    if not head.strip(_BLANK):
        raise DataError(
            f"{file.name} is empty; expected a header with columns for item, annotator and label, "
            "then one row per label"
        )
    if head.startswith(_ZIP) or file.suffix == ".json":
        raise DataError(
            f"{file.name} is not CSV, TSV, Parquet or JSONL; load it with pandas and pass the frame"
        )
    typed = file.suffix not in (".csv", ".tsv") and head.lstrip(_BLANK)[:1] == b"{"
    if file.suffix in (".jsonl", ".ndjson") or typed:
        return jsonl_table(file)
    return text_table(file, head)


def _parquet_table(file: File) -> Table:
    """See a Parquet file as a table; only the columns asked for are read."""
    try:
        import pyarrow as pa
        import pyarrow.parquet as pq
    except ModuleNotFoundError as error:
        raise MissingExtraError("reading Parquet", "pyarrow", "parquet") from error

    def opened(handle: BinaryIO) -> Any:
        try:
            return pq.ParquetFile(handle)
        except pa.ArrowInvalid as error:
            raise DataError(f"{file.name} is a damaged Parquet file: {error}") from error

    with file.open() as handle:
        names: list[str] = opened(handle).schema_arrow.names

    def code(places: Sequence[int]) -> list[Coded]:
        with file.open() as handle:
            table = opened(handle).read(columns=[names[place] for place in places])
        return [code_arrow(table.column(names[place])) for place in places]

    return Table(Source(file.name, Format.PARQUET, file.path), tuple(names), code)
