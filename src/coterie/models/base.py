"""The estimator contract: scikit-learn's by duck typing, crowd-kit's names beside it."""

from __future__ import annotations

import inspect
import warnings
from collections.abc import Callable, Hashable, Mapping
from dataclasses import dataclass, field, fields, replace
from typing import Any, ClassVar, Self, dataclass_transform

import numpy as np
import pandas as pd

from coterie import errors
from coterie.abilities import SAMPLED, Abilities, Method, Takes
from coterie.arguments import check_plain_settings
from coterie.data import annotations_from, table_from, with_gold
from coterie.data.annotations import Annotations
from coterie.data.frames import table
from coterie.data.gold import KnownKinds, kinds_of_column, known_kinds
from coterie.errors import Argument, DataError, DataWarning
from coterie.io.read import is_path, read
from coterie.io.scan.scanned import Scan
from coterie.io.tables import table_of_file
from coterie.posterior import ItemNumbers, Posterior
from coterie.posterior.items import KIND
from coterie.posterior.sharded import Found, FoundItems, ShardedPosterior, people_of
from coterie.words.names import as_html
from coterie.words.visible import quoted

TrueLabels = Mapping[Hashable, Hashable] | pd.Series | None
Labels = Annotations | Scan
CROWD_KIT = {"item": "task", "annotator": "worker", "label": "label"}


def setting(default: Any, check: Callable[..., None], *bounds: Any) -> Any:
    """Declare a setting that fits check, ``check(value, argument, *bounds)``; None may be one."""
    return field(default=default, metadata={"check": (check, bounds)})


@dataclass_transform(kw_only_default=True, eq_default=False, field_specifiers=(field,))
class Estimator:
    """Base of every model: settings are fields, ``fit`` returns self, results end in ``_``.

    A model says how it is fitted (``method``), what it can do (``abilities``), what it needs or can
    be told beside labels (``needs``, ``takes``) and what can be set (annotated, with a default: its
    ``__init__`` is made of these and of its base's, and only stores), writes
    ``_fit(annotations) -> Posterior``, and is otherwise done. One that looks at items shard by
    shard says so by ``shards``, and is given scans too.
    """

    method: ClassVar[Method]
    abilities: ClassVar[Abilities]
    needs: ClassVar[tuple[str, ...]] = ()  # beside labels, such as their times
    takes: ClassVar[Takes] = Takes()  # beside labels, if it is told
    shards: ClassVar[bool] = False  # whether a scan is taken

    posterior_: Posterior
    known_kinds_: KnownKinds | None = None  # of the items, if fit was told
    n_iter_: int  # of models that climb
    loss_history_: list[float]
    converged_: bool
    duplicates: str

    def __init_subclass__(cls, *, kw_only: bool = True, **others: Any) -> None:
        super().__init_subclass__(**others)
        if inspect.get_annotations(cls):  # else the base's __init__, written or made, will do
            dataclass(repr=False, eq=False, kw_only=kw_only)(cls)

    def _fit(self, labels: Any) -> Posterior:
        raise NotImplementedError  # pragma: no cover

    def check_shards(self) -> None:
        """Refuse a scan, unless the model can be fitted to shards: most look at all labels."""
        if not self.shards:
            raise errors.CoterieError(
                f"{type(self).__name__} cannot be fitted to a scan; coterie.read the labels if they"
                " fit in memory, or fit a model that takes shards, such as DawidSkene"
            )

    def _check(self) -> None:
        """Refuse settings out of their bounds."""
        for one in fields(self):  # type: ignore[arg-type]
            if "check" in one.metadata:
                value, (check, bounds) = getattr(self, one.name), one.metadata["check"]
                if value is not None or one.default is not None:
                    check(value, Argument(one.name, of=type(self).__name__), *bounds)

    def fit(
        self, data: Any, true_labels: TrueLabels = None, *, item: Hashable | None = None,
        annotator: Any = None, label: Hashable | None = None, **reading: Any,
    ) -> Self:  # fmt: skip
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
        self.posterior_ = self._fit(self._read(data, true_labels, columns))
        return self

    def _read(
        self, data: Any, true_labels: TrueLabels, columns: Mapping[str, Any], **told: Any
    ) -> Any:
        """Give labels in memory as annotations; a scan as it is, which can be told nothing more."""
        check_plain_settings(self)
        if isinstance(data, Scan):
            for argument, value in {"gold": true_labels, **told, **columns}.items():
                if value is not None:
                    why = (Argument(argument), " cannot change a scan that was already made")
                    raise DataError(why, remedy=["pass ", Argument(argument), " to coterie.scan"])
            self.check_shards()
        scanned = isinstance(data, Scan)
        labels = data if scanned else self._annotations(data, true_labels, columns)
        if self.takes.known_kinds:
            kinds = told["kinds"]
            self.known_kinds_ = None if kinds is None else find_kinds(kinds, data, labels)
        return labels

    def _annotations(
        self, data: Any, true_labels: TrueLabels, columns: Mapping[str, Any]
    ) -> Annotations:
        """Read labels; crowd-kit's three columns as crowd-kit does: no other column competes."""
        reading = {role: name for role, name in columns.items() if name is not None}
        if isinstance(data, pd.DataFrame) and set(CROWD_KIT.values()) <= set(data.columns):
            reading = CROWD_KIT | reading
        annotations = read(data, **{"duplicates": self.duplicates, **reading})
        return annotations if true_labels is None else with_gold(annotations, true_labels)

    def update(
        self, more: Any, true_labels: TrueLabels = None, *, item: Hashable | None = None,
        annotator: Any = None, label: Hashable | None = None, **reading: Any,
    ) -> Self:  # fmt: skip
        """Go on with more labels: what ``fit`` would find of old and new ones together.

        New labels, items and annotators join; the classes stay. Chains of sampled models go on from
        where they ended, and take a part of the time; other models are fitted again.

        Parameters
        ----------
        more, true_labels, item, annotator, label, **reading
            As for ``fit``. A pair that has a label already is a repeated one. Without any new
            labels, ``[]``, chains go on with those that there are, and true labels can join.
        """
        posterior = self._fitted()
        old = posterior.annotations
        if isinstance(more, list | tuple | pd.DataFrame) and len(more) == 0:
            whole = old if true_labels is None else joined(old, None, self.duplicates, true_labels)
        else:
            columns = {"item": item, "annotator": annotator, "label": label, **reading}
            if not isinstance(more, Annotations):
                columns["classes"] = old.classes.tolist()
                if len(old.extra_answers):
                    columns["extra_answers"] = old.extra_answers.tolist()
            check_plain_settings(self)
            with warnings.catch_warnings():  # what is odd in a part need not be in the whole
                warnings.simplefilter("ignore", DataWarning)
                new = self._annotations(more, None, columns)
            whole = joined(old, new, self.duplicates, true_labels)
        latent = self.get_params().get("kinds", 1) != 1
        told = self.takes.known_kinds and KIND in posterior.item_numbers and not latent
        if told or self.known_kinds_ is not None:
            raise DataError(
                f"this {type(self).__name__} was told the kinds of the items, which update cannot"
                " be; fit all labels again, with their kinds"
            )
        self.posterior_ = self._go_on(whole, posterior)
        return self

    def _go_on(self, annotations: Annotations, before: Posterior) -> Posterior:
        """Fit to old and new labels, given what was found of the old ones."""
        return self._fit(annotations)

    def _posterior(self, labels: Labels, found: Found | FoundItems, **told: Any) -> Posterior:
        """Make the result from what was found of items: all of them, or those of each shard."""
        told = {
            "model": type(self).__name__,
            "method": self.method,
            "abilities": self.abilities,
            "settings": self.get_params(),
            **told,
        }
        if isinstance(labels, Scan):
            assert callable(found)
            none = np.empty((0, labels.n_classes))
            return ShardedPosterior(people_of(labels), none, scan=labels, found=found, **told)
        items = found if isinstance(found, FoundItems) else found(0)
        return Posterior(
            labels,
            items.probability,
            label=items.label,
            raw_probability=items.raw,
            item_numbers=dict(items.numbers),
            **told,
        )

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
            why = f"this {type(self).__name__} is not fitted yet; call fit first"
            raise errors.NotFittedError(why)
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
                why = f"{type(self).__name__} has no parameter {name!r}"
                raise DataError(why, argument=name, remedy=f"it has {', '.join(names)}")
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


def joined(
    old: Annotations, more: Annotations | None, duplicates: str, true_labels: Any = None
) -> Annotations:
    """Give old labels and new ones together: items and annotators of both, classes of the old.

    What is known of items stays known, of old ones and new ones; ``true_labels`` may be of both.
    Times are kept where all labels have them.
    """
    parts = [one for one in (old, more) if one is not None]
    both = table_from(pd.concat([one.to_frame() for one in parts], ignore_index=True))
    named = replace(both.source, name="the earlier labels with the new ones")
    whole = annotations_from(
        replace(both, source=named, counted="in this order; the first is row 0"),
        classes=old.classes.tolist(),
        extra_answers=old.extra_answers.tolist() or None,
        duplicates=duplicates,
        time="time" if all(one.times is not None for one in parts) else None,
    )
    gold = {item: label for one in parts for item, label in one.gold.items()}
    if true_labels is not None:
        gold |= with_gold(whole, true_labels).gold
    return with_gold(whole, gold) if gold else whole


def resolved(model: Any, labels: Labels, **more: Callable[[int, int], Any]) -> Any:
    """Give the prior that a model was given, by name or as it is, written out for these data.

    ``more`` are further priors by name, made for numbers of classes and of answers.
    """
    kind, given, sizes = model.prior_type, model.prior, (labels.n_classes, labels.n_answers)
    named = kind.named()
    if isinstance(given, str):
        given = more[given](*sizes) if given in more else named.get(given)
    if not isinstance(given, kind):
        names = errors.alternatives([Argument("prior", name) for name in [*named, *more]])
        other = f" or a {kind.__name__}, got {quoted(model.prior)}"
        raise DataError([f"{type(model).__name__} takes ", *names, other])
    return given.resolve(*sizes)


def find_kinds(kinds: Any, data: Any, annotations: Annotations) -> KnownKinds:
    """Read the known kinds of items: a column of the data, or a table of its own."""
    if isinstance(kinds, KnownKinds):
        return kinds
    if not isinstance(kinds, str):
        return known_kinds(kinds, annotations)
    if isinstance(data, Annotations):
        why = (Argument("kinds", kinds), " is a column, but the labels were already read")
        raise DataError(why, remedy="give a Series, item -> kind")
    table = table_of_file(data) if is_path(data) else table_from(data)
    return kinds_of_column(table, kinds, annotations)


def certain_kinds(known: KnownKinds) -> ItemNumbers:
    """Give the probabilities of kinds that are known."""
    return ItemNumbers(tuple(map(str, known.names)), np.eye(len(known.names))[known.codes])
