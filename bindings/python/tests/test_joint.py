"""Several classes in one problem."""

import pickle

import numpy as np
import pytest
from scipy.optimize import minimize
from sklearn.linear_model import LogisticRegression
from sklearn.svm import SVC, LinearSVC

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
    assert ours.objective_ == pytest.approx(risk("logistic", ours, X, y, multinomial=True), rel=1e-12)


@pytest.mark.parametrize("loss", ["logistic", "lhs", "hinge", "squared-hinge"])
def test_joint_fits_are_below_their_neighbours(loss):
    X, y = clouds(120, 3)
    model = ml.MarginClassifier(loss, multi_class="joint").fit(X, y)
    value = risk(loss, model, X, y)
    assert model.objective_ == pytest.approx(value, rel=1e-12) and model.lower_bound_ <= value
    for step in np.random.default_rng(1).normal(size=(20, *model.coef_.shape)):
        other = pickle.loads(pickle.dumps(model))
        moved = model.coef_ + 0.01 * step
        margins = X @ moved.T + model.intercept_
        margins = margins[np.arange(len(y)), y][:, None] - margins
        pairs = ml.losses.value(loss, margins.ravel()).reshape(margins.shape)
        pairs[np.arange(len(y)), y] = 0
        assert pairs.sum(axis=1).mean() + model.lambda_ * np.sum(moved**2) >= other.lower_bound_


def test_cross_validation_and_paths_take_joint_classes():
    X, y = clouds(120, 3)
    for scheme in ("joint", "multinomial"):
        search = ml.MarginClassifierCV("logistic", Cs=[0.1, 1.0], cv=3, multi_class=scheme).fit(X, y)
        peer = LogisticRegression(C=search.best_C_).fit(X, y)
        assert search.score(X, y) > peer.score(X, y) - 0.05 and search.coef_.shape == (3, X.shape[1])
        path = ml.MarginPath("logistic", Cs=[0.1, 1.0], multi_class=scheme).fit(X, y)
        assert path.coefs_.shape == (2, 3, X.shape[1]) and path.intercepts_.shape == (2, 3)
        assert path.relative_gaps_.shape == (2, 1) and (path.statuses_ == "converged").all()
        at = path.classifier(1.0)
        assert at.objective_ == path.objectives_[1, 0] and isinstance(search.relative_gap_, float)
        alone = ml.MarginClassifier("logistic", C=1.0, multi_class=scheme).fit(X, y)
        assert at.objective_ == pytest.approx(alone.objective_, rel=2e-6) and np.array_equal(at.predict(X), alone.predict(X))


def test_crammer_and_singer_are_those_of_liblinear():
    X, y = clouds(120, 3)
    settings = {"C": 0.3, "multi_class": "crammer-singer", "fit_intercept": False, "tol": 1e-8}
    ours = ml.MarginClassifier("hinge", **settings).fit(X, y)
    theirs = LinearSVC(C=0.3, multi_class="crammer_singer", fit_intercept=False, tol=1e-8, max_iter=10**5).fit(X, y)
    np.testing.assert_allclose(ours.coef_, theirs.coef_, atol=1e-4)
    assert not hasattr(ours, "predict_proba") and (ours.predict(X) == theirs.predict(X)).mean() > 0.98


def test_crammer_and_singer_have_the_minimum_of_a_convex_solver():
    X, y = clouds(24, 3)
    (n, p), C = X.shape, 0.5
    model = ml.MarginClassifier("hinge", C=C, multi_class="crammer-singer", tol=1e-8).fit(X, y)
    # Variables: an intercept and coefficients of each class, then the slack of each sample.
    def at(v):
        return v[: 3 * (p + 1)].reshape(3, p + 1), v[3 * (p + 1) :]

    def value(v):
        classes, slacks = at(v)
        return slacks.mean() + model.lambda_ * np.sum(classes[:, 1:] ** 2)

    def gradient(v):
        classes, slacks = at(v)
        of_classes = 2 * model.lambda_ * classes
        of_classes[:, 0] = 0
        return np.concatenate([of_classes.ravel(), np.full(n, 1 / n)])

    rows = []
    for i in range(n):
        for c in set(range(3)) - {y[i]}:
            row = np.zeros(3 * (p + 1) + n)
            sample = np.concatenate([[1.0], X[i]])
            row[y[i] * (p + 1) :][: p + 1], row[c * (p + 1) :][: p + 1] = sample, -sample
            row[3 * (p + 1) + i] = 1
            rows.append(row)
    matrix = np.array(rows)
    margins = {"type": "ineq", "fun": lambda v: matrix @ v - 1, "jac": lambda v: matrix}
    bounds = [(None, None)] * (3 * (p + 1)) + [(0, None)] * n
    start = np.concatenate([np.zeros(3 * (p + 1)), np.ones(n)])
    found = minimize(value, start, jac=gradient, bounds=bounds, constraints=margins, method="SLSQP", options={"ftol": 1e-13, "maxiter": 1000})
    assert model.status_ == "converged" and model.objective_ == pytest.approx(found.fun, rel=1e-7)


@pytest.mark.parametrize("approximation", [None, "cholesky:tol=1e-9", "nystrom:m=40", "rff:m=60"])
@pytest.mark.parametrize("scheme", ["joint", "multinomial"])
def test_kernels_take_all_classes_in_one_problem(scheme, approximation):
    X, y = clouds(120, 3)
    settings = {"kernel": "gaussian:sigma=0.3", "approximation": approximation, "multi_class": scheme}
    model = ml.MarginClassifier("logistic", C=1.0, **settings).fit(X, y)
    peer = SVC(C=1.0, gamma=0.3).fit(X, y).score(X, y)
    assert model.status_ == "converged" and model.score(X, y) > peer - 0.1
    p = model.predict_proba(X)
    np.testing.assert_allclose(p.sum(axis=1), 1)
    assert (model.classes_[p.argmax(axis=1)] == model.predict(X)).all()
    other = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(other.decision_function(X), model.decision_function(X))
    settings["kernels"] = settings.pop("kernel")
    search = ml.MarginClassifierCV("logistic", Cs=[0.1, 1.0], cv=3, **settings).fit(X, y)
    assert search.score(X, y) > peer - 0.1


def test_a_precomputed_kernel_takes_all_classes():
    X, y = clouds(90, 3)
    K = np.exp(-0.3 * ((X[:, None] - X[None]) ** 2).sum(axis=2))
    of_matrix = ml.MarginClassifier("lhs", kernel="precomputed", multi_class="joint", tol=1e-9).fit(K, y)
    of_kernel = ml.MarginClassifier("lhs", kernel="gaussian:sigma=0.3", multi_class="joint", tol=1e-9).fit(X, y)
    np.testing.assert_allclose(of_matrix.decision_function(K), of_kernel.decision_function(X), atol=1e-3)
    assert of_matrix.objective_ == pytest.approx(of_kernel.objective_, rel=1e-8)


def test_refusals_name_what_is_not_there():
    X, y = clouds(60, 3)
    for settings, words in [
        ({"probability": "platt"}, "Platt scaling"),
        ({"solver": "sdca"}, "several classes in one problem"),
        ({"loss": "hinge", "multi_class": "multinomial"}, "loss hinge"),
        ({"multi_class": "crammer-singer"}, "loss logistic.*largest hinge"),
    ]:
        settings = {"loss": "logistic", "multi_class": "joint"} | settings
        with pytest.raises(ValueError, match=words):
            ml.MarginClassifier(**settings).fit(X, y)
