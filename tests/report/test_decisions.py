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
