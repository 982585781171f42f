"""Is a model a model like all others? The checks that coterie's own models pass, for any model."""

from __future__ import annotations

import pickle
import tempfile
import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from operator import attrgetter
from pathlib import Path
from typing import Any, cast

import numpy as np
import pandas as pd

from coterie.abilities import SAMPLED
from coterie.errors import ConvergenceWarning, CoterieError, DataError
from coterie.inference.chain import make_chain
from coterie.inference.checkpoint import Checkpoint
from coterie.inference.sample import session_of
from coterie.io.read import read
from coterie.models import Estimator, SamplingEstimator
from coterie.posterior import Posterior, load

QUICK: dict[str, Any] = {"sweeps": 60, "burn_in": 20, "chains": 2, "restarts": 3}
QUICK |= {"random_state": 7, "progress": False}
"""Settings that make models quick; models without them do without them."""


@dataclass(frozen=True)
class Case:
    """A model under check: its class, an empty folder, parameters beside the quick ones."""

    kind: type[Estimator]
    folder: Path
    settings: Mapping[str, Any] = field(default_factory=dict)

    def model(self, **others: Any) -> Estimator:
        """Make the model."""
        model = self.kind()
        told = {name: QUICK[name] for name in QUICK.keys() & model.get_params().keys()}
        return model.set_params(**{**told, **self.settings, **others})

    def fit(self, data: Any = None, **others: Any) -> Posterior:
        """Fit the model, to the labels of :func:`labels` unless told."""
        return self.model().fit(labels() if data is None else data, **others).posterior_


def labels() -> pd.DataFrame:
    """Make labels of three classes: 30 items, four labels each, six annotators."""
    rng = np.random.default_rng(3)
    truth = rng.integers(0, 3, 30)
    rows = [
        (f"q{i:02}", f"w{l}", "abc"[truth[i] if rng.random() < 0.8 else rng.integers(0, 3)])
        for i in range(30)
        for l in rng.choice(6, 4, replace=False)
    ]
    return pd.DataFrame(rows, columns=["task", "worker", "label"])


def insist(holds: Any, otherwise: str) -> None:
    """Raise CoterieError, with what is the matter, unless it holds."""
    if not holds:
        raise CoterieError(otherwise)


def insist_on_same(one: Posterior, other: Posterior, when: str) -> None:
    """Raise CoterieError unless two results are the same to the last bit."""
    drawn = ["draws.confusion"] if one.draws is not None and other.draws is not None else []
    for name in ["item_probability", "confusion_mean", "class_balance", *drawn]:
        found, expected = attrgetter(name)(one), attrgetter(name)(other)
        insist(np.array_equal(found, expected, equal_nan=True), f"{name} is not the same {when}")


def said(ask: Callable[[], object], kind: type[Exception] = CoterieError) -> str:
    """Give the sentence of the error that asking raises; nothing if it raises none."""
    try:
        ask()
    except kind as error:
        return str(error)
    return ""


def check_init(case: Case) -> None:
    """Insist that its __init__ only stores its parameters."""
    model = case.model()
    kept, params = vars(model), model.get_params()
    for name, value in params.items():
        insist(name in kept and kept[name] is value, f"{name} is not stored as it was given")
    odd = ", ".join(sorted(kept.keys() - params.keys()))
    insist(not odd, f"it has {odd} before fit, which is no parameter")
    copy = type(model)(**params)
    insist(repr(copy) == repr(model), f"a copy made of its parameters is {copy!r}, not {model!r}")
    refused = "has no parameter 'nonsense'" in said(lambda: case.model().set_params(nonsense=1))
    insist(refused, "set_params(nonsense=1) was taken")


def check_fit(case: Case) -> None:
    """Insist that fit gives the model itself, and leaves the labels as they are."""
    frame, model = labels(), case.model()
    for name in ("predict", "predict_proba"):
        sentence = said(getattr(model, name))
        insist("not fitted yet; call fit first" in sentence, f"{name}() before fit does not say so")
    insist(model.fit(frame) is model, "fit gave something else")
    insist(frame.equals(labels()), "fit changed the table it was given")


def check_predictions(case: Case) -> None:
    """Insist that predict gives the best class of predict_proba, and what is pickled the same."""
    model = case.model().fit(labels())
    shares, chosen = model.predict_proba(), model.predict()
    best = [float(shares[label][item]) for item, label in chosen.items()]
    insist(np.array_equal(best, shares.max(axis=1)), "predict gives a class that is not the best")
    sums = shares.sum(axis=1)
    insist(np.allclose(sums, 1, rtol=1e-12, atol=0), "rows of predict_proba do not sum to one")
    again = pickle.loads(pickle.dumps(model))
    insist(again.get_params() == model.get_params(), "get_params() differs when pickled")
    insist(again.predict_proba().equals(shares), "predict_proba() differs when pickled")


def check_forms(case: Case) -> None:
    """Insist that a table, triples and Annotations of the same labels are the same to it."""
    frame, expected = labels(), case.fit()
    triples = list(frame.itertuples(index=False, name=None))
    insist_on_same(case.fit(triples), expected, "from triples as from a table")
    insist_on_same(case.fit(read(frame)), expected, "from Annotations as from a table")


def check_reading(case: Case) -> None:
    """Insist that fit takes what coterie.read takes, and nothing else."""
    frame = pd.concat([labels(), labels().iloc[:3]]).reset_index(drop=True)
    insist("duplicates=" in said(lambda: case.fit(frame)), "repeated labels pass without a word")
    n_labels = case.model(duplicates="keep").fit(frame).posterior_.annotations.n_labels
    insist(n_labels == len(frame), f"duplicates='keep' kept {n_labels} of {len(frame)} labels")
    frame.loc[::5, "label"] = "unsure"
    options = {"classes": ["a", "b", "c"], "extra_answers": ["unsure"], "duplicates": "first"}
    expected = case.fit(read(frame, **options))  # type: ignore[arg-type]
    insist_on_same(case.fit(frame, **options), expected, "read by fit as by coterie.read")
    refused = said(lambda: case.fit(labels(), clases=["a"]), TypeError)
    insist(refused, "fit(clases=...) was taken")
    insist("unexpected keyword argument 'clases'" in refused, f"fit(clases=...): {refused}")


def check_bits(case: Case) -> None:
    """Insist that the same seed and labels give the same bits."""
    frame, expected = labels(), case.fit()
    insist_on_same(case.fit(), expected, "in a second fit")
    insist_on_same(case.fit(frame.sample(frac=1, random_state=1)), expected, "with rows shuffled")
    model = case.model().fit(frame.iloc[: len(frame) // 2])
    insist_on_same(model.fit(frame).posterior_, expected, "after a fit to other labels")
    if "n_jobs" in model.get_params():
        one, two = (case.model(n_jobs=n).fit(labels()).posterior_ for n in (1, 2))
        insist_on_same(one, two, "in one thread as in two")


def check_gold(case: Case) -> None:
    """Insist that known labels are certain."""
    model = case.model().fit(labels(), true_labels=pd.Series({"q00": "c", "q01": "a"}))
    for item, known in (("q00", "c"), ("q01", "a")):
        found = float(model.predict_proba()[known][item])
        insist(found == 1, f"a known class of an item has the probability {found!r}")
        insist(model.predict()[item] == known, "another label than the known one is chosen")


def check_extra_answers(case: Case) -> None:
    """Insist that answers which are no class are never the label, and have a column of matrices."""
    frame = labels()
    frame.loc[::5, "label"] = "unsure"
    posterior = case.fit(read(frame, classes=["a", "b", "c"], extra_answers=["unsure"]))
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
    others = found.item_probability[:-1]
    near = np.allclose(others, expected.item_probability, rtol=1e-12, atol=0, equal_nan=True)
    insist(near, "probabilities of others move; draw nothing for them in a sweep")
    if found.draws is not None and expected.draws is not None:
        drawn = found.draws.confusion[:, :, found.annotations.annotators != "silent"]
        same = np.array_equal(drawn, expected.draws.confusion, equal_nan=True)
        insist(same, "draws of others' matrices move; draw those of the silent from streams.spare")
    insist(np.isfinite(found.item_probability).all(), "an item has no probabilities")
    insist(np.isfinite(found.confusion_mean).all(), "an annotator has no matrix")


def check_abilities(case: Case) -> None:
    """Insist that it can do what it declares, and that its tables have the columns of that."""
    model, posterior = case.model(), case.fit()
    can = posterior.abilities  # what it was asked for may say more than its class
    insist(posterior.method == model.method, f"it declares {model.method}, not {posterior.method}")
    for name in ("coteries", "uncertainty"):
        same = getattr(can, name) == getattr(model.abilities, name)
        insist(same, f"the model and its result do not agree on {name}")
    insist(can.uncertainty == (posterior.draws is not None), "uncertainty means draws")
    intervals = can.uncertainty or can.share_right
    columns = {"role": can.uncertainty, "accuracy_low": intervals, "coterie": can.coteries}
    for name, wanted in columns.items():
        there = name in posterior.annotators()
        insist(there == wanted, f"annotators() has a column {name}: {not wanted}")
    asked: list[tuple[str, Callable[[], Any], bool]] = [
        ("coteries()", posterior.coteries, can.coteries),
        ("cooccurrence()", posterior.cooccurrence, can.coteries),
        ("n_coteries", lambda: posterior.n_coteries, can.coteries),
        ("confusion(quantile=0.5)", lambda: posterior.confusion(quantile=0.5), can.uncertainty),
        ("diagnostics()", posterior.diagnostics, posterior.method in SAMPLED),
    ]
    for name, ask, has in asked:
        sentence = said(ask)
        insist(has == (not sentence), f"{name} {f'says {sentence}' if has else 'answers'}")
        own = not sentence or sentence.startswith(f"{posterior.model} ")
        insist(own, f"{name} does not name the model")


def check_file(case: Case) -> None:
    """Insist that a result can be saved and loaded, and that a report can be written."""
    posterior, path = case.fit(), case.folder / "run.coterie"
    posterior.save(path)
    again = load(path)
    insist_on_same(again, posterior, "after it was saved and loaded")
    insist(again.labels().equals(posterior.labels()), "labels() differs afterwards")
    for name in ("model", "method", "abilities", "settings", "run", "converged"):
        insist(getattr(again, name) == getattr(posterior, name), f"{name} differs afterwards")
    posterior.report(case.folder / "report.html", truth={"q00": "a"})
    page = (case.folder / "report.html").read_text("utf-8")
    insist(posterior.model in page, "the report does not name the model")


def check_update(case: Case) -> None:
    """Insist that more labels can join."""
    frame = labels()
    early = frame["task"] < "q20"
    model = case.model().fit(frame[early], classes=["a", "b", "c"])
    posterior = model.update(frame[~early]).posterior_
    n_labels = posterior.annotations.n_labels
    insist(n_labels == len(frame), f"{n_labels} of {len(frame)} labels are there afterwards")
    insist(np.isfinite(posterior.item_probability).all(), "an item has no probabilities then")


def check_middle(case: Case) -> None:
    """Insist that a chain which is stopped, stored and restored goes on as if nothing had been."""
    model = case.model()
    if not isinstance(model, SamplingEstimator):
        return
    sampler, store = model._sampler(read(labels())), Checkpoint(case.folder / "middle", {})
    ends = []
    for first in (True, False):
        with session_of(sampler, model._options(sampler)) as session:
            chain = make_chain(sampler, 0, np.random.SeedSequence(7), session)
            if first:
                list(chain.steps(sampler.plan.burn_in + 5))
                store.write([chain], 7)
            else:
                store.restore(cast(Any, store.read()), [chain])
            list(chain.steps(sampler.plan.end))
            chain.end()
        ends.append({"sums": chain.sums, **chain.kept})
    straight, restored = ends
    same = all(np.array_equal(array, restored[name]) for name, array in straight.items())
    insist(same, "it does not; what a sweep needs of the one before belongs in the state")


CHECKS = (
    check_init, check_fit, check_predictions, check_forms, check_reading, check_bits, check_gold,
    check_extra_answers, check_silence, check_abilities, check_file, check_update, check_middle,
)  # fmt: skip
"""All of them; the sentence of each says what is promised."""


def check_model(kind: type[Estimator], **settings: Any) -> None:
    """Check that a model does what every model does; say in one sentence what it does not.

    It is fitted some forty times to 120 labels, in short chains. Whether a sampler draws from the
    right posterior is another question: :func:`check_sampler`.

    Parameters
    ----------
    kind
        The class of the model, which takes labels and nothing more.
    **settings
        Parameters of the model that are not to be the defaults, such as ``prior=``.

    Raises
    ------
    CoterieError
        The first promise that the model does not keep, and what it does instead.

    Examples
    --------
    >>> from coterie import DawidSkene
    >>> check_model(DawidSkene)
    >>> class Forgetful(DawidSkene):
    ...     def fit(self, *labels, **told):
    ...         super().fit(*labels, **told)
    >>> check_model(Forgetful)
    Traceback (most recent call last):
    coterie.errors.CoterieError: Forgetful breaks the promise that fit gives the model itself, ...
    """
    given: Any = kind
    if not isinstance(given, type) or not issubclass(given, Estimator):
        raise DataError(f"check_model takes the class of a model, got {given!r}")
    if kind.needs:
        raise DataError(
            f"{kind.__name__} needs {' and '.join(kind.needs)} beside labels, which check_model"
            " does not make; check it with labels of your own"
        )
    for check in CHECKS:
        run_check(check, kind, **settings)


def run_check(check: Callable[[Case], None], kind: type[Estimator], **settings: Any) -> None:
    """Run one check; what it finds becomes one sentence that names the model and the promise."""
    with tempfile.TemporaryDirectory() as folder, warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # chains are short
        try:
            check(Case(kind, Path(folder), settings))
        except Exception as error:  # whatever a model of others raises
            what = str(error) if isinstance(error, CoterieError) else f"{error!r}"
            promise = str(check.__doc__).removeprefix("Insist that ").rstrip(".")
            why = f"{kind.__name__} breaks the promise that {promise}: {what}"
            raise CoterieError(why) from error
