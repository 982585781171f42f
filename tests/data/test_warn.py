"""Data that mean something else are noticed, with the option that helps; what is meant is not."""

import warnings

import pytest

import coterie
from coterie.data import annotations_from
from coterie.errors import DataError, DataWarning
from coterie.models import make_model

CROWD = [(i, w, "yes" if (i + w) % 3 else "no") for i in range(6) for w in range(4)]


def heard(rows, **told):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        annotations_from(rows, **told)
    return [str(one.message) for one in caught if one.category is DataWarning]


def test_a_plain_crowd_is_read_in_silence():
    assert heard(CROWD) == []


@pytest.mark.parametrize("word", ["unsure", " Skip", "don't know", "N/A", "nan", "None", "?"])
def test_what_reads_like_no_answer_is_asked_about(word):
    rows = [*CROWD, (0, 9, word), (1, 9, word)]
    (said,) = heard(rows)
    assert f"{word!r} (2)" in said
    assert f"pass extra_answers=[{word!r}]" in said
    assert heard(rows, extra_answers=[word]) == []
    assert heard(rows, classes=["yes", "no", word]) == []


def test_several_are_one_sentence():
    (said,) = heard([*CROWD, (0, 9, "unsure"), (1, 9, "n/a")])
    assert "'unsure' (1), 'n/a' (1); pass extra_answers=['unsure', 'n/a']" in said


@pytest.mark.parametrize("place", [0, 1])
def test_ids_with_blanks_around_them(place):
    rows = [[f"i{i}", f"w{w}", label] for i, w, label in CROWD]
    rows[0][place] = " " + rows[0][place]
    (said,) = heard(list(map(tuple, rows)))
    role, name = (("items", "i0"), ("annotators", "w0"))[place]
    assert said.startswith(f"{role} of the list of triples that differ only by blanks")
    assert f"' {name}', '{name}'" in said


def test_blanks_everywhere_alike_are_nobodys_twin():
    assert heard([(f" {i}", w, label) for i, w, label in CROWD]) == []


def test_numbers_and_free_text_are_no_categories():
    numbers = [(i, w, f"{i + w / 7:.3f}") for i in range(12) for w in range(4)]
    (said,) = heard(numbers)
    assert "48 different labels among 48: they look like numbers with fractions" in said
    assert heard([(i, w, float(x)) for i, w, x in numbers]) == [said]
    mixed = [(i, w, f"{i + w / 2:g}" if w else str(100 + i)) for i in range(12) for w in range(4)]
    (said,) = heard(mixed)
    assert "they look like numbers with fractions" in said
    (said,) = heard([(i, w, 7 * i + w) for i in range(12) for w in range(4)])
    assert "they look like numbers on a scale, or ids" in said
    assert "put them into a few bins, or name another column as the label" in said
    (said,) = heard([(i, w, f"text {i} {w}") for i in range(12) for w in range(4)])
    assert "free text or ids" in said
    many = [(i, w, f"class {i % 30}") for i in range(120) for w in range(3)]
    assert heard(many) == []


def test_one_item():
    (said,) = heard([("only", w, "yes" if w else "no") for w in range(4)])
    assert "has one item, 'only'" in said


@pytest.mark.parametrize(
    ("again", "says"),
    [
        ([(0, 1, "yes")], "1 in all, which says the same"),
        ([(0, 0, "yes")], "1 in all, none of which says the same"),
        ([(0, 1, "yes"), (0, 2, "no")], "2 in all, 1 of which say the same"),
        ([(0, 1, "yes"), (0, 2, "yes")], "2 in all, which say the same"),
    ],
)
def test_repeated_rows_say_whether_they_agree(again, says):
    assert CROWD[:3] == [(0, 0, "no"), (0, 1, "yes"), (0, 2, "yes")]
    with pytest.raises(DataError, match=says):
        annotations_from([*CROWD, *again])


def test_a_first_row_of_data_is_noticed(tmp_path):
    path = tmp_path / "no_header.csv"
    path.write_text("q1,w1,yes\nq1,w2,no\nq2,w1,yes\n", "utf-8")
    with pytest.raises(DataError, match="'q1' also stands below: if the first row is data, put a"):
        coterie.read(path)


def test_did_you_mean(tmp_path):
    path = tmp_path / "labels.csv"
    path.write_text("item,worker,label\n1,a,yes\n1,b,no\n2,a,no\n2,b,no\n", "utf-8")
    with pytest.raises(DataError, match=r"asks for \(did you mean 'worker'\?\)"):
        coterie.read(path, annotator="Workr")
    with pytest.raises(DataError, match=r"did you mean 'yess'\?"):
        coterie.read(path, classes=["yess", "no"])
    with pytest.raises(DataError, match=r"no model 'concensus' \(did you mean 'consensus'\?\)"):
        make_model("concensus")


def test_names_that_are_nearly_right_are_asked_about_elsewhere_too(tmp_path):
    path = tmp_path / "labels.csv"
    path.write_text("itm,worker,label\n1,a,yes\n1,b,no\n2,a,unsure\n2,b,no\n", "utf-8")
    with pytest.raises(DataError, match=r"named like the item \(item, .*\) \(did you mean 'itm'\?"):
        coterie.read(path)
    with pytest.raises(DataError, match=r"no file .*lables\.csv \(did you mean 'labels\.csv'\?\)"):
        coterie.read(tmp_path / "lables.csv")
    with pytest.raises(DataError, match=r"no model 'DawidSkene' \(did you mean 'ds'\?\)"):
        make_model("DawidSkene")
    with pytest.warns(DataWarning) as said:
        coterie.read(path, item="itm", extra_answers=["unsrue"])
    assert "extra_answers= names 'unsrue', which nobody said (did you mean 'unsure'?)" in {
        str(one.message) for one in said
    }


def test_an_annotator_who_is_nearly_the_whole_file():
    mostly = [(i, "ann", "no" if i % 2 else "yes") for i in range(60)]
    (said,) = heard([*mostly, (0, "bob", "yes"), (1, "cy", "no")])
    assert "60 of 62 labels of the list of triples are by one annotator, 'ann'" in said
    assert heard([*mostly, *((i, "bob", "yes") for i in range(20))]) == []


def test_nobody_labels_what_another_does():
    (said,) = heard([(i, i % 4, "no" if i % 3 else "yes") for i in range(24)])
    assert "every item of the list of triples has one label" in said


def test_labels_that_are_json_are_said():
    (said,) = heard([(i, w, f'{{"choices": ["{label}"]}}') for i, w, label in CROWD])
    assert "are JSON, such as " in said
    assert heard([(i, w, f"[{label}") for i, w, label in CROWD]) == []
