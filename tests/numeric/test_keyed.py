"""Keyed uniform numbers: the published answers, and numbers that look random."""

import numpy as np
import pytest
from scipy import stats

from coterie.numeric.jit import kernel
from coterie.numeric.keyed import Stream, philox, stream_of, uniforms

# The first three are the lines "philox4x32 10" of tests/kat_vectors of the authors' Random123. All
# six came out alike of randomgen 2.3.0, an implementation of others, where the three others, of any
# numbers, are from: Philox(key=..., counter=... - 1, number=4, width=32).random_raw(4).
ANSWERS = {
    "zeros": ([0] * 4, [0] * 2, "6627e8d5 e169c58d bc57ac4c 9b00dbd8"),
    "ones": ([0xFFFFFFFF] * 4, [0xFFFFFFFF] * 2, "408f276d 41c83b0e a20bc7c6 6d5451fd"),
    "pi": (
        [0x243F6A88, 0x85A308D3, 0x13198A2E, 0x03707344],
        [0xA4093822, 0x299F31D0],
        "d16cfe09 94fdcceb 5001e420 24126ea1",
    ),
    "any": (
        [0xABB8E5A8, 0xCE14ABEE, 0x05CC99F5, 0xCED53525],
        [0x7806ADC0, 0x83EC603F],
        "6a4a45ef ff771ae4 237349b9 6e3980a4",
    ),
    "any other": (
        [0xA1570476, 0x492A477C, 0xFAC210ED, 0x0DCE670A],
        [0x4726028F, 0x62247685],
        "5d564f27 89903737 0deb6747 3412673f",
    ),
    "one more": (
        [0x923923C4, 0x6891B332, 0x218D35CE, 0x0B9727B5],
        [0x00428AB4, 0x0C7B62A5],
        "3cce4616 9376305a 75654687 52ad639b",
    ),
}


@kernel
def fill(stream, keys, place, out):
    for k in range(len(keys)):
        out[k, 0], out[k, 1] = uniforms(stream, keys[k], place)


@pytest.mark.parametrize("name", ANSWERS)
def test_the_published_answers(name):
    counter, key, answer = ANSWERS[name]
    words = philox(tuple(map(np.uint64, counter)), *map(np.uint64, key))
    assert " ".join(f"{int(word):08x}" for word in words) == answer


def drawn(stream, keys, place):
    out = np.zeros((len(keys), 2))
    fill(stream, keys, place, out)
    return out


def test_compiled_numbers_are_those_of_python():
    keys = np.array([0, 1, 2**63 + 17, 2**64 - 1], np.uint64)
    stream = stream_of(np.random.SeedSequence(7), 12)
    assert drawn(stream, keys, 3).tolist() == [list(uniforms(stream, key, 3)) for key in keys]


def test_numbers_are_uniform_and_unlike_in_every_coordinate():
    keys = np.arange(20_000, dtype=np.uint64)
    columns = []
    for stream in (Stream(1, 2, 0), Stream(1, 2, 1), Stream(1, 3, 0), Stream(2, 2, 0)):
        for place in (0, 1):
            columns.extend(drawn(stream, keys, place).T)
    for column in columns:
        assert stats.kstest(column, "uniform").pvalue > 1e-5
        assert abs(np.corrcoef(column[1:], column[:-1])[0, 1]) < 5 / np.sqrt(len(keys))
    between = np.corrcoef(columns) - np.eye(len(columns))
    assert np.abs(between).max() < 5.5 / np.sqrt(len(keys))
