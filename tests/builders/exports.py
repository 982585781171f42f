"""A small export of every format, how to read it, and what must be found."""

import io
import json

import numpy as np

from builders.export_evaluations import (
    ALPACA,
    ARENA,
    DEEPEVAL,
    INSPECT,
    JUDGEBENCH,
    LLMBAR,
    MTBENCH,
    PROMPTFOO,
    inspect_zip,
)
from builders.export_parts import ITEMS, PAIRS, PEOPLE, Sample, lines, listed, table
from builders.export_platforms import (
    ARGILLA_1,
    ARGILLA_FLAT,
    ARGILLA_JSON,
    COMPLETIONS,
    CROWDFLOWER,
    DOCCANO_OLD,
    LABEL_STUDIO,
    LABEL_STUDIO_MIN,
    LABELBOX,
    MTURK,
    PRODIGY,
    PRODIGY_CHOICE,
    SAGEMAKER,
    TOLOKA,
    ZOONIVERSE,
    cvat,
    doccano_zip,
)


def array(values):
    raw = io.BytesIO()
    np.save(raw, np.array(values))
    return raw.getvalue()


MATRIX = [[(i + l) % 2 if l != i % 4 else -1 for l in range(4)] for i in ITEMS]
SAMPLES = [
    Sample(
        "label_studio",
        "project-6.json",
        listed(LABEL_STUDIO),
        (6, 3, 16),
        left_out={"drafts": 1, "ground_truth": 1, "predictions": 6, "skipped": 1},
        known=1,
    ),
    Sample("label_studio", "min.json", listed(LABEL_STUDIO_MIN), (6, 3, 18)),
    Sample(
        "label_studio",
        "project.csv",
        table(list(LABEL_STUDIO_MIN[0]), [list(row.values()) for row in LABEL_STUDIO_MIN]),
        (6, 3, 18),
    ),
    Sample("label_studio", "old.json", listed(COMPLETIONS), (6, 3, 18)),
    Sample("argilla", "flat.jsonl", lines(ARGILLA_FLAT), (6, 3, 17), left_out={"draft": 1}),
    Sample("argilla", "records.json", listed(ARGILLA_JSON), (6, 3, 18)),
    Sample("argilla", "v1.jsonl", lines(ARGILLA_1), (6, 3, 17), left_out={"discarded": 1}),
    Sample("prodigy", "spam.jsonl", lines(PRODIGY), (6, 3, 17), left_out={"ignore": 1}),
    Sample("prodigy", "choice.jsonl", lines(PRODIGY_CHOICE), (6, 3, 17), left_out={"reject": 1}),
    Sample("doccano", "doccano.zip", doccano_zip(), (6, 3, 18)),
    Sample("doccano", "old.jsonl", lines(DOCCANO_OLD), (6, 3, 18)),
    Sample("mturk", "Batch_1_batch_results.csv", MTURK, (6, 3, 16), left_out={"Rejected": 2}),
    Sample("toloka", "assignments.tsv", TOLOKA, (6, 3, 17), left_out={"REJECTED": 1}, known=1),
    Sample("crowdflower", "f1234567.csv", CROWDFLOWER, (6, 3, 18), known=1),
    Sample("sagemaker", "request.json", listed(SAGEMAKER), (6, 3, 18)),
    Sample(
        "zooniverse",
        "classifications.csv",
        ZOONIVERSE,
        (6, 3, 17),
        left_out={"gold_standard": 1},
        known=1,
    ),
    Sample("cvat", "job_1.xml", cvat("ann"), (5, 1, 5), left_out={"blank": 1}),
    Sample("labelbox", "export.ndjson", lines(LABELBOX), (6, 3, 17), left_out={"skipped": 1}),
    Sample("promptfoo", "results.json", listed(PROMPTFOO), (6, 3, 18)),
    Sample("inspect", "log.json", listed(INSPECT), (6, 3, 18), known=6),
    Sample("inspect", "log.eval", inspect_zip(), (6, 3, 18), known=6),
    Sample("deepeval", "run.json", listed(DEEPEVAL), (6, 3, 17), left_out={"error": 1}),
    Sample("alpacaeval", "annotations.json", listed(ALPACA), (6, 3, 17), left_out={"failed": 1}),
    Sample("mtbench", "gpt-4_pair.jsonl", lines(MTBENCH), (6, 6, 35), left_out={"error": 1}),
    Sample("llmbar", "result.json", listed(LLMBAR), (6, 2, 11), left_out={"unparsed": 1}, known=6),
    Sample(
        "judgebench",
        "judge_model=j.jsonl",
        lines(JUDGEBENCH),
        (6, 2, 11),
        left_out={"failed": 1},
        known=6,
    ),
    Sample("arena", "votes.jsonl", lines(ARENA), (6, 3, 18)),
    Sample(
        "peerannot",
        "answers.json",
        json.dumps(
            {str(i): {p: n % 2 + i % 2 for n, p in enumerate(PEOPLE)} for i in ITEMS}
        ).encode(),
        (6, 3, 18),
    ),
    Sample(
        "act",
        "act.csv",
        table(["ann", 1, 0, 1, 14], [[p, i, i % 2, 1, 9] for i, p in PAIRS[1:]]),
        (6, 3, 18),
        known=6,
    ),
    Sample("mace", "mace.csv", b"\n".join([b"0,1,,0", b"1,,1,1", b",0,0,1"]), (3, 4, 9)),
    Sample("snorkel", "L.npy", array(MATRIX), (6, 4, 18)),
]


def place_all(folder):
    """Put every sample into a folder, and the jobs of three CVAT annotators."""
    for sample in SAMPLES:
        (folder / sample.name).write_bytes(sample.content)
    for number, person in enumerate(PEOPLE, 1):
        (folder / f"job_{number}.xml").write_bytes(cvat(person))
