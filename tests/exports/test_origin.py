"""The line of origin says what was taken for annotators, what was kept, and that ids are hidden."""

import json

import pytest

import coterie
from builders.export_parts import lines, listed, written
from builders.export_platforms import ARGILLA_JSON, LABEL_STUDIO, PRODIGY

UNNAMED = [{k: v for k, v in one.items() if k != "_annotator_id"} for one in PRODIGY]
SUGGESTED = [
    {"id": f"t{k}", "fields": {"text": "t"}, "responses": {}}
    | {"suggestions": {"spam": {"value": label, "agent": agent}}}
    for k, label, agent in [(1, "yes", "m1"), (2, "no", "m2"), (3, "no", "m1")]
]


@pytest.mark.parametrize(
    ("content", "asked", "annotator"),
    [
        (listed(LABEL_STUDIO), None, "completed_by"),
        (listed(LABEL_STUDIO), "predictions", "model_version"),
        (listed(ARGILLA_JSON), None, "user_id"),
        (listed(SUGGESTED), "suggestions", "agent"),
        (lines(PRODIGY), None, "_annotator_id"),
        (lines(UNNAMED), None, "file name"),
    ],
    ids=["label studio", "predictions", "argilla", "suggestions", "prodigy", "unnamed"],
)
@pytest.mark.filterwarnings("ignore::coterie.errors.DataWarning")
def test_the_annotator_is_what_it_was_read_from(tmp_path, content, asked, annotator):
    path = written(tmp_path, "in.json", content)
    found = coterie.read(path, annotators=asked, duplicates="first", classes=None)
    assert f"annotator {annotator!r}" in found.origin


def test_what_was_kept_and_hidden_is_said_and_saved(tmp_path):
    path = tmp_path / "in.json"
    tasks = json.loads(json.dumps(LABEL_STUDIO))
    for annotation in tasks[0]["annotations"][:2]:
        annotation["was_cancelled"] = True
    path.write_bytes(listed(tasks))
    n = dict(coterie.read(path, duplicates="first").provenance.export.left_out)["skipped"]
    found = coterie.read(path, keep="skipped", anonymise=True, duplicates="first")
    assert f"; kept: skipped {n}; " in found.origin
    assert "; anonymised" in found.origin
    posterior = coterie.MajorityVote().fit(found).posterior_
    posterior.save(tmp_path / "run.coterie")
    assert coterie.load(tmp_path / "run.coterie").annotations.origin == found.origin


def test_times_of_labels_are_kept_where_all_have_one(tmp_path):
    path = written(tmp_path, "in.jsonl", lines(PRODIGY))
    found = coterie.read(path).to_frame()
    assert (found["time"] == 1_700_000_000 - found["item"]).all()
    late = coterie.read(path, anonymise=True).times.time
    assert sorted(late) == sorted(found["time"])
    path.write_bytes(lines([PRODIGY[0] | {"_timestamp": None}, *PRODIGY[1:]]))
    assert coterie.read(path).times is None
    with pytest.raises(coterie.DataError, match="its own times are read"):
        coterie.read(path, time="_timestamp")
