"""The command line: parse, call, show. No statistics here, and no heavy import at the top."""

from __future__ import annotations


def main() -> None:
    """Run the command line; Ctrl-C ends it quietly, whenever it comes."""
    try:
        from coterie.cli import streams

        streams.take_any_encoding()
        with streams.quiet_interruption():
            from coterie.cli.app import app
        try:
            app()
        except OSError as error:  # help and the version, which no command's guard is around
            streams.give_up(error)
        finally:
            streams.last_words()
    except KeyboardInterrupt:
        raise SystemExit(130) from None
