"""Losses of a margin as functions of arrays, in which NaN stays NaN."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from . import _native
from ._settings import text_of
from ._values import floats_of

__all__ = ["conjugate", "derivative", "names", "population_minimizer", "probability", "specification", "value"]


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

    It is infinite if no score attains the lowest expected loss, and the one nearest to 0 if several do.

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
