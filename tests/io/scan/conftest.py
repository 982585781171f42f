"""Every test of a scan runs twice: one process makes the pass, and workers of a cluster do."""

import warnings
from functools import partial

import pytest

import coterie


@pytest.fixture(scope="package")
def client():
    """Two workers that are threads of this process: what a test changes, they see."""
    distributed = pytest.importorskip("distributed")
    with (
        warnings.catch_warnings(action="ignore"),
        distributed.LocalCluster(
            n_workers=2,
            threads_per_worker=1,
            processes=False,
            dashboard_address=None,
            silence_logs="CRITICAL",
        ) as cluster,
        distributed.Client(cluster, set_as_default=False) as client,
    ):
        yield client


@pytest.fixture(autouse=True, params=["alone", "workers"])
def hands(request, monkeypatch):
    if request.param == "workers":
        engine = request.getfixturevalue("client")
        monkeypatch.setattr(coterie, "scan", partial(coterie.scan, engine=engine))
