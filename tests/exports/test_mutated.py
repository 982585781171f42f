"""Damaged exports: a result or one sentence, never a traceback, never a wrong word on status."""

import json
import random
import warnings

import pytest

import coterie
from builders.exports import SAMPLES
from coterie.errors import CoterieError
from coterie.io.exports import read_export
from coterie.io.reading import Reading

FEW, ALL = 6, 330  # mutations of each sample: all together are more than 10,000
ODD = [
    None,
    "",
    " ",
    "NA",
    -1,
    0,
    1.5,
    True,
    [],
    {},
    [[]],
    [None],
    {"id": None},
    "\x1b[2J",
    "x" * 999,
]
ODD += ["\ud800", 10**30, float("nan"), "null", "[1", '{"a":', "accept", "rejected", [{"start": 1}]]


def places(value, path=()):
    """Give the paths to everything in a JSON value."""
    yield path
    if isinstance(value, dict):
        for key in value:
            yield from places(value[key], (*path, key))
    elif isinstance(value, list):
        for place, entry in enumerate(value):
            yield from places(entry, (*path, place))


def changed(value, path, rng):
    """Give a JSON value with one thing replaced, taken away, or put somewhere twice."""
    if not path:
        return rng.choice(ODD)
    first, *rest = path
    copy = dict(value) if isinstance(value, dict) else list(value)
    if rest:
        copy[first] = changed(value[first], rest, rng)
    elif rng.random() < 0.3:
        del copy[first]
    elif isinstance(copy, list) and rng.random() < 0.3:
        copy.insert(first, copy[first])
    elif isinstance(copy, dict) and rng.random() < 0.2:
        copy[first + "x"] = copy.pop(first)
    else:
        copy[first] = rng.choice(ODD)
    return copy


def bytes_changed(content, rng):
    """Give bytes with some flipped, cut off, or a stretch repeated."""
    content = bytearray(content)
    kind = rng.random()
    if kind < 0.3:
        del content[rng.randrange(len(content)) :]
    elif kind < 0.6:
        for _ in range(rng.randint(1, 8)):
            content[rng.randrange(len(content))] = rng.randrange(256)
    else:
        start = rng.randrange(len(content))
        stretch = content[start : start + rng.randint(1, 60)]
        content[start:start] = stretch * rng.randint(0, 3)
        if kind > 0.8:
            del content[start : start + len(stretch)]
    return bytes(content)


def mutated(sample, rng):
    """Give a damaged export: of the JSON inside where there is some, else of the bytes."""
    text = sample.content
    try:
        records = [json.loads(text)]
    except ValueError:
        try:
            records = [json.loads(line) for line in text.splitlines()]
        except ValueError:
            return bytes_changed(text, rng)
    if rng.random() < 0.3:
        return bytes_changed(text, rng)
    for _ in range(rng.randint(1, 4)):
        place = rng.randrange(len(records))
        paths = list(places(records[place]))
        records[place] = changed(records[place], rng.choice(paths), rng)
    return b"\n".join(json.dumps(record).encode() for record in records)


def attempt(path):
    """Read a file as a user does; what goes wrong must be a sentence of ours."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            annotations = coterie.read(path, duplicates="keep")
            said = annotations.origin
        except CoterieError as error:
            said = str(error)
    assert said
    assert "\n" not in said
    assert "\x1b" not in said


def run(sample, tmp_path, count, seed):
    rng = random.Random(f"{sample.format} {sample.name} {seed}")
    path = tmp_path / sample.name
    for _ in range(count):
        path.write_bytes(mutated(sample, rng))
        attempt(path)


every = pytest.mark.parametrize("sample", SAMPLES, ids=lambda s: f"{s.format}-{s.name}")


@every
def test_a_damaged_export_is_a_result_or_a_sentence(tmp_path, sample):
    run(sample, tmp_path, FEW, "few")


@pytest.mark.slow
@every
def test_ten_thousand_damaged_exports(tmp_path, sample):
    run(sample, tmp_path, ALL, "all")


def cases_of_status():
    """Give (sample, the word that does not count, the same word made to count)."""
    for sample in SAMPLES:
        for status in sample.left_out:
            if status not in ("blank", "unparsed", "failed", "error"):
                yield pytest.param(sample, status, id=f"{sample.format}-{sample.name}-{status}")


@pytest.mark.parametrize(("sample", "status"), list(cases_of_status()))
def test_status_is_never_misread_under_damage(tmp_path, sample, status):
    """What is kept on request and what counts add up, whatever else is broken in the file."""
    rng = random.Random(f"{sample.name} {status}")
    path = tmp_path / sample.name
    for _ in range(20):
        path.write_bytes(mutated(sample, rng))
        try:
            plain = read_export(path)
            kept = read_export(path, options=Reading(keep=frozenset({status.lower()})))
        except CoterieError:
            continue
        told, then = dict(plain.facts.left_out), dict(kept.facts.left_out)
        if plain.facts.question != kept.facts.question:
            continue
        assert status not in then
        gained = len(kept.columns["item"]) - len(plain.columns["item"])
        other = sum(then.values()) - sum(n for why, n in told.items() if why != status)
        assert gained + other == told.get(status, 0)
