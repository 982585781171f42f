"""Options that several commands share, and how what is typed becomes a value."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer
from typer.core import TyperCommand, TyperGroup, TyperOption

from coterie.models.registry import MODELS
from coterie.words.visible import QUOTED, quoted, shorten, visible


class Commands(TyperGroup):
    """All commands: what is typed wrongly is shown as any other text from outside."""

    def invoke(self, ctx: Any) -> Any:
        """Run a command, once its options are understood."""
        try:
            return super().invoke(ctx)
        except Exception as error:  # of typer, or of the click that it stands on
            if "message" in vars(error):
                vars(error)["message"] = shorten(visible(vars(error)["message"]), 3 * QUOTED)
            raise


PANELS = {
    "Columns and classes": "item annotator label classes extra_answers duplicates time kinds",
    "Exports of platforms": "from_ question option keep anonymise annotators order threshold"
    " workflow",
    "Known labels": "gold truth check_gold recalibrate",
    "Chains": "chains sweeps burn_in early_stop strict seed jobs",
    "Long runs and large data": "checkpoint update scan engine",
    "What is written": "out report text image items title format force",
}
"""Options that the help shows together, by the names of their parameters."""


class ListsModels(TyperCommand):
    """A command whose help says which models there are: those of other packages too."""

    def get_help(self, ctx: Any) -> str:
        """Write the names for ``{models}`` in the help of its options, and sort those."""
        names = ", ".join(MODELS)
        panel = {name: title for title, own in PANELS.items() for name in own.split()}
        for option in self.params:
            if isinstance(option, TyperOption):
                option.help = option.help and option.help.replace("{models}", names)
                option.rich_help_panel = panel.get(str(option.name))
        return super().get_help(ctx)


def place(text: str) -> Path:
    """Give a path; an empty one would be the folder that one is in."""
    if not text:
        raise typer.BadParameter("the name is empty")
    try:
        return Path(text).expanduser()
    except RuntimeError:
        raise typer.BadParameter(f"{quoted(text)} names a user who is not there") from None


def a_path(*flags: str, help: str) -> Any:
    """Declare an option that is a path."""
    return typer.Option(*flags, help=help, parser=place, metavar="PATH")


Model = Annotated[
    str, typer.Option("--model", "-m", help="{models}; or module:Class, one of yours.")
]
Seed = Annotated[int, typer.Option("--seed", min=0, help="Same seed, same result.")]
Format = Annotated[str, typer.Option("--format", help="csv, parquet, json or xlsx.")]
Out = Annotated[Path | None, a_path("--out", "-o", help="Folder for the results.")]
Force = Annotated[bool, typer.Option("--force", help="Overwrite earlier results.")]
Truth = Annotated[Path | None, a_path(help="True labels that only score the result: a file.")]
Duplicates = Annotated[
    str, typer.Option(help="An annotator's repeated labels of an item: error, first, last, keep.")
]
Classes = Annotated[str | None, typer.Option(help="The possible truths, separated by commas.")]
ExtraAnswers = Annotated[str | None, typer.Option(help="Answers that are never true: unsure,skip")]
From = Annotated[
    str | None,
    typer.Option("--from", help="Format of the export (default: told from its content)."),
]
Question = Annotated[str | None, typer.Option(help="Which question of an export.")]
Option = Annotated[
    str | None, typer.Option(help="Which option of a multi-select; sets: whole sets.")
]
Keep = Annotated[str | None, typer.Option(help="Count what an export leaves out: rejected,drafts")]
Anonymise = Annotated[
    bool, typer.Option("--anonymise", help="Hide the annotators' ids: salted hashes.")
]
Annotators = Annotated[
    str | None, typer.Option(help="Whose labels: predictions, suggestions, scorers, all.")
]
Workflow = Annotated[str | None, typer.Option(help="Workflow of a Zooniverse export.")]
Threshold = Annotated[float | None, typer.Option(help="Cut judges' scores into verdicts here.")]
Time = Annotated[
    str | None, typer.Option(help="Column that says when a label was given, for dynamic.")
]
Labelled = Annotated[
    Path,
    typer.Argument(
        help="Labels, or a folder of folders with labels.csv and truth.csv.",
        parser=place,
        metavar="PATH",
    ),
]
Title = Annotated[str | None, typer.Option(help="Heading of the page.")]
Datasets = Annotated[
    str | None, typer.Option(help="Names of data sets, separated by commas (default: all).")
]
Text = Annotated[
    str | None, typer.Option("--text", help="Column with the items' text, for the report.")
]
Image = Annotated[
    str | None,
    typer.Option("--image", help="Column with pictures: files are embedded small, URLs linked."),
]
Items = Annotated[
    Path | None, a_path("--items", help="Table of --text and --image (default: LABELS).")
]


def split(words: str | None) -> list[str] | None:
    """Give words that are separated by commas."""
    return None if words is None else [word.strip() for word in words.split(",") if word.strip()]


def numbers(words: str) -> list[float]:
    """Give numbers that are separated by commas."""
    try:
        return [float(word) for word in words.split(",")]
    except ValueError:
        raise typer.BadParameter(
            f"{quoted(words)} is not a list of numbers such as 0.7,0.2,0.1"
        ) from None


def one_or_many(words: str | None) -> str | list[str] | None:
    """Tell the column of the long form from the columns of the wide form."""
    return split(words) if words is not None and "," in words else words
