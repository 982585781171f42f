"""Tables and records as files: what writes them, and what their names are."""

from __future__ import annotations

import csv
import importlib.util
import re
from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from io import BytesIO
from pathlib import Path
from typing import Any

import pandas as pd

from coterie.errors import DataError, MissingExtraError
from coterie.files.atomic import Writer, text_writer
from coterie.files.values import json_text
from coterie.words.values import did_you_mean
from coterie.words.visible import quoted, shorten, visible

FORMATS = ("csv", "parquet", "json", "xlsx")
MOST_IN_CELL = 32_767
WIDTH_FROM = 200
"""Rows of a sheet that say how wide a column is."""


def targets(out: Path, names: Sequence[str], format: str) -> dict[str, Path]:
    """Name the files that tables go to, by what they hold."""
    check_format(format)
    return {name: out / f"{name}.{format}" for name in names}


def check_format(format: str) -> None:
    """Refuse a format that nothing can be written in here."""
    if format not in FORMATS:
        near = did_you_mean(format, FORMATS)
        raise DataError(f"no format {quoted(format)}{near}; choose one of {', '.join(FORMATS)}")
    _need(format)


def other_formats(paths: Iterable[Path]) -> list[Path]:
    """Name the same tables in other formats: earlier results that would lie beside new ones."""
    suffixes = {f".{format}" for format in FORMATS}
    return [
        path.with_suffix(suffix)
        for path in paths
        if path.suffix in suffixes and path.stem != "run"
        for suffix in sorted(suffixes - {path.suffix})
    ]


def table_writer(table: pd.DataFrame, format: str) -> Writer:
    """Give what writes a table to a path, in this format."""
    return partial(_write_table, table, format)


def json_writer(content: Mapping[str, Any]) -> Writer:
    """Give what writes a record to a path, as JSON."""
    return text_writer(json_text(content, indent=2) + "\n")


def _write_table(table: pd.DataFrame, format: str, path: Path) -> None:
    if format == "csv":
        # A carriage return is a line's end to some readers, which csv does not know: quote all.
        returns = any(table[name].astype(str).str.contains("\r").any() for name in _texts(table))
        returns = returns or any("\r" in str(name) for name in table.columns)
        quoting: Any = csv.QUOTE_NONNUMERIC if returns else csv.QUOTE_MINIMAL
        _harmless(table).to_csv(path, index=False, quoting=quoting)
        return
    try:
        _write_typed(table, format, path)
    except (TypeError, ValueError, OverflowError, NotImplementedError):
        # Ids of several types, numbers beyond 64 bits, bytes: as text, as in CSV.
        texts = {name: table[name].map(str, na_action="ignore") for name in _texts(table)}
        _write_typed(table.assign(**texts), format, path)


def _write_typed(table: pd.DataFrame, format: str, path: Path) -> None:
    if format == "parquet":
        table.to_parquet(path, index=False)
    elif format == "xlsx":
        shown = {name: table[name].map(_in_a_cell) for name in _texts(table)}
        sheet = _harmless(table.assign(**shown))
        sheet = sheet.set_axis([_in_a_cell(name) for name in sheet.columns], axis=1)
        held = BytesIO()  # a full disk while a book is open is heard of again when it is closed
        with pd.ExcelWriter(held, engine="openpyxl") as book:
            sheet.to_excel(book, index=False)
            _lay_out(next(iter(book.sheets.values())), sheet)
        path.write_bytes(held.getbuffer())
    else:
        table.to_json(path, orient="records", indent=1, force_ascii=False, date_format="iso")


def _lay_out(page: Any, table: pd.DataFrame) -> None:
    """Make a sheet readable: a header that stays, filters, widths, numbers of a few digits."""
    page.freeze_panes = "A2"
    page.auto_filter.ref = page.dimensions
    for column, name, dtype in zip(page.iter_cols(), table.columns, table.dtypes, strict=False):
        texts = [str(cell.value) for cell in column[:WIDTH_FROM] if cell.value is not None]
        numbers = pd.api.types.is_float_dtype(dtype)
        longest = len(str(name)) if numbers else max(map(len, texts), default=0)
        page.column_dimensions[column[0].column_letter].width = min(max(longest, 8), 60) + 2
        for cell in column[1:] if numbers else ():
            cell.number_format = "0.000"


FORMULA = re.compile(
    r"\s*(?:[=@|\N{FULLWIDTH EQUALS SIGN}\N{FULLWIDTH COMMERCIAL AT}]"
    r"|[+\-\N{FULLWIDTH PLUS SIGN}\N{FULLWIDTH HYPHEN-MINUS}]"
    r"(?!(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?\s*\Z|\Z))"
)
"""Text that a spreadsheet would run, or take for a name to look up; -5 is left as it is."""


def _harmless(table: pd.DataFrame) -> pd.DataFrame:
    """Put an apostrophe before text that a spreadsheet would run as a formula."""
    changed = {}
    for name in _texts(table):
        formula = table[name].astype(str).str.match(FORMULA)
        if formula.any():
            changed[name] = table[name].mask(formula, "'" + table[name].astype(str))
    headers = {name: f"'{name}" for name in table.columns if FORMULA.match(str(name))}
    return table.assign(**changed).rename(columns=headers)


def _texts(table: pd.DataFrame) -> list[str]:
    return list(table.columns[table.dtypes.map(_is_text)])


def _is_text(dtype: Any) -> bool:
    return bool(pd.api.types.is_string_dtype(dtype) or pd.api.types.is_object_dtype(dtype))


NEEDED = {"parquet": ("Parquet", "pyarrow", "parquet"), "xlsx": ("Excel", "openpyxl", "excel")}


def _need(format: str) -> None:
    """Say before any work that an optional package is missing."""
    if format in NEEDED:
        what, package, extra = NEEDED[format]
        if importlib.util.find_spec(package) is None:
            raise MissingExtraError(f"writing {what}", package, extra)


def _in_a_cell(value: Any) -> Any:
    """Give text that a sheet can hold: no control characters, 32,767 characters at most."""
    return shorten(visible(value), MOST_IN_CELL) if isinstance(value, str) else value
