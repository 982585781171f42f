"""Options that several commands share, and how what is typed becomes a value."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Mapping
from dataclasses import Field, fields
from pathlib import Path
from typing import Annotated, Any, NamedTuple

import typer
from typer.core import TyperCommand, TyperGroup, TyperOption

from coterie.io.reading import Reading
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


def a_path(*told: Any, help: str) -> Any:
    """Declare an option that is a path, as :func:`typer.Option` does others."""
    return typer.Option(*told, help=help, parser=place, metavar="PATH")


Model = Annotated[
    str, typer.Option("--model", "-m", help="{models}; or module:Class, one of yours.")
]
Seed = Annotated[int, typer.Option("--seed", min=0, help="Same seed, same result.")]
Format = Annotated[str, typer.Option("--format", help="csv, parquet, json or xlsx.")]
Out = Annotated[Path | None, a_path("--out", "-o", help="Folder for the results.")]
Force = Annotated[bool, typer.Option("--force", help="Overwrite earlier results.")]
Truth = Annotated[Path | None, a_path(help="True labels that only score the result: a file.")]
Labelled = Annotated[
    Path,
    typer.Argument(
        help="Labels, or a folder of folders with labels.csv and truth.csv.",
        parser=place,
        metavar="PATH",
    ),
]
Told = Annotated[Any, "told"]
"""An option of reading as it is declared, by the name of the parameter."""
Saved = Annotated[
    Path,
    typer.Argument(
        help="A run.coterie, or the folder that holds one.", parser=place, metavar="PATH"
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


class Only(NamedTuple):
    """Which options of reading a command has, in their order, and what its help says otherwise."""

    names: str
    help: Mapping[str, str]


DECLARED: dict[str, Field[Any]] = {
    "from_" if one.name == "format" else one.name: one for one in fields(Reading)
}
"""Options of reading by the names of parameters: ``--format`` is that of what is written."""


def reads(command: Callable[..., None]) -> Callable[..., None]:
    """Put the options of reading, as they are declared, where a command takes them.

    They stand in place of the parameter ``reading``: all of them, or :class:`Only` some. One that
    the command has by itself, of its own words or :data:`Told`, goes into ``reading``, too.
    """
    made: list[inspect.Parameter] = []
    given = inspect.signature(command, eval_str=True).parameters
    for name, one in given.items():
        marks = getattr(one.annotation, "__metadata__", ())
        if name == "reading":
            others = " ".join(name for name in DECLARED if name not in given)
            only = next((mark for mark in marks if isinstance(mark, Only)), Only(others, {}))
            made += [_declared(name, only.help.get(name)) for name in only.names.split()]
        else:
            made.append(_declared(name) if "told" in marks else one)

    @functools.wraps(command)
    def run(**told: Any) -> None:
        for name in told.keys() & DECLARED.keys():
            own, text = DECLARED[name], told[name]
            several = own.metadata["several"]
            if text is None:
                told[name] = own.default
            elif several == "always" or (several == "perhaps" and "," in text):
                told[name] = split(text)
        if "reading" in given:
            asked = {DECLARED[name].name: told.pop(name) for name in told.keys() & DECLARED.keys()}
            told["reading"] = Reading(**asked)
        command(**told)

    by_name = [one.replace(kind=inspect.Parameter.KEYWORD_ONLY) for one in made]
    run.__annotations__ = {one.name: one.annotation for one in by_name}
    vars(run)["__signature__"] = inspect.Signature(by_name)
    return run


def _declared(name: str, help: str | None = None) -> inspect.Parameter:
    own = DECLARED[name]
    kinds: dict[str, Any] = {"bool": bool, "str": str, "float | None": float | None}
    kind = kinds.get(str(own.type), str | None)
    flag = f"--{name.rstrip('_').replace('_', '-')}"
    return inspect.Parameter(
        name,
        inspect.Parameter.KEYWORD_ONLY,
        default=None if own.metadata["several"] else own.default,
        annotation=Annotated[kind, typer.Option(flag, help=help or own.metadata["help"])],
    )
