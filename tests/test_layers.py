"""A module imports only from the lines above its own (docs/architecture.md)."""

import ast
import re
from pathlib import Path

import pytest

SOURCE = Path(__file__).parents[1] / "src" / "coterie"

# Top to bottom: a name may import from names before it; names in one string share a line.
LAYERS = [
    "version words abilities",
    "errors",
    "arguments",
    "registry",
    "numeric",
    "priors",
    "files",
    "data",
    "io",
    "kernels",
    "metrics diagnostics simulation",
    "partition roles",
    "posterior",
    "inference",
    "models",
    "extend",
    "engines",
    "datasets",
    "default",
    "assign",
    "report plots",
    "studies",
    "judges",
    "cli",
]
# The only ways up, lazy and by name: Posterior.report and Posterior.plot.
EXCEPTIONS = {("posterior/posterior.py", "report"), ("posterior/posterior.py", "plots")}
RANK = {name: rank for rank, line in enumerate(LAYERS) for name in line.split()}


def modules():
    return sorted(SOURCE.rglob("*.py"))


def layer(path: Path) -> str:
    return path.relative_to(SOURCE).with_suffix("").parts[0]


def imported_layers(tree: ast.AST):
    """Yield (line number, layer) of every import of our own, wherever it stands."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"line {node.lineno}: relative import"
            names = [f"{node.module}.{alias.name}" for alias in node.names]
        else:
            continue
        for name in names:
            parts = name.split(".")
            if parts[0] == "coterie" and len(parts) > 1:
                yield node.lineno, parts[1]


def violations(name: str, tree: ast.AST, allowed: set[str] = frozenset()) -> list[str]:
    return [
        f"line {line}: {name} imports {other}"
        for line, other in imported_layers(tree)
        if other not in {name, *allowed} and RANK[other] >= RANK[name]
    ]


@pytest.mark.parametrize("path", modules(), ids=lambda path: str(path.relative_to(SOURCE)))
def test_imports_come_from_the_lines_above(path):
    if path.parent == SOURCE and path.name in ("__init__.py", "__main__.py"):
        return  # they only name
    name = path.relative_to(SOURCE).as_posix()
    allowed = {other for where, other in EXCEPTIONS if where == name}
    assert violations(layer(path), ast.parse(path.read_text("utf-8")), allowed) == []


def test_an_upward_import_is_found():
    assert violations("data", ast.parse("def f():\n    from coterie.models import base")) == [
        "line 2: data imports models"
    ]


def test_every_module_has_a_layer():
    unknown = {layer(path) for path in modules()} - RANK.keys() - {"__init__", "__main__"}
    assert unknown == set()


DOCS = SOURCE.parents[1] / "docs"


def test_the_page_shows_the_layers_as_they_are():
    page = (DOCS / "architecture.md").read_text("utf-8")
    shown = page.split("```text\n")[1].split("```")[0].splitlines()
    assert [" ".join(line.split("   ")[0].split()) for line in shown] == LAYERS


@pytest.mark.parametrize("page", ["architecture.md", "notation.md"])
def test_the_files_that_a_page_names_are_there(page):
    named = re.findall(r"`((?:[a-z_]+/)+[a-z_]*(?:\.[a-z]+)?|[a-z_]+\.py)`", _text(page))
    assert len(named) > 15
    missing = [n for n in named if not (SOURCE / n).exists() and not (DOCS.parent / n).exists()]
    assert missing == []


def test_the_names_of_the_notation_are_in_their_files():
    rows = [line.split(" | ") for line in _text("notation.md").splitlines() if line[:3] == "| $"]
    for _, _, names, files in rows:
        code = "".join((SOURCE / file).read_text("utf-8") for file in re.findall("`(.+?)`", files))
        for name in re.findall("`([a-z_]+)", names):
            assert re.search(rf"\b{name}\b", code), (name, files)


def _text(page: str) -> str:
    return (DOCS / page).read_text("utf-8")
