"""coterie judges: read, fit, look, show, write."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from typer import Option

from coterie.cli.guard import guarded
from coterie.cli.options import Force, Model, Only, Out, Seed, Title, Truth, a_path, reads
from coterie.errors import Argument, DataError
from coterie.io.reading import Reading
from coterie.models.registry import DEFAULT, make_model

if TYPE_CHECKING:
    import pandas as pd

    from coterie.data.annotations import Annotations
    from coterie.judges import Panel

FILES = ("judges.html", "labels.csv", "judges.csv", "dependence.csv", "position.csv", "run.coterie")
MOST_JUDGES = 14
MOST_PAIRS = 5
MOST_ITEMS = 5
ASKED = Only(
    "from_ question option keep anonymise annotators workflow item annotator label threshold"
    " classes extra_answers duplicates",
    {
        "item": "Column or field of the items.",
        "annotator": "Column of the judges.",
        "label": "Column of the verdicts.",
    },
)


@guarded
@reads
def judges(
    panel: list[str] = typer.Argument(
        ..., help="Verdicts: an evaluation's export (file, folder, several), or a table of labels."
    ),
    model: Model = DEFAULT,
    gold: str | None = Option(None, help="Known labels, clamped: a file, or a column of PANEL."),
    truth: Truth = None,
    prices: str | None = Option(None, help="What judges cost: gpt-4=10,claude=8 (others cost 1)."),
    tolerance: float = Option(
        0.05, min=0, max=1, help="Share of items that a smaller panel may change."
    ),
    columns: Path | None = a_path(
        None, "--columns", help="A table of items with numbers, such as a length."
    ),
    first: str | None = Option(
        None, help="The verdict for what is shown first (default: the lower)."
    ),
    *,
    reading: Annotated[Reading, ASKED],
    out: Out = None,
    title: Title = None,
    seed: Seed = 0,
    force: Force = False,
) -> None:
    """Look at a panel of LLM judges: its worth, copies, biases, whom to keep, how far to trust."""
    from coterie.cli import show
    from coterie.files.atomic import check_free, text_writer, write_set
    from coterie.io.read import read, read_truth
    from coterie.io.write import table_writer
    from coterie.judges import look_at
    from coterie.judges.page import make_page
    from coterie.models.majority import score_vote
    from coterie.posterior.sheets import label_sheet
    from coterie.posterior.store import writer as posterior_writer
    from coterie.words.numbers import count

    names = [
        "judges.html",
        "labels.csv",
        "judges.csv",
        "dependence.csv",
        "position.csv",
        "run.coterie",
    ]
    paths = [] if out is None else [out / name for name in names]
    if out is not None:
        check_free(out, paths, force=force)
    annotations = read(panel[0] if len(panel) == 1 else list(panel), **vars(reading))
    show.data(panel, annotations)
    costs = None if prices is None else prices_of(prices, annotations)
    numbers = None if columns is None else numbers_of(columns, annotations)
    if numbers is not None and len(numbers) < annotations.n_items:
        of = count(annotations.n_items, "item")
        show.line(f"{columns}: numbers of {len(numbers):,} of {of}")
    known = None if truth is None else read_truth(truth, annotations)
    if known is not None and score_vote(annotations, known).items == 0:  # before the long part
        show.nothing_to_score()
    settings = {"random_state": seed, "duplicates": reading.duplicates, "progress": True}
    posterior = make_model(model, **settings).fit(annotations).posterior_
    found = look_at(
        posterior, truth=known, prices=costs, tolerance=tolerance, columns=numbers, first=first
    )
    screen(found)
    if out is not None:
        tables = (label_sheet(posterior), found.judges, found.dependence, found.position)
        writers = [
            text_writer(make_page(found, title)),
            *(table_writer(table, "csv") for table in tables),
            posterior_writer(posterior),
        ]
        write_set(out, dict(zip(paths, writers, strict=True)), [], force=force)
        show.files(paths)
    show.line(next_step(found, paths))


def next_step(panel: Panel, paths: Sequence[Path]) -> str:
    """Say where to look, and what would help most: gold of the items that decide, or a person."""
    from coterie.posterior.sheets import REVIEW, needs_review
    from coterie.words.numbers import count, percent

    look = f"open {shlex.quote(str(paths[0]))}" if paths else "add --out result/ for a page"
    n, sure = int(needs_review(panel.posterior).sum()), percent(REVIEW)
    helps = f"use the labels: none is below {sure}"
    if panel.posterior.readings() is not None:
        helps = "find out the true labels of the items that would decide, and give them with --gold"
    elif n:
        helps = f"have a person label the {count(n, 'item')} below {sure}"
    return f"Next: {look}; {helps}"


def screen(panel: Panel) -> None:
    """Show a panel on one screen."""
    from coterie.cli import show
    from coterie.judges import words

    out = show.console()
    out.print()
    for sentence in words.headline(panel):
        out.print(f"- {sentence}", markup=False)
    gone = ("order explains", "labels", "right, by the model")
    rows = words.judge_rows(panel, MOST_JUDGES)
    show.print_table(rows, out, wraps=(), dispensable=gone, said=False)
    show.print_table(words.pair_rows(panel, MOST_PAIRS), out, wraps=())
    for table in (
        words.column_rows(panel, MOST_PAIRS),
        words.reading_rows(panel, MOST_ITEMS),
        words.doubtful_rows(panel, MOST_ITEMS),
    ):
        if table is not None and table.rows:
            show.print_table(table, out, wraps=())


def prices_of(words: str, annotations: Annotations) -> dict[Any, float]:
    """Read prices such as ``gpt-4=10,claude=8``; a judge without one costs 1."""
    from coterie.words.values import did_you_mean, written

    known = {str(name): name for name in annotations.annotators.tolist()}
    prices: dict[Any, float] = dict.fromkeys(known.values(), 1.0)
    for pair in words.split(","):
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
    import pandas as pd

    from coterie.io.tables import table_of_file

    table = table_of_file(path)
    cells = zip(table.columns, table.code(list(range(len(table.columns)))), strict=True)
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
