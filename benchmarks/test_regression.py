"""The check of speed that CI runs: when it fails, and that it measures what it says."""

import json

import pytest

from benchmarks import regression

ON_RECORD = {"ibcc": 0.4, "cbcc": 0.3}


@pytest.fixture
def measured(monkeypatch):
    """Hand ``check`` the shares of one attempt after another; give what it asked for."""
    asked = []

    def answer_with(*attempts):
        answers = iter(attempts)

        def measure(kernels):
            asked.append(tuple(kernels))
            return {name: share for name, share in next(answers).items() if name in kernels}

        monkeypatch.setattr(regression, "KERNELS", tuple(ON_RECORD))
        monkeypatch.setattr(regression, "measure", measure)
        return asked

    return answer_with


def test_a_kernel_is_too_slow_from_one_and_a_half_times_its_share():
    shares = {"ibcc": 0.61, "cbcc": 0.44}
    assert regression.too_slow(shares, ON_RECORD) == ["ibcc"]


def test_what_is_slow_once_is_measured_again_alone(measured):
    asked = measured({"ibcc": 0.4, "cbcc": 0.9}, {"cbcc": 0.3})
    assert regression.check(ON_RECORD) == 0
    assert asked == [("ibcc", "cbcc"), ("cbcc",)]


def test_what_stays_slow_fails_by_name(measured, capsys):
    asked = measured(*[{"ibcc": 0.4, "cbcc": 0.6}] * regression.ATTEMPTS)
    assert regression.check(ON_RECORD) == 1
    assert len(asked) == regression.ATTEMPTS
    complaint = capsys.readouterr().err
    assert "cbcc takes 0.600 of the naive one's time, 0.300 on record: 2.0 times" in complaint
    assert "ibcc" not in complaint


def test_every_kernel_is_on_record():
    record = json.loads(regression.RECORD.read_text())
    assert set(record) == set(regression.KERNELS)
    # A share near zero would pass anything; a loop above 1.5 is slower than before anybody looked.
    # A fit is more than its loops: of a small crowd it takes several times as long.
    assert all(0.01 < share < 1.5 for name, share in record.items() if name != "consensus")
    assert 1 < record["consensus"] < 15
