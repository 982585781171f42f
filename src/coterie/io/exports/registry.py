"""The formats there are, in the order in which they are tried, and which one files have."""

from __future__ import annotations

import re
import warnings
from collections.abc import Sequence

from coterie.errors import Argument, CoterieError, DataError, DataWarning
from coterie.io.exports.part import Part
from coterie.io.exports.port import ExportFormat
from coterie.registry import Registry
from coterie.words.values import did_you_mean, join

BUILT_IN = {
    "snorkel": "bare",
    "inspect": "evaluations",
    "cvat": "tools",
    "label_studio": "label_studio",
    "argilla": "tools",
    "sagemaker": "crowds",
    "alpacaeval": "verdicts",
    "llmbar": "verdicts",
    "deepeval": "verdicts",
    "promptfoo": "evaluations",
    "prodigy": "tools",
    "labelbox": "tools",
    "mtbench": "verdicts",
    "judgebench": "verdicts",
    "arena": "verdicts",
    "zooniverse": "crowds",
    "mturk": "crowds",
    "toloka": "crowds",
    "crowdflower": "crowds",
    "doccano": "tools",
    "act": "bare",
    "mace": "bare",
    "peerannot": "bare",
}
"""Which file has a format. Those whose marks are plainest stand first; the first that recognises a
file has it."""

FORMATS: Registry[ExportFormat] = Registry(
    "export format",
    {name: f"coterie.io.exports.{file}:{name.upper()}" for name, file in BUILT_IN.items()},
    "coterie.formats",
)
"""Formats of exports; other packages add theirs by the entry point ``coterie.formats``."""

TABLE = "table"
"""The name that asks for a plain table: no export, columns by name."""


_failed: set[str] = set()
"""Formats of other packages that were warned of."""


def short(name: str) -> str:
    """Give the short name of a format as the registry has it: label-studio is label_studio."""

    def plain(one: str) -> str:  # without case, blanks, hyphens and underscores
        return re.sub(r"[-_\s]+", "", one).lower()

    return next((own for own in FORMATS if ":" not in name and plain(own) == plain(name)), name)


def format_of(part: Part) -> str | None:
    """Tell the format of a file by its content; None if it is none that is known.

    Those of other packages are asked first: who installs one wants it. Of one that cannot be asked
    is warned once.
    """
    others = []
    for name in [one for one in FORMATS if one not in BUILT_IN and one not in _failed]:
        try:
            others.append(_checked(name))
        except DataError as error:
            _failed.add(name)
            told = f"the format {name!r} of another package is not asked: {error}"
            warnings.warn(DataWarning(told), stacklevel=2)
    return next((name for name in (*others, *BUILT_IN) if recognises(FORMATS[name], part)), None)


def _checked(name: str) -> str:
    """Give the same name, or place, of a format; DataError if there is none."""
    found = FORMATS.find(name)
    if not isinstance(found, ExportFormat):
        raise DataError(f"{name!r} is of type {type(found).__name__}; expected an ExportFormat")
    return name


def _named(asked: str) -> str:
    name, every = short(asked), [*FORMATS, TABLE]
    if ":" not in name and name not in FORMATS:
        raise DataError(
            f"no export format {asked!r}{did_you_mean(name, every)}; choose one of "
            f"{', '.join(every)}, or give module:name"
        )
    return _checked(name)


def recognises(kind: ExportFormat, part: Part) -> bool:
    """Ask a format; what it stumbles over is not of its kind."""
    try:
        return kind.recognise(part)
    except CoterieError:
        raise
    except (LookupError, TypeError, ValueError, AttributeError, ArithmeticError):
        return False


def recognised(parts: Sequence[Part], asked: str | None) -> tuple[str, list[Part]] | None:
    """Give the one format of files, and those that have it; None if no file has any.

    Files of no known format beside others that have one are left aside, as a README in a folder;
    damaged JSON is an error.
    """
    if asked is not None:
        return _named(asked), list(parts)
    found: dict[str, list[Part]] = {}
    for part in parts:
        name = format_of(part)
        if name is not None:
            found.setdefault(name, []).append(part)
        elif len(parts) > 1 and part.is_json and not part.first:
            _ = part.content  # cut short, or no JSON: a DataError says so
    if len(found) > 1:
        told = [f"{FORMATS[name].title} ({some[0].name})" for name, some in found.items()]
        raise DataError(
            f"these files are exports of {len(found)} kinds, {join(told)}",
            argument="format",
            remedy=["name the files of one, or pass ", Argument("format")],
        )
    return next(iter(found.items())) if found else None
