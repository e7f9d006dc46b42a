"""A local Dask cluster of two processes, and data in partitions."""

from __future__ import annotations

import numpy as np
import pytest

dask = pytest.importorskip("dask")
distributed = pytest.importorskip("dask.distributed")
import dask.array as da  # noqa: E402

ROWS, FEATURES = 600, 5


@pytest.fixture(scope="module")
def client():
    options = {"processes": True, "threads_per_worker": 1, "dashboard_address": None}
    # A worker that was killed comes back, also on a busy machine: by default the cluster gives it up after 15 seconds.
    dask.config.set({"distributed.deploy.lost-worker-timeout": "120s"})
    with distributed.LocalCluster(n_workers=2, **options) as cluster, distributed.Client(cluster) as client:
        yield client


@pytest.fixture(scope="module")
def data():
    random = np.random.default_rng(1)
    X = random.normal(size=(ROWS, FEATURES))
    y = np.where(X @ np.arange(1, FEATURES + 1) + 4 * random.normal(size=ROWS) > 0, "yes", "no")
    return X, y, random.uniform(0.5, 2, size=ROWS)


def split(data, rows=100):
    X, *parts = data
    return [da.from_array(X, chunks=(rows, FEATURES)), *(da.from_array(part, chunks=rows) for part in parts)]


def partitions(*parts, cuts=(60, 60, 250)):
    """Returns partitions as delayed blocks, one of them without rows."""
    return [[dask.delayed(piece) for piece in np.split(part, cuts)] for part in parts]


LANDMARKS = {"approximation": "nystrom:m=50"}
