"""Every sample of every platform gives the numbers that were counted without coterie."""

import json
import os
from collections import Counter, defaultdict
from dataclasses import dataclass, field
from pathlib import Path

import pytest

import coterie
from coterie.io.exports import read_export
from coterie.io.read import read_truth
from coterie.io.reading import Reading

ROOT = Path(os.environ.get("COTERIE_EXPORTS") or Path(__file__).parents[3] / "shared" / "exports")
WITHOUT = "the samples of exports are not here: set COTERIE_EXPORTS to their folder"


@dataclass(frozen=True)
class Case:
    """How to read a sample, and where its numbers stand."""

    key: str
    files: tuple[str, ...]
    options: dict = field(default_factory=dict)
    duplicates: str = "keep"


def case(key, *files, duplicates="keep", **options):
    return Case(key, files or (key.split()[0],), options, duplicates)


LS, TAXONOMY = "labelstudio", "labelstudio/taxonomy_spans_gold.json"
CATEGORIES = ("Killed > Feloniously Killed", "Suspect > Arrested", "Assaulted > Injured")
ALPACA = ("alpaca_eval_cot_gpt4_turbo_fn", "alpaca_eval_gpt4_turbo_fn")
ALPACA += ("weighted_alpaca_eval_gpt4_turbo",)
SMALL = [
    *(
        case(f"{LS}/two_questions.{end} question={q}", question=q)
        for end in ("json", "min.json", "csv")
        for q in ("humor", "connection")
    ),
    *(
        case(f"{LS}/multi_select.json question=answer_features option={o}", option=o)
        for o in ("Analogy", "Connection to everyday life", "Humor", "Metaphor")
    ),
    case(f"{LS}/multi_select.csv question=answer_features option=Analogy", option="Analogy"),
    *(
        case(f"{TAXONOMY} question=Category option={o} ground_truth={how}", option=o, keep=keep)
        for o in CATEGORIES
        for how, keep in (("aside", set()), ("counted", {"ground_truth"}))
    ),
    case(f"{LS}/predictions.json question=sentiment"),
    case(
        f"{LS}/predictions.json question=sentiment annotators=predictions", annotators="predictions"
    ),
    case(f"{LS}/old_completions.json question=urgency"),
    *(
        case(f"argilla/{key} question={q}{note}", f"argilla/{name}", question=q, **gold)
        for key, name, note in (
            ("v2_flat.jsonl (and .parquet)", "v2_flat.jsonl", ""),
            ("v2_flat.jsonl (and .parquet)", "v2_flat.parquet", ""),
            ("v1_datasets.jsonl", "v1_datasets.jsonl", ""),
            ("v2_records.json", "v2_records.json", " (no status in this form: every response)"),
        )
        for q, gold in (("sentiment", {"gold": "gold"}), ("confidence", {}))
    ),
    case("prodigy/choice_single.jsonl"),
    case("prodigy/choice_multiple.jsonl option=adivinación", option="adivinación"),
    case("prodigy/binary.jsonl"),
    case("prodigy/binary_sessions.jsonl duplicates=keep"),
    case("prodigy/binary_sessions.jsonl duplicates=last", duplicates="last"),
    case("doccano/per_user.zip"),
    case("doccano/per_user.zip", "doccano/per_user"),
    case("doccano/old_annotations.jsonl"),
    case("mturk/single_question.csv gold=Input.gold", gold="Input.gold"),
    case(
        "mturk/single_question.csv gold=Input.gold, rejected kept",
        "mturk/single_question.csv",
        gold="Input.gold",
        keep={"rejected"},
    ),
    case("mturk/check_boxes.csv option=cat", question="check boxes", option="cat"),
    case("mturk/check_boxes.csv option=dog", question="check boxes", option="dog"),
    case("mturk/task_answers.csv question=quality", question="quality"),
    case("mturk/task_answers.csv question=animal option=cat", question="animal", option="cat"),
    case("toloka/assignments.tsv question=result", question="result"),
    case("toloka/assignments.tsv question=office", question="office"),
    case("crowdflower/binary.csv question=top_member_employee"),
    case(
        "crowdflower/multiple_newline.csv question=relations option=top_member_employee_of_org",
        option="top_member_employee_of_org",
    ),
    case(
        "crowdflower/multiple_json.csv question=selected_answer option=Scientist",
        question="selected_answer",
        option="Scientist",
    ),
    case(
        "crowdflower/full_report_gold.csv question=airline_sentiment tainted kept",
        question="airline_sentiment",
    ),
    case(
        "crowdflower/full_report_gold.csv question=airline_sentiment tainted left out",
        question="airline_sentiment",
        keep={"trusted"},
    ),
    case("sagemaker/consolidation_request.json"),
    case("zooniverse/classifications.csv question=T2", question="T2"),
    case("zooniverse/classifications.csv question=T3", question="T3"),
    case(
        "cvat/job_41.xml job_42.xml job_43.xml",
        "cvat/job_41.xml",
        "cvat/job_42.xml",
        "cvat/job_43.xml",
    ),
    case("labelbox/export_v2.ndjson question=sentiment", question="sentiment"),
    case(
        "labelbox/export_v2.ndjson question=topics option=price", question="topics", option="price"
    ),
    case("promptfoo/results.json", gold="vars.gold"),
    case("inspect/panel.json (and .eval)", "inspect/panel.json"),
    case("inspect/panel.json (and .eval)", "inspect/panel.eval"),
    case("inspect/one_grader.json"),
    case(
        "deepeval/latest_test_run.json question=Instruction following [GEval]",
        question="Instruction following [GEval]",
    ),
    case(
        "alpacaeval, three judges together (weighted cut at 1.5)",
        *(f"alpacaeval/{judge}/annotations.json" for judge in ALPACA),
    ),
    case("alpacaeval/alpaca_eval_gpt4_turbo_fn/annotations.json"),
    case("alpacaeval/alpaca_eval_gpt4/annotations.json"),
    case("mtbench/gpt-4_pair.jsonl order=annotator"),
    case("mtbench/gpt-4_pair.jsonl order=ignored", order="ignore"),
    case("mtbench/gpt-4_single.jsonl"),
    case("llmbar, three judges together, order=annotator", "llmbar"),
    case("judgebench, three files together, order=annotator", "judgebench"),
    case("arena/votes.jsonl"),
    case("tables/peerannot/answers.json", "tables/peerannot"),
    case("tables/act.csv (no header: annotator, item, label, gold, seconds)"),
    case("tables/mace.csv (no header, wide: item = row, annotator = column)"),
]
ELSEWHERE = {
    "mturk/many_questions.csv": "REFUSED",
    "mturk/many_questions.csv split at the last blank, rejected left out": "the user's own split",
    "tables/crowdkit_crowd_labels.csv + crowdkit_gt.csv": "test_crowd_kit",
    "tables/snorkel_L.npy": "test_snorkel",
}


@pytest.fixture(scope="module")
def expected():
    if not (ROOT / "expected.json").exists():
        pytest.skip(WITHOUT)
    return json.loads((ROOT / "expected.json").read_text("utf-8"))


def read(case):
    options = dict(case.options)
    options["keep"] = frozenset(options.pop("keep", ()))
    if options.get("gold") is None:
        options.pop("gold", None)
    return read_export([ROOT / name for name in case.files], options=Reading(**options))


def counted(frame, known):
    """Count what expected.json tells of, by its own rules."""
    votes = defaultdict(Counter)
    for item, label in zip(frame["item"], frame["label"], strict=True):
        votes[item][str(label)] += 1
    best = {i: [c for c, n in v.items() if n == max(v.values())] for i, v in votes.items()}
    pairs = set(zip(frame["item"], frame["annotator"], strict=True))
    numbers = {
        "items": len(votes),
        "annotators": frame["annotator"].nunique(),
        "labels": len(frame),
        "repeated": len(frame) - len(pairs),
        "classes": dict(Counter(map(str, frame["label"]))),
        "unanimous_items": sum(len(v) == 1 for v in votes.values()),
        "tied_items": sum(len(b) > 1 for b in best.values()),
    }
    if known:
        scored = {i: str(k) for i, k in known.items() if i in best}
        shares = [(k in best[i]) / len(best[i]) for i, k in scored.items()]
        numbers |= {"gold_items": len(known), "majority_accuracy": sum(shares) / len(shares)}
    return numbers


@pytest.mark.parametrize("case", SMALL, ids=lambda case: f"{case.key} {case.files[0]}")
def test_a_sample_gives_its_numbers(case, expected):
    rows = read(case)
    frame = rows.frame()
    if case.duplicates == "last":
        frame = frame.drop_duplicates(["item", "annotator"], keep="last")
    found, told = counted(frame, rows.known), expected[case.key]
    for name, number in told.items():
        if name in found:
            assert found[name] == pytest.approx(number, abs=1e-6), name
    if "gold_items" not in told and "benchmark_items" not in told:
        assert not rows.known or "gold" not in str(case.key)


@pytest.mark.parametrize("case", SMALL, ids=lambda case: f"{case.key} {case.files[0]}")
def test_what_is_left_out_is_counted(case, expected):
    told = {why: n for why, n in expected[case.key].get("left_out", {}).items() if n}
    if not told:
        return
    found = dict(read(case).facts.left_out)
    if "several_or_drawing" in told:
        told["several"] = told.pop("several_or_drawing")
    if "ground_truth" in case.options.get("keep", ()):
        del told["ground_truth"]
    assert {why: found.get(why) for why in told} == told


REFUSED = [
    ("labelstudio/two_questions.csv", {}, "holds 2 questions, 'connection' .* and 'humor'"),
    ("labelstudio/multi_select.json", {}, "allows several answers, 'Analogy'"),
    ("labelstudio/taxonomy_spans_gold.json", {"question": "label"}, "marks spans .*'Category'"),
    ("prodigy/spans.jsonl", {}, "no question with fixed answers: 'ner_manual' marks spans"),
    ("doccano/all.jsonl", {}, "holds labels that all members share"),
    ("mturk/many_questions.csv", {}, "holds 29 questions, '0metaphorNovelty0' .*one row per label"),
    ("mturk/task_answers.csv", {}, "2 questions, 'animal' .multi-select. and 'quality'"),
    ("sagemaker/output.manifest", {}, "holds the consensus and no annotators"),
    ("labelbox/export_v2.ndjson", {"question": "why"}, "'why' takes free text"),
]


@pytest.mark.usefixtures("expected")
@pytest.mark.parametrize(("name", "options", "sentence"), REFUSED, ids=lambda one: str(one)[:30])
def test_what_cannot_be_read_is_refused_in_a_sentence(name, options, sentence):
    with pytest.raises(coterie.DataError, match=sentence):
        coterie.read(ROOT / name, **options)


def test_a_manifest_is_a_truth(expected):
    assert read_truth(ROOT / "sagemaker" / "output.manifest").iloc[0] == "plant"


def test_crowd_kit(expected):
    told = expected["tables/crowdkit_crowd_labels.csv + crowdkit_gt.csv"]
    tables = ROOT / "tables"
    found = coterie.read(tables / "crowdkit_crowd_labels.csv", gold=tables / "crowdkit_gt.csv")
    assert (found.n_items, found.n_annotators, found.n_labels) == (
        told["items"],
        told["annotators"],
        told["labels"],
    )
    assert len(found.gold) == told["gold_items"]


def test_snorkel(expected):
    told = expected["tables/snorkel_L.npy"]
    names = [ROOT / "tables" / f"snorkel_{letter}.npy" for letter in "LY"]
    found = coterie.read(names)
    assert (found.n_items, found.n_labels) == (told["items_with_labels"], told["labels"])
    assert len(found.gold) == told["items_with_labels"]


def test_every_sample_is_looked_at(expected):
    assert set(expected) == {case.key for case in SMALL} | set(ELSEWHERE)
