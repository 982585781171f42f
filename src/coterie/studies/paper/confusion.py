"""Mean confusion matrices of hcBCC's coteries on the real sets, with their shares."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from coterie.studies.job import Job
from coterie.studies.paper import paper
from coterie.studies.paper.experiment import Data, Experiment
from coterie.studies.paper.job import Results, job
from coterie.studies.paper.settings import Settings
from coterie.studies.paper.style import draw_matrix, new_figure, say_how
from coterie.studies.paper.work import whole
from coterie.studies.table import Table
from coterie.words.numbers import in_percent

if TYPE_CHECKING:
    from matplotlib.figure import Figure

MOST = 6
"""Coteries that are drawn of a set; the table has all."""


def jobs(settings: Settings) -> list[Job]:
    """Take hcBCC's first run on each set."""
    return [_job(data) for data in settings.real_sets]


def _job(data: str) -> Job:
    return job(whole, data=data, model="hcbcc", run=0)


def gather(settings: Settings, results: Results) -> Data:
    """Give the coteries of the point partition, beside the shares that the paper names."""
    sets = {}
    for data in settings.real_sets:
        found = results.get(_job(data).name)
        if found is not None:
            sets[data] = {
                "classes": found["classes"],
                "coteries": found["coteries"],
                "coteries_asked": found["coteries_asked"],
                "paper_shares": list(paper.SHARES[data]),
                "paper_roles": paper.ROLES[data],
            }
    return {"sets": sets}


def tables(data: Data) -> list[Table]:
    """One row per coterie."""
    rows = [
        [
            name if k == 0 else "",
            str(k + 1),
            str(one["size"]),
            in_percent(one["share"]),
            in_percent(one["label_share"], 1),
            f"{one['accuracy']:.2f} ({one['accuracy_low']:.2f} to {one['accuracy_high']:.2f})",
            "; ".join(", ".join(f"{cell:.2f}" for cell in row) for row in one["matrix"]),
            one["role"],
        ]
        for name, _, coteries in _rows(data)
        for k, one in enumerate(coteries)
    ]
    header = [
        "data set", "coterie", "annotators", "share, %", "of the labels, %", "accuracy",
        "matrix, row by row", "role",
    ]  # fmt: skip
    printed = [
        [name, ", ".join(f"{share:.2f}" for share in one["paper_shares"]), one["paper_roles"]]
        for name, one in data["sets"].items()
    ]
    return [
        Table("Our coteries", header, rows, left=(0, 6, 7)),
        Table(
            "What the paper says of its clusters",
            ["data set", "shares it names, %", "what they are like"],
            printed,
            left=(0, 1, 2),
        ),
    ]


def _rows(data: Data) -> list[tuple[str, list[str], list[dict[str, Any]]]]:
    """Give the partitions to show: name, classes, coteries; the paper's number where it differs."""
    rows = []
    for name, one in data["sets"].items():
        rows.append((name, one["classes"], one["coteries"]))
        asked = one["coteries_asked"]
        if _differs(one):
            rows.append((f"{name}, {len(asked)} asked for", one["classes"], asked))
    return rows


def words(data: Data) -> list[str]:
    """Say what a coterie is here, and how the largest compares with the paper's."""
    if not data["sets"]:
        return []
    largest = ", ".join(
        f"{name} {in_percent(one['coteries'][0]['share'])} % ({one['paper_shares'][0]:.2f} %)"
        for name, one in data["sets"].items()
    )
    return [
        "The coteries are those of one partition that stands for all draws (it minimises the "
        "expected variation of information); the paper does not say how it chose its partition. A "
        "coterie's matrix is the mean of its members'; rows are the true class.",
        f"Share of the largest, ours (the paper's): {largest}.",
        *(_other_number(name, one) for name, one in data["sets"].items() if _differs(one)),
    ]


def _differs(one: dict[str, Any]) -> bool:
    return len(one["coteries"]) != len(one["coteries_asked"])


def _other_number(name: str, one: dict[str, Any]) -> str:
    asked = one["coteries_asked"]
    ours = ", ".join(in_percent(coterie["share"]) for coterie in asked)
    papers = ", ".join(f"{share:.2f}" for share in one["paper_shares"])
    return (
        f"On {name} there are {len(one['coteries'])} coteries, where the paper shows "
        f"{len(asked)}. The best partition into {len(asked)} is beside it: its shares are {ours} "
        f"%, the paper's {papers} %."
    )


def draw(data: Data) -> Figure:
    """Draw a row per set, a column per coterie, the largest first."""
    rows = _rows(data)
    columns = max([min(MOST, len(coteries)) for _, _, coteries in rows], default=1)
    figure = new_figure(1.75 * columns + 0.4, 1.95 * max(1, len(rows)))
    axes = figure.subplots(max(1, len(rows)), columns, squeeze=False)
    for ax in axes.ravel():
        ax.set_visible(False)
    for row, (name, classes, coteries) in zip(axes, rows, strict=False):
        for k, (ax, coterie) in enumerate(zip(row, coteries, strict=False)):
            ax.set_visible(True)
            draw_matrix(ax, coterie["matrix"], classes)
            ax.set_title(_title(name, k, coterie), fontsize=8)
            ax.set_xlabel("answer", fontsize=8)
            ax.set_ylabel("true" if k == 0 else "", fontsize=8)
    say_how(figure, data)
    return figure


def _title(name: str, k: int, coterie: dict[str, Any]) -> str:
    head = f"{name}\n" if k == 0 else "\n"
    return f"{head}{in_percent(coterie['share'])} %: {coterie['role']}"


EXPERIMENT = Experiment(
    "confusion",
    "What hcBCC's coteries are like",
    'Figure "Mean confusion matrices of the user\'s clusters identified by hcBCC"',
    jobs,
    gather,
    tables,
    words,
    draw,
)
