"""What the page says of how the result was made, and how to make it again."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from coterie.data.annotations import Annotations
from coterie.posterior import Posterior
from coterie.version import __version__
from coterie.words.names import name, shorten

PASSING = ("n_jobs", "progress", "checkpoint")
"""Settings that change how a run goes and not what it finds."""

LONGEST = 400
MOST_WORDS = 20
"""Classes that the recipe lists; more are those seen, nearly always. Known labels likewise."""

ORIGIN = re.compile(r"(?P<name>.+?)(?: \([^()]*\))?: item ")
"""How the origin of annotations begins: a file or a thing in memory, and a note."""

MADE = re.compile(r"\w*Prior\(|<")
"""How settings look that are no plain value, as text too, which is what a saved run keeps."""

WIDE = "one column an annotator: "

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
    if "random_state" in settings:
        rows.append(("Seed", "none: a new run differs a little" if seed is None else str(seed)))
    rows += [(_words(key), _plain(value)) for key, value in _shown(settings)]
    if "sweeps" in run:
        stopped = {"converged": "stopped when converged", "interrupted": "interrupted"}
        how = stopped.get(str(run.get("stopped")), "ran to the end")
        rows += [("Sweeps made", f"{run['sweeps']:,} a chain, {how}")]
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
    model, notes = _call(f"coterie.{posterior.model}", [], settings, "as under Settings")
    lines = [*_reading(posterior, record), *notes, f"model = {model}"]
    return "\n".join(
        ["import coterie", "", *lines, "posterior = model.fit(annotations).posterior_"]
    )


def _reading(posterior: Posterior, record: Mapping[str, Any]) -> list[str]:
    """Write the lines that read the data, as far as it is known where they lie."""
    a = posterior.annotations
    path = (record.get("input") or {}).get("path")
    found = ORIGIN.match(a.origin)
    if path is not None:
        source, where = repr(str(path)), []
    elif found is None:
        simulated = "simulated" in (record.get("input") or {})
        whose = "those the command simulates" if simulated else "your own, given from Python"
        return [f"# annotations: {whose}"]
    elif found["name"].startswith("the "):
        source, where = "data", [f"# data: {found['name']} that was given from Python"]
    else:
        source, where = repr(found["name"]), ["# where this file lies is not known here"]
    told = _told(posterior) | ({"gold": _gold(a, record)} if a.gold else {})
    read, notes = _call("coterie.read", [source], told, "as it was, too long to show")
    return [*where, *notes, f"annotations = {read}"]


def _call(
    function: str, first: list[str], named: Mapping[str, Any], why: str
) -> tuple[str, list[str]]:
    """Write a call, and a note on each argument that cannot be written down."""
    told = {key: repr(value) for key, value in named.items()}
    odd = [key for key, text in told.items() if len(text) > LONGEST or MADE.match(str(named[key]))]
    words = [*first, *(f"{key}={key if key in odd else text}" for key, text in told.items())]
    return f"{function}({', '.join(words)})", [f"# {key}: {why}" for key in odd]


def _told(posterior: Posterior) -> Facts:
    """Give what the reader has to be told: columns, truths, other answers, repeated labels."""
    a = posterior.annotations
    told: Facts = {}
    if WIDE in a.origin:
        told |= {"item": a.columns[0], "annotator": list(a.columns[1:])}
    elif len(a.columns) == 3:
        told |= zip(("item", "annotator", "label"), a.columns, strict=True)
    if a.n_classes <= MOST_WORDS:
        told["classes"] = a.classes.tolist()
    if len(a.extra_answers):
        told["extra_answers"] = a.extra_answers.tolist()
    duplicates = "keep" if a.n_repeated else posterior.settings.get("duplicates", "error")
    return told if duplicates == "error" else told | {"duplicates": duplicates}


def _gold(a: Annotations, record: Mapping[str, Any]) -> Any:
    """Give the known labels as the reader takes them: a file, a column, or themselves."""
    recorded = record.get("gold") or {}
    _, said, column = a.origin.rpartition(", gold ")
    where = recorded.get("path", recorded.get("column", column.strip("'\"") if said else None))
    return a.gold if where is None else where


def _shown(settings: Mapping[str, Any]) -> list[tuple[str, Any]]:
    hidden = (*PASSING, "random_state")
    return [
        (key, value) for key, value in settings.items() if key not in hidden and value is not None
    ]


def _plain(value: object) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    return f"{value:,}" if isinstance(value, int) else _short(value)


def _words(key: str) -> str:
    return key.replace("_", " ").capitalize()


def _short(value: object) -> str:
    parts = str(value).split("\n")
    text = shorten(" ".join(part.strip() for part in parts), LONGEST)
    return "".join(character if character.isprintable() else name(character) for character in text)
