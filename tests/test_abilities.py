"""What a model can do is declared, and never guessed from what happens to be there."""

import re
from pathlib import Path

import pytest

SRC = Path(__file__).parents[1] / "src" / "coterie"
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
        "io/exports/argilla.py",  # parts of a name
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


@pytest.mark.parametrize("guess", GUESSES)
def test_abilities_are_guessed_nowhere(guess):
    found = {
        path.relative_to(SRC).as_posix()
        for path in SRC.rglob("*.py")
        if GUESSES[guess].search(path.read_text("utf-8"))
    }
    assert sorted(found - ALLOWED.get(guess, set())) == []
