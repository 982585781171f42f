"""Numbers as people say them, and values from the data as sentences write them."""

import pytest

from coterie.words.names import isolated, name
from coterie.words.numbers import (
    SPACE,
    Pulse,
    around,
    be,
    count,
    duration,
    exact,
    in_percent,
    listed,
    plus_minus,
    reach,
    seconds,
    signed,
    span,
    tenths,
    typed_percent,
)  # fmt: skip
from coterie.words.values import did_you_mean, join, written
from coterie.words.visible import shorten

NOTHING = "–"


@pytest.mark.parametrize(
    ("write", "given", "expected"),
    [
        (typed_percent, [(0.934,), (0.9996,), (None,)], ["93 %", ">99 %", NOTHING]),
        (tenths, [(0.5,), (float("nan"),)], ["50.0 %", NOTHING]),
        (in_percent, [(0.88889,), (0.5, 0), (None,)], ["88.89", "50", NOTHING]),
        (span, [(0.904, 0.95), (0.698, 0.7021), (0.7, 0.7)], ["90–95 %", "69.8–70.2 %", "70 %"]),
        (span, [(None, None), (0.1, float("nan"))], [NOTHING, NOTHING]),
        (around, [(0.9, 0.95), (0.7, 0.7), (None, None)], ["90–95 %", "", ""]),
        (exact, [(2 / 3,), (None,)], ["0.6666666666666666", ""]),
        (signed, [(-0.5,), (0.25,), (-0.001,), (None,)], ["−0.50", "+0.25", "0.00", NOTHING]),
        (reach, [(-0.5, 2.1), (None, None)], ["−0.50 to +2.10", NOTHING]),
        (plus_minus, [(3.318, 0.052), (3.3, None)], ["3.32 ± 0.05", "3.30"]),
        (count, [(1, "item"), (1200, "item"), (2, "class", "classes")],
         ["1 item", "1,200 items", "2 classes"]),
        (be, [(1,), (0,), (2,)], ["is", "are", "are"]),
        (listed, [(["a"],), (["a", "b", "c"],), (list("abcdef"), 3)],
         ["a", "a, b and c", "a, b, c and 3 more"]),
        (join, [(["a"],), (["a", "b", "c"], "or")], ["a", "a, b or c"]),
        (written, [([],), ([1, "b"], "[]"), (range(14),)],
         ["none", "[1, 'b']", "0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, ... (2 more)"]),
        (seconds, [(0.0001,), (0.0034,), (12.34,), (3456.7,), (None,)],
         ["<0.001", "0.003", "12.3", "3,457", NOTHING]),
        (duration, [(42,), (400,), (9_000,)], ["42 s", "7 min", "2 h 30 min"]),
        (shorten, [("abcdefghijklmnopqrstuvwxyz", 10)], ["abcdef…xyz"]),
        (did_you_mean, [("consenus", ["consensus", "quick"]), ("vote", ["quick"])],
         [" (did you mean 'consensus'?)", ""]),
        (isolated, [("ann",), ("דנה",)], ["ann", "\u2068דנה\u2069"]),
    ],
)  # fmt: skip
def test_what_is_written(write, given, expected):
    assert [write(*one).replace(SPACE, " ") for one in given] == expected


def test_a_name_is_made_safe_once_and_equal_values_keep_their_own():
    assert name("ann") is name("ann")
    assert [name(1), name(1.0), name(True)] == ["1", "1.0", "True"]
    assert name("x" * 99).whole == "x" * 99 != name("x" * 99)


def test_ten_seconds_are_said_when_they_are_over():
    times = iter([0, 3, 11, 12, 21])
    pulse = Pulse(lambda: next(times))
    assert [pulse.due() for _ in range(4)] == [False, True, False, True]
