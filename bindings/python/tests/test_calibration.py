"""Estimates and bounds of calibration: the numbers of Rust arrive under their names."""

import numpy as np
import pytest

from margins_learn import MarginClassifier, calibration


def sample_with_outliers():
    return np.append(np.sin(np.arange(400) * 1.7) + 2.0, np.full(20, 1e4))


def test_location_is_robust_and_has_its_guarantees():
    sample = sample_with_outliers()
    found = calibration.location(sample, 1.0, changes=20)
    assert abs(found.estimate - 2.0) < 0.2 and found.mean > 400.0
    # The outliers are 20 of the values: without them the estimate is in the range.
    lower, upper = found.after_changes
    assert lower <= calibration.location(sample[:400], 1.0).estimate <= upper
    assert lower < found.estimate < upper
    assert found.distance_from_mean >= found.mean - found.estimate
    assert found.roots[0] <= found.estimate <= found.roots[1]
    assert calibration.location(sample, 1.0, changes=210).after_changes is None


def test_location_takes_its_scale_from_the_variance():
    rng = np.random.default_rng(5)
    sample = rng.standard_t(3, 1000)
    found = calibration.location(sample, variance_bound=3.0)
    assert found.scale == pytest.approx(np.sqrt(1000 * 3.0 / (2 * np.log(40))))
    lower, upper = found.interval
    assert lower < 0 < upper
    narrow = calibration.location(sample, variance_bound=3.0, delta=0.5).interval
    assert narrow[1] - narrow[0] < upper - lower
    estimated = calibration.location(sample)
    assert 1.0 < estimated.variance_bound < 12.0
    assert abs(found.median_of_means) < found.median_of_means_half_width


def test_location_refuses_what_it_cannot_estimate():
    with pytest.raises(ValueError, match="the bound on the variance estimated from the sample is 0"):
        calibration.location(np.ones(5))
    assert calibration.location(np.ones(5), 1.0).interval is None
    with pytest.raises(ValueError, match="delta is 1"):
        calibration.location([1.0, 2.0], 1.0, delta=1.0)
    with pytest.raises(ValueError, match="changes is -1"):
        calibration.location([1.0, 2.0], 1.0, changes=-1)


LOSS = "margin-pursuit:gamma=1,scale=1"


def test_conditional_risks_have_their_minimum_at_the_minimiser():
    eta = np.linspace(0, 1, 11)
    best, least = calibration.minimizer(LOSS, eta), calibration.conditional_risk(LOSS, eta)
    np.testing.assert_allclose(calibration.conditional_risk(LOSS, eta, best), least, atol=1e-15)
    scores = np.linspace(-3, 3, 61)[:, None]
    assert (calibration.conditional_risk(LOSS, eta, scores) >= least - 1e-15).all()
    np.testing.assert_allclose(best, -best[::-1], atol=1e-15)
    # Psi is the difference to the risk of score 0.
    psi = calibration.psi(LOSS, 2 * eta[5:] - 1)
    np.testing.assert_allclose(calibration.conditional_risk(LOSS, 0.5) - least[5:], psi, atol=1e-15)


def test_the_minimiser_is_a_root_of_the_double_cube_condition():
    a, g = 0.4, 0.6
    roots = calibration.getroot(1.0, -3 * a * g, -(6 - 3 * g**2), a * (6 * g - g**3))
    assert len(roots) == 3
    assert calibration.minimizer("margin-pursuit:gamma=0.6,scale=1", 0.7) == pytest.approx(roots[1], rel=1e-13)


def test_conditional_risks_refuse_what_is_no_probability():
    with pytest.raises(ValueError, match="The class probability is 1.5"):
        calibration.minimizer("hinge", [0.5, 1.5])
    with pytest.raises(ValueError, match="do not broadcast"):
        calibration.conditional_risk("hinge", [0.1, 0.2], [1.0, 2.0, 3.0])
    with pytest.raises(ValueError, match="every coefficient is 0"):
        calibration.getroot(0, 0, 0, 0)


def test_the_bound_of_data_has_the_terms_of_its_quantities():
    rng = np.random.default_rng(3)
    X = rng.standard_normal((400, 3))
    y = np.where(X[:, 0] + 0.5 * rng.standard_normal(400) > 0, "b", "a")
    found = calibration.margin_pursuit_bound_of(X, y, scale=20.0)
    assert found["input_second_moment"] == pytest.approx((X**2).sum(1).mean())
    assert found["operator_norm"] == pytest.approx(np.linalg.eigvalsh(X.T @ X / 400).max())
    assert 0 < found["strong_convexity"] <= found["curvature_at_minimizer"]
    terms = calibration.margin_pursuit_bound(
        gamma=1.0, scale=20.0, strong_convexity=found["strong_convexity"], input_second_moment=found["input_second_moment"],
        step=found["step"], iterations=int(found["iterations"]), initial_distance=found["minimizer_norm"],
        diameter=2 * found["radius"], samples=400, dimension=3, approximation_error=found["approximation_error"],
        delta=0.025, gradient_constant=found["gradient_constant"],
    )  # fmt: skip
    for name in ("optimization_error", "epsilon_star", "statistical_error", "misclassification_bound"):
        assert found[name] == pytest.approx(terms[name])
    # A small scale shows no curvature on the ball, and no bound.
    small = calibration.margin_pursuit_bound_of(X, y, scale=0.5)
    assert small["strong_convexity"] == 0 and small["statistical_error"] is None and small["is_vacuous"]
    with pytest.raises(ValueError, match="y has 1 classes"):
        calibration.margin_pursuit_bound_of(X, np.zeros(400))


def test_gradient_descent_without_a_penalty_starts_where_it_is_told():
    rng = np.random.default_rng(7)
    X = rng.standard_normal((200, 3))
    y = X @ [1.0, -0.5, 0.2] + rng.standard_normal(200) > 0
    descent = MarginClassifier("margin-pursuit:gamma=1,scale=2", C=np.inf, solver="gd", fit_intercept=False, tol=1e-9)
    found = descent.fit(X, y, coef_init=[0.3, 0.2, -1.0])
    assert found.n_iter_ > 0 and found.status_ in ("rule-met", "stalled")
    by_lbfgs = MarginClassifier("margin-pursuit:gamma=1,scale=2", C=np.inf, fit_intercept=False, tol=1e-9).fit(X, y)
    np.testing.assert_allclose(found.coef_, by_lbfgs.coef_, atol=1e-6)
    descent.set_params(tol=1e-6).fit(X, y, coef_init=by_lbfgs.coef_, intercept_init=0.0)
    assert descent.n_iter_ <= 1  # scikit-learn counts at least one
    with pytest.raises(ValueError, match="the start has 2 coefficients, but the data have 3 features"):
        descent.fit(X, y, coef_init=[1.0, 2.0])
    with pytest.raises(ValueError, match="a start cannot be combined with lambda"):
        MarginClassifier("logistic", C=1.0).fit(X, y, coef_init=[1.0, 2.0, 3.0])


def test_the_bound_of_garg_and_roth_has_its_terms():
    rng = np.random.default_rng(2)
    margins = np.clip(rng.normal(0.7, 0.2, 60_000), -1, 1)
    found = calibration.garg_roth_bound(margins)
    total = found["error"] + found["projection"] + found["complexity"]
    assert found["bound"] == pytest.approx(min(total, 1)) and found["confidence"] == pytest.approx(0.9)
    assert abs(found["error"] - (margins <= 0).mean()) < 0.005
    assert calibration.garg_roth_bound(margins[:100])["is_vacuous"]
    with pytest.raises(ValueError, match="margin 0 is 2"):
        calibration.garg_roth_bound(np.full(10, 2.0))
