"""Errors are one sentence, and carry what is wrong and what to do as data."""

import copy
import pickle

import pytest

import coterie
from coterie.errors import (
    Argument,
    CoterieError,
    DataError,
    MissingExtraError,
    NotFittedError,
    alternatives,
    as_python,
)


def refused(rows, **asked):
    with pytest.raises(DataError) as caught:
        coterie.read(rows, **asked)
    return caught.value


def test_the_argument_and_the_remedy_are_data():
    error = refused([("q1", "ann", "yes"), ("q1", "bob", "yes")])
    assert error.argument == "classes"
    assert error.remedy == "pass classes= with every possible truth"
    assert str(error).endswith(f"; {error.remedy}")
    assert str(error).count(error.remedy) == 1


def test_the_first_argument_of_the_sentence_is_the_one_at_fault_unless_told():
    parts = ["see ", Argument("item"), " and ", Argument("label")]
    assert DataError(parts).argument == "item"
    assert DataError(parts, argument="label").argument == "label"
    assert DataError("no", remedy=parts).argument == "item"
    assert DataError("no").argument is None
    assert DataError("no").remedy == ""


def test_arguments_as_python_writes_them():
    shown = [Argument("classes", list("ab")), Argument("annotator", several=True)]
    assert list(map(as_python, shown)) == ["classes=['a', 'b']", "annotator=[...]"]
    assert as_python(Argument("gold", "a'b")) == """gold="a'b\""""
    assert as_python(Argument("classes", list(range(20)))).endswith("11, ... (8 more)]")


@pytest.mark.parametrize(("n", "text"), [(1, "a="), (2, "a= or b="), (4, "a=, b=, c= or d=")])
def test_alternatives_are_a_part_of_a_sentence(n, text):
    assert str(CoterieError(alternatives([Argument(name) for name in "abcd"[:n]]))) == text


@pytest.mark.parametrize(
    "error",
    [
        DataError("wrong", remedy=["pass ", Argument("classes", [1, 2])]),
        NotFittedError("fit first"),
        MissingExtraError("reading Parquet", "pyarrow", "parquet"),
    ],
    ids=lambda error: type(error).__name__,
)
@pytest.mark.parametrize("copied", [lambda e: pickle.loads(pickle.dumps(e)), copy.copy])
def test_errors_survive_the_way_from_another_process(error, copied):
    again = copied(error)
    assert type(again) is type(error)
    assert (str(again), again.argument, again.remedy) == (
        str(error), error.argument, error.remedy,
    )  # fmt: skip
    assert again.written(lambda argument: "X") == error.written(lambda argument: "X")
