"""The pictures of the documentation: ``python docs/make_pictures.py`` draws them anew.

Each is one function; every file says of which version of this script it is (tests look).
"""

from __future__ import annotations

import hashlib
import sys
from collections.abc import Callable
from pathlib import Path

import matplotlib

matplotlib.use("Agg")
from matplotlib import pyplot as plt
from matplotlib.figure import Figure

import coterie

FOLDER = Path(__file__).parent / "pictures"


def crowd() -> coterie.Crowd:
    """The crowd of the demo: experts, novices, biased ones, spammers, adversaries."""
    return coterie.simulate("mixed", annotators=60, labels_per_item=15, random_state=0)


def people(posterior: coterie.Posterior, truth: object) -> Figure:
    """Who is in the crowd: coteries with role and accuracy, and who sits with whom."""
    figure, (left, right) = plt.subplots(1, 2, figsize=(7.2, 2.9), layout="compressed")
    posterior.plot.coteries(ax=left)
    posterior.plot.cooccurrence(ax=right)
    return figure


def calibration(posterior: coterie.Posterior, truth: object) -> Figure:
    """What probabilities are worth where the truth is known."""
    figure, ax = plt.subplots(figsize=(3.6, 3.0), layout="compressed")
    posterior.plot.calibration(truth, ax=ax)
    return figure


def matrices(posterior: coterie.Posterior, truth: object) -> Figure:
    """How the two largest coteries answer: true class by given answer."""
    figure, axes = plt.subplots(1, 2, figsize=(5.6, 2.6), layout="compressed")
    for number, ax in enumerate(axes, 1):
        posterior.plot.confusion(coterie=number, ax=ax)
    return figure


PICTURES: dict[str, Callable[[coterie.Posterior, object], Figure]] = {
    "people": people,
    "calibration": calibration,
    "matrices": matrices,
}


def version() -> str:
    """A checksum of this script: a picture of another one is stale."""
    return hashlib.sha256(Path(__file__).read_bytes()).hexdigest()[:12]


def main(folder: Path = FOLDER) -> list[Path]:
    """Draw every picture into a folder."""
    made = crowd()
    posterior = coterie.aggregate(made.annotations)
    paths = []
    with plt.rc_context({"font.size": 8, "svg.hashsalt": "coterie", "svg.fonttype": "path"}):
        for name, draw in PICTURES.items():
            paths.append(folder / f"{name}.svg")
            figure = draw(posterior, made.truth)
            about = {"Creator": f"docs/make_pictures.py {version()}", "Date": None}
            figure.savefig(paths[-1], metadata=about)
            plt.close(figure)
    return paths


if __name__ == "__main__":
    for path in main(*map(Path, sys.argv[1:])):
        print(path)
