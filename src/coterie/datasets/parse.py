"""How each published format becomes triples (item, annotator, label) and a truth."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple

from coterie.errors import DataError


class Table(NamedTuple):
    """The content of a data set, with the annotators' ids still as published."""

    labels: list[tuple[str, str, str]]  # (item, annotator, label)
    truth: dict[str, str]  # item -> label


def bluebird(texts: Mapping[str, str]) -> Table:
    r"""Parse ``labels.yaml`` (annotator -> image -> true or false) and ``gt.yaml``.

    Examples
    --------
    >>> bluebird({"labels.yaml": "7: {1: true,\n  2: false}", "gt.yaml": "{1: true, 2: true}"})
    Table(labels=[('1', '7', '1'), ('2', '7', '0')], truth={'1': '1', '2': '1'})
    """
    labels = [
        (image, annotator, label)
        for annotator, image, label in _yaml_pairs(texts["labels.yaml"], "labels.yaml")
    ]
    truth = [(image, label) for _, image, label in _yaml_pairs(texts["gt.yaml"], "gt.yaml")]
    return Table(labels, _truth(truth, "gt.yaml"))


def snow(texts: Mapping[str, str]) -> Table:
    r"""Parse the one ``*.standardized.tsv`` of Snow et al. (2008): one label per row, with gold.

    Examples
    --------
    >>> snow({"x.tsv": "!amt_worker_ids\torig_id\tresponse\tgold\nA1\t42_0\t2\t1\n"})
    Table(labels=[('42_0', 'A1', '2')], truth={'42_0': '1'})
    """
    ((name, text),) = texts.items()
    rows = list(_rows(text, name, "\t", ("orig_id", "!amt_worker_ids", "response", "gold")))
    labels = [(item, annotator, label) for item, annotator, label, _ in rows]
    return Table(labels, _truth(((item, gold) for item, _, _, gold in rows), name))


def valence(texts: Mapping[str, str]) -> Table:
    r"""Parse ``answer.csv`` and ``truth.csv``: the sign of the scores of questions 601 to 700.

    The other questions ask for other emotions. A score of 0 counts as positive.

    Examples
    --------
    >>> answers = "question,worker,answer\n600,A1,5\n601,A1,-0\n601,A2,-5\n"
    >>> valence({"answer.csv": answers, "truth.csv": "question,truth\n601,3\n"})
    Table(labels=[('601', 'A1', '1'), ('601', 'A2', '0')], truth={'601': '1'})
    """
    answers = _rows(texts["answer.csv"], "answer.csv", ",", ("question", "worker", "answer"))
    truths = _rows(texts["truth.csv"], "truth.csv", ",", ("question", "truth"))
    labels = [
        (question, worker, _sign(score))
        for question, worker, score in answers
        if 601 <= int(question) <= 700
    ]
    truth = [(question, _sign(score)) for question, score in truths if 601 <= int(question) <= 700]
    return Table(labels, _truth(truth, "truth.csv"))


def _sign(score: str) -> str:
    return "1" if float(score) >= 0 else "0"


def _rows(text: str, name: str, delimiter: str, columns: tuple[str, ...]) -> Iterator[list[str]]:
    """Yield the wanted columns of a delimited text, row by row."""
    reader = csv.DictReader(io.StringIO(text), delimiter=delimiter, strict=True)
    header = reader.fieldnames or []
    if not set(columns) <= set(header):
        raise DataError(f"{name} should have the columns {list(columns)}, it has {list(header)}")
    for row in reader:
        if None in row or None in row.values():
            raise DataError(f"line {reader.line_num} of {name} should have {len(header)} fields")
        yield [row[column] for column in columns]


def _truth(pairs: Iterable[tuple[str, str]], name: str) -> dict[str, str]:
    """Collect item -> label; the same label may be said many times, two labels may not."""
    truth: dict[str, str] = {}
    for item, label in pairs:
        if truth.setdefault(item, label) != label:
            raise DataError(f"{name} has two truths for item {item!r}: {truth[item]!r}, {label!r}")
    return truth


# The two YAML files are a flow map, or a block map of flow maps, from numbers to booleans. That
# much is read here, strictly, rather than with a YAML library that nothing else needs.
_MAP = re.compile(r"\s*(?:([0-9]+):\s*)?\{([^{}]*)\}\s*")
_PAIR = re.compile(r"\s*([0-9]+):\s*(true|false)\s*")


def _yaml_pairs(text: str, name: str) -> Iterator[tuple[str, str, str]]:
    """Yield (outer key or "", inner key, "1" for true or "0" for false)."""
    position = 0
    while position < len(text):
        outer = _MAP.match(text, position)
        if outer is None:
            raise _unexpected(text, position, name)
        start = outer.start(2)
        for part in outer[2].split(","):
            inner = _PAIR.fullmatch(part)
            if inner is None:
                raise _unexpected(text, start, name)
            yield outer[1] or "", inner[1], "1" if inner[2] == "true" else "0"
            start += len(part) + 1
        position = outer.end()


def _unexpected(text: str, position: int, name: str) -> DataError:
    position += len(text[position:]) - len(text[position:].lstrip())
    line = text.count("\n", 0, position) + 1
    found = text[position : position + 30].split("\n")[0]
    return DataError(
        f"line {line} of {name} should hold pairs such as '123: true' in braces, found {found!r}"
    )
