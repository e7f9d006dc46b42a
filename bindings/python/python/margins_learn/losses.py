"""Losses of a margin as functions of arrays, in which NaN stays NaN."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from . import _native
from ._inputs import floats_of, text_of

__all__ = ["conjugate", "derivative", "names", "population_minimizer", "probability", "specification", "value"]


def names() -> list[str]:
    """Returns the names of the losses, in the order of the alphabet."""
    return _native.loss_names()


def specification(loss: str) -> str:
    """Returns the complete specification of a loss, with the parameters that were left out."""
    return _native.loss_specification(text_of(loss, "loss"))


def value(loss: str, u: Any) -> np.ndarray | float:
    """Returns the loss `L(u)` at margins u."""
    return over_array(_native.value, loss, u, "u")


def derivative(loss: str, u: Any) -> np.ndarray | float:
    """Returns the slope `L'(u)` at margins u, at a kink that of one side."""
    return over_array(_native.derivative, loss, u, "u")


def conjugate(loss: str, t: Any) -> np.ndarray | float:
    """Returns the conjugate at -t, `sup_u (-t u - L(u))`, which is infinite outside its domain."""
    return over_array(_native.conjugate, loss, t, "t")


def population_minimizer(loss: str, eta: Any) -> np.ndarray | float:
    """Returns the score of the lowest expected loss where the positive class has the probability eta.

    It is infinite where no score attains the least, and the one nearest to 0 where several do.
    """
    etas = floats_of(eta, "eta")
    bad = etas[~((etas >= 0) & (etas <= 1))]
    if bad.size:
        raise ValueError(f"eta is {bad.flat[0]}, but must be in [0, 1].")
    return over_array(_native.population_minimizer, loss, eta, "eta")


def probability(loss: str, score: Any) -> np.ndarray | float:
    """Returns the probability of the positive class of which a score is the population minimiser.

    A loss without probabilities, such as hinge, is refused.
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
