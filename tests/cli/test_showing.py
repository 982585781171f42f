"""What aggregate shows on a screen."""

import json

import pandas as pd

from builders.command import coterie, coterie_process


def test_a_pipe_gets_plain_text(labels):
    done = coterie_process("aggregate", labels, "--model", "ds")
    assert "\x1b" not in done.stdout
    assert not set("│┃━─╭") & set(done.stdout)


def test_the_summary_fits_one_screen(tmp_path):
    out = tmp_path / "crowd"
    sizes = ["--items", 200, "--annotators", 60, "--labels-per-item", 15]
    coterie("simulate", "mixed", "--out", out, *sizes)
    done = coterie(
        "aggregate", out / "labels.csv", "--model", "hcbcc", "--burn-in", 300, "--sweeps", 900,
        "--truth", out / "truth.csv", "--out", tmp_path / "result",
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    assert len(lines) <= 33
    assert max(len(line) for line in lines[2:-2]) <= 100  # the others hold names of files
    assert " coteries of 60 annotators (" in done.stdout
    assert "Least certain items" in done.stdout
    assert lines[-2].startswith(f"Written to {tmp_path / 'result'}: labels.csv, annotators.csv,")
    assert lines[-1].startswith(f"Next: open {tmp_path / 'result' / 'report.html'}; ")
    coteries = pd.read_csv(tmp_path / "result" / "coteries.csv")
    annotators = pd.read_csv(tmp_path / "result" / "annotators.csv")
    assert annotators["coterie"].value_counts().tolist() == coteries["size"].tolist()
    assert {"membership", "role"} <= set(annotators.columns)


def test_a_sampler_gives_intervals_diagnostics_and_a_verdict(labels, tmp_path):
    out = tmp_path / "result"
    done = coterie("aggregate", labels, "--model", "hcbcc", "--burn-in", 200, "--out", out)
    assert done.returncode == 0, done.stderr
    assert "of 3 annotators (" in done.stdout
    assert "The chains agree on the labels (4 chains, " in done.stdout
    annotators = pd.read_csv(out / "annotators.csv")
    assert (annotators["accuracy_low"] < annotators["accuracy"]).all()
    assert (annotators["accuracy"] < annotators["accuracy_high"]).all()
    diagnostics = pd.read_csv(out / "diagnostics.csv").set_index("quantity")
    assert diagnostics.loc["log_joint", "r_hat"] <= 1.01
    record = json.loads((out / "run.json").read_text("utf-8"))
    assert record["converged"]
    assert record["run"]["stopped"] == "converged"
    assert record["settings"]["burn_in"] == 200


def test_labels_that_are_not_settled_say_so_everywhere(labels, tmp_path):
    arguments = ["aggregate", labels, "--model", "cbcc", "--sweeps", 60, "--burn-in", 30]
    done = coterie(*arguments, "--out", tmp_path / "result")
    assert done.returncode == 0
    assert "NOT SETTLED (4 chains, 60 sweeps each): do not trust all labels yet." in done.stdout
    said = [line for line in done.stderr.splitlines() if not line.startswith("compiling ")]
    assert said[0].startswith("Warning: Labels not settled: 4 chains give one label on ")
    assert "30 sweeps after burn-in are too few to show it" in " ".join(said)
    record = json.loads((tmp_path / "result" / "run.json").read_text("utf-8"))
    assert record["converged"] is False
    assert record["verdicts"]["labels"]["settled"] is False
    assert record["verdicts"]["labels"]["sentence"] in " ".join(done.stdout.split())
    assert coterie(*arguments, "--strict").returncode == 3
