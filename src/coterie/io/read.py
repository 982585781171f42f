"""coterie.read: a file, a dataframe or triples -> Annotations."""

from __future__ import annotations

from collections.abc import Sequence
from os import PathLike
from typing import TYPE_CHECKING, Any

from coterie.arguments import checked
from coterie.data import Table, annotations_from, known_labels, table_from, truth_for
from coterie.data.annotations import Annotations
from coterie.errors import Argument, DataError
from coterie.files.paths import is_there
from coterie.io.exports.part import Part, parts_of
from coterie.io.exports.registry import TABLE
from coterie.io.exports.rows import annotations_of, named_by, not_known, rows_of, truth_in
from coterie.io.files import File
from coterie.io.reading import Reading, takes
from coterie.io.tables import stacked, table_of_file
from coterie.words.values import written
from coterie.words.visible import text_of

if TYPE_CHECKING:
    import pandas as pd


@checked
@takes(Reading)
def read(source: Any, reading: Reading) -> Annotations:
    """Read who said what about which item.

    Exports of annotation platforms and evaluations (Label Studio, Prodigy, Mechanical Turk,
    promptfoo and others, :doc:`/platforms/index`) are told from their content, before anything
    is guessed: what was submitted counts, what was skipped or rejected is left out and counted,
    references become gold. In plain tables columns are recognised by the names people use,
    whatever their case and signs: ``item``, ``task_id``, ``question``; ``annotator``,
    ``worker_id``, ``rater``; ``label``, ``answer``, ``rating``. What was taken is logged
    (logger ``coterie``, level INFO) and kept in ``Annotations.provenance``. When two
    columns fit equally well, name one.

    Parameters
    ----------
    source
        An export: a file, a folder, a zip, or a list of them, which are one data set. Or a table:
        a CSV or TSV file (also with ``;`` or ``|``, also ``.gz``; ``"-"`` is standard input), a
        Parquet, JSONL or Excel file, a dataframe (pandas, polars, pyarrow), triples ``(item,
        annotator, label)``, or a mapping item -> annotator -> label. Text files give strings
        exactly as written, a blank cell is missing; typed sources keep their types.
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
        ``"last"`` (keep one), or ``"keep"`` (count them all). In an export the platform's time
        says which is first, in a table the column ``time``.
    format
        The format of an export by its short name, if it is not to be told from the content;
        ``"table"`` reads a plain table.
    question
        Which question of an export to read; needed if there are several.
    option
        Which option of a multi-select to read, as yes or no; ``"sets"`` reads whole sets.
    keep
        What to count of what does not count by itself, in the platform's words: ``"rejected"``.
        ``"accepted"`` (Label Studio), ``"trusted"`` (CrowdFlower) and ``"parsed"`` (promptfoo)
        leave out what is not.
    anonymise
        Replace the annotators' ids by salted hashes, the same person the same id in this call.
    annotators
        ``"predictions"`` reads the models of a Label Studio export in place of its people,
        ``"suggestions"`` those of an Argilla export, ``"scorers"`` takes scorers of different names
        in an Inspect log for a panel,
        ``"all"`` a doccano project whose members share their labels as one annotator.
    order
        Whether a judge who saw a pair in both orders is two annotators (``"annotator"``) or one
        (``"ignore"``).
    threshold
        Where judges' scores are cut into verdicts.
    workflow
        Which workflow of a Zooniverse export to read.
    time
        The column of a table that says when a label was given, one row per label: numbers, or dates
        as ISO 8601 writes them; none may be missing. Kept in ``Annotations.times``, as are the
        times of an export in which every label has one.

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
    gold, time, options = reading.gold, reading.time, reading.of_export()
    plain: dict[str, Any] = {
        name: getattr(reading, name)
        for name in ("classes", "extra_answers", "duplicates", "anonymise")
    }
    wide = reading.annotator is not None and not isinstance(reading.annotator, str)
    if is_path(source) or _are_paths(source):
        parts = parts_of(source)
        rows = rows_of(parts, TABLE if wide else reading.format, options)
        if rows is not None:
            if time is not None:
                raise DataError(
                    [Argument("time"), " is a column of a table, and this is an export"],
                    remedy="leave it out: its own times are read if every label has one",
                )
            return annotations_of(named_by(rows, source), gold, plain, options)
        source = _only_table(parts, reading.question or reading.option)
    elif not isinstance(source, Annotations):
        source = table_from(source)
    if is_path(gold):
        gold = column_or_file(source, gold)
    columns = {name: getattr(reading, name) for name in ("item", "annotator", "label")}
    return annotations_from(source, **columns, gold=gold, time=time, **plain)


def _only_table(parts: Sequence[Part], question: str | None) -> Table:
    """See files that are no export as one table; there is no question in it."""
    called = parts[0].name + (f" and {len(parts) - 1:,} more" if len(parts) > 1 else "")
    if question is not None:
        raise not_known(called)
    tables = [table_of_file(part.file) for part in parts]
    return tables[0] if len(tables) == 1 else stacked(tables, called)


def read_truth(source: Any, annotations: Annotations | None = None) -> pd.Series[Any]:
    """Read labels to score a result with: a Series, item -> label.

    Parameters
    ----------
    source
        A file, frame, Series or mapping of items and labels; blank labels are left out. Of an
        export the references, else the labels on which all agree, are the truth.
    annotations
        The data to be scored: a text file's '7' is then the typed source's 7, for items and labels.

    Examples
    --------
    >>> read_truth({"q1": "yes", "q2": None}).to_dict()
    {'q1': 'yes'}
    """
    if is_path(source):
        told = truth_in(source, () if annotations is None else annotations.items.tolist())
        source = table_of_file(source) if told is None else told
    if annotations is None:
        return known_labels(source, "truth")
    return truth_for(annotations, source)


def is_path(source: Any) -> bool:
    """Tell a file from data."""
    return isinstance(source, (str, PathLike, File))


def _are_paths(source: Any) -> bool:
    return isinstance(source, (list, tuple)) and bool(source) and all(map(is_path, source))


def column_or_file(source: Table | Annotations, gold: str | PathLike[str] | File) -> str | Table:
    """Tell a column from a file: a column of that name wins."""
    if isinstance(gold, File):
        return table_of_file(gold)
    columns = ""
    if isinstance(source, Table):
        if isinstance(gold, str) and gold in source.columns:
            return gold
        columns = f"a column of {source.name} ({written(source.columns)}) nor "
    if gold == "-" or is_there(gold):
        return table_of_file(gold)
    neither = "neither " if columns else "not "
    raise DataError([Argument("gold", text_of(gold)), f" is {neither}{columns}a file"])
