"""The command line: parse, call, show. No statistics here, and no heavy import at the top."""

from __future__ import annotations


def main() -> None:
    """Run the command line; Ctrl-C ends it quietly, whenever it comes."""
    import os
    import signal

    try:
        try:  # end without a word: libraries that are being imported make of Ctrl-C what they like
            heard = signal.signal(signal.SIGINT, lambda *_: os._exit(130))
        except ValueError:  # in a thread, which Ctrl-C does not reach
            heard = None
        from coterie.cli.guard import patient_streams

        with patient_streams():
            from coterie.cli.app import app

            if heard is not None:
                signal.signal(signal.SIGINT, heard)
            app()
    except KeyboardInterrupt:
        raise SystemExit(130) from None
