"""A table of text, the same on a terminal, in Markdown and on a page."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from coterie.words.visible import visible


class Table(NamedTuple):
    """A table of text; columns go to the right, but for those in ``left``."""

    title: str
    header: Sequence[str]
    rows: Sequence[Sequence[str]]
    left: tuple[int, ...] = (0,)

    def without(self, name: str) -> Table:
        """Give the table without a column."""
        gone = self.header.index(name)
        header, *rows = ([*row[:gone], *row[gone + 1 :]] for row in (self.header, *self.rows))
        left = tuple(k - (k > gone) for k in self.left if k != gone)
        return Table(self.title, header, rows, left)

    def markdown(self) -> str:
        """Write the table in Markdown, without its title."""
        rule = ["---" if k in self.left else "--:" for k in range(len(self.header))]
        rows = ([escape(cell) for cell in row] for row in self.rows)
        lines = [[escape(cell) for cell in self.header], rule, *rows]
        return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def escape(text: str) -> str:
    r"""Keep what Markdown or HTML would take for itself, on one line.

    Examples
    --------
    >>> print(escape("a|b <c> d_e"))
    a\|b &lt;c&gt; d\_e
    """
    text = visible(" ".join(text.split()))
    for sign in "\\`*_[]|$":
        text = text.replace(sign, "\\" + sign)
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def listing(pairs: Iterable[tuple[str, str]]) -> str:
    """Write names and what they mean as a list in Markdown."""
    return "\n".join(f"- **{name}**: {escape(text)}" for name, text in pairs)
