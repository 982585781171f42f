"""coterie reproduce from end to end, small: resumable, the same for any --jobs, and whole."""

import json
import os
import re
import signal
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest
from typer.testing import CliRunner

from builders.realdata import load
from coterie.cli.app import app
from coterie.errors import DataError
from coterie.studies.job import perform
from coterie.studies.paper import EXPERIMENTS, Settings, Watch, reproduce
from coterie.studies.paper.job import job, seeded
from coterie.studies.paper.page import write_markdown
from coterie.studies.paper.run import read_documents
from coterie.studies.paper.store import Store
from coterie.studies.paper.theory import correlation

TINY = Settings(
    "tiny", sweeps=60, burn_in=20, databases=2, runs=1, chains=2, levels=(0.8, 0.9),
    real_levels=(0.95,), items=40, annotators=20, crowds=30, real_sets=("valence",),
)  # fmt: skip
SYNTHETIC = ["synthetic", "sparsity-synthetic", "cooccurrence-synthetic", "correlation", "limits"]
A_HANG = 3_600  # seconds: no machine is so busy
KILLED = """
import os, signal, sys
from pathlib import Path
from coterie.studies.paper import Settings, Watch, reproduce

class Killer(Watch):
    steps = 0

    def step(self, outcome, share):
        self.steps += 1
        if self.steps == 8:
            os.kill(os.getpid(), signal.SIGKILL)

if __name__ == "__main__":
    settings = eval(sys.argv[2])
    reproduce(sys.argv[3:], settings, Path(sys.argv[1]), jobs=2, watch=Killer())
"""


class Listener(Watch):
    def __init__(self):
        self.said, self.begun, self.steps = [], [], []

    def say(self, sentence):
        self.said.append(sentence)

    def begin(self, todo, done, seconds):
        self.begun.append((todo, done, seconds))

    def step(self, outcome, share):
        self.steps.append(share)


def numbers(path):
    """Read what a document says but for how long it took and which state of the files made it."""
    document = json.loads(path.read_text("utf-8"))
    document.get("data", {}).pop("made", None)
    return {key: value for key, value in document.items() if key not in ("seconds", "code")}


def job_names(folder):
    lines = [path.read_text("utf-8").splitlines() for path in (folder / "jobs").glob("*.jsonl")]
    return [json.loads(line)["job"] for several in lines for line in several]


@pytest.fixture(scope="module")
def uninterrupted(tmp_path_factory):
    """Everything that needs no real data, in one process."""
    folder = tmp_path_factory.mktemp("one") / "out"
    watch = Listener()
    found = reproduce(SYNTHETIC, TINY, folder, jobs=1, watch=watch)
    return folder, found, watch


def test_everything_is_written(uninterrupted):
    folder, found, watch = uninterrupted
    assert found.failed == []
    for name in SYNTHETIC:
        assert {folder / f"{name}.json", folder / f"{name}.png"} <= set(found.files)
        assert (folder / f"{name}.png").read_bytes()[:8] == b"\x89PNG\r\n\x1a\n"
    assert watch.steps == sorted(watch.steps)
    assert watch.steps[-1] == pytest.approx(1)
    ((todo, done, seconds),) = watch.begun
    assert (todo, done) == (len(job_names(folder)), 0)
    assert seconds > 0


def test_the_page_has_every_table_and_says_how_small_it_is(uninterrupted):
    folder, found, _ = uninterrupted
    page = (folder / "reproduction.html").read_text("utf-8")
    for name, document in read_documents(folder).items():
        for table in EXPERIMENTS[name].tables(document["data"]):
            assert table.title.replace("'", "&#39;") in page
            for cell in table.rows[-1]:
                assert cell.replace("'", "&#39;") in page
    assert page.count("data:image/png;base64,") == len(SYNTHETIC)
    assert "TINY RUN, smaller than the paper&#39;s" in page
    assert not re.search(r"(?:src|href)=\"(?!data:|#)", page)  # it loads nothing
    for claim in found.claims:
        assert claim.verdict in page
    assert len(found.claims) == 4  # those of the synthetic sets


def test_documents_say_what_made_them(uninterrupted):
    folder, _, _ = uninterrupted
    for name, document in read_documents(folder).items():
        assert document["settings"]["sweeps"] == 60, name
        assert document["seed"] == 0
        assert len(document["code"]) == 1
        assert document["code"][0].startswith(document["version"])
        assert document["seconds"] >= 0
        assert "TINY RUN" in document["data"]["made"]["words"]


@pytest.mark.slow
def test_a_killed_run_goes_on_and_does_nothing_twice(uninterrupted, tmp_path):
    """A kill in the middle, then two processes: the same bytes as one process, never killed."""
    whole, _, _ = uninterrupted
    folder, script = tmp_path / "out", tmp_path / "script.py"
    script.write_text(KILLED, "utf-8")
    command = [sys.executable, str(script), str(folder), repr(TINY), *SYNTHETIC]
    # Its workers have the same output, which ends when the last of them does.
    killed = subprocess.run(command, stdout=subprocess.PIPE, timeout=A_HANG)
    assert killed.returncode == -signal.SIGKILL
    before = job_names_whole(folder)
    assert 8 <= len(before) < len(job_names(whole))
    watch = Listener()
    reproduce(SYNTHETIC, TINY, folder, jobs=2, mix=True, watch=watch)  # also if files were edited
    assert Counter(job_names(folder)) == Counter(job_names(whole))
    assert watch.begun[0][:2] == (len(job_names(whole)) - len(before), len(before))
    for name in (*SYNTHETIC, "claims"):
        ours, theirs = (at / f"{name}.json" for at in (folder, whole))
        assert numbers(ours) == numbers(theirs)
    again = Listener()
    reproduce(SYNTHETIC, TINY, folder, jobs=2, mix=True, watch=again)
    assert again.begun == [(0, len(job_names(whole)), 0.0)]
    assert again.steps == []


def job_names_whole(folder):
    """Give the names on whole lines: the last may have been cut off."""
    names = []
    for path in (folder / "jobs").glob("*.jsonl"):
        lines = path.read_bytes().split(b"\n")[:-1]
        names += [json.loads(line)["job"] for line in lines]
    return names


def test_a_line_cut_off_is_dropped_and_the_rest_kept(tmp_path):
    store = Store(tmp_path / "out", TINY)
    jobs = [job(correlation, model="ibcc", strength=s, concentration=1.0) for s in (1.0, 2.0)]
    outcomes = [perform(seeded(one, TINY)) for one in jobs]
    for one, outcome in zip(jobs, outcomes, strict=True):
        store.add(one, outcome)
    path = tmp_path / "out" / "jobs" / "correlation.jsonl"
    path.write_bytes(path.read_bytes()[:-10])
    again = Store(tmp_path / "out", TINY)
    assert jobs[0] in again
    assert jobs[1] not in again
    again.add(jobs[1], outcomes[1])
    last = Store(tmp_path / "out", TINY)
    assert last.results(jobs) == {one.name: one.result for one in outcomes}


def test_another_run_is_not_mixed_in(uninterrupted, tmp_path):
    folder, _, _ = uninterrupted
    other = Settings("other", sweeps=61)
    with pytest.raises(
        DataError, match=r"other settings \(name: tiny, sweeps: 60, .*another --out"
    ):
        Store(folder, other)
    (tmp_path / "letter.txt").write_text("mine", "utf-8")
    with pytest.raises(DataError, match="holds other files"):
        Store(tmp_path, TINY)
    with pytest.raises(DataError, match=r"letter\.txt is a file, not a folder; choose another"):
        Store(tmp_path / "letter.txt", TINY)


def test_results_of_other_code_are_not_mixed_in_unasked(tmp_path):
    store = Store(tmp_path / "out", TINY)
    store.code = {"version": "0.0", "code": "0123456789ab"}
    jobs = [job(correlation, model="ibcc", strength=s, concentration=1.0) for s in (1.0, 2.0)]
    store.add(jobs[0], perform(seeded(jobs[0], TINY)))
    with pytest.raises(DataError, match=r"results of other code \(0123456789ab; .*--mix"):
        Store(tmp_path / "out", TINY)
    mixed = Store(tmp_path / "out", TINY, mix=True)
    mixed.add(jobs[1], perform(seeded(jobs[1], TINY)))
    assert len(mixed.codes(jobs)) == 2


def test_without_the_real_data_a_sentence_says_so_and_the_rest_goes_on(tmp_path, monkeypatch):
    from coterie.studies.paper.work import load as cached

    cached.cache_clear()
    empty = tmp_path / "empty"
    empty.mkdir()
    monkeypatch.setenv("COTERIE_DATA", str(empty))
    watch = Listener()
    found = reproduce(["datasets", "confusion", "synthetic"], TINY, tmp_path / "out", watch=watch)
    assert found.failed == []
    (sentence,) = [said for said in watch.said if "valence" in said]
    assert sentence.startswith("valence is left out: data set 'valence' should be in")
    page = (tmp_path / "out" / "reproduction.html").read_text("utf-8")
    assert "valence is left out" in page
    assert "The synthetic sets" in page
    assert json.loads((tmp_path / "out" / "datasets.json").read_text("utf-8"))["left_out"]
    cached.cache_clear()
    with pytest.raises(DataError, match=r"nothing can be made: data set 'valence' should be in"):
        reproduce(["datasets"], TINY, tmp_path / "none")


def test_real_data_from_end_to_end(tmp_path, monkeypatch):
    load("valence")  # or skip
    from builders.realdata import BESIDE

    if not os.environ.get("COTERIE_DATA"):
        monkeypatch.setenv("COTERIE_DATA", str(BESIDE))
    names = ["datasets", "accuracy", "confusion", "cooccurrence-real", "sparsity-real"]
    found = reproduce(names, TINY, tmp_path / "out", jobs=2)
    assert found.failed == []
    documents = read_documents(tmp_path / "out")
    assert documents["datasets"]["data"]["sets"]["valence"]["agrees"]
    vote = documents["accuracy"]["data"]["sets"]["valence"]["majority"]
    assert (vote["right"], vote["items_from_paper"]) == ([80], [0])
    levels = documents["sparsity-real"]["data"]["sets"]["valence"]
    assert [level["databases"] for level in levels] == [1, 2]
    coteries = documents["confusion"]["data"]["sets"]["valence"]["coteries"]
    assert sum(one["share"] for one in coteries) == pytest.approx(1)
    assert sum(one["size"] for one in coteries) == 38
    write_markdown(tmp_path / "docs" / "page.md", tmp_path / "out", documents, found.claims)
    text = (tmp_path / "docs" / "page.md").read_text("utf-8")
    for picture in re.findall(r"\]\(([^)]*\.png)\)", text):
        assert (tmp_path / "docs" / picture).exists()
    assert len(re.findall(r"\]\(page/", text)) == len(names)


def test_without_matplotlib_there_is_a_sentence_and_no_picture(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    watch = Listener()
    found = reproduce(["synthetic"], TINY, tmp_path / "out", watch=watch)
    (sentence,) = watch.said
    assert sentence.endswith('needs matplotlib: pip install "coterie[plots]"')
    assert not list((tmp_path / "out").glob("*.png"))
    assert tmp_path / "out" / "reproduction.html" in found.files


def test_a_job_that_fails_takes_nothing_else_with_it(tmp_path, monkeypatch):
    def breaks(settings, seed, **told):
        raise ZeroDivisionError("by zero")

    breaks.__name__ = "limit"
    monkeypatch.setattr("coterie.studies.paper.limits.fit_both", breaks)
    watch = Listener()
    found = reproduce(["limits", "synthetic"], TINY, tmp_path / "out", watch=watch)
    (sentence,) = found.failed
    assert "limits is left out: limit limit=alpha" in sentence
    assert "ZeroDivisionError: by zero" in sentence
    assert (tmp_path / "out" / "synthetic.json").exists()
    assert not (tmp_path / "out" / "limits.json").exists()


def test_command_line(tmp_path):
    out = tmp_path / "quick"
    runner = CliRunner()
    listed = runner.invoke(app, ["reproduce", "--list"])
    assert listed.exit_code == 0
    assert all(name in listed.output for name in EXPERIMENTS)
    wrong = runner.invoke(app, ["reproduce", "nothing", "--out", str(out)])
    assert wrong.exit_code == 1
    assert "there is no experiment 'nothing'; there are datasets, accuracy" in wrong.output
    assert not out.exists()
    options = ["reproduce", "synthetic", "--quick", "--out", str(out)]
    done = runner.invoke(app, [*options, "--markdown", str(tmp_path / "page.md")])
    assert done.exit_code == 0, done.output
    assert f"begin with {out / 'reproduction.html'}" in done.output
    assert (tmp_path / "page" / "synthetic.png").exists()
    mixed = runner.invoke(app, ["reproduce", "synthetic", "--out", str(out)])
    assert mixed.exit_code == 1
    assert "other settings" in mixed.output


def test_the_help_loads_nothing_heavy():
    code = (
        "import sys; from typer.testing import CliRunner; from coterie.cli.app import app; "
        "CliRunner().invoke(app, ['reproduce', '--help']); "
        "print([m for m in ('numba', 'pandas', 'matplotlib') if m in sys.modules])"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout.strip() == "[]"


def test_the_folder_is_made_where_it_was_asked_for(tmp_path):
    reproduce(["synthetic"], TINY, tmp_path / "a" / "b")
    assert Path(tmp_path / "a" / "b" / "settings.json").exists()
