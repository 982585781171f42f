"""What the command line does when something goes wrong: one sentence and an exit code."""

from __future__ import annotations

import functools
import inspect
import shlex
import warnings
from collections.abc import Callable, Container
from typing import ParamSpec, TextIO

import typer

from coterie.errors import Argument, CoterieError, CoterieWarning, as_python
from coterie.words.names import shorten

P = ParamSpec("P")

LONGEST = 200
"""Characters of a value that a sentence repeats."""


def guarded(command: Callable[P, None]) -> Callable[P, None]:
    """Run a command: our errors become a sentence and exit code 1, Ctrl-C a quiet 130."""

    @functools.wraps(command)
    def run(*args: P.args, **kwargs: P.kwargs) -> None:
        with warnings.catch_warnings():
            warnings.simplefilter("always", CoterieWarning)
            warnings.showwarning = functools.partial(_show_once, set())
            try:
                command(*args, **kwargs)
            except CoterieError as error:
                write = functools.partial(as_option, offered=_options_of(command))
                typer.echo(f"Error: {error.written(write)}", err=True)
                raise typer.Exit(1) from None
            except OSError as error:
                typer.echo(f"Error: {error.strerror or error}", err=True)
                raise typer.Exit(1) from None
            except KeyboardInterrupt:
                raise typer.Exit(130) from None

    return run


OPTIONS = {
    "item": "--item",
    "annotator": "--annotator",
    "label": "--label",
    "gold": "--gold",
    "classes": "--classes",
    "extra_answers": "--extra-answers",
    "duplicates": "--duplicates",
    "sweeps": "--sweeps",
    "burn_in": "--burn-in",
    "chains": "--chains",
    "random_state": "--seed",
    "n_jobs": "--jobs",
}
"""Arguments of Python, and the options of the commands that have them."""


def as_option(argument: Argument, offered: Container[str]) -> str:
    """Write an argument as an option, if the command offers it; else as in Python.

    Examples
    --------
    >>> as_option(Argument("extra_answers", ["un sure", "skip"]), {"--extra-answers"})
    "--extra-answers 'un sure,skip'"
    >>> as_option(Argument("annotator", several=True), {"--annotator"})
    '--annotator A,B,...'
    >>> as_option(Argument("thin"), {"--annotator"})
    'thin='
    """
    option = OPTIONS.get(argument.name)
    if option is None or option not in offered:
        return as_python(argument)
    if argument.several:
        return f"{option} A,B,..."
    if argument.value is None:
        return option
    value = argument.value
    text = ",".join(map(str, value)) if isinstance(value, list) else str(value)
    return f"{option} {shlex.quote(shorten(text, LONGEST))}"


def _options_of(command: Callable[..., None]) -> set[str]:
    """Name the options of a command, which typer makes of its parameters."""
    return {f"--{name.replace('_', '-')}" for name in inspect.signature(command).parameters}


def _show_once(
    shown: set[str],
    message: Warning | str,
    category: type[Warning],
    filename: str,
    lineno: int,
    file: TextIO | None = None,
    line: str | None = None,
) -> None:
    """Say a sentence the first time: every score of a run would say it again."""
    if issubclass(category, CoterieWarning) and str(message) not in shown:
        shown.add(str(message))
        typer.echo(f"Warning: {message}", err=True)
