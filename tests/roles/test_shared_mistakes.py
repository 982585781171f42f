"""Nobody is called a spammer on what mistakes that everybody shares would overturn: real data."""

import pandas as pd
import pytest

import coterie
from builders.realdata import SHARED
from coterie.report.verdict import kinds_of
from coterie.roles import Kind, Pattern

FOLDER = SHARED / "data" / "zencrowd_us"
MOST_RIGHT = "a0051"
"""Right on 260 of 260 items, where most others are wrong."""


@pytest.fixture(scope="module")
def annotations():
    if not FOLDER.is_dir():
        pytest.skip("the real data sets are not there")
    return coterie.read(FOLDER / "labels.csv", duplicates="keep")


def test_who_is_always_right_is_no_spammer(annotations):
    truth = pd.read_csv(FOLDER / "truth.csv", dtype=str).set_index("item")["label"]
    rows = annotations.to_frame().astype(str)
    own = rows[rows["annotator"] == MOST_RIGHT]
    assert len(own) == 260
    assert (own["label"].to_numpy() == truth[own["item"]].to_numpy()).all()
    model = coterie.Consensus(duplicates="keep", random_state=0, progress=False)
    posterior = model.fit(annotations).posterior_
    table = posterior.annotators()
    l = table.index[table["annotator"] == MOST_RIGHT][0]
    role = posterior.roles().role[l]
    assert (role.pattern, role.or_else) == (Pattern.UNCLEAR, None)
    assert kinds_of(posterior, table)[l] is Kind.UNKNOWN


def test_nor_is_it_so_without_draws(annotations):
    posterior = coterie.QuickConsensus(duplicates="keep").fit(annotations).posterior_
    table = posterior.annotators()
    l = table.index[table["annotator"] == MOST_RIGHT][0]
    assert kinds_of(posterior, table)[l] is Kind.UNKNOWN
