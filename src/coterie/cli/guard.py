"""What the command line does when something goes wrong: one sentence and an exit code."""

from __future__ import annotations

import functools
import inspect
import os
import shlex
import warnings
from collections.abc import Callable, Container
from typing import ParamSpec, TextIO

import typer

from coterie.errors import Argument, CoterieError, CoterieWarning, Sentence, as_python
from coterie.words.visible import shorten

P = ParamSpec("P")

COLOURS = {"Error": "red", "Warning": "yellow"}
LONGEST = 200
"""Characters of a value that a sentence repeats."""


def guarded(command: Callable[P, None]) -> Callable[P, None]:
    """Run a command: our errors become a sentence and exit code 1, Ctrl-C a quiet 130."""

    @functools.wraps(command)
    def run(*args: P.args, **kwargs: P.kwargs) -> None:
        with warnings.catch_warnings():
            warnings.simplefilter("always", CoterieWarning)
            write = functools.partial(as_option, offered=_options_of(command))
            warnings.showwarning = functools.partial(_show_once, set(), write)
            try:
                command(*args, **kwargs)
            except CoterieError as error:
                complain("Error", error.written(write))
                raise typer.Exit(1) from None
            except OSError as error:
                complain("Error", Sentence(_failure(error)).written(write))
                raise typer.Exit(1) from None
            except MemoryError:
                complain("Error", "the memory does not suffice; try with less data")
                raise typer.Exit(1) from None
            except BaseException as error:  # Ctrl-C may come wrapped in another exception
                if _was_interrupted(error):
                    raise typer.Exit(130) from None
                raise

    return run


def complain(kind: str, sentence: str) -> None:
    """Write an error or a warning to standard error: its first word in colour on a terminal."""
    head = typer.style(f"{kind}:", fg=COLOURS[kind], bold=True)
    # None: typer removes colours where nobody would see them
    typer.echo(f"{head} {sentence}", err=True, color=False if os.environ.get("NO_COLOR") else None)


def _was_interrupted(error: BaseException | None) -> bool:
    """Look for Ctrl-C behind an error: libraries that are being imported make others of it."""
    while error is not None and not isinstance(error, KeyboardInterrupt):
        error = error.__cause__ or error.__context__
    return error is not None


def _failure(error: OSError) -> str:
    """Say what failed, and of which file."""
    reason = error.strerror or str(error) or type(error).__name__
    unnamed = "a file cannot be read or written"  # standard output never fails: see streams
    what = unnamed if error.filename is None else shorten(str(error.filename), LONGEST)
    return f"{what}: {reason}"


OPTIONS = {"format": "--from", "cost": "--costs", "random_state": "--seed", "n_jobs": "--jobs"}
"""Options that are called otherwise than the argument in Python; all others are called the same."""


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
    option = OPTIONS.get(argument.name, _spelt(argument.name))
    if option not in offered:
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
    names = inspect.signature(command).parameters
    return set(map(_spelt, names))


def _spelt(name: str) -> str:
    """Spell a parameter as typer does."""
    return f"--{name.rstrip('_').replace('_', '-')}"


def _show_once(
    shown: set[str],
    write: Callable[[Argument], str],
    message: Warning | str,
    category: type[Warning],
    filename: str,
    lineno: int,
    file: TextIO | None = None,
    line: str | None = None,
) -> None:
    """Say a sentence the first time: every score of a run would say it again."""
    if isinstance(message, CoterieWarning) and str(message) not in shown:
        shown.add(str(message))
        complain("Warning", message.written(write))
