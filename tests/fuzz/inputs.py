"""Mutated inputs of every format that is read."""

import functools
import gzip
import io
import json
import random

import coterie
from fuzz.mutate import damaged, nasty

ROWS = [(f"q{i}", f"a{l}", "xyz"[(i * l) % 3]) for i in range(6) for l in range(4)]
HEAD = ("item", "annotator", "label")


def text(separator=",", quote=""):
    rows = [separator.join(f"{quote}{cell}{quote}" for cell in row) for row in (HEAD, *ROWS)]
    return ("\n".join(rows) + "\n").encode()


def wide():
    cells = {(item, annotator): label for item, annotator, label in ROWS}
    items, annotators = sorted({r[0] for r in ROWS}), sorted({r[1] for r in ROWS})
    rows = [["item", *annotators], *([i, *(cells[i, l] for l in annotators)] for i in items)]
    return ("\n".join(map(",".join, rows)) + "\n").encode()


def jsonl():
    return "\n".join(json.dumps(dict(zip(HEAD, row, strict=True))) for row in ROWS).encode()


def parquet():
    import pyarrow as pa
    import pyarrow.parquet as pq

    out = io.BytesIO()
    columns = zip(*ROWS, strict=True)
    pq.write_table(pa.table(dict(zip(HEAD, map(list, columns), strict=True))), out)
    return out.getvalue()


def label_studio():
    tasks = [
        {
            "id": i,
            "data": {"text": f"t{i}"},
            "annotations": [
                {
                    "id": 10 * i + l,
                    "completed_by": l,
                    "result": [
                        {
                            "from_name": "s",
                            "to_name": "t",
                            "type": "choices",
                            "value": {"choices": ["xy"[(i + l) % 2]]},
                        }
                    ],
                }
                for l in range(3)
            ],
        }
        for i in range(4)
    ]
    return json.dumps(tasks).encode()


def arena():
    rows = [
        {"question_id": i, "model_a": "m", "model_b": "n", "winner": "model_a", "judge": f"j{l}"}
        for i in range(4)
        for l in range(3)
    ]
    return "\n".join(map(json.dumps, rows)).encode()


@functools.cache
def formats():
    """A good file of every format, by its name."""
    return {
        "a.csv": text(),
        "quoted.csv": text(",", '"'),
        "semicolons.csv": text(";"),
        "a.tsv": text("\t"),
        "wide.csv": wide(),
        "utf16.csv": text().decode().encode("utf-16"),
        "a.csv.gz": gzip.compress(text(), mtime=0),
        "a.jsonl": jsonl(),
        "a.parquet": parquet(),
        "tasks.json": label_studio(),
        "votes.jsonl": arena(),
        "noname": text(),
    }


def case(number, folder):
    """A file with random damage, read."""
    chance = random.Random(f"inputs/{number}")
    name = chance.choice(sorted(formats()))
    content = formats()[name]
    if chance.random() < 0.3 and name.endswith((".csv", ".jsonl", ".tsv")):
        # A cell replaced whole: damage that keeps the form.
        word = nasty(chance)
        if name.endswith(".jsonl"):
            word = json.dumps(word)[1:-1]
        cell = chance.choice([c for row in ROWS for c in row])
        content = content.replace(cell.encode(), word.encode("utf-8", "surrogatepass"), 1)
    else:
        content = damaged(content, chance)
    path = folder / name
    path.write_bytes(content)
    options = {}
    if chance.random() < 0.3:
        options["duplicates"] = chance.choice(["first", "last", "keep", nasty(chance)])
    if chance.random() < 0.1:
        options["classes"] = chance.choice([["x", "y", "z"], 5, "xyz", [[1]], [nasty(chance), "x"]])
    return lambda: coterie.read(path, **options)


def rows(number, folder):
    """Odd objects in memory: read alike whatever the order of the rows."""
    chance = random.Random(f"rows/{number}")
    odd = [*odd_objects(), *(nasty(chance) for _ in range(3))]
    triples = [
        (chance.choice(odd), chance.choice(["a", "b", 1]), chance.choice(["x", "y", odd[0]]))
        for _ in range(chance.randrange(1, 9))
    ]
    turned = triples[:]
    chance.shuffle(turned)

    def check():
        one = coterie.read(triples, duplicates="keep")
        other = coterie.read(turned, duplicates="keep")
        for name in ("items", "annotators", "classes"):
            same = getattr(one, name).tolist() == getattr(other, name).tolist()
            assert same, f"the order of rows changes the {name}"

    return check


def odd_objects():
    """Ids and labels of kinds that Python has and few files do."""
    import datetime
    import decimal
    import fractions

    return [
        10**20, 10**400, -1, 0, 1, 1.5, 0.0, -0.0, float("nan"), float("inf"), None, True, False,
        b"bytes", b"\xff", 1j, (1, 2), [1], {"a": 1}, frozenset({1}), datetime.date(2020, 1, 1),
        datetime.datetime(2020, 1, 1), decimal.Decimal("1.5"), decimal.Decimal("NaN"),
        decimal.Decimal("1e999999"), fractions.Fraction(1, 3), object,
    ]  # fmt: skip
