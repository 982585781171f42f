"""The page itself: structure, safety, size; read by a parser, without a browser."""

import base64
import datetime
import hashlib
import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import coterie
from builders import posteriors, reported
from builders.pagetree import parse
from coterie.report import Shown, render, write
from coterie.report.items import BANDS, certainty, unpack
from coterie.words.names import name

SMALL = 3_000_000
"""Bytes that a report may have, whatever the data."""

SECTIONS = ["coteries", "annotators", "items", "together", "balance", "agreement", "convergence"]


@pytest.fixture(scope="module")
def posterior():
    return reported.crowd(unlabelled=1)


@pytest.fixture(scope="module")
def tree(posterior):
    return parse(render(posterior))


def test_sentences_do_not_run_into_each_other(tree):
    (intro,) = [node.text for node in tree.all("p") if "on average over the draws" in node.text]
    assert re.search(r"\. The verdict above", " ".join(intro.split()))


def headings(tree):
    return [node.attributes.get("id") for node in tree.all("h2")]


def test_sections_come_in_the_order_of_the_questions(posterior, tree):
    assert headings(tree) == [*SECTIONS, "settings", "words"]
    truth = dict.fromkeys(posterior.annotations.items, "c0")
    scored = parse(render(posterior, truth=truth))
    assert headings(scored) == [*SECTIONS[:3], "truth", *SECTIONS[3:], "settings", "words"]
    links = [node.attributes["href"] for node in scored.one("nav").all("a")]
    assert links == [f"#{id}" for id in headings(scored)]


@pytest.mark.parametrize("model", ["DawidSkene", "MajorityVote"])
def test_a_point_estimate_has_no_empty_sections(posterior, model):
    shown = parse(render(posteriors.point(posterior, model)))
    expected = ["annotators", "items", "balance", "agreement", "convergence", "settings", "words"]
    assert headings(shown) == expected
    assert shown.all("polyline") == []
    assert shown.with_class("range") == []  # no intervals
    assert "point estimates, without intervals" in shown.words
    for table in shown.all("table"):
        assert table.rows() != []


def test_a_tiny_crowd_has_no_empty_tables():
    for sizes in ({"annotators": 1}, {"annotators": 3, "unlabelled": 2}, {"gold": 2}):
        made = reported.crowd(items=2, classes=2, groups=1, draws=2, chains=1, **sizes)
        tree = parse(render(made))
        assert [table.rows() for table in tree.all("table") if not table.rows()] == []


def test_a_sampler_without_coteries(posterior):
    shown = parse(render(posteriors.ungrouped(posterior)))
    assert "coteries" not in headings(shown)
    head = shown.one("table", id="annotator-table").one("thead").words
    assert "coterie" not in head
    assert "role" in head


def test_the_tables_show_the_numbers(posterior, tree):
    table = posterior.annotators().set_index("annotator")
    rows = tree.one("table", id="annotator-table").rows()
    assert len(rows) == 12
    for who, labels, coterie_, role, accuracy, _, information in rows:
        mine = table.loc[who]
        assert labels == f"{mine['n_labels']:,}"
        assert coterie_ == ("–" if mine["n_labels"] == 0 else str(mine["coterie"]))
        assert role == mine["role"]
        ends = [100 * mine[end] for end in ("accuracy_low", "accuracy_high")]
        digits = int(f"{ends[0]:.0f}" == f"{ends[1]:.0f}")
        span = "–".join(f"{end:.{digits}f}" for end in ends)
        assert accuracy == f"{100 * mine['accuracy']:.0f} % {span} %"
        assert information == f"{mine['informativeness']:.2f}"
    for card in posterior.coteries().itertuples():
        region = tree.one("div", **{"aria-label": f"Answers of coterie {card.coterie}"})
        shown = [[int(cell) for cell in row[1:]] for row in region.one("table").rows()]
        exact = posterior.confusion(coterie=card.coterie).to_numpy()
        assert shown == [[int(f"{100 * share:.0f}") for share in row] for row in exact]
    items = tree.one("table", id="item-table").rows()
    labels = posterior.labels().set_index("item")
    for item, label, certain, *_ in items:
        assert label == labels.loc[item, "label"]
        probability = labels.loc[item, "probability"]
        if 0.005 < probability < 0.995:
            shown = int(certain.removesuffix(" %"))
            assert abs(shown - 100 * probability) < 1
            assert [shown >= 100 * end for end in BANDS] == [probability >= end for end in BANDS]


def test_every_chart_has_words_and_every_table_a_name(posterior):
    truth = dict.fromkeys(posterior.annotations.items, "c1")
    shown = parse(render(posterior, truth=truth))
    for svg in shown.all("svg"):
        described = svg.attributes.get("role") == "img" and svg.attributes.get("aria-label")
        assert described or svg.attributes.get("aria-hidden") == "true"
    for table in shown.all("table"):
        named = table.all("caption") or "aria-label" in table.parent.attributes
        assert named
        for heading in table.all("th"):
            assert heading.attributes["scope"] in ("row", "col")


def test_without_a_script_nothing_is_hidden_but_its_controls(tree):
    hidden = [node for node in tree.walk() if "hidden" in node.attributes]
    assert {node.tag for node in hidden} == {"form", "span"}
    assert len(tree.all("form")) == 2
    assert tree.all("button") == []


def test_ids_are_distinct(tree):
    ids = [node.attributes["id"] for node in tree.walk() if "id" in node.attributes]
    assert len(ids) == len(set(ids))


def policy_of(tree):
    meta = tree.one("meta", **{"http-equiv": "Content-Security-Policy"})
    parts = (part.split() for part in meta.attributes["content"].split(";"))
    return {first: rest for first, *rest in parts}


def test_the_policy_allows_this_style_and_script_and_nothing_else(tree):
    policy = policy_of(tree)
    assert policy.pop("default-src") == ["'none'"]
    assert policy.pop("base-uri") == policy.pop("form-action") == ["'none'"]
    assert policy.pop("img-src") == ["data:"]
    (script,) = [node for node in tree.all("script") if "type" not in node.attributes]
    for directive, node in (("style-src", tree.one("style")), ("script-src", script)):
        digest = base64.b64encode(hashlib.sha256(node.text.encode()).digest()).decode()
        assert policy.pop(directive) == [f"'sha256-{digest}'"]
    assert policy == {}


def hostile_posterior():
    bad = reported.HOSTILE
    made = reported.crowd(
        items=len(bad),
        annotators=len(bad),
        names=bad,
        item_names=bad,
        label_names=bad[:3],
        extra=bad[3:5],
    )
    settings = {bad[0]: bad[1], "prior": bad[2], "random_state": 1}
    return replace(made, settings=settings)


def test_hostile_names_are_only_text():
    posterior = hostile_posterior()
    bad = reported.HOSTILE
    calm, nasty = (
        parse(
            render(
                p, title=title, record={"command": title}, truth={item: p.annotations.classes[0]}
            )
        )
        for p, title, item in (
            (reported.crowd(items=12, extra=("u", "v")), "calm", "q000000"),
            (posterior, bad[0] + bad[1], bad[0]),
        )
    )
    assert {node.tag for node in nasty.walk()} <= {node.tag for node in calm.walk()}
    for tag in ("script", "style", "title", "form", "image"):
        assert len(nasty.all(tag)) == len(calm.all(tag))
    allowed = {key for node in calm.walk() for key in node.attributes}
    for node in nasty.walk():
        assert node.attributes.keys() <= allowed
        assert not any(key.startswith("on") or key == "style" for key in node.attributes)
        for key in ("href", "src"):
            assert node.attributes.get(key, "#").startswith(("#", "data:image/png;base64,"))
    shown = {row[0] for row in nasty.one("table", id="annotator-table").rows()}
    assert shown == {" ".join(name(who).split()) for who in bad}
    assert nasty.one("title").text == name(bad[0] + bad[1], 200)
    data = unpack(nasty.one("script", type="text/plain").text)
    assert data["rows"] == [name(word) for word in bad[:3]]
    assert set(data["items"]["people"]) == {name(word) for word in bad}


def test_hostile_names_stay_small_and_can_be_written(tmp_path):
    path = tmp_path / "report.html"
    write(hostile_posterior(), path)
    assert path.stat().st_size < 300_000
    assert "x" * 300 not in path.read_text("utf-8")


@pytest.mark.slow
def test_a_large_crowd_gives_a_small_page():
    posterior = reported.crowd(
        100_000,
        1_000,
        groups=8,
        labels_per_item=8,
        draws=50,
        names=[f"{l}{'🏴‍☠️' * 99}" for l in range(1_000)],
    )
    classes = np.resize(posterior.annotations.classes, 100_000)
    truth = dict(zip(posterior.annotations.items, classes, strict=True))
    text = render(posterior, truth=truth)
    assert len(text.encode()) < SMALL
    tree = parse(text)
    assert len(tree.one("table", id="annotator-table").rows()) == 1_000
    assert len(tree.one("table", id="item-table").rows()) == 200
    assert "99,800 more" in tree.words


def test_many_classes_give_a_small_page():
    posterior = reported.crowd(
        2_000,
        1_000,
        60,
        draws=2,
        chains=1,
        label_names=[f"{'long name ' * 9}{t}" for t in range(60)],
    )
    assert len(render(posteriors.point(posterior)).encode()) < SMALL


def test_the_same_posterior_gives_the_same_page(posterior):
    one = Shown(date=datetime.date(2024, 2, 29))
    assert render(posterior, shown=one) == render(posterior, shown=one)


def test_writing_replaces_the_file_whole(posterior, tmp_path, monkeypatch):
    path = tmp_path / "new" / "report.html"
    posterior.report(path, title="One")
    assert "<h1><bdi>One</bdi></h1>" in path.read_text("utf-8")

    def fail(*_, **__):
        raise RuntimeError

    monkeypatch.setattr("coterie.report.page.gather", fail)
    with pytest.raises(RuntimeError):
        write(posterior, path, title="Two")
    assert "<h1><bdi>One</bdi></h1>" in path.read_text("utf-8")
    assert [file.name for file in path.parent.iterdir()] == ["report.html"]


def test_nothing_in_the_template_goes_round_the_escaping():
    safe = []
    for file in Path(coterie.__file__).parent.rglob("template/*"):  # of the studies too
        if file.suffix == ".md":  # is no page of a browser
            continue
        text = file.read_text("utf-8")
        safe += re.findall(r"{{[^}]*\|\s*safe[^}]*}}", text)
        assert not re.search(r"innerHTML|outerHTML|insertAdjacentHTML|\beval\b", text)
        assert "autoescape" not in text
        assert not re.search(r'\sstyle="|\son\w+="', text)
    assert sorted(safe) == ["{{ script | safe }}", "{{ style | safe }}"]


def test_names_that_no_file_can_hold_are_mended():
    assert name("half \ud800 pair").encode() == "half \N{REPLACEMENT CHARACTER} pair".encode()


def test_signs_that_turn_the_writing_are_replaced():
    turning = [
        chr(code)
        for code in (0x61C, 0x200E, 0x200F, *range(0x202A, 0x202F), *range(0x2066, 0x206A))
    ]
    assert name("a" + "".join(turning)) == "a" + "\N{REPLACEMENT CHARACTER}" * len(turning)
    text = render(reported.crowd(annotators=len(turning), names=[f"a{sign}b" for sign in turning]))
    assert not set(turning[:-4]) & set(
        text
    )  # the page's own isolates stand round names in sentences


def test_long_names_that_begin_alike_can_be_told_apart():
    names = [f"{'https://example.org/' * 5}{l:02}.jpg" for l in range(12)]
    shown = [name(word) for word in names]
    assert len(set(shown)) == 12
    assert {len(word) for word in shown} == {60}
    tree = parse(render(reported.crowd(names=names, item_names=None)))
    cells = [
        row.all("bdi")[0] for row in tree.one("table", id="annotator-table").one("tbody").all("tr")
    ]
    assert sorted(cell.attributes["title"] for cell in cells) == names


def test_calibration_rows_have_the_edges_of_their_bins(posterior):
    tree = parse(render(posterior, truth=dict.fromkeys(posterior.annotations.items, "c0")))
    rows = tree.one("div", **{"aria-label": "Calibration"}).one("table").rows()
    assert [int(row[-1]) for row in rows] == [20, 20]  # of forty items
    for edges, mean, *_ in rows:
        low, high = (int(end) for end in edges.removesuffix(" %").split("–"))
        assert low <= int(mean.removesuffix(" %").strip("<>")) <= high


def test_a_grouping_outside_of_its_interval_is_commented(posterior, tree):
    sentence = "The grouping shown lies outside of that interval"
    assert sentence not in tree.words
    draws = posterior.draws
    more = replace(draws, n_coteries=np.full_like(draws.n_coteries, 11))
    shown = parse(render(replace(posterior, draws=more)))
    assert f"{sentence}: the computation has not settled" in shown.words


def cells(tree, table, place):
    return [
        [node for node in row.walk() if node.tag in ("td", "th")][place]
        for row in tree.one("table", id=table).one("tbody").all("tr")
    ]


def test_sort_keys_are_exact(posterior, tree):
    exact = posterior.labels().set_index("item")["probability"]
    rows = zip(cells(tree, "item-table", 0), cells(tree, "item-table", 2), strict=True)
    assert {item.words: float(key.attributes["data-v"]) for item, key in rows} == exact.to_dict()
    people = posterior.annotators().set_index("annotator")
    for place, column in ((4, "accuracy"), (6, "informativeness")):
        rows = zip(
            cells(tree, "annotator-table", 0), cells(tree, "annotator-table", place), strict=True
        )
        keys = {who.words: float(key.attributes["data-v"]) for who, key in rows}
        assert keys == people[column].to_dict()


def test_a_certainty_never_leaves_its_band_or_denies_the_runner_up():
    for p in np.linspace(0, 1, 20_001):
        shown = certainty(float(p)).strip("<>").removesuffix("\N{NO-BREAK SPACE}%")
        band = max(end for end in BANDS if p >= end)
        assert max(end for end in BANDS if int(shown) >= 100 * end) == band
    assert certainty(1.0).startswith("100")
    assert certainty(1.0, 1e-300).startswith(">99")


def test_a_runner_up_is_told_from_its_probability():
    rows = [(f"q{i}", who, say) for i in range(3) for who, say in (("a", 0), ("b", 1), ("c", 1))]
    rows += [("sure", who, 1) for who in "abc"]
    shown = parse(render(coterie.MajorityVote(probabilities="shares").fit(rows).posterior_))
    assert [row[3] for row in shown.one("table", id="item-table").rows()] == ["0 (33 %)"] * 3 + [
        "–"
    ]


def test_names_of_nothing_visible_are_spelled_out():
    blank = ["\u200b", "\u2060\ufeff", "\u3164", "\xad \u200d", "\u2800\ufe0f"]
    assert [name(word) for word in blank] == [
        "U+200B", "U+2060 U+FEFF", "U+3164", "U+00AD U+0020 U+200D", "U+2800 U+FE0F",
    ]  # fmt: skip
    assert name("\u200b" * 99) == " ".join(["U+200B"] * 6) + " …"
    for kept in ("👩\u200d👧", "❤\ufe0f", "می\u200cخواهم", "soft\xadhyphen"):
        assert name(kept) == kept
    for hidden in "\ufeff\ufff9\ufffa\ufffb\U000e0041\u202e":
        assert name(f"a{hidden}b") == "a\N{REPLACEMENT CHARACTER}b"


def test_one_of_a_thing_is_not_several():
    made = reported.crowd(items=1, annotators=1, classes=2, groups=1, draws=4, chains=1)
    labels = [node.words for node in parse(render(made)).with_class("figures")[0].all("dt")]
    assert labels[:4] == ["item", "annotator", "label", "coterie"]


def test_a_vote_is_not_compared_with_itself(posterior):
    truth = dict.fromkeys(posterior.annotations.items, "c0")
    for model, compared in (("MajorityVote", False), ("DawidSkene", True)):
        shown = parse(render(posteriors.point(posterior, model), truth=truth))
        assert ("a majority vote is right on" in shown.words) is compared
        assert ("the vote's" in shown.words) is compared
        assert ("Agreement is agreement with the vote" in shown.words) is not compared
        head = shown.one("table", id="annotator-table").one("thead").words
        assert ("accuracy" in head) is compared


def test_calibration_on_a_single_item_is_not_judged(posterior):
    truth = {posterior.annotations.items[0]: posterior.labels()["label"].iloc[0]}
    shown = parse(render(posterior, truth=truth))
    assert "the items are too few to judge that" in shown.words
    assert "too modest" not in shown.words


def test_what_has_not_converged_is_said_above_the_verdict_alone():
    shown = parse(render(reported.crowd(draws=20)))
    (warning,) = [node for node in shown.with_class("warning") if node.parent.tag == "header"]
    assert "Labels not settled" in warning.words
    assert "Convergence" not in shown.with_class("verdict")[0].words
