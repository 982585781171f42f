"""Annotations: codes, compressed rows, immutability, keys that never change, shards."""

import copy
import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_array_equal

import coterie
from coterie.data.annotations import Annotations
from coterie.data.codes import Codes, Shards, count_pairs, cut, encode, key_of
from coterie.errors import DataError


@st.composite
def coded_triples(draw):
    """Sizes and triples of codes, repeated pairs and empty rows included."""
    n_items, n_annotators = draw(st.integers(1, 6)), draw(st.integers(1, 5))
    n_classes = draw(st.integers(2, 4))
    n_answers = n_classes + draw(st.integers(0, 2))
    triple = st.tuples(
        st.integers(0, n_items - 1), st.integers(0, n_annotators - 1), st.integers(0, n_answers - 1)
    )
    triples = draw(st.lists(triple, max_size=25))
    return (n_items, n_annotators, n_classes, n_answers), triples


def columns_of(triples):
    return [np.array(column) for column in zip(*triples, strict=True)] or [np.array([], int)] * 3


def slow_rows(pairs, n_rows):
    """Row starts, columns and answers from sorted (row, column, answer), one step at a time."""
    start, column, answer = [0], [], []
    for row in range(n_rows):
        mine = sorted((c, a) for r, c, a in pairs if r == row)
        column += [c for c, _ in mine]
        answer += [a for _, a in mine]
        start.append(len(column))
    return start, column, answer


@given(coded_triples())
def test_rows_are_those_of_the_slow_way(drawn):
    sizes, triples = drawn
    codes = encode(*columns_of(triples), sizes=sizes)
    by_item = slow_rows(triples, sizes[0])
    by_annotator = slow_rows([(l, i, c) for i, l, c in triples], sizes[1])
    for array, expected in zip(codes[:6], (*by_item, *by_annotator), strict=True):
        assert array.tolist() == expected
    assert codes.gold.tolist() == [-1] * sizes[0]
    assert (codes.n_classes, codes.n_answers) == sizes[2:]
    assert count_pairs(codes) == len({(i, l) for i, l, _ in triples})


@given(coded_triples(), st.randoms())
def test_the_order_of_the_triples_changes_not_one_bit(drawn, random):
    sizes, triples = drawn
    shuffled = random.sample(triples, len(triples))
    ours, theirs = (encode(*columns_of(rows), sizes=sizes) for rows in (triples, shuffled))
    for one, other in zip(ours[:7], theirs[:7], strict=True):
        assert one.dtype == other.dtype
        assert_array_equal(one, other)


@pytest.mark.parametrize("answers", [2, 2**8, 2**14, 2**22])
def test_keys_of_32_bits_of_64_and_none_agree(answers):
    """The packed key is int32, int64, or too long; sizes alone decide."""
    rng = np.random.default_rng(3)
    item, annotator, answer = rng.integers(0, 2, 60), rng.integers(0, 3, 60), rng.integers(0, 2, 60)
    scale = 1 if answers < 2**14 else 2**20
    big = encode(
        item * scale, annotator * scale, answer, sizes=(scale + 1, 2 * scale + 1, 2, answers)
    )
    small = encode(item, annotator, answer, sizes=(2, 3, 2, 2))
    assert_array_equal(big.item_annotator, small.item_annotator * scale)
    assert_array_equal(big.annotator_item, small.annotator_item * scale)
    assert_array_equal(big.item_answer, small.item_answer)
    assert_array_equal(big.annotator_answer, small.annotator_answer)
    assert_array_equal(big.item_start[[0, 1, -1]], small.item_start)
    assert big.item_answer.dtype == big.annotator_item.dtype == np.int32


@pytest.mark.parametrize(
    ("item", "gold", "sentence"),
    [
        ([0, 2], None, "codes must lie in 0..1, got 0..2"),
        ([0, -1], None, "codes must lie in 0..1, got -1..0"),
        ([0, 1], [0, 2], "codes must lie in 0..1, got 0..2"),
        ([0, 1], [0], "gold codes must be one per item, 2, got shape (1,)"),
    ],
)
def test_codes_out_of_range_are_refused(item, gold, sentence):
    with pytest.raises(DataError) as caught:
        encode(item, [0, 1], [0, 1], sizes=(2, 2, 2, 2), gold=gold)
    assert str(caught.value) == sentence


TRIPLES = [
    ("q1", "ann", "yes"),
    ("q1", "bob", "no"),
    ("q2", "ann", "unsure"),
    ("q3", "cy", "no"),
]


@pytest.fixture
def crowd() -> Annotations:
    return coterie.read(TRIPLES, extra_answers=["unsure"], gold={"q3": "no"})


def test_sizes_and_words(crowd):
    assert (crowd.n_items, crowd.n_annotators, crowd.n_labels) == (3, 3, 4)
    assert (crowd.n_classes, crowd.n_answers, crowd.n_repeated) == (2, 3, 0)
    assert crowd.classes.tolist() == ["no", "yes"]
    assert crowd.answers.tolist() == ["no", "yes", "unsure"]
    assert crowd.labels_per_item.tolist() == [2, 1, 1]
    assert crowd.labels_per_annotator.tolist() == [2, 1, 1]
    assert crowd.sparsity == pytest.approx(5 / 9)
    assert crowd.gold == {"q3": "no"}


def test_the_description_counts_what_is_there(crowd):
    assert repr(crowd) == (
        "<Annotations: 3 items x 3 annotators, 4 labels, 2 classes, 1 extra answer, "
        "55.6 % missing, 1 gold>"
    )


def test_the_frame_gives_back_the_labels(crowd):
    frame = crowd.to_frame()
    assert list(frame.columns) == ["item", "annotator", "label"]
    assert list(frame.itertuples(index=False, name=None)) == sorted(TRIPLES)


@pytest.mark.parametrize("field", [*Codes._fields[:7], "items", "annotators", "classes"])
def test_nothing_can_be_changed(crowd, field):
    array = getattr(crowd.codes, field) if field in Codes._fields else getattr(crowd, field)
    with pytest.raises(ValueError, match="read-only"):
        array[0] = array[-1]
    with pytest.raises(AttributeError):
        crowd.items = array


def test_new_gold_leaves_the_old_annotations_alone(crowd):
    other = crowd.with_gold_codes([1, -1, -1])
    assert other.gold == {"q1": "yes"}
    assert crowd.gold == {"q3": "no"}
    with pytest.raises(ValueError, match="read-only"):
        other.codes.gold[0] = 0


def test_a_label_takes_at_most_24_bytes():
    rng = np.random.default_rng(0)
    n_items = 5_000
    item = np.repeat(np.arange(n_items), 3)
    annotator = np.concatenate([rng.permutation(100)[:3] for _ in range(n_items)])
    triples = zip(item, annotator, rng.integers(2, size=len(item)), strict=True)
    crowd = coterie.read(triples)
    held = crowd.nbytes + crowd.items.nbytes + crowd.annotators.nbytes
    assert crowd.items.dtype == np.int64
    assert held / crowd.n_labels <= 24


@pytest.mark.parametrize("copied", [copy.deepcopy, lambda a: pickle.loads(pickle.dumps(a))])
def test_copies_are_immutable_too(copied):
    codes = encode([0, 1], [0, 1], [1, 0], sizes=(2, 2, 2, 2))
    words = [np.array(list(text), object) for text in ("ij", "ab", "yn", "")]
    again = copied(Annotations(*words, codes))
    for array in (again.items, again.classes, again.codes.item_answer, again.codes.gold):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 1
    assert again.codes.item_answer.tolist() == codes.item_answer.tolist()


# As they were when the first result was drawn by them: another key is another result.
FROZEN = {
    "q1": 0x902ECF6D10AAC4D7,
    "q2": 0xCA937AA90CC6760F,
    "é": 0x8FDEE94B43EA7BD6,
    "": 6238072747940578789,
    "\0": 10737740539711983098,
    7: 0xEA2379F8CE2385A3,
    0.5: 0xB2FBEDBA9776C768,
    True: 0x5E3E703B5FC1B439,
    (1, 2): 0xBFB99A82A2D9CF02,
    2**70: 0x74E0C6FE63FE088B,
    2**63 + 5: 0xEE5ED2651B597BBC,
}


@pytest.mark.parametrize("value", FROZEN, ids=repr)
def test_keys_are_those_of_the_first_day(value):
    assert key_of([value]).tolist() == [FROZEN[value]]


def test_an_id_has_one_key_in_whatever_company_and_type_it_comes():
    texts = [f"item {k}" for k in range(3000)] + ["x" * 5000, "", "a\0", "a", "日本"]
    alone = [int(key_of([text])[0]) for text in texts]
    assert key_of(texts).tolist() == alone
    assert key_of(np.array(texts, object)).tolist() == alone
    assert key_of([*texts, 1]).tolist()[:-1] == alone  # mixed, one at a time
    numbers = [0, -5, 2**62, -(2**63)]
    for kind in (np.int64, object, np.float64):
        assert_array_equal(key_of(np.array(numbers, kind)), key_of(numbers))
    assert_array_equal(key_of(np.array([2**63 + 5, 3], np.uint64)), key_of([2**63 + 5, 3]))
    assert_array_equal(key_of(np.array([0.5, np.nan, np.inf])), key_of([0.5, np.nan, np.inf]))


@given(st.lists(st.one_of(st.text(), st.integers(), st.booleans(), st.floats()), unique=True))
def test_unequal_ids_have_unequal_keys(ids):
    told_apart = {(type(x) is str, type(x) is bool, x) for x in ids}
    assert len(set(key_of(ids).tolist())) == len(told_apart)


def test_keys_scatter_evenly():
    for ids in (np.arange(100_000), [f"{k:06d}" for k in range(100_000)]):
        key = key_of(ids)
        assert len(np.unique(key)) == 100_000
        for shift in (0, 30, 60):
            count = np.bincount(((key >> np.uint64(shift)) & np.uint64(15)).astype(int))
            assert ((count - 6250) ** 2 / 6250).sum() < 50  # chi-square of 15 degrees


@pytest.mark.parametrize("n", [1, 2, 3, 7, 200])
def test_shards_hold_every_label_once_by_key(n):
    annotations = coterie.simulate("mixed", items=60, annotators=9, random_state=1).annotations
    annotations = annotations.with_gold_codes(np.arange(60) % 4 - 1)
    shards, codes = cut(annotations, n), annotations.codes
    assert isinstance(shards, Shards)
    assert (len(shards), shards.n_items, shards.n_labels) == (n, 60, annotations.n_labels)
    assert (shards.n_annotators, shards.n_classes, shards.n_answers) == (9, 3, 3)
    assert_array_equal(shards.labels_per_annotator, annotations.labels_per_annotator)
    seen, last = [], 0
    for k in range(n):
        shard, items = shards.open(k), shards.items_of(k)
        assert_array_equal(shard.key, key_of(annotations.items[items]))
        assert (np.diff(shard.key.astype(object)) > 0).all()
        assert not len(items) or last < shard.key[0]
        last = shard.key[-1] if len(items) else last
        assert_array_equal(shard.gold, codes.gold[items])
        for place, i in enumerate(items):
            own = slice(shard.item_start[place], shard.item_start[place + 1])
            whole = slice(codes.item_start[i], codes.item_start[i + 1])
            assert_array_equal(shard.item_annotator[own], codes.item_annotator[whole])
            assert_array_equal(shard.item_answer[own], codes.item_answer[whole])
        seen += items.tolist()
    assert sorted(seen) == list(range(60))
    if n == 7:
        sizes = [len(shards.open(k).item_answer) for k in range(n)]
        assert max(sizes) < 1.5 * annotations.n_labels / n


def test_no_shard_is_refused():
    annotations = coterie.read([("q", "a", "x"), ("p", "b", "y")])
    with pytest.raises(DataError, match="at least one shard, got 0"):
        cut(annotations, 0)
