"""What a command says when something goes wrong: one sentence, in its own words."""

import inspect
import re
import shlex

import pytest
from typer.testing import CliRunner

import coterie as package
from builders.command import ROWS, coterie
from coterie.cli import app
from coterie.cli.guard import OPTIONS, as_option, spelt
from coterie.errors import Argument
from coterie.models import MODELS, MajorityVote

HEAD = "item,annotator,label\n"
LABELS = HEAD + "q1,ann,yes\nq1,bob,no\nq2,bob,no\n"
FILES = {
    "labels.csv": LABELS,
    "repeated.csv": LABELS + "q1,ann,no\n",
    "blank.csv": HEAD + "q1,ann,yes\nq2,,no\n",
    "odd.csv": LABELS + "q3,ann,classes=2\n",
    "fits.csv": "task,worker,rating,answer\nq1,ann,1,2\n",
    "none.csv": "a,b\nq1,ann\n",
    "french.csv": "item,label\nq1,oui\nq2,non\n",
    "other.csv": "item,label\nx1,yes\n",
    "more.csv": HEAD + "q1,ann,no\nq6,ann,no\n",
    "unsure.csv": ROWS.replace("q3,cat,no", "q3,cat,unsure"),
    "data/one/labels.csv": LABELS,
    "data/one/truth.csv": "item,label\nq1,yes\nq2,no\n",
    "free.csv": "annotator,cost\nann,free\n",
    "three.csv": "annotator,cost,x\nann,1,2\n",
    "one.csv": "annotator,cost\nann,1\n",
    "open.csv": "annotator,cost\nann,\n",
    "two.csv": "annotator,cost\nann,1\nann,2\n",
}
# … stands for what a sentence goes on with, or begins with
FAULTS = {
    "aggregate repeated.csv": "row 5 of repeated.csv (the header is row 1) repeats the item and"
    " annotator of an earlier label (1 in all, none of which says the same; first item 'q1',"
    " annotator 'ann'); pass --duplicates first or --duplicates last to keep one label of each, or"
    " --duplicates keep to count them all",
    "aggregate labels.csv --classes yes,maybe --extra-answers 'not sure'": "label 'no' in row 3 of"
    " labels.csv (the header is row 1) is not one of --classes yes,maybe or --extra-answers 'not"
    " sure' (nor is 1 more); correct it, or add it to --classes if it can be the truth, to"
    " --extra-answers if it never is",
    "aggregate fits.csv": "2 columns of fits.csv fit the label equally well, 'rating' and 'answer';"
    " pass --label rating or --label answer",
    "aggregate none.csv": "none.csv has no columns named like annotator and label, and is not one"
    " row per item with one column per annotator; its columns are 'a', 'b'; pass --item,"
    " --annotator and --label, or --annotator A,B,... with the annotators' columns",
    "aggregate labels.csv --gold known.csv": "--gold known.csv is neither a column of labels.csv"
    " ('item', 'annotator', 'label') nor a file",
    "aggregate labels.csv --model ibcc --sweeps 10 --burn-in 10": "IBCC drops 10 of 10 sweeps,"
    " which leaves nothing; raise --sweeps or lower --burn-in",
    "aggregate labels.csv --chains 0": "--chains must be a whole number of at least 1, got 0",
    "aggregate labels.csv --model quick --truth french.csv": "the true label 'oui' is not one of"
    " the classes ['no', 'yes'] that have a column, nor is any other; write them the same way (also"
    " text or number), or fit with --classes A,B,...",
    "aggregate labels.csv --truth other.csv --out r": "no item has both…",
    # a label is shown as it is, not as an option
    "aggregate odd.csv --classes yes,no": "label 'classes=2' in row 5 of odd.csv…",
    "aggregate unsure.csv --classes yes,no": "label 'unsure' in row 9 of unsure.csv…",
    "aggregate blank.csv --out r": "row 3 of blank.csv…",
    "aggregate labels.csv --format ods --out r": "no format 'ods'; choose one of csv, parquet,"
    " json, xlsx",
    "aggregate labels.csv --model magic": f"no model 'magic'; choose one of {', '.join(MODELS)}…",
    "aggregate labels.csv --out labels.csv": "labels.csv is a file, not a folder; choose another"
    " --out",
    "aggregate labels.csv --model ds --kinds 2": "a number of --kinds is for the models ibcc, cbcc"
    " and hcbcc; choose one by --model",
    "aggregate labels.csv --model dynamic": "…needs the time of every label; read the labels with"
    " --time timestamp…",
    "aggregate labels.csv --out r --text lable": "…no column 'lable', which --text asks for (did"
    " you mean 'label'?…",
    "aggregate - --out r --text label": "…give one with --items",
    "aggregate labels.csv --scan --model ebcc": "EBCC cannot be fitted to a scan…",
    "aggregate labels.csv --scan --model ds --engine dask": "…or choose one of consensus, ibcc,"
    " cbcc and hcbcc",
    "aggregate labels.csv --scan --kinds 2": "--kinds needs all labels in memory…",
    "aggregate labels.csv --scan --from prodigy": "--from needs all labels in memory…",
    "aggregate more.csv --update run.coterie --model ibcc": "…leave out --model ibcc…",
    "aggregate more.csv --update run.coterie": "row 3 of the earlier labels with the new ones (in"
    " this order;…pass --duplicates first or --duplicates last…",
    "simulate --out s --items 0": "--items must be at least 1, got 0…",
    "simulate --out s --sparsity 0.1 --labels-per-item 2": "--labels-per-item and --sparsity both…",
    "simulate --out s --class-balance 1,2": "--class-balance must be 3 numbers, one per class,…",
    "simulate --out s --labels-per-item 99": "--labels-per-item must be between 1 and the number…",
    "compare data --models mystery": "no model 'mystery'…",
    "compare data --only three": "no data set 'three'…",
    "compare data/one/labels.csv": "data/one/labels.csv has nothing to be scored against…",
    "compare data --timeout 0": "--timeout must be more than 0…",
    "compare data --memory nan": "--memory must be more than 0…",
    "compare data --jobs -1": "--jobs must be more than 0…",
    "compare data --duplicates some": "--duplicates some is not one of…",
    "compare data --out data/one/truth.csv": "…is a file, not a folder…",
    "report nothing.coterie": "…nothing.coterie…",
    "report run.coterie --truth no.csv --out a/b/c.html": "there is no file no.csv…",
    "plan run.coterie --budget 3 --costs free.csv": "the cost 'free' in row 2 of free.csv (the"
    " header is row 1) is not a number",
    "plan run.coterie --budget 3 --costs three.csv": "three.csv has 3 columns; expected two,"
    " annotator and cost",
    "plan run.coterie --budget 3 --costs one.csv": "…no cost is given for…",
    "plan run.coterie --budget 3 --costs open.csv": "row 2 of open.csv (the header is row 1) has no"
    " annotator or no cost; fill in both",
    "plan run.coterie --budget 3 --costs two.csv": "row 3 of two.csv (the header is row 1) gives"
    " 'ann' another cost; keep one row of each",
    "judges labels.csv --model quick --prices nobody=1": "--prices nobody=1 is not a judge of the"
    " panel and a price: gpt-4=10; judges are …",
    "judges labels.csv --model quick --prices ann=dear": "--prices ann=dear is not a judge of the"
    " panel and a price: gpt-4=10…",
    "judges labels.csv --model quick --prices ann=-1": "--prices ann=-1 is not a judge of the…",
    "judges labels.csv --model quick --prices anne=1": "…did you mean 'ann'?…",
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("faults")
    for name, text in FILES.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text, "utf-8")
    rows = [tuple(line.split(",")) for line in LABELS.splitlines()[1:]]
    package.QuickConsensus().fit(rows).posterior_.save(folder / "run.coterie")
    return folder


@pytest.mark.parametrize("words", FAULTS)
def test_a_fault_is_one_sentence_and_nothing_is_written(folder, monkeypatch, words):
    monkeypatch.setattr("coterie.studies.pool.run_jobs", None)  # before any work
    before = sorted(folder.rglob("*"))
    done = coterie(*shlex.split(words), cwd=folder, stdin=LABELS)
    assert done.returncode == 1
    *warnings, error = done.stderr.splitlines()
    assert all(line.startswith("Warning: ") for line in warnings)
    expected = ".*".join(map(re.escape, FAULTS[words].split("…")))
    assert re.fullmatch(f"Error: {expected}", error), error
    assert sorted(folder.rglob("*")) == before
    assert "compare" not in words or done.stdout == ""


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        ("aggregate labels.csv --seed -1", "Invalid value for '--seed'"),
        ("aggregate labels.csv --jobs 0", "Invalid value for '--jobs'"),
        ("aggregate labels.csv --out ~nosuchuser/x", "names a user who is not there"),
        ("simulate mixed --out ''", "the name is empty"),
    ],
)
def test_what_cannot_be_an_option_is_refused_before_the_command(folder, words, sentence):
    done = coterie(*shlex.split(words), cwd=folder)
    assert done.returncode == 2
    assert sentence in " ".join(done.stderr.replace("│", " ").split())
    assert not (folder / "~nosuchuser").exists()


@pytest.mark.parametrize("option", ["--check-gold", "--recalibrate"])
def test_a_check_without_gold_is_refused_before_the_fit(folder, monkeypatch, option):
    monkeypatch.setattr(MajorityVote, "_fit", lambda *told: pytest.fail("it was fitted"))
    done = coterie("aggregate", "labels.csv", "--model", "majority", option, cwd=folder)
    assert (done.returncode, done.stderr) == (
        1,
        "Error: a check by gold needs two known items with labels and two folds, got 0 and 5; pass"
        " --gold with known labels of some items\n",
    )


def test_every_option_is_one_of_the_commands_that_say_it():
    commands = (app.aggregate, app.export, app.judges, app.plan, app.simulate)
    names = [name for command in commands for name in inspect.signature(command).parameters]
    assert {*map(spelt, names)} >= set(OPTIONS.values())


def test_an_argument_is_called_as_its_option_is_if_the_command_has_it():
    """Whatever the command declares: nothing but names that differ is listed anywhere."""
    offered = {*map(spelt, inspect.signature(app.aggregate).parameters)}
    assert as_option(Argument("kinds", "sort"), offered) == "--kinds sort"
    assert as_option(Argument("burn_in"), offered) == "--burn-in"
    assert as_option(Argument("random_state", 3), offered) == "--seed 3"
    assert as_option(Argument("classes"), {"--duplicates"}) == "classes="
    assert as_option(Argument("duplicates", "keep"), {"--duplicates"}) == "--duplicates keep"


@pytest.mark.parametrize("bad", ["--\x1b[2J", "--a\nError: b", "--\u202egnp", "--" + "p" * 5_000])
def test_what_is_typed_wrongly_is_shown_harmlessly(bad):
    found = CliRunner().invoke(app.app, ["aggregate", bad, "labels.csv"])
    assert found.exit_code == 2
    assert "\x1b[2J" not in found.stderr
    assert "\u202e" not in found.stderr
    assert "\nError: b" not in found.stderr
    assert len(found.stderr) < 2_000
