"""The cross-validated error along C."""

from __future__ import annotations

from typing import Any

import numpy as np

from ._shared import BLUE, Display, GREY, ORANGE, check_searched, curve_shown, place_shown


class ErrorPathDisplay(Display):
    """The cross-validated error along the values of C, with its standard errors.

    Parameters
    ----------
    Cs, mean_error, standard_error : array of shape (n_Cs,)
        The curve.
    best, one_se : int
        The indices of the lowest error, and of the smallest C within one standard error of it.
    selected : int or None, default=None
        The index that the search has taken.
    certified : array of bool of shape (n_Cs,) or None, default=None
        True where all fits are certified.

    Attributes
    ----------
    ax_, figure_
        The axes and the figure, once drawn.

    Examples
    --------
    >>> import matplotlib
    >>> matplotlib.use("Agg")  # Draws without a screen.
    >>> from sklearn.datasets import load_breast_cancer
    >>> from margins_learn import MarginClassifierCV
    >>> from margins_learn.display import ErrorPathDisplay
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> search = MarginClassifierCV("logistic", Cs=5, standardize=True).fit(X, y)
    >>> display = ErrorPathDisplay.from_estimator(search)
    >>> display.ax_.get_xlabel()
    'C'
    """

    def __init__(
        self,
        *,
        Cs: np.ndarray,
        mean_error: np.ndarray,
        standard_error: np.ndarray,
        best: int,
        one_se: int,
        selected: int | None = None,
        certified: np.ndarray | None = None,
    ) -> None:
        self.Cs = Cs
        self.mean_error = mean_error
        self.standard_error = standard_error
        self.best = best
        self.one_se = one_se
        self.selected = selected
        self.certified = certified

    @classmethod
    def from_estimator(cls, estimator: Any, *, ax: Any = None) -> ErrorPathDisplay:
        """Draws the display of a fitted search.

        Parameters
        ----------
        estimator : MarginClassifierCV
            The fitted estimator.
        ax : matplotlib axes or None, default=None
            The axes to draw on; None makes new ones.

        Returns
        -------
        display : ErrorPathDisplay
            The display.
        """
        check_searched(estimator)
        path = estimator.path_
        shown = cls(
            **{name: path[name] for name in ("Cs", "mean_error", "standard_error", "best", "one_se", "certified")},
            selected=int(np.argmin(np.abs(np.log(path["lambdas"] / estimator.best_lambda_)))),
        )
        return shown.plot(ax=ax)

    def plot(self, *, ax: Any = None) -> ErrorPathDisplay:
        """Draws the curve.

        Parameters
        ----------
        ax : matplotlib axes or None, default=None
            The axes to draw on; None makes new ones.

        Returns
        -------
        display : ErrorPathDisplay
            The display.
        """
        Cs = curve_shown(self.Cs, "Cs")
        error, spread = (100 * curve_shown(getattr(self, name), name, Cs.shape) for name in ("mean_error", "standard_error"))
        best, one_se = (place_shown(getattr(self, name), name, len(Cs)) for name in ("best", "one_se"))
        certified = np.ones(Cs.shape) if self.certified is None else curve_shown(self.certified, "certified", Cs.shape)
        selected = None if self.selected is None else place_shown(self.selected, "selected", len(Cs))
        ax = self._axes(ax)
        ax.fill_between(Cs, error - spread, error + spread, color=BLUE, alpha=0.18, linewidth=0, label="± 1 standard error")
        ax.plot(Cs, error, color=BLUE, label="mean error")
        if not certified.all():
            open_ = certified == 0
            ax.plot(Cs[open_], error[open_], "x", color=GREY, label="not certified")
        ax.axhline(error[best] + spread[best], color=GREY, linestyle=":", linewidth=1, label="lowest + 1 standard error")
        ax.plot(Cs[best], error[best], "o", color=ORANGE, label="lowest error")
        ax.plot(Cs[one_se], error[one_se], "s", color=ORANGE, markerfacecolor="white", label="within one standard error")
        if selected is not None:
            ax.axvline(Cs[selected], color=ORANGE, linewidth=1, label="selected")
        ax.set(xscale="log", xlabel="C", ylabel="cross-validated error (%)")
        ax.legend(frameon=False, fontsize="small")
        return self
