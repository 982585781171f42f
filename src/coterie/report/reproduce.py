"""What the page says of how the result was made, and how to make it again."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import coterie
from coterie.data.annotations import Annotations
from coterie.data.provenance import OWN_GOLD, Export, Form, Gold, Provenance
from coterie.posterior import Posterior
from coterie.version import __version__
from coterie.words.names import name
from coterie.words.visible import shorten

PASSING = ("n_jobs", "progress", "checkpoint")
"""Settings that change how a run goes and not what it finds."""

LONGEST = 400
"""Characters of a value that is shown."""

Facts = dict[str, Any]


def settings_facts(posterior: Posterior, record: Mapping[str, Any]) -> Facts:
    """Give the settings as names and text, and the lines that make the result again.

    Parameters
    ----------
    posterior
        The result.
    record
        What ``run.json`` says of the run; empty for a result that was not made by a command.
    """
    settings, run, a = posterior.settings, posterior.run, posterior.annotations
    seed = settings.get("random_state")
    rows = [("Model", posterior.model), ("Version", f"coterie {__version__}")]
    rows.append(("Data", a.describe()))
    if a.origin:
        rows.append(("Read from", _short(a.origin)))
    if a.provenance is not None and a.provenance.export is not None:
        left_out = [f"{why} {n:,}" for why, n in a.provenance.export.left_out]
        rows.append(("Left out", _short(", ".join(left_out) or "nothing")))
        rows += [("Note", _short(note)) for note in a.provenance.export.notes]
    if "random_state" in settings:
        rows.append(("Seed", "none: a new run differs a little" if seed is None else str(seed)))
    rows += [(_words(key), _in_words(value)) for key, value in _shown(settings)]
    if "sweeps" in run:
        stopped = {"converged": "stopped when converged", "interrupted": "interrupted"}
        how = stopped.get(str(run.get("stopped")), "ran to the end")
        rows += [("Sweeps made", f"{run['sweeps']:,} per chain, {how}")]
    command = record.get("command")
    return {
        "rows": rows,
        "version": __version__,
        "seed": seed,
        "command": None if command is None else _short(command),
        "code": code(posterior, record),
    }


def code(posterior: Posterior, record: Mapping[str, Any]) -> str:
    """Write the Python that makes the result again."""
    settings = dict(_shown(posterior.settings))
    if posterior.settings.get("random_state") is not None:
        settings["random_state"] = posterior.settings["random_state"]
    own = posterior.model in coterie.__all__
    name = f"coterie.{posterior.model}" if own else posterior.model
    model, notes = _call(name, [], settings, "as under Settings")
    whose = [] if own else [f"# {name} is not part of coterie: import it from where it is defined"]
    lines = [*_reading(posterior.annotations, record), *whose, *notes, f"model = {model}"]
    return "\n".join(
        ["import coterie", "", *lines, "posterior = model.fit(annotations).posterior_"]
    )


def _reading(a: Annotations, record: Mapping[str, Any]) -> list[str]:
    """Write the lines that read the data, as far as it is known where they come from."""
    if a.provenance is None:
        simulated = "simulated" in (record.get("input") or {})
        whose = "those the command simulates" if simulated else "your own, given from Python"
        return [f"# annotations: {_short(a.origin) if a.origin else whose}"]
    source = a.provenance.source
    if source.path is None:
        given, where = "data", [f"# data: {source.name} that was given from Python"]
    else:
        export = a.provenance.export
        several = list(export.paths) if export is not None else []
        given, where = repr(several or source.path), []
    known = {"gold": _gold(a, a.provenance)} if a.gold and not _brings_gold(a.provenance) else {}
    told = _told(a.provenance) | known
    read, notes = _call("coterie.read", [given], told, "as it was, too long to show")
    return [*where, *notes, f"annotations = {read}"]


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


def _told(provenance: Provenance) -> Facts:
    """Give what the reader has to be told: columns, truths, other answers, repeated labels."""
    told: Facts = {} if provenance.item is None else {"item": provenance.item}
    if provenance.export is not None:
        told = _told_of_export(provenance.export)
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
    duplicates = provenance.duplicates
    return told if duplicates == "error" else told | {"duplicates": duplicates}


def _brings_gold(provenance: Provenance) -> bool:
    """Tell whether the known labels are the export's own, which reading it gives again."""
    return provenance.export is not None and provenance.gold == Gold(column=OWN_GOLD)


def _told_of_export(export: Export) -> Facts:
    """Give what the reader of an export has to be told."""
    told: Facts = {"format": export.format, "question": export.question}
    told |= {} if export.option is None else {"option": export.option}
    return told | dict(export.told)


def _gold(a: Annotations, provenance: Provenance) -> Any:
    """Give the known labels as the reader takes them: a column, a file, or themselves."""
    gold = provenance.gold
    if gold is None or (gold.source is not None and gold.source.path is None):
        return a.gold
    return gold.column if gold.source is None else gold.source.path


def _shown(settings: Mapping[str, Any]) -> list[tuple[str, Any]]:
    hidden = (*PASSING, "random_state")
    return [
        (key, value) for key, value in settings.items() if key not in hidden and value is not None
    ]


def _in_words(value: object) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    return f"{value:,}" if isinstance(value, int) else _short(value)


def _words(key: str) -> str:
    return key.replace("_", " ").capitalize()


def _short(value: object) -> str:
    parts = str(value).split("\n")
    text = shorten(" ".join(part.strip() for part in parts), LONGEST)
    return "".join(character if character.isprintable() else name(character) for character in text)
