"""Standard output and error, wherever they lead: any encoding, a reader who leaves, a full disk."""

from __future__ import annotations

import codecs
import io
import os
import sys
from typing import Any

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


ERRORS = "coterie.ascii"
codecs.register_error(ERRORS, _in_ascii)


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


def prepare() -> None:
    """Let standard output and error show what they can, ASCII for the rest, and stop no work.

    Where one of the three streams is closed, nothing else may take its place: a file of results
    would be given what is meant for a terminal.
    """
    for number in range(3):
        try:
            os.fstat(number)
        except OSError:
            os.set_inheritable(os.open(os.devnull, os.O_RDWR), True)  # the lowest that is free
    sys.stdout, sys.stderr = _patient(sys.stdout), _patient(sys.stderr)


def _patient(stream: Any) -> Any:
    """Give a stream that takes whatever is written; as it is where it is none of a file."""
    if not isinstance(stream, io.TextIOWrapper):
        return stream
    end = getattr(stream.buffer, "raw", stream.buffer)
    if type(end) is not io.FileIO:
        stream.reconfigure(errors=ERRORS)
        return stream
    stream.flush()
    return io.TextIOWrapper(
        io.BufferedWriter(Patient(end.fileno(), "wb", closefd=False)),
        stream.encoding,
        ERRORS,
        line_buffering=stream.line_buffering,
        write_through=stream.write_through,
    )


def last_words() -> None:
    """Write out what is still to be printed, and end with a sentence where that failed.

    Python would do so at its end, when an error is a traceback after finished work.
    """
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
