"""What a person sees: tables and colour on a terminal, plain text in a pipe."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
import pandas as pd
from rich.console import Console
from rich.markup import escape

from coterie.cli.tables import new_sheet
from coterie.data.annotations import Annotations
from coterie.metrics import Score
from coterie.posterior import Posterior
from coterie.posterior.draws import INTERVAL

BAR = 10
MOST_COTERIES = 8
WIDE = 95
"""Columns of a terminal that show all of the coteries' table."""


class QuietConsole(Console):
    """A console whose reader may leave: ``coterie ... | head`` is no error, and loses nothing."""

    def on_broken_pipe(self) -> None:
        """Go on without showing anything."""
        self.quiet = True
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def console() -> Console:
    """Make the console for standard output: as wide as the terminal, 100 columns in a pipe."""
    plain = QuietConsole()
    return plain if plain.is_terminal else QuietConsole(width=100, no_color=True, highlight=False)


def table(frame: pd.DataFrame, title: str, out: Console) -> None:
    """Print a frame as a table: text to the left, numbers to the right."""
    grid = new_sheet(title, out)
    for name, column in frame.items():
        number = pd.api.types.is_numeric_dtype(column)
        grid.add_column(str(name), justify="right" if number else "left", overflow="ellipsis")
    for row in frame.itertuples(index=False):
        grid.add_row(*(escape(_cell(value)) for value in row))
    out.print()
    out.print(grid)


def _cell(value: object) -> str:
    if isinstance(value, float | np.floating):
        return f"{value:.3f}"
    if isinstance(value, int | np.integer) and not isinstance(value, bool):
        return f"{value:,}"
    return str(value)


def bar(share: float) -> str:
    """Draw a share between 0 and 1 as a bar."""
    full = round(float(np.clip(share, 0, 1)) * BAR)
    return "█" * full + "░" * (BAR - full)


def data(source: str, annotations: Annotations) -> None:
    """Say what was read, and from which columns."""
    out = console()
    name = "standard input" if source == "-" else source
    out.print(f"{escape(name)}: {annotations.describe()}", soft_wrap=True)
    if annotations.origin:
        out.print(escape(annotations.origin), soft_wrap=True)


def result(posterior: Posterior, scores: Mapping[str, Score], paths: Sequence[Path]) -> None:
    """Show how the run ended, on one screen."""
    summary(posterior, scores)
    convergence(posterior)
    files(paths)


def summary(posterior: Posterior, scores: Mapping[str, Score]) -> None:
    """Show the result on one screen: classes, who answers how, where to look, scores of models."""
    out = console()
    out.print()
    out.print(escape(consensus(posterior)), soft_wrap=True)
    if posterior.abilities.coteries:
        coteries = posterior.coteries()
        frame = coterie_table(posterior, coteries)
        if out.width < WIDE:
            frame = frame.drop(columns=["sure", "members"])
        table(frame, coterie_title(posterior), out)
        if len(coteries) > MOST_COTERIES:
            out.print(f"... and {len(coteries) - MOST_COTERIES:,} smaller ones")
    else:
        table(annotator_table(posterior), annotator_title(posterior), out)
    table(doubtful_table(posterior), "Least certain items", out)
    if scores:
        table(score_table(scores), "Against the truth", out)
        out.print(how_scored(next(iter(scores.values()))), soft_wrap=True)


def consensus(posterior: Posterior, shown: int = 6) -> str:
    """Say in one line how many items have which label."""
    classes = posterior.annotations.classes
    count = np.bincount(posterior.label_code, minlength=len(classes))
    most = np.argsort(-count, kind="stable")[:shown]
    parts = [f"{classes[t]} {count[t]:,} ({_percent(count[t] / count.sum())})" for t in most]
    rest = "" if len(classes) <= shown else f", and {len(classes) - shown:,} other labels"
    return f"{posterior.model} calls {count.sum():,} items: {', '.join(parts)}{rest}"


def coterie_title(posterior: Posterior) -> str:
    """Say how many coteries there are, and how sure that is."""
    n = posterior.partition().n_coteries
    low, high = np.quantile(posterior.n_coteries, INTERVAL)
    labelled = int((posterior.annotations.labels_per_annotator > 0).sum())
    many = "1 coterie" if n == 1 else f"{n:,} coteries"
    span = f"{low:.0f}" if low == high else f"{low:.0f} to {high:.0f}"
    return f"{many} of {labelled:,} annotators ({span} with 95 % probability)"


def coterie_table(posterior: Posterior, coteries: pd.DataFrame) -> pd.DataFrame:
    """List the coteries with role, share, accuracy and some members."""
    group = posterior.partition().group
    frame = coteries.head(MOST_COTERIES)
    names = posterior.annotations.annotators
    return pd.DataFrame(
        {
            "": frame["coterie"],
            "role": frame["role"],
            "sure": [_percent(x) for x in frame["role_probability"]],
            "annotators": [
                f"{size:,} ({_percent(share)})"
                for size, share in zip(frame["size"], frame["share"], strict=True)
            ],
            "labels": [_percent(x) for x in frame["label_share"]],
            "accuracy": [f"{bar(x)} {x:.2f}" for x in frame["accuracy"]],
            "95 %": [f"{low:.2f}-{high:.2f}" for low, high in _interval(frame)],
            "members": [some(names[group == m]) for m in range(len(frame))],
        }
    )


def some(names: Sequence[object], shown: int = 3) -> str:
    """Name a few of many."""
    first = ", ".join(str(name) for name in names[:shown])
    return first if len(names) <= shown else f"{first}, ..."


def annotator_title(posterior: Posterior, shown: int = 8) -> str:
    """Say which annotators the table shows."""
    n = posterior.annotations.n_annotators
    return "Annotators" if n <= shown else f"Annotators: best and worst {shown // 2} of {n:,}"


def annotator_table(posterior: Posterior, shown: int = 8) -> pd.DataFrame:
    """Rank the annotators; the best and the worst where there are many."""
    frame = posterior.annotators().sort_values("accuracy", ascending=False, kind="stable")
    if len(frame) > shown:
        frame = pd.concat([frame.head(shown // 2), frame.tail(shown // 2)])
    columns = {
        "annotator": frame["annotator"].astype(str),
        "labels": frame["n_labels"],
        "accuracy": [f"{bar(x)} {x:.2f}" for x in frame["accuracy"]],
    }
    if "accuracy_low" in frame:
        columns["95 %"] = [f"{low:.2f}-{high:.2f}" for low, high in _interval(frame)]
    columns["informativeness"] = frame["informativeness"]
    if "role" in frame:
        columns["role"] = frame["role"]
        columns["sure"] = [_percent(x) for x in frame["role_probability"]]
    return pd.DataFrame(columns)


def _interval(frame: pd.DataFrame) -> list[tuple[float, float]]:
    return list(zip(frame["accuracy_low"], frame["accuracy_high"], strict=True))


def _percent(share: float) -> str:
    return "-" if np.isnan(share) else f"{share:.0%}".replace("%", " %")


def doubtful_table(posterior: Posterior, shown: int = 5) -> pd.DataFrame:
    """List the items whose label is least certain, with the runner-up."""
    a = posterior.annotations
    labels = posterior.labels()
    p = posterior.item_probability.copy()
    p[np.arange(len(p)), posterior.label_code] = -1
    labels["runner-up"] = a.classes[p.argmax(axis=1)].astype(str)
    labels["labels"] = a.labels_per_item
    worst = labels.sort_values("probability", kind="stable").head(shown)
    return worst[["item", "label", "probability", "runner-up", "labels"]].astype({"item": str})


def score_table(scores: Mapping[str, Score]) -> pd.DataFrame:
    """Set the scores of models side by side, one row per model."""
    return pd.DataFrame(
        {
            "model": list(scores),
            "scored items": [score.items for score in scores.values()],
            "accuracy": [score.accuracy for score in scores.values()],
            "balanced accuracy": [score.balanced_accuracy for score in scores.values()],
            "log loss": [score.log_loss for score in scores.values()],
            "calibration error": [score.calibration_error for score in scores.values()],
        }
    )


def how_scored(score: Score) -> str:
    """Say how ties and the impossible are counted."""
    ties = "shared" if score.ties == "shared" else "given to the lowest class"
    return f"Ties are {ties}; the log loss counts probabilities below {score.floor:g} as that."


def nothing_to_score() -> None:
    """Say that only items with a known label have a truth."""
    console().print("Every item with a truth is known (gold): nothing is left to score.")


def convergence(posterior: Posterior) -> None:
    """Say whether a sampler's result can be trusted; a point estimate warns by itself."""
    if posterior.method != "gibbs":
        return
    run = posterior.run
    out = console()
    out.print()
    chains = f"{run['chains']} chains, {run['sweeps']:,} sweeps each"
    if run["stopped"] == "interrupted":
        out.print("Interrupted: this is what the draws so far say.", style="yellow")
    left_out = len(run["left_out"])
    if not posterior.chains_agree:
        out.print(f"NOT CONVERGED ({chains}): do not trust this result yet.", style="bold red")
    elif left_out:
        out.print(
            f"{left_out} of {chains}, ended in another mode and are left out.", style="bold red"
        )
    else:
        out.print(f"The chains agree ({chains}).", style="green")
    verdicts = posterior.verdicts
    for verdict in (verdicts.labels, verdicts.coteries):
        if verdict is not None:
            style = "green" if verdict.settled else "bold yellow"
            out.print(escape(verdict.sentence), style=style)


def no_truth(why: str) -> None:
    """Say that a page has no section on the truth, why, and how to get one."""
    console().print(
        escape(f"No section on the truth: {why}. Give it with --truth."), soft_wrap=True
    )


def files(paths: Sequence[Path]) -> None:
    """Say where the results are."""
    if not paths:
        return
    out = console()
    names = ", ".join(path.name for path in paths)
    out.print(escape(f"Written to {paths[0].parent}: {names}"), soft_wrap=True)
