"""Sentences that a newcomer can read: "one row per item", never "one row a item"."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PLACES = ("src", "docs", "tests", "benchmarks", "README.md", "CONTRIBUTING.md")
FILES = [
    path
    for place in PLACES
    for path in ([ROOT / place] if place.endswith(".md") else sorted((ROOT / place).rglob("*")))
    if path.suffix in (".py", ".md", ".html")
    if path != Path(__file__) and "_build" not in path.parts
]
THINGS = (
    "rows? columns? lines? number files? entry bytes codes? names? threads? seconds draws? many"
    " once characters databases sweeps"
)
EACH = (
    "item annotator label class coterie cluster chain draw sweep row column core model pixel cell"
    " level second"
)
HOW_MANY = "|".join([*THINGS.split(), "one", "labels"])
FOR_PER = re.compile(rf"\b({HOW_MANY}) an? ({'|'.join(EACH.split())})\b(?! twice)")


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(ROOT)))
def test_what_there_is_of_each_is_said_with_per(path):
    text = path.read_text("utf-8")
    assert [match[0] for match in FOR_PER.finditer(text)] == []
