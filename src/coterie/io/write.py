"""Tables and records as files: what writes them, and what their names are."""

from __future__ import annotations

import csv
import json
import re
from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from coterie.errors import DataError, MissingExtraError
from coterie.files.atomic import Writer, text_writer

FORMATS = ("csv", "parquet", "json")


def targets(out: Path, names: Sequence[str], format: str) -> dict[str, Path]:
    """Name the files that tables go to, by what they hold."""
    if format not in FORMATS:
        raise DataError(f"no format {format!r}; choose one of {', '.join(FORMATS)}")
    if format == "parquet":
        _need_pyarrow()
    return {name: out / f"{name}.{format}" for name in names}


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
    text = json.dumps(content, indent=2, ensure_ascii=False, default=_plain) + "\n"
    return text_writer(text)


def _write_table(table: pd.DataFrame, format: str, path: Path) -> None:
    if format == "csv":
        # A carriage return is a line's end to some readers, which csv does not know: quote all.
        returns = any(table[name].astype(str).str.contains("\r").any() for name in _texts(table))
        quoting: Any = csv.QUOTE_NONNUMERIC if returns else csv.QUOTE_MINIMAL
        _harmless(table).to_csv(path, index=False, quoting=quoting)
    elif format == "parquet":
        table.to_parquet(path, index=False)
    else:
        table.to_json(path, orient="records", indent=1, force_ascii=False, date_format="iso")


FORMULA = re.compile(r"\s*(=|[+\-@].*[(|!])", re.DOTALL)
"""Text that a spreadsheet would run; @ann and -5 are left as they are."""


def _harmless(table: pd.DataFrame) -> pd.DataFrame:
    """Put an apostrophe before text that a spreadsheet would run as a formula."""
    changed = {}
    for name in _texts(table):
        formula = table[name].astype(str).str.match(FORMULA)
        if formula.any():
            changed[name] = table[name].mask(formula, "'" + table[name].astype(str))
    return table.assign(**changed)


def _texts(table: pd.DataFrame) -> list[str]:
    return list(table.columns[table.dtypes.map(_is_text)])


def _is_text(dtype: Any) -> bool:
    return bool(pd.api.types.is_string_dtype(dtype) or pd.api.types.is_object_dtype(dtype))


def _need_pyarrow() -> None:
    try:
        import pyarrow  # noqa: F401
    except ImportError:
        raise MissingExtraError("writing Parquet", "pyarrow", "parquet") from None


def _plain(value: Any) -> Any:
    """Give what JSON knows for what it does not: numpy numbers and arrays, dates, priors."""
    if isinstance(value, np.generic | np.ndarray):
        return value.tolist()
    return str(value)
