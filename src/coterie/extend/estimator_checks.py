"""What every model promises as an estimator: parameters, copies, what fit takes and gives."""

from __future__ import annotations

import pickle
from collections.abc import Callable

import numpy as np
import pandas as pd

from coterie.errors import CoterieError, DataError
from coterie.extend.case import Case, insist, insist_on_same, labels
from coterie.io import read


def check_init(case: Case) -> None:
    """Insist that its __init__ only stores its parameters."""
    model = case.model()
    kept, params = vars(model), model.get_params()
    for name, value in params.items():
        insist(name in kept and kept[name] is value, f"{name} is not stored as it was given")
    odd = sorted(kept.keys() - params.keys())
    insist(not odd, f"it has {', '.join(odd)} before fit, which is no parameter")


def check_copy(case: Case) -> None:
    """Insist that a copy made of its parameters is the same model."""
    model = case.model()
    copy = type(model)(**model.get_params())
    insist(copy.get_params() == model.get_params(), "get_params() of the copy differs")
    insist(repr(copy) == repr(model), f"the copy is {copy!r}, not {model!r}")


def check_unknown_parameter(case: Case) -> None:
    """Insist that parameters which it does not know are refused."""
    said = _said(lambda: case.model().set_params(nonsense=1))
    insist("has no parameter 'nonsense'" in said, "set_params(nonsense=1) was taken")


def check_fit_returns_self(case: Case) -> None:
    """Insist that fit gives the model itself."""
    model = case.model()
    insist(model.fit(labels()) is model, "fit gave something else")


def check_inputs(case: Case) -> None:
    """Insist that the labels it is fitted to are left as they are."""
    frame, before = labels(), labels()
    case.fit(frame)
    insist(frame.equals(before), "fit changed the table it was given")


def check_before_fit(case: Case) -> None:
    """Insist that it says so where results are asked before fit."""
    model = case.model()
    asked: dict[str, Callable[[], object]] = {
        "predict()": model.predict,
        "predict_proba()": model.predict_proba,
        "labels_": lambda: model.labels_,
        "probas_": lambda: model.probas_,
    }
    for name, ask in asked.items():
        insist("not fitted yet; call fit first" in _said(ask), f"{name} does not")


def check_pickle(case: Case) -> None:
    """Insist that it can be pickled, fitted: processes of their own fit models side by side."""
    model = case.model().fit(labels())
    again = pickle.loads(pickle.dumps(model))
    insist(again.get_params() == model.get_params(), "get_params() differs afterwards")
    same = again.predict_proba().equals(model.predict_proba())
    insist(same, "predict_proba() differs afterwards")


def check_predictions(case: Case) -> None:
    """Insist that predict gives the best class of predict_proba, whose rows sum to one."""
    model = case.model().fit(labels())
    shares, chosen = model.predict_proba(), model.predict()
    insist(chosen.index.equals(shares.index), "their items differ")
    best = [float(shares[label][item]) for item, label in chosen.items()]
    insist(np.array_equal(best, shares.max(axis=1)), "predict gives a class that is not the best")
    sums = shares.sum(axis=1)
    insist(np.allclose(sums, 1, rtol=1e-12, atol=0), "rows of predict_proba do not sum to one")


def check_forms(case: Case) -> None:
    """Insist that a table, triples and Annotations of the same labels are the same to it."""
    frame, expected = labels(), case.fit()
    triples = list(frame.itertuples(index=False, name=None))
    insist_on_same(case.fit(triples), expected, "from triples as from a table")
    insist_on_same(case.fit(read(frame)), expected, "from Annotations as from a table")


def check_repeated(case: Case) -> None:
    """Insist that repeated labels are an error unless duplicates= says what they mean."""
    twice = pd.concat([labels(), labels().iloc[:3]])
    insist("duplicates=" in _said(lambda: case.fit(twice)), "they were taken without a word")
    model = case.model(duplicates="keep").fit(twice)
    n_labels = model.posterior_.annotations.n_labels
    insist(n_labels == len(twice), f"duplicates='keep' kept {n_labels} of {len(twice)} labels")


def check_reading(case: Case) -> None:
    """Insist that fit takes what coterie.read takes, and nothing else."""
    said = pd.concat([labels(), labels().iloc[:3]]).reset_index(drop=True)
    said.loc[::5, "label"] = "unsure"
    classes, extra = ["a", "b", "c"], ["unsure"]
    expected = case.fit(read(said, classes=classes, extra_answers=extra, duplicates="first"))
    found = case.fit(said, classes=classes, extra_answers=extra, duplicates="first")
    insist_on_same(found, expected, "read by fit as by coterie.read")
    try:
        case.fit(labels(), clases=classes)
    except TypeError as error:
        insist("unexpected keyword argument 'clases'" in str(error), f"fit(clases=...): {error}")
    else:
        raise CoterieError("fit(clases=...) was taken")


def _said(ask: Callable[[], object]) -> str:
    """Give the sentence of the error that asking raises; nothing if it raises none."""
    try:
        ask()
    except (CoterieError, DataError) as error:
        return str(error)
    return ""


CHECKS = (
    check_init,
    check_copy,
    check_unknown_parameter,
    check_fit_returns_self,
    check_inputs,
    check_before_fit,
    check_pickle,
    check_predictions,
    check_forms,
    check_repeated,
    check_reading,
)
