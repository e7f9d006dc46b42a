"""Fits to partitions that actors of Ray hold. The tests are left out where Ray is not installed."""

from __future__ import annotations

import inspect

import numpy as np
import pytest

import margins_learn as local

ray = pytest.importorskip("ray", reason="Ray is not installed: what it does with the messages of shards is not tested")

import margins_learn.ray as elsewhere  # noqa: E402


@pytest.fixture(scope="module")
def parts():
    ray.init(num_cpus=2, include_dashboard=False, logging_level="ERROR")
    random = np.random.default_rng(1)
    X = random.normal(size=(600, 5))
    y = np.where(X @ np.arange(1, 6) + 4 * random.normal(size=600) > 0, "yes", "no")
    yield X, y, *([ray.put(piece) for piece in np.split(part, (60, 60, 250))] for part in (X, y))
    ray.shutdown()


def test_constructors_are_the_local_ones_but_for_client():
    for name in elsewhere.__all__:
        own = dict(inspect.signature(getattr(elsewhere, name)).parameters)
        assert own.pop("client").default is None
        assert own == dict(inspect.signature(getattr(local, name)).parameters)


@pytest.fixture(scope="module")
def by_two(parts):
    _, _, *blocks = parts
    return elsewhere.MarginClassifier("logistic", tol=1e-12, client=2).fit(*blocks)


def test_fits_are_the_local_ones(parts, by_two):
    X, y, *blocks = parts
    here = local.MarginClassifier("logistic", tol=1e-12).fit(X, y)
    one = elsewhere.MarginClassifier("logistic", tol=1e-12, client=1).fit(*blocks)
    assert by_two.objective_ == pytest.approx(here.objective_, rel=2e-12) and by_two.status_ == "converged"
    assert (one.coef_ == by_two.coef_).all()
    assert type(by_two.to_local()) is local.MarginClassifier


def test_kernels_on_landmarks_are_the_local_ones(parts):
    X, y, *blocks = parts
    settings = {"loss": "logistic", "tol": 1e-9, "kernel": "gaussian:sigma=0.1", "approximation": "nystrom:m=50"}
    here = local.MarginClassifier(**settings).fit(X, y)
    there = elsewhere.MarginClassifier(client=2, **settings).fit(*blocks)
    assert there.objective_ == pytest.approx(here.objective_, rel=2e-9) and there.kernel_ == here.kernel_
    assert type(there.to_local()) is local.MarginClassifier and (there.to_local().predict(X) == here.predict(X)).mean() > 0.99


def test_an_actor_that_dies_changes_no_bit(parts, by_two):
    _, _, *blocks = parts
    classifier = elsewhere.MarginClassifier("logistic", tol=1e-12, client=2)

    def kill(iteration):
        if iteration["iteration"] == 2:
            ray.kill(next(iter(classifier._engine._actors.values())))

    classifier.set_params(callback=kill).fit(*blocks)
    assert (classifier.coef_ == by_two.coef_).all()


def test_what_is_wrong_is_named(parts):
    X, y, blocks, labels = parts
    for wrong, message in (((blocks, labels[:3]), "X has 4 partitions, y has 3"), ((blocks, labels[::-1]), "partition 0: X has 60 rows, but y has 350")):
        with pytest.raises(ValueError, match=message):
            elsewhere.MarginClassifier("logistic").fit(*wrong)
    with pytest.raises(TypeError, match="X is a ndarray"):
        elsewhere.MarginClassifier("logistic").fit(X, y)
    bad = X.copy()
    bad[70, 3] = np.nan
    pieces = [ray.put(piece) for piece in np.split(bad, (60, 60, 250))]
    with pytest.raises(ValueError, match="partition 2: .*row 10"):
        elsewhere.MarginClassifier("logistic").fit(pieces, labels)
    for client in (-1, 0, 1.5):
        with pytest.raises(ValueError, match=f"client is {client}, but must be a whole number from 1"):
            elsewhere.MarginClassifier("logistic", client=client).fit(blocks, labels)


def test_folds_are_named_and_kept(parts):
    X, y, *blocks = parts
    folds = np.array([7, 9, 2**33])[np.arange(len(y)) % 3]
    settings = {"lambdas": [1e-1, 1e-2], "tol": 1e-9, "scoring": "roc_auc"}
    search = elsewhere.MarginClassifierCV("logistic", client=2, **settings)
    search.fit(*blocks, folds=[ray.put(piece) for piece in np.split(folds, (60, 60, 250))])
    here = local.MarginClassifierCV("logistic", cv=np.arange(len(y)) % 3, **settings).fit(X, y)
    assert search.path_["mean_measure"] == pytest.approx(here.path_["mean_measure"], abs=1e-12)
    assert search.errors_ == pytest.approx(here.errors_, abs=1e-12) and (search.folds_ == here.folds_).all()
