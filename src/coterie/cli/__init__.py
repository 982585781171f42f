"""The command line: parse, call, show. No statistics here, and no heavy import at the top."""

from __future__ import annotations


def main() -> None:
    """Run the command line; Ctrl-C ends it quietly, whenever it comes."""
    try:
        from coterie.cli.app import app

        app()
    except KeyboardInterrupt:
        raise SystemExit(130) from None
