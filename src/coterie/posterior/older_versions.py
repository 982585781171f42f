"""Saved files of older versions, turned into what the newest version would hold.

The only place where a model's abilities, and how it reports, are guessed: files state the former
from version 2 on, all of them and the latter from version 3 on.
"""

from __future__ import annotations

from dataclasses import asdict, replace
from typing import Any

import numpy as np

from coterie.abilities import Abilities, Method
from coterie.diagnostics import WATCHED, has_converged
from coterie.files.container import Content
from coterie.files.json_values import from_json
from coterie.files.vocabulary import Arrays
from coterie.kernels.mixing import Mixing
from coterie.kernels.quick.consensus import MIXING
from coterie.kernels.quick.likeness import overlap_of

VOTE = "MajorityVote"
NAMES = {"n_groups": "n_coteries"}
"""What version 1 called otherwise."""


def upgraded(content: Content) -> tuple[dict[str, Any], Arrays]:
    """Give the header and the arrays of a file as the newest version has them."""
    header, arrays = dict(content.header), dict(content.arrays)
    if content.version == 1:
        # Of where the labels come from it knew no more than a sentence, which stays.
        header["annotations"] = {**header["annotations"], "provenance": None}
        header["trace"] = _split_trace(header["trace"], arrays)
        header |= _unsaid(header, arrays)
    header.setdefault("last", [])  # the first files of version 2 have none
    if content.version < 3:
        header["mixing"] = asdict(_mixing(header))
        likeliest = "smoothing" in header["settings"]  # which only models had that maximise
        header["abilities"] = {"likeliest": likeliest, **header["abilities"]}
    return header, arrays


def _mixing(header: dict[str, Any]) -> Mixing:
    """Say how the model reported, by what only models had that mix."""
    run, settings = from_json(header["run"]), from_json(header["settings"])
    if "correlation" in run:
        return replace(MIXING, overlap=overlap_of(float(run["correlation"])))
    return Mixing(
        overlap=float(settings.get("design_effect", 0.0)),
        vote_share=float(settings.get("vote_share", 0.0)),
        skill_share=float(settings.get("skill_share", 0.0)),
    )


def _split_trace(names: Any, arrays: Arrays) -> list[str]:
    """Turn the one array of all traces into one array per name; give the names.

    Version 1 kept the rows of that array by text: "log_joint", and "class_total[0]",
    "class_total[1]" ... for what is one array now.
    """
    rows = list(arrays.pop("draws.trace", ()))
    if not isinstance(names, list) or len(set(map(str, names))) != len(rows):
        raise ValueError("the trace has not as many names as rows")
    several: dict[str, list[Any]] = {}
    for name, row in zip(names, rows, strict=True):
        start, indexed, _ = str(name).partition("[")
        if indexed:
            several.setdefault(start, []).append(row)
        else:
            arrays[f"draws.trace.{NAMES.get(start, start)}"] = row
    for name, each in several.items():
        arrays[f"draws.trace.{name}"] = np.stack(each, axis=-1)
    whole = [NAMES.get(str(name), str(name)) for name in names if "[" not in str(name)]
    return [*whole, *several]


def _unsaid(header: dict[str, Any], arrays: Arrays) -> dict[str, Any]:
    """Say what version 1 left to the model's name and to what is in the file."""
    sampled, vote = "draws.confusion" in arrays, header["model"] == VOTE
    abilities = Abilities(
        coteries="draws.partition" in arrays,
        uncertainty=sampled,
        probabilities=not vote,
        accuracies=not vote,
        likeliest=not (sampled or vote),
    )
    method: Method = "gibbs" if sampled else "count" if vote else "em"
    run = header["run"]
    trace = {name: arrays[f"draws.trace.{name}"] for name in header["trace"]}
    settled = has_converged(trace) if sampled else bool(run.get("converged", True))
    return {
        "method": method,
        "abilities": asdict(abilities),
        "converged": settled and not run.get("left_out"),
        "watched": list(WATCHED),
        "extra": {},
        "item_numbers": {},
    }
