"""Small results of evaluations by judges, invented, in the layout of each."""

import io
import json
import zipfile

from builders.export_parts import ITEMS, PAIRS, PEOPLE, says

PROMPTFOO = {
    "evalId": "eval-1",
    "results": {
        "version": 3,
        "results": [
            {
                "testIdx": item,
                "promptIdx": 0,
                "provider": {"id": "echo"},
                "vars": {"gold": "pass"},
                "gradingResult": {
                    "componentResults": [
                        {"pass": says(item, judge) == "yes", "score": 1, "reason": "r"}
                        | {"assertion": {"type": "llm-rubric", "value": "good", "provider": judge}}
                        for judge in PEOPLE
                    ]
                    + [{"pass": True, "assertion": {"type": "latency", "threshold": 9}}]
                },
            }
            for item in ITEMS
        ],
        "stats": {},
    },
}
INSPECT = {
    "version": 2,
    "status": "success",
    "eval": {
        "created": "2025-05-12T20:28:26-04:00",
        "scorers": [{"name": "model_graded_qa", "options": {"model": judge}} for judge in PEOPLE],
    },
    "samples": [
        {
            "id": item,
            "epoch": 1,
            "target": "C",
            "scores": {
                f"model_graded_qa{n or ''}": {"value": says(item, judge, ("C", "I"))}
                for n, judge in enumerate(PEOPLE)
            },
        }
        for item in ITEMS
    ],
}


def inspect_zip():
    raw = io.BytesIO()
    with zipfile.ZipFile(raw, "w") as archive:
        header = {key: value for key, value in INSPECT.items() if key != "samples"}
        archive.writestr("header.json", json.dumps(header))
        for sample in INSPECT["samples"]:
            archive.writestr(f"samples/{sample['id']}_epoch_1.json", json.dumps(sample))
    return raw.getvalue()


DEEPEVAL = {
    "testRunData": {
        "testCases": [
            {
                "name": f"case {item}",
                "metricsData": [
                    {
                        "name": "Good",
                        "evaluationModel": judge,
                        "success": says(item, judge) == "yes",
                    }
                    | (
                        {"score": None, "error": "x"}
                        if (item, judge) == (1, "ann")
                        else {"score": 0.5}
                    )
                    for judge in PEOPLE
                ],
            }
            for item in ITEMS
        ]
    }
}
ALPACA = [
    {"instruction": f"i{item}", "generator_1": "x", "generator_2": "y", "annotator": judge}
    | {
        "preference": None
        if (item, judge) == (1, "ann")
        else 1.0 + (item + PEOPLE.index(judge)) % 2
    }
    for item, judge in PAIRS
]
MTBENCH = [
    {"question_id": item, "model_1": "x", "model_2": "y", "judge": [judge, "pair-v2"], "turn": 1}
    | {"g1_winner": says(item, judge, ("model_1", "model_2")), "tstamp": 1.5}
    | {"g2_winner": "error" if (item, judge) == (1, "ann") else "tie"}
    for item, judge in PAIRS
]
LLMBAR = [
    {
        "input": "i",
        "label": 1,
        "results": [
            {"swap = False": {"winner": "1"}, "swap = True": {"winner": None if item == 1 else "2"}}
        ],
    }
    for item in ITEMS
]
JUDGEBENCH = [
    {
        "pair_id": str(item),
        "label": "A>B",
        "judgments": [
            {"judgment": {"judge_model": "j"}, "decision": says(item, "ann", ("A>B", "B>A"))},
            {"judgment": {"judge_model": "j"}, "decision": None if item == 1 else "B>A"},
        ],
    }
    for item in ITEMS
]
ARENA = [
    {"question_id": item, "model_a": "x", "model_b": "y", "winner": f"model_{'ab'[item % 2]}"}
    | {"judge": judge, "turn": 1, "tstamp": 1.5}
    for item, judge in PAIRS
]
