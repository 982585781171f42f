"""What the page says of how the result was made, and how to make it again."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from coterie.annotations import Annotations
from coterie.posterior import Posterior
from coterie.report.words import name
from coterie.version import __version__

PASSING = ("n_jobs", "progress", "checkpoint")
"""Settings that change how a run goes and not what it finds."""

LONGEST = 400
MOST_WORDS = 20
"""Classes that the recipe lists; more are those seen, nearly always."""

Facts = dict[str, Any]


def settings_facts(posterior: Posterior, command: str | None) -> Facts:
    """Give the settings as names and text, and the lines that make the result again."""
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
    return {
        "rows": rows,
        "version": __version__,
        "seed": seed,
        "command": None if command is None else _short(command),
        "code": code(posterior),
    }


def code(posterior: Posterior) -> str:
    """Write the Python that makes the result again."""
    a = posterior.annotations
    file = a.origin.partition(":")[0] if ":" in a.origin else ""
    source = repr(_short(file)) if file and not file.startswith(("the ", "standard")) else "..."
    reading = [source, *(f"{key}={value!r}" for key, value in _reading(a))]
    pairs = [f"{key}={_short(repr(value))}" for key, value in _shown(posterior.settings)]
    if posterior.settings.get("random_state") is not None:
        pairs.append(f"random_state={posterior.settings['random_state']!r}")
    return (
        f"import coterie\n\nannotations = coterie.read({', '.join(reading)})"
        f"{f'  # and gold=..., the {len(a.gold):,} known labels' if a.gold else ''}\n"
        f"model = coterie.{posterior.model}({', '.join(pairs)})\n"
        "posterior = model.fit(annotations).posterior_"
    )


def _reading(a: Annotations) -> list[tuple[str, Any]]:
    """Give what the reader has to be told: columns of a long table, truths, other answers."""
    told: list[tuple[str, Any]] = []
    if len(a.columns) == 3:
        told += zip(("item", "annotator", "label"), a.columns, strict=True)
    if a.n_classes <= MOST_WORDS:
        told.append(("classes", a.classes.tolist()))
    if len(a.extra_answers):
        told.append(("extra_answers", a.extra_answers.tolist()))
    return told


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
    text = " ".join(part.strip() for part in parts)
    text = text if len(text) <= LONGEST else text[: LONGEST - 1] + "…"
    return "".join(character if character.isprintable() else name(character) for character in text)
