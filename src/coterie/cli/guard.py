"""What the command line does when something goes wrong: one sentence and an exit code."""

from __future__ import annotations

import functools
import re
import warnings
from collections.abc import Callable
from typing import ParamSpec, TextIO

import typer

from coterie.errors import CoterieError, CoterieWarning

P = ParamSpec("P")


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
                typer.echo(f"Error: {_as_options(str(error))}", err=True)
                raise typer.Exit(1) from None
            except OSError as error:
                typer.echo(f"Error: {error.strerror or error}", err=True)
                raise typer.Exit(1) from None
            except KeyboardInterrupt:
                raise typer.Exit(130) from None

    return run


OPTIONS = "item annotator label gold classes extra_answers duplicates sweeps burn_in thin"


def _as_options(sentence: str) -> str:
    """Name the options of the command line where a sentence names arguments of Python.

    Examples
    --------
    >>> _as_options('pass duplicates="first", or extra_answers= too')
    'pass --duplicates "first", or --extra-answers too'
    """
    for name in OPTIONS.split():
        option = "--" + name.replace("_", "-")
        sentence = re.sub(rf"(?<![\w(-]){name}=(?=[\w'\"\[])", f"{option} ", sentence)
        sentence = re.sub(rf"(?<![\w(-]){name}=", option, sentence)
    return sentence


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
