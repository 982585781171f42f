"""The commands and their options. Everything heavy is imported inside the commands."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer
from typer.core import TyperCommand, TyperOption

from coterie.cli.guard import guarded
from coterie.models.registry import DEFAULT, MODELS
from coterie.version import __version__

app = typer.Typer(
    name="coterie",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
    help="Labels you can trust from noisy annotators, and the groups among them.",
)


def _version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"coterie {__version__}")
        raise typer.Exit


@app.callback()
def _options(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Show the version.")
    ] = False,
) -> None:
    pass


class ListsModels(TyperCommand):
    """A command whose help says which models there are: those of other packages too."""

    def get_help(self, ctx: Any) -> str:
        """Write the names for ``{models}`` in the help of its options."""
        names = ", ".join(MODELS)
        for option in self.params:
            if isinstance(option, TyperOption) and option.help:
                option.help = option.help.replace("{models}", names)
        return super().get_help(ctx)


Model = Annotated[
    str, typer.Option("--model", "-m", help="{models}; or module:Class, one of yours.")
]
Seed = Annotated[int, typer.Option("--seed", min=0, help="Same seed, same result.")]
Format = Annotated[str, typer.Option("--format", help="csv, parquet or json.")]
Out = Annotated[Path | None, typer.Option("--out", "-o", help="Folder for the results.")]
Force = Annotated[bool, typer.Option("--force", help="Overwrite earlier results.")]


@app.command(cls=ListsModels)
@guarded
def aggregate(
    labels: Annotated[
        str, typer.Argument(help="CSV, TSV, JSONL (.gz too) or Parquet; - is stdin.")
    ],
    model: Model = DEFAULT,
    gold: Annotated[
        str | None, typer.Option(help="Known labels, clamped: a file, or a column of LABELS.")
    ] = None,
    truth: Annotated[
        Path | None, typer.Option(help="True labels that only score the result: a file.")
    ] = None,
    out: Out = None,
    item: Annotated[str | None, typer.Option(help="Column of the items.")] = None,
    annotator: Annotated[
        str | None, typer.Option(help="Column of the annotators; or one each: ann,bob,cat")
    ] = None,
    label: Annotated[str | None, typer.Option(help="Column of the labels.")] = None,
    classes: Annotated[
        str | None, typer.Option(help="The possible truths, separated by commas.")
    ] = None,
    extra_answers: Annotated[
        str | None, typer.Option(help="Answers that are never true: unsure,skip")
    ] = None,
    duplicates: Annotated[
        str,
        typer.Option(help="An annotator's repeated labels of an item: error, first, last, keep."),
    ] = "error",
    chains: Annotated[
        int | None, typer.Option(help="Chains of a sampling model (default: the model's own).")
    ] = None,
    sweeps: Annotated[
        int | None, typer.Option(help="Sweeps of each chain at most, burn-in included (likewise).")
    ] = None,
    burn_in: Annotated[
        int | None, typer.Option(help="Sweeps dropped at the start of a chain (likewise).")
    ] = None,
    early_stop: Annotated[
        bool | None,
        typer.Option(
            "--early-stop/--no-early-stop", help="Stop when the chains have converged (likewise)."
        ),
    ] = None,
    jobs: Annotated[
        int | None, typer.Option("--jobs", "-j", min=1, help="Threads (default: all cores).")
    ] = None,
    checkpoint: Annotated[
        Path | None, typer.Option(help="A file to keep a long run in, and to go on from.")
    ] = None,
    strict: Annotated[
        bool, typer.Option("--strict", help="Exit with code 3 if the run has not converged.")
    ] = False,
    report: Annotated[bool, typer.Option(help="Write report.html beside the tables.")] = True,
    seed: Seed = 0,
    format: Format = "csv",
    force: Force = False,
) -> None:
    """Turn labels into a consensus, with the coteries among the annotators, and a report."""
    from coterie.cli import aggregate as command

    reading = {
        "item": item,
        "annotator": _one_or_many(annotator),
        "label": label,
        "gold": gold,
        "classes": _split(classes),
        "extra_answers": _split(extra_answers),
        "duplicates": duplicates,
    }
    lengths = {"chains": chains, "sweeps": sweeps, "burn_in": burn_in, "early_stop": early_stop}
    settings = {
        "random_state": seed,
        "duplicates": duplicates,
        "n_jobs": jobs,
        "checkpoint": checkpoint,
        "progress": True,
        **{name: value for name, value in lengths.items() if value is not None},
    }
    job = command.Job(model, settings, truth, out, format, force, report)
    if not command.run(labels, reading, job) and strict:
        raise typer.Exit(3)


@app.command(cls=ListsModels)
@guarded
def demo(model: Model = DEFAULT, out: Out = None, seed: Seed = 0, force: Force = False) -> None:
    """Aggregate a built-in synthetic crowd whose truth is known, and show the result."""
    from coterie.cli import demo as command

    command.run(model, seed, out, force)


@app.command()
@guarded
def simulate(
    out: Annotated[Path, typer.Option("--out", "-o", help="Folder for the files.")],
    scenario: Annotated[
        str,
        typer.Argument(help="mixed, experts, novices, biased, spammers, adversaries or unsure."),
    ] = "mixed",
    items: Annotated[int, typer.Option(help="Number of items.")] = 300,
    annotators: Annotated[int, typer.Option(help="Number of annotators.")] = 30,
    classes: Annotated[int, typer.Option(help="Number of classes.")] = 3,
    labels_per_item: Annotated[
        int | None, typer.Option(help="Labels of each item; 6 by default.")
    ] = None,
    sparsity: Annotated[
        float | None, typer.Option(help="Or: the share of pairs without a label.")
    ] = None,
    class_balance: Annotated[
        str | None, typer.Option(help="Proportions of the classes: 0.7,0.2,0.1")
    ] = None,
    seed: Seed = 0,
    format: Format = "csv",
    force: Force = False,
) -> None:
    """Write a synthetic crowd: labels, and the truth and groups behind them."""
    from coterie.cli import simulate as command

    sizes = {
        "items": items,
        "annotators": annotators,
        "classes": classes,
        "labels_per_item": labels_per_item,
        "sparsity": sparsity,
        "class_balance": None if class_balance is None else _numbers(class_balance),
        "random_state": seed,
    }
    command.run(scenario, sizes, out, format, force)


@app.command()
@guarded
def datasets() -> None:
    """List the real data sets that coterie can load, with licence and citation."""
    from coterie.cli import datasets as command

    command.run()


@app.command(cls=ListsModels)
@guarded
def compare(
    path: Annotated[
        Path, typer.Argument(help="Labels, or a folder of folders with labels.csv and truth.csv.")
    ],
    models: Annotated[
        str | None,
        typer.Option(help="Any of {models}, or module:Class, separated by commas (default: all)."),
    ] = None,
    truth: Annotated[
        Path | None, typer.Option(help="True labels that only score the result: a file.")
    ] = None,
    only: Annotated[
        str | None, typer.Option(help="Names of data sets, separated by commas (default: all).")
    ] = None,
    out: Annotated[
        Path | None, typer.Option("--out", "-o", help="Folder for the JSON, a page and Markdown.")
    ] = None,
    duplicates: Annotated[
        str,
        typer.Option(help="An annotator's repeated labels of an item: error, first, last, keep."),
    ] = "error",
    seed: Seed = 0,
    sweeps: Annotated[
        int | None,
        typer.Option(help="Sweeps of sampling models, 30 % burn-in (default: the model's own)."),
    ] = None,
    timeout: Annotated[float, typer.Option(help="Seconds for one model on one data set.")] = 600,
    memory: Annotated[float, typer.Option(help="Gigabytes for the same (Linux).")] = 4,
    jobs: Annotated[
        int | None, typer.Option("--jobs", "-j", help="Processes at once (default: one per core).")
    ] = None,
    force: Force = False,
) -> None:
    """Set models side by side on data with a truth: a league against the vote."""
    from coterie.cli import compare as command

    command.run(
        command.Data(path, truth, _split(only), duplicates),
        command.Field(_split(models), seed, sweeps),
        command.Means(timeout, memory, jobs),
        command.Target(out, force),
    )


@app.command()
@guarded
def reproduce(
    names: Annotated[
        list[str] | None, typer.Argument(help="Experiments; --list names them (default: all).")
    ] = None,
    quick: Annotated[
        bool, typer.Option("--quick", help="The whole story, smaller, in minutes.")
    ] = False,
    out: Annotated[
        Path | None,
        typer.Option(
            "--out", "-o", help="Folder to write to, or go on in (default: reproduction)."
        ),
    ] = None,
    jobs: Annotated[
        int | None,
        typer.Option("--jobs", "-j", min=1, help="Processes at once (default: one per core)."),
    ] = None,
    databases: Annotated[
        int | None, typer.Option(min=2, help="Random databases a level (default: 50; quick: 4).")
    ] = None,
    runs: Annotated[
        int | None, typer.Option(min=1, help="Fits of each real set (default: 5; quick: 1).")
    ] = None,
    markdown: Annotated[
        Path | None, typer.Option(help="Also write the page as this Markdown file.")
    ] = None,
    list_: Annotated[bool, typer.Option("--list", help="List the experiments.")] = False,
    mix: Annotated[
        bool, typer.Option("--mix", help="Keep results in the folder that other code made.")
    ] = False,
    seed: Seed = 0,
) -> None:
    """Make the tables and figures of the paper again, beside its numbers."""
    from coterie.cli import reproduce as command

    if list_:
        command.show_experiments()
        return
    target = command.Target(out, markdown)
    settings = command.size(quick, seed, databases, runs)
    command.run(names or [], settings, jobs=jobs, mix=mix, target=target)


@app.command()
@guarded
def report(
    run: Annotated[Path, typer.Argument(help="A run.coterie, or the folder that holds one.")],
    out: Annotated[
        Path | None, typer.Option("--out", "-o", help="The page; by default beside the run.")
    ] = None,
    truth: Annotated[
        Path | None, typer.Option(help="True labels that only score the result: a file.")
    ] = None,
    title: Annotated[str | None, typer.Option(help="Heading of the page.")] = None,
    force: Force = False,
) -> None:
    """Write a saved result as a page to pass around: one HTML file that needs nothing else."""
    from coterie.cli import report as command

    command.run(run, out, truth, title, force)


def _split(words: str | None) -> list[str] | None:
    return None if words is None else [word.strip() for word in words.split(",") if word.strip()]


def _numbers(words: str) -> list[float]:
    try:
        return [float(word) for word in words.split(",")]
    except ValueError:
        raise typer.BadParameter(
            f"{words!r} is not a list of numbers such as 0.7,0.2,0.1"
        ) from None


def _one_or_many(words: str | None) -> str | list[str] | None:
    """Tell the column of the long form from the columns of the wide form."""
    return _split(words) if words is not None and "," in words else words
