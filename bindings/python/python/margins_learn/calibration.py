"""Bounds of the misclassification risk by a surrogate risk, and robust estimates of location."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from . import _native
from ._base import Fitting
from ._labels import weights_of
from ._settings import LARGEST_COUNT, count_of, number_of, seed_of, text_of
from ._values import array_of, floats_of, refuse_complex
from .losses import over_array

# What a bound counts; all else that it takes are numbers.
_COUNTS = ("iterations", "samples", "dimension")

__all__ = [
    "Location",
    "MarginLocation",
    "conditional_risk",
    "garg_roth_bound",
    "getroot",
    "is_calibrated",
    "least_risk",
    "location",
    "margin_location",
    "margin_pursuit_bound",
    "margin_pursuit_bound_of",
    "psi",
    "psi_inverse",
    "reliability",
    "share_without_noise",
]


def psi(loss: str, at: Any) -> np.ndarray | float:
    """Returns the Psi-transform: the lowest excess surrogate risk at an excess misclassification risk.

    Both are excesses over the lowest risks of all measurable functions, not of a class of functions.

    Parameters
    ----------
    loss : str
        Loss: a name or `name:parameter=value,...`, such as `"hinge"` or `"margin-pursuit:gamma=1,scale=2"`.
        A loss that is not calibrated is a ValueError with the reason.
    at : float or array of any shape, in [0, 1]
        Excess misclassification risks.

    Returns
    -------
    values : float or array of the shape of at
        The lowest excess surrogate risks.

    Examples
    --------
    >>> from margins_learn import calibration
    >>> round(calibration.psi("logistic", 0.2), 4)
    0.0201
    """
    _refuse(at, lambda risks: (risks >= 0) & (risks <= 1), "in [0, 1]")
    return over_array(_native.psi, loss, at, "at")


def psi_inverse(loss: str, at: Any) -> np.ndarray | float:
    """Returns the largest excess of the misclassification risk over the Bayes error at an excess surrogate risk.

    The excess surrogate risk is the excess over the minimum of all measurable functions, not of a class of functions.

    Parameters
    ----------
    loss : str
        Loss: a name or `name:parameter=value,...`, such as `"hinge"` or `"margin-pursuit:gamma=1,scale=2"`.
        A loss that is not calibrated is a ValueError with the reason.
    at : float or array of any shape, at least 0
        Excess surrogate risks.

    Returns
    -------
    values : float or array of the shape of at
        The largest excess misclassification risks.

    Examples
    --------
    >>> from margins_learn import calibration
    >>> round(calibration.psi_inverse("logistic", 0.02), 3)
    0.199
    """
    _refuse(at, lambda risks: risks >= 0, "at least 0")
    return over_array(_native.psi_inverse, loss, at, "at")


def conditional_risk(loss: str, eta: Any, score: Any = None) -> np.ndarray | float:
    """Returns the expected loss `eta L(score) + (1 - eta) L(-score)` at class probabilities, by default the lowest.

    Parameters
    ----------
    loss : str
        Loss: a name or `name:parameter=value,...`, such as `"hinge"` or `"margin-pursuit:gamma=1,scale=2"`.
    eta : float or array of any shape, in [0, 1]
        Probabilities of the positive class.
    score : float, array that broadcasts with eta, or None, default=None
        Scores. Default: the lowest risk of all scores, `H(eta)`, in closed form for margin pursuit.

    Returns
    -------
    risks : float or array of the shape of eta and score
        The conditional risks; minus infinity where the risk has no lower bound.

    Examples
    --------
    >>> from margins_learn import calibration
    >>> round(calibration.conditional_risk("logistic", 0.3), 4), calibration.conditional_risk("hinge", 0.3, 1.0)
    (0.6109, 1.4)
    """
    loss = text_of(loss, "loss")
    _refuse(eta, lambda shares: (shares >= 0) & (shares <= 1), "in [0, 1]", "class probability", "eta")
    if score is None:
        return over_array(lambda name, at: _native.conditional_risk(name, at, None), loss, eta, "eta")
    shares, scores = floats_of(eta, "eta"), floats_of(score, "score")
    if np.isnan(scores).any():
        raise ValueError("The score is nan, but must be a number.")
    try:
        shares, scores = np.broadcast_arrays(shares, scores)
    except ValueError:
        raise ValueError(f"eta has the shape {shares.shape} and score {scores.shape}, which do not broadcast.") from None
    values = _native.conditional_risk(loss, np.ascontiguousarray(shares).ravel(), np.ascontiguousarray(scores).ravel())
    return values.reshape(shares.shape) if shares.ndim else float(values[0])


def least_risk(loss: str, log_odds: Any) -> dict[str, float]:
    """Estimates the lowest risk of a loss over all functions from the log odds of the classes at samples.

    Excess surrogate risks are excesses over this number. A loss without a lower bound, such as the leaky hockey stick, may have
    the lowest risk minus infinity, and then no excess bounds anything.

    Parameters
    ----------
    loss : str
        Loss: a name or `name:parameter=value,...`, such as `"hinge"` or `"margin-pursuit:gamma=1,scale=2"`.
    log_odds : array of shape (n,)
        Logarithms of the odds of the positive class; infinite ones are certain.

    Returns
    -------
    estimate : dict
        The `risk` and its `standard_error`, which is NaN for one sample or an infinite risk.

    Examples
    --------
    >>> from margins_learn import calibration, simulate
    >>> drawn = simulate.mixture(samples=2000)
    >>> estimate = calibration.least_risk("lhs", drawn.log_odds)
    >>> estimate["risk"] < 0, 0 < estimate["standard_error"] < 2
    (True, True)
    >>> calibration.least_risk("lhs", [0.0, float("inf")])["risk"]
    -inf
    """
    risk, error = _native.least_risk(text_of(loss, "loss"), _log_odds(log_odds))
    return {"risk": risk, "standard_error": error}


def share_without_noise(log_odds: Any, delta: float) -> float:
    """Returns `g(delta)`, the share of samples with a class probability p with `|2p - 1| >= 1 - delta`: with hardly any label noise.

    Parameters
    ----------
    log_odds : array of shape (n,)
        Logarithms of the odds of the positive class; infinite ones are certain.
    delta : float in (0, 1]
        Level of the noise.

    Returns
    -------
    share : float
        The share.

    Examples
    --------
    >>> from margins_learn import calibration
    >>> calibration.share_without_noise([0.0, 2.0, -2.0, 5.0], 0.1)
    0.25
    """
    return _native.share_without_noise(_log_odds(log_odds), number_of(delta, "delta"))


def _log_odds(log_odds: Any) -> np.ndarray:
    """Returns log odds for the native module."""
    log_odds = floats_of(log_odds, "log_odds")
    if log_odds.ndim != 1:
        raise ValueError(f"log_odds has the shape {log_odds.shape}, but must have one dimension.")
    return np.ascontiguousarray(log_odds)


def getroot(a: float, b: float, c: float, d: float) -> np.ndarray:
    """Returns the real roots of `a u^3 + b u^2 + c u + d`, ascending, multiple ones once.

    Parameters
    ----------
    a, b, c, d : float
        Coefficients, not all of them 0. A leading 0 makes it a quadratic, two a linear equation.

    Returns
    -------
    roots : array of shape (0,) to (3,)
        The roots.

    Examples
    --------
    >>> from margins_learn import calibration
    >>> calibration.getroot(1.0, 1.0, -10.0, 8.0).tolist()
    [-4.0, 1.0, 2.0]
    """
    return _native.getroot(*(number_of(given, name) for given, name in ((a, "a"), (b, "b"), (c, "c"), (d, "d"))))


def is_calibrated(loss: str) -> bool:
    """Returns whether a small excess surrogate risk implies a small excess misclassification risk.

    Parameters
    ----------
    loss : str
        Loss: a name or `name:parameter=value,...`, such as `"hinge"` or `"margin-pursuit:gamma=1,scale=2"`.

    Returns
    -------
    calibrated : bool
        True if the loss is calibrated.

    Examples
    --------
    >>> from margins_learn import calibration
    >>> calibration.is_calibrated("hinge"), calibration.is_calibrated("garg-roth")
    (True, False)
    """
    return _native.not_calibrated(text_of(loss, "loss")) is None


@dataclass(frozen=True)
class Location:
    """A robust estimate of location with its guarantees, as `location` returns it.

    Attributes
    ----------
    estimate : float
        Catoni's M-estimate: the root t of `sum psi((t - x_i)/s) = 0`, or the middle of its roots.
    roots : tuple of float
        The smallest and the largest root of its equation.
    scale : float
        The scale s that it was found at.
    interval : tuple of float or None
        The interval that holds the mean of the distribution with probability 1 - delta; None without a given
        `variance_bound`, or if the sample is too short or the scale too small.
    published_half_width : float or None
        The half width of the interval as published, by lemma 6 of Holland (2019), and by (6) if the scale was given; None
        without a given `variance_bound`.
    variance_bound : float or None
        The bound on the variance, or an estimate that only sets the scale; None if there is neither.
    mean, median : float
        The mean and the median of the sample.
    distance_from_mean : float
        A bound on the distance between the estimate and the mean of the sample.
    after_changes : tuple of float or None
        The interval that the estimate stays in if `changes` values are replaced by any others; None for half of the
        values or more.
    stability_bound : float or None
        The bound on the shift of the estimate if one value is replaced (proposition 4); None if too few values are near.
    median_of_means : float
        The median of means in `ceil(8 log(1/delta))` random blocks, at most one per value.
    median_of_means_half_width : float or None
        The half width of an interval around it that holds the mean of the distribution with probability 1 - delta; None
        without a given `variance_bound`, or with fewer values than blocks.
    """

    estimate: float
    roots: tuple[float, float]
    scale: float
    interval: tuple[float, float] | None
    published_half_width: float | None
    variance_bound: float | None
    mean: float
    median: float
    distance_from_mean: float
    after_changes: tuple[float, float] | None
    stability_bound: float | None
    median_of_means: float
    median_of_means_half_width: float | None


@dataclass(frozen=True)
class MarginLocation:
    """The location of margins beside the level gamma that margin pursuit aims at.

    Attributes
    ----------
    gamma, scale : float
        The level gamma and the scale s of the loss.
    estimate : float
        Catoni's M-estimate at that scale: the root t of `sum c_i psi((t - u_i)/s) = 0`, c the weights, or the middle of
        its roots.
    attained : bool
        Whether the estimate is within `gamma/10` of gamma (Holland 2019, remark 1).
    variance_bound : float or None
        The bound on the variance of the margins that the interval has, estimated: twice the median, over blocks, of the
        mean of `(u_i - u_j)^2/2` over pairs. None if it cannot be estimated, and where weights differ.
    interval : tuple of float or None
        The interval of confidence 95 % for the mean of the distribution of margins, if its variance is at most
        `variance_bound` and the classifier does not depend on these samples (remark 7). None without that bound, if the
        scale is too small for it, or the margins are too few.
    mean, variance, skewness : float
        The moments of the margins, by weight.
    """

    gamma: float
    scale: float
    estimate: float
    attained: bool
    variance_bound: float | None
    interval: tuple[float, float] | None
    mean: float
    variance: float
    skewness: float


def location(
    sample: Any,
    scale: float | None = None,
    *,
    variance_bound: float | None = None,
    delta: float = 0.05,
    changes: int = 1,
    random_state: Any = None,
) -> Location:
    """Returns Catoni's M-estimate of the location of a sample, such as margins, with its guarantees.

    Parameters
    ----------
    sample : array of shape (n,)
        The sample.
    scale : float or None, default=None
        The scale s, in the unit of the sample: the estimate is near the median for a small s and near the mean for a
        large one. Default: `sqrt(n v/(2 log(2/delta)))` for the bound v on the variance.
    variance_bound : float or None, default=None
        A bound on the variance of the distribution. Default: no interval, and a scale by an estimate: twice the median, over
        blocks, of the mean of `(x - y)^2/2` over pairs of values.
    delta : float in (0, 1), default=0.05
        The probability with which each interval may fail.
    changes : int, default=1
        The number of values that may be replaced by any others.
    random_state : int, RandomState or None, default=None
        Seed of the random blocks. Default: 1.

    Returns
    -------
    location : Location
        The estimate with its interval, stability and bias.

    Examples
    --------
    >>> from margins_learn import calibration
    >>> found = calibration.location([1.0, 2.0, 3.0, 1000.0], scale=1.0)
    >>> round(found.estimate, 2), found.mean
    (2.5, 251.5)
    """
    sample = floats_of(sample, "sample")
    if sample.ndim != 1:
        raise ValueError(f"sample has the shape {sample.shape}, but must have one dimension.")
    scale, variance_bound = (
        None if given is None else number_of(given, name) for name, given in (("scale", scale), ("variance_bound", variance_bound))
    )
    numbers = number_of(delta, "delta"), count_of(changes, "changes", 0, LARGEST_COUNT), seed_of(random_state)
    return Location(**_native.location(np.ascontiguousarray(sample), scale, variance_bound, *numbers))


def margin_location(margins: Any, gamma: float, scale: float, *, sample_weight: Any = None) -> MarginLocation:
    """Returns the location of margins at the scale of the margin-pursuit loss, beside the level gamma that it aims at.

    For the margins of samples that the classifier was not fitted to. After a fit, `margin_location_` is that of the
    training samples.

    Parameters
    ----------
    margins : array of shape (n,)
        The margins `y f(x)`, y = +1 or -1.
    gamma, scale : float > 0
        The level gamma and the scale s of the loss.
    sample_weight : array of shape (n,) or None, default=None
        The weights of the samples, 1 for None. Those of weight 0 do not count.

    Returns
    -------
    location : MarginLocation
        The estimate with its interval and the moments of the margins.

    Examples
    --------
    >>> from margins_learn import calibration
    >>> small, large = (calibration.margin_location([1.0, 1.0, -1.0], 1.0, scale) for scale in (0.01, 100.0))
    >>> small.attained, large.attained, round(small.estimate, 4)
    (True, False, 0.9951)
    """
    margins = floats_of(margins, "margins")
    if margins.ndim != 1:
        raise ValueError(f"margins has the shape {margins.shape}, but must have one dimension.")
    weights = weights_of(sample_weight, margins, zeros=True)
    numbers = number_of(gamma, "gamma"), number_of(scale, "scale")
    return MarginLocation(**_native.margin_location(np.ascontiguousarray(margins), weights, *numbers))


def margin_pursuit_bound(
    *,
    gamma: float,
    scale: float,
    strong_convexity: float,
    input_second_moment: float,
    step: float,
    iterations: int,
    initial_distance: float,
    diameter: float,
    samples: int,
    dimension: int,
    approximation_error: float,
    delta: float = 0.025,
    gradient_constant: float = 0.5,
    operator_norm_moment: float | None = None,
) -> dict[str, float]:
    """Returns every term of the bound on the risk of margin pursuit by gradient descent.

    Parameters
    ----------
    gamma : float > 0
        Margin level of the loss.
    scale : float > 0
        Scale of the loss.
    strong_convexity, input_second_moment, step, initial_distance, diameter : float
        Quantities of these names in theorem 11 of Holland (2019).
    iterations, samples, dimension : int
        Steps of gradient descent, number of samples and number of features.
    approximation_error : float >= 0
        Expected loss of the best linear function, less the infimum over all measurable functions. It is 0 if a linear
        function is best of all; the expected loss of any linear function is an upper bound.
    delta : float in (0, 1/2), default=0.025
        The bound holds with probability at least 1 - 2 delta.
    gradient_constant : float, default=0.5
        Constant of the estimate of the gradient in theorem 11.
    operator_norm_moment : float or None, default=None
        Moment of the operator norm in theorem 11. Default: `input_second_moment`.

    Returns
    -------
    terms : dict of str to float
        The terms. `excess_over_linear` bounds the expected loss above the expected loss of the best linear function,
        `misclassification_bound` the misclassification risk above the Bayes error. Names that begin with `sound_` belong
        to the corrected proof.

    Examples
    --------
    >>> from margins_learn import calibration
    >>> terms = calibration.margin_pursuit_bound(
    ...     gamma=1.0, scale=1.0, strong_convexity=0.1, input_second_moment=1.0, step=0.1, iterations=100,
    ...     initial_distance=1.0, diameter=2.0, samples=10**6, dimension=2, approximation_error=0.0)
    >>> round(terms["excess_over_linear"], 2)
    0.17
    """
    given = locals() | {"operator_norm_moment": input_second_moment if operator_norm_moment is None else operator_norm_moment}
    numbers: Any = {
        name: count_of(number, name, 0, LARGEST_COUNT) if name in _COUNTS else number_of(number, name) for name, number in given.items()
    }
    gamma = numbers.pop("gamma")
    return _native.misclassification_bound(numbers, gamma)


def margin_pursuit_bound_of(
    X: Any, y: Any, *, gamma: float = 1.0, scale: float = 1.0, radius: float | None = None, delta: float = 0.025
) -> dict[str, Any]:
    """Estimates every term of the bound on the risk of margin pursuit from data, as `margins bound` does.

    The bound is theorem 11 of Holland (2019), for gradient descent from 0 without intercept and penalty. Constants that
    rows estimate prove nothing, and the bound is vacuous for most data: the terms show why.

    Parameters
    ----------
    X : array, sparse matrix or data frame of shape (n, d)
        Features.
    y : array of shape (n,)
        Labels of two classes.
    gamma, scale : float > 0, default=1.0
        Margin level and scale of the loss.
    radius : float or None, default=None
        Radius of the ball of parameters (assumption A0). Default: twice the norm of the minimiser.
    delta : float in (0, 1/2), default=0.025
        The bound holds with probability 1 - 2 delta.

    Returns
    -------
    terms : dict
        The estimates `input_second_moment` (v_X), `smallest_eigenvalue` and `operator_norm` (of the mean of x x'),
        `minimizer_norm` and `is_stationary` (A1), `strong_convexity` (kappa of A2 on the ball, remark 10),
        `curvature_at_minimizer`, `gradient_constant` (c of A3), `approximation_error`, and the terms of
        `margin_pursuit_bound`, which are None if kappa is 0 or the minimiser is outside of the ball; `is_vacuous` if the
        bound allows any error.

    Examples
    --------
    >>> from margins_learn import calibration
    >>> X = [[1.0, 0.2], [0.8, -0.3], [-0.9, 0.1], [-1.1, -0.2]]
    >>> terms = calibration.margin_pursuit_bound_of(X, [1, 1, 0, 0], scale=10.0)
    >>> round(terms["input_second_moment"], 2), terms["is_vacuous"]
    (0.96, True)
    """
    radius = None if radius is None else number_of(radius, "radius")
    numbers = number_of(gamma, "gamma"), number_of(scale, "scale"), radius, number_of(delta, "delta")
    return _native.estimated_bound(Fitting()._data(X, y, None), *numbers)


def garg_roth_bound(margins: Any, *, delta: float = 0.025, random_state: Any = None) -> dict[str, Any]:
    """Returns the bound of Garg and Roth on the error of a linear classifier, term by term.

    The bound is (1) of Holland (2019). It holds for a classifier that does not depend on the rows.

    Parameters
    ----------
    margins : array of shape (n,)
        The margins `y <w, x>/(||w|| ||x||)` of rows, in [-1, 1], with y = 1 and -1.
    delta : float in (0, 1/4), default=0.025
        The bound holds with probability 1 - 4 delta.
    random_state : int, RandomState or None, default=None
        Seed by which the half of the rows whose errors count is drawn. Default: 1.

    Returns
    -------
    terms : dict
        The `bound`, the sum of `error`, `projection` (mu of the paper) and `complexity` but at most 1, with the `dimension`
        after the projection, `confidence`, and `is_vacuous`, whether the bound allows any error.

    Examples
    --------
    >>> import numpy as np
    >>> from margins_learn import calibration
    >>> terms = calibration.garg_roth_bound(np.full(200_000, 0.9))
    >>> terms["error"], terms["is_vacuous"]
    (0.0, False)
    """
    margins = floats_of(margins, "margins")
    if margins.ndim != 1:
        raise ValueError(f"margins has the shape {margins.shape}, but must have one dimension.")
    return _native.projection_bound(np.ascontiguousarray(margins), number_of(delta, "delta"), seed_of(random_state))


def reliability(probabilities: Any, outcomes: Any, *, bins: int = 10, strategy: str = "uniform") -> dict[str, Any]:
    """Returns the mean probability and the observed frequency in every bin that has samples, and their distance.

    Parameters
    ----------
    probabilities : array of shape (n,)
        The probabilities of the positive class.
    outcomes : array of bool or of 0 and 1 of shape (n,)
        True or 1 for samples of the positive class.
    bins : int, default=10
        The number of bins.
    strategy : {"uniform", "quantile"}, default="uniform"
        The bins have the same width, or nearly the same number of samples.

    Returns
    -------
    found : dict
        The arrays `count`, `mean_probability` and `observed_frequency`, with an entry for each bin that has samples, and
        the numbers `calibration_error`, `expected_if_calibrated` and `brier`.

    Examples
    --------
    >>> from margins_learn import calibration
    >>> found = calibration.reliability([0.1, 0.2, 0.8, 0.9], [0, 0, 1, 1], bins=2)
    >>> found["count"].tolist(), round(found["calibration_error"], 2)
    ([2, 2], 0.15)
    """
    probabilities = floats_of(probabilities, "probabilities")
    outcomes = array_of(outcomes)
    refuse_complex(outcomes, "outcomes")
    for name, array in (("probabilities", probabilities), ("outcomes", outcomes)):
        if array.ndim != 1:
            raise ValueError(f"{name} has the shape {array.shape}, but must have one dimension.")
    if len(outcomes) != len(probabilities) or not len(outcomes):
        raise ValueError(f"There are {len(probabilities)} probabilities and {len(outcomes)} outcomes, but their numbers must be equal and at least 1.")
    text_of(strategy, "strategy")
    return _native.reliability(np.ascontiguousarray(probabilities), _signs_of(outcomes), count_of(bins, "bins"), strategy)


def _signs_of(outcomes: np.ndarray) -> np.ndarray:
    """Returns +1 for True or 1 and -1 for False or 0, and refuses all else: -1 would count as True."""
    if outcomes.dtype.kind not in "biuf":
        raise TypeError(f"outcomes has the dtype {outcomes.dtype}, but must consist of booleans, or of 0 and 1.")
    strange = np.flatnonzero((outcomes != 0) & (outcomes != 1))
    if len(strange):
        raise ValueError(f"outcomes has {outcomes[strange[0]].item()!r} in row {strange[0]}, but must consist of booleans, or of 0 and 1.")
    return np.where(outcomes == 1, 1.0, -1.0)


def _refuse(given: Any, accept: Any, requirement: str, what: str = "risk", name: str = "at") -> None:
    """Refuses the first number of an argument outside a range, NaN included."""
    numbers = floats_of(given, name)
    bad = numbers[~accept(numbers)]
    if bad.size:
        raise ValueError(f"The {what} is {bad.flat[0]}, but must be {requirement}.")
