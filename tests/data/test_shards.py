"""Keys that never change, and labels cut by them."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_array_equal

import coterie
from coterie.data.codes import Shards, cut, key_of
from coterie.errors import DataError

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
