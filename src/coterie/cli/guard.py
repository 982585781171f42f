"""What the command line does when something goes wrong: one sentence and an exit code."""

from __future__ import annotations

import functools
import sys
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
            warnings.showwarning = _show_warning
            try:
                command(*args, **kwargs)
            except CoterieError as error:
                typer.echo(f"Error: {error}", err=True)
                raise typer.Exit(1) from None
            except BrokenPipeError:
                sys.stderr.close()  # `coterie ... | head` is no error
                raise typer.Exit(0) from None
            except KeyboardInterrupt:
                raise typer.Exit(130) from None

    return run


def _show_warning(
    message: Warning | str,
    category: type[Warning],
    filename: str,
    lineno: int,
    file: TextIO | None = None,
    line: str | None = None,
) -> None:
    if issubclass(category, CoterieWarning):
        typer.echo(f"Warning: {message}", err=True)
