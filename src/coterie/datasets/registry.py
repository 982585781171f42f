"""Which data sets there are, where they were published, and how their formats are read."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
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


@dataclass(frozen=True)
class File:
    """One published file: its name, its address, and the checksum of its bytes."""

    name: str
    url: str
    sha256: str


@dataclass(frozen=True)
class Entry:
    """One data set. A new one is a new entry of :data:`REGISTRY`."""

    files: tuple[File, ...]
    parse: Callable[[Mapping[str, str]], Table]  # the files' texts by name -> labels and truth
    items: int
    annotators: int
    labels: int
    classes: tuple[str, ...]  # the possible truths, in order
    licence: str  # what the source states
    citation: str
    note: str  # what was asked, and what the classes mean


def _files(repository: str, commit: str, *paths_and_sha256: str) -> tuple[File, ...]:
    """Give files of a public repository as they were at one commit."""
    address = f"https://raw.githubusercontent.com/{repository}/{commit}"
    pairs = zip(paths_and_sha256[::2], paths_and_sha256[1::2], strict=True)
    return tuple(File(path.rpartition("/")[2], f"{address}/{path}", sha) for path, sha in pairs)


_CUBAM = ("welinder/cubam", "fe5ba700f1adbb489c69af311558d64370d73d36")
_OOD = ("copenlu/aggregating-crowd-annotations-ood", "eecaa50a32e11f205f40a0961b5f286e3e33f110")
_TRUTH_INFER = ("zhydhkcws/crowd_truth_infer", "8d216471071f09b9e474ee19f8d692447f982f88")
_CROWD_DATASETS = ("pmaglione/crowd-datasets", "3efbceb525a13685355fd3d306b7ce1453302eb9")

_NO_LICENCE = "none stated (public release of Snow et al., 2008)"
_SNOW = (
    "Snow, R., O'Connor, B., Jurafsky, D. and Ng, A. Y. (2008). Cheap and fast - but is it good? "
    "Evaluating non-expert annotations for natural language tasks. EMNLP, 254-263."
)

REGISTRY: dict[str, Entry] = {
    "bluebird": Entry(
        files=_files(
            *_CUBAM,
            "demo/bluebirds/labels.yaml",
            "8b1b28e4b869b19bb03beac476c7073149cef784f9524ebe17380a1292a6126c",
            "demo/bluebirds/gt.yaml",
            "c9eb769c845ca99495a07b5c28c4290c78436fd8eac65c0747736c4ef8126340",
        ),
        parse=bluebird,
        items=108,
        annotators=39,
        labels=4212,
        classes=("0", "1"),
        licence="Clear BSD",
        citation=(
            "Welinder, P., Branson, S., Belongie, S. and Perona, P. (2010). The multidimensional "
            "wisdom of crowds. NIPS 23."
        ),
        note="Indigo Bunting or Blue Grosbeak in the image? 1 is true in the source, 0 false.",
    ),
    "rte": Entry(
        files=_files(
            *_OOD,
            "data/RTE/rte.standardized.tsv",
            "3187c5de59b9b9c596d490d25b5f5f108090a35cbdd10e81f21e6d1939d6ba79",
        ),
        parse=snow,
        items=800,
        annotators=164,
        labels=8000,
        classes=("0", "1"),
        licence=_NO_LICENCE,
        citation=_SNOW,
        note="Can the second sentence be inferred from the first? 1 yes, 0 no.",
    ),
    "valence": Entry(
        files=_files(
            *_TRUTH_INFER,
            "datasets/f201_Emotion_FULL/answer.csv",
            "8a33684760a7fc51980ddc2d19d157f9d0197bcc3611cc4a2c8cdb65fdaf1d1b",
            "datasets/f201_Emotion_FULL/truth.csv",
            "0fdfa983818a3524ba572c7eb7a3fd6b314844105ae9449b630425faa3176be4",
        ),
        parse=valence,
        items=100,
        annotators=38,
        labels=1000,
        classes=("0", "1"),
        licence=_NO_LICENCE,
        citation=(
            f"{_SNOW} Gold: Strapparava, C. and Mihalcea, R. (2007). SemEval-2007 task 14: "
            "Affective text. SemEval, 70-74."
        ),
        note="Is the emotion of a headline positive (1: score of 0 or more) or negative (0)?",
    ),
    "temp": Entry(
        files=_files(
            *_CROWD_DATASETS,
            "TEMP/temp.standardized.tsv",
            "7f74de9f36a0d3dfdc1f51e6433526abfc788c616d0c2d04a96206780ac74860",
        ),
        parse=snow,
        items=462,
        annotators=76,
        labels=4620,
        classes=("1", "2"),
        licence=_NO_LICENCE,
        citation=_SNOW,
        note="Does the event of the first verb come before (1) or after (2) that of the second?",
    ),
}
