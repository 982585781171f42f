"""The quick consensus against its formulas written down slowly, and on real data."""

import numpy as np
import pandas as pd
import pytest

import coterie
from builders.realdata import SHARED
from coterie.data.codes import count_votes, encode
from coterie.kernels.quick import intraclass_correlation, quick_consensus
from coterie.kernels.vote import skill_vote
from reference import quick as reference


def problem(seed, n_classes=3, n_answers=3, n_items=14, n_annotators=5):
    """Labels of random items by random annotators: repeated ones, silent items, gold."""
    rng = np.random.default_rng(seed)
    truth = rng.integers(0, n_classes, n_items)
    rows = []
    for _ in range(45):
        i, l = int(rng.integers(n_items - 1)), int(rng.integers(n_annotators))
        said = truth[i] if rng.random() < 0.7 else rng.integers(0, n_answers)
        rows.append((i, l, int(said)))
    gold = np.where(rng.random(n_items) < 0.15, truth, -1).astype(np.int32)
    gold[-1] = -1  # nobody labels the last item
    sizes = (n_items, n_annotators, n_classes, n_answers)
    item, annotator, answer = np.array(rows).T
    return rows, gold, encode(item, annotator, answer, sizes=sizes, gold=gold)


@pytest.mark.exact
@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("sizes", [(2, 2), (3, 3), (3, 4)], ids=str)
def test_it_is_what_the_formulas_say(seed, sizes):
    rows, gold, codes = problem(seed, *sizes)
    expected = reference.consensus(rows, gold, (5, *sizes))
    found = quick_consensus(codes, count_votes(codes))
    np.testing.assert_allclose(found.probability, expected, rtol=1e-9)
    assert found.correlation == pytest.approx(reference.correlation(count_votes(codes)), rel=1e-12)


def test_without_two_labels_of_an_item_the_correlation_is_the_priors():
    assert intraclass_correlation(np.eye(3, dtype=np.int32)) == pytest.approx(1 / (1 + np.e))


def test_one_class_is_certain():
    codes = encode([0, 1], [0, 0], [0, 0], sizes=(2, 1, 1, 1))
    assert quick_consensus(codes, count_votes(codes)).probability.tolist() == [[1.0], [1.0]]


def test_nothing_at_all_is_allowed():
    codes = encode([], [], [], sizes=(0, 0, 2, 2))
    assert quick_consensus(codes, count_votes(codes)).probability.shape == (0, 2)


# The research behind the default; the numbers of that trial, to the digits it printed.
TRIAL = {
    "bluebird": (0.116, 79.63, 0.405, 75.93, 0.481),
    "labelme": (0.686, 78.60, 0.719, 76.60, 0.798),
    "music_genre": (0.230, 80.14, 0.811, 70.42, 1.023),
    "quiz_science": (0.049, 70.00, 1.063, 55.00, 1.158),
    "rte": (0.230, 92.88, 0.248, 89.69, 0.325),
    "weather_amt": (0.323, 86.00, 0.443, 85.33, 0.522),
}


@pytest.mark.parametrize("name", TRIAL)
def test_real_data_give_the_numbers_of_the_trial(name):
    folder = SHARED / "data" / name
    if not folder.exists():
        pytest.skip("the real data are not here")
    truth = pd.read_csv(folder / "truth.csv", dtype=str).set_index("item")["label"]
    frame = pd.read_csv(folder / "labels.csv", dtype=str, keep_default_na=False)
    classes = sorted({*frame["label"], *truth})
    rows = frame[["item", "annotator", "label"]]
    annotations = coterie.read(rows, classes=classes, duplicates="keep")
    quick = coterie.QuickConsensus(duplicates="keep").fit(annotations).posterior_
    vote = coterie.MajorityVote(duplicates="keep").fit(annotations).posterior_
    found = [quick.run["correlation"]]
    for posterior in (quick, vote):
        scored = posterior.score(truth, floor=1e-4)
        found += [100 * scored.accuracy, scored.log_loss]
    digits = (3, 2, 3, 2, 3)
    assert [round(float(x), k) for x, k in zip(found, digits, strict=True)] == list(TRIAL[name])


def test_the_most_voted_class_stays_the_most_probable():
    votes = np.random.default_rng(0).integers(0, 6, (200, 4))
    shares = skill_vote(votes)
    assert (shares.argmax(axis=1) == votes.argmax(axis=1)).all()
    np.testing.assert_allclose(shares.sum(axis=1), 1)
