"""The results for people: one self-contained HTML page, and the same in Markdown."""

from __future__ import annotations

import base64
from collections.abc import Mapping, Sequence
from pathlib import Path
from shutil import copyfile
from typing import Any

from coterie.files.atomic import text_writer, write_file, write_files
from coterie.files.json_text import as_json
from coterie.report import base
from coterie.studies.paper.claims import Claim
from coterie.studies.paper.claims import table as claim_table
from coterie.studies.paper.method import METHOD
from coterie.studies.paper.registry import EXPERIMENTS
from coterie.studies.paper.settings import Settings
from coterie.studies.table import escape
from coterie.words.numbers import duration

Documents = Mapping[str, Mapping[str, Any]]

INTRODUCTION = (
    "Every table and figure of Bayesian Nonparametric Crowdsourcing (Moreno, Teh, Perez-Cruz, "
    "Artes-Rodriguez), made again: ours beside the paper's numbers, with a word where they differ."
)


def write_pages(out: Path, documents: Documents, claims: Sequence[Claim]) -> list[Path]:
    """Write the claims as JSON, and the page."""
    content = as_json({"claims": [claim._asdict() for claim in claims]})
    page = make_page(documents, claims, _pictures(out, documents))
    paths = [out / "claims.json", out / "reproduction.html"]
    write_files({paths[0]: text_writer(content), paths[1]: text_writer(page)})
    return paths


def _pictures(out: Path, documents: Documents) -> dict[str, str]:
    """Give the pictures as base64, by name."""
    paths = {name: out / f"{name}.png" for name in documents}
    return {
        name: base64.b64encode(path.read_bytes()).decode()
        for name, path in paths.items()
        if path.exists()
    }


def make_page(documents: Documents, claims: Sequence[Claim], pictures: Mapping[str, str]) -> str:
    """Write the page as HTML that loads nothing; every name and message is escaped."""
    return base.make_page(
        "paper.html",
        ["coterie.studies.paper", "coterie.studies"],
        styles=["study.css", "paper.css"],
        filters=(duration,),
        introduction=INTRODUCTION,
        method=METHOD,
        claims=claim_table(list(claims)) if claims else None,
        sections=[_section(document) for document in documents.values()],
        pictures=pictures,
        made=_made(documents),
        left_out=_left_out(documents),
        full=_is_full(documents),
    )


def _section(document: Mapping[str, Any]) -> dict[str, Any]:
    experiment = EXPERIMENTS[document["name"]]
    data = document["data"]
    return {
        **document,
        "tables": experiment.tables(data),
        "words": experiment.words(data),
    }


def _is_full(documents: Documents) -> bool:
    return all(document["data"]["made"]["full"] for document in documents.values())


def _made(documents: Documents) -> dict[str, str]:
    """Say how the results were made."""
    if not documents:
        return {}
    smallest = [one for one in documents.values() if not one["data"]["made"]["full"]]
    first = next(iter(smallest or documents.values()))
    codes = sorted({code for document in documents.values() for code in document["code"]})
    return {
        "size": _size(first) if _is_full(documents) else first["data"]["made"]["words"],
        "seed": str(first["seed"]),
        "command": first["data"]["made"].get("command", "coterie reproduce"),
        "code": ", ".join(codes) + (" (mixed!)" if len(codes) > 1 else ""),
    }


def _size(document: Mapping[str, Any]) -> str:
    """Say how large the run of a document was."""
    return Settings(**document["settings"]).describe()


def _left_out(documents: Documents) -> dict[str, str]:
    return {
        name: why for document in documents.values() for name, why in document["left_out"].items()
    }


def write_markdown(path: Path, out: Path, documents: Documents, claims: Sequence[Claim]) -> None:
    """Write the results as Markdown, pictures and JSON in a folder of the same name beside it."""
    folder = path.with_suffix("")
    folder.mkdir(parents=True, exist_ok=True)
    for name in documents:
        for suffix in (".png", ".json"):
            source = out / f"{name}{suffix}"
            if source.exists():
                _copy(source, folder)
    _copy(out / "claims.json", folder)
    pictures = {name for name in documents if (folder / f"{name}.png").exists()}
    text = make_markdown(
        documents, claims, {name: f"{folder.name}/{name}.png" for name in pictures}
    )
    write_file(path, text_writer(text))


def _copy(source: Path, folder: Path) -> None:
    if folder.resolve() != source.parent.resolve():  # results may lie there already
        copyfile(source, folder / source.name)


def make_markdown(
    documents: Documents, claims: Sequence[Claim], pictures: Mapping[str, str]
) -> str:
    """Write the results as Markdown."""
    made = _made(documents)
    lines = ["# The paper again", "", INTRODUCTION, ""]
    lines += [_how(made), ""]
    lines += [f"- {name} is left out: {escape(why)}" for name, why in _left_out(documents).items()]
    if claims:
        lines += ["", "## The paper's claims", "", claim_table(list(claims)).markdown()]
    for document in documents.values():
        section = _section(document)
        lines += ["", f"## {section['title']}", "", f"In the paper: {section['paper']}.", ""]
        if section["name"] in pictures:
            lines += [f"![{section['title']}]({pictures[section['name']]})", ""]
        lines += [line for word in section["words"] for line in (escape(word), "")]
        for table in section["tables"]:
            lines += [f"**{escape(table.title)}**", "", table.markdown(), ""]
        time = duration(document["seconds"])
        lines += [f"{document['jobs']:,} jobs, {time} of one core."]
    lines += ["", "## How it was done", "", *(f"- {sentence}" for sentence in METHOD)]
    return "\n".join(lines) + "\n"


def _how(made: Mapping[str, str]) -> str:
    return (
        f"Made by `{made.get('command', '')}`, code {made.get('code', '')}, "
        f"seed {made.get('seed', '')}: "
        f"{made.get('size', '')}. The numbers are also in JSON, one file a section; the code is "
        "the version and a checksum of the files that compute, which "
        "`python -m coterie.studies.paper` prints."
    )
