"""What pages show beside their examples: pictures made by code, a notebook that runs."""

import ast
import json
import re
import runpy
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"
SCRIPT = DOCS / "make_pictures.py"


@pytest.fixture(scope="module")
def pictures():
    pytest.importorskip("matplotlib")
    return runpy.run_path(str(SCRIPT))


def test_pictures_are_of_the_script_as_it_is(pictures):
    stale = [
        path.name
        for path in sorted((DOCS / "pictures").iterdir())
        if f"make_pictures.py {pictures['version']()}" not in path.read_text("utf-8")
    ]
    assert stale == [], "run python docs/make_pictures.py"
    assert {path.stem for path in (DOCS / "pictures").iterdir()} == set(pictures["PICTURES"])


def test_every_picture_that_pages_show_is_there_and_small():
    shown = set()
    for page in DOCS.rglob("*.md"):
        for name in re.findall(r"!\[[^\]]+\]\(([^)]+)\)", page.read_text("utf-8")):
            path = (page.parent / name).resolve()
            assert path.is_file(), f"{page.name} shows {name}"
            shown.add(path)
    ours = {path.resolve() for path in (DOCS / "pictures").iterdir()}
    assert ours <= shown
    assert sum(path.stat().st_size for path in ours) < 300_000


def test_the_script_still_draws(pictures, tmp_path):
    made = pictures["main"](tmp_path)
    assert [path.stem for path in made] == list(pictures["PICTURES"])
    assert all(path.read_text("utf-8").count("<path") > 10 for path in made)


@pytest.mark.parametrize("path", sorted(DOCS.rglob("*.ipynb")), ids=lambda path: path.name)
def test_the_notebook_runs_and_shows(path, tmp_path, monkeypatch):
    pytest.importorskip("matplotlib").use("Agg")
    monkeypatch.chdir(tmp_path)
    names: dict[str, object] = {}
    shown = 0
    for cell in json.loads(path.read_text("utf-8"))["cells"]:
        if cell["cell_type"] != "code":
            continue
        assert cell["outputs"] == [], "outputs are not kept: they would be stale one day"
        *lines, last = ast.parse("".join(cell["source"])).body
        exec(compile(ast.Module(lines, []), path.name, "exec"), names)
        if isinstance(last, ast.Expr):
            value = eval(compile(ast.Expression(last.value), path.name, "eval"), names)
            html = getattr(value, "_repr_html_", None)
            shown += bool(html() if html else repr(value))
        else:
            exec(compile(ast.Module([last], []), path.name, "exec"), names)
    assert shown >= 5
    assert (tmp_path / "report.html").is_file()
