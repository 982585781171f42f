"""The journal of a study: lines are whole, whatever happens to the disk."""

import resource
import signal

import pytest

from coterie.errors import DataError
from coterie.studies.journal import Journal


def test_a_line_that_does_not_fit_is_not_begun_and_the_file_is_named(tmp_path):
    journal = Journal(tmp_path)
    journal.add("fit", {"job": "a", "found": 1})
    before = (tmp_path / "fit.jsonl").read_bytes()
    limits, heard = resource.getrlimit(resource.RLIMIT_FSIZE), signal.getsignal(signal.SIGXFSZ)
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (len(before) + 10, limits[1]))
    try:
        with pytest.raises(DataError, match=r"fit\.jsonl cannot be written"):
            journal.add("fit", {"job": "b", "found": list(range(100))})
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
        signal.signal(signal.SIGXFSZ, heard)
    assert (tmp_path / "fit.jsonl").read_bytes() == before
    assert "b" not in journal
    journal.add("fit", {"job": "b", "found": 2})
    assert Journal(tmp_path).lines.keys() == {"a", "b"}
