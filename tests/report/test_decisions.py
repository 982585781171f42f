"""The section "What to do next": there if there is a budget, with curve, tasks and people."""

import coterie
from builders.pagetree import parse
from coterie.report import render
from coterie.report.facts import Shown


def test_the_page_says_what_to_do_next_if_there_is_a_budget():
    crowd = coterie.simulate("mixed", items=30, annotators=6, labels_per_item=3, random_state=0)
    posterior = coterie.QuickConsensus().fit(crowd.annotations).posterior_
    without, page = parse(render(posterior)), render(posterior, shown=Shown(budget=25))
    tree = parse(page)
    assert "What to do next" not in without.words
    assert "What to do next" in tree.words
    assert "Expected accuracy against further labels" in page
    assert "The first 20 of 25 tasks." in tree.words
    assert "25 labels for 25.00" in tree.words


def test_where_nothing_can_be_asked_there_is_neither_curve_nor_table_of_tasks():
    crowd = coterie.simulate("mixed", items=12, annotators=5, random_state=0)
    posterior = coterie.QuickConsensus().fit(crowd.annotations, crowd.truth).posterior_
    page = render(posterior, shown=Shown(budget=25))
    assert "All items are settled: their labels are known." in parse(page).words
    assert "Expected accuracy against further labels" not in page
    assert "The next labels" not in page
