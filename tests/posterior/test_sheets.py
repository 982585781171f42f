"""The tables of files: every number is one that the posterior gives elsewhere."""

import warnings

import numpy as np
import pandas as pd
import pytest

import coterie
from coterie.posterior.sheets import confusion_sheet, coterie_sheet, label_sheet


@pytest.fixture(scope="module")
def posterior():
    crowd = coterie.simulate("mixed", items=40, annotators=9, random_state=0)
    annotations = coterie.read(crowd.annotations, gold=crowd.truth.iloc[:3])
    model = coterie.CBCC(sweeps=60, burn_in=20, chains=2, random_state=0, progress=False)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", coterie.ConvergenceWarning)
        return model.fit(annotations).posterior_


def test_labels_with_every_class_and_what_to_review(posterior):
    sheet = label_sheet(posterior)
    pd.testing.assert_frame_equal(sheet[posterior.labels().columns], posterior.labels())
    shares = sheet[["p(a)", "p(b)", "p(c)"]].to_numpy()
    np.testing.assert_array_equal(shares, posterior.item_probability)
    assert sheet["review"].tolist() == (sheet["probability"] < 0.8).tolist()
    assert not sheet["review"][:3].any()  # gold


def test_members_by_name(posterior):
    sheet = coterie_sheet(posterior)
    belongs = posterior.annotators().set_index("annotator")["coterie"]
    for row in sheet.itertuples():
        names = row.members.split("; ")
        assert len(names) == row.size
        assert (belongs[names] == row.coterie).all()


def test_matrices_in_rows(posterior):
    sheet = confusion_sheet(posterior)
    own = sheet[sheet["of"] == "annotator"].set_index(["name", "true", "answer"])
    for column, quantile in (("mean", None), ("low", 0.025), ("high", 0.975)):
        wanted = posterior.confusion(quantile=quantile).stack()
        np.testing.assert_allclose(own[column].to_numpy(), wanted.to_numpy())
    counts = own["count"].groupby(level="name").sum()
    assert counts.to_dict() == posterior.annotators().set_index("annotator")["n_labels"].to_dict()
    of_groups = sheet[sheet["of"] == "coterie"]
    for number in posterior.coteries()["coterie"]:
        mine = of_groups[of_groups["name"] == number]
        matrix = posterior.confusion(coterie=number)
        np.testing.assert_allclose(mine["mean"].to_numpy(), matrix.to_numpy().ravel())
    assert of_groups["count"].sum() == posterior.annotations.n_labels
