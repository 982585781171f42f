"""All items in a packed block, and what is left out of it where room is short."""

import itertools

import numpy as np

from builders import reported
from coterie.report import Shown, gather
from coterie.report.items import all_items, packed, unpack


def test_every_item_is_there_with_what_was_said_of_it():
    posterior = reported.crowd(items=40, gold=2, extra=("unsure",))
    items = all_items(posterior)
    a, labels = posterior.annotations, posterior.labels()
    assert items["item"] == a.items.tolist()
    assert [items["answers"][t] for t in items["label"]] == labels["label"].tolist()
    assert [items["answers"][t] for t in items["second"]] == labels["runner_up"].tolist()
    assert items["known"] == [0, 1]
    for k, p in zip(items["sure"], labels["probability"], strict=True):
        shown = items["words"][k].removesuffix("\N{NO-BREAK SPACE}%")
        assert abs(float(shown.strip("<>")) - 100 * p) <= 1
    ends = np.cumsum(items["n"])
    frame = a.to_frame()
    for i, item in enumerate(items["item"]):
        mine = slice(ends[i] - items["n"][i], ends[i])
        said = {
            (items["people"][l], items["answers"][c])
            for l, c in zip(items["who"][mine], items["answer"][mine], strict=True)
        }
        rows = frame[frame["item"] == item]
        assert said == set(zip(rows["annotator"], rows["label"], strict=True))


def test_what_has_no_room_is_left_out_least_needed_first(monkeypatch):
    posterior = reported.crowd(items=400)
    found = []
    for room in (10**9, 6_000, 4_500, 3_500, 10):
        monkeypatch.setattr("coterie.report.items.MOST_BLOCK", room)
        items = unpack(packed({}, posterior, ["text"] * 400))["items"] or {}
        found.append([key in items for key in ("item", "text", "answer", "who")])
    assert found[0] == [True, True, True, True]
    assert found[-1] == [False] * 4
    for before, after in itertools.pairwise(found):
        assert all(a <= b for a, b in zip(after, before, strict=True))
    assert [True, True, True, False] in found


def test_texts_of_all_items_are_in_the_block_made_short():
    posterior = reported.crowd(items=5)
    first, second = posterior.annotations.items[:2]
    shown = Shown(text={first: "one\n two", second: "x" * 999, "nobody": "?"})
    texts = unpack(gather(posterior, shown=shown).block)["items"]["text"]
    assert texts[0] == "one two"
    assert len(texts[1]) == 240
    assert texts[2:] == [None] * 3
