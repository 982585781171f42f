"""The command line: parse, call, show. No statistics here, and no heavy import at the top."""

from __future__ import annotations


def main() -> None:
    """Run the command line; Ctrl-C ends it quietly, whenever it comes."""
    try:
        import signal

        heard = _end_at_once()
        from coterie.cli import streams

        streams.prepare()
        from coterie.cli.app import app

        if heard is not None:
            signal.signal(signal.SIGINT, heard)  # type: ignore[arg-type]
        try:
            app()
        finally:
            streams.last_words()
    except KeyboardInterrupt:
        raise SystemExit(130) from None


def _end_at_once() -> object:
    """End on Ctrl-C without a word: libraries that are being imported make of it what they like.

    Gives what listened before; None in a thread, which Ctrl-C does not reach.
    """
    import os
    import signal

    try:
        return signal.signal(signal.SIGINT, lambda *_: os._exit(130))
    except ValueError:
        return None
