"""What a surrogate risk says about misclassification, and robust estimates of location."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from . import _native
from ._inputs import array_of, count_of, floats_of, number_of, refuse_complex, text_of
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
    """Returns the Psi-transform: the lowest excess surrogate risk at an excess misclassification risk in [0, 1].

    Both are excesses over the lowest risks of all measurable functions, not over those of a class.
    A loss that is not calibrated is refused with the reason.
    """
    _refuse(at, lambda risks: (risks >= 0) & (risks <= 1), "in [0, 1]")
    return over_array(_native.psi, loss, at, "at")


def psi_inverse(loss: str, at: Any) -> np.ndarray | float:
    """Returns the most that the misclassification risk exceeds the Bayes error by, at an excess surrogate risk.

    The excess surrogate risk is the excess over the minimum among all measurable functions, not among a class.
    A loss that is not calibrated is refused with the reason.
    """
    _refuse(at, lambda risks: risks >= 0, "at least 0")
    return over_array(_native.psi_inverse, loss, at, "at")


def is_calibrated(loss: str) -> bool:
    """Returns true if a small excess surrogate risk implies a small excess misclassification risk."""
    return _native.not_calibrated(text_of(loss, "loss")) is None


@dataclass(frozen=True)
class Location:
    """An estimate of the mean of a distribution.

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

    The names are those of the quantities of theorem 11 of Holland (2019); `operator_norm_moment` is
    `input_second_moment` by default. The entries that begin with `sound_` are of the proof as corrected.
    The entries `excess_over_linear` bound the expected loss above that of the best linear function. The entries
    `misclassification_bound` bound the misclassification risk above the Bayes error. They need `approximation_error`: the
    expected loss of the best linear function, less the infimum over all measurable functions. It is 0 if a linear function
    is best of all; the expected loss of any linear function is an upper bound.
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
        The arrays `count`, `mean_probability` and `observed_frequency`, and the numbers `calibration_error`,
        `expected_if_calibrated` and `brier`.
    """
    probabilities = floats_of(probabilities, "probabilities")
    outcomes = array_of(outcomes)
    refuse_complex(outcomes, "outcomes")
    for name, array in (("probabilities", probabilities), ("outcomes", outcomes)):
        if array.ndim != 1:
            raise ValueError(f"{name} has the shape {array.shape}, but must have one dimension.")
    if len(outcomes) != len(probabilities) or not len(outcomes):
        raise ValueError(f"There are {len(probabilities)} probabilities and {len(outcomes)} outcomes, but there must be as many, and one at least.")
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
