"""A module imports only from the lines above its own (docs/architecture.md)."""

import ast
from pathlib import Path

import pytest

SOURCE = Path(__file__).parents[1] / "src" / "coterie"

# Top to bottom: a name may import from names before it; names in one string share a line.
LAYERS = [
    "version errors words abilities",
    "registry",
    "priors",
    "files",
    "data",
    "numeric",
    "kernels",
    "metrics diagnostics simulation",
    "partition roles",
    "posterior",
    "inference",
    "models",
    "extend",
    "io datasets",
    "report plots",
    "studies",
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
