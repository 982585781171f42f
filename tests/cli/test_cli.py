"""The command line as a user meets it."""

import gzip
import hashlib
import json
import subprocess
import sys

import pandas as pd
import pytest

from builders.command import coterie, coterie_process

ROWS = """task,worker,label
q1,ann,yes
q1,bob,yes
q1,cat,no
q2,ann,no
q2,bob,no
q2,cat,no
q3,ann,yes
q3,cat,no
q3,bob,yes
"""


@pytest.fixture
def labels(tmp_path):
    path = tmp_path / "labels.csv"
    path.write_text(ROWS, "utf-8")
    return path


def test_aggregate_writes_what_it_says(labels, tmp_path):
    out = tmp_path / "result"
    done = coterie_process("aggregate", labels, "--model", "majority", "--out", out)
    assert done.returncode == 0, done.stderr
    assert "3 items x 3 annotators, 9 labels, 2 classes" in done.stdout
    assert "item 'task', annotator 'worker', label 'label'" in done.stdout
    assert sorted(path.name for path in out.iterdir()) == [
        "annotators.csv", "labels.csv", "report.html", "run.coterie", "run.json",
    ]  # fmt: skip
    table = pd.read_csv(out / "labels.csv")
    assert table.columns.tolist() == ["item", "label", "probability", "entropy"]
    assert table["label"].tolist() == ["yes", "no", "yes"]
    annotators = pd.read_csv(out / "annotators.csv")
    assert annotators["annotator"].tolist() == ["ann", "bob", "cat"]
    assert annotators["n_labels"].tolist() == [3, 3, 3]
    record = json.loads((out / "run.json").read_text("utf-8"))
    assert record["model"] == "MajorityVote"
    assert record["settings"]["ties"] == "lowest"
    assert record["seed"] == 0
    assert record["input"]["sha256"] == hashlib.sha256(labels.read_bytes()).hexdigest()
    assert record["input"]["labels"] == 9


def test_results_are_never_overwritten_unasked(labels, tmp_path):
    out = tmp_path / "result"
    assert coterie("aggregate", labels, "--out", out).returncode == 0
    before = {path.name: path.read_bytes() for path in out.iterdir()}
    again = coterie("aggregate", labels, "--out", out, "--model", "majority")
    assert again.returncode == 1
    assert again.stderr == (
        f"Error: {out} already holds labels.csv, annotators.csv, run.json, run.coterie,"
        " report.html; choose another --out, or pass --force\n"
    )
    assert {path.name: path.read_bytes() for path in out.iterdir()} == before
    forced = coterie(
        "aggregate", labels, "--out", out, "--model", "majority", "--force", "--no-report"
    )
    assert forced.returncode == 0
    assert json.loads((out / "run.json").read_text("utf-8"))["model"] == "MajorityVote"
    assert not (out / "report.html").exists()  # it was about the other run


@pytest.mark.parametrize("format", ["parquet", "json"])
def test_other_formats(labels, tmp_path, format):
    out = tmp_path / "result"
    assert coterie("aggregate", labels, "-o", out, "--format", format).returncode == 0
    path = out / f"labels.{format}"
    table = pd.read_parquet(path) if format == "parquet" else pd.read_json(path)
    assert table["item"].tolist() == ["q1", "q2", "q3"]


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["--format", "xlsx", "--out", "r"], "no format 'xlsx'; choose one of csv, parquet, json"),
        (["--model", "magic"], "no model 'magic'; choose one of majority, ds, ibcc, cbcc, hcbcc"),
        (["--out", "labels.csv"], "labels.csv is a file, not a folder; choose another --out"),
    ],
)
def test_bad_options_get_one_sentence(labels, arguments, sentence):
    done = coterie("aggregate", labels.name, *arguments, cwd=labels.parent)
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr.startswith(f"Error: {sentence}")
    assert done.stderr.count("\n") == 1
    assert [path.name for path in labels.parent.iterdir()] == ["labels.csv"]


def test_bad_data_get_one_sentence_and_nothing_is_written(tmp_path):
    (tmp_path / "bad.csv").write_text("item,annotator,label\nq1,ann,yes\nq2,,no\n", "utf-8")
    done = coterie("aggregate", "bad.csv", "--out", "result", cwd=tmp_path)
    assert done.returncode == 1
    assert done.stderr.startswith("Error: ")
    assert done.stderr.count("\n") == 1
    assert "row 3" in done.stderr
    assert [path.name for path in tmp_path.iterdir()] == ["bad.csv"]


def test_standard_input_and_gzip_give_the_same(labels, tmp_path):
    zipped = tmp_path / "labels.csv.gz"
    zipped.write_bytes(gzip.compress(labels.read_bytes()))
    results = []
    for name, source, stdin in (("a", labels, None), ("b", zipped, None), ("c", "-", ROWS)):
        done = coterie("aggregate", source, "--out", tmp_path / name, stdin=stdin)
        assert done.returncode == 0, done.stderr
        results.append((tmp_path / name / "labels.csv").read_bytes())
    assert results[0] == results[1] == results[2]
    record = json.loads((tmp_path / "c" / "run.json").read_text("utf-8"))
    assert record["input"]["sha256"] == hashlib.sha256(ROWS.encode()).hexdigest()


def test_gold_is_clamped_and_truth_only_scores(labels, tmp_path):
    known = tmp_path / "known.csv"
    known.write_text("item,label\nq1,no\n", "utf-8")
    with_gold = coterie(
        "aggregate", labels, "--gold", known, "--out", tmp_path / "gold", "--model", "majority"
    )
    assert with_gold.returncode == 0, with_gold.stderr
    assert pd.read_csv(tmp_path / "gold" / "labels.csv")["label"].tolist() == ["no", "no", "yes"]
    with_truth = coterie(
        "aggregate", labels, "--truth", known, "--out", tmp_path / "truth", "--model", "majority"
    )
    assert with_truth.returncode == 0, with_truth.stderr
    assert pd.read_csv(tmp_path / "truth" / "labels.csv")["label"].tolist() == ["yes", "no", "yes"]
    record = json.loads((tmp_path / "truth" / "run.json").read_text("utf-8"))
    assert record["scores"]["items"] == 1
    assert record["scores"]["accuracy"] == 0
    both = coterie("aggregate", labels, "--gold", known, "--truth", known, "--model", "majority")
    assert "is known (gold): nothing is left to score" in both.stdout
    assert "Against the truth" not in both.stdout


def test_the_record_says_whether_known_labels_are_a_column_or_a_file(labels, tmp_path):
    text = "\n".join(f"{row},{'' if k else 'known'}" for k, row in enumerate(ROWS.split()))
    labels.write_text(text.replace("q2,ann,no,", "q2,ann,no,yes"), "utf-8")
    (tmp_path / "known").write_text("item,label\nq1,no\n", "utf-8")  # named like the column
    command = ["aggregate", labels, "--model", "majority", "--no-report", "--force", "--out"]
    done = coterie(*command, tmp_path / "a", "--gold", "known", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    record = json.loads((tmp_path / "a" / "run.json").read_text("utf-8"))
    assert record["gold"] == {"column": "known", "items": 1}
    assert pd.read_csv(tmp_path / "a" / "labels.csv")["label"].tolist() == ["yes", "yes", "yes"]
    done = coterie(*command, tmp_path / "a", "--gold", "./known", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    record = json.loads((tmp_path / "a" / "run.json").read_text("utf-8"))
    digest = hashlib.sha256((tmp_path / "known").read_bytes()).hexdigest()
    assert record["gold"] == {"path": "./known", "sha256": digest, "items": 1}


def test_classes_and_extra_answers(tmp_path):
    path = tmp_path / "labels.csv"
    path.write_text(ROWS.replace("q3,cat,no", "q3,cat,unsure"), "utf-8")
    done = coterie("aggregate", path, "--classes", "yes,no")
    assert done.returncode == 1
    assert "'unsure'" in done.stderr
    done = coterie("aggregate", path, "--classes", "yes,no", "--extra-answers", "unsure")
    assert done.returncode == 0, done.stderr
    assert "2 classes, 1 extra answer" in done.stdout


def test_a_pipe_gets_plain_text(labels):
    done = coterie_process("aggregate", labels)
    assert "\x1b" not in done.stdout
    assert not set("│┃━─╭") & set(done.stdout)


def test_a_reader_that_stops_early_loses_no_file(labels, tmp_path):
    command = f"{sys.executable} -m coterie aggregate {labels} --out result | head -1"
    done = subprocess.run(
        ["bash", "-c", f"set -o pipefail; {command}"],
        cwd=tmp_path, capture_output=True, encoding="utf-8",
    )  # fmt: skip
    assert done.stdout.count("\n") == 1
    assert done.stderr == ""
    assert (tmp_path / "result" / "run.json").exists()


def test_another_format_leaves_no_stale_table(labels, tmp_path):
    out = tmp_path / "result"
    assert coterie("aggregate", labels, "--out", out).returncode == 0
    refused = coterie("aggregate", labels, "--out", out, "--format", "json")
    assert refused.returncode == 1
    assert "already holds run.json, run.coterie, report.html, labels.csv," in refused.stderr
    forced = coterie("aggregate", labels, "--out", out, "--format", "json", "--force")
    assert forced.returncode == 0, forced.stderr
    assert sorted(path.name for path in out.iterdir()) == [
        "annotators.json", "labels.json", "report.html", "run.coterie", "run.json",
    ]  # fmt: skip


def test_a_truth_that_does_not_fit_is_noticed_before_the_long_part(labels, tmp_path):
    truth = tmp_path / "truth.csv"
    truth.write_text("item,label\nx1,yes\n", "utf-8")
    done = coterie(
        "aggregate", labels, "--model", "hcbcc", "--truth", truth, "--out", tmp_path / "r"
    )
    assert done.returncode == 1
    assert done.stderr.startswith("Error: no item has both")
    assert not (tmp_path / "r").exists()


def test_typed_ids_match_a_truth_written_as_text(tmp_path):
    frame = pd.DataFrame({"item": [7, 7, 8], "annotator": [1, 2, 1], "label": [0, 0, 1]})
    frame.to_parquet(tmp_path / "labels.parquet")
    (tmp_path / "truth.csv").write_text("item,label\n7,0\n8,0\n", "utf-8")
    done = coterie(
        "aggregate", "labels.parquet", "--model", "majority", "--truth", "truth.csv", "--out", "r",
        cwd=tmp_path,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    record = json.loads((tmp_path / "r" / "run.json").read_text("utf-8"))
    assert (record["scores"]["items"], record["scores"]["accuracy"]) == (2, 0.5)
    digest = hashlib.sha256((tmp_path / "truth.csv").read_bytes()).hexdigest()
    assert record["truth"] == {"path": "truth.csv", "sha256": digest}
    assert record["gold"] is None


def test_the_wide_form_can_be_asked_for(tmp_path):
    path = tmp_path / "wide.csv"
    path.write_text("item,ann,bob,note\nq1,yes,no,x\nq2,no,,y\nq3,yes,yes,z\n", "utf-8")
    done = coterie("aggregate", path, "--annotator", "ann,bob")
    assert done.returncode == 0, done.stderr
    assert "3 items x 2 annotators, 5 labels, 2 classes" in done.stdout


@pytest.mark.parametrize(
    "arguments", [["--seed", "-1", "--model", "ibcc"], ["--jobs", "0", "--model", "ibcc"]]
)
def test_impossible_numbers_are_refused_without_a_traceback(labels, arguments):
    done = coterie("aggregate", labels, *arguments)
    assert done.returncode == 2
    assert "Traceback" not in done.stderr


def test_demo_shows_every_group_and_beats_the_vote(tmp_path):
    done = coterie("demo", "--out", tmp_path / "demo")
    assert done.returncode == 0, done.stderr
    for role in ("expert", "novice", "biased towards c", "spammer", "adversary"):
        assert role in done.stdout
    coteries = pd.read_csv(tmp_path / "demo" / "coteries.csv")
    assert coteries["role"].tolist() == [
        "novice", "expert", "spammer", "biased towards c", "adversary",
    ]  # fmt: skip
    scores = {
        line.split()[0]: float(line.split()[2])
        for line in done.stdout.splitlines()
        if line.startswith(("MajorityVote ", "HCBCC ")) and len(line.split()) == 6
    }
    assert scores["HCBCC"] > scores["MajorityVote"]


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
    assert len(lines) <= 32
    assert max(len(line) for line in lines[2:-1]) <= 100  # the others hold names of files
    assert " coteries of 60 annotators (" in done.stdout
    assert "Least certain items" in done.stdout
    assert lines[-1].startswith(f"Written to {tmp_path / 'result'}: labels.csv, annotators.csv,")
    coteries = pd.read_csv(tmp_path / "result" / "coteries.csv")
    annotators = pd.read_csv(tmp_path / "result" / "annotators.csv")
    assert annotators["coterie"].value_counts().tolist() == coteries["size"].tolist()
    assert {"membership", "role"} <= set(annotators.columns)


def test_without_report(labels, tmp_path):
    coterie("aggregate", labels, "--no-report", "--out", tmp_path / "result")
    assert not (tmp_path / "result" / "report.html").exists()
    assert (tmp_path / "result" / "labels.csv").exists()


def test_a_sampler_gives_intervals_diagnostics_and_a_verdict(labels, tmp_path):
    out = tmp_path / "result"
    done = coterie("aggregate", labels, "--model", "hcbcc", "--burn-in", 200, "--out", out)
    assert done.returncode == 0, done.stderr
    assert "of 3 annotators (" in done.stdout
    assert "The chains agree (4 chains, " in done.stdout
    annotators = pd.read_csv(out / "annotators.csv")
    assert (annotators["accuracy_low"] < annotators["accuracy"]).all()
    assert (annotators["accuracy"] < annotators["accuracy_high"]).all()
    diagnostics = pd.read_csv(out / "diagnostics.csv").set_index("quantity")
    assert diagnostics.loc["log_joint", "r_hat"] <= 1.01
    record = json.loads((out / "run.json").read_text("utf-8"))
    assert record["converged"]
    assert record["run"]["stopped"] == "converged"
    assert record["settings"]["burn_in"] == 200


def test_a_run_that_has_not_converged_says_so_everywhere(labels, tmp_path):
    arguments = ["aggregate", labels, "--model", "cbcc", "--sweeps", 60, "--burn-in", 20]
    done = coterie(*arguments, "--out", tmp_path / "result")
    assert done.returncode == 0
    assert "NOT CONVERGED (4 chains, 60 sweeps each): do not trust this result yet." in done.stdout
    assert done.stderr.startswith("Warning: the chains have not converged after 60 sweeps")
    record = json.loads((tmp_path / "result" / "run.json").read_text("utf-8"))
    assert record["converged"] is False
    assert coterie(*arguments, "--strict").returncode == 3


def test_the_saved_run_loads(labels, tmp_path):
    import coterie as package

    coterie("aggregate", labels, "--model", "ds", "--out", tmp_path / "result")
    posterior = package.load(tmp_path / "result" / "run.coterie")
    pd.testing.assert_frame_equal(
        posterior.labels(), pd.read_csv(tmp_path / "result" / "labels.csv"), check_dtype=False
    )


def test_simulate_writes_a_crowd_that_aggregate_reads(tmp_path):
    done = coterie("simulate", "unsure", "--out", tmp_path / "crowd", "--items", 20, "--seed", 3)
    assert done.returncode == 0, done.stderr
    assert sorted(path.name for path in (tmp_path / "crowd").iterdir()) == [
        "groups.csv", "labels.csv", "truth.csv",
    ]  # fmt: skip
    labels = pd.read_csv(tmp_path / "crowd" / "labels.csv")
    assert set(labels["label"]) == {"a", "b", "c", "unsure"}
    done = coterie(
        "aggregate", tmp_path / "crowd" / "labels.csv", "--truth", tmp_path / "crowd" / "truth.csv",
        "--classes", "a,b,c", "--extra-answers", "unsure",
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert "Against the truth" in done.stdout
    again = coterie("simulate", "unsure", "--out", tmp_path / "crowd")
    assert again.returncode == 1
    assert "already holds labels.csv, truth.csv, groups.csv" in again.stderr


def test_datasets_are_listed_with_licence_and_citation():
    done = coterie("datasets")
    assert done.returncode == 0, done.stderr
    for name in ("bluebird", "rte", "valence", "temp"):
        assert f"\n{name}: " in done.stdout
    assert done.stdout.count("licence: ") == done.stdout.count("cite: ") == 4


def test_version():
    import coterie as package

    assert coterie_process("--version").stdout == f"coterie {package.__version__}\n"


LIGHT = """
import sys
{what}
heavy = sorted({{"numba", "pandas", "scipy", "narwhals", "arviz_stats"}} & set(sys.modules))
assert not heavy, heavy
"""


@pytest.mark.parametrize(
    "what",
    [
        "import coterie",
        "from coterie.cli import main\nsys.argv = ['coterie', '--help']\n"
        "try:\n    main()\nexcept SystemExit as end:\n    assert end.code == 0",
    ],
    ids=["import coterie", "coterie --help"],
)
def test_nothing_heavy_is_loaded(what):
    done = subprocess.run(
        [sys.executable, "-c", LIGHT.format(what=what)], capture_output=True, encoding="utf-8"
    )
    assert done.returncode == 0, done.stderr


INTERRUPTED = """
import signal, sys
from types import SimpleNamespace

def read():
    signal.raise_signal(signal.SIGINT)
    return b""

signal.signal(signal.SIGINT, signal.default_int_handler)  # as in a foreground job
sys.stdin = SimpleNamespace(buffer=SimpleNamespace(read=read))
sys.argv = ["coterie", "aggregate", "-"]
from coterie.cli import main
main()
"""


@pytest.mark.skipif(sys.platform == "win32", reason="POSIX signals")
def test_ctrl_c_ends_quietly():
    done = subprocess.run(
        [sys.executable, "-c", INTERRUPTED], capture_output=True, encoding="utf-8"
    )
    assert (done.returncode, done.stdout, done.stderr) == (130, "", "")
