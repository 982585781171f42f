"""Save and load: everything comes back, and no file does harm."""

import datetime
import io
import json
import pickle
import warnings
import zipfile
from dataclasses import fields, is_dataclass, replace
from decimal import Decimal
from pathlib import Path
from uuid import UUID

import numpy as np
import pandas as pd
import pytest

import coterie
from coterie import priors
from coterie.annotations import Annotations, encode
from coterie.posterior import Draws, Posterior
from coterie.posterior.container import HEADER
from coterie.posterior.values import PRIORS, from_json, to_json

OLD = Path(__file__).parent / "data" / "run-v1.coterie"


def objects(values):
    array = np.empty(len(values), object)
    array[:] = values
    return array


def example():
    """A small posterior with every part there is; ``run-v1.coterie`` is this one."""
    codes = encode([0, 0, 1, 2], [0, 1, 0, 1], [0, 2, 1, 1], sizes=(3, 2, 2, 3), gold=[-1, 1, -1])
    annotations = Annotations(
        objects(["q1", "q2", "ü3"]),
        np.array([7, 11]),
        objects([False, True]),
        objects(["unsure"]),
        codes,
        ("task", "worker", "label"),
        "labels.csv: item from 'task'",
    )
    draws = Draws(
        confusion=(np.arange(48, dtype=np.float32) / 64).reshape(2, 2, 2, 2, 3),
        class_balance=np.array([[[0.25, 0.75]] * 2] * 2),
        partition=np.array([[[0, 0], [0, 1], [0, 1]], [[0, 1], [0, 0], [0, 0]]], np.int32),
        n_coteries=np.array([[1, 2, 2], [2, 1, 1]]),
        trace={"log_joint": -np.arange(12.0).reshape(2, 6), "n_groups": np.ones((2, 6))},
    )
    return Posterior(
        annotations,
        np.array([[0.25, 0.75], [0.0, 1.0], [1 / 3, 2 / 3]]),
        np.array([0.4, 0.6]),
        np.arange(12.0).reshape(2, 2, 3) / 16,
        label=np.array([0, 1, 1]),
        draws=draws,
        model="HCBCC",
        settings={"prior": priors.HCBCCPrior(mean_strength=[3, 4]), "sweeps": 12, "thin": None},
        run={"stopped": "sweeps", "sweeps": 6, "left_out": [3]},
    )


def same_arrays(one, other):
    assert (one is None) == (other is None)
    if one is not None:
        assert one.dtype == other.dtype
        np.testing.assert_array_equal(one, other)


def same_vocabulary(one, other):
    same_arrays(one, other)
    assert list(map(type, one)) == list(map(type, other))


def same(one, other):
    for name in ("items", "annotators", "classes", "extra_answers"):
        same_vocabulary(getattr(one.annotations, name), getattr(other.annotations, name))
    for x, y in zip(one.annotations.codes[:7], other.annotations.codes[:7], strict=True):
        same_arrays(x, y)
    assert one.annotations.codes[7:] == other.annotations.codes[7:]
    assert one.annotations.columns == other.annotations.columns
    assert one.annotations.origin == other.annotations.origin
    for name in ("item_probability", "class_balance", "confusion_mean", "label"):
        same_arrays(getattr(one, name), getattr(other, name))
    assert (one.draws is None) == (other.draws is None)
    if one.draws is not None:
        for name in ("confusion", "class_balance", "partition", "n_coteries"):
            same_arrays(getattr(one.draws, name), getattr(other.draws, name))
        assert list(one.draws.trace) == list(other.draws.trace)
        for name in one.draws.trace:
            same_arrays(one.draws.trace[name], other.draws.trace[name])
    assert (one.model, one.settings, one.run) == (other.model, other.settings, other.run)


@pytest.fixture
def path(tmp_path):
    path = tmp_path / "run.coterie"
    example().save(path)
    return path


# --- what is saved comes back ---------------------------------------------------------------


def test_everything_comes_back(path):
    same(coterie.load(path), example())
    same(coterie.load(str(path)), example())


def test_an_older_version_still_loads():
    posterior = coterie.load(OLD)
    same(posterior, example())
    assert posterior.labels()["label"].tolist() == [False, True, True]
    assert posterior.confusion(11, quantile=1.0).loc[True, "unsure"] == 47 / 64
    assert posterior.cooccurrence([7, 11]).loc[7, 11] == 0.5


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
            "label": objects(list(label))[table["label"]],
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
    "text": objects(["", "a\0b", "日本", "\ud800 alone"]),
    "int8": np.array([1, 2, 3, 4], np.int8),
    "uint64": np.array([0, 1, 2, 2**64 - 1], np.uint64),
    "float32": np.array([0.1, -0.0, np.inf, 2.5], np.float32),
    "datetime64": np.array(["2024-01-01", "2024-01-02", "1969-01-01", "2262-01-01"], "M8[D]"),
    "timedelta64": np.array([1, 2, 3, 4], "m8[ms]"),
    "fixed width": np.array(["a", "b", "c", "dd"]),
    "mixed": objects([1, "1", 1.5, b"\xff"]),
    "large integers": objects([1, 2**70, -(2**70), 5]),
    "tuples": objects([("a", 1), ("b", True), ("a", (2, None)), ()]),
    "dates": objects([datetime.date(1, 1, 1), datetime.datetime(2024, 1, 1, 2, 3, 4, 5), 1, 2]),
    "aware": objects(
        [
            datetime.datetime(2024, 1, 1, tzinfo=datetime.UTC),
            datetime.datetime(2024, 1, 1, tzinfo=datetime.timezone(datetime.timedelta(hours=-5))),
            pd.Timestamp("2024-01-02", tz="UTC"),
            pd.Timestamp("2024-01-01 12:00", tz="+05:30"),
        ]
    ),
    "timestamps": objects(
        [
            pd.Timestamp(0, unit="ns"),
            pd.Timestamp("2024-01-01 00:00:00.123456789"),
            pd.Timestamp("2024-01-02").as_unit("s"),
            pd.Timestamp("3024-01-02").as_unit("ms"),
        ]
    ),
    "exact": objects([Decimal("1.10"), Decimal("1.2"), UUID(int=5), UUID(int=6)]),
    "scalars": objects([np.int8(1), np.float32(0.1), np.str_("x"), np.datetime64("2024-01-01")]),
    "empty": objects([]),
}


@pytest.mark.parametrize("name", VOCABULARIES)
def test_ids_keep_their_types(name, tmp_path):
    ids = VOCABULARIES[name]
    nothing = np.zeros(0, np.int32)
    codes = encode(nothing, nothing, nothing, sizes=(len(ids), 1, 2, 2))
    classes = objects(["no", "yes"])
    annotations = Annotations(ids, objects(["ann"]), classes, objects([]), codes)
    posterior = Posterior(
        annotations, np.zeros((len(ids), 2)), np.array([0.5, 0.5]), np.full((1, 2, 2), 0.5)
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
    annotations = replace(posterior.annotations, annotators=objects([1, frozenset({2})]))
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


def test_every_prior_is_known():
    kinds = {
        name
        for name, kind in vars(priors).items()
        if is_dataclass(kind) and not name.startswith("_")
    }
    assert kinds == set(PRIORS)
    for kind in PRIORS.values():
        value = kind(**{field.name: 2.5 for field in fields(kind)})
        assert from_json(json.loads(json.dumps(to_json(value)))) == value


def test_no_draws_and_no_labels(tmp_path):
    nothing = np.zeros(0, np.int32)
    empty = objects([])
    annotations = Annotations(
        empty, empty, objects(["no", "yes"]), empty, encode(*[nothing] * 3, sizes=(0, 0, 2, 2))
    )
    posterior = Posterior(annotations, np.zeros((0, 2)), np.ones(2) / 2, np.zeros((0, 2, 2)))
    posterior.save(tmp_path / "run.coterie")
    same(coterie.load(tmp_path / "run.coterie"), posterior)


def test_what_is_loaded_may_be_written_to(path):
    coterie.load(path).item_probability[0] = 0.5


# --- how it is written ----------------------------------------------------------------------


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


# --- files that are none --------------------------------------------------------------------


def refused(path):
    """The one sentence with which a file is refused."""
    with pytest.raises(coterie.DataError) as error:
        coterie.load(path)
    assert str(path) in str(error.value)
    return str(error.value).replace(str(path), "FILE")


def test_no_file_a_folder_an_empty_file(tmp_path):
    assert refused(tmp_path / "gone") == "there is no file FILE; check the path"
    assert refused(tmp_path) == "FILE is a folder; expected a file saved by coterie"
    (tmp_path / "empty").touch()
    assert refused(tmp_path / "empty") == "FILE is empty; expected a file saved by coterie"


def test_foreign_files(tmp_path):
    table = tmp_path / "labels.csv"
    table.write_text("item,annotator,label\n")
    assert refused(table) == "FILE is not a file saved by coterie"
    pickled = tmp_path / "model.pkl"
    pickled.write_bytes(pickle.dumps(Bomb(tmp_path)))
    assert refused(pickled) == "FILE is not a file saved by coterie"
    arrays = tmp_path / "arrays.npz"
    np.savez(arrays, a=np.ones(3))
    assert refused(arrays) == "FILE is a zip file, but none that coterie saved"


class Bomb:
    """Unpickling this makes a file."""

    def __init__(self, folder):
        self.folder = folder

    def __reduce__(self):
        return (Path.touch, (self.folder / "executed",))


def members(path):
    with zipfile.ZipFile(path) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def write(path, contents, compression=zipfile.ZIP_STORED):
    with zipfile.ZipFile(path, "w", compression) as archive:
        for name, content in contents.items():
            archive.writestr(name, content)


def change_header(path, change):
    contents = members(path)
    header = json.loads(contents[HEADER])
    change(header)
    contents[HEADER] = json.dumps(header)
    write(path, contents)


def npy(array, **options):
    content = io.BytesIO()
    np.lib.format.write_array(content, array, **options)
    return content.getvalue()


def change_array(path, name, array):
    write(path, {**members(path), f"{name}.npy": npy(np.asarray(array))})


def test_rewriting_without_a_change_still_loads(path):
    change_header(path, lambda header: None)
    change_array(path, "label", np.array([0, 1, 1]))
    same(coterie.load(path), example())


def test_a_newer_version_says_upgrade(path):
    change_header(path, lambda header: header.update(version=2, coterie="9.1"))
    message = refused(path)
    assert message.startswith("FILE was written by a newer coterie (9.1) in version 2")
    assert message.endswith("upgrade coterie")


def test_another_format_is_named(path):
    change_header(path, lambda header: header.update(format="coterie checkpoint"))
    assert refused(path) == "FILE holds no coterie posterior"


@pytest.mark.parametrize("version", [0, -1, "1", None, 1.0, True, []])
def test_a_version_that_is_none_is_refused(path, version):
    change_header(path, lambda header: header.update(version=version))
    assert "FILE is damaged" in refused(path)


@pytest.mark.parametrize("header", [b"", b"{", b"\xff\xfe\xfd", b"[" * 100_000, b'{"a": 1e999'])
def test_a_header_that_is_no_json(path, header):
    write(path, {**members(path), HEADER: header})
    assert "FILE is damaged" in refused(path)


@pytest.mark.parametrize("header", [b"[]", b"null", b'"text"', b"{}"])
def test_a_header_of_something_else(path, header):
    write(path, {**members(path), HEADER: header})
    assert refused(path) == "FILE holds no coterie posterior"


def test_every_part_is_needed(path):
    contents = members(path)
    for name in contents.keys() - {HEADER}:
        write(path, {other: content for other, content in contents.items() if other != name})
        assert f"no item named '{name}'" in refused(path)
    header = json.loads(contents[HEADER])
    for part in ("arrays", "header", "version"):
        less = {name: value for name, value in header.items() if name != part}
        write(path, {**contents, HEADER: json.dumps(less)})
        assert "FILE is damaged" in refused(path)
    for part in header["header"]:
        less = {name: value for name, value in header["header"].items() if name != part}
        write(path, {**contents, HEADER: json.dumps({**header, "header": less})})
        assert "FILE is damaged" in refused(path)


@pytest.mark.parametrize(
    ("name", "wrong"),
    [
        ("annotator", [0, 1, 0, 2]),
        ("annotator", [0, 1, 0, -1]),
        ("annotator", [0, 1, 0]),
        ("answer", [0, 2, 1, 3]),
        ("answer", [0.0, 2.0, 1.0, 1.0]),
        ("gold", [-1, 2, -1]),
        ("gold", [-2, 1, -1]),
        ("gold", [-1, 1]),
        ("labels_per_item", [2, 1, 2]),
        ("labels_per_item", [2, 3, -1]),
        ("labels_per_item", [4]),
        ("labels_per_item", np.array([2**63, 2**63, 4], np.uint64)),
        ("labels_per_item", [2**62, 2**62, 4 - 2**63]),
        ("label", [0, 1, 2]),
        ("label", [0, 1]),
        ("items.length", np.array([2, 2, 2], np.uint8)),
        ("items.length", np.array([2**64 - 2, 4, 5], np.uint64)),
        ("items.utf8", np.frombuffer(b"q1q2\xff\xfe3", np.uint8)),
        ("items.utf8", np.frombuffer(b"q1q1abc", np.uint8)),
        ("items.length", np.array([[2, 2, 3]], np.uint8)),
        ("annotators", [7, 7]),
        ("annotators", [[7, 11]]),
        ("annotators", [7]),
        ("item_probability", np.zeros((3, 3))),
        ("item_probability", np.zeros((3, 2), int)),
        ("item_probability", np.zeros((3, 2), complex)),
        ("class_balance", np.zeros(3)),
        ("confusion_mean", np.zeros((2, 2, 2))),
        ("draws.confusion", np.zeros((2, 2, 2, 2, 2))),
        ("draws.confusion", np.zeros(3)),
        ("draws.class_balance", np.zeros((2, 3, 2))),
        ("draws.partition", np.full((2, 3, 2), 2)),
        ("draws.partition", np.full((2, 3, 2), -1)),
        ("draws.partition", np.zeros((2, 3, 3), int)),
        ("draws.n_coteries", np.full((2, 3), 3)),
        ("draws.n_coteries", np.zeros((2, 4), int)),
        ("draws.trace", np.zeros((1, 2, 6))),
        ("draws.trace", np.zeros((2, 3, 6))),
        ("draws.trace", np.zeros(2)),
    ],
)
def test_arrays_that_do_not_fit_are_refused(path, name, wrong):
    change_array(path, name, wrong)
    assert "FILE is damaged" in refused(path)


@pytest.mark.parametrize(
    "value",
    [
        {"$prior": ["Path", {}]},
        {"$prior": ["Gamma", {"shape": 1, "rate": 1, "more": 1}]},
        {"$system": "touch executed"},
        {"$numpy": ["O", 1]},
        {"$array": ["f8,(9,)f8", [1], [0]]},
        {"$array": ["<f8", [10**12], [1]]},
        {"$tuple": [], "$dict": []},
        {"$dict": [[[], 1]]},
        {"$timestamp": ["nonsense", "ns"]},
        {"$datetime": 5},
    ],
)
def test_values_of_unknown_kinds_are_refused(path, value):
    change_header(path, lambda header: header["header"]["settings"].update(sweeps=value))
    assert "FILE is damaged" in refused(path)


def places(value, place=()):
    """Every place in nested JSON but the whole."""
    for key in value if isinstance(value, dict) else range(len(value)):
        yield (*place, key)
        if isinstance(value[key], dict | list):
            yield from places(value[key], (*place, key))


@pytest.mark.parametrize("junk", [None, -1, 10**30, "x", [], {}, [[1]], {"$tuple": [1]}])
def test_junk_anywhere_in_the_header_is_an_error_or_harmless(path, junk):
    contents = members(path)
    for *within, last in places(json.loads(contents[HEADER])):
        header = inside = json.loads(contents[HEADER])
        for key in within:
            inside = inside[key]
        inside[last] = junk
        write(path, {**contents, HEADER: json.dumps(header)})
        try:
            posterior = coterie.load(path)
        except coterie.DataError:
            continue
        assert set(within) & {"settings", "run", "columns"} or last in (
            "coterie", "model", "origin", "settings", "run", "columns", 0, 1, 2
        )  # fmt: skip
        assert len(posterior.labels()) == 3


def test_text_does_not_take_the_room_that_a_file_says(path):
    value = {"$numpy": [f"<U{2**29 - 1}", "x"]}
    change_header(path, lambda header: header["header"]["settings"].update(sweeps=value))
    assert coterie.load(path).settings["sweeps"].nbytes == 4


def test_objects_are_never_unpickled(path, tmp_path):
    bomb = npy(objects([Bomb(tmp_path)] * 2), allow_pickle=True)
    np.load(io.BytesIO(bomb), allow_pickle=True)
    assert (tmp_path / "executed").exists()  # the bomb is a real one
    (tmp_path / "executed").unlink()
    write(path, {**members(path), "annotators.npy": bomb})
    assert "FILE is damaged or cut short (annotators has type object)" in refused(path)
    assert not (tmp_path / "executed").exists()


def test_an_array_is_as_large_as_its_bytes(path):
    huge = io.BytesIO()
    header = {"descr": "<f8", "fortran_order": False, "shape": (10**12,)}
    np.lib.format.write_array_header_1_0(huge, header)
    write(path, {**members(path), "class_balance.npy": huge.getvalue() + bytes(16)})
    assert "FILE is damaged" in refused(path)


def test_compressed_members_are_refused_before_they_grow(path):
    contents = members(path)
    contents["class_balance.npy"] = npy(np.zeros(10**7))
    write(path, contents, zipfile.ZIP_DEFLATED)
    assert path.stat().st_size < 10**6
    assert "is not stored as it should be" in refused(path)


def test_members_that_share_bytes_are_refused(path):
    def repeat(header):
        header["arrays"] += ["item_probability"] * 1_000

    change_header(path, repeat)
    assert "its arrays overlap" in refused(path)


def test_unknown_forms_are_refused(path):
    contents = members(path)
    array = npy(np.array([0.4, 0.6]), version=(2, 0))
    write(path, {**contents, "class_balance.npy": array})
    assert "unknown layout of class_balance" in refused(path)
    write(path, contents)
    change_header(path, lambda header: header["header"]["annotations"]["items"].update({"as": ""}))
    assert "unknown form of items" in refused(path)


def test_a_file_of_a_machine_with_the_other_byte_order(path):
    change_array(path, "class_balance", np.array([0.4, 0.6], ">f8"))
    change_array(path, "annotators", np.array([7, 11], ">i8"))
    same(coterie.load(path), example())


def test_an_extra_answer_that_is_a_class(path):
    def both(header):
        header["header"]["annotations"]["extra_answers"] = {"as": "values", "values": [True]}

    change_header(path, both)
    assert "answers must be distinct" in refused(path)


@pytest.mark.parametrize("seed", range(4))
def test_damaged_files_are_the_same_or_an_error(path, seed):
    rng = np.random.default_rng(seed)
    original = path.read_bytes()
    posterior = coterie.load(path)
    outcomes = set()
    for _ in range(150):
        damaged = bytearray(original)
        for place in rng.integers(len(original), size=rng.integers(1, 4)):
            damaged[place] ^= 1 << rng.integers(8)
        path.write_bytes(damaged)
        outcomes.add(same_or_error(path, posterior))
    assert outcomes <= {"same", "DataError"}
    assert "DataError" in outcomes


@pytest.mark.parametrize("seed", range(2))
def test_truncated_files_are_errors(path, seed):
    rng = np.random.default_rng(seed)
    original = path.read_bytes()
    ends = {*rng.integers(len(original), size=150).tolist(), *range(1, 40)}
    for end in ends:
        for part in (original[:end], original[:-end], original[end:]):
            path.write_bytes(part)
            assert same_or_error(path, example()) == "DataError"


def same_or_error(path, posterior):
    try:
        again = coterie.load(path)
    except coterie.DataError as error:
        return "DataError" if str(path) in str(error) else str(error)
    same(again, posterior)
    return "same"
