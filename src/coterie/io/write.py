"""Results to files: written aside, then renamed, so that nothing is ever half-written."""

from __future__ import annotations

import csv
import json
import os
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from coterie.errors import DataError, MissingExtraError

FORMATS = ("csv", "parquet", "json")

Writer = Callable[[Path], object]


def targets(out: Path, names: Sequence[str], format: str) -> dict[str, Path]:
    """Name the files that tables go to, by what they hold."""
    if format not in FORMATS:
        raise DataError(f"no format {format!r}; choose one of {', '.join(FORMATS)}")
    if format == "parquet":
        _need_pyarrow()
    return {name: out / f"{name}.{format}" for name in names}


def check_free(out: Path, paths: Iterable[Path], *, force: bool) -> None:
    """Refuse, before any work is done, to write where earlier results lie."""
    for folder in (out, *out.parents):
        if folder.exists() and not folder.is_dir():
            raise DataError(f"{folder} is a file, not a folder; choose another --out")
    paths = list(paths)
    there = [path.name for path in (*paths, *other_formats(paths)) if path.exists()]
    if there and not force:
        raise DataError(
            f"{out} already holds {', '.join(there)}; choose another --out, or pass --force"
        )


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
    return partial(_write_text, text)


def write_together(writers: Mapping[Path, Writer], stale: Iterable[Path] = ()) -> None:
    """Write several files aside, then give them their names; on failure leave nothing.

    What an earlier run left is removed: the same tables in another format, and ``stale``.
    """
    for path in writers:
        if path.is_dir():
            raise DataError(f"{path} is a folder; name a file")
    aside = {path: path.with_name(f".{path.name}.{os.getpid()}.part") for path in writers}
    try:
        for path, write in writers.items():
            path.parent.mkdir(parents=True, exist_ok=True)
            write(aside[path])
        for path, part in aside.items():
            part.replace(path)
        for path in (*other_formats(writers), *stale):
            if path not in writers:
                path.unlink(missing_ok=True)
    except OSError as error:
        raise DataError(f"cannot write {error.filename}: {error.strerror}") from None
    finally:
        for part in aside.values():
            part.unlink(missing_ok=True)


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


def _write_text(text: str, path: Path) -> None:
    path.write_text(text, "utf-8")


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
