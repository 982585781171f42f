"""Text and pictures of items: short, small, and nothing that a browser would run."""

import base64
import datetime
import io

import pandas as pd
import pytest

import coterie
from builders import reported
from builders.pagetree import parse
from coterie.report import Shown, render
from coterie.report.facts import date_of
from coterie.report.items import Pictures, address, embedded

PIXEL = base64.b64decode(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8BQDwAEhQGAhKmMIQAAAABJRU5ErkJggg=="
)


@pytest.fixture
def posterior():
    return reported.crowd(items=6)


def test_text_stands_beside_its_item_escaped_and_short(posterior):
    items = posterior.annotations.items
    texts = pd.Series({items[0]: reported.HOSTILE[0], items[1]: "word " * 200})
    tree = parse(render(posterior, shown=Shown(text=texts)))
    shown = [node.words for node in tree.with_class("text")]
    assert reported.HOSTILE[0] in shown
    assert max(map(len, shown)) == 240
    assert len(tree.all("script")) == 2


def test_a_local_picture_is_embedded_small_and_the_web_is_linked(posterior, tmp_path):
    items = posterior.annotations.items
    (tmp_path / "one.png").write_bytes(PIXEL)
    images = {
        items[0]: "one.png",
        items[1]: "https://example.org/<two>.png",
        items[2]: "javascript:alert(1)",
        items[3]: "gone.png",
    }
    tree = parse(render(posterior, shown=Shown(image=images, folder=tmp_path)))
    (picture,) = tree.all("img")
    assert picture.attributes["src"].startswith("data:image/")
    assert picture.attributes["alt"] == f"Picture of {items[0]}"
    links = {node.attributes["href"] for node in tree.one("table", id="item-table").all("a")}
    assert links == {
        "https://example.org/%3Ctwo%3E.png", "javascript%3Aalert%281%29", "gone.png",
    }  # fmt: skip


def test_a_large_picture_is_made_small(tmp_path):
    image = pytest.importorskip("PIL.Image", reason="Pillow is not installed")
    path = tmp_path / "large.png"
    image.effect_noise((900, 600), 99).save(path)
    small = embedded(path)
    content = base64.b64decode(small.partition(",")[2])
    assert image.open(io.BytesIO(content)).size == (240, 160)
    assert len(small) < path.stat().st_size / 5


def test_without_an_image_library_only_what_is_small_is_embedded(tmp_path, monkeypatch):
    monkeypatch.setattr("coterie.report.items.thumbnail", lambda path: None)
    small, large = tmp_path / "small.png", tmp_path / "large.png"
    small.write_bytes(PIXEL)
    large.write_bytes(PIXEL + bytes(40_000))
    assert base64.b64decode(embedded(small).partition(",")[2]) == PIXEL
    assert embedded(large) is None


@pytest.mark.parametrize("content", [b"", b"<svg onload=alert(1)>", b"\x89PNG no picture"])
def test_what_is_no_picture_is_linked_or_harmless(tmp_path, content):
    path = tmp_path / "x.png"
    path.write_bytes(content)
    found = embedded(path)
    assert found is None or found.startswith("data:image/png;base64,")
    assert embedded(tmp_path) is None


def test_pictures_are_embedded_as_long_as_there_is_room(tmp_path, monkeypatch):
    (tmp_path / "one.png").write_bytes(PIXEL)
    pictures = Pictures(dict.fromkeys(range(9), "one.png"), tmp_path)
    size = len(pictures.of(0)["src"])
    pictures.room = 2 * size
    assert [pictures.of(i)["src"] is not None for i in range(4)] == [True, True, False, False]
    assert pictures.of(99) is None


def test_addresses_lead_to_files_or_the_web():
    assert address("data:text/html,<b>") == "data%3Atext/html%2C%3Cb%3E"
    assert address("HTTPS://e.org/?a=b&c=d#e") == "HTTPS://e.org/?a=b&c=d#e"
    assert address("a\\b c.png") == "a/b%20c.png"


def test_what_is_no_mapping_is_refused(posterior):
    with pytest.raises(coterie.DataError, match="text must be a Series or dict"):
        render(posterior, shown=Shown(text=["a"]))


def test_the_date_is_the_runs_or_todays():
    day = datetime.date(2024, 2, 29)
    assert date_of({}, day) == "29 February 2024"
    assert date_of({"finished": "2025-01-02T03:04:05+00:00"}, day) == "2 January 2025"
    assert date_of({"finished": "nonsense"}, day) == "29 February 2024"
    assert date_of({}, None).split()[2] >= "2024"
