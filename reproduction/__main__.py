"""Make the tables and figures of the paper again, beside its numbers: ``make paper``."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Sequence
from contextlib import closing
from dataclasses import asdict, replace
from pathlib import Path
from typing import Annotated

import typer
from jinja2 import Environment, FileSystemLoader, StrictUndefined
from matplotlib import rc_context
from rich.console import Console
from rich.progress import track

from coterie.diagnostics import LARGEST_R_HAT, LEAST_ESS
from coterie.errors import CoterieError, DataError
from coterie.files.atomic import folder_held, text_writer, write_file
from coterie.files.values import as_json
from coterie.inference.shards import cores
from coterie.studies.journal import Journal, this_code
from coterie.studies.pool import Job, run_jobs
from coterie.studies.table import escape
from coterie.words.numbers import decimal, duration, in_percent, signed
from reproduction import real, sparsity, theory
from reproduction.base import FONT, Experiment, say_how
from reproduction.claims import judge
from reproduction.settings import FULL, MODELS, QUICK, Settings
from reproduction.work import load, seed_of, seeded

HERE = Path(__file__).parent
COMPUTES = [HERE / name for name in ("settings.py", "theory.py", "work.py")]
KINDS: tuple[type[Experiment], ...] = (
    real.Datasets, real.Accuracy, real.Confusion, real.TogetherReal, sparsity.SparsityReal,
    sparsity.Synthetic, sparsity.SparsitySynthetic, sparsity.TogetherSynthetic,
    theory.Correlation, theory.Limits,
)  # fmt: skip
EXPERIMENTS = {kind.name: kind() for kind in KINDS}
"""In the order of the page."""
ELSEWHERE = "choose another --out"


class Folder:
    """What a folder is for, what was done in it, and what was made of that.

    ``settings.json`` says what it is for; ``jobs.jsonl`` holds results as they came;
    ``reproduction.md`` is the page, of which ``reproduction/`` holds numbers and pictures.
    """

    def __init__(self, path: Path, settings: Settings, *, mix: bool = False) -> None:
        self.path, self.parts, self.settings = path, path / "reproduction", settings
        self.code = this_code(COMPUTES)
        wanted, file = json.loads(as_json(asdict(settings))), path / "settings.json"
        if file.exists():
            found = json.loads(file.read_text("utf-8"))
            other = ", ".join(f"{k}: {found.get(k)}" for k in wanted if found.get(k) != wanted[k])
            if other:
                raise DataError(f"{path} holds a run with other settings ({other}); {ELSEWHERE}")
        elif any(path.iterdir()):
            raise DataError(f"{path} holds other files; {ELSEWHERE}")
        else:
            write_file(file, text_writer(as_json(wanted)))
        self.journal = Journal(path / "jobs.jsonl")
        others = {line["code"] for line in self.journal.lines.values()} - {self.code["code"]}
        if others and not mix:
            raise DataError(
                f"{path} holds results of other code ({', '.join(sorted(others))}; this is "
                f"{self.code['code']}); {ELSEWHERE}, or pass --mix to keep them"
            )

    def do(self, jobs: Sequence[Job], workers: int) -> dict[str, str]:
        """Do jobs and keep their results; give the errors by name."""
        todo, errors = {job.name: job for job in jobs if job.name not in self.journal}, {}
        console = Console(stderr=True)
        with closing(
            run_jobs([seeded(job, self.settings) for job in todo.values()], workers)
        ) as of:
            for outcome in track(of, "", len(todo), console=console, transient=True):
                if outcome.status == "ok":
                    seed = seed_of(self.settings.seed, outcome.name)
                    line = {"job": outcome.name, "seed": seed, "seconds": round(outcome.seconds, 3)}
                    line |= {**self.code, "result": outcome.result}
                    self.journal.add(line)
                else:
                    errors[outcome.name] = f"{outcome.name}: {outcome.reason}"
        return errors

    def write(self, experiment: Experiment, jobs: Sequence[Job], left_out: dict[str, str]) -> None:
        """Write the numbers and the picture of an experiment."""
        settings, name = self.settings, experiment.name
        lines = [self.journal.lines[job.name] for job in jobs]
        data = experiment.gather(settings, {line["job"]: line["result"] for line in lines})
        codes = sorted({f"{one['version']} {one['code']}" for one in lines or [self.code]})
        full, size = settings.is_full_for(name), settings.describe()
        kind = "SMALLER" if settings.name == "full" else settings.name.upper()
        words = f"{kind} RUN, smaller than the paper's: {size} ({codes[0]})"
        if full:
            words = f"coterie {', '.join(codes)}; seed {settings.seed}; {size}"
        data["made"] = {"full": full, "words": words, "command": settings.command()}
        document = {
            "name": name,
            "title": experiment.title,
            "paper": experiment.source,
            "version": self.code["version"],
            "code": codes,
            "settings": asdict(settings),
            "seed": settings.seed,
            "jobs": len(jobs),
            "seconds": round(sum(line["seconds"] for line in lines), 1),
            "left_out": left_out,
            "data": data,
        }
        self.parts.mkdir(exist_ok=True)
        write_file(self.parts / f"{name}.json", text_writer(as_json(document)))
        with rc_context({"font.size": FONT, "axes.titlesize": FONT}):
            figure = experiment.draw(data)
            say_how(figure, data["made"])
            told = {"format": "png", "bbox_inches": "tight"}
            write_file(self.parts / f"{name}.png", lambda part: figure.savefig(part, **told))

    def write_page(self) -> list[dict[str, str]]:
        """Write the claims and the page, of all that the folder holds; give the claims."""
        paths = [self.parts / f"{name}.json" for name in EXPERIMENTS]
        documents = [json.loads(path.read_text("utf-8")) for path in paths if path.exists()]
        for one in documents:
            one["tables"] = EXPERIMENTS[one["name"]].tables(one["data"])
        claims = judge({one["name"]: one["data"] for one in documents})
        write_file(self.parts / "claims.json", text_writer(as_json({"claims": claims})))
        codes = sorted({code for one in documents for code in one["code"]})
        made = [one["data"]["made"] for one in documents]
        made = next((one for one in made if not one["full"]), {"words": self.settings.describe()})
        template = Environment(
            loader=FileSystemLoader(HERE), undefined=StrictUndefined, trim_blocks=True,
            lstrip_blocks=True, keep_trailing_newline=True,
        )  # fmt: skip
        template.filters |= {f.__name__: f for f in (escape, decimal, duration, in_percent, signed)}
        page = template.get_template("page.md").render(
            sections=documents,
            claims=claims,
            size=made["words"],
            command=self.settings.command(),
            codes=", ".join(codes) + (" (mixed!)" if len(codes) > 1 else ""),
            seed=self.settings.seed,
            left_out={name: why for one in documents for name, why in one["left_out"].items()},
            models=MODELS,
            criterion=(LARGEST_R_HAT, LEAST_ESS),
        )
        write_file(self.path / "reproduction.md", text_writer(page))
        return claims


def reproduce(
    names: Sequence[str],
    settings: Settings,
    out: Path,
    *,
    workers: int = 1,
    mix: bool = False,
    say: Callable[[str], object] = lambda sentence: None,
) -> list[str]:
    """Do what is not done in a folder, then write everything; give what could not be made.

    The results depend on the settings alone, not on the number of processes or the order of jobs.
    """
    for name in names:
        if name not in EXPERIMENTS:
            raise DataError(f"there is no experiment {name!r}; there are {', '.join(EXPERIMENTS)}")
    chosen = [one for name, one in EXPERIMENTS.items() if not names or name in names]
    out.mkdir(parents=True, exist_ok=True)
    with folder_held(out):
        folder = Folder(out, settings, mix=mix)
        wanted = {one.name: one.jobs(settings) for one in chosen}
        every = [job for jobs in wanted.values() for job in jobs]
        left_out = {}
        for name in {
            n: None
            for job in every
            if (n := job.told.get("data")) in settings.real_sets and job.name not in folder.journal
        }:
            try:
                load(name)
            except CoterieError as error:
                left_out[name] = str(error)
                say(f"{name} is left out: {error}")
        present = {n: [job for job in jobs if job.told.get("data") not in left_out]
                   for n, jobs in wanted.items()}  # fmt: skip
        if all(wanted.values()) and not any(present.values()):
            raise DataError(f"nothing can be made: {next(iter(left_out.values()))}")
        jobs = {job.name: job for jobs in present.values() for job in jobs}
        errors = folder.do([*jobs.values()], workers)
        failed = []
        for one in chosen:
            why = next((errors[job.name] for job in present[one.name] if job.name in errors), None)
            if why is None:
                folder.write(one, present[one.name], left_out)
            else:
                failed.append(f"{one.name} is left out: {why}")
        verdicts = [f"{one['verdict']:20}{one['claim']}" for one in folder.write_page()]
    for sentence in [*failed, *verdicts]:
        say(sentence)
    return failed


def main(
    names: Annotated[
        list[str] | None, typer.Argument(help="Experiments; --list names them (default: all).")
    ] = None,
    quick: Annotated[bool, typer.Option("--quick", help="Smaller, in minutes.")] = False,
    out: Annotated[Path | None, typer.Option(help="Folder to write to, or go on in.")] = None,
    jobs: Annotated[int | None, typer.Option(help="Processes (default: one per core).")] = None,
    databases: Annotated[
        int | None, typer.Option(min=2, help="Random databases per level (default: 50; quick: 4).")
    ] = None,
    runs: Annotated[
        int | None, typer.Option(min=1, help="Fits of each real set (default: 5; quick: 1).")
    ] = None,
    list_: Annotated[bool, typer.Option("--list", help="List the experiments.")] = False,
    mix: Annotated[bool, typer.Option(help="Keep results that other code made.")] = False,
    seed: Annotated[int, typer.Option(help="Seed of all.")] = 0,
) -> None:
    """Make the tables and figures of the paper again, beside its numbers."""
    if list_:
        for name, one in EXPERIMENTS.items():
            typer.echo(f"{name:24}{one.title} ({one.source})")
        return
    base = QUICK if quick else FULL
    settings = replace(
        base, seed=seed, databases=databases or base.databases, runs=runs or base.runs
    )
    out = out or Path("result", "paper-quick" if quick else "paper")
    try:
        failed = reproduce(
            names or [], settings, out, workers=jobs or cores(), mix=mix, say=typer.echo
        )
    except CoterieError as error:
        sys.exit(f"Error: {error}")
    typer.echo(f"Written to {out}; begin with {out / 'reproduction.md'}")
    if failed:
        sys.exit(f"Error: {len(failed)} experiments failed; the reasons are above")


if __name__ == "__main__":
    typer.run(main)
