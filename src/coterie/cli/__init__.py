"""The command line: parse, call, show. No statistics here, and no heavy import at the top."""

from coterie.cli.app import main

__all__ = ["main"]
