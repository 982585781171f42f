"""The data sets as the user meets them: load one, describe all."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from typing import TYPE_CHECKING

from coterie.arguments import checked
from coterie.data.annotations import Annotations
from coterie.datasets.fetch import fetch
from coterie.datasets.registry import REGISTRY
from coterie.errors import DataError

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True, eq=False, repr=False)
class Dataset:
    """A real data set with the truth to score a result by.

    Parameters
    ----------
    annotations
        Who said what. They carry no gold.
    truth
        Item -> label, for the items whose truth is known.
    groups
        Annotator -> group, where groups are known.
    name, licence, citation
        What it is called, what its source states, and whom to cite.
    """

    annotations: Annotations
    truth: pd.Series
    _: KW_ONLY
    groups: pd.Series | None = None
    name: str
    licence: str
    citation: str

    def __repr__(self) -> str:
        return f"<Dataset {self.name}: {self.annotations.describe()}>"


@checked
def load(name: str) -> Dataset:
    """Load a real data set, downloading it when it is needed for the first time.

    The published files are fetched from their public addresses, checked against their sha256, and
    cached (in the folder ``COTERIE_CACHE``, if that is set). With ``COTERIE_DATA`` set to a folder
    that holds ``<name>/<file>`` there is no download. Ids and labels are text, as published, but
    for the annotators, who are numbered in the order in which they appear.

    Parameters
    ----------
    name
        One of the names that :func:`describe` lists.

    Examples
    --------
    >>> load("rte")  # doctest: +SKIP
    <Dataset rte: 800 items x 164 annotators, 8,000 labels, 2 classes, 93.9 % missing>
    >>> load("rtf")
    Traceback (most recent call last):
    coterie.errors.DataError: there is no data set 'rtf'; there are bluebird, rte, valence, temp
    """
    entry = REGISTRY.get(name)
    if entry is None:
        raise DataError(
            f"there is no data set {name!r}",
            argument="name",
            remedy=f"there are {', '.join(REGISTRY)}",
        )
    import pandas as pd

    from coterie.data import annotations_from

    texts = {file.name: fetch(name, file).read_text("utf-8") for file in entry.files}
    table = entry.parse(texts)
    numbers: dict[str, str] = {}  # in place of people's accounts
    triples = [
        (item, numbers.setdefault(annotator, f"a{len(numbers):04d}"), label)
        for item, annotator, label in table.labels
    ]
    annotations = annotations_from(triples, classes=entry.classes)
    known = [item for item in annotations.items.tolist() if item in table.truth]
    index = pd.Index(known, name="item")
    truth = pd.Series([table.truth[item] for item in known], index=index, name="label")
    return Dataset(annotations, truth, name=name, licence=entry.licence, citation=entry.citation)


def describe() -> pd.DataFrame:
    """List the data sets, without loading any.

    Returns
    -------
    DataFrame
        One row per data set: name, items, annotators, labels, classes, licence, citation, note.

    Examples
    --------
    >>> describe()[["name", "items", "annotators", "labels", "classes"]]
           name  items  annotators  labels  classes
    0  bluebird    108          39    4212        2
    1       rte    800         164    8000        2
    2   valence    100          38    1000        2
    3      temp    462          76    4620        2
    """
    import pandas as pd

    columns = ["items", "annotators", "labels", "classes", "licence", "citation", "note"]
    table = pd.DataFrame([vars(entry) for entry in REGISTRY.values()])[columns]
    table["classes"] = table["classes"].map(len)
    table.insert(0, "name", list(REGISTRY))
    return table
