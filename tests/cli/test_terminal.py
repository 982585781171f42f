"""What a terminal shows: tables that fit, colours where somebody looks, and what to do next."""

import io
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import typer
from rich.console import Console

import coterie
from coterie.cli import guard, show
from coterie.cli.show import next_step, print_frame

NOT_SETTLED = {
    "settled": False, "chains": 2, "one_label": 0.5, "n_differ": 1, "differ": [0], "sweeps": 40,
}  # fmt: skip
UUID = "4626f382-2aa2-5ac1-9c74-76185f48c6a"


def crowd(n_items=12, n_annotators=12, named="q{}", classes=(1, 2, 3), rng=0):
    rng = np.random.default_rng(rng)
    rows = [
        (named.format(i), f"worker number {l:02}", classes[(i + (rng.random() < 0.2)) % 3])
        for i in range(n_items)
        for l in range(n_annotators)
    ]
    return coterie.read(rows)


@pytest.fixture(scope="module")
def sampled():
    model = coterie.CBCC(sweeps=60, burn_in=20, chains=2, random_state=0, early_stop=False)
    return model.fit(crowd(named=UUID + "{}")).posterior_


def shown(capsys, monkeypatch, width, posterior, scores):
    monkeypatch.setenv("COLUMNS", str(width))
    show.result(posterior, scores, [Path("result/labels.csv"), Path("result/report.html")])
    return capsys.readouterr().out.splitlines()


@pytest.mark.parametrize("width", [80, 100])
@pytest.mark.parametrize("grouped", [True, False])
def test_tables_fit_and_no_row_is_broken(capsys, monkeypatch, sampled, width, grouped):
    posterior = sampled if grouped else coterie.DawidSkene().fit(sampled.annotations).posterior_
    truth = dict(zip(posterior.annotations.items.tolist(), [1, 2, 3] * 4, strict=True))
    lines = shown(capsys, monkeypatch, width, posterior, {posterior.model: posterior.score(truth)})
    assert max(len(line.rstrip()) for line in lines[:-2]) <= width  # those name files
    least = lines.index("Least certain items")
    assert lines[least + 1].split()[:3] == ["item", "label", "probability"]
    assert all(line.startswith(UUID) for line in lines[least + 2 : least + 7])
    assert lines[least + 7] == ""
    assert lines[-1].startswith("Next: open result/report.html; ")


def test_a_terminal_of_any_width_has_no_broken_row():
    frame = pd.DataFrame({"item": ["x" * 60], "count": [1234567], "share": [0.25], "more": ["y"]})
    for width in range(40, 100, 3):
        out = Console(file=io.StringIO(), width=width, force_terminal=True, color_system=None)
        print_frame(frame, "A title", out, dispensable=("more",))
        lines = out.file.getvalue().splitlines()
        assert len(lines) == 5  # a blank, the title, the header, a rule, one row
        assert max(map(len, lines)) <= width
        assert "1,234,567" in lines[-1]
        assert "0.250" in lines[-1]


def test_classes_that_are_numbers_are_told_from_counts():
    posterior = coterie.MajorityVote().fit(crowd()).posterior_
    assert show.consensus(posterior) == [
        "MajorityVote calls 12 items: 1: 4 (33 %), 2: 4 (33 %), 3: 4 (33 %)"
    ]
    assert show.consensus(posterior, 50) == [
        "MajorityVote calls 12 items: 1: 4 (33 %),",
        "  2: 4 (33 %), 3: 4 (33 %)",
    ]


def test_best_and_worst_have_enough_labels():
    rows = [(i, f"a{l}", i % 2) for l in range(9) for i in range(25)]
    rows += [(0, f"b{l}", 1) for l in range(4)]  # always wrong, once
    title, table = show.annotator_table(coterie.MajorityVote().fit(rows).posterior_)
    assert title == "Annotators: best and worst 4 of 9 with 20 labels or more"
    assert table["annotator"].str.startswith("a").all()
    title, _ = show.annotator_table(coterie.MajorityVote().fit(crowd(n_items=5)).posterior_)
    assert title == "Annotators: best and worst 4 of 12"


def test_the_last_line_says_what_to_do_next(sampled):
    sure = coterie.DawidSkene().fit(crowd()).posterior_
    assert next_step(sure, []) == (
        "Next: add --out result/ for a report; give known labels of some items with --gold, and "
        "see what probabilities are worth"
    )
    unsettled = replace(sampled, run={**sampled.run, "verdicts": {"labels": NOT_SETTLED}})
    assert next_step(unsettled, [Path("my out/labels.csv")]) == (
        "Next: open 'my out/labels.csv'; run more chains (--chains 4), or give gold"
    )
    short = {"labels": {**NOT_SETTLED, "one_label": 1.0}}  # the chains agree, but hardly moved
    assert next_step(replace(sampled, run={**sampled.run, "verdicts": short}), []) == (
        "Next: add --out result/ for a report; run longer chains (--sweeps 180)"
    )
    vote = coterie.MajorityVote().fit([(1, "a", "x"), (1, "b", "y"), (2, "a", "x")]).posterior_
    assert next_step(vote, [Path("out/labels.csv"), Path("out/report.html")]).endswith(
        "; ask for more labels of the 2 items below 80 % (review in the table of labels)"
    )


def test_nobody_is_sent_to_a_plan_that_has_nobody_left_to_ask():
    rows = [(i, a, "x" if a == "a" else "y") for i in (1, 2) for a in ("a", "b")]
    paths = [Path("out/labels.csv")]
    everybody = coterie.QuickConsensus().fit(rows).posterior_
    assert "from somebody new (all of these people have labelled everything)" in next_step(
        everybody, paths
    )
    assert "coterie plan out" in next_step(coterie.QuickConsensus().fit(rows[1:]).posterior_, paths)


def test_known_items_are_not_among_the_least_certain(capsys):
    rows = [(i, a, "x" if a == "a" else "y") for i in (1, 2) for a in ("a", "b")]
    some = coterie.QuickConsensus().fit(rows, {1: "x"}).posterior_
    assert show.doubtful_table(some)["item"].tolist() == ["2"]
    show.summary(coterie.QuickConsensus().fit(rows, {1: "x", 2: "y"}).posterior_, {})
    assert "Least certain" not in capsys.readouterr().out


@pytest.mark.parametrize("kind", ["Error", "Warning"])
def test_errors_and_warnings_have_colour_only_where_somebody_looks(monkeypatch, kind):
    said = []
    monkeypatch.setattr(typer, "echo", lambda text, **how: said.append((text, how["color"])))
    guard.complain(kind, "a sentence")
    monkeypatch.setenv("NO_COLOR", "1")
    guard.complain(kind, "a sentence")
    assert [colour for _, colour in said] == [None, False]  # None: as the stream is
    head = typer.style(f"{kind}:", fg={"Error": "red", "Warning": "yellow"}[kind], bold=True)
    assert {text for text, _ in said} == {f"{head} a sentence"}
