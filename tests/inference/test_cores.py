"""Threads for the cores that are ours, not for all that the machine has."""

import os

import pytest

from coterie.inference import cores as counting
from coterie.inference.chains import workers
from coterie.inference.cores import cores, cpu_quota


@pytest.mark.skipif(not hasattr(os, "sched_getaffinity"), reason="no affinity on this system")
def test_only_the_cores_of_the_affinity_count(monkeypatch, tmp_path):
    monkeypatch.setattr(counting, "cpu_quota", lambda: 64)
    monkeypatch.setattr(os, "cpu_count", lambda: 64)
    monkeypatch.setattr(os, "sched_getaffinity", lambda process: {3, 5, 6})
    assert cores() == 3
    assert workers(None, 8) == workers(-1, 8) == 3
    assert workers(None, 2) == 2
    assert workers(5, 8) == 5


def test_a_container_that_gets_less_time_has_fewer_cores(monkeypatch, tmp_path):
    file = tmp_path / "cpu.max"
    for text, wanted in (("150000 100000\n", 2), ("50000 100000\n", 1)):
        file.write_text(text)
        assert cpu_quota(file) == wanted
    file.write_text("max 100000\n")
    assert cpu_quota(file) > 1_000
    monkeypatch.setattr(counting, "cpu_quota", lambda: 1)
    assert cores() == 1
