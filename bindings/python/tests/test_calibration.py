"""Estimates and bounds of calibration: the numbers of Rust arrive under their names."""

import numpy as np
import pandas as pd
import pytest
from scipy import sparse

from margins_learn import MarginClassifier, calibration, losses, simulate


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
    # 24 blocks of at least 41 values.
    assert found.median_of_means_half_width == pytest.approx(2 * np.sqrt(3.0 / 41))
    assert calibration.location(sample[:23], variance_bound=3.0).median_of_means_half_width is None
    other = calibration.location(sample, variance_bound=3.0, random_state=2)
    assert other.interval == found.interval and other.median_of_means != found.median_of_means
    # An estimated variance sets the scale, and proves nothing.
    estimated = calibration.location(sample)
    assert estimated.scale == pytest.approx(np.sqrt(1000 * estimated.variance_bound / (2 * np.log(40))))
    assert estimated.interval is estimated.published_half_width is estimated.median_of_means_half_width is None


def test_location_refuses_what_it_cannot_estimate():
    with pytest.raises(ValueError, match="the bound on the variance estimated from the sample is 0"):
        calibration.location(np.ones(5))
    assert calibration.location(np.ones(5), 1.0).interval is None
    with pytest.raises(ValueError, match="delta is 1"):
        calibration.location([1.0, 2.0], 1.0, delta=1.0)
    with pytest.raises(ValueError, match="changes is -1"):
        calibration.location([1.0, 2.0], 1.0, changes=-1)
    with pytest.raises(ValueError, match="random_state is -1"):
        calibration.location([1.0, 2.0], 1.0, random_state=-1)


LOSS = "margin-pursuit:gamma=1,scale=1"


def test_conditional_risks_have_their_minimum_at_the_minimiser():
    eta = np.linspace(0, 1, 11)
    best, least = losses.population_minimizer(LOSS, eta), calibration.conditional_risk(LOSS, eta)
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
    assert losses.population_minimizer("margin-pursuit:gamma=0.6,scale=1", 0.7) == pytest.approx(roots[1], rel=1e-13)


def test_conditional_risks_refuse_what_is_no_probability():
    with pytest.raises(ValueError, match="1.5"):
        calibration.conditional_risk("hinge", [0.5, 1.5])
    with pytest.raises(ValueError, match="-0.5"):
        calibration.psi("hinge", [-0.5])
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
    assert found["smallest_eigenvalue"] == pytest.approx(np.linalg.eigvalsh(X.T @ X / 400).min())
    assert 0 < found["strong_convexity"] <= found["curvature_at_minimizer"] <= found["smallest_eigenvalue"]
    terms = calibration.margin_pursuit_bound(
        gamma=1.0, scale=20.0, strong_convexity=found["strong_convexity"], input_second_moment=found["input_second_moment"],
        step=found["step"], iterations=found["iterations"], initial_distance=found["minimizer_norm"],
        diameter=2 * found["radius"], samples=400, dimension=3, approximation_error=found["approximation_error"],
        gradient_constant=found["gradient_constant"],
    )  # fmt: skip
    for name in ("optimization_error", "epsilon_star", "statistical_error", "misclassification_bound"):
        assert found[name] == pytest.approx(terms[name])
    # A small scale shows no curvature on the ball, and no bound.
    small = calibration.margin_pursuit_bound_of(X, y, scale=0.5)
    assert small["strong_convexity"] == 0 and small["statistical_error"] is None and small["is_vacuous"]
    # Nor is there one without the minimiser in the ball.
    outside = calibration.margin_pursuit_bound_of(X, y, scale=20.0, radius=0.9 * found["minimizer_norm"])
    assert outside["strong_convexity"] > 0 and outside["iterations"] is None and not outside["is_stationary"]
    for same in (pd.DataFrame(X, columns=list("abc")), sparse.csr_array(X)):
        of_same = calibration.margin_pursuit_bound_of(same, y, scale=20.0)
        assert {name: of_same[name] for name in found} == pytest.approx(found, rel=1e-5)  # tol of the minimiser is 1e-6
    for labels, refused in ((np.zeros(400), "y has one class"), (np.arange(400) % 3, "there are 3 classes")):
        with pytest.raises(ValueError, match=refused):
            calibration.margin_pursuit_bound_of(X, labels)
    with pytest.raises(ValueError, match="Column 'a' does not consist of numbers"):
        calibration.margin_pursuit_bound_of(pd.DataFrame({"a": ["red", "blue"]}), [0, 1])


def test_gradient_descent_without_a_penalty_starts_where_it_is_told():
    rng = np.random.default_rng(7)
    X = rng.standard_normal((200, 3))
    y = X @ [1.0, -0.5, 0.2] + rng.standard_normal(200) > 0
    descent = MarginClassifier("margin-pursuit:gamma=1,scale=2", C=np.inf, solver="gd", fit_intercept=False, tol=1e-6)
    found = descent.fit(X, y, coef_init=[0.3, 0.2, -1.0])
    assert found.n_iter_ > 0 and found.status_ == "rule-met"
    at_origin = 23 / 24 * np.linalg.norm(np.where(y, -1, 1) @ X / 200)  # scale psi(gamma/scale) is 23/24
    assert 0 < found.gradient_norm_ <= 1e-6 * at_origin
    by_lbfgs = MarginClassifier("margin-pursuit:gamma=1,scale=2", C=np.inf, fit_intercept=False, tol=1e-9).fit(X, y)
    np.testing.assert_allclose(found.coef_, by_lbfgs.coef_, atol=2e-6)
    descent.fit(X, y, coef_init=by_lbfgs.coef_, intercept_init=0.0)
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


def test_the_lowest_risk_is_the_mean_of_the_lowest_conditional_risks():
    drawn = simulate.mixture(centres=2, features=4, sigma=0.7, samples=500, random_state=3)
    p = drawn.probabilities
    for loss in ("lhs", "logistic", "l-r:r=3"):
        risks = calibration.conditional_risk(loss, p)
        found = calibration.least_risk(loss, drawn.log_odds)
        # Where p is near 1 the loss without a lower bound needs the log odds.
        near = np.abs(drawn.log_odds) < 10
        assert calibration.least_risk(loss, drawn.log_odds[near])["risk"] == pytest.approx(risks[near].mean(), rel=1e-9)
        assert np.isfinite(found["risk"]) and found["standard_error"] > 0
    assert calibration.least_risk("lhs", [np.inf, 0.0])["risk"] == -np.inf
    share = calibration.share_without_noise(drawn.log_odds, 0.1)
    assert share == pytest.approx((np.abs(2 * p - 1) >= 0.9).mean())
    for refused in (lambda: calibration.least_risk("lhs", [np.nan]), lambda: calibration.share_without_noise([1.0], 2.0)):
        with pytest.raises(ValueError, match="is NaN, but must be a number|delta is 2"):
            refused()


def test_mixtures_have_their_bayes_error():
    first = simulate.mixture(random_state=5)
    assert first.X.shape == (200, 2) and set(first.y.tolist()) == {1.0, -1.0}
    # The best rule errs as often as the Bayes error says, to chance.
    many = simulate.mixture(samples=40_000, random_state=5)
    wrong = np.mean((many.log_odds > 0) != (many.y > 0))
    assert wrong == pytest.approx(many.bayes_error, abs=4 * np.sqrt(many.bayes_error / 40_000))
    assert many.bayes_error == first.bayes_error and many.bayes_error_error < 1e-5
    assert np.mean(np.minimum(many.probabilities, 1 - many.probabilities)) == pytest.approx(many.bayes_error, abs=0.01)
    with pytest.raises(ValueError, match="the number of features is 3, but must be even"):
        simulate.mixture(features=3)
    with pytest.raises(ValueError, match="the deviation is 0"):
        simulate.mixture(sigma=0.0)
    with pytest.raises(ValueError, match="their product must be at most"):
        simulate.mixture(features=10**6, samples=10**6)


@pytest.mark.parametrize("loss", ["lhs", "l-r:r=2", "logistic", "squared", "smoothed-hinge", "margin-pursuit", "dwd"])
def test_functions_of_a_loss_agree_with_each_other(loss):
    u = np.linspace(-3, 3, 61) + 0.0123
    slopes = (losses.derivative(loss, u + 1e-5) - losses.derivative(loss, u - 1e-5)) / 2e-5
    np.testing.assert_allclose(losses.second_derivative(loss, u), slopes, atol=1e-4)
    assert (losses.second_derivative(loss, u) <= losses.curvature(loss) + 1e-12).all()
    lipschitz = losses.lipschitz(loss)
    assert lipschitz is None or (np.abs(losses.derivative(loss, u)) <= lipschitz + 1e-12).all()
    # v - point + step L'(v) = 0 at the proximal point.
    v = losses.proximal(loss, u, 0.7)
    np.testing.assert_allclose(v + 0.7 * losses.derivative(loss, v), u, atol=1e-9)
    low, high = losses.undecided_scores(loss)
    assert losses.probability(loss, low) == pytest.approx(0.5) == losses.probability(loss, high)


def test_functions_of_a_loss_refuse_what_they_cannot_take():
    with pytest.raises(ValueError, match="step is 0.0, but must be a finite number greater than 0"):
        losses.proximal("lhs", 1.0, 0.0)
    with pytest.raises(ValueError, match="point has an infinite number"):
        losses.proximal("lhs", np.inf, 1.0)
    assert np.isnan(losses.proximal("lhs", [np.nan], 1.0)).all()
    assert losses.lipschitz("squared") is None and losses.curvature("hinge") is None
