"""What the command line says when something goes wrong: in its own words, not in Python's."""

import inspect

import pytest
from typer.testing import CliRunner

from builders.command import coterie
from coterie.cli import app
from coterie.cli.guard import OPTIONS, as_option, spelt
from coterie.errors import Argument

LABELS = "item,annotator,label\nq1,ann,yes\nq1,bob,no\nq2,bob,no\n"


@pytest.mark.parametrize(
    ("text", "options", "sentence"),
    [
        (
            LABELS + "q1,ann,no\n",
            [],
            "row 5 of labels.csv (the header is row 1) repeats the item and annotator of an "
            "earlier label (1 in all, none of which says the same; first item 'q1', annotator "
            "'ann'); pass --duplicates first or --duplicates last to keep one label of each, or "
            "--duplicates keep to count them all",
        ),
        (
            LABELS,
            ["--classes", "yes,maybe", "--extra-answers", "not sure"],
            "label 'no' in row 3 of labels.csv (the header is row 1) is not one of --classes "
            "yes,maybe or --extra-answers 'not sure' (nor is 1 more); correct it, or add it to "
            "--classes if it can be the truth, to --extra-answers if it never is",
        ),
        (
            "task,worker,rating,answer\nq1,ann,1,2\n",
            [],
            "2 columns of labels.csv fit the label equally well, 'rating' and 'answer'; pass "
            "--label rating or --label answer",
        ),
        (
            "a,b\nq1,ann\n",
            [],
            "labels.csv has no columns named like annotator and label, and is not one row per item "
            "with one column per annotator; its columns are 'a', 'b'; pass --item, --annotator and "
            "--label, or --annotator A,B,... with the annotators' columns",
        ),
        (
            LABELS,
            ["--gold", "known.csv"],
            "--gold known.csv is neither a column of labels.csv ('item', 'annotator', 'label') nor "
            "a file",
        ),
        (
            LABELS,
            ["--model", "ibcc", "--sweeps", "10", "--burn-in", "10"],
            "IBCC drops 10 of 10 sweeps, which leaves nothing; raise --sweeps or lower --burn-in",
        ),
        (
            LABELS,
            ["--chains", "0"],
            "--chains must be a whole number of at least 1, got 0",
        ),
        (
            LABELS,
            ["--model", "quick", "--truth", "truth.csv"],
            "the true label 'oui' is not one of the classes ['no', 'yes'] that have a column, nor "
            "is any other; write them the same way (also text or number), or fit with --classes "
            "A,B,...",
        ),
    ],
    ids=["repeated", "outside", "several fit", "no form", "gold", "sweeps", "chains", "truth"],
)
def test_arguments_are_options(tmp_path, text, options, sentence):
    (tmp_path / "labels.csv").write_text(text, "utf-8")
    (tmp_path / "truth.csv").write_text("item,label\nq1,oui\nq2,non\n", "utf-8")
    done = coterie("aggregate", "labels.csv", *options, cwd=tmp_path)
    assert (done.returncode, done.stderr) == (1, f"Error: {sentence}\n")


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        (["--items", "0"], "--items must be at least 1, got 0"),
        (["--sparsity", "0.1", "--labels-per-item", "2"], "--labels-per-item and --sparsity both"),
        (["--class-balance", "1,2"], "--class-balance must be 3 numbers, one per class, got"),
        (["--labels-per-item", "99"], "--labels-per-item must be between 1 and the number of"),
    ],
)
def test_sizes_of_a_simulated_crowd_are_options(tmp_path, options, sentence):
    done = coterie("simulate", "mixed", "--out", "out", *options, cwd=tmp_path)
    assert done.returncode == 1
    assert done.stderr.startswith(f"Error: {sentence}")


def test_words_of_the_data_stay_as_they_are(tmp_path):
    text = LABELS + "q3,ann,classes=2\n"
    (tmp_path / "labels.csv").write_text(text, "utf-8")
    done = coterie("aggregate", "labels.csv", "--classes", "yes,no", cwd=tmp_path)
    assert done.stderr.startswith("Error: label 'classes=2' in row 5 of labels.csv ")


def test_every_option_is_one_of_the_commands_that_say_it():
    commands = (app.aggregate, app.export, app.judges, app.plan, app.simulate)
    names = [name for command in commands for name in inspect.signature(command).parameters]
    assert {*map(spelt, names)} >= set(OPTIONS.values())


def test_an_argument_is_called_as_its_option_is():
    """Whatever the command declares: nothing but names that differ is listed anywhere."""
    offered = {*map(spelt, inspect.signature(app.aggregate).parameters)}
    assert as_option(Argument("kinds", "sort"), offered) == "--kinds sort"
    assert as_option(Argument("burn_in"), offered) == "--burn-in"
    assert as_option(Argument("random_state", 3), offered) == "--seed 3"


def test_what_a_command_does_not_offer_is_written_as_in_python():
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
