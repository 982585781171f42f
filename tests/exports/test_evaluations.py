"""Evaluations of other versions and of other habits: panels by scorer, sets of assertions."""

import json

import pytest

import coterie
from builders.export_parts import ITEMS, PEOPLE, says, shape, written
from coterie.io.exports import read_export
from coterie.io.reading import Reading


def test_inspect_scorers_of_any_name_are_a_panel_on_request(tmp_path):
    def sample(item):
        grade = {"yes": "C", "no": "I"}
        return {"id": item, "scores": {who: {"value": grade[says(item, who)]} for who in PEOPLE}}

    log = {
        "version": 2,
        "status": "success",
        "eval": {"model": "m"},
        "samples": [*map(sample, ITEMS)],
    }
    path = written(tmp_path, "log.json", json.dumps(log).encode())
    with pytest.raises(coterie.DataError, match="holds 3 questions, 'ann'"):
        coterie.read(path)
    rows = read_export(path, options=Reading(annotators="scorers"))
    assert shape(rows) == (6, 3, 18)
    assert (rows.facts.question, rows.facts.annotator) == ("grade", "scorer")


def test_deepeval_metrics_of_older_versions(tmp_path):
    def case(item):
        told = [
            {
                "metric": "Tone",
                "success": says(item, who) == "yes",
                "score": 1,
                "evaluationModel": who,
            }
            for who in PEOPLE
        ]
        return {"name": f"case {item}", "metricsMetadata": told}

    path = written(tmp_path, "run.json", json.dumps({"testCases": [*map(case, ITEMS)]}).encode())
    rows = read_export(path)
    assert (shape(rows), rows.facts.question) == ((6, 3, 18), "Tone")


def promptfoo(results):
    return json.dumps({"results": {"results": results, "stats": {}}, "config": {}}).encode()


def graded(item, who, **other):
    judge = {"type": "llm-rubric", "value": "is polite", "provider": who}
    return {"pass": says(item, who) == "yes", "score": 1, "assertion": judge, **other}


def test_promptfoo_without_numbers_of_tests_goes_by_what_went_in(tmp_path):
    results = [
        {
            "prompt": {"raw": f"Say {item}", "display": "Say {{x}}"},
            "vars": {"x": item},
            "provider": "echo",
            "gradingResult": {"componentResults": [graded(item, who) for who in PEOPLE]},
        }
        for item in ITEMS
    ]
    assert shape(read_export(written(tmp_path, "old.json", promptfoo(results)))) == (6, 3, 18)


@pytest.mark.parametrize("repeated", [False, True])
def test_promptfoo_sets_of_assertions_are_looked_into(tmp_path, repeated):
    def result(item):
        inside = [graded(item, who, reason=f"so says {who}") for who in PEOPLE]
        group = {"pass": True, "score": 1, "componentResults": inside, "assertion": None}
        told = [group, *inside] if repeated else [group]
        return {"testIdx": item, "promptIdx": 0, "gradingResult": {"componentResults": told}}

    path = written(tmp_path, "set.json", promptfoo([*map(result, ITEMS)]))
    assert shape(read_export(path)) == (6, 3, 18)
