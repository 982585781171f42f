"""Standard output and error, wherever they lead: any encoding, a reader who leaves, a full disk."""

from __future__ import annotations

import codecs
import io
import os
import sys
from typing import NoReturn, TextIO

PLAIN = {
    "█": "#", "░": ".", "━": "-", "╸": "-", "╺": "-", "─": "-", "…": "~", "–": "-", "—": "-",
    "−": "-", "±": "+", "×": "x", "\N{NO-BREAK SPACE}": " ", "∞": "inf",
}  # fmt: skip
"""Our own signs in ASCII, one for one, so that tables stay straight."""


def _in_ascii(error: UnicodeError) -> tuple[str, int]:
    """Give what stands for characters that an output cannot show: ASCII of ours, else escapes."""
    if not isinstance(error, UnicodeEncodeError):
        raise error
    signs = error.object[error.start : error.end]
    plain = [PLAIN.get(s) or s.encode("ascii", "backslashreplace").decode() for s in signs]
    return "".join(plain), error.end


codecs.register_error("coterie.ascii", _in_ascii)


def take_any_encoding() -> None:
    """Let standard output and error show what they can, and ASCII for the rest."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="coterie.ascii")


def last_words() -> None:
    """Write out what is still to be printed, and end with a sentence where that fails.

    Python would do so at its end, when an error is a traceback after finished work.
    """
    for stream in (sys.stderr, sys.stdout):
        if not isinstance(stream, io.TextIOWrapper) or stream.closed:
            continue
        try:
            stream.flush()
        except BrokenPipeError:  # the reader has left
            silence(stream)
        except OSError as error:
            if stream is sys.stdout:
                give_up(error)
            silence(stream)
            raise SystemExit(1) from None


def give_up(error: OSError) -> NoReturn:
    """Say that standard output cannot be written, and end."""
    if isinstance(sys.stdout, io.TextIOWrapper):
        silence(sys.stdout)
    if sys.stderr is not None:
        sys.stderr.write(f"Error: standard output cannot be written: {error.strerror}\n")
    raise SystemExit(1) from None


def silence(stream: TextIO) -> None:
    """Send what a stream still holds, and all that follows, nowhere."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, stream.fileno())
    os.close(nowhere)
