"""The estimator contract: scikit-learn's by duck typing, crowd-kit's names beside it."""

from __future__ import annotations

import inspect
from collections.abc import Hashable, Mapping
from typing import Any, ClassVar, Self

import numpy as np
import pandas as pd

from coterie.abilities import Abilities, Method
from coterie.data import annotations_from, with_gold
from coterie.data.annotations import Annotations
from coterie.errors import DataError, NotFittedError
from coterie.posterior import Posterior

TrueLabels = Mapping[Hashable, Hashable] | pd.Series | None
CROWD_KIT = {"item": "task", "annotator": "worker", "label": "label"}


class Estimator:
    """Base of every model: ``__init__`` only stores, ``fit`` returns self, results end in ``_``.

    A model says how it is fitted (``method``) and what it can do (``abilities``), writes
    ``_fit(annotations) -> Posterior``, and is otherwise done.
    """

    method: ClassVar[Method]
    abilities: ClassVar[Abilities]

    posterior_: Posterior
    duplicates: str

    def _fit(self, annotations: Annotations) -> Posterior:
        raise NotImplementedError  # pragma: no cover

    def fit(self, data: Any, true_labels: TrueLabels = None) -> Self:
        """Fit the model.

        Parameters
        ----------
        data
            :class:`coterie.Annotations`, a dataframe, or (item, annotator, label) triples.
        true_labels
            Known labels, item -> class: clamped in the fit.
        """
        annotations = as_annotations(data, duplicates=self.duplicates, true_labels=true_labels)
        self.posterior_ = self._fit(annotations)
        return self

    def predict(self) -> pd.Series:
        """Label of each item: Series, item -> label."""
        posterior = self._fitted()
        labels = posterior.annotations.classes[posterior.label_code]
        return pd.Series(labels, index=self.predict_proba().index, name="label")

    def predict_proba(self) -> pd.DataFrame:
        """Probability of each class: index item, one column per class."""
        return self._fitted().probabilities()

    def fit_predict(self, data: Any, true_labels: TrueLabels = None) -> pd.Series:
        """Fit, and give crowd-kit's Series: index ``task``, name ``agg_label``."""
        return self.fit(data, true_labels).labels_

    def fit_predict_proba(self, data: Any, true_labels: TrueLabels = None) -> pd.DataFrame:
        """Fit, and give crowd-kit's DataFrame: index ``task``, one column per label."""
        return self.fit(data, true_labels).probas_

    @property
    def labels_(self) -> pd.Series:
        """crowd-kit's name: task -> label, a Series called ``agg_label``."""
        return self.predict().rename("agg_label").rename_axis("task")

    @property
    def probas_(self) -> pd.DataFrame:
        """crowd-kit's name: index ``task``, one column per label."""
        return self.predict_proba().rename_axis(index="task")

    @property
    def priors_(self) -> pd.Series:
        """crowd-kit's name: label -> proportion, a Series called ``prior``."""
        posterior = self._fitted()
        index = pd.Index(posterior.annotations.classes, name="label")
        return pd.Series(posterior.class_balance, index=index, name="prior")

    @property
    def errors_(self) -> pd.DataFrame:
        """crowd-kit's orientation: rows (worker, given label), columns the true label.

        Columns sum to one within a worker; everywhere else in coterie rows are the true class.
        There is a row for every answer, also for those that the worker never gave.
        """
        posterior = self._fitted()
        a = posterior.annotations
        index = pd.MultiIndex.from_product([a.annotators, a.answers], names=["worker", "label"])
        turned = np.swapaxes(posterior.confusion_mean, 1, 2).reshape(-1, a.n_classes)
        return pd.DataFrame(turned, index=index, columns=pd.Index(a.classes))  # theirs has no name

    def _fitted(self) -> Posterior:
        posterior: Posterior | None = vars(self).get("posterior_")
        if posterior is None:
            raise NotFittedError(f"this {type(self).__name__} is not fitted yet; call fit first")
        return posterior

    @classmethod
    def _parameter_names(cls) -> list[str]:
        return list(inspect.signature(cls).parameters)

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Parameters by name, as given to ``__init__``."""
        return {name: getattr(self, name) for name in self._parameter_names()}

    def set_params(self, **params: Any) -> Self:
        """Set parameters by name."""
        names = self._parameter_names()
        for name, value in params.items():
            if name not in names:
                raise DataError(
                    f"{type(self).__name__} has no parameter {name!r}; it has {', '.join(names)}"
                )
            setattr(self, name, value)
        return self

    def __repr__(self) -> str:
        defaults = inspect.signature(type(self)).parameters
        changed = [
            f"{name}={value!r}"
            for name, value in self.get_params().items()
            if repr(value) != repr(defaults[name].default)
        ]
        return f"{type(self).__name__}({', '.join(changed)})"


def as_annotations(data: Any, *, duplicates: str, true_labels: TrueLabels = None) -> Annotations:
    """Whatever ``fit`` was given, as :class:`Annotations`, with the known labels as gold.

    crowd-kit's three columns are taken as crowd-kit takes them: no other column competes.
    """
    names: dict[str, str] = {}
    if isinstance(data, pd.DataFrame) and set(CROWD_KIT.values()) <= set(data.columns):
        names = CROWD_KIT
    annotations = annotations_from(data, duplicates=duplicates, **names)
    return annotations if true_labels is None else with_gold(annotations, true_labels)
