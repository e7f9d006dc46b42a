"""Coefficients, or duals of samples, along C."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from .._settings import count_of
from ._shared import Display, curve_shown, style_of


class CoefficientPathDisplay(Display):
    """The largest coefficients of a linear path along C, or the duals of samples of a kernel path.

    A coefficient of a kernel classifier grows with C. Its dual, the negative slope `-L'(u)` of the loss at the sample, does not:
    for the leaky hockey stick it is 1 up to the margin 1, and one over the margin beyond. The samples shown are those whose
    duals end at the largest and the smallest value, and others at even ranks between them.

    Parameters
    ----------
    Cs : array of shape (n_Cs,)
        The path.
    curves : dict of str to array of shape (n_Cs,)
        The coefficients of each feature shown, or the duals of each sample.
    quantity : str, default="coefficient"
        What the curves are.

    Attributes
    ----------
    ax_, figure_
        The axes and the figure, once drawn.

    Examples
    --------
    >>> import matplotlib
    >>> matplotlib.use("Agg")  # Draws without a screen.
    >>> from margins_learn import MarginPath, simulate
    >>> from margins_learn.display import CoefficientPathDisplay
    >>> drawn = simulate.mixture(samples=60)
    >>> path = MarginPath("lhs", kernel="gaussian:sigma=1").fit(drawn.X, drawn.y)
    >>> display = CoefficientPathDisplay.from_estimator(path)
    >>> display.ax_.get_ylabel()
    'dual'
    """

    def __init__(self, *, Cs: np.ndarray, curves: dict[str, np.ndarray], quantity: str = "coefficient") -> None:
        self.Cs = Cs
        self.curves = curves
        self.quantity = quantity

    @classmethod
    def from_estimator(cls, estimator: Any, *, count: int = 8, ax: Any = None) -> CoefficientPathDisplay:
        """Draws the display of a fitted path of two classes.

        Parameters
        ----------
        estimator : MarginPath
            The fitted path.
        count : int >= 1, default=8
            The number of features or samples, at most.
        ax : matplotlib axes or None, default=None
            The axes to draw on; None makes new ones.

        Returns
        -------
        display : CoefficientPathDisplay
            The display.
        """
        check_is_fitted(estimator)
        if not hasattr(estimator, "coefs_"):
            raise TypeError(f"The estimator is {estimator!r}, but must be a MarginPath, which has coefficients along C.")
        count = count_of(count, "count")
        if estimator.coefs_.shape[1] > 1:
            raise ValueError(f"The path is of {len(estimator.classes_)} classes, but must be of two.")
        if hasattr(estimator, "kernel_"):
            if not hasattr(estimator, "duals_"):
                raise ValueError(f"The kernel {estimator.kernel_} is approximated, so there are no duals of samples to show.")
            curves = _spread(estimator.duals_, count)
            return cls(Cs=estimator.Cs_, curves=curves, quantity="dual").plot(ax=ax)
        coefs = estimator.coefs_[:, 0]
        names = getattr(estimator, "encoded_names_", getattr(estimator, "feature_names_in_", None))
        largest = np.argsort(-np.abs(coefs).max(axis=0), kind="stable")[:count]
        named = {(f"feature {j}" if names is None else str(names[j])): coefs[:, j] for j in largest.tolist()}
        return cls(Cs=estimator.Cs_, curves=named).plot(ax=ax)

    def plot(self, *, ax: Any = None) -> CoefficientPathDisplay:
        """Draws the curves.

        Parameters
        ----------
        ax : matplotlib axes or None, default=None
            The axes to draw on; None makes new ones.

        Returns
        -------
        display : CoefficientPathDisplay
            The display.
        """
        if not isinstance(self.curves, dict):
            raise TypeError(f"curves is {self.curves!r}, but must be a dict with the values of every feature or sample.")
        Cs = curve_shown(self.Cs, "Cs")
        curves = {name: curve_shown(values, f"The curve of {name!r}", Cs.shape) for name, values in self.curves.items()}
        ax = self._axes(ax)
        for number, (name, values) in enumerate(curves.items()):
            ax.plot(Cs, values, label=str(name), linestyle=style_of(number))
        ax.set(xscale="log", xlabel="C", ylabel=str(self.quantity))
        ax.legend(frameon=False, fontsize="small")
        return self


def _spread(duals: np.ndarray, count: int) -> dict[str, np.ndarray]:
    """Returns the duals of the samples at even ranks of their last values, the largest first; rows count from 0."""
    order = np.argsort(-duals[-1], kind="stable")
    ranks = np.arange(min(count, len(order))) * (len(order) - 1) // max(min(count, len(order)) - 1, 1)
    return {f"row {row}": duals[:, row] for row in order[ranks].tolist()}
