"""coterie judges: read, fit, look, show, write."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import pandas as pd
from rich.markup import escape

from coterie.cli import show
from coterie.data.annotations import Annotations
from coterie.errors import Argument, DataError
from coterie.files.atomic import Writer, check_free, text_writer, write_set
from coterie.io.read import read, read_truth
from coterie.io.reading import Reading
from coterie.io.tables import table_of_file
from coterie.io.write import table_writer
from coterie.judges import Panel, look_at, words
from coterie.judges.page import make_page
from coterie.models import make_model
from coterie.models.majority import score_vote
from coterie.posterior.sheets import REVIEW, label_sheet, needs_review
from coterie.posterior.store import writer as posterior_writer
from coterie.words.numbers import count, percent
from coterie.words.values import did_you_mean, written

FILES = ("judges.html", "labels.csv", "judges.csv", "dependence.csv", "position.csv", "run.coterie")
MOST_JUDGES = 14
MOST_PAIRS = 5
MOST_ITEMS = 5


class Asked(NamedTuple):
    """What to look at, and by what."""

    model: str
    seed: int
    truth: Path | None
    prices: str | None
    tolerance: float
    columns: Path | None
    first: str | None


class Target(NamedTuple):
    """Where to put it."""

    out: Path | None
    title: str | None
    force: bool


def run(sources: Sequence[str], reading: Reading, asked: Asked, target: Target) -> None:
    """Look at a panel, show it on one screen, and write the page and the tables."""
    paths = [] if target.out is None else [target.out / name for name in FILES]
    if target.out is not None:
        check_free(target.out, paths, force=target.force)
    annotations = read(sources[0] if len(sources) == 1 else list(sources), **vars(reading))
    show.data(sources, annotations)
    prices = prices_of(asked.prices, annotations)
    columns = None if asked.columns is None else numbers_of(asked.columns, annotations)
    if columns is not None and len(columns) < annotations.n_items:
        said = f"{len(columns):,} of {count(annotations.n_items, 'item')}"
        show.line(f"{asked.columns}: numbers of {said}")
    truth = None if asked.truth is None else read_truth(asked.truth, annotations)
    if truth is not None and score_vote(annotations, truth).items == 0:  # before the long part
        show.nothing_to_score()
    settings = {"random_state": asked.seed, "duplicates": reading.duplicates, "progress": True}
    model = make_model(asked.model, **settings)
    posterior = model.fit(annotations).posterior_
    panel = look_at(
        posterior,
        truth=truth,
        prices=prices,
        tolerance=asked.tolerance,
        columns=columns,
        first=asked.first,
    )
    screen(panel)
    if target.out is not None:
        write_set(target.out, writers(panel, target), [], force=target.force)
        show.files(paths)
    show.line(next_step(panel, paths))


def next_step(panel: Panel, paths: Sequence[Path]) -> str:
    """Say where to look, and what would help most: gold of the items that decide, or a person."""
    look = f"open {shlex.quote(str(paths[0]))}" if paths else "add --out result/ for a page"
    if panel.posterior.readings() is not None:
        return (
            f"Next: {look}; find out the true labels of the items that would decide, and give them "
            "with --gold"
        )
    n = int(needs_review(panel.posterior).sum())
    if n:
        return f"Next: {look}; have a person label the {count(n, 'item')} below {percent(REVIEW)}"
    return f"Next: {look}; use the labels: none is below {percent(REVIEW)}"


def screen(panel: Panel) -> None:
    """Show a panel on one screen."""
    out = show.console()
    out.print()
    for sentence in words.headline(panel):
        out.print(f"- {escape(sentence)}")
    gone = ("order explains", "labels", "right, by the model")
    show.print_table(
        words.judge_rows(panel, MOST_JUDGES), out, wraps=(), dispensable=gone, said=False
    )
    show.print_table(words.pair_rows(panel, MOST_PAIRS), out, wraps=())
    shown = [words.column_rows(panel, MOST_PAIRS), words.reading_rows(panel, MOST_ITEMS)]
    shown.append(words.doubtful_rows(panel, MOST_ITEMS))
    for table in shown:
        if table is not None and table.rows:
            show.print_table(table, out, wraps=())


def writers(panel: Panel, target: Target) -> dict[Path, Writer]:
    """Give what writes the page and the tables."""
    assert target.out is not None
    made = (
        text_writer(make_page(panel, target.title)),
        table_writer(label_sheet(panel.posterior), "csv"),
        table_writer(panel.judges, "csv"),
        table_writer(panel.dependence, "csv"),
        table_writer(panel.position, "csv"),
        posterior_writer(panel.posterior),
    )
    return {target.out / name: write for name, write in zip(FILES, made, strict=True)}


def prices_of(words_: str | None, annotations: Annotations) -> dict[Any, float] | None:
    """Read prices such as ``gpt-4=10,claude=8``; a judge without one costs 1."""
    if words_ is None:
        return None
    known = {str(name): name for name in annotations.annotators.tolist()}
    prices: dict[Any, float] = dict.fromkeys(known.values(), 1.0)
    for pair in words_.split(","):
        judge, _, price = pair.rpartition("=")
        own = [known[text] for text in (judge, f"{judge} / swapped") if text in known]
        try:
            told = float(price)
        except ValueError:
            told = -1.0
        if told < 0 or not own:
            near = "" if own else did_you_mean(judge, known)
            why = f" is not a judge of the panel and a price{near}: gpt-4=10; judges are "
            raise DataError([Argument("prices", pair), f"{why}{written(known)}"])
        prices |= dict.fromkeys(own, told)
    return prices


def numbers_of(path: Path, annotations: Annotations) -> pd.DataFrame:
    """Read numbers of items: the first column that holds their ids, and all that hold numbers."""
    table = table_of_file(path)
    places = range(len(table.columns))
    cells = zip(table.columns, table.code(list(places)), strict=True)
    frame = pd.DataFrame(
        {str(name): pd.Series(one.values).reindex(one.codes).to_list() for name, one in cells}
    )
    items = {str(item): item for item in annotations.items.tolist()}
    for name in frame.columns:
        if frame[name].astype(str).isin(items).any():
            frame.index = pd.Index([items.get(str(x)) for x in frame.pop(name)], name="item")
            break
    else:
        raise DataError(f"no column of {path} holds items of the panel")
    frame = frame[frame.index.notna()].apply(pd.to_numeric, errors="coerce")
    frame = frame[~frame.index.duplicated()].dropna(axis=1, how="all")
    if frame.empty or not len(frame.columns):
        raise DataError(f"{path} has no column of numbers beside the items")
    return pd.DataFrame(frame)
