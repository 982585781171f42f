"""A bounded run of every kind of case; ``make fuzz`` runs them for an hour."""

import collections
import resource
import signal

import pytest

from fuzz.kinds import KINDS, outcome
from fuzz.saved import MODELS, SLOW, fit, good_checkpoint
from ladder.marks import rest_slow

SECONDS = 60
GIGABYTES = 2.0


@pytest.fixture(autouse=True)
def no_case_hangs(request):
    """Nothing may take so long that a person would give up."""

    def stop(*_):
        pytest.fail("a case that does not end")

    before = signal.signal(signal.SIGALRM, stop)
    yield
    signal.setitimer(signal.ITIMER_REAL, 0)
    signal.signal(signal.SIGALRM, before)


@pytest.mark.filterwarnings("default")
@pytest.mark.parametrize("kind", KINDS)
def test_a_result_or_one_plain_sentence(kind):
    check(kind, KINDS[kind].numbers(slow=False))


@pytest.mark.slow
@pytest.mark.filterwarnings("default")
@pytest.mark.parametrize("kind", ["runs", "checkpoints"])
def test_a_result_or_one_plain_sentence_of_rare_kernels(kind):
    check(kind, KINDS[kind].numbers(slow=True))


def check(kind, numbers):
    found = collections.Counter()
    findings = []
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    for k, number in enumerate(numbers):
        signal.setitimer(signal.ITIMER_REAL, SECONDS * (4 if k < len(MODELS) else 1))
        verdict = outcome(kind, number)
        found[verdict.kind] += 1
        if verdict.finding:
            findings.append(f"{kind} {number}: {verdict.kind}: {verdict.finding}")
    assert not findings, "\n".join(findings[:20])
    assert found["result"] > 0, "every case is refused: they are not cases"
    assert found["refused"] > 0 or kind == "names", "no case is refused: they are not cases"
    grown = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / 1e6
    assert grown < GIGABYTES, f"{grown:.1f} GB for small cases"


@pytest.mark.parametrize(
    "model", rest_slow(MODELS, *(k for k, model in enumerate(MODELS) if model not in SLOW))
)
def test_what_is_not_damaged_goes_on(model, tmp_path):
    (tmp_path / "k").write_bytes(good_checkpoint(model))
    went_on = fit(model, checkpoint=tmp_path / "k")
    assert went_on.run["resumed"]
    whole = fit(model)
    assert (went_on.item_probability == whole.item_probability).all()
    assert (went_on.confusion_mean == whole.confusion_mean).all()
