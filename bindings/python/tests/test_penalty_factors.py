"""Penalty factors, and features without a penalty."""

import numpy as np
import pandas as pd
import pytest
from margins_learn import MarginClassifier, MarginClassifierCV, MarginPath
from scipy import sparse
from scipy.optimize import minimize
from scipy.special import expit


def samples(n=200, p=4, seed=0):
    random = np.random.default_rng(seed)
    X = random.normal(size=(n, p))
    y = np.where(X[:, 0] + np.sin(2 * X[:, 1]) + random.normal(size=n) > 0, "yes", "no")
    return X, y


def least(value_and_gradient, size):
    """Returns the minimum of a convex function by a generic solver."""
    options = {"maxiter": 100000, "maxfun": 1000000, "ftol": 0, "gtol": 1e-12, "maxcor": 50}
    return minimize(value_and_gradient, np.zeros(size), jac=True, method="L-BFGS-B", options=options).fun


@pytest.mark.parametrize("loss", ["logistic", "squared-hinge"])
@pytest.mark.parametrize("factors", [[0, 1, 4, 0.5], [0, 0, 1, 1], [2, 3, 1, 1]])
def test_the_minimum_is_that_of_a_generic_solver(loss, factors):
    X, y = samples()
    sign, n, C = np.where(y == "yes", 1, -1), len(y), 0.3
    weights = np.array(factors, dtype=float)

    def objective(v):
        u = sign * (v[0] + X @ v[1:])
        if loss == "logistic":
            values, slopes = np.logaddexp(0, -u), -expit(-u)
        else:
            values, slopes = np.maximum(0, 1 - u) ** 2, -2 * np.maximum(0, 1 - u)
        pull = sign * slopes / n
        penalty = weights * v[1:]
        return values.mean() + (penalty @ v[1:]) / (2 * n * C), np.r_[pull.sum(), X.T @ pull + penalty / (n * C)]

    fitted = MarginClassifier(loss, C=C, penalty_factors=factors, tol=1e-10).fit(X, y)
    assert fitted.status_ == "converged"
    assert fitted.objective_ == pytest.approx(least(objective, 5), rel=1e-8)


@pytest.mark.parametrize("loss", ["logistic", "squared-hinge"])
def test_a_partially_linear_model_has_the_minimum_of_a_generic_solver(loss):
    X, y = samples(n=120)
    sign, n, C = np.where(y == "yes", 1, -1), len(y), 2.0
    Z, rest = X[:, [0, 3]], X[:, [1, 2]]
    gram = np.exp(-0.5 * ((rest[:, None] - rest[None]) ** 2).sum(axis=2))
    # Coordinates of the kernel.
    values, vectors = np.linalg.eigh(gram)
    kept = values > 1e-13 * values[-1]
    G = vectors[:, kept] * np.sqrt(values[kept])
    design = np.column_stack([np.ones(n), Z, G])
    penalised = np.r_[0, 0, 0, np.ones(G.shape[1])]

    def objective(v):
        u = sign * (design @ v)
        if loss == "logistic":
            values, slopes = np.logaddexp(0, -u), -expit(-u)
        else:
            values, slopes = np.maximum(0, 1 - u) ** 2, -2 * np.maximum(0, 1 - u)
        return values.mean() + (penalised @ v**2) / (2 * n * C), design.T @ (sign * slopes / n) + penalised * v / (n * C)

    fitted = MarginClassifier(loss, C=C, kernel="gaussian:sigma=0.5", penalty_factors={0: 0, 3: 0}, tol=1e-10).fit(X, y)
    assert fitted.status_ == "converged"
    assert fitted.objective_ == pytest.approx(least(objective, design.shape[1]), rel=1e-8)
    # The model is the linear part and the sections of the kernel.
    assert fitted.coef_.shape == (1, 4)
    assert np.all(fitted.coef_[0, [1, 2]] == 0) and np.all(fitted.coef_[0, [0, 3]] != 0)
    sections = fitted.model_.basis["sections"]
    kernel = np.exp(-0.5 * ((rest[:, None] - sections[None]) ** 2).sum(axis=2))
    scores = X @ fitted.coef_[0] + kernel @ fitted.dual_coef_[0] + fitted.intercept_[0]
    np.testing.assert_allclose(fitted.decision_function(X), scores, atol=1e-8)


def test_names_numbers_and_arrays_say_the_same():
    X, y = samples()
    frame = pd.DataFrame(X, columns=["age", "dose", "size", "year"])
    array = MarginClassifier("logistic", penalty_factors=[0, 1, 2, 1]).fit(X, y)
    for other in (
        MarginClassifier("logistic", penalty_factors={0: 0, 2: 2}).fit(X, y),
        MarginClassifier("logistic", penalty_factors={"age": 0, "size": 2.0}).fit(frame, y),
        MarginClassifier("logistic", penalty_factors=np.array([0, 1, 2, 1])).fit(sparse.csr_matrix(X), y),
        MarginClassifier("logistic", penalty_factors={"age": 0, "size": 2.0}, encode=True).fit(frame, y),
    ):
        np.testing.assert_allclose(other.coef_, array.coef_, atol=1e-6)


def test_a_column_of_words_has_one_factor():
    X, y = samples()
    frame = pd.DataFrame({"town": np.array(["Bern", "Basel", "Zug"])[np.arange(200) % 3], "dose": X[:, 0]})
    free = MarginClassifier("logistic", C=1e-6, encode=True, penalty_factors={"town": 0}).fit(frame, y)
    # Without a penalty the levels have the shares of their classes, whatever C.
    shares = (y == "yes").astype(float)
    for level in range(3):
        rows = np.arange(200) % 3 == level
        assert free.predict_proba(frame)[rows, 1].mean() == pytest.approx(shares[rows].mean(), abs=1e-3)


def test_paths_and_cross_validation_take_factors():
    X, y = samples()
    path = MarginPath("logistic", Cs=[1e-4, 1.0], penalty_factors=[0, 1, 1, 1]).fit(X, y)
    assert set(path.statuses_.ravel()) == {"converged"}
    smallest_C = path.coefs_.reshape(2, 4)[0]
    assert abs(smallest_C[0]) > 0.3 > abs(smallest_C[1])
    for kernel in (None, ["gaussian:sigma=0.5"]):
        found = MarginClassifierCV("hinge", kernels=kernel, Cs=[1e-3, 1.0], cv=3, penalty_factors=[0, 1, 1, 1]).fit(X, y)
        assert found.status_ == "converged"
        assert found.score(X, y) > 0.6


@pytest.mark.parametrize(
    ("factors", "words"),
    [
        ([1, 2], "penalty_factors has shape"),
        ([1, -1, 1, 1], "penalty factor of feature 2 is -1"),
        ({"age": 0}, "no such feature"),
        ({7: 0}, "no such feature"),
    ],
)
def test_wrong_factors_are_refused(factors, words):
    X, y = samples()
    with pytest.raises(ValueError, match=words):
        MarginClassifier("logistic", penalty_factors=factors).fit(X, y)


def test_features_that_separate_have_no_minimum():
    X, y = samples()
    X[:, 0] = np.where(y == "yes", 1.0, -1.0)
    with pytest.warns(UserWarning, match="no-minimum|no minimum"):
        fitted = MarginClassifier("logistic", penalty_factors=[0, 1, 1, 1]).fit(X, y)
    assert fitted.status_ == "no-minimum"
    with pytest.warns(UserWarning, match="let the objective decrease without bound along .* feature 1"):
        MarginPath("logistic", penalty_factors=[0, 1, 1, 1]).fit(X, y)
    assert MarginClassifier("hinge", penalty_factors=[0, 1, 1, 1]).fit(X, y).status_ == "converged"


def test_onnx_has_the_features_beside_a_kernel():
    onnxruntime = pytest.importorskip("onnxruntime")
    pytest.importorskip("onnx")
    from margins_learn.onnx import to_onnx

    X, y = samples(n=80)
    fitted = MarginClassifier("logistic", kernel="gaussian:sigma=0.5", standardize=True, penalty_factors=[0, 1, 1, 0]).fit(X, y)
    session = onnxruntime.InferenceSession(to_onnx(fitted).SerializeToString())
    labels, scores = session.run(None, {"X": X})[:2]
    assert (labels == fitted.predict(X)).all()
    np.testing.assert_allclose(scores.ravel(), fitted.decision_function(X), atol=1e-9)
