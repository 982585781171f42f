"""Planted bugs: each is caught by the check that is named for it, which passes without the bug."""

import pytest


def assert_caught(bug, plant, folder):
    """A bug is (case, check, edits); ``plant(case, folder, edits)`` gives the sampler with it."""
    case, check, edits = bug
    sampler = plant(case, folder, edits)  # outside: an edit that fits nowhere is no catch
    with pytest.raises(AssertionError):
        check(sampler, case)


def controls(bugs):
    """Every (case, check) of some bugs once: bugs share checks of a case."""
    each = {(id(case), check): (case, check) for case, check, _ in bugs.values()}
    return [pytest.param(*one, id=f"{one[1].__name__}-{n}") for n, one in enumerate(each.values())]
