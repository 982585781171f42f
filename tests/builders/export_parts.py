"""What small exports are made of: items, people who do not all agree, ways to write them."""

from __future__ import annotations

import json
from dataclasses import dataclass, field


@dataclass(frozen=True)
class Sample:
    """A file of a platform, how to read it, and what must be found."""

    format: str
    name: str
    content: bytes
    found: tuple[int, int, int]  # items, annotators, labels
    options: dict = field(default_factory=dict)
    left_out: dict = field(default_factory=dict)
    known: int = 0


def lines(records):
    return "\n".join(json.dumps(record) for record in records).encode()


def listed(records):
    return json.dumps(records, indent=1).encode()


def table(header, rows, mark=","):
    return "\n".join(mark.join(map(str, row)) for row in [header, *rows]).encode()


ITEMS, PEOPLE = range(1, 7), ("ann", "bob", "cat")


def says(item, person, words=("yes", "no")):
    """Give an answer on which not all agree."""
    return words[(item * (2 + PEOPLE.index(person)) // 3) % len(words)]


PAIRS = [(item, person) for item in ITEMS for person in PEOPLE]


def written(folder, name, content):
    """Put a file into a folder, and folders around it."""
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)
    return path


def shape(rows):
    """Count items, annotators and labels of an export."""
    frame = rows.frame()
    return frame["item"].nunique(), frame["annotator"].nunique(), len(frame)
