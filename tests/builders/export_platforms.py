"""Small exports of annotation platforms, invented, in the layout that their documentation shows."""

import io
import json
import zipfile

from builders.export_parts import ITEMS, PAIRS, PEOPLE, lines, says, table


def result(item, person):
    return [
        {
            "from_name": "spam",
            "type": "choices",
            "id": "a",
            "value": {"choices": [says(item, person)]},
        }
    ]


LABEL_STUDIO = [
    {
        "id": item,
        "data": {"text": f"text {item}"},
        "annotations": [
            {
                "id": 10 * item + place,
                "completed_by": {"id": place, "email": f"{person}@example.org"},
                "result": result(item, person),
                "was_cancelled": (item, person) == (1, "cat"),
                "ground_truth": (item, person) == (2, "ann"),
                "created_at": f"2024-01-01T00:{item:02}:{place:02}Z",
                "lead_time": 3.5,
            }
            for place, person in enumerate(PEOPLE)
        ],
        "drafts": [{"id": 1, "result": result(item, "ann")}] if item == 3 else [],
        "predictions": [{"model_version": "m", "result": result(item, "bob")}],
    }
    for item in ITEMS
]
LABEL_STUDIO_MIN = [
    {"id": item, "text": f"text {item}", "spam": says(item, person), "annotator": f"{person}@x.org"}
    | {"annotation_id": 9 * item, "lead_time": 2.0, "created_at": "2024-01-01T00:00:00Z"}
    for item, person in PAIRS
]
COMPLETIONS = [
    {"id": task["id"], "data": task["data"], "predictions": []}
    | {
        "completions": [
            {
                "id": n,
                "created_username": person,
                "honeypot": False,
                "result": result(task["id"], person),
            }
            for n, person in enumerate(PEOPLE)
        ]
    }
    for task in LABEL_STUDIO
]
ARGILLA_FLAT = [
    {
        "id": f"r{item}",
        "status": "pending",
        "text": "t",
        "spam.responses": [says(item, person) for person in PEOPLE],
        "spam.responses.users": list(PEOPLE),
        "spam.responses.status": ["submitted", "submitted", "draft" if item == 1 else "submitted"],
    }
    for item in ITEMS
]
ARGILLA_JSON = [
    {
        "id": f"r{item}",
        "fields": {"text": "t"},
        "metadata": {},
        "suggestions": {},
        "responses": {
            "spam": [{"value": says(item, person), "user_id": person} for person in PEOPLE]
        },
        "vectors": {},
    }
    for item in ITEMS
]
ARGILLA_1 = [
    {
        "text": "t",
        "spam": [
            {"user_id": person, "value": says(item, person), "status": "submitted"}
            if (item, person) != (1, "ann")
            else {"user_id": person, "value": "yes", "status": "discarded"}
            for person in PEOPLE
        ],
        "spam-suggestion": None,
        "spam-suggestion-metadata": {"type": None, "score": None, "agent": None},
        "external_id": None,
        "metadata": "{}",
    }
    for item in ITEMS
]
BUTTONS = ("accept", "reject")
PRODIGY = [
    {
        "text": "t",
        "_input_hash": -item,
        "_task_hash": item,
        "label": "SPAM",
        "_view_id": "classification",
    }
    | {"answer": "ignore" if (item, person) == (1, "bob") else says(item, person, BUTTONS)}
    | {"_timestamp": 1_700_000_000 + item, "_annotator_id": f"set-{person}"}
    for item, person in PAIRS
]
PRODIGY_CHOICE = [
    {key: value for key, value in record.items() if key != "label"}
    | {"options": [{"id": "yes"}, {"id": "no"}], "config": {"choice_style": "single"}}
    | {"accept": [says(*pair)], "answer": "reject" if pair == (2, "cat") else "accept"}
    for record, pair in zip(PRODIGY, PAIRS, strict=True)
]
DOCCANO_OLD = [
    {
        "id": item,
        "text": "t",
        "annotations": [{"label": 1 + (item + n) % 2, "user": n} for n in range(3)],
        "meta": {},
        "annotation_approver": None,
    }
    for item in ITEMS
]


def doccano_zip():
    raw = io.BytesIO()
    with zipfile.ZipFile(raw, "w") as archive:
        for person in PEOPLE:
            records = [{"id": i, "text": "t", "label": [says(i, person)]} for i in ITEMS]
            archive.writestr(f"{person}.jsonl", lines(records))
        archive.writestr("admin.jsonl", lines([{"id": i, "text": "t", "label": []} for i in ITEMS]))
    return raw.getvalue()


MTURK = table(
    [
        "HITId",
        "AssignmentId",
        "WorkerId",
        "AssignmentStatus",
        "SubmitTime",
        "WorkTimeInSeconds",
        "Input.text",
        "Answer.spam.label",
        "Approve",
        "Reject",
    ],
    [
        [
            f"H{item}",
            f"A{item}{person}",
            person,
            "Rejected" if pair == (1, "ann") else "Approved",
            f"Mon Jan 0{item} 14:06:01 PST 2017",
            5,
            "t",
            says(*pair),
            "",
            "x" if pair == (2, "bob") else "",
        ]
        for pair in PAIRS
        for item, person in [pair]
    ],
)
TOLOKA = (
    "\r\n".join(
        "\t".join(row)
        for row in [
            [
                "INPUT:text",
                "OUTPUT:result",
                "GOLDEN:result",
                "HINT:text",
                "ASSIGNMENT:worker_id",
                "ASSIGNMENT:status",
                "ASSIGNMENT:started",
            ],
            *(
                [
                    f"t{i}",
                    says(i, p),
                    "yes" if i == 1 else "",
                    "",
                    p,
                    "REJECTED" if (i, p) == (3, "cat") else "APPROVED",
                    f"2020-11-24T14:01:0{i}.5",
                ]
                if p
                else [""] * 7
                for i in ITEMS
                for p in (*PEOPLE, "")
            ),
        ]
    )
).encode()
CROWDFLOWER = table(
    [
        "_unit_id",
        "_created_at",
        "_golden",
        "_id",
        "_started_at",
        "_tainted",
        "_worker_id",
        "spam",
        "spam_gold",
        "text",
    ],
    [
        [
            700 + i,
            f"2/25/2015 9:13:{10 + n}",
            str(i == 1).lower(),
            n,
            "2/25/2015 9:13:04",
            "false",
            900 + PEOPLE.index(p),
            says(i, p),
            "yes" if i == 1 else "",
            f"tweet {i}",
        ]
        for n, (i, p) in enumerate(PAIRS)
    ],
)
SAGEMAKER = [
    {
        "datasetObjectId": str(item),
        "dataObject": {"content": "t"},
        "annotations": [
            {
                "workerId": f"private.us-east-1.{person}",
                "annotationData": {
                    "content": json.dumps({"crowd-classifier": {"label": says(item, person)}})
                },
            }
            for person in PEOPLE
        ],
    }
    for item in ITEMS
]


def quoted(text):
    return '"' + text.replace('"', '""') + '"'


ZOONIVERSE = table(
    [
        "classification_id",
        "user_name",
        "user_id",
        "workflow_id",
        "workflow_name",
        "workflow_version",
        "created_at",
        "gold_standard",
        "metadata",
        "annotations",
        "subject_ids",
    ],
    [
        [
            n,
            p,
            5,
            7,
            "first",
            1.1,
            f"2017-01-06 20:36:{10 + n} UTC",
            "true" if n == 0 else "",
            quoted(json.dumps({"started_at": "2017-01-06T20:36:21.468Z"})),
            quoted(json.dumps([{"task": "T0", "task_label": "Spam?", "value": says(i, p)}])),
            4000 + i,
        ]
        for n, (i, p) in enumerate(PAIRS)
    ],
)


def cvat(person):
    images = "".join(
        f'<image id="{i}" name="{i}.jpg" width="9" height="9">'
        + (f'<tag label="{says(i, person)}" source="manual"></tag>' if i > 1 else "")
        + "</image>"
        for i in ITEMS
    )
    return (
        '<?xml version="1.0" encoding="utf-8"?>\n<annotations><version>1.1</version><meta><job>'
        f"<assignee><username>{person}</username></assignee></job></meta>{images}</annotations>"
    ).encode()


LABELBOX = [
    {
        "data_row": {"id": f"row{item}"},
        "projects": {
            "p": {
                "labels": [
                    {
                        "id": f"{item}{person}",
                        "label_details": {
                            "created_by": person,
                            "created_at": "2023-10-02T08:00:15Z",
                        },
                        "performance_details": {"skipped": (item, person) == (1, "ann")},
                        "annotations": {
                            "objects": [],
                            "classifications": [
                                {"name": "spam", "radio_answer": {"name": says(item, person)}}
                            ],
                        },
                    }
                    for person in PEOPLE
                ]
            }
        },
    }
    for item in ITEMS
]
