"""What every model promises of its results: bits, gold, extra answers, silence, tables, files."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd

from coterie.abilities import SAMPLED
from coterie.errors import CoterieError
from coterie.extend.case import Case, insist, insist_on_same, labels
from coterie.io import read
from coterie.posterior import Posterior, load


def check_seed(case: Case) -> None:
    """Insist that the same seed gives the same bits."""
    insist_on_same(case.fit(), case.fit(), "in a second fit")


def check_order(case: Case) -> None:
    """Insist that the order of rows changes nothing."""
    shuffled = labels().sample(frac=1, random_state=1)
    insist_on_same(case.fit(shuffled), case.fit(), "where rows are shuffled")


def check_second_fit(case: Case) -> None:
    """Insist that a second fit forgets the first."""
    frame = labels()
    model = case.model().fit(frame.iloc[: len(frame) // 2])
    insist_on_same(model.fit(frame).posterior_, case.fit(), "after a fit to other labels")


def check_gold(case: Case) -> None:
    """Insist that known labels are certain."""
    model = case.model().fit(labels(), true_labels=pd.Series({"q00": "c", "q01": "a"}))
    shares, chosen = model.predict_proba(), model.predict()
    for item, known in (("q00", "c"), ("q01", "a")):
        found = float(shares[known][item])
        insist(found == 1, f"a known class of an item has the probability {found!r}")
        insist(chosen[item] == known, "another label than the known one is chosen")


def check_extra_answers(case: Case) -> None:
    """Insist that answers which are no class are never the label, and have a column of matrices."""
    said = labels()
    said.loc[::5, "label"] = "unsure"
    posterior = case.fit(read(said, classes=["a", "b", "c"], extra_answers=["unsure"]))
    classes = list(posterior.probabilities().columns)
    insist(classes == ["a", "b", "c"], f"the columns of probabilities() are {classes}")
    answers = list(posterior.confusion("w0").columns)
    insist(answers == ["a", "b", "c", "unsure"], f"the columns of confusion() are {answers}")
    sums = posterior.confusion_mean.sum(axis=2)
    insist(np.allclose(sums, 1, rtol=1e-6, atol=0), "rows of confusion_mean do not sum to one")


def check_silence(case: Case) -> None:
    """Insist that items and annotators without labels change nothing about the others."""
    wide = labels().pivot(index="task", columns="worker", values="label").reset_index()
    blanks = wide.assign(silent=None)
    blanks.loc[len(blanks)] = ["q99"] + [None] * (blanks.shape[1] - 1)
    workers = [name for name in blanks.columns if name != "task"]
    expected = case.fit(read(wide, item="task", annotator=workers[:-1]))
    found = case.fit(read(blanks, item="task", annotator=workers))
    near = np.allclose(
        found.item_probability[:-1], expected.item_probability, rtol=1e-12, atol=0, equal_nan=True
    )
    insist(near, "probabilities of others move; draw nothing for them in a sweep")
    if found.draws is not None and expected.draws is not None:
        others = found.draws.confusion[:, :, found.annotations.annotators != "silent"]
        same = np.array_equal(others, expected.draws.confusion, equal_nan=True)
        insist(same, "draws of others' matrices move; draw those of the silent from streams.spare")
    insist(np.isfinite(found.item_probability).all(), "an item has no probabilities")
    insist(np.isfinite(found.confusion_mean).all(), "an annotator has no matrix")
    n_labels = int(found.annotators().set_index("annotator")["n_labels"]["silent"])
    insist(n_labels == 0, f"who said nothing has {n_labels} labels")


def check_abilities(case: Case) -> None:
    """Insist that it can do what it declares, and that its tables have the columns of that."""
    model, posterior = case.model(), case.fit()
    can = posterior.abilities  # what it was asked for may say more than its class
    insist(posterior.method == model.method, f"it declares {model.method}, not {posterior.method}")
    for ability in ("coteries", "uncertainty"):
        same = getattr(can, ability) == getattr(model.abilities, ability)
        insist(same, f"the model and its result do not agree on {ability}")
    insist(can.uncertainty == (posterior.draws is not None), "uncertainty means draws")
    insist(isinstance(posterior.converged, bool), "converged is neither True nor False")
    columns = {
        "role": can.uncertainty,
        "accuracy_low": can.uncertainty or can.share_right,
        "coterie": can.coteries,
    }
    table = posterior.annotators()
    for name, wanted in columns.items():
        insist((name in table) == wanted, f"annotators() has a column {name}: {not wanted}")
    for ability, asked in _questions(posterior).items():
        has = posterior.method in SAMPLED if ability == "chains" else getattr(can, ability)
        for name, ask in asked.items():
            _insist_on_answer(posterior, name, ask, has=has)


def _questions(posterior: Posterior) -> dict[str, dict[str, Callable[[], Any]]]:
    """Give what can be asked, by the ability that it takes."""
    return {
        "coteries": {
            "coteries()": posterior.coteries,
            "cooccurrence()": posterior.cooccurrence,
            "n_coteries": lambda: posterior.n_coteries,
        },
        "uncertainty": {"confusion(quantile=0.5)": lambda: posterior.confusion(quantile=0.5)},
        "chains": {"diagnostics()": posterior.diagnostics},
    }


def _insist_on_answer(
    posterior: Posterior, name: str, ask: Callable[[], Any], *, has: bool
) -> None:
    """Insist on an answer where there is one, elsewhere on a sentence that names the model."""
    try:
        found = ask()
    except CoterieError as error:
        insist(not has, f"{name} says {error}")
        insist(str(error).startswith(f"{posterior.model} "), f"{name} does not name the model")
    else:
        insist(has, f"{name} answers, which takes an ability that it does not declare")
        insist(len(found), f"{name} is empty")


def check_file(case: Case) -> None:
    """Insist that a result can be saved and loaded."""
    posterior, path = case.fit(), case.folder / "run.coterie"
    posterior.save(path)
    again = load(path)
    insist_on_same(again, posterior, "after it was saved and loaded")
    insist(again.labels().equals(posterior.labels()), "labels() differs afterwards")
    raw = again.probabilities(raw=True).equals(posterior.probabilities(raw=True))
    insist(raw, "probabilities(raw=True) differs afterwards")
    for name in ("model", "method", "abilities", "settings", "run", "converged"):
        insist(getattr(again, name) == getattr(posterior, name), f"{name} differs afterwards")


def check_report(case: Case) -> None:
    """Insist that a report can be written."""
    posterior, path = case.fit(), case.folder / "report.html"
    posterior.report(path, truth={"q00": "a"})
    page = path.read_text("utf-8")
    insist(posterior.model in page, "it does not name the model")
    grouped = posterior.abilities.coteries
    insist(("Coteries" in page) == grouped, f"it has a section on coteries: {not grouped}")


def check_update(case: Case) -> None:
    """Insist that more labels can join."""
    frame = labels()
    early = frame[frame["task"] < "q20"]
    more = frame[frame["task"] >= "q20"]
    model = case.model().fit(early, classes=["a", "b", "c"])
    posterior = model.update(more).posterior_
    n_labels, n_items = posterior.annotations.n_labels, len(posterior.labels())
    insist(n_labels == len(frame), f"{n_labels} of {len(frame)} labels are there afterwards")
    insist(n_items == 30, f"{n_items} of 30 items are there afterwards")
    insist(np.isfinite(posterior.item_probability).all(), "an item has no probabilities then")


CHECKS = (
    check_seed,
    check_order,
    check_second_fit,
    check_gold,
    check_extra_answers,
    check_silence,
    check_abilities,
    check_file,
    check_report,
    check_update,
)
