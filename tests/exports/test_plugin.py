"""A package of somebody else's brings a format by an entry point."""

import json
import subprocess
import sys

import pytest

CODE = """
from coterie.io.exports import ExportFormat, Submission

def recognise(part):
    return "hand_in" in part.first

def read(parts, options):
    for part in parts:
        for record in part.records():
            yield Submission(record["hand_in"], record["by"], {"grade": record["grade"]})

FORMAT = ExportFormat("School", recognise, read)
"""
USE = """
import coterie
annotations = coterie.read("grades.json")
print(annotations.describe(), "|", annotations.origin)
"""


GRADES = [
    {"hand_in": item, "by": who, "grade": grade}
    for item, who, grade in [(1, "a", "pass"), (1, "b", "fail"), (2, "a", "pass")]
]


def use(folder, code, place="school_reader:FORMAT", rows=GRADES):
    (folder / "school_reader.py").write_text(code, "utf-8")
    info = folder / "school_reader-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: school-reader\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text(f"[coterie.formats]\nschool = {place}\n")
    (folder / "grades.json").write_text(json.dumps(rows), "utf-8")
    return subprocess.run(
        [sys.executable, "-c", f"import sys; sys.path.insert(0, '.')\n{USE}"],
        cwd=folder,
        capture_output=True,
        text=True,
        check=True,
    )


def test_an_installed_package_brings_a_format(tmp_path):
    found = use(tmp_path, CODE)
    assert "2 items x 2 annotators, 3 labels" in found.stdout
    assert "School export, question 'grade'" in found.stdout


@pytest.mark.parametrize(
    ("code", "why"),
    [
        ("import nowhere_at_all", "No module named 'nowhere_at_all'"),
        ("1 / 0", "division by zero"),
        ("FORMAT = 'school'", "'school' is of type str; expected an ExportFormat"),
    ],
    ids=["import", "fault", "type"],
)
def test_one_that_fails_is_named_and_breaks_nothing_else(tmp_path, code, why):
    votes = [
        {"question_id": item, "model_a": "x", "model_b": "y", "winner": winner, "judge": judge}
        for item, judge, winner in [(1, "a", "model_a"), (1, "b", "model_b"), (2, "a", "model_b")]
    ]
    found = use(tmp_path, code, rows=votes)
    assert "arena votes export" in found.stdout
    assert found.stderr.count("the format 'school' of another package is not asked") == 1
    assert why in found.stderr
