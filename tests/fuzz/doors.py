"""Hostile names through every door, and arguments at their extremes."""

import csv
import random
import shutil

from typer.testing import CliRunner

import coterie
from coterie.cli.app import app
from fuzz.mutate import NASTY, NUMBERS
from fuzz.saved import CROWD, SHORT
from fuzz.verdict import RAW

LINES = "\n"
ITEMS, PEOPLE = 5, 3


def names(number, folder):
    """A class, item, annotator, column or file with a hostile name, through the command line."""
    chance = random.Random(f"names/{number}")
    usable = [n for n in NASTY if "\0" not in n and "\ud800" not in n]
    place, bad = chance.randrange(5), chance.choice(usable)
    columns = ["item", "annotator", "label"]
    rows = [[f"q{i}", f"a{l}", "xyz"[(i + l) % 3]] for i in range(ITEMS) for l in range(PEOPLE)]
    if place < 3:
        old = rows[0][place]
        rows = [[bad if k == place and c == old else c for k, c in enumerate(r)] for r in rows]
    elif place == 3:
        columns.append(bad)
        rows = [[*row, bad] for row in rows]
    file = "labels.csv"
    if place == 4:
        file = bad.replace("/", "_")[:60] + ".csv"
    path = folder / file
    with path.open("w", encoding="utf-8", newline="") as handle:
        csv.writer(handle).writerows([columns, *rows])
    out = folder / "out"
    words = ["aggregate", str(path), "--model", "majority", "--no-report"]
    words += ["--format", chance.choice(["csv", "json", "parquet"])]
    words += ["--duplicates", "keep", "--out", str(out)]
    option = chance.choice(["", "", "--gold", "--classes", "--item", "--truth"])
    words += [option, bad] if option else []

    def check():
        shutil.rmtree(out, ignore_errors=True)
        found = CliRunner().invoke(app, words)
        if found.exception is not None and not isinstance(found.exception, SystemExit):
            raise found.exception
        for line in (found.stdout + found.stderr).split(LINES):
            assert not RAW.search(line), f"raw: {line!r:.300}"
            assert not line.startswith("Error: b"), "a forged line"
        assert found.exit_code in (0, 1, 2), found.exit_code
        if found.exit_code == 1:
            assert found.stderr.count(LINES) <= 8, found.stderr[:500]

    return check


def arguments(number, folder):
    """Priors and lengths at their extremes: computed, or refused."""
    chance = random.Random(f"arguments/{number}")

    def extreme():
        usable = [1.0, 3.0, 0.5, 1e-5, 1e-30, 1e-100, 1e5, 1e30, 1e100]
        return chance.choice(NUMBERS if chance.random() < 0.1 else usable)

    def gamma():
        return coterie.Gamma(extreme(), extreme())

    priors = {
        "IBCC": lambda: coterie.IBCCPrior(strength=extreme(), class_weights=extreme()),
        "CBCC": lambda: coterie.CBCCPrior(
            strength=extreme(), mean=chance.choice([0.7, extreme()]), concentration=gamma()
        ),
        "HCBCC": lambda: coterie.HCBCCPrior(
            mean_strength=extreme(), strength=gamma(), concentration=gamma()
        ),
    }
    model = chance.choice(sorted(priors))
    settings = dict(SHORT)
    if chance.random() < 0.2:
        name = chance.choice(["sweeps", "burn_in", "chains", "random_state", "n_jobs"])
        settings[name] = chance.choice([-1, 0, 1, 10**10, 10**400, 1.5, None, "5", True])
        settings["n_jobs"] = settings["n_jobs"] if name == "n_jobs" else 1
    if settings["chains"] in (10**10, 10**400):
        settings["chains"] = 10**10

    def check():
        import warnings

        with warnings.catch_warnings():
            warnings.simplefilter("ignore", coterie.ConvergenceWarning)
            getattr(coterie, model)(prior=priors[model](), **settings).fit(CROWD)

    return check
