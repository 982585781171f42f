"""How a command starts and ends: errors are one sentence and an exit code, and nothing is lost."""

from __future__ import annotations

import codecs
import functools
import inspect
import io
import os
import shlex
import sys
import warnings
from collections.abc import Callable, Container, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, ParamSpec

import typer

from coterie.errors import Argument, CoterieError, CoterieWarning, Sentence, as_python
from coterie.words.visible import shorten

P = ParamSpec("P")

COLOURS = {"Error": "red", "Warning": "yellow"}
LONGEST = 200
"""Characters of a value that a sentence repeats."""
OPTIONS = {"format": "--from", "cost": "--costs", "random_state": "--seed", "n_jobs": "--jobs"}
"""Options that are called otherwise than the argument in Python; all others are called the same."""
PLAIN = {
    "█": "#", "░": ".", "━": "-", "╸": "-", "╺": "-", "─": "-", "…": "~", "–": "-", "—": "-",
    "−": "-", "±": "+", "×": "x", "\N{NO-BREAK SPACE}": " ", "∞": "inf",
}  # fmt: skip
"""Our own signs in ASCII, one for one, so that tables stay straight."""


def guarded(command: Callable[P, None]) -> Callable[P, None]:
    """Run a command: our errors become a sentence and exit code 1, Ctrl-C a quiet 130."""

    @functools.wraps(command)
    def run(*args: P.args, **kwargs: P.kwargs) -> None:
        offered = set(map(spelt, inspect.signature(command).parameters))
        write = functools.partial(as_option, offered=offered)
        shown: set[str] = set()

        def show_once(message: Warning | str, *where: Any, **more: Any) -> None:
            if isinstance(message, CoterieWarning) and str(message) not in shown:
                shown.add(str(message))  # every score of a run would say it again
                complain("Warning", message.written(write))

        with warnings.catch_warnings():
            warnings.simplefilter("always", CoterieWarning)
            warnings.showwarning = show_once
            try:
                command(*args, **kwargs)
                return
            except CoterieError as error:
                sentence = error.written(write)
            except OSError as error:
                # standard output, which has no name, never fails: see Patient
                named = None if error.filename is None else shorten(str(error.filename), LONGEST)
                reason = error.strerror or str(error) or type(error).__name__
                what = named or "a file cannot be read or written"
                sentence = Sentence(f"{what}: {reason}").written(write)
            except MemoryError:
                sentence = "the memory does not suffice; try with less data"
            except BaseException as error:
                # libraries that are being imported wrap Ctrl-C in exceptions of theirs
                cause: BaseException | None = error
                while cause is not None and not isinstance(cause, KeyboardInterrupt):
                    cause = cause.__cause__ or cause.__context__
                if cause is None:
                    raise
                raise typer.Exit(130) from None
            complain("Error", sentence)
            raise typer.Exit(1)

    return run


def complain(kind: str, sentence: str) -> None:
    """Write an error or a warning to standard error: its first word in colour on a terminal."""
    head = typer.style(f"{kind}:", fg=COLOURS[kind], bold=True)
    # None: typer removes colours where nobody would see them
    typer.echo(f"{head} {sentence}", err=True, color=False if os.environ.get("NO_COLOR") else None)


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
    option = OPTIONS.get(argument.name, spelt(argument.name))
    if option not in offered:
        return as_python(argument)
    if argument.several:
        return f"{option} A,B,..."
    value = argument.value
    if value is None:
        return option
    text = ",".join(map(str, value)) if isinstance(value, list) else str(value)
    return f"{option} {shlex.quote(shorten(text, LONGEST))}"


def spelt(name: str) -> str:
    """Spell a parameter as typer does."""
    return f"--{name.rstrip('_').replace('_', '-')}"


def typed_again(*left_out: str) -> str:
    """Give the command line that a result says it was made by, without what changes no result.

    That is ``--force``, and options that have a value, by all their names: ``"--out"``, ``"-o"``.
    """
    words, kept = iter(sys.argv[1:]), ["coterie"]
    for word in words:
        if word in left_out:
            next(words, None)
        elif word != "--force" and not word.startswith(tuple(f"{name}=" for name in left_out)):
            kept.append(word)
    return shlex.join(kept)


@contextmanager
def nothing_lost(
    show: Callable[[], object], save: Callable[[Path], object], name: str, use: str
) -> Iterator[None]:
    """If something cannot be written within, show what was found, and save it elsewhere.

    It is saved under a name, with words on which ... read it there.
    """
    try:
        yield
    except Exception as error:  # whatever it is, the result must not be lost
        from coterie.files.paths import reason_of

        show()
        told = rescue(save, name, use)
        if not isinstance(error, CoterieError | OSError):
            error.add_note(told)
            raise
        raise CoterieError(f"{reason_of(error)}; {told}") from error


def rescue(save: Callable[[Path], object], name: str, use: str) -> str:
    """Save a result that cannot be put where it should, and say where it is now."""
    import shutil
    import tempfile

    for parent in (tempfile.gettempdir, Path.cwd, Path.home):
        with suppress(Exception):
            path = Path(tempfile.mkdtemp(prefix="coterie-", dir=parent()), name)
            try:
                save(path)
            except BaseException:  # Ctrl-C too: no half of a result is left behind
                shutil.rmtree(path.parent, ignore_errors=True)
                raise
            return f"the result is saved in {path}, which {use}"
    return "the result could not be saved anywhere else either"


class Patient(io.FileIO):
    """The end of a stream that takes whatever is written: what cannot be shown stops no work.

    ``lost`` is the error that it met, after which everything goes nowhere; a reader who has left,
    as in ``coterie ... | head``, is none that anybody need hear of.
    """

    lost: OSError | None = None

    def write(self, data: Any, /) -> int:
        """Write, or note that it fails."""
        if self.lost is None:
            try:
                return super().write(data)
            except OSError as error:
                self.lost = error
        return len(data)


@contextmanager
def patient_streams() -> Iterator[None]:
    """Let standard output and error show what they can, ASCII for the rest, and stop no work.

    Where one of the three streams is closed, nothing else may take its place: a file of results
    would be given what is meant for a terminal. In the end all is written out, with a sentence
    where that failed: Python would do so at its end, when an error is a traceback after finished
    work.
    """
    codecs.register_error("coterie.ascii", _in_ascii)
    for number in range(3):
        try:
            os.fstat(number)
        except OSError:
            os.set_inheritable(os.open(os.devnull, os.O_RDWR), True)  # the lowest that is free
    sys.stdout, sys.stderr = _patient(sys.stdout), _patient(sys.stderr)
    try:
        yield
    finally:
        for stream in (sys.stdout, sys.stderr):
            if not isinstance(stream, io.TextIOWrapper) or stream.closed:
                continue
            stream.flush()
            error = getattr(getattr(stream.buffer, "raw", None), "lost", None)
            if error is None or isinstance(error, BrokenPipeError):
                continue
            if stream is sys.stdout and sys.stderr is not None:
                sys.stderr.write(f"Error: standard output cannot be written: {error.strerror}\n")
                sys.stderr.flush()
            raise SystemExit(1)


def _in_ascii(error: UnicodeError) -> tuple[str, int]:
    """Give what stands for characters that an output cannot show: ASCII of ours, else escapes."""
    if not isinstance(error, UnicodeEncodeError):
        raise error
    signs = error.object[error.start : error.end]
    plain = [PLAIN.get(s) or s.encode("ascii", "backslashreplace").decode() for s in signs]
    return "".join(plain), error.end


def _patient(stream: Any) -> Any:
    """Give a stream that takes whatever is written; as it is where it is none of a file."""
    if not isinstance(stream, io.TextIOWrapper):
        return stream
    end = getattr(stream.buffer, "raw", stream.buffer)
    if type(end) is not io.FileIO:
        stream.reconfigure(errors="coterie.ascii")
        return stream
    stream.flush()
    return io.TextIOWrapper(
        io.BufferedWriter(Patient(end.fileno(), "wb", closefd=False)),
        stream.encoding,
        "coterie.ascii",
        line_buffering=stream.line_buffering,
        write_through=stream.write_through,
    )
