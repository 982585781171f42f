"""coterie aggregate --update: more labels join a saved run."""

import pandas as pd

import coterie
from builders.command import coterie as command


def test_more_labels_join_a_saved_run(tmp_path):
    crowd = coterie.simulate("mixed", items=40, annotators=8, labels_per_item=4, random_state=0)
    frame = crowd.annotations.to_frame().sample(frac=1, random_state=0)
    frame.iloc[:120].to_csv(tmp_path / "labels.csv", index=False)
    frame.iloc[120:].to_csv(tmp_path / "more.csv", index=False)
    short = ("--sweeps", "90", "--burn-in", "30", "--chains", "2", "--no-report")
    first = command("aggregate", "labels.csv", *short, "--out", "result", cwd=tmp_path)
    assert first.returncode == 0, first.stderr
    options = ("--update", "result/run.coterie", "--out", "updated", "--no-report")
    done = command("aggregate", "more.csv", *options, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "Updated result/run.coterie in" in done.stdout
    assert "the fit before it took" in done.stdout
    posterior = coterie.load(tmp_path / "updated/run.coterie")
    assert posterior.annotations.n_labels == len(frame)
    assert posterior.run["sweeps"] == 40 * posterior.run["rounds"]
    assert len(pd.read_csv(tmp_path / "updated/labels.csv")) == 40


def test_old_items_become_known_and_another_model_is_refused(tmp_path):
    (tmp_path / "labels.csv").write_text("item,annotator,label\nq1,ann,a\nq1,bob,b\nq2,ann,b\n")
    (tmp_path / "more.csv").write_text("item,annotator,label\nq2,bob,b\n")
    (tmp_path / "gold.csv").write_text("item,label\nq1,b\n")
    quick = ("--model", "quick", "--out", "result", "--no-report")
    assert command("aggregate", "labels.csv", *quick, cwd=tmp_path).returncode == 0
    options = ("--update", "result", "--out", "updated", "--no-report")
    refused = command("aggregate", "more.csv", *options, "--model", "ibcc", cwd=tmp_path)
    assert refused.returncode == 1
    assert "leave out --model" in refused.stderr
    done = command("aggregate", "more.csv", *options, "--gold", "gold.csv", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert coterie.load(tmp_path / "updated/run.coterie").annotations.gold == {"q1": "b"}


def test_a_repeated_label_is_refused_and_the_remedy_that_is_named_works(tmp_path):
    rows = [(f"q{i}", a, "yes" if i % 2 else "no") for i in range(6) for a in ("ann", "bob")]
    coterie.QuickConsensus().fit(rows).posterior_.save(tmp_path / "run.coterie")
    (tmp_path / "more.csv").write_text("item,annotator,label\nq1,ann,no\nq6,ann,no\n")
    options = ("--update", "run.coterie", "--out", "updated", "--no-report")
    refused = command("aggregate", "more.csv", *options, cwd=tmp_path)
    assert refused.returncode == 1
    assert "pass --duplicates first or --duplicates last" in refused.stderr
    assert "row 12 of the earlier labels with the new ones (in this order;" in refused.stderr
    done = command("aggregate", "more.csv", *options, "--duplicates", "last", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    frame = coterie.load(tmp_path / "updated").annotations.to_frame()
    assert frame.query("item == 'q1' and annotator == 'ann'")["label"].tolist() == ["no"]
    assert len(frame) == len(rows) + 1
