"""Bounds of the misclassification risk by a surrogate risk, and robust estimates of location."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from . import _native
from ._settings import count_of, number_of, text_of
from ._values import array_of, floats_of, refuse_complex
from .losses import over_array

# What a bound counts; all else that it takes are numbers.
_COUNTS = ("iterations", "samples", "dimension")
_LARGEST = 2**63 - 1

__all__ = [
    "Location",
    "catoni_location",
    "is_calibrated",
    "margin_pursuit_bound",
    "psi",
    "psi_inverse",
    "reliability",
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
    """An estimate of the mean of a distribution, as `catoni_location` returns it.

    Attributes
    ----------
    estimate : float
        The estimate.
    roots : tuple of float
        The smallest and the largest root of its equation.
    scale : float
        The scale that it was found at.
    interval : tuple of float or None
        The interval that holds the mean with probability 1 - delta, if a bound on the variance was given and the sample
        is large enough.
    """

    estimate: float
    roots: tuple[float, float]
    scale: float
    interval: tuple[float, float] | None


def catoni_location(
    sample: Any, scale: float | None = None, *, variance_bound: float | None = None, delta: float = 0.05
) -> Location:
    """Returns the M-estimate of location of Catoni's type.

    Parameters
    ----------
    sample : array of shape (n,)
        The sample.
    scale : float or None, default=None
        The scale, in the unit of the sample, or None to take it from the bound on the variance.
    variance_bound : float or None, default=None
        A bound on the variance, from which the scale and an interval follow.
    delta : float, default=0.05
        The probability with which the interval may fail.

    Returns
    -------
    location : Location
        The estimate with its interval.

    Examples
    --------
    >>> from margins_learn.calibration import catoni_location
    >>> round(catoni_location([1.0, 2.0, 3.0, 1000.0], scale=1.0).estimate, 2)
    2.5
    """
    sample = floats_of(sample, "sample")
    if sample.ndim != 1:
        raise ValueError(f"sample has the shape {sample.shape}, but must have one dimension.")
    scale, variance_bound = (
        None if given is None else number_of(given, name) for name, given in (("scale", scale), ("variance_bound", variance_bound))
    )
    found = _native.catoni_location(np.ascontiguousarray(sample), scale, variance_bound, number_of(delta, "delta"))
    return Location(found["estimate"], found["roots"], found.get("scale", scale), found.get("interval"))


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
    delta: float = 0.05,
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
    delta : float in (0, 1/2), default=0.05
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
        name: count_of(number, name, 0, _LARGEST) if name in _COUNTS else number_of(number, name) for name, number in given.items()
    }
    gamma = numbers.pop("gamma")
    return _native.misclassification_bound(numbers, gamma)


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


def _refuse(at: Any, accept: Any, requirement: str) -> None:
    """Refuses the first number outside a range, NaN included."""
    risks = floats_of(at, "at")
    bad = risks[~accept(risks)]
    if bad.size:
        raise ValueError(f"The risk is {bad.flat[0]}, but must be {requirement}.")
