"""Tables as files: what a spreadsheet would run is made harmless, everything else is kept."""

import re
import subprocess
import sys
from pathlib import Path

import openpyxl
import pandas as pd
import pytest

from coterie.io.write import FORMATS, table_writer

FORMULAS = [
    "|cmd",
    '=HYPERLINK("http://example.org","click")',
    "=1+1",
    " =1+1",
    "\t=1+1",
    "@SUM(A1:A9)",
    "+cmd|' /C calc'!A0",
    "-2+3+cmd|' /C calc'!A0",
    "+A1+B1",
    "-A1",
    "@A1",
    "@ann",
    "-5-5",
    "\N{FULLWIDTH EQUALS SIGN}1+1",
]
HARMLESS = ["-5", "+1.5", "a=b", "ann (expert)", "", "-", "'=quoted'"]


@pytest.mark.parametrize("column", ["item", "label"])
def test_formulas_get_an_apostrophe_in_csv(tmp_path, column):
    table = pd.DataFrame({column: [*FORMULAS, *HARMLESS], "n": range(21)})
    before = table.copy()
    table_writer(table, "csv")(tmp_path / "table.csv")
    found = pd.read_csv(tmp_path / "table.csv", dtype=str, keep_default_na=False)[column]
    assert found.tolist() == [*("'" + text for text in FORMULAS), *HARMLESS]
    pd.testing.assert_frame_equal(table, before)


def test_other_formats_keep_the_text(tmp_path):
    table = pd.DataFrame({"item": FORMULAS})
    table_writer(table, "json")(tmp_path / "table.json")
    assert pd.read_json(tmp_path / "table.json")["item"].tolist() == FORMULAS


def test_a_sheet_runs_no_formula_and_holds_no_control_character(tmp_path):
    table = pd.DataFrame({"item": [*FORMULAS, "bell\a", "x" * 40_000], "p": 0.5})
    table_writer(table, "xlsx")(tmp_path / "table.xlsx")
    sheet = openpyxl.load_workbook(tmp_path / "table.xlsx").active
    cells = [cell for (cell,) in sheet.iter_rows(min_row=2, max_col=1)]
    assert {cell.data_type for cell in cells} == {"s"}
    assert not any(re.match(r"\s*[=@+-]", cell.value) for cell in cells)
    assert cells[-2].value == r"bell\x07"
    assert len(cells[-1].value) <= 32_767


def test_numbers_and_mixed_ids_are_left_alone(tmp_path):
    table = pd.DataFrame({"item": pd.Series([-5, "-5", ("a", 1)], dtype=object), "p": [-1.5] * 3})
    table_writer(table, "csv")(tmp_path / "table.csv")
    assert (tmp_path / "table.csv").read_text("utf-8").splitlines() == [
        "item,p",
        "-5,-1.5",
        "-5,-1.5",
        "\"('a', 1)\",-1.5",
    ]


def test_a_carriage_return_ends_no_line(tmp_path):
    names = ["evil\r=HYPERLINK(1)", "\r=1+1", "two\r\nlines"]
    table_writer(pd.DataFrame({"item": names, "n": range(3)}), "csv")(tmp_path / "table.csv")
    found = pd.read_csv(tmp_path / "table.csv", lineterminator="\n")["item"].tolist()
    assert found == [names[0], "'" + names[1], names[2]]
    text = (tmp_path / "table.csv").read_bytes().decode()
    assert '"evil\r=HYPERLINK(1)",0' in text


def test_headers_of_a_sheet_show_what_a_sheet_cannot_hold(tmp_path):
    names = ["p(\x1b[31mred)", r"p(\x1b[31mred)", "=1+1\x07", "n" * 40_000]
    table = pd.DataFrame([[0.1, 0.2, 0.3, 0.4]], columns=names)
    table_writer(table, "xlsx")(tmp_path / "t.xlsx")
    header = [cell.value for cell in openpyxl.load_workbook(tmp_path / "t.xlsx").active[1]]
    assert header[:3] == [r"p(\x1b[31mred)", r"p(\x1b[31mred)", r"'=1+1\x07"]
    assert len(header[3]) == 32_767


def test_a_sheet_has_a_header_that_stays_filters_and_short_numbers(tmp_path):
    openpyxl = pytest.importorskip("openpyxl")
    table = pd.DataFrame({"item": ["a" * 30, "b"], "probability": [1 / 3, 2 / 3], "n": [1, 2]})
    table_writer(table, "xlsx")(tmp_path / "t.xlsx")
    page = openpyxl.load_workbook(tmp_path / "t.xlsx").active
    assert (page.freeze_panes, page.auto_filter.ref) == ("A2", "A1:C3")
    assert page["B2"].number_format == "0.000"
    assert page["B2"].value == pytest.approx(1 / 3)
    assert page.column_dimensions["A"].width == 32


FULL = """
import pandas as pd
from pathlib import Path
from coterie.io.write import table_writer
table = pd.DataFrame({"item": [f"q{i * 7919 % 10007}" for i in range(5000)]})
try:
    table_writer(table, FORMAT)(Path("/dev/full"))
except OSError as error:
    print("heard of")
"""


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no device that is always full")
@pytest.mark.parametrize("format", FORMATS)
def test_a_disk_that_is_full_is_heard_of_once(format):
    program = FULL.replace("FORMAT", repr(format))
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert (done.stdout, done.stderr) == ("heard of\n", "")
