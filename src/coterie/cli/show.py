"""What a person sees: tables and colour on a terminal, plain text in a pipe."""

from __future__ import annotations

import os
import shlex
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from rich import box
from rich.console import Console
from rich.markup import escape
from rich.measure import Measurement
from rich.table import Table as Sheet

from coterie.abilities import SAMPLED
from coterie.data.annotations import Annotations
from coterie.errors import DataError
from coterie.metrics import Score, krippendorff_alpha
from coterie.posterior import Posterior
from coterie.posterior.draws import INTERVAL
from coterie.posterior.sheets import REVIEW, needs_review
from coterie.posterior.verdicts import reading_names
from coterie.studies.table import Table
from coterie.words.console import SafeConsole
from coterie.words.numbers import count, typed_percent
from coterie.words.visible import shorten

BAR = 10
MOST_COTERIES = MOST_ANNOTATORS = 8
MOST_DECIDING = MOST_DOUBTFUL = 5
MOST_CLASSES = 6
ENOUGH = 20
"""Labels of an annotator, for whom best and worst mean something."""
CHANCE = 0.05
"""Krippendorff's alpha below which labels of one item agree hardly more than by chance."""
IN_A_PIPE = 100
"""Columns where no terminal, and no COLUMNS, says how many there are."""
LEAST_TEXT = 8
"""Characters of a name that are shown, however narrow the terminal."""


def console() -> Console:
    """Make the console for standard output: as wide as the terminal, or COLUMNS, or 100."""
    plain = SafeConsole()
    if plain.is_terminal:
        return plain
    told = os.environ.get("COLUMNS", "")
    width = int(told) if told.isdecimal() and int(told) > 0 else IN_A_PIPE
    return SafeConsole(width=width, no_color=True, highlight=False)


def line(text: str, style: str | None = None) -> None:
    """Say one thing, on one line however long it is."""
    console().print(escape(text), soft_wrap=True, style=style)


def data(sources: Sequence[str], annotations: Annotations) -> None:
    """Say what was read, and from which columns."""
    name = "standard input" if sources[0] == "-" else sources[0]
    name += f" and {len(sources) - 1:,} more" if len(sources) > 1 else ""
    line(f"{name}: {annotations.describe()}")
    if annotations.origin:
        line(annotations.origin)


def files(paths: Sequence[Path]) -> None:
    """Say where the results are."""
    if paths:
        line(f"Written to {paths[0].parent}: {', '.join(path.name for path in paths)}")


def result(
    posterior: Posterior, scores: Mapping[str, Score], paths: Sequence[Path], remark: str = ""
) -> None:
    """Show how the run ended, on one screen; the last line says what to do next."""
    summary(posterior, scores)
    convergence(posterior)
    agreement(posterior.annotations)
    gold_check(posterior)
    if remark:
        console().print(escape(remark))
    files(paths)
    line(next_step(posterior, paths))


def summary(posterior: Posterior, scores: Mapping[str, Score]) -> None:
    """Show the result on one screen: classes, who answers how, where to look, scores of models."""
    out = console()
    out.print()
    for one in consensus(posterior, out.width):
        line(one)
    people(posterior)
    worst = doubtful_table(posterior)
    if len(worst):
        print_frame(worst, "Least certain items", out, dispensable=("labels", "runner-up"))
    compared(scores)


def consensus(
    posterior: Posterior, width: int = IN_A_PIPE, n: NDArray[np.int64] | None = None
) -> list[str]:
    """Say how many items have which label (``n``, if told), in lines that end between labels."""
    classes = posterior.annotations.classes
    n = np.bincount(posterior.label_code, minlength=len(classes)) if n is None else n
    most = np.argsort(-n, kind="stable")[:MOST_CLASSES]
    parts = [f"{classes[t]}: {n[t]:,} ({typed_percent(n[t] / n.sum())})" for t in most]
    if len(classes) > MOST_CLASSES:
        parts.append(f"and {len(classes) - MOST_CLASSES:,} other labels")
    lines = [f"{posterior.model} calls {count(int(n.sum()), 'item')}: {parts[0]}"]
    for part in parts[1:]:
        longer = f"{lines[-1]}, {part}"
        if len(longer) < width:
            lines[-1] = longer
        else:
            lines[-1] += ","
            lines.append(f"  {part}")
    return lines


def people(posterior: Posterior) -> None:
    """Show the coteries, or the annotators of a model that finds none."""
    if not posterior.abilities.coteries:
        title, frame = annotator_table(posterior)
        print_frame(frame, title, console(), dispensable=("sure", "informativeness"))
        return
    title, frame = coterie_table(posterior)
    print_frame(frame, title, console(), dispensable=("sure", "members", "labels"))
    if (smaller := len(posterior.coteries()) - MOST_COTERIES) > 0:
        console().print(f"... and {smaller:,} smaller ones")


def coterie_table(posterior: Posterior) -> tuple[str, pd.DataFrame]:
    """Say how many coteries there are, and list the largest with role, accuracy, some members."""
    a, partition = posterior.annotations, posterior.partition()
    n = partition.n_coteries
    low, high = (f"{x:.0f}" for x in np.quantile(posterior.n_coteries, INTERVAL))
    many = "1 coterie" if n == 1 else f"{n:,} coteries"
    span = low if low == high else f"{low} to {high}"
    stay = "" if int(low) <= n <= int(high) else "; shown are those that last from draw to draw"
    labelled = count(int((a.labels_per_annotator > 0).sum()), "annotator")
    frame = posterior.coteries().head(MOST_COTERIES)
    sizes = zip(frame["size"], frame["share"], strict=True)
    members = [a.annotators[partition.group == m] for m in range(len(frame))]
    columns = {
        "": frame["coterie"],
        "role": frame["role"],
        "sure": frame["role_probability"].map(typed_percent),
        "annotators": [f"{size:,} ({typed_percent(share)})" for size, share in sizes],
        "labels": frame["label_share"].map(typed_percent),
        "accuracy": frame["accuracy"].map(bar),
        "95 %": _intervals(frame),
        "members": [", ".join(map(str, m[:3])) + ", ..." * (len(m) > 3) for m in members],
    }
    title = f"{many} of {labelled} ({span} with 95 % probability{stay})"
    return title, pd.DataFrame(columns)


def annotator_table(posterior: Posterior) -> tuple[str, pd.DataFrame]:
    """Rank the annotators; of many the best and worst of those with enough labels, as is said.

    Enough are 20 labels, and fewer where few people have those.
    """
    frame = posterior.annotators().sort_values("accuracy", ascending=False, kind="stable")
    title = "Annotators"
    if len(frame) > MOST_ANNOTATORS:
        half, n = MOST_ANNOTATORS // 2, frame["n_labels"]
        least = min(ENOUGH, int(n.nlargest(MOST_ANNOTATORS).iloc[-1]))
        enough = frame[n >= least]
        whom = "" if len(enough) == len(frame) else f" with {count(least, 'label')} or more"
        title = f"Annotators: best and worst {half} of {len(enough):,}{whom}"
        frame = pd.concat([enough.head(half), enough.tail(half)])
    columns: dict[str, Any] = {
        "annotator": frame["annotator"].astype(str),
        "labels": frame["n_labels"],
        "accuracy": frame["accuracy"].map(bar),
    }
    if "accuracy_low" in frame:
        columns["95 %"] = _intervals(frame)
    columns["informativeness"] = frame["informativeness"]
    if "role" in frame:
        columns |= {"role": frame["role"], "sure": frame["role_probability"].map(typed_percent)}
    return title, pd.DataFrame(columns)


def bar(share: float) -> str:
    """Draw a share between 0 and 1 as a bar, and write it."""
    full = round(float(np.clip(share, 0, 1)) * BAR)
    return "█" * full + "░" * (BAR - full) + f" {share:.2f}"


def _intervals(frame: pd.DataFrame) -> list[str]:
    both = zip(frame["accuracy_low"], frame["accuracy_high"], strict=True)
    return [f"{low:.2f}-{high:.2f}" for low, high in both]


def doubtful_table(posterior: Posterior) -> pd.DataFrame:
    """List the items whose label is least certain, with the runner-up; known ones never."""
    labels = posterior.labels()
    labels = labels.rename(columns={"runner_up": "runner-up", "n_labels": "labels"})
    unknown = labels[posterior.annotations.codes.gold < 0]
    worst = unknown.sort_values("probability", kind="stable").head(MOST_DOUBTFUL)
    return worst[["item", "label", "probability", "runner-up", "labels"]].astype({"item": str})


def compared(scores: Mapping[str, Score]) -> None:
    """Show the scores of models against the truth, one row per model, if there is one."""
    if not scores:
        return
    out, first = console(), next(iter(scores.values()))
    columns = {
        "model": list(scores),
        "accuracy": [score.accuracy for score in scores.values()],
        "balanced": [score.balanced_accuracy for score in scores.values()],
        "log loss": [score.log_loss for score in scores.values()],
        "calibration error": [score.calibration_error for score in scores.values()],
    }
    title = f"Against the truth of {count(first.items, 'item')}"
    print_frame(pd.DataFrame(columns), title, out)
    ties = "shared" if first.ties == "shared" else "given to the lowest class"
    out.print(f"Ties are {ties}; the log loss counts probabilities below {first.floor:g} as that.")


def nothing_to_score() -> None:
    """Say that only items with a known label have a truth."""
    line("Every item with a truth is known (gold): nothing is left to score.")


def convergence(posterior: Posterior) -> None:
    """Say whether the result can be trusted: both verdicts, and of chains how they ended."""
    run, out, verdicts = posterior.run, console(), posterior.verdicts
    sampled = posterior.method in SAMPLED
    out.print()
    if sampled and run["stopped"] == "interrupted":
        out.print("Interrupted: this is what the draws so far say.", style="yellow")
    if sampled:
        chains = f"{count(run['chains'], 'chain')}, {run['sweeps']:,} sweeps each"
        if run["left_out"]:
            gone = f"{len(run['left_out'])} of {chains}, ended in another mode and are left out."
            out.print(gone, style="bold yellow")
        elif verdicts.labels.settled:
            out.print(f"The chains agree on the labels ({chains}).", style="green")
        else:
            out.print(f"NOT SETTLED ({chains}): do not trust all labels yet.", style="bold red")
    for verdict in (verdicts.labels, verdicts.coteries):
        if verdict is not None:
            style = "green" if verdict.settled else "bold yellow"
            console().print(escape(verdict.sentence), style=style)
    two = posterior.readings() if sampled else None
    if two is not None:
        title = "Two readings: a known label (gold) of these items would decide"
        shown = two.head(MOST_DECIDING).astype({"item": str})
        heads = [head for name in reading_names(posterior) for head in (name, "probability")]
        shown.columns = ["item", *heads]
        print_frame(shown, title, out)


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


def next_step(posterior: Posterior, paths: Sequence[Path]) -> str:
    """Say where to look, and what would help most: gold, longer chains, more labels.

    Examples
    --------
    >>> import coterie
    >>> rows = [("q1", "ann", "yes"), ("q1", "bob", "no"), ("q2", "ann", "no"), ("q2", "bob", "no")]
    >>> next_step(coterie.MajorityVote().fit(rows).posterior_, [])
    'Next: add --out result/ for a report; ask for more labels of the 2 items below 80 %'
    """
    look = "add --out result/ for a report"
    if paths:
        report = next((path for path in paths if path.suffix == ".html"), paths[0])
        look = f"open {shlex.quote(str(report))}"
    return f"Next: {look}; {_what_helps(posterior, paths)}"


def _what_helps(posterior: Posterior, paths: Sequence[Path]) -> str:
    if posterior.readings() is not None:
        return "find out the true labels of the items that would decide, and give them with --gold"
    labels = posterior.verdicts.labels
    if posterior.method in SAMPLED and not labels.settled:
        if labels.agree:
            return f"run longer chains (--sweeps {3 * int(posterior.run['sweeps'])})"
        n = int(posterior.run["chains"])
        return f"run more chains (--chains {2 * n if n > 1 else 4}), or give gold"
    found = posterior.run.get("gold_check") or {}
    if found.get("reversed"):
        return "give gold for more items, and check how it is written: it says the opposite"
    if found.get("significant") and "recalibrated" not in posterior.run:
        return "run again with --recalibrate, which mends probabilities that gold refutes"
    sure = f"{100 * REVIEW:.0f} %"
    doubtful = int(needs_review(posterior).sum())
    if doubtful:
        whom = ""  # where to see which items those are, and whom to ask
        if paths and not posterior.abilities.accuracies:
            whom = " (review in the table of labels)"
        elif paths and not posterior.annotations.sparsity:
            whom = " from somebody new (all of these people have labelled everything)"
        elif paths:
            folder = shlex.quote(str(paths[0].parent))
            whom = f" (coterie plan {folder} --budget 100 says whom)"
        return f"ask for more labels of the {count(doubtful, 'item')} below {sure}{whom}"
    if not posterior.annotations.gold:
        return "give known labels of some items with --gold, and see what probabilities are worth"
    return f"use the labels: none is below {sure}"


def print_frame(
    frame: pd.DataFrame, title: str, out: Console, *, dispensable: Sequence[str] = ()
) -> None:
    """Print a frame: text to the left, numbers to the right, every row on one line."""
    numeric = map(pd.api.types.is_numeric_dtype, (column for _, column in frame.items()))
    left = tuple(k for k, number in enumerate(numeric) if not number)
    rows = [[*map(_cell, row)] for row in frame.itertuples(index=False)]
    table = Table(title, [str(name) for name in frame.columns], rows, left)
    print_table(table, out, wraps=(), dispensable=dispensable, said=False)


def _cell(value: object) -> str:
    if isinstance(value, float | np.floating):
        return f"{value:.3f}"
    if isinstance(value, int | np.integer) and not isinstance(value, bool):
        return f"{value:,}"
    return str(value)


def print_table(
    table: Table,
    out: Console,
    *,
    wraps: Sequence[str],
    dispensable: Sequence[str] = (),
    said: bool = True,
) -> None:
    """Print a table of text: no number is ever cut or broken.

    Cells of the columns in ``wraps`` may be broken into lines; other text that is too long is cut.
    A narrow terminal does without the ``dispensable`` ones, the first first, as may be ``said``.
    """
    left_out = []
    for name in dispensable:
        if name in table.header and _excess(table, out, wraps) > 0:
            left_out.append(name)
            table = table.without(name)
    if not wraps and (excess := _excess(table, out, wraps)) > 0:
        table = _cut(table, excess)
    out.print()
    out.print(escape(table.title), style="bold", highlight=False)  # it may be wider than its table
    out.print(_sheet(table, out, wraps))
    if left_out and said:
        names = ", ".join(left_out)
        out.print(f"(Left out for want of width, but written by --out: {names}.)", style="dim")


def _cut(table: Table, excess: int) -> Table:
    """Take away the middle of the widest column of text, but leave something of it."""
    wide = {k: max(len(row[k]) for row in table.rows) for k in table.left} if table.rows else {}
    if not wide:
        return table
    k = max(wide, key=lambda k: wide[k])
    rows = [list(row) for row in table.rows]
    for row in rows:
        row[k] = shorten(row[k], max(wide[k] - excess, LEAST_TEXT))
    return table._replace(rows=rows)


def _sheet(table: Table, out: Console, wraps: Sequence[str]) -> Sheet:
    look = box.SIMPLE_HEAD if out.is_terminal else None
    sheet = Sheet(box=look, pad_edge=False, show_edge=False, collapse_padding=out.is_terminal)
    for k, name in enumerate(table.header):
        sheet.add_column(
            escape(name),
            justify="left" if k in table.left else "right",
            overflow="fold" if name in wraps else "ellipsis",
            no_wrap=name not in wraps,
        )
    for row in table.rows:
        sheet.add_row(*map(escape, row))
    return sheet


def _excess(table: Table, out: Console, wraps: Sequence[str]) -> int:
    """Give by how much a table is too wide, if none of its cells is broken."""
    wide = out.options.update(width=10_000)
    return Measurement.get(out, wide, _sheet(table, out, wraps)).maximum - out.width
