"""What a person sees: tables and colour on a terminal, plain text in a pipe."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from rich.console import Console
from rich.markup import escape

from coterie.abilities import SAMPLED
from coterie.cli.next_step import next_step
from coterie.cli.tables import print_frame
from coterie.data.annotations import Annotations
from coterie.errors import DataError
from coterie.metrics import Score, krippendorff_alpha
from coterie.posterior import Posterior
from coterie.posterior.draws import INTERVAL
from coterie.posterior.verdicts import reading_names
from coterie.words.console import SafeConsole
from coterie.words.numbers import count, typed_percent

BAR = 10
MOST_COTERIES = 8
MOST_ANNOTATORS = 8
MOST_DECIDING = 5
ENOUGH = 20
"""Labels of an annotator, for whom best and worst mean something."""
CHANCE = 0.05
"""Krippendorff's alpha below which labels of one item agree hardly more than by chance."""
IN_A_PIPE = 100
"""Columns where no terminal, and no COLUMNS, says how many there are."""


def console() -> Console:
    """Make the console for standard output: as wide as the terminal, or COLUMNS, or 100."""
    plain = SafeConsole()
    if plain.is_terminal:
        return plain
    told = os.environ.get("COLUMNS", "")
    width = int(told) if told.isdecimal() and int(told) > 0 else IN_A_PIPE
    return SafeConsole(width=width, no_color=True, highlight=False)


def bar(share: float) -> str:
    """Draw a share between 0 and 1 as a bar."""
    full = round(float(np.clip(share, 0, 1)) * BAR)
    return "█" * full + "░" * (BAR - full)


def data(sources: Sequence[str], annotations: Annotations) -> None:
    """Say what was read, and from which columns."""
    out = console()
    name = "standard input" if sources[0] == "-" else sources[0]
    name += f" and {len(sources) - 1:,} more" if len(sources) > 1 else ""
    out.print(f"{escape(name)}: {annotations.describe()}", soft_wrap=True)
    if annotations.origin:
        out.print(escape(annotations.origin), soft_wrap=True)


def line(text: str) -> None:
    """Say one thing."""
    console().print(escape(text), soft_wrap=True)


def result(
    posterior: Posterior, scores: Mapping[str, Score], paths: Sequence[Path], remark: str = ""
) -> None:
    """Show how the run ended, on one screen; the last line says what to do next."""
    summary(posterior, scores)
    convergence(posterior)
    agreement(posterior.annotations)
    gold_check(posterior)
    out = console()
    if remark:
        out.print(escape(remark))
    files(paths)
    out.print(escape(next_step(posterior, paths)), soft_wrap=True)


def summary(posterior: Posterior, scores: Mapping[str, Score]) -> None:
    """Show the result on one screen: classes, who answers how, where to look, scores of models."""
    out = console()
    out.print()
    for line in consensus(posterior, out.width):
        out.print(escape(line), soft_wrap=True)
    people(posterior)
    worst = doubtful_table(posterior)
    if len(worst):
        print_frame(worst, "Least certain items", out, dispensable=("labels", "runner-up"))
    compared(scores)


def people(posterior: Posterior) -> None:
    """Show the coteries, or the annotators of a model that finds none."""
    out = console()
    if posterior.abilities.coteries:
        coteries = posterior.coteries()
        frame = coterie_table(posterior, coteries)
        print_frame(frame, coterie_title(posterior), out, dispensable=("sure", "members", "labels"))
        if len(coteries) > MOST_COTERIES:
            out.print(f"... and {len(coteries) - MOST_COTERIES:,} smaller ones")
    else:
        frame = annotator_table(posterior)
        print_frame(frame, annotator_title(posterior), out, dispensable=("sure", "informativeness"))


def compared(scores: Mapping[str, Score]) -> None:
    """Show the scores of models against the truth, if there is one."""
    out = console()
    if scores:
        first = next(iter(scores.values()))
        print_frame(score_table(scores), f"Against the truth of {count(first.items, 'item')}", out)
        out.print(how_scored(first))


def consensus(
    posterior: Posterior,
    width: int = IN_A_PIPE,
    shown: int = 6,
    n: NDArray[np.int64] | None = None,
) -> list[str]:
    """Say how many items have which label (``n``, if told), in lines that end between labels."""
    classes = posterior.annotations.classes
    n = np.bincount(posterior.label_code, minlength=len(classes)) if n is None else n
    most = np.argsort(-n, kind="stable")[:shown]
    parts = [f"{classes[t]}: {n[t]:,} ({typed_percent(n[t] / n.sum())})" for t in most]
    if len(classes) > shown:
        parts.append(f"and {len(classes) - shown:,} other labels")
    lines = [f"{posterior.model} calls {count(int(n.sum()), 'item')}: {parts[0]}"]
    for part in parts[1:]:
        longer = f"{lines[-1]}, {part}"
        if len(longer) < width:
            lines[-1] = longer
        else:
            lines[-1] += ","
            lines.append(f"  {part}")
    return lines


def coterie_title(posterior: Posterior) -> str:
    """Say how many coteries there are, and how sure that is."""
    n = posterior.partition().n_coteries
    low, high = (f"{x:.0f}" for x in np.quantile(posterior.n_coteries, INTERVAL))
    labelled = int((posterior.annotations.labels_per_annotator > 0).sum())
    many = "1 coterie" if n == 1 else f"{n:,} coteries"
    span = low if low == high else f"{low} to {high}"
    stay = "" if int(low) <= n <= int(high) else "; shown are those that last from draw to draw"
    return f"{many} of {count(labelled, 'annotator')} ({span} with 95 % probability{stay})"


def coterie_table(posterior: Posterior, coteries: pd.DataFrame) -> pd.DataFrame:
    """List the coteries with role, share, accuracy and some members."""
    group = posterior.partition().group
    frame = coteries.head(MOST_COTERIES)
    names = posterior.annotations.annotators
    return pd.DataFrame(
        {
            "": frame["coterie"],
            "role": frame["role"],
            "sure": [typed_percent(x) for x in frame["role_probability"]],
            "annotators": [
                f"{size:,} ({typed_percent(share)})"
                for size, share in zip(frame["size"], frame["share"], strict=True)
            ],
            "labels": [typed_percent(x) for x in frame["label_share"]],
            "accuracy": [f"{bar(x)} {x:.2f}" for x in frame["accuracy"]],
            "95 %": [f"{low:.2f}-{high:.2f}" for low, high in _interval(frame)],
            "members": [some(names[group == m]) for m in range(len(frame))],
        }
    )


def some(names: Sequence[object], shown: int = 3) -> str:
    """Name a few of many."""
    first = ", ".join(str(name) for name in names[:shown])
    return first if len(names) <= shown else f"{first}, ..."


def enough_labels(posterior: Posterior, shown: int = MOST_ANNOTATORS) -> int:
    """Give the least number of labels that the table asks for: 20, fewer if few have those."""
    n = np.sort(posterior.annotations.labels_per_annotator)[::-1]
    return 0 if len(n) <= shown else int(min(ENOUGH, n[shown - 1]))


def annotator_title(posterior: Posterior, shown: int = MOST_ANNOTATORS) -> str:
    """Say which annotators the table shows."""
    n = posterior.annotations.labels_per_annotator
    if len(n) <= shown:
        return "Annotators"
    least = enough_labels(posterior, shown)
    some = int((n >= least).sum())
    whom = "" if some == len(n) else f" with {count(least, 'label')} or more"
    return f"Annotators: best and worst {shown // 2} of {some:,}{whom}"


def annotator_table(posterior: Posterior, shown: int = MOST_ANNOTATORS) -> pd.DataFrame:
    """Rank the annotators; where there are many, the best and worst of those with enough labels."""
    frame = posterior.annotators().sort_values("accuracy", ascending=False, kind="stable")
    if len(frame) > shown:
        frame = frame[frame["n_labels"] >= enough_labels(posterior, shown)]
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
        columns["sure"] = [typed_percent(x) for x in frame["role_probability"]]
    return pd.DataFrame(columns)


def _interval(frame: pd.DataFrame) -> list[tuple[float, float]]:
    return list(zip(frame["accuracy_low"], frame["accuracy_high"], strict=True))


def doubtful_table(posterior: Posterior, shown: int = 5) -> pd.DataFrame:
    """List the items whose label is least certain, with the runner-up; known ones never."""
    a = posterior.annotations
    labels = posterior.labels()
    labels = labels.rename(columns={"runner_up": "runner-up", "n_labels": "labels"})
    unknown = labels[a.codes.gold < 0]
    worst = unknown.sort_values("probability", kind="stable").head(shown)
    return worst[["item", "label", "probability", "runner-up", "labels"]].astype({"item": str})


def score_table(scores: Mapping[str, Score]) -> pd.DataFrame:
    """Set the scores of models side by side, one row per model."""
    return pd.DataFrame(
        {
            "model": list(scores),
            "accuracy": [score.accuracy for score in scores.values()],
            "balanced": [score.balanced_accuracy for score in scores.values()],
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
    """Say whether the result can be trusted: both verdicts, and of chains how they ended."""
    if posterior.method not in SAMPLED:
        console().print()
        _verdicts(posterior)
        return
    run, out, verdicts = posterior.run, console(), posterior.verdicts
    out.print()
    if run["stopped"] == "interrupted":
        out.print("Interrupted: this is what the draws so far say.", style="yellow")
    chains, left_out = (
        f"{count(run['chains'], 'chain')}, {run['sweeps']:,} sweeps each",
        len(run["left_out"]),
    )
    if left_out:
        out.print(
            f"{left_out} of {chains}, ended in another mode and are left out.", style="bold yellow"
        )
    elif verdicts.labels.settled:
        out.print(f"The chains agree on the labels ({chains}).", style="green")
    else:
        out.print(f"NOT SETTLED ({chains}): do not trust all labels yet.", style="bold red")
    _verdicts(posterior)
    two = posterior.readings()
    if two is not None:
        title = "Two readings: a known label (gold) of these items would decide"
        shown = two.head(MOST_DECIDING).astype({"item": str})
        heads = [head for name in reading_names(posterior) for head in (name, "probability")]
        shown.columns = ["item", *heads]
        print_frame(shown, title, out)


def _verdicts(posterior: Posterior) -> None:
    """Say whether labels and coteries are settled."""
    for verdict in (posterior.verdicts.labels, posterior.verdicts.coteries):
        if verdict is not None:
            style = "green" if verdict.settled else "bold yellow"
            console().print(escape(verdict.sentence), style=style)


def agreement(a: Annotations) -> None:
    """Warn if labels of one item agree no more than labels of any two items do."""
    try:
        alpha = krippendorff_alpha(a)
    except DataError:  # no item has two labels
        return
    if alpha < CHANCE:
        said = f"Labels of one item agree hardly more than by chance (alpha {alpha:.2f})"
        console().print(f"{said}: there is little in them to find.", style="bold yellow")


def gold_check(posterior: Posterior) -> None:
    """Say how far the probabilities hold on known items, if that was looked at."""
    found = posterior.run.get("gold_check")
    if found is None:
        return
    mended = " Recalibrated." if "recalibrated" in posterior.run else ""
    mendable = found.get("significant") and not found.get("reversed")
    offer = " Mend them with --recalibrate." if mendable and not mended else ""
    out = console()
    said = f"Gold: {found['sentence']}{mended}{offer}"
    out.print(escape(said), soft_wrap=not out.is_terminal)


def nothing_to_mend() -> None:
    """Say that probabilities were to be mended, and stay."""
    said = "--recalibrate: gold does not refute the probabilities, which stay as they are."
    console().print(said, soft_wrap=True)


def checking(n_known: int) -> None:
    """Say that more fits come, and how to do without."""
    known = count(n_known, "known item")
    console().print(
        f"Five more fits see how far probabilities hold on {known} (--no-check-gold: none).",
        soft_wrap=True,
    )


def offer_check() -> None:
    """Say how to learn what the probabilities are worth here."""
    console().print("How far do these probabilities hold on your known items? Try --check-gold.")


def no_beside(why: str) -> None:
    """Say that a page has no text or pictures of the items, and why."""
    console().print(escape(f"Items without their text or pictures: {why}"), soft_wrap=True)


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
