"""Several classes in one problem."""

import pickle

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression

import margins_learn as ml
from conftest import clouds


def risk(loss, model, X, y, multinomial=False):
    """Returns the objective from its definition."""
    scores = X @ model.coef_.T + model.intercept_
    if multinomial:
        of_rows = np.logaddexp.reduce(scores, axis=1) - scores[np.arange(len(y)), y]
    else:
        margins = scores[np.arange(len(y)), y][:, None] - scores
        of_pairs = ml.losses.value(loss, margins.ravel()).reshape(margins.shape)
        of_pairs[np.arange(len(y)), y] = 0
        of_rows = of_pairs.sum(axis=1)
    return of_rows.mean() + model.lambda_ * np.sum(model.coef_**2)


@pytest.mark.parametrize("C", [0.01, 1.0])
def test_multinomial_classes_are_those_of_scikit_learn(C):
    X, y = clouds(150, 4)
    ours = ml.MarginClassifier("logistic", C=C, multi_class="multinomial", tol=1e-10).fit(X, y)
    theirs = LogisticRegression(C=C, tol=1e-10, solver="newton-cg", max_iter=1000).fit(X, y)
    assert ours.status_ == "converged" and ours.coef_.shape == (4, X.shape[1]) and ours.intercept_.shape == (4,)
    np.testing.assert_allclose(ours.coef_, theirs.coef_, atol=1e-5)
    np.testing.assert_allclose(ours.predict_proba(X), theirs.predict_proba(X), atol=1e-5)
    assert ours.objective_[0] == pytest.approx(risk("logistic", ours, X, y, multinomial=True), rel=1e-12)


@pytest.mark.parametrize("loss", ["logistic", "lhs", "hinge", "squared-hinge"])
def test_joint_fits_are_below_their_neighbours(loss):
    X, y = clouds(120, 3)
    model = ml.MarginClassifier(loss, multi_class="joint").fit(X, y)
    value = risk(loss, model, X, y)
    assert model.objective_[0] == pytest.approx(value, rel=1e-12) and model.lower_bound_[0] <= value
    for step in np.random.default_rng(1).normal(size=(20, *model.coef_.shape)):
        other = pickle.loads(pickle.dumps(model))
        moved = model.coef_ + 0.01 * step
        margins = X @ moved.T + model.intercept_
        margins = margins[np.arange(len(y)), y][:, None] - margins
        pairs = ml.losses.value(loss, margins.ravel()).reshape(margins.shape)
        pairs[np.arange(len(y)), y] = 0
        assert pairs.sum(axis=1).mean() + model.lambda_ * np.sum(moved**2) >= other.lower_bound_[0]


def test_cross_validation_and_paths_take_joint_classes():
    X, y = clouds(120, 3)
    for scheme in ("joint", "multinomial"):
        search = ml.MarginClassifierCV("logistic", Cs=[0.1, 1.0], cv=3, multi_class=scheme).fit(X, y)
        peer = LogisticRegression(C=search.best_C_).fit(X, y)
        assert search.score(X, y) > peer.score(X, y) - 0.05 and search.coef_.shape == (3, X.shape[1])
        path = ml.MarginPath("logistic", Cs=[0.1, 1.0], multi_class=scheme).fit(X, y)
        assert path.coefs_.shape == (2, 3, X.shape[1])


def test_refusals_name_what_is_not_there():
    X, y = clouds(60, 3)
    for settings, words in [
        ({"kernel": "gaussian"}, "a kernel"),
        ({"probability": "platt"}, "Platt scaling"),
        ({"solver": "sdca"}, "several classes in one problem"),
        ({"loss": "hinge", "multi_class": "multinomial"}, "loss hinge"),
    ]:
        settings = {"loss": "logistic", "multi_class": "joint"} | settings
        with pytest.raises(ValueError, match=words):
            ml.MarginClassifier(**settings).fit(X, y)
