"""All source files at once: what a file may import, and how sentences and guesses are written."""

import ast
import re
from pathlib import Path

ROOT = Path(__file__).parents[1]
SOURCE, DOCS = ROOT / "src" / "coterie", ROOT / "docs"
CODE = {path: path.read_text("utf-8") for path in sorted(SOURCE.rglob("*.py"))}

# A name may import from names before it, from top to bottom and from left to right.
LAYERS = [
    "version words abilities errors arguments registry",
    "numeric priors files",
    "data io",
    "kernels metrics diagnostics simulation partition roles",
    "posterior inference models",
    "extend engines datasets default",
    "assign report plots studies judges",
    "cli",
]
# The only ways up, lazy and by name: Posterior.report and Posterior.plot.
EXCEPTIONS = {("posterior/posterior.py", "report"), ("posterior/posterior.py", "plots")}
RANK = {name: rank for rank, name in enumerate(" ".join(LAYERS).split())}


def layer(path: Path) -> str:
    return path.relative_to(SOURCE).with_suffix("").parts[0]


def upward(name: str, text: str, allowed: set[str] = frozenset()) -> list[str]:
    """Give the imports of our own, wherever they stand, that do not come from the lines above."""
    found = []
    for node in ast.walk(ast.parse(text)):
        if not isinstance(node, ast.Import | ast.ImportFrom):
            continue
        names = [alias.name for alias in node.names]
        if isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"line {node.lineno}: relative import"
            names = [f"{node.module}.{one}" for one in names]
        others = {one.split(".")[1] for one in names if one.startswith("coterie.")}
        found += [
            f"line {node.lineno}: {name} imports {other}"
            for other in sorted(others - {name, *allowed})
            if RANK[other] >= RANK[name]
        ]
    return found


def test_imports_come_from_the_lines_above():
    """A module imports only from the lines above its own (docs/architecture.md)."""
    assert upward("data", "def f():\n    from coterie.models import base") == [
        "line 2: data imports models"
    ]
    wrong = {}
    for path, text in CODE.items():
        name = path.relative_to(SOURCE).as_posix()
        if name not in ("__init__.py", "__main__.py"):  # they only name
            allowed = {other for where, other in EXCEPTIONS if where == name}
            wrong[name] = upward(layer(path), text, allowed)
    assert {name: found for name, found in wrong.items() if found} == {}


def test_the_page_shows_the_layers_as_they_are():
    page = (DOCS / "architecture.md").read_text("utf-8")
    shown = page.split("```text\n")[1].split("```")[0].splitlines()
    assert [" ".join(line.split("   ")[0].split()) for line in shown] == LAYERS


def test_the_files_that_pages_name_are_there():
    for page in ("architecture.md", "notation.md"):
        named = re.findall(r"`((?:[a-z_]+/)+[a-z_]*(?:\.[a-z]+)?|[a-z_]+\.py)`", _text(page))
        assert len(named) > 15
        missing = [n for n in named if not (SOURCE / n).exists() and not (ROOT / n).exists()]
        assert missing == []


def test_the_names_of_the_notation_are_in_their_files():
    rows = [line.split(" | ") for line in _text("notation.md").splitlines() if line[:3] == "| $"]
    for _, _, names, files in rows:
        code = "".join((SOURCE / file).read_text("utf-8") for file in re.findall("`(.+?)`", files))
        for name in re.findall("`([a-z_]+)", names):
            assert re.search(rf"\b{name}\b", code), (name, files)


def _text(page: str) -> str:
    return (DOCS / page).read_text("utf-8")


GUESSES = {
    "draws": re.compile(r"\bdraws is (?:not )?None"),
    "parts of a state": re.compile(r"hasattr\(\w*state|in \w*state\._fields|\"\w+\" in parts\b"),
    "a default for what may be missing": re.compile(
        r"getattr\((?:\w+\.)*(?:state|prior|posterior|model)\b, [^,()]+, "
    ),
    "facts of a run": re.compile(r"\"\w+\" (?:not )?in \w+\.(?:run|settings)\b"),
    "settings": re.compile(r"posterior\.settings\.get\("),
}
ALLOWED = {
    "draws": {
        "posterior/posterior.py",  # where abilities and draws are held against each other
        "posterior/store.py",  # which arrays there are to write
        "extend/conformance.py",  # whether a model from outside keeps what it declares
    },
    "parts of a state": {
        "io/exports/tools.py",  # parts of a name
    },
    "a default for what may be missing": {"kernels/collapsed.py"},  # of the three priors it reads
    "facts of a run": {
        "report/worth.py",  # whether gold was checked
        "report/verdict.py",  # whether probabilities were mended
        "cli/show.py",
        "report/chains.py",  # what an iteration counted
        "posterior/store.py",  # how many seats there may be
    },
    "settings": {"report/reproduce.py"},  # the seed of a recipe
}


def test_abilities_are_declared_and_guessed_nowhere():
    for guess, pattern in GUESSES.items():
        files = [path for path, text in CODE.items() if pattern.search(text)]
        found = {path.relative_to(SOURCE).as_posix() for path in files}
        assert sorted(found - ALLOWED.get(guess, set())) == [], guess


THINGS = (
    "rows? columns? lines? number files? entry bytes codes? names? threads? seconds draws? many"
    " once characters databases sweeps"
)
EACH = (
    "item annotator label class coterie cluster chain draw sweep row column core model pixel cell"
    " level second"
)
HOW_MANY = "|".join([*THINGS.split(), "one", "labels"])
FOR_PER = re.compile(rf"\b({HOW_MANY}) an? ({'|'.join(EACH.split())})\b(?! twice)")


def test_what_there_is_of_each_is_said_with_per():
    """A newcomer reads "one row per item", never "one row a item"."""
    pages = [ROOT / "README.md", ROOT / "CONTRIBUTING.md"]
    for place in ("src", "docs", "tests", "benchmarks"):
        pages += [p for p in (ROOT / place).rglob("*") if p.suffix in (".py", ".md", ".html")]
    found = {
        str(path.relative_to(ROOT)): [match[0] for match in FOR_PER.finditer(text)]
        for path in pages
        if path != Path(__file__) and "_build" not in path.parts
        if FOR_PER.search(text := path.read_text("utf-8"))
    }
    assert found == {}
