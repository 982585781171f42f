"""Agreement against published examples, and against the definition written down with pairs."""

from itertools import combinations, permutations

import numpy as np
import pytest

from coterie import metrics
from coterie.data.annotations import Annotations
from coterie.data.codes import encode
from coterie.errors import DataError

# Krippendorff, Computing Krippendorff's Alpha-Reliability (2011): 4 observers, 12 units.
KRIPPENDORFF = """
1 2 3 3 2 1 4 1 2 . . .
1 2 3 3 2 2 4 1 2 5 . 3
. 3 3 3 2 3 4 2 2 5 1 .
1 2 3 3 2 4 4 1 2 5 1 ."""

# Fleiss (1971): 30 patients, 6 psychiatrists, 5 diagnoses; counts by diagnosis.
FLEISS = """
00060 03003 01401 00006 03030 20400 00402 20310 20040 00006 10050 11040 03300 10050 02031
00501 30012 51000 02040 10203 00006 01050 02013 20040 10041 05010 40002 02040 10500 00006"""

# The worked example of the Wikipedia article on Fleiss' kappa: 14 raters, 10 subjects.
FOURTEEN = [
    [0, 0, 0, 0, 14],
    [0, 2, 6, 4, 2],
    [0, 0, 3, 5, 6],
    [0, 3, 9, 2, 0],
    [2, 2, 8, 1, 1],
    [7, 7, 0, 0, 0],
    [3, 2, 6, 3, 0],
    [2, 5, 3, 2, 2],
    [6, 5, 2, 1, 0],
    [0, 2, 2, 3, 7],
]


def annotate(triples, n_items, n_annotators, n_classes, n_extra=0):
    item, annotator, answer = np.array(triples).T
    sizes = (n_items, n_annotators, n_classes, n_classes + n_extra)
    return Annotations(
        np.arange(n_items),
        np.arange(n_annotators),
        np.arange(n_classes),
        np.array([f"extra {c}" for c in range(n_extra)], object),
        encode(item, annotator, answer, sizes=sizes),
    )


def from_counts(counts):
    """Give annotations with these counts of answers, shape (items, answers)."""
    triples = []
    for i, row in enumerate(counts):
        answers = [c for c, count in enumerate(row) for _ in range(count)]
        triples += [(i, l, c) for l, c in enumerate(answers)]
    most = max(sum(row) for row in counts)
    return annotate(triples, len(counts), most, len(counts[0]))


@pytest.fixture
def krippendorff():
    rows = [line.split() for line in KRIPPENDORFF.split("\n")[1:]]
    triples = [
        (i, l, int(label) - 1)
        for l, row in enumerate(rows)
        for i, label in enumerate(row)
        if label != "."
    ]
    return annotate(triples, 12, 4, 5)


@pytest.fixture
def random_crowd():
    """Give a crowd whose items have 0 to 7 labels, with an extra answer and a repeated label."""
    rng = np.random.default_rng(8)
    triples = []
    for i in range(40):
        leaning = rng.dirichlet([0.5, 0.7, 0.9, 0.2])
        for l in rng.permutation(7)[: rng.integers(8)]:
            triples.append((i, l, rng.choice(4, p=leaning)))
    triples.append(triples[0])
    return annotate(triples, 40, 7, 3, n_extra=1)


def by_item(annotations):
    codes = annotations.codes
    rows = [
        codes.item_answer[codes.item_start[i] : codes.item_start[i + 1]].tolist()
        for i in range(annotations.n_items)
    ]
    return [row for row in rows if row]


def slow_alpha(rows):
    """Give alpha from the pairs of labels within items, and the pairs of all labels."""
    rows = [row for row in rows if len(row) > 1]
    n = sum(map(len, rows))
    seen = sum(sum(a != b for a, b in permutations(row, 2)) / (len(row) - 1) for row in rows) / n
    everything = [label for row in rows for label in row]
    expected = sum(a != b for a, b in permutations(everything, 2)) / (n * (n - 1))
    return 1 - seen / expected


def slow_kappa(rows):
    pairs = [[a == b for a, b in combinations(row, 2)] for row in rows if len(row) > 1]
    seen = np.mean([np.mean(pair) for pair in pairs])
    share = [np.mean([row.count(c) / len(row) for row in rows]) for c in range(10)]
    chance = np.square(share).sum()
    return (seen - chance) / (1 - chance)


def test_alpha_of_krippendorffs_example(krippendorff):
    # Published as 0.743; 113/152 exactly.
    assert metrics.krippendorff_alpha(krippendorff) == pytest.approx(113 / 152, rel=1e-12)


def test_kappa_of_fleiss_example():
    counts = [[int(count) for count in row] for row in FLEISS.split()]
    assert np.sum(counts, axis=0).tolist() == [26, 26, 30, 55, 43]  # as printed
    assert metrics.fleiss_kappa(from_counts(counts)) == pytest.approx(0.430, abs=5e-4)


def test_kappa_of_fourteen_raters():
    assert metrics.fleiss_kappa(from_counts(FOURTEEN)) == pytest.approx(0.210, abs=5e-4)


def test_kappa_equals_statsmodels():
    inter_rater = pytest.importorskip("statsmodels.stats.inter_rater")
    expected = inter_rater.fleiss_kappa(np.array(FOURTEEN), method="fleiss")
    assert metrics.fleiss_kappa(from_counts(FOURTEEN)) == pytest.approx(expected, rel=1e-12)


def test_kappa_where_the_number_of_labels_varies(krippendorff):
    # Gwet's irrCAC gives these data a Fleiss' kappa of 0.76117.
    assert metrics.fleiss_kappa(krippendorff) == pytest.approx(0.76117, abs=5e-6)


def test_alpha_and_kappa_equal_their_slow_twins(random_crowd):
    rows = by_item(random_crowd)
    assert {len(row) for row in rows} >= {1, 2, 7}
    assert metrics.krippendorff_alpha(random_crowd) == pytest.approx(slow_alpha(rows), rel=1e-12)
    assert metrics.fleiss_kappa(random_crowd) == pytest.approx(slow_kappa(rows), rel=1e-12)


def test_full_agreement_is_one_and_one_answer_is_nan():
    agreed = from_counts([[3, 0], [0, 2], [4, 0]])
    assert metrics.krippendorff_alpha(agreed) == 1
    assert metrics.fleiss_kappa(agreed) == 1
    dull = from_counts([[3, 0], [2, 0]])
    assert np.isnan(metrics.krippendorff_alpha(dull))
    assert np.isnan(metrics.fleiss_kappa(dull))
    assert np.isnan(metrics.krippendorff_interval(dull, random_state=0)).all()


@pytest.mark.parametrize(
    "measure",
    [metrics.krippendorff_alpha, metrics.fleiss_kappa, metrics.krippendorff_interval],
)
def test_agreement_needs_pairs(measure):
    with pytest.raises(DataError, match="at least two labels"):
        measure(from_counts([[1, 0], [0, 1]]))


def test_interval_quantiles_equal_a_slow_bootstrap(random_crowd):
    rows = [row for row in by_item(random_crowd) if len(row) > 1]
    rng = np.random.default_rng(1)
    slow = [
        slow_alpha([rows[i] for i in rng.integers(len(rows), size=len(rows))]) for _ in range(300)
    ]
    for level in (0.95, 0.5):
        low, high = metrics.krippendorff_interval(
            random_crowd, level=level, resamples=50_000, random_state=2
        )
        # The share of slow resamples below a quantile is binomial.
        for limit, tail in ((low, (1 - level) / 2), (high, (1 + level) / 2)):
            error = np.sqrt(tail * (1 - tail) / len(slow))
            assert np.mean(np.array(slow) <= limit) == pytest.approx(tail, abs=4 * error)


def test_interval_shrinks_with_the_number_of_items(random_crowd):
    rows = by_item(random_crowd)
    triples = [
        (i + 40 * copy, l, c)
        for copy in range(16)
        for i, row in enumerate(rows)
        for l, c in enumerate(row)
    ]
    few = metrics.krippendorff_interval(random_crowd, resamples=20_000, random_state=0)
    crowd = annotate(triples, 640, 8, 4)
    many = metrics.krippendorff_interval(crowd, resamples=20_000, random_state=0)
    # As 1 / sqrt(items), though 40 items are too few for it to be exact.
    assert np.diff(many)[0] == pytest.approx(np.diff(few)[0] / 4, rel=0.15)


def test_interval_is_the_same_for_the_same_seed_and_does_not_depend_on_chunks(
    krippendorff, monkeypatch
):
    whole = metrics.krippendorff_interval(krippendorff, random_state=4)
    assert metrics.krippendorff_interval(krippendorff, random_state=4) == whole
    assert metrics.krippendorff_interval(krippendorff, random_state=5) != whole
    monkeypatch.setattr("coterie.metrics.agreement.CHUNK", 100)
    assert metrics.krippendorff_interval(krippendorff, random_state=4) == whole


@pytest.mark.parametrize("wrong", [{"level": 1.0}, {"level": 0}, {"resamples": 0}])
def test_interval_settings_are_checked(krippendorff, wrong):
    with pytest.raises(DataError, match=next(iter(wrong))):
        metrics.krippendorff_interval(krippendorff, **wrong)
