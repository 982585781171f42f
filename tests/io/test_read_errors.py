"""Files that cannot be read: one sentence says where, and what to do."""

import gzip

import pytest

import coterie
from coterie.errors import DataError

HEAD = "item,annotator,label\n"
ROWS = "q1,ann,yes\nq1,bob,no\nq2,ann,no\n"
ROW = "(the header is row 1)"

BAD = {
    "empty": (
        "a.csv",
        "",
        "a.csv is empty; expected a header with columns for item, annotator and label, "
        "then one row per label",
    ),
    "blank": (
        "a.csv",
        " \n\n",
        "a.csv is empty; expected a header with columns for item, annotator and label, "
        "then one row per label",
    ),
    "header only": (
        "a.csv",
        HEAD,
        "a.csv has no rows, only the columns 'item', 'annotator', 'label'; "
        "expected one row per label",
    ),
    "blank annotator": (
        "a.csv",
        HEAD + "\n" + ROWS + "q3,,yes\n",
        f"row 6 of a.csv {ROW} has a blank annotator; fill it in, or remove the row",
    ),
    "blank item": (
        "a.csv",
        HEAD + " ,ann,yes\n" + ROWS + "\t,bob,no\n",
        f"rows 2 and 6 of a.csv {ROW} have a blank item; fill them in, or remove the rows",
    ),
    "blank labels": (
        "a.csv",
        HEAD + '"q\n0",ann,yes\n' + "q3,ann,\n" * 9,
        f"rows 4, 5 and 6 of a.csv {ROW}, and 6 more, have a blank label; "
        "fill them in, or remove the rows",
    ),
    "too many fields": (
        "a.csv",
        HEAD + ROWS + "q3,ann,yes,no\n",
        f"row 5 of a.csv {ROW} has 4 fields, the header has 3; "
        "put a field that contains ',' in quotes",
    ),
    "too few fields": (
        "a.tsv",
        (HEAD + ROWS + "q3,ann\n").replace(",", "\t"),
        f"row 5 of a.tsv {ROW} has 2 fields, the header has 3; fill in the missing field",
    ),
    "too few after a field of two lines": (
        "a.csv",
        HEAD + '"q\n0",ann,yes\nq3,ann\n',
        f"row 4 of a.csv {ROW} has 2 fields, the header has 3; fill in the missing field",
    ),
    "ragged far below": (
        "a.csv",
        HEAD + "q1,ann,yes\n" * 2500 + "q3,ann\n",
        f"row 2502 of a.csv {ROW} has 2 fields, the header has 3; fill in the missing field",
    ),
    "one column": (
        "a.csv",
        "item annotator label\nq1 ann yes\n",
        "a.csv has a single column, 'item annotator label'; expected columns separated by "
        "a comma, a semicolon, a tab or '|'",
    ),
    "two columns fit": (
        "a.csv",
        "item,annotator,label,answer\nq1,ann,yes,no\n",
        "2 columns of a.csv fit the label equally well, 'label' and 'answer'; "
        "pass label='label' or label='answer'",
    ),
    "header twice": (
        "a.csv",
        "item,annotator,label,label\nq1,ann,yes,no\n",
        "a.csv has 2 columns called 'label'; rename one",
    ),
    "latin-1": (
        "a.csv",
        (HEAD + ROWS + "q3,ann,oé\n").encode("latin-1"),
        "a.csv is not UTF-8: byte 0xe9 at position 60, in row 5; save it as UTF-8, or load it "
        "with pandas.read_csv(..., dtype=str, encoding=...) and pass the frame",
    ),
    "latin-1 beyond the first megabyte": (
        "a.csv",
        (HEAD + "q1,ann,yes\n" * 100_000 + "q3,ann,oé\n").encode("latin-1"),
        "a.csv is not UTF-8: byte 0xe9 at position 1,100,029, in row 100002; save it as UTF-8, "
        "or load it with pandas.read_csv(..., dtype=str, encoding=...) and pass the frame",
    ),
    "cut within a character": (
        "a.csv",
        (HEAD + ROWS + "q3,ann,oé").encode()[:-1],
        "a.csv is not UTF-8: byte 0xc3 at position 60, in row 5; save it as UTF-8, or load it "
        "with pandas.read_csv(..., dtype=str, encoding=...) and pass the frame",
    ),
    "binary": (
        "a.csv",
        b"\x00\x01\x02,\xff" * 99,
        "a.csv is not text, it holds NUL bytes; expected CSV, TSV, a JSON list, JSONL, Parquet or "
        "Excel",
    ),
    "high bytes": (
        "a.csv",
        bytes(range(128, 256)),
        "a.csv is not UTF-8: byte 0x80 at position 0, in row 1; save it as UTF-8, or load it "
        "with pandas.read_csv(..., dtype=str, encoding=...) and pass the frame",
    ),
    "utf-16 without its mark": (
        "a.csv",
        (HEAD + ROWS).encode("utf-16-le"),
        "a.csv is UTF-16; save it as UTF-8",
    ),
    "utf-16 cut short": (
        "a.csv",
        (HEAD + ROWS).encode("utf-16")[:-1],
        "a.csv is UTF-16, damaged or cut short; save it as UTF-8",
    ),
    "excel": (
        "a.xlsx",
        b"PK\x03\x04...",
        "a.xlsx is a zip that cannot be read: File is not a zip file; unpack it, and name the "
        "folder",
    ),
    "json": (
        "a.json",
        '{"item": 1}',
        "a.json is not CSV, TSV, a JSON list, JSONL, Parquet or Excel; load it with pandas and "
        "pass the frame",
    ),
    "parquet in name only": (
        "a.parquet",
        HEAD + ROWS,
        "a.parquet is not a Parquet file: it does not begin with PAR1",
    ),
    "quote inside": (
        "a.csv",
        HEAD + ROWS + 'q3,"an"n,yes\n',
        f"row 5 of a.csv {ROW} is badly quoted (',' expected after '\"'); "
        'double every " inside a quoted field and close each quote',
    ),
    "quote not closed": (
        "a.csv",
        HEAD + 'q0,"ann,yes\n' + ROWS,
        f"row 2 of a.csv {ROW} is badly quoted (unexpected end of data); "
        'double every " inside a quoted field and close each quote',
    ),
    "cut short": (
        "a.csv.gz",
        gzip.compress((HEAD + ROWS).encode())[:-12],
        "a.csv.gz cannot be read: Compressed file ended before the end-of-stream marker was "
        "reached",
    ),
    "not json": (
        "a.jsonl",
        '{"item": 1}\n\n{item\n',
        "row 3 of a.jsonl (the first is row 1) is not JSON: Expecting property name enclosed in "
        "double quotes: line 1 column 2 (char 1); expected one object per line",
    ),
    "no object": (
        "a.jsonl",
        "[1, 2, 3]\n",
        "row 1 of a.jsonl (the first is row 1) is not an object; "
        'expected {"item": ..., "label": ...}',
    ),
    "a key missing": (
        "a.jsonl",
        '{"item": 1, "annotator": 1, "label": 1}\n\n{"item": 1, "annotator": 2}\n',
        "row 3 of a.jsonl (the first is row 1) has a blank label; fill it in, or remove the row",
    ),
    "json of latin-1": (
        "a.jsonl",
        '{"item": "é"}\n'.encode("latin-1"),
        "a.jsonl is not UTF-8: byte 0xe9 at position 10, in row 1; save it as UTF-8, or load it "
        "with pandas.read_csv(..., dtype=str, encoding=...) and pass the frame",
    ),
}


def refused(*args, **kwargs) -> str:
    with pytest.raises(DataError) as caught:
        coterie.read(*args, **kwargs)
    return str(caught.value)


def written(folder, name, content):
    path = folder / name
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


@pytest.mark.parametrize("kind", BAD)
def test_one_sentence_says_it(tmp_path, kind):
    name, content, sentence = BAD[kind]
    assert refused(written(tmp_path, name, content)) == sentence


def test_no_such_file():
    assert refused("nowhere/labels.csv") == "there is no file nowhere/labels.csv; check the path"


def test_a_folder(tmp_path):
    assert refused(tmp_path) == f"the folder {tmp_path} holds no file that could be an export"


def test_damaged_parquet(tmp_path):
    path = written(tmp_path, "a.parquet", b"PAR1 and then nothing that makes sense")
    assert refused(path).startswith("a.parquet is a damaged Parquet file: ")


def test_a_file_that_may_not_be_read(tmp_path, monkeypatch):
    path = written(tmp_path, "a.csv", HEAD + ROWS)

    def denied(*args, **kwargs):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(type(path), "open", denied)
    assert refused(path) == f"{path} cannot be read: Permission denied"


def test_a_column_asked_for_and_not_there(tmp_path):
    path = written(tmp_path, "a.csv", HEAD + ROWS)
    assert refused(path, annotator="worker") == (
        "a.csv has no column 'worker', which annotator= asks for; "
        "its columns are 'item', 'annotator', 'label'"
    )


def test_a_label_outside_the_classes_is_named_with_its_row(tmp_path):
    path = written(tmp_path, "a.csv", HEAD + ROWS + "q2,bob,Maybe\n")
    assert refused(path, classes=["no", "yes"]) == (
        f"label 'Maybe' in row 5 of a.csv {ROW} is not one of classes=['no', 'yes']; correct it, "
        "or add it to classes= if it can be the truth, to extra_answers= if it never is"
    )


def test_repeated_rows_are_named(tmp_path):
    path = written(tmp_path, "a.csv", HEAD + ROWS + "q1,ann,no\n" * 5)
    assert refused(path) == (
        f"rows 5, 6 and 7 of a.csv {ROW}, and 2 more, repeat the item and annotator of an earlier "
        "label (5 in all, none of which says the same; first item 'q1', annotator 'ann'); pass "
        "duplicates='first' or duplicates='last' to keep one label of each, or duplicates='keep' "
        "to count them all"
    )


def test_gold_that_is_neither_column_nor_file(tmp_path):
    path = written(tmp_path, "a.csv", HEAD + ROWS)
    assert refused(path, gold="gold.csv") == (
        "gold='gold.csv' is neither a column of a.csv ('item', 'annotator', 'label') nor a file"
    )
    assert refused(coterie.read(path), gold="gold.csv") == "gold='gold.csv' is not a file"


def test_gold_file_with_an_unknown_item_or_label(tmp_path):
    path = written(tmp_path, "a.csv", HEAD + ROWS)
    gold = written(tmp_path, "gold.csv", "item,label\nq9,no\n")
    assert refused(path, gold=gold) == (
        "item 'q9' of gold.csv is not among the items labelled; "
        "remove it, or write the ids as in the labels"
    )
    gold = written(tmp_path, "gold.csv", "item,label\nq1,maybe\n")
    assert refused(path, gold=gold) == (
        "the label 'maybe' of item 'q1' in gold.csv is not one of the classes ['no', 'yes']; "
        "correct it, or pass classes= with every possible truth"
    )


def test_true_and_1_of_a_jsonl_file_are_never_one_label(tmp_path):
    rows = [(1, "a", "true"), (1, "b", "1"), (2, "a", "0")]
    text = "".join(f'{{"item": {i}, "annotator": "{l}", "label": {c}}}\n' for i, l, c in rows)
    assert refused(written(tmp_path, "a.jsonl", text)) == (
        "the column 'label' of a.jsonl holds True and 1, a boolean and a number that Python takes "
        "for equal; write them as one type, or as text"
    )
    words = HEAD + "".join(f"{i},{l},{c}\n" for i, l, c in rows)
    found = coterie.read(written(tmp_path, "a.csv", words)).classes
    assert found.tolist() == ["0", "1", "true"]
