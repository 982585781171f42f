"""A disk that is really full, as the system has it: no file may grow beyond a limit.

A process of its own is limited (RLIMIT_FSIZE): what writes more fails in the middle, as on a full
disk.
"""

import subprocess
import sys

import pytest

import coterie

pytest.importorskip("pyarrow")
resource = pytest.importorskip("resource")

LIMITED = """
import resource, sys, tempfile
from pathlib import Path
import coterie

tempfile.tempdir = sys.argv[3]
def limited(n):
    resource.setrlimit(resource.RLIMIT_FSIZE, (n, resource.RLIM_INFINITY))

def said(do, *args, **options):
    try:
        print(do(*args, **options))
    except coterie.DataError as error:
        print(error)

pattern, out = sys.argv[1:3]
limited(2_000)
said(coterie.scan, pattern)
said(coterie.scan, pattern, folder=out + "/shards")
limited(resource.RLIM_INFINITY)
scan = coterie.scan(pattern, shard_labels=300)
posterior = coterie.MajorityVote().fit(scan).posterior_
posterior.write_labels(out + "/before")
limited(max(path.stat().st_size for path in Path(out, "before").iterdir()) - 1)  # one is too large
said(posterior.write_labels, out + "/labels")
print([path.name for path in Path(out, "labels").iterdir()])
limited(resource.RLIM_INFINITY)
said(posterior.write_labels, out + "/labels")
"""


@pytest.fixture(scope="module")
def told(tmp_path_factory):
    """What a limited process says, line by line, and where it wrote."""
    folder = tmp_path_factory.mktemp("full")
    for name in ("labels", "out", "temporary"):
        (folder / name).mkdir()
    crowd = coterie.simulate("mixed", items=400, annotators=9, labels_per_item=5, random_state=0)
    frame = crowd.annotations.to_frame()
    frame[:900].to_parquet(folder / "labels/a.parquet")
    frame[900:].to_parquet(folder / "labels/b.parquet")
    arguments = (str(folder / "labels/*.parquet"), str(folder / "out"), str(folder / "temporary"))
    command = [sys.executable, "-c", LIMITED, *arguments]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    return done.stdout.splitlines(), folder


def test_a_scan_that_has_no_room_is_one_sentence(told):
    (first, second, *_), folder = told
    assert first.startswith(str(folder / "temporary"))
    for line in (first, second):
        assert line.endswith("cannot be written: File too large"), line


def test_labels_that_have_no_room_are_one_sentence_and_none_is_there(told):
    (_, _, third, left, last), folder = told
    assert "cannot be written: " in third
    assert "File too large" in third
    assert left == "[]"
    assert last == "None"  # there is room again
    assert len(list((folder / "out/labels").glob("part-*.parquet"))) > 3


def test_nothing_is_left_behind(told):
    _, folder = told
    assert list((folder / "temporary").iterdir()) == []
    assert list((folder / "out/shards").rglob("*")) == []
    parts = (folder / "out/labels").iterdir()
    assert all(path.name.startswith("part-") for path in parts)
