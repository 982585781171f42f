"""Which data sets there are, where they were published, and what they are like."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from coterie.datasets.parse import Table, bluebird, snow, valence


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
