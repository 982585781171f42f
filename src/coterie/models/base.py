"""The estimator contract: scikit-learn's by duck typing, crowd-kit's names beside it."""

from __future__ import annotations

import inspect
import warnings
from collections.abc import Hashable, Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar, Self, dataclass_transform

import numpy as np
import pandas as pd

from coterie.abilities import SAMPLED, Abilities, Method, Takes
from coterie.arguments import check_plain_settings
from coterie.data import with_gold
from coterie.data.annotations import Annotations
from coterie.data.frames import table
from coterie.errors import Argument, CoterieError, DataError, DataWarning, NotFittedError
from coterie.io import read
from coterie.io.scan.scanned import Scan
from coterie.posterior import Posterior
from coterie.words.notebook import as_html

TrueLabels = Mapping[Hashable, Hashable] | pd.Series | None
CROWD_KIT = {"item": "task", "annotator": "worker", "label": "label"}


@dataclass_transform(kw_only_default=True, eq_default=False, field_specifiers=(field,))
class Estimator:
    """Base of every model: settings are fields, ``fit`` returns self, results end in ``_``.

    A model says how it is fitted (``method``), what it can do (``abilities``), what it needs or can
    be told beside labels (``needs``, ``takes``) and what can be set (annotated, with a default: its
    ``__init__`` is made of these and of its base's, and only stores), writes
    ``_fit(annotations) -> Posterior``, and is otherwise done.
    """

    method: ClassVar[Method]
    abilities: ClassVar[Abilities]
    needs: ClassVar[tuple[str, ...]] = ()  # beside labels, such as their times
    takes: ClassVar[Takes] = Takes()  # beside labels, if it is told

    posterior_: Posterior
    duplicates: str

    def __init_subclass__(cls, *, kw_only: bool = True, **others: Any) -> None:
        super().__init_subclass__(**others)
        if inspect.get_annotations(cls):  # else the base's __init__, written or made, will do
            dataclass(repr=False, eq=False, kw_only=kw_only)(cls)

    def _fit(self, annotations: Annotations) -> Posterior:
        raise NotImplementedError  # pragma: no cover

    def _fit_shards(self, scan: Scan) -> Posterior:
        """Fit to labels in shards, where a model can."""
        self.check_shards()
        raise NotImplementedError  # pragma: no cover

    def check_shards(self) -> None:
        """Refuse a scan, unless the model can be fitted to shards: most look at all labels."""
        if type(self)._fit_shards is Estimator._fit_shards:
            raise CoterieError(
                f"{type(self).__name__} cannot be fitted to a scan; coterie.read the labels if they"
                " fit in memory, or fit a model that takes shards, such as DawidSkene"
            )

    def fit(
        self,
        data: Any,
        true_labels: TrueLabels = None,
        *,
        item: Hashable | None = None,
        annotator: Any = None,
        label: Hashable | None = None,
        **reading: Any,
    ) -> Self:
        """Fit the model.

        Parameters
        ----------
        data
            :class:`coterie.Annotations`, or whatever :func:`coterie.read` takes: a file, a
            dataframe, (item, annotator, label) triples. Some models also take what
            :func:`coterie.scan` gives, labels that are larger than memory.
        true_labels
            Known labels, item -> class: clamped in the fit.
        item, annotator, label
            The names of the columns, where they are not the usual ones.
        **reading
            Other options of :func:`coterie.read`: ``classes=``, ``extra_answers=``,
            ``duplicates=``, and of exports ``question=`` and more.
        """
        columns = {"item": item, "annotator": annotator, "label": label, **reading}
        if isinstance(data, Scan):
            check_plain_settings(self)
            self.posterior_ = self._fit_shards(as_scanned(data, true_labels, columns))
            return self
        self.posterior_ = self._fit(self._read(data, true_labels, **columns))
        return self

    def update(
        self,
        more: Any,
        true_labels: TrueLabels = None,
        *,
        item: Hashable | None = None,
        annotator: Any = None,
        label: Hashable | None = None,
        **reading: Any,
    ) -> Self:
        """Go on with more labels: what ``fit`` would find of old and new ones together.

        New labels, items and annotators join; the classes stay. Chains of sampled models go on from
        where they ended, and take a part of the time; other models are fitted again.

        Parameters
        ----------
        more, true_labels, item, annotator, label, **reading
            As for ``fit``. A pair that has a label already is a repeated one. Without any new
            labels, ``[]``, chains go on with those that there are, and true labels can join.
        """
        from coterie.models.update import is_nothing, joined

        posterior = self._fitted()
        old = posterior.annotations
        if is_nothing(more):
            whole = old if true_labels is None else joined(old, None, self.duplicates, true_labels)
            self.posterior_ = self._go_on(whole, posterior)
            return self
        known: dict[str, Any] = reading
        if not isinstance(more, Annotations):
            known = {**reading, "classes": old.classes.tolist()}
            if len(old.extra_answers):
                known["extra_answers"] = old.extra_answers.tolist()
        columns = {"item": item, "annotator": annotator, "label": label}
        with warnings.catch_warnings():  # what is odd in a part need not be in the whole
            warnings.simplefilter("ignore", DataWarning)
            new = self._read(more, None, **columns, **known)
        whole = joined(old, new, self.duplicates, true_labels)
        self.posterior_ = self._go_on(whole, posterior)
        return self

    def _go_on(self, annotations: Annotations, before: Posterior) -> Posterior:
        """Fit to old and new labels, given what was found of the old ones."""
        return self._fit(annotations)

    def _read(self, data: Any, true_labels: TrueLabels, **columns: Any) -> Annotations:
        """Give whatever ``fit`` was given as Annotations."""
        check_plain_settings(self)
        named = {role: name for role, name in columns.items() if name is not None}
        return as_annotations(data, true_labels, **{"duplicates": self.duplicates, **named})

    @table
    def predict(self, data: Any = None) -> pd.Series:
        """Label of each item: Series, item -> label.

        Parameters
        ----------
        data
            Labels that the fit has not seen, as for :meth:`coterie.Posterior.predict`: what their
            items are. By default the items of the fit.
        """
        posterior = self._fitted()
        if data is not None:
            return posterior.predict(data).set_index("item")["label"]
        labels = posterior.annotations.classes[posterior.label_code]
        return pd.Series(labels, index=posterior.probabilities().index, name="label")

    @table
    def predict_proba(self, data: Any = None) -> pd.DataFrame:
        """Probability of each class: index item, one column per class.

        Parameters
        ----------
        data
            Labels that the fit has not seen, as for :meth:`predict`.
        """
        posterior = self._fitted()
        if data is None:
            return posterior.probabilities()
        found, own = posterior.predict(data), posterior.probabilities()
        shares = found[[f"p({word})" for word in own.columns]].set_axis(own.columns, axis=1)
        return shares.set_index(pd.Index(found["item"], name="item"))

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
                    f"{type(self).__name__} has no parameter {name!r}",
                    argument=name,
                    remedy=f"it has {', '.join(names)}",
                )
            setattr(self, name, value)
        return self

    def _repr_html_(self) -> str:
        posterior: Posterior | None = vars(self).get("posterior_")
        shown = as_html(repr(self))
        return shown if posterior is None else shown + posterior._repr_html_()

    def __sklearn_tags__(self) -> Any:
        """Say to scikit-learn, if that asks, what this is: no classifier of rows of numbers."""
        from sklearn.utils import InputTags, Tags, TargetTags

        return Tags(
            estimator_type=None,
            target_tags=TargetTags(required=False),
            input_tags=InputTags(two_d_array=False, string=True, categorical=True),
            no_validation=True,
            non_deterministic=self.method in SAMPLED,
        )

    def __sklearn_is_fitted__(self) -> bool:
        return "posterior_" in vars(self)

    def __repr__(self) -> str:
        defaults = inspect.signature(type(self)).parameters
        changed = [
            f"{name}={value!r}"
            for name, value in self.get_params().items()
            if repr(value) != repr(defaults[name].default)
        ]
        return f"{type(self).__name__}({', '.join(changed)})"


def as_scanned(scan: Scan, true_labels: TrueLabels, columns: Mapping[str, Any]) -> Scan:
    """Give a scan as it is: what it was read with cannot be changed."""
    told = {"gold": true_labels, **columns}
    for argument, value in told.items():
        if value is not None:
            raise DataError(
                [Argument(argument), " cannot change a scan that was already made"],
                remedy=["pass ", Argument(argument), " to coterie.scan"],
            )
    return scan


def as_annotations(data: Any, true_labels: TrueLabels = None, **reading: Any) -> Annotations:
    """Whatever ``fit`` was given, as :class:`Annotations`, with the known labels as gold.

    crowd-kit's three columns are taken as crowd-kit takes them: no other column competes.
    """
    if isinstance(data, pd.DataFrame) and set(CROWD_KIT.values()) <= set(data.columns):
        reading = CROWD_KIT | reading
    annotations = read(data, **reading)
    return annotations if true_labels is None else with_gold(annotations, true_labels)
