"""Dask clusters of this machine, each worker a process of its own."""

import os
import signal
import warnings
from contextlib import contextmanager


def cluster_of(n_workers):
    import distributed

    return distributed.LocalCluster(
        n_workers=n_workers, threads_per_worker=1, dashboard_address=None, silence_logs="CRITICAL"
    )


@contextmanager
def client_of(n_workers):
    import distributed

    with (
        warnings.catch_warnings(action="ignore"),
        cluster_of(n_workers) as cluster,
        distributed.Client(cluster, set_as_default=False) as client,
    ):
        yield client


def kill(client, which=0):
    """End a worker's process at once, as the operating system does."""
    processes = client.run(lambda: os.getpid())
    os.kill(list(processes.values())[which], signal.SIGKILL)
