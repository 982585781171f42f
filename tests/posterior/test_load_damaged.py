"""Load: a file that is none is one clear sentence, and nothing in it is executed."""

import io
import pickle
import zipfile
from pathlib import Path

import numpy as np
import pytest

import coterie
from builders.posteriors import words
from builders.saved import HEADER, example, header_bytes, header_of, members, npy, same, write
from ladder.marks import rest_slow


@pytest.fixture
def path(tmp_path):
    path = tmp_path / "run.coterie"
    example().save(path)
    return path


def refused(path):
    """The one sentence with which a file is refused."""
    with pytest.raises(coterie.DataError) as error:
        coterie.load(path)
    assert str(path) in str(error.value)
    return str(error.value).replace(str(path), "FILE")


def test_no_file_a_folder_an_empty_file(tmp_path):
    assert refused(tmp_path / "gone") == "there is no file FILE; check the path"
    assert refused(tmp_path) == "there is no file FILE/run.coterie; check the path"
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


def change_header(path, change):
    contents = members(path)
    header = header_of(contents)
    change(header)
    write(path, {**contents, HEADER: header_bytes(header)})


def change_array(path, name, array):
    write(path, {**members(path), f"{name}.npy": npy(array)})


def test_rewriting_without_a_change_still_loads(path):
    change_header(path, lambda header: None)
    change_array(path, "label", np.array([0, 1, 1]))
    same(coterie.load(path), example())


def test_a_newer_version_says_upgrade(path):
    change_header(path, lambda header: header.update(version=6, coterie="9.1"))
    message = refused(path)
    assert message.startswith("FILE was written by a newer coterie (9.1) in version 6")
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
    write(path, {**members(path), HEADER: header_bytes(header)})
    assert "FILE is damaged" in refused(path)


@pytest.mark.parametrize("header", [b"[]", b"null", b'"text"', b"{}"])
def test_a_header_of_something_else(path, header):
    write(path, {**members(path), HEADER: header_bytes(header)})
    assert refused(path) == "FILE holds no coterie posterior"


def test_every_part_is_needed(path):
    contents = members(path)
    for name in contents.keys() - {HEADER}:
        write(path, {other: content for other, content in contents.items() if other != name})
        assert f"no item named '{name}'" in refused(path)
    header = header_of(contents)
    for part in header.keys() - {"format", "coterie"}:
        less = {name: value for name, value in header.items() if name != part}
        write(path, {**contents, HEADER: header_bytes(less)})
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
        ("draws.trace.log_joint", np.zeros((1, 6))),
        ("draws.trace.log_joint", np.zeros((2, 5))),
        ("draws.trace.log_joint", np.zeros((2, 6), int)),
        ("draws.trace.log_joint", np.zeros(2)),
        ("draws.trace.class_total", np.zeros((2, 6, 3))),
        ("draws.trace.class_total", np.zeros((2, 6))),
    ],
)
def test_arrays_that_do_not_fit_are_refused(path, name, wrong):
    change_array(path, name, wrong)
    assert "FILE is damaged" in refused(path)


@pytest.mark.parametrize(
    "value",
    [
        {"$prior": ["Prior", {}]},
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
    change_header(path, lambda header: header["settings"].update(sweeps=value))
    assert "FILE is damaged" in refused(path)


@pytest.mark.parametrize("name", ["Path", "Nobody", "__import__", 5])
def test_a_prior_that_nothing_imported_defines_is_refused(path, name):
    value = {"$prior": [name, {}]}
    change_header(path, lambda header: header["settings"].update(sweeps=value))
    assert refused(path) == (
        f"FILE holds a prior {str(name)!r} that nothing imported defines; import the package of "
        "its model, then load again"
    )


def places(value, place=()):
    """Every place in nested JSON but the whole."""
    for key in value if isinstance(value, dict) else range(len(value)):
        yield (*place, key)
        if isinstance(value[key], dict | list):
            yield from places(value[key], (*place, key))


JUNK = [None, -1, 10**30, "x", [], {}, [[1]], {"$tuple": [1]}]


@pytest.mark.parametrize("junk", rest_slow(JUNK, 0, 2, 4, 7))
def test_junk_anywhere_in_the_header_is_an_error_or_harmless(path, junk):
    contents = members(path)
    for *within, last in places(header_of(contents)):
        header = inside = header_of(contents)
        for key in within:
            inside = inside[key]
        if inside[last] is junk:
            continue
        inside[last] = junk
        write(path, {**contents, HEADER: header_bytes(header)})
        try:
            posterior = coterie.load(path)
        except coterie.DataError:
            continue
        assert set(within) & {"settings", "run", "columns", "watched", "provenance"} or last in (
            "coterie", "model", "origin", "settings", "run", "columns", "watched", "provenance",
            0, 1, 2
        )  # fmt: skip
        assert isinstance(posterior.annotations.origin, str)
        assert len(posterior.labels()) == 3


def test_text_does_not_take_the_room_that_a_file_says(path):
    value = {"$numpy": [f"<U{2**29 - 1}", "x"]}
    change_header(path, lambda header: header["settings"].update(sweeps=value))
    assert coterie.load(path).settings["sweeps"].nbytes == 4


def test_objects_are_never_unpickled(path, tmp_path):
    bomb = npy(words([Bomb(tmp_path)] * 2), allow_pickle=True)
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
    change_header(path, lambda header: header.update(items="q"))
    assert "items must be a list" in refused(path)


def test_a_file_of_a_machine_with_the_other_byte_order(path):
    change_array(path, "class_balance", np.array([0.4, 0.6], ">f8"))
    change_array(path, "annotators", np.array([7, 11], ">i8"))
    same(coterie.load(path), example())


def test_an_extra_answer_that_is_a_class(path):
    def both(header):
        header["extra_answers"] = [True]

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


@pytest.mark.parametrize("path", [None, 5, b"run.coterie", ["run.coterie"]])
def test_what_names_no_file_is_said(path):
    with pytest.raises(coterie.DataError, match="takes the name of a file or folder"):
        coterie.load(path)
