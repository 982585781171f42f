"""Save and load: everything comes back, as the type it was."""

import datetime
import json
import warnings
from dataclasses import fields, is_dataclass, replace
from decimal import Decimal
from pathlib import Path
from uuid import UUID

import numpy as np
import pandas as pd
import pytest

import coterie
from builders.posteriors import words
from builders.saved import example, same, same_arrays
from coterie import priors
from coterie.data.annotations import Annotations
from coterie.data.codes import encode
from coterie.files.container import Format, container_writer, read_container
from coterie.files.values import from_json, to_json
from coterie.kernels.vote import Mixing
from coterie.posterior import Draws, Posterior
from coterie.posterior.store import FORMAT
from coterie.priors.base import BY_VALUE


@pytest.fixture
def path(tmp_path):
    path = tmp_path / "run.coterie"
    example().save(path)
    return path


def test_everything_comes_back(path):
    same(coterie.load(path), example())
    same(coterie.load(str(path)), example())


def test_a_file_of_an_earlier_layout_is_refused_in_a_sentence(path):
    new = read_container(path, FORMAT)
    container_writer(Format(FORMAT.name, 3), new.header, dict(new.arrays))(path)
    message = r"run\.coterie was written by an earlier coterie \(.*\) in version 3 of its format"
    with pytest.raises(coterie.DataError, match=message + r", this one .* version 5; fit again$"):
        coterie.load(path)


def test_how_a_model_reports_is_kept(path):
    mixing = Mixing(0.2 * 1.5, vote_power=0.25, floor=0.02)
    replace(example(), mixing=mixing).save(path)
    assert coterie.load(path).mixing == mixing
    new = read_container(path, FORMAT)
    container_writer(FORMAT, new.header | {"mixing": {"overlap": 0.1}}, dict(new.arrays))(path)
    with pytest.raises(coterie.DataError, match="damaged"):
        coterie.load(path)


def frame():
    rng = np.random.default_rng(3)
    truth = rng.integers(0, 2, 12)
    rows = [
        (i, l, truth[i] if rng.random() < 0.8 else 1 - truth[i])
        for i in range(12)
        for l in rng.choice(6, 4, replace=False)
    ]
    return pd.DataFrame(rows, columns=["item", "annotator", "label"])


def renamed(kind):
    """The same crowd with ids of several types."""
    table = frame()
    days = pd.Timestamp("2024-02-28") + pd.to_timedelta(np.arange(12), unit="D")
    dates = [datetime.date(2024, 1, d) for d in (1, 2)]
    item, annotator, label = {
        "int": (np.arange(12) * 5, np.arange(6), np.arange(2)),
        "str": ([f"q{i}" for i in range(12)], list("äbcdef"), ["no", "yes"]),
        "datetime": (days, days[:6].tz_localize("UTC"), dates),
        "bool": (np.arange(12) / 4, [f"w{l}" for l in range(6)], [False, True]),
    }[kind]
    return pd.DataFrame(
        {
            "item": pd.Series(item).take(table["item"]).to_numpy(),
            "annotator": pd.Series(annotator).take(table["annotator"]).array,
            "label": words(list(label))[table["label"]],
        }
    )


MODELS = [
    coterie.MajorityVote(ties="random", random_state=1),
    coterie.DawidSkene(smoothing=0.5),
    coterie.HCBCC(sweeps=60, burn_in=20, chains=2, random_state=0),
    coterie.IBCC(sweeps=60, burn_in=20, chains=2, prior=priors.IBCCPrior(strength=[2, 3])),
]


@pytest.mark.parametrize("kind", ["int", "str", "datetime", "bool"])
@pytest.mark.parametrize("model", MODELS, ids=lambda model: type(model).__name__)
def test_fitted_models_come_back(model, kind, tmp_path):
    table = renamed(kind)
    labels = sorted(set(table["label"]))
    table["label"] = table["label"].astype(object)
    table.loc[::7, "label"] = "unsure"
    gold = {table["item"][1]: labels[1]}
    annotations = coterie.read(table, classes=labels, extra_answers=["unsure"], gold=gold)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", coterie.ConvergenceWarning)  # so few sweeps
        posterior = model.fit(annotations).posterior_
    posterior.save(tmp_path / "run.coterie")
    again = coterie.load(tmp_path / "run.coterie")
    same(again, posterior)
    for name in ("labels", "probabilities", "annotators", "confusion"):
        pd.testing.assert_frame_equal(getattr(again, name)(), getattr(posterior, name)())
    assert again.annotations.gold == posterior.annotations.gold
    pd.testing.assert_frame_equal(again.annotations.to_frame(), annotations.to_frame())
    if posterior.draws is not None:
        pd.testing.assert_frame_equal(again.diagnostics(), posterior.diagnostics())
    if isinstance(model, coterie.HCBCC):
        pd.testing.assert_frame_equal(again.cooccurrence(), posterior.cooccurrence())
        np.testing.assert_array_equal(again.n_coteries, posterior.n_coteries)


VOCABULARIES = {
    "text": words(["", "a\0b", "日本", "\ud800 alone"]),
    "int8": np.array([1, 2, 3, 4], np.int8),
    "uint64": np.array([0, 1, 2, 2**64 - 1], np.uint64),
    "float32": np.array([0.1, -0.0, np.inf, 2.5], np.float32),
    "datetime64": np.array(["2024-01-01", "2024-01-02", "1969-01-01", "2262-01-01"], "M8[D]"),
    "timedelta64": np.array([1, 2, 3, 4], "m8[ms]"),
    "fixed width": np.array(["a", "b", "c", "dd"]),
    "mixed": words([1, "1", 1.5, b"\xff"]),
    "large integers": words([1, 2**70, -(2**70), 5]),
    "tuples": words([("a", 1), ("b", True), ("a", (2, None)), ()]),
    "dates": words([datetime.date(1, 1, 1), datetime.datetime(2024, 1, 1, 2, 3, 4, 5), 1, 2]),
    "aware": words(
        [
            datetime.datetime(2024, 1, 1, tzinfo=datetime.UTC),
            datetime.datetime(2024, 1, 1, tzinfo=datetime.timezone(datetime.timedelta(hours=-5))),
            pd.Timestamp("2024-01-02", tz="UTC"),
            pd.Timestamp("2024-01-01 12:00", tz="+05:30"),
        ]
    ),
    "timestamps": words(
        [
            pd.Timestamp(0, unit="ns"),
            pd.Timestamp("2024-01-01 00:00:00.123456789"),
            pd.Timestamp("2024-01-02").as_unit("s"),
            pd.Timestamp("3024-01-02").as_unit("ms"),
        ]
    ),
    "exact": words([Decimal("1.10"), Decimal("1.2"), UUID(int=5), UUID(int=6)]),
    "scalars": words([np.int8(1), np.float32(0.1), np.str_("x"), np.datetime64("2024-01-01")]),
    "empty": words([]),
}


@pytest.mark.parametrize("name", VOCABULARIES)
def test_ids_keep_their_types(name, tmp_path):
    ids = VOCABULARIES[name]
    nothing = np.zeros(0, np.int32)
    codes = encode(nothing, nothing, nothing, sizes=(len(ids), 1, 2, 2))
    classes = words(["no", "yes"])
    annotations = Annotations(ids, words(["ann"]), classes, words([]), codes)
    posterior = Posterior(
        annotations, np.full((len(ids), 2), 0.5), np.array([0.5, 0.5]), np.full((1, 2, 2), 0.5)
    )
    posterior.save(tmp_path / "run.coterie")
    again = coterie.load(tmp_path / "run.coterie")
    same(again, posterior)
    if name in ("timestamps", "aware"):
        stamps = [x for x in ids if isinstance(x, pd.Timestamp)]
        found = [x for x in again.annotations.items if isinstance(x, pd.Timestamp)]
        assert [x.unit for x in found] == [x.unit for x in stamps]
        assert [x.isoformat() for x in found] == [x.isoformat() for x in stamps]


def test_an_id_that_cannot_be_kept_is_named(tmp_path):
    posterior = example()
    annotations = replace(posterior.annotations, annotators=words([1, frozenset({2})]))
    posterior = replace(posterior, annotations=annotations)
    with pytest.raises(coterie.DataError) as error:
        posterior.save(tmp_path / "run.coterie")
    assert str(error.value) == (
        "frozenset({2}) has type frozenset, which a file cannot keep: use text, numbers, dates or "
        "tuples of them for annotators"
    )
    assert list(tmp_path.iterdir()) == []


def test_a_number_that_json_would_round_is_not_kept():
    with pytest.raises(TypeError, match=r"longdouble|float128"):
        to_json(np.longdouble("0.1"))


def test_settings_come_back_and_what_cannot_comes_back_as_text(tmp_path):
    settings = {
        "prior": priors.CBCCPrior(
            mean=np.array([[0.8, 0.2], [0.4, 0.6]]), concentration=priors.Gamma(1, 10)
        ),
        "nothing": None,
        "limit": float("inf"),
        "tuple": (1, [2.5, {"a": True}]),
        "mapping": {1: "a", "$b": 2},
        "scalar": np.float32(0.1),
        "array": np.arange(4, dtype=np.int16).reshape(2, 2),
    }
    lost = {"random_state": np.random.default_rng(0), "checkpoint": Path("run.checkpoint")}
    replace(example(), settings={**settings, **lost}).save(tmp_path / "run.coterie")
    again = dict(coterie.load(tmp_path / "run.coterie").settings)
    same_arrays(again.pop("array"), settings.pop("array"))
    assert again.pop("random_state").startswith("Generator(PCG64)")
    assert again.pop("checkpoint") == "run.checkpoint"
    assert again == settings
    assert type(again["scalar"]) is np.float32


PRIORS = "coterie.priors."


def test_every_prior_is_known():
    kinds = {
        name
        for name, kind in vars(priors).items()
        if is_dataclass(kind) and not name.startswith("_")
    }
    known = {name: kind for name, kind in BY_VALUE.items() if kind.__module__.startswith(PRIORS)}
    assert kinds == {name for name, kind in known.items() if is_dataclass(kind)}
    for name in kinds:
        kind = known[name]
        value = kind(**{field.name: 2.5 for field in fields(kind)})
        assert from_json(json.loads(json.dumps(to_json(value)))) == value


def test_no_draws_and_no_labels(tmp_path):
    nothing = np.zeros(0, np.int32)
    empty = words([])
    annotations = Annotations(
        empty, empty, words(["no", "yes"]), empty, encode(*[nothing] * 3, sizes=(0, 0, 2, 2))
    )
    posterior = Posterior(annotations, np.zeros((0, 2)), np.ones(2) / 2, np.zeros((0, 2, 2)))
    posterior.save(tmp_path / "run.coterie")
    same(coterie.load(tmp_path / "run.coterie"), posterior)


def test_what_is_loaded_may_be_written_to(path):
    coterie.load(path).item_probability[0] = 0.5


def test_the_same_posterior_gives_the_same_bytes(path, tmp_path):
    example().save(tmp_path / "again.coterie")
    assert path.read_bytes() == (tmp_path / "again.coterie").read_bytes()


def test_a_file_is_replaced_whole_or_not_at_all(path, monkeypatch):
    before = path.read_bytes()
    written = []

    def full_disk(handle, array, **options):
        written.append(handle)
        if len(written) == 5:
            raise OSError(28, "No space left on device")
        handle.write(b"half")

    with monkeypatch.context() as patch:
        patch.setattr(np.lib.format, "write_array", full_disk)
        with pytest.raises(coterie.DataError, match=r"cannot be written: No space left on device"):
            example().save(path)
    assert path.read_bytes() == before
    assert [file.name for file in path.parent.iterdir()] == [path.name]
    replace(example(), model="IBCC").save(path)
    assert coterie.load(path).model == "IBCC"


def test_a_folder_that_is_not_there_is_named(tmp_path):
    with pytest.raises(coterie.DataError, match=r"nowhere.run.coterie cannot be written"):
        example().save(tmp_path / "nowhere" / "run.coterie")


def test_what_does_not_fit_together_is_not_saved(tmp_path):
    posterior = example()
    short = replace(posterior.draws, n_coteries=posterior.draws.n_coteries[:, :2])
    for wrong, message in (
        (replace(posterior, item_probability=np.zeros((3, 3))), r"item_probability must have"),
        (replace(posterior, label=np.array([0, 1, 2])), r"label must lie in 0\.\.1"),
        (replace(posterior, draws=short), r"draws.n_coteries must have shape \(2, 3\)"),
    ):
        with pytest.raises(coterie.DataError, match=message):
            wrong.save(tmp_path / "run.coterie")
    assert list(tmp_path.iterdir()) == []


def test_no_part_is_forgotten():
    # A new field must be saved, or listed here with the reason why not.
    assert [field.name for field in fields(Posterior)] == [
        "annotations", "item_probability", "class_balance", "confusion_mean", "label", "draws",
        "model", "settings", "run", "method", "abilities", "converged", "raw_probability",
        "mixing", "item_numbers", "groups", "_computed",  # found again when asked for
    ]  # fmt: skip
    assert [field.name for field in fields(Draws)] == [
        "confusion", "class_balance", "partition", "n_coteries", "trace", "watched", "extra",
        "last",
    ]  # fmt: skip
    assert [field.name for field in fields(Annotations)] == [
        "items", "annotators", "classes", "extra_answers", "codes", "columns", "origin",
        "provenance", "times",
    ]  # fmt: skip
