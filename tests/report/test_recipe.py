"""How to make a result again: the settings, and lines that do it when they are run."""

import datetime
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

import coterie
from builders import reported
from coterie.report import gather

ROWS = pd.DataFrame(
    {
        "task": ["q1", "q1", "q2", "q2", "q3", "q3"],
        "who": ["ann", "bob"] * 3,
        "said": ["yes", "yes", "no", "unsure", "no", "yes"],
        "known": ["yes", "yes", None, None, None, None],
    }
)
PLAIN = ROWS.replace({"said": {"unsure": "yes"}})
"""Nothing that reads like no answer, which would be warned of."""
COLUMNS = {"item": "task", "annotator": "who", "label": "said"}


def recipe(posterior, record=None):
    return gather(posterior, record=record).recipe.code


def run(code, **names):
    exec(compile(code, "recipe", "exec"), names)
    return names["posterior"]


def check_same(again, posterior):
    assert again.annotations.gold == posterior.annotations.gold
    pd.testing.assert_frame_equal(again.annotations.to_frame(), posterior.annotations.to_frame())
    np.testing.assert_array_equal(again.item_probability, posterior.item_probability)


def test_settings_say_seed_version_and_how_to_make_it_again():
    posterior = reported.crowd(unlabelled=1)
    settings = gather(posterior, record={"command": "coterie aggregate x.csv"}).recipe
    rows = dict(settings.rows)
    assert rows["Seed"] == "7"
    assert rows["Version"] == f"coterie {coterie.__version__}"
    assert rows["Sweeps"] == "1,000"
    assert settings.command == "coterie aggregate x.csv"
    assert gather(posterior).recipe.command is None
    code = settings.code
    assert "coterie.read('labels.csv', " in code
    assert f"classes={posterior.annotations.classes.tolist()!r}" in code
    assert "coterie.HCBCC(prior='paper', sweeps=1000, chains=2, random_state=7)" in code
    compile(code, "report", "exec")


@pytest.mark.parametrize("gold", [None, "known", {"q3": "no"}])
def test_a_frame_given_from_python(gold):
    annotations = coterie.read(ROWS, **COLUMNS, gold=gold, extra_answers=["unsure"])
    posterior = coterie.DawidSkene(smoothing=0.5).fit(annotations).posterior_
    code = recipe(posterior)
    assert "# data: the frame that was given from Python" in code
    check_same(run(code, data=ROWS), posterior)


def test_a_wide_frame_of_two_annotators():
    wide = PLAIN.pivot(index="task", columns="who", values="said").reset_index()
    posterior = (
        coterie.MajorityVote()
        .fit(coterie.read(wide, item="task", annotator=["ann", "bob"]))
        .posterior_
    )
    check_same(run(recipe(posterior), data=wide), posterior)


def test_many_known_labels_are_the_users_own():
    rows = [(f"item number {i}", who, f"c{i % 3}") for i in range(90) for who in "ab"]
    gold = {f"item number {i}": f"c{i % 3}" for i in range(60)}
    posterior = coterie.MajorityVote().fit(coterie.read(rows, gold=gold)).posterior_
    code = recipe(posterior)
    assert "# gold: " in code
    check_same(run(code, data=rows, gold=gold), posterior)


def test_annotations_given_from_python():
    crowd = coterie.simulate("mixed", items=20, annotators=5, random_state=0)
    posterior = coterie.MajorityVote().fit(crowd.annotations).posterior_
    code = recipe(posterior)
    assert "# annotations: your own, given from Python" in code
    check_same(run(code, annotations=crowd.annotations), posterior)


@pytest.mark.parametrize("repeated", ["keep", "last"])
def test_a_file_is_named_with_its_folder_and_its_gold(tmp_path, repeated):
    path, known = tmp_path / "in put.csv", tmp_path / "known.csv"
    rows = pd.concat([PLAIN, PLAIN.tail(2).assign(said="no")]).drop(columns="known")
    rows.to_csv(path, index=False, sep=";")
    known.write_text("item,label\nq2,yes\n", "utf-8")
    model = coterie.MajorityVote(duplicates=repeated)
    annotations = coterie.read(path, **COLUMNS, gold=known, duplicates=repeated)
    posterior = model.fit(annotations).posterior_
    code = recipe(posterior)
    read = f"coterie.read({str(path)!r}, item='task', annotator='who', label='said', "
    assert f"{read}duplicates={repeated!r}, gold={str(known)!r})" in code
    check_same(run(code), posterior)


def test_the_wide_form_whose_items_are_the_index():
    wide = PLAIN.pivot(index="task", columns="who", values="said").rename_axis(None)
    annotations = coterie.read(wide, annotator=["ann", "bob"])
    posterior = coterie.MajorityVote().fit(annotations).posterior_
    code = recipe(posterior)
    assert "coterie.read(data, annotator=['ann', 'bob'])" in code
    check_same(run(code, data=wide), posterior)


def test_where_only_a_sentence_is_known_it_is_quoted():
    # As in files of version 1.
    posterior = reported.crowd()
    told = {"columns": ("task", "who", "said"), "origin": "labels.csv: item from 'task'"}
    annotations = replace(posterior.annotations, provenance=None, **told)
    code = recipe(replace(posterior, annotations=annotations))
    assert "# annotations: labels.csv: item from 'task'" in code
    assert "coterie.read" not in code


def test_what_was_asked_comes_back_from_a_file(tmp_path):
    annotations = coterie.read(
        ROWS, **COLUMNS, gold="known", classes=["yes", "no"], extra_answers=["unsure"]
    )
    posterior = coterie.MajorityVote().fit(annotations).posterior_
    posterior.save(tmp_path / "run.coterie")
    loaded = coterie.load(tmp_path / "run.coterie")
    assert loaded.annotations.provenance == annotations.provenance
    assert recipe(loaded) == recipe(posterior)
    assert "classes=['yes', 'no'], extra_answers=['unsure'], gold='known')" in recipe(loaded)


@pytest.mark.filterwarnings("ignore::coterie.errors.ConvergenceWarning")
def test_a_prior_is_not_passed_off_as_text(tmp_path):
    prior = coterie.CBCCPrior.paper(2, 2)
    model = coterie.CBCC(prior=prior, sweeps=30, burn_in=10, chains=1, random_state=0)
    frame = ROWS[ROWS["said"] != "unsure"]
    posterior = model.fit(coterie.read(frame, **COLUMNS)).posterior_
    posterior.save(tmp_path / "run.coterie")
    for made in (posterior, coterie.load(tmp_path / "run.coterie")):
        code = recipe(made)
        assert "# prior: as under Settings" in code
        check_same(run(code, data=frame, prior=prior), posterior)


def test_what_a_file_could_only_show_is_not_passed_off_as_text(tmp_path):
    posterior = replace(reported.crowd(), settings={"sweeps": 9, "start": print, "limit": np.pi})
    posterior = replace(posterior, settings={**posterior.settings, "size": np.float32(2)})
    posterior.save(tmp_path / "run.coterie")
    once = coterie.load(tmp_path / "run.coterie")
    once.save(tmp_path / "run.coterie")
    for made in (posterior, once, coterie.load(tmp_path / "run.coterie")):
        code = recipe(made)
        assert f"coterie.HCBCC(sweeps=9, start=start, limit={np.pi!r}, size=size)" in code
        assert "# start: as under Settings\n# size: as under Settings" in code
    assert once.settings["start"] == repr(print)


def test_dates_and_infinities_are_noted_not_written():
    rows = [(datetime.date(2024, 1, day), who, "yn"[day % 2]) for day in (1, 2) for who in "ab"]
    gold = {datetime.date(2024, 1, 1): "n"}
    posterior = coterie.MajorityVote().fit(coterie.read(rows, gold=gold)).posterior_
    code = recipe(posterior)
    assert "gold=gold)" in code
    check_same(run(code, data=rows, gold=gold), posterior)
