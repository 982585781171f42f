"""The console that everything is printed with: what names hold never acts on a terminal."""

from __future__ import annotations

from typing import Any

from rich.console import Console
from rich.text import Text

from coterie.words.visible import visible


class SafeConsole(Console):
    """A console whose text, cells and titles included, is made visible before it is shown."""

    def render_str(self, text: str, **options: Any) -> Text:
        """Turn a string into what is printed: every string passes here."""
        return super().render_str(visible(text), **options)
