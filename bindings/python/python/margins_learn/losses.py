"""Losses of a margin as functions of arrays, in which NaN stays NaN."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from . import _native
from ._settings import number_of, text_of
from ._values import floats_of

__all__ = [
    "conjugate",
    "curvature",
    "derivative",
    "lipschitz",
    "names",
    "population_minimizer",
    "probability",
    "proximal",
    "second_derivative",
    "specification",
    "undecided_scores",
    "value",
]


def names() -> list[str]:
    """Returns the names of the losses, in alphabetical order.

    Returns
    -------
    names : list of str
        The names.

    Examples
    --------
    >>> from margins_learn import losses
    >>> losses.names()[:3]
    ['dwd', 'exponential', 'garg-roth']
    """
    return _native.loss_names()


def specification(loss: str) -> str:
    """Returns the complete specification of a loss, with the defaults of the parameters that were left out.

    Parameters
    ----------
    loss : str
        Loss: a name or `name:parameter=value,...`, such as `"hinge"` or `"margin-pursuit:gamma=1,scale=2"`.

    Returns
    -------
    specification : str
        The name with all parameters.

    Examples
    --------
    >>> from margins_learn import losses
    >>> losses.specification("margin-pursuit:gamma=2")
    'margin-pursuit:gamma=2,scale=1'
    """
    return _native.loss_specification(text_of(loss, "loss"))


def value(loss: str, u: Any) -> np.ndarray | float:
    """Returns the loss `L(u)` at margins u.

    Parameters
    ----------
    loss : str
        Loss: a name or `name:parameter=value,...`, such as `"hinge"` or `"margin-pursuit:gamma=1,scale=2"`.
    u : float or array of any shape
        Margins.

    Returns
    -------
    values : float or array of the shape of u
        The losses.

    Examples
    --------
    >>> from margins_learn import losses
    >>> losses.value("hinge", [-1.0, 0.5, 2.0])
    array([2. , 0.5, 0. ])
    """
    return over_array(_native.value, loss, u, "u")


def derivative(loss: str, u: Any) -> np.ndarray | float:
    """Returns the slope `L'(u)` at margins u; at a kink, the slope on one side.

    Parameters
    ----------
    loss : str
        Loss: a name or `name:parameter=value,...`, such as `"hinge"` or `"margin-pursuit:gamma=1,scale=2"`.
    u : float or array of any shape
        Margins.

    Returns
    -------
    slopes : float or array of the shape of u
        The slopes.

    Examples
    --------
    >>> from margins_learn import losses
    >>> losses.derivative("squared", 3.0)
    4.0
    """
    return over_array(_native.derivative, loss, u, "u")


def second_derivative(loss: str, u: Any) -> np.ndarray | float:
    """Returns the curvature `L''(u)` at margins u; where the slope has a kink, the curvature on one side.

    Parameters
    ----------
    loss : str
        Loss: a name or `name:parameter=value,...`, such as `"hinge"` or `"margin-pursuit:gamma=1,scale=2"`.
    u : float or array of any shape
        Margins.

    Returns
    -------
    curvatures : float or array of the shape of u
        The second derivatives.

    Examples
    --------
    >>> from margins_learn import losses
    >>> losses.second_derivative("lhs", [0.0, 2.0])
    array([0.  , 0.25])
    """
    return over_array(_native.second_derivative, loss, u, "u")


def curvature(loss: str) -> float | None:
    """Returns the largest curvature `sup L''`, the curvature of the quadratic upper bound of majorisation-minimisation.

    Parameters
    ----------
    loss : str
        Loss: a name or `name:parameter=value,...`, such as `"hinge"` or `"margin-pursuit:gamma=1,scale=2"`.

    Returns
    -------
    curvature : float or None
        The largest curvature. None if it is infinite or unknown.

    Examples
    --------
    >>> from margins_learn import losses
    >>> losses.curvature("lhs"), losses.curvature("logistic"), losses.curvature("hinge")
    (1.0, 0.25, None)
    """
    return _native.curvature(text_of(loss, "loss"))


def lipschitz(loss: str) -> float | None:
    """Returns the largest slope `sup |L'|`, the Lipschitz constant of the loss.

    Parameters
    ----------
    loss : str
        Loss: a name or `name:parameter=value,...`, such as `"hinge"` or `"margin-pursuit:gamma=1,scale=2"`.

    Returns
    -------
    slope : float or None
        The largest slope. None if it is infinite or unknown.

    Examples
    --------
    >>> from margins_learn import losses
    >>> losses.lipschitz("hinge"), losses.lipschitz("squared")
    (1.0, None)
    """
    return _native.lipschitz(text_of(loss, "loss"))


def proximal(loss: str, point: Any, step: float) -> np.ndarray | float:
    """Returns the proximal point: the minimiser over v of `L(v) + (v - point)^2/(2 step)`.

    Parameters
    ----------
    loss : str
        Loss: a name or `name:parameter=value,...`, such as `"hinge"` or `"margin-pursuit:gamma=1,scale=2"`.
    point : float or array of any shape
        Points, finite numbers or NaN.
    step : float > 0
        Length of the step.

    Returns
    -------
    minimisers : float or array of the shape of point
        The proximal points.

    Examples
    --------
    >>> from margins_learn import losses
    >>> losses.proximal("hinge", [-1.0, 0.75, 2.0], 0.5)
    array([-0.5,  1. ,  2. ])
    """
    step = number_of(step, "step")
    if not 0 < step < np.inf:
        raise ValueError(f"step is {step}, but must be a finite number greater than 0.")
    points = floats_of(point, "point")
    if np.isinf(points).any():
        raise ValueError("point has an infinite number, but must have finite ones.")
    return over_array(lambda name, at: _native.proximal(name, at, step), loss, point, "point")


def conjugate(loss: str, t: Any) -> np.ndarray | float:
    """Returns the conjugate at -t, `sup_u (-t u - L(u))`, which is infinite outside its domain.

    Parameters
    ----------
    loss : str
        Loss: a name or `name:parameter=value,...`, such as `"hinge"` or `"margin-pursuit:gamma=1,scale=2"`.
    t : float or array of any shape
        Negative slopes.

    Returns
    -------
    values : float or array of the shape of t
        The values of the conjugate.

    Examples
    --------
    >>> from margins_learn import losses
    >>> losses.conjugate("hinge", [0.5, 1.0, 2.0])
    array([-0.5, -1. ,  inf])
    """
    return over_array(_native.conjugate, loss, t, "t")


def population_minimizer(loss: str, eta: Any) -> np.ndarray | float:
    """Returns the score with the lowest expected loss if the positive class has the probability eta.

    It is infinite if no score attains the lowest expected loss, and the one nearest to 0 if several do. For margin pursuit it is
    the root of a cubic, accurate to rounding. `calibration.conditional_risk(loss, eta)` is the lowest expected loss.

    Parameters
    ----------
    loss : str
        Loss: a name or `name:parameter=value,...`, such as `"hinge"` or `"margin-pursuit:gamma=1,scale=2"`.
    eta : float or array of any shape, in [0, 1]
        Probabilities of the positive class.

    Returns
    -------
    scores : float or array of the shape of eta
        The scores.

    Examples
    --------
    >>> from margins_learn import losses
    >>> losses.population_minimizer("hinge", [0.0, 0.3, 0.5, 1.0])
    array([-1., -1.,  0.,  1.])
    """
    etas = floats_of(eta, "eta")
    bad = etas[~((etas >= 0) & (etas <= 1))]
    if bad.size:
        raise ValueError(f"eta is {bad.flat[0]}, but must be in [0, 1].")
    return over_array(_native.population_minimizer, loss, eta, "eta")


def undecided_scores(loss: str) -> tuple[float, float] | None:
    """Returns the interval of the scores that stand for even odds: all minimisers of the expected loss at probability 1/2.

    Parameters
    ----------
    loss : str
        Loss: a name or `name:parameter=value,...`, such as `"hinge"` or `"margin-pursuit:gamma=1,scale=2"`.

    Returns
    -------
    interval : tuple of two floats or None
        The smallest and the largest of these scores. None for a loss without probabilities.

    Examples
    --------
    >>> from margins_learn import losses
    >>> losses.undecided_scores("lhs"), losses.undecided_scores("hinge")
    ((-1.0, 1.0), None)
    """
    return _native.undecided_scores(text_of(loss, "loss"))


def probability(loss: str, score: Any) -> np.ndarray | float:
    """Returns the probability of the positive class of which a score is the population minimiser.

    Parameters
    ----------
    loss : str
        Loss: a name or `name:parameter=value,...`, such as `"hinge"` or `"margin-pursuit:gamma=1,scale=2"`.
        A loss without probabilities, such as `"hinge"`, is a ValueError.
    score : float or array of any shape
        Scores.

    Returns
    -------
    probabilities : float or array of the shape of score
        Probabilities of the positive class.

    Examples
    --------
    >>> from margins_learn import losses
    >>> losses.probability("logistic", [0.0, 1.0]).round(3)
    array([0.5  , 0.731])
    """
    if np.isnan(_native.probability(text_of(loss, "loss"), np.zeros(1)))[0]:
        raise ValueError(f"The loss '{loss}' has no probabilities.")
    return over_array(_native.probability, loss, score, "score")


def over_array(function: Callable[[str, np.ndarray], np.ndarray], loss: str, at: Any, name: str) -> np.ndarray | float:
    """Returns a function of the native module over an array of any shape, or a number for a number; NaN stays NaN."""
    at = floats_of(at, name)
    values = function(text_of(loss, "loss"), np.ascontiguousarray(at).ravel())
    values[np.isnan(at).ravel()] = np.nan
    return values.reshape(at.shape) if at.ndim else float(values[0])
