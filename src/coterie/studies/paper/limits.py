"""The limits of the models: what each becomes when alpha, beta or phi go to an extreme."""

from __future__ import annotations

from typing import TYPE_CHECKING

from coterie.studies.job import Job
from coterie.studies.paper.experiment import Data, Experiment
from coterie.studies.paper.job import Results, job
from coterie.studies.paper.settings import Settings
from coterie.studies.paper.style import LOOK_OF, clean, new_figure, say_how
from coterie.studies.paper.theory import LIMITS
from coterie.studies.paper.theory import limit as fit_both
from coterie.studies.table import Table
from coterie.words.numbers import in_percent

if TYPE_CHECKING:
    from matplotlib.figure import Figure

BECOMES = dict(zip(LIMITS, ("iBCC", "cBCC", "iBCC", "the vote, says the paper"), strict=True))
VOTE = LIMITS[-1]


def jobs(settings: Settings) -> list[Job]:
    """Fit both sides of each limit."""
    return [job(fit_both, limit=name) for name in LIMITS]


def gather(settings: Settings, results: Results) -> Data:
    """Give each limit's distances."""
    return {
        "limits": {
            name: {"becomes": BECOMES[name], **results[job(fit_both, limit=name).name]}
            for name in LIMITS
        }
    }


def tables(data: Data) -> list[Table]:
    """One row per limit."""
    rows = [
        [
            name,
            one["becomes"],
            "–" if name == VOTE else f"{one['difference']:.4f}",
            "–" if name == VOTE else f"{one['yardstick']:.4f}",
            in_percent(one["labels_differ"], 1),
            f"{one['clusters']:.2f}",
            _expected(name, one),
        ]
        for name, one in data["limits"].items()
    ]
    header = [
        "limit", "becomes", "largest difference of a probability", "between two runs of the limit",
        "labels that differ, %", "clusters", "clusters in the limit",
    ]  # fmt: skip
    return [Table("On one crowd of 60 items and 12 annotators", header, rows, left=(0, 1))]


def _expected(name: str, one: Data) -> str:
    if one["clusters_of_limit"] is not None:
        return f"{one['clusters_of_limit']:.2f}"
    if name == VOTE:
        return "1.00"
    # In the last but one limit all clusters are alike: their number means nothing.
    return f"{one['annotators']:.2f}" if name == LIMITS[0] else "any"


def words(data: Data) -> list[str]:
    """Say what holds, and what the paper has wrong."""
    vote = data["limits"][VOTE]
    others = [one for name, one in data["limits"].items() if name != VOTE]
    return [
        "A model at its limit and the model it becomes give every item the same probabilities up "
        f"to {max(one['difference'] for one in others):.4f}; two runs of the latter differ by up "
        f"to {max(one['yardstick'] for one in others):.4f}.",
        "Used: alpha 1e12 in cBCC; beta of shape 1e8 and rate 100 in hcBCC; phi 1e7, a 3e7 and b "
        "1e7 in hcBCC; alpha 1e-12 in cBCC.",
        "With alpha to 0 all annotators share one matrix (at 1e-12 not every chain has come to "
        f"that: {vote['clusters']:.2f} clusters on average). The paper calls that the majority "
        "vote; it is not, because the shared matrix can be biased: "
        f"on this crowd {in_percent(vote['labels_differ'], 1)} % of the labels differ.",
    ]


def draw(data: Data) -> Figure:
    """Draw each limit's distance beside the distance of two runs."""
    names = [name for name in data["limits"] if name != VOTE]
    figure = new_figure(6.4, 2.0)
    ax = figure.subplots()
    for key, label, look in (
        ("difference", "model at its limit, and what it becomes", LOOK_OF["hcbcc"]),
        ("yardstick", "two runs of what it becomes", LOOK_OF["majority"]),
    ):
        values = [data["limits"][name][key] for name in names]
        ax.plot(values, range(len(names)), look.marker, color=look.color, label=label)
    ax.set_yticks(range(len(names)), [f"{name}: {BECOMES[name]}" for name in names])
    ax.set_xlim(left=0)
    ax.margins(y=0.3)
    ax.invert_yaxis()
    ax.set_xlabel("largest difference of an item's probability")
    clean(ax)
    figure.legend(loc="outside upper center", ncols=2, frameon=False)
    say_how(figure, data)
    return figure


EXPERIMENT = Experiment(
    "limits",
    "The limits of the models",
    "Related work, and the text after the priors",
    jobs,
    gather,
    tables,
    words,
    draw,
)
