"""The distribution of the margins of samples."""

from __future__ import annotations

from typing import Any

import numpy as np

from ._shared import Display, GREY, check_classifier, curve_shown, places, scores_shown


class MarginDistributionDisplay(Display):
    """The share of the samples whose margin is at most a value: those left of 0 are wrong.

    Parameters
    ----------
    margins : array of shape (n_samples,)
        The margins, the score of the true class less the largest of another, or `y f(x)` for two classes.
    name : str or None, default=None
        The name in the legend.

    Attributes
    ----------
    ax_, figure_
        The axes and the figure, once drawn.

    Examples
    --------
    >>> import matplotlib
    >>> matplotlib.use("Agg")  # Draws without a screen.
    >>> from sklearn.datasets import load_breast_cancer
    >>> from margins_learn import MarginClassifier
    >>> from margins_learn.display import MarginDistributionDisplay
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> classifier = MarginClassifier("logistic", standardize=True).fit(X, y)
    >>> display = MarginDistributionDisplay.from_estimator(classifier, X, y)
    >>> display.ax_.get_xlabel()
    'margin'
    """

    def __init__(self, *, margins: np.ndarray, name: str | None = None) -> None:
        self.margins = margins
        self.name = name

    @classmethod
    def from_estimator(cls, estimator: Any, X: Any, y: Any, *, name: str | None = None, ax: Any = None) -> MarginDistributionDisplay:
        """Draws the display of a fitted classifier on samples.

        Parameters
        ----------
        estimator : classifier
            The fitted estimator.
        X : array of shape (n_samples, n_features)
            The samples.
        y : array of shape (n_samples,)
            Their classes.
        name : str or None, default=None
            The name in the legend.
        ax : matplotlib axes or None, default=None
            The axes to draw on; None makes new ones.

        Returns
        -------
        display : MarginDistributionDisplay
            The display.
        """
        check_classifier(estimator)
        scores = estimator.decision_function(X)
        return cls.from_predictions(y, scores, classes=estimator.classes_, name=name, ax=ax)

    @classmethod
    def from_predictions(
        cls, y: Any, scores: np.ndarray, *, classes: Any = None, name: str | None = None, ax: Any = None
    ) -> MarginDistributionDisplay:
        """Draws the display of scores.

        Parameters
        ----------
        y : array of shape (n_samples,)
            The classes of the samples.
        scores : array of shape (n_samples,) or (n_samples, n_classes)
            The scores. With two classes, a positive score stands for the second class.
        classes : array of shape (n_classes,) or None, default=None
            The classes in the order of the scores. Default: the sorted classes of `y`.
        name : str or None, default=None
            The name in the legend.
        ax : matplotlib axes or None, default=None
            The axes to draw on; None makes new ones.

        Returns
        -------
        display : MarginDistributionDisplay
            The display.
        """
        at, count = places(y, classes)
        scores = scores_shown(scores, len(at), count)
        if scores.ndim == 1:
            margins = np.where(at == 1, scores, -scores)
        else:
            rows = np.arange(len(at))
            own = scores[rows, at]
            others = scores.copy()
            others[rows, at] = -np.inf
            margins = own - others.max(axis=1)
        return cls(margins=margins, name=name).plot(ax=ax)

    def plot(self, *, ax: Any = None) -> MarginDistributionDisplay:
        """Draws the distribution.

        Parameters
        ----------
        ax : matplotlib axes or None, default=None
            The axes to draw on; None makes new ones.

        Returns
        -------
        display : MarginDistributionDisplay
            The display.
        """
        margins = curve_shown(self.margins, "margins")
        ax = self._axes(ax)
        wrong = np.mean(margins <= 0)
        label = "" if self.name is None else f"{self.name}: "
        ax.ecdf(margins, label=f"{label}{100 * wrong:.1f} % at most 0")
        ax.axvline(0, color=GREY, linewidth=1, linestyle=":")
        ax.set(xlabel="margin", ylabel="share of samples with at most this margin", ylim=(0, 1))
        ax.legend(frameon=False, fontsize="small")
        return self
