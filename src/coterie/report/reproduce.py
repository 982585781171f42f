"""What the page says of how the result was made, and how to make it again."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import coterie
from coterie.data.annotations import Annotations
from coterie.data.provenance import OWN_GOLD, Form, Gold, Provenance
from coterie.posterior import Posterior
from coterie.version import __version__
from coterie.words.names import name
from coterie.words.visible import shorten

HIDDEN = ("n_jobs", "progress", "checkpoint", "random_state")
"""Settings that change how a run goes and not what it finds; and the seed, said by itself."""
LONGEST = 400
"""Characters of a value that is shown."""


@dataclass(frozen=True)
class Recipe:
    """The settings as names and text, and the lines that make the result again."""

    rows: list[tuple[str, str]]
    version: str
    command: str | None
    code: str


def recipe_of(posterior: Posterior, record: Mapping[str, Any]) -> Recipe:
    """Say how a result was made.

    ``record`` is what ``run.json`` says of the run; empty for a result that no command made.
    """
    settings, run, a = posterior.settings, posterior.run, posterior.annotations
    rows = [("Model", posterior.model), ("Version", f"coterie {__version__}")]
    rows.append(("Data", a.describe()))
    if a.origin:
        rows.append(("Read from", _short(a.origin)))
    if a.provenance is not None and a.provenance.export is not None:
        left_out = [f"{why} {n:,}" for why, n in a.provenance.export.left_out]
        rows.append(("Left out", _short(", ".join(left_out) or "nothing")))
        rows += [("Note", _short(note)) for note in a.provenance.export.notes]
    if "random_state" in settings:
        seed = settings["random_state"]
        rows.append(("Seed", "none: a new run differs a little" if seed is None else str(seed)))
    for key, value in _told(settings).items():
        text = f"{value:,}" if isinstance(value, int) else _short(value)
        text = ("no", "yes")[value] if isinstance(value, bool) else text
        rows.append((key.replace("_", " ").capitalize(), text))
    if "sweeps" in run:
        stopped = {"converged": "stopped when converged", "interrupted": "interrupted"}
        how = stopped.get(str(run.get("stopped")), "ran to the end")
        rows.append(("Sweeps made", f"{run['sweeps']:,} per chain, {how}"))
    command = record.get("command")
    return Recipe(rows, __version__, command and _short(command), _code(posterior, record))


def _code(posterior: Posterior, record: Mapping[str, Any]) -> str:
    """Write the Python that makes the result again."""
    settings = _told(posterior.settings)
    if posterior.settings.get("random_state") is not None:
        settings["random_state"] = posterior.settings["random_state"]
    called, whose = posterior.model, []
    if called in coterie.__all__:
        called = f"coterie.{called}"
    else:
        whose = [f"# {called} is not part of coterie: import it from where it is defined"]
    model, notes = _call(called, [], settings, "as under Settings")
    reading = _reading(posterior.annotations, record)
    fit = "posterior = model.fit(annotations).posterior_"
    return "\n".join(["import coterie", "", *reading, *whose, *notes, f"model = {model}", fit])


def _reading(a: Annotations, record: Mapping[str, Any]) -> list[str]:
    """Write the lines that read the data, as far as it is known where they come from."""
    if a.provenance is None:
        simulated = "simulated" in (record.get("input") or {})
        whose = "those the command simulates" if simulated else "your own, given from Python"
        return [f"# annotations: {_short(a.origin) if a.origin else whose}"]
    source, export = a.provenance.source, a.provenance.export
    several = list(export.paths) if export is not None else []
    told, where, given = _asked(a.provenance), [], repr(several or source.path)
    if source.path is None:
        given, where = "data", [f"# data: {source.name} that was given from Python"]
    gold = a.provenance.gold
    if a.gold and not (export is not None and gold == Gold(column=OWN_GOLD)):
        if gold is None or (gold.source is not None and gold.source.path is None):
            told["gold"] = a.gold
        else:
            told["gold"] = gold.column if gold.source is None else gold.source.path
    read, notes = _call("coterie.read", [given], told, "as it was, too long to show")
    return [*where, *notes, f"annotations = {read}"]


def _asked(provenance: Provenance) -> dict[str, Any]:
    """Give what the reader has to be told: columns, other answers, repeated labels."""
    told: dict[str, Any] = {} if provenance.item is None else {"item": provenance.item}
    export = provenance.export
    if export is not None:
        told = {"format": export.format, "question": export.question}
        told |= ({} if export.option is None else {"option": export.option}) | dict(export.told)
    elif provenance.form is Form.WIDE:
        told["annotator"] = list(provenance.annotators)
    else:
        told |= {"annotator": provenance.annotators[0], "label": provenance.label}
    if provenance.classes is not None:
        told["classes"] = list(provenance.classes)
    if provenance.extra_answers:
        told["extra_answers"] = list(provenance.extra_answers)
    if provenance.anonymised:
        told["anonymise"] = True
    if provenance.duplicates != "error":
        told["duplicates"] = provenance.duplicates
    return told


def _call(
    function: str, first: list[str], named: Mapping[str, Any], why: str
) -> tuple[str, list[str]]:
    """Write a call, and a note on each argument that cannot be written down."""
    told = {key: repr(value) for key, value in named.items()}
    odd = [key for key, text in told.items() if len(text) > LONGEST or not _is_plain(named[key])]
    words = [*first, *(f"{key}={key if key in odd else text}" for key, text in told.items())]
    return f"{function}({', '.join(words)})", [f"# {key}: {why}" for key in odd]


def _is_plain(value: Any) -> bool:
    """Tell whether a value is made again by what Python writes of it, without any import."""
    if isinstance(value, list | tuple):
        return all(map(_is_plain, value))
    if isinstance(value, dict):
        return all(map(_is_plain, [*value, *value.values()]))
    if type(value) is float:
        return math.isfinite(value)
    return value is None or type(value) in (str, int, bool)


def _told(settings: Mapping[str, Any]) -> dict[str, Any]:
    return {k: value for k, value in settings.items() if k not in HIDDEN and value is not None}


def _short(value: object) -> str:
    parts = str(value).split("\n")
    text = shorten(" ".join(part.strip() for part in parts), LONGEST)
    return "".join(character if character.isprintable() else name(character) for character in text)
