"""Regression by focused online learning."""

import pickle

import numpy as np
import pytest
from scipy import sparse
from sklearn.exceptions import ConvergenceWarning

from margins_learn import FocusedRegressor, bounds


def rare(n=60):
    """Targets of which one in ten depends on a feature that the others do not have."""
    rng = np.random.default_rng(2)
    X = rng.random((n, 3))
    X[np.arange(n) % 10 > 0, 2] = 0
    return X, 4 + 2 * X @ [0.4, 0.3, 0.5]


def test_every_error_is_small():
    X, y = rare()
    model = FocusedRegressor(0.1).fit(X, y)
    errors = abs(model.predict(X) - y)
    assert model.status_ == "rule-met" and errors.max() <= 0.1 * np.ptp(y)
    assert model.max_error_ == pytest.approx(errors.max()) and model.score(X, y) > 0.8
    assert model.members_.shape == (len(model.intercepts_), 3) and model.target_range_ == (y.min(), y.max())
    assert (np.hypot(np.linalg.norm(model.members_, axis=1), model.intercepts_) <= model.norm_ * (1 + 1e-9)).all()
    # The steps are those of theorem 1 with B = X W sqrt(T).
    largest = np.linalg.norm(np.column_stack([X, np.ones(len(X))]), axis=1).max()
    theorem = bounds.focused_horizon(len(X), model.norm_ * largest * np.sqrt(model.theorem_["steps"]), epsilon=0.1)
    assert abs(theorem["steps"] - model.theorem_["steps"]) <= 1 and theorem["outputs"] == model.theorem_["outputs"]
    assert 0 < model.theorem_["failure"] <= 0.01 * (1 + 1e-6)


def test_inputs_and_limits():
    X, y = rare()
    model = FocusedRegressor(max_steps=500, outputs=9).fit(X, y)
    assert model.n_iter_ <= 500 and model.status_ in ("rule-met", "iteration-limit")
    for other in (sparse.csr_array(X), sparse.coo_array(X)):
        again = FocusedRegressor(max_steps=500, outputs=9).fit(other, y)
        # The draws are the same: norms and products differ by rounding alone.
        np.testing.assert_allclose(again.predict(other), model.predict(X), rtol=1e-9)
    assert np.array_equal(pickle.loads(pickle.dumps(model)).predict(X), model.predict(X))
    assert (model.predict(100 * X - 50) >= y.min()).all() and (model.predict(100 * X) <= y.max()).all()
    origin = FocusedRegressor(0.05, fit_intercept=False).fit(X, X @ [0.4, 0.3, 0.5] - (X @ [0.4, 0.3, 0.5]).min())
    assert not origin.intercepts_.any()
    constant = FocusedRegressor().fit(X, np.full(len(X), 3.0))
    assert np.array_equal(constant.predict(X), np.full(len(X), 3.0))
    with pytest.warns(ConvergenceWarning, match="time limit"):
        assert FocusedRegressor(1e-4, time_limit=0.05).fit(X, y).status_ == "time-limit"


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"epsilon": 2}, "epsilon"),
        ({"norm": -1.0}, "norm"),
        ({"delta": 0}, "delta"),
        ({"max_steps": 0}, "max_steps is 0"),
        ({"outputs": 0}, "outputs is 0"),
        ({"time_limit": -1}, "time_limit is -1"),
    ],
)
def test_refusals(settings, message):
    with pytest.raises(ValueError, match=message):
        FocusedRegressor(**settings).fit(*rare())
    with pytest.raises(ValueError, match="target is inf"):
        FocusedRegressor().fit([[0.0], [1.0]], [0.0, np.inf])
    with pytest.raises(ValueError, match="the range of the targets is from"):
        FocusedRegressor().fit([[0.0], [1.0]], [-1.5e308, 1.5e308])
    with pytest.raises(TypeError, match="outputs is 2.5"):
        FocusedRegressor(outputs=2.5).fit(*rare())


def test_standardised_features_have_no_units():
    X, y = rare()
    model = FocusedRegressor(standardize=True, max_steps=500, outputs=9).fit(X, y)
    scaled = FocusedRegressor(standardize=True, max_steps=500, outputs=9).fit(1000 * X + 5, y)
    np.testing.assert_allclose(scaled.predict(1000 * X + 5), model.predict(X), rtol=1e-9)
    assert np.abs(model.predict(X) - y).max() == pytest.approx(model.max_error_)
    by_hand = np.clip(X @ model.members_.T + model.intercepts_, 0, 1).mean(axis=1)
    np.testing.assert_allclose(y.min() + np.ptp(y) * by_hand, model.predict(X), rtol=1e-12)


def test_the_norm_is_that_of_least_squares():
    X, y = rare()
    targets = (y - y.min()) / np.ptp(y)
    # Years, incomes and shares: features of other scales and far from 0.
    units = X * [30, 1e5, 1] + [1990, 2e4, 0]
    for Z in (X, units, sparse.csr_array(X * [1, 1e5, 1])):
        for standardize in (False, True):
            dense = Z.toarray() if sparse.issparse(Z) else Z
            centre = 0 if sparse.issparse(Z) else dense.mean(axis=0)
            features = (dense - centre) / dense.std(axis=0) if standardize else dense
            solution = np.linalg.lstsq(np.column_stack([features, np.ones(len(X))]), targets)[0]
            model = FocusedRegressor(standardize=standardize, max_steps=5).fit(Z, y)
            assert model.norm_ == pytest.approx(np.linalg.norm(solution), rel=1e-5)
    with pytest.raises(ValueError, match="theorem 1 is .*, but must be at most 1e11: standardise"):
        FocusedRegressor().fit(units, y)
    assert FocusedRegressor(standardize=True).fit(units, y).status_ == "rule-met"


def test_a_number_of_steps_needs_no_theorem():
    model = FocusedRegressor(1e-4, 1000.0, max_steps=500, outputs=9).fit(*rare())
    assert model.theorem_["steps"] is None and model.theorem_["failure"] == 1.0
    with pytest.raises(ValueError, match="number of steps of theorem 1 is more than"):
        FocusedRegressor(1e-4, 1000.0, outputs=9).fit(*rare())


def test_simulated_counts_are_limited():
    for draw in (lambda: bounds.gap_samples(10**9), lambda: bounds.rare_samples(10**9), lambda: bounds.rare_samples(10, 10**9)):
        with pytest.raises(ValueError, match="must be a whole number"):
            draw()


def test_samples_of_section_3():
    X, y = bounds.gap_samples(500, 0.1, 0.2, random_state=3)
    margins = y[:, None] * X
    assert np.array_equal(np.unique(margins, axis=0), [[0.1, -0.2], [0.1, 1.0]]) and 50 < (margins[:, 1] < 0).sum() < 150
    assert np.array_equal(bounds.gap_samples(500, 0.1, 0.2, random_state=3)[0], X)
    X, y = bounds.rare_samples(40, 3)
    assert X.shape == (43, 20) and np.array_equal(X[:, 0], np.where(np.arange(43) < 40, y, -y / 2))
    for call in (lambda: bounds.gap_samples(3), lambda: bounds.gap_samples(alpha=1.5), lambda: bounds.rare_samples(1)):
        with pytest.raises(ValueError):
            call()
