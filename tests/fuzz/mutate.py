"""Bytes, texts and numbers, damaged at random but always alike for one source of randomness."""

import string

import numpy as np

NASTY = [
    "", " ", "\u00a0", "\x00", "\x1b[2J", "\n", "\r", "\r\n", "\t", '"', '""', ",", ";", "|",
    "\\", "a\nError: b", "\u202egnp.exe", "\u2028", "\u0085", "\ufeff", "\ud800",
    "\U0001f600" * 3, "=1+1", "+A1", "@A1", "NaN", "nan", "inf", "-0", "0", "0.0", "1e400",
    "12e345", "1e99999999999999999999", "9" * 5_000, "[" * 2_000, "{", "}", "null", "true",
    "x" * 200_000, "%s", "{0}", "../../etc", "<script>", "[bold]", "[/]", "日本", "ﷺ", "\x7f",
    "\x9b31m", "'; DROP", "-", "--out", "~root",
]  # fmt: skip
NUMBERS = [
    np.nan, np.inf, -np.inf, -1.0, -3.0, 0.0, 5e-324, 1e-310, 1e308, 1.7e308, 2.0, 1e9, -0.0,
]  # fmt: skip
INTEGERS = [-1, -2, 0, 1, 2, 7, 255, 1_000_000, 2**31 - 1, -(2**31)]


def damaged(content, chance):
    """Bytes with a few changes: cut, flipped, repeated, dropped, or with something nasty put in."""
    content = bytearray(content)
    for _ in range(chance.choice([1, 1, 1, 2, 3, 8])):
        place = chance.randrange(len(content) + 1)
        length = min(len(content) - place, int(2 ** (chance.random() * 8)))
        change = chance.randrange(7)
        if change == 0:
            del content[place:]
        elif change == 1 and place < len(content):
            content[place] ^= 1 << chance.randrange(8)
        elif change == 2:
            content[place:place] = content[place : place + length]
        elif change == 3:
            del content[place : place + length]
        elif change == 4:
            content[place:place] = nasty(chance).encode("utf-8", "surrogatepass")
        elif change == 5:
            content[place : place + length] = bytes(chance.choices(range(256), k=length))
        else:
            content[place:place] = chance.choice(string.printable).encode()
    return bytes(content)


def nasty(chance):
    """A text that nobody expects."""
    return chance.choice(NASTY)


def spoilt(array, chance):
    """An array with a few numbers that it should not have, of another type, or of another shape."""
    array = np.array(array)
    change = chance.randrange(8)
    if change == 0:
        types = ["f4", "f8", "i4", "u8", "i8", "U3", "?", "longdouble", "c16", "M8[s]"]
        with np.errstate(all="ignore"):
            return array.astype(chance.choice(types))
    if change == 1:
        return array[: max(0, len(array) - 1)] if array.ndim else array[None]
    if change == 2:
        return np.concatenate([array, array]) if array.ndim else array
    if not array.size:
        return np.zeros(3, array.dtype)
    for _ in range(chance.choice([1, 1, 4, array.size])):
        place = chance.randrange(array.size)
        if array.dtype.kind == "f":
            with np.errstate(all="ignore"):
                array.flat[place] = chance.choice(NUMBERS)
        elif array.dtype.kind in "iu":
            value = chance.choice(INTEGERS)
            array.flat[place] = np.array(value).astype(array.dtype)
    return array


def spoilt_json(value, chance):
    """A JSON value with one part of it replaced or gone."""
    if isinstance(value, dict) and value and chance.random() < 0.8:
        key = chance.choice(sorted(value))
        if chance.random() < 0.2:
            return {k: v for k, v in value.items() if k != key}
        return {**value, key: spoilt_json(value[key], chance)}
    if isinstance(value, list) and value and chance.random() < 0.8:
        place = chance.randrange(len(value))
        return [*value[:place], spoilt_json(value[place], chance), *value[place + 1 :]]
    other = [None, True, -1, 0, 10**30, 1.5, -2.5, "x", "9" * 5_000, [], {}, [[]], {"$x": 1}, "∞"]
    return chance.choice(other)
