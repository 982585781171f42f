"""Threads for the cores that are ours, not for all that the machine has."""

import os

import pytest

from coterie.inference import shards as counting
from coterie.inference.shards import cores, cpu_quota


@pytest.mark.skipif(not hasattr(os, "sched_getaffinity"), reason="no affinity on this system")
def test_only_the_cores_of_the_affinity_count(monkeypatch, tmp_path):
    monkeypatch.setattr(counting, "cpu_quota", lambda: 64)
    monkeypatch.setattr(os, "cpu_count", lambda: 64)
    monkeypatch.setattr(os, "sched_getaffinity", lambda process: {3, 5, 6})
    assert cores() == 3
    assert cores(None) == cores(-1) == 3
    assert cores(5) == 5


def test_a_container_that_gets_less_time_has_fewer_cores(monkeypatch, tmp_path):
    file = tmp_path / "cpu.max"
    for text, wanted in (("150000 100000\n", 2), ("50000 100000\n", 1)):
        file.write_text(text)
        assert cpu_quota(file) == wanted
    file.write_text("max 100000\n")
    assert cpu_quota(file) > 1_000
    assert cpu_quota(tmp_path / "no such file") > 1_000_000
    monkeypatch.setattr(counting, "cpu_quota", lambda: 1)
    assert cores() == 1
