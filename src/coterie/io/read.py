"""coterie.read: a file, a dataframe or triples -> Annotations."""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

from coterie.data import Table, annotations_from, known_labels, table_from, truth_for
from coterie.data.annotations import Annotations
from coterie.errors import Argument, DataError
from coterie.io.files import File
from coterie.io.tables import table_of_file
from coterie.words.values import written

if TYPE_CHECKING:
    import pandas as pd


def read(
    source: Any,
    item: Hashable | None = None,
    annotator: Hashable | Iterable[Hashable] | None = None,
    label: Hashable | None = None,
    gold: Any = None,
    classes: Iterable[Hashable] | None = None,
    extra_answers: Iterable[Hashable] | None = None,
    duplicates: str = "error",
) -> Annotations:
    """Read who said what about which item.

    Columns are recognised by the names people use, whatever their case and signs: ``item``,
    ``task_id``, ``question``, ``HITId``; ``annotator``, ``WorkerId``, ``rater``; ``label``,
    ``answer``, ``rating``. What was taken is logged (logger ``coterie``, level INFO) and kept in
    ``Annotations.provenance``. When two columns fit equally well, name one.

    Parameters
    ----------
    source
        A CSV or TSV file (also with ``;`` or ``|``, also ``.gz``; ``"-"`` is standard input), a
        Parquet or JSONL file, a dataframe (pandas, polars, pyarrow), triples ``(item, annotator,
        label)``, or a mapping item -> annotator -> label. Text files give strings exactly as
        written, a blank cell is missing; typed sources keep their types.
    item, annotator, label
        The names of the columns. In the wide form, one row per item and one column per annotator,
        ``annotator`` lists the annotators' columns; blank cells are labels that were not given.
        The wide form is also recognised by itself if all columns but the item's use the same words.
    gold
        Known labels, clamped in every fit: a column's name, or another file, frame, Series or
        mapping of items and labels. Blanks are unknown.
    classes
        The possible truths, in the order wanted; by default every label seen, in numeric order if
        all are numbers, else sorted. There must be two at least, so they are needed if only one
        label was ever given.
    extra_answers
        What may be said and is never true, such as "unsure".
    duplicates
        What an annotator's repeated label of one item means: ``"error"``, ``"first"`` or
        ``"last"`` (keep one), or ``"keep"`` (count them all).

    Raises
    ------
    DataError
        If the input is not what it should be; the sentence says where, and what to do. Rows of
        text files are counted as an editor does, the header being row 1; rows in memory from 0.

    Warns
    -----
    DataWarning
        If labels differ only by case or surrounding blanks, 1 and '1' are both there, all labels
        are the same, or there is a single annotator.

    Examples
    --------
    >>> triples = [("q1", "ann", "yes"), ("q1", "bob", "unsure"), ("q2", "ann", "no")]
    >>> read(triples, extra_answers=["unsure"])
    <Annotations: 2 items x 2 annotators, 3 labels, 2 classes, 1 extra answer, 25.0 % missing>

    >>> import pandas as pd
    >>> wide = pd.DataFrame({"task": [7, 8, 9], "ann": ["a", "b", "a"], "bob": ["a", None, "b"]})
    >>> crowd = read(wide, gold={8: "b"})
    >>> crowd.origin
    "the frame: item 'task', one column per annotator: 'ann', 'bob'"
    >>> crowd.gold
    {8: 'b'}
    """
    if not isinstance(source, Annotations):
        source = table_of_file(source) if _is_path(source) else table_from(source)
    if _is_path(gold):
        gold = _column_or_file(source, gold)
    return annotations_from(
        source,
        item=item,
        annotator=annotator,
        label=label,
        gold=gold,
        classes=classes,
        extra_answers=extra_answers,
        duplicates=duplicates,
    )


def read_truth(source: Any, annotations: Annotations | None = None) -> pd.Series[Any]:
    """Read labels to score a result with: a Series, item -> label.

    Parameters
    ----------
    source
        A file, frame, Series or mapping of items and labels; blank labels are left out.
    annotations
        The data to be scored: a text file's '7' is then the typed source's 7, for items and labels.

    Examples
    --------
    >>> read_truth({"q1": "yes", "q2": None}).to_dict()
    {'q1': 'yes'}
    """
    source = table_of_file(source) if _is_path(source) else source
    if annotations is None:
        return known_labels(source, "truth")
    return truth_for(annotations, source)


def _is_path(source: Any) -> bool:
    return isinstance(source, (str, PathLike, File))


def _column_or_file(source: Table | Annotations, gold: str | PathLike[str] | File) -> str | Table:
    """Tell a column from a file: a column of that name wins."""
    if isinstance(gold, File):
        return table_of_file(gold)
    columns = ""
    if isinstance(source, Table):
        if isinstance(gold, str) and gold in source.columns:
            return gold
        columns = f"a column of {source.name} ({written(source.columns)}) nor "
    if gold == "-" or Path(gold).expanduser().exists():
        return table_of_file(gold)
    neither = "neither " if columns else "not "
    raise DataError([Argument("gold", str(gold)), f" is {neither}{columns}a file"])
