"""The smallest inputs that ever broke coterie, one per case."""

import dataclasses
import json
import os
import shutil
import subprocess
import sys
from decimal import Decimal

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

import coterie
from coterie.cli.app import app
from fuzz.saved import CROWD, SHORT, saved
from fuzz.verdict import judge
from ladder.marks import rest_slow

pytestmark = pytest.mark.filterwarnings("default")

HEAD = "item,annotator,label\n"
TWO = '{"item":%s,"annotator":"a","label":%s}\n{"item":%s,"annotator":"b","label":%s}\n'
CELLS = [("q", "a", "x"), ("r", "b", "y")]
PEOPLE = ",".join(f"A{i:013d}" for i in range(10_000))
WIDE = f"item,{PEOPLE}\nq1{',x' * 10_000}\nq2{',y' * 10_000}\n"
ENDLESS = 10**5_000
FILES = {
    "commas only": ("a.csv", ",,\n"),
    "one quoted blank": ("a.csv", '""\n'),
    "a no-break space": ("a.csv", "\u00a0"),
    "a column nobody reads with a long cell": (
        "a.csv",
        HEAD[:-1] + ",text\nq1,a,x," + "n" * 140_000 + "\nq1,b,y,z\n",
    ),
    "a deep line": ("a.jsonl", '{"item":' + "[" * 100_000),
    "an integer of 5,000 digits": ("a.jsonl", '{"item":' + "9" * 5_000 + "}"),
    "10**400 beside 1.5": ("a.jsonl", TWO % (1, 10**400, 2, 1.5)),
    "a key of its own on every line": (
        "a.jsonl",
        "\n".join(json.dumps({f"k{i}": 1}) for i in range(10_000)),
    ),
    "an item and a key of its own on every line": (
        "a.jsonl",
        "\n".join(json.dumps({"item": i, f"k{i}": 1}) for i in range(10_000)),
    ),
}
CALLS = {
    "a path of 5,000 letters": lambda: coterie.read("a" * 5_000),
    "the text of a table": lambda: coterie.read(HEAD + "q1,ann,a\n" * 300),
    "a user who is not there": lambda: coterie.read("~nosuchuser/labels.csv"),
    "a NUL in a path": lambda: coterie.read("a\0b"),
    "classes=5": lambda: coterie.read([("q", "a", "x")], classes=5),
    "classes=[[1], [2]]": lambda: coterie.read([("q", "a", "x")], classes=[[1], [2]]),
    "complex labels": lambda: coterie.read([("q", "a", 1j), ("r", "a", 2j)]),
    "sparsity nan": lambda: coterie.simulate("mixed", sparsity=float("nan")),
    "items 10**12": lambda: coterie.simulate("mixed", items=10**12),
    "/dev/zero": lambda: coterie.read("/dev/zero"),
    "an array without a length": lambda: coterie.read(np.array(5)),
    "the annotators such an array": lambda: coterie.read(CELLS, annotator=np.array(5)),
    "a number of 5,000 digits": lambda: coterie.read(ENDLESS),
    "such a number and its like": lambda: coterie.read([((ENDLESS, 1), "a", "x"), (1, "b", "y")]),
    "a mapping of it": lambda: coterie.read({ENDLESS: 5}),
    "a column called so": lambda: coterie.read(pd.DataFrame(CELLS, columns=[ENDLESS, "b", "c"])),
    "a column called by a list": lambda: coterie.read(
        pd.DataFrame(CELLS, columns=pd.Index([[1], "b", "c"], tupleize_cols=False))
    ),
}
ODD = {
    "5,000 digits": ENDLESS,
    "a list of them": [ENDLESS],
    "NA": pd.NA,
    "void": np.void(b"abc"),
    "an array": np.arange(3),
}
ASKED = ("item", "annotator", "label", "duplicates", "time", "gold")


def refuse(case):
    """Run a case that must be refused in a plain sentence."""
    verdict = judge(case)
    assert (verdict.kind, verdict.finding) == ("refused", "")


def pass_or_refuse(case):
    verdict = judge(case)
    assert verdict.kind in ("result", "refused"), verdict
    assert verdict.finding == ""


@pytest.mark.parametrize("name", FILES)
def test_files(name, tmp_path):
    file, content = FILES[name]
    (tmp_path / file).write_text(content, "utf-8")
    pass_or_refuse(lambda: coterie.read(tmp_path / file))


@pytest.mark.parametrize("name", CALLS)
def test_calls(name):
    refuse(CALLS[name])


@pytest.mark.parametrize("argument", ASKED)
@pytest.mark.parametrize("name", ODD)
def test_arguments_that_can_hardly_be_written_or_compared(name, argument):
    if (name, argument) != ("NA", "gold"):
        frame = pd.DataFrame(CELLS, columns=["item", "annotator", "label"])
        refuse(lambda: coterie.read(frame, **{argument: ODD[name]}))


@pytest.mark.parametrize("beside", [1.5, True, "x"])
def test_a_signaling_nan_is_a_blank_label(beside):
    rows = [("q", "a", Decimal("sNaN")), ("q", "b", beside), ("r", "b", beside)]
    refuse(lambda: coterie.read(rows))


def test_a_long_path_on_the_command_line_is_shortened():
    found = CliRunner().invoke(app, ["aggregate", "p/" * 3_000])
    assert found.exit_code == 1
    assert len(found.stderr) < 400


def test_ten_thousand_annotators_side_by_side_work(tmp_path):
    (tmp_path / "wide.csv").write_text(WIDE, "utf-8")
    assert coterie.read(tmp_path / "wide.csv").n_annotators == 10_000


@pytest.mark.parametrize(
    "values",
    [["12e345", "67e890", "99e991"], ["0", "0.0", "1e99999999999999999999"], [0.0, -0.0, "x"]],
)
def test_the_order_of_rows_leaves_no_trace(values):
    rows = [(v, f"a{k}", "xy"[k % 2]) for k, v in enumerate(values)]
    one, other = coterie.read(rows), coterie.read(rows[::-1])
    assert list(map(repr, one.items)) == list(map(repr, other.items))


def parquet(path, **columns):
    import pyarrow as pa
    import pyarrow.parquet as pq

    pq.write_table(pa.table(columns), path)
    return path


def test_parquet_without_rows(tmp_path):
    import pyarrow as pa

    empty = pa.array([], pa.string())
    item = pa.array([], pa.decimal128(5, 2))
    path = parquet(tmp_path / "e.parquet", item=item, annotator=empty, label=empty)
    refuse(lambda: coterie.read(path))


@pytest.mark.parametrize("format", ["csv", "json", "parquet"])
def test_binary_ids_to_every_format(tmp_path, format):
    columns = {"item": [b"\xff", b"a"], "annotator": ["x", "y"], "label": ["a", "b"]}
    path = parquet(tmp_path / "b.parquet", **columns)
    words = ["aggregate", str(path), "--model", "majority", "--out", str(tmp_path / "out")]
    found = CliRunner().invoke(app, [*words, "--format", format])
    assert isinstance(found.exception, SystemExit | None), found.exception


@pytest.mark.parametrize("format", ["csv", "json", "parquet"])
@pytest.mark.parametrize(
    "content",
    [
        TWO % ('"\\ud800"', '"x"', '"q"', '"y"'),
        TWO % ('"a\\u0000b"', '"x"', '"q"', '"y"'),
        TWO % (1, '"x"', '"q"', '"y"'),
        TWO % (10**20, '"x"', 1, '"y"'),
    ],
    ids=["surrogate", "NUL", "two types", "10**20"],
)
def test_odd_ids_to_every_format(tmp_path, content, format):
    (tmp_path / "labels.jsonl").write_text(content, "utf-8")
    words = ["aggregate", str(tmp_path / "labels.jsonl"), "--model", "majority"]
    found = CliRunner().invoke(app, [*words, "--out", str(tmp_path / "out"), "--format", format])
    assert isinstance(found.exception, SystemExit | None), found.exception


def test_a_checkpoint_with_a_group_out_of_range(tmp_path):
    path = tmp_path / "k"
    options = {**SHORT, "sweeps": 400, "checkpoint": path}
    path.write_bytes(saved(lambda p: coterie.CBCC(**{**options, "checkpoint": p}).fit(CROWD)))
    arrays = dict(np.load(path))
    header = json.loads(bytes(arrays["header"]))
    header["chains"][0]["done"] = 100
    arrays["header"] = np.frombuffer(json.dumps(header).encode(), np.uint8)
    for name in ("used", "sums", "others", "kept/confusion_sum"):
        arrays[f"0/{name}"][:] = 0
    for name in arrays:
        if name.startswith(("0/trace/", "0/kept/")) and name != "0/kept/confusion_sum":
            arrays[name] = arrays[name][:0]
    arrays["0/state/group"][:] = 1_000_000
    with path.open("wb") as file:
        np.savez(file, **arrays)
    refuse(lambda: coterie.CBCC(**options).fit(CROWD))


def test_what_is_no_probability_is_neither_saved_nor_loaded(tmp_path):
    posterior = coterie.MajorityVote().fit([("q", "a", "x"), ("q", "b", "y")]).posterior_
    for wrong in ([np.nan, -3.0], [-0.5, 1.5], [0.5, 0.6], [np.inf, 0.0]):
        spoilt = dataclasses.replace(posterior, item_probability=np.array([wrong]))
        refuse(lambda spoilt=spoilt: spoilt.save(tmp_path / "run.coterie"))


@pytest.mark.parametrize(
    "prior",
    [
        {"strength": (5e-324, 1.0)},
        {"mean_strength": 5e-324},
        {"mean_strength": 1.7e308},
        {"strength": (1e-100, 1e100)},
        {"strength": (1e100, 1e-100)},
    ],
    ids=str,
)
def test_priors_at_the_edge_of_floats(prior):
    told = {n: coterie.Gamma(*v) if isinstance(v, tuple) else v for n, v in prior.items()}
    pass_or_refuse(lambda: coterie.HCBCC(prior=coterie.HCBCCPrior(**told), **SHORT).fit(CROWD))


NO_PLACE = """
import numba.core.caching as c
def no(self): raise OSError('read-only')
for k in vars(c).values():
    if isinstance(k, type) and issubclass(k, c._CacheLocator): k.ensure_cache_path = no
"""
VOTE = "aggregate small.csv -m majority"
COMMANDS = {
    "no place for numba's cache": (VOTE, NO_PLACE, {}),
    "a cp1252 pipe": (VOTE, "", {"PYTHONIOENCODING": "cp1252"}),
    "an ascii pipe": (VOTE, "", {"PYTHONIOENCODING": "ascii"}),
    "sparsity nan": ("simulate mixed --sparsity nan --out s", "", {}),
    "sweeps 10**10": (f"aggregate small.csv -m ibcc --sweeps {10**10} --burn-in 1", "", {}),
}


@pytest.mark.parametrize("name", rest_slow(COMMANDS, 2))
def test_commands(name, tmp_path):
    words, before, environment = COMMANDS[name]
    rows = "".join(f"q{i},a{j},{(i + j) % 3}\n" for i in range(9) for j in range(3))
    (tmp_path / "small.csv").write_text(HEAD + rows, "utf-8")
    start = f"import sys; sys.argv = ['coterie', *{words.split()!r}]\n{before}\n"
    done = subprocess.run(
        [sys.executable, "-c", f"{start}\nfrom coterie.cli import main; main()"],
        capture_output=True,
        encoding="utf-8",
        errors="replace",
        env={**os.environ, **environment},
        cwd=tmp_path,
    )
    assert "Traceback" not in done.stderr, done.stderr
    assert done.returncode in (0, 1), done.stderr
    assert "None:" not in done.stderr
    assert done.stderr.strip() != "Aborted."


def test_an_empty_out_is_an_error(tmp_path):
    found = CliRunner().invoke(app, ["simulate", "mixed", "--out", ""])
    assert found.exit_code == 2
    assert "empty" in found.stderr


def test_a_folder_that_may_not_be_entered(tmp_path):
    if shutil.which("true") is None or os.geteuid() == 0:
        pytest.skip("for users with limits")
    (tmp_path / "closed").mkdir(mode=0)
    refuse(lambda: coterie.read(tmp_path / "closed" / "labels.csv"))


def test_a_small_gz_of_one_endless_line(tmp_path):
    import gzip

    with gzip.open(tmp_path / "a.csv.gz", "wb", compresslevel=1) as file:
        file.write(HEAD.encode())
        for _ in range(200):
            file.write(b"x" * (1 << 20))
    refuse(lambda: coterie.read(tmp_path / "a.csv.gz"))


@pytest.mark.parametrize("damage", ["endless rows", "a large member"])
def test_a_small_sheet_that_would_become_a_large_one(tmp_path, damage, monkeypatch):
    import zipfile

    openpyxl = pytest.importorskip("openpyxl")
    book = openpyxl.Workbook()
    for row in (["item", "annotator", "label"], ["q1", "a", "x"], ["q1", "b", "y"]):
        book.active.append(row)
    book.save(tmp_path / "good.xlsx")
    assert coterie.read(tmp_path / "good.xlsx").n_items == 1
    monkeypatch.setattr("coterie.io.tables.MOST_ROWS", 100)
    monkeypatch.setattr("coterie.io.tables.MOST_BYTES", 1 << 20)
    row = b'<row r="1"><c r="A1"><v>1</v></c></row>'
    with (
        zipfile.ZipFile(tmp_path / "good.xlsx") as good,
        zipfile.ZipFile(tmp_path / "bad.xlsx", "w", zipfile.ZIP_DEFLATED) as bad,
    ):
        for name in good.namelist():
            content = good.read(name)
            if damage == "endless rows" and name.endswith("sheet1.xml"):
                content = content.replace(b"<sheetData>", b"<sheetData>" + row * 200)
            bad.writestr(name, content)
        if damage == "a large member":
            bad.writestr("xl/large.bin", bytes(1 << 20))
    refuse(lambda: coterie.read(tmp_path / "bad.xlsx"))
