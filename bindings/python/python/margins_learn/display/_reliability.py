"""Observed frequencies beside predicted probabilities."""

from __future__ import annotations

from typing import Any

from .. import calibration
from ._shared import Display, GREY, check_classifier, places


class ReliabilityDisplay(Display):
    """The observed frequency of the positive class beside its mean probability, bin by bin.

    Parameters
    ----------
    reliability : dict
        What `margins_learn.calibration.reliability` returns.
    name : str or None, default=None
        The name in the legend.
    positive : object, default=None
        The positive class, which the axes name; None leaves it out.

    Attributes
    ----------
    ax_, figure_
        The axes and the figure, once drawn.

    Examples
    --------
    >>> import matplotlib
    >>> matplotlib.use("Agg")  # Draws without a screen.
    >>> from margins_learn.display import ReliabilityDisplay
    >>> display = ReliabilityDisplay.from_predictions([0, 0, 1, 1], [0.1, 0.2, 0.8, 0.9], bins=2)
    >>> display.ax_.get_xlabel()
    'mean probability'
    """

    def __init__(self, *, reliability: dict[str, Any], name: str | None = None, positive: Any = None) -> None:
        self.reliability = reliability
        self.name = name
        self.positive = positive

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: Any,
        y: Any,
        *,
        positive: Any = None,
        bins: int = 10,
        strategy: str = "uniform",
        name: str | None = None,
        ax: Any = None,
    ) -> ReliabilityDisplay:
        """Draws the display of a fitted classifier for one class.

        Parameters
        ----------
        estimator : classifier
            The fitted estimator.
        X : array of shape (n_samples, n_features)
            The samples.
        y : array of shape (n_samples,)
            Their classes.
        positive : object, default=None
            The class. Default: the last class.
        bins : int, default=10
            The number of bins.
        strategy : {"uniform", "quantile"}, default="uniform"
            The bins have the same width, or nearly the same number of samples.
        name : str or None, default=None
            The name in the legend.
        ax : matplotlib axes or None, default=None
            The axes to draw on; None makes new ones.

        Returns
        -------
        display : ReliabilityDisplay
            The display.
        """
        check_classifier(estimator)
        classes = estimator.classes_.tolist()
        positive = classes[-1] if positive is None else positive
        if positive not in classes:
            raise ValueError(f"positive is {positive!r}, but the classes are {classes}.")
        probabilities = estimator.predict_proba(X)[:, classes.index(positive)]
        outcomes = places(y, classes)[0] == classes.index(positive)
        return cls.from_predictions(outcomes, probabilities, positive=positive, bins=bins, strategy=strategy, name=name, ax=ax)

    @classmethod
    def from_predictions(
        cls,
        outcomes: Any,
        probabilities: Any,
        *,
        positive: Any = None,
        bins: int = 10,
        strategy: str = "uniform",
        name: str | None = None,
        ax: Any = None,
    ) -> ReliabilityDisplay:
        """Draws the display of probabilities of the positive class beside outcomes.

        Parameters
        ----------
        outcomes : array of bool or of 0 and 1 of shape (n_samples,)
            True or 1 for samples of the positive class.
        probabilities : array of shape (n_samples,)
            The probabilities of the positive class.
        positive : object, default=None
            The positive class, which the axes name; None leaves it out.
        bins : int, default=10
            The number of bins.
        strategy : {"uniform", "quantile"}, default="uniform"
            The bins have the same width, or nearly the same number of samples.
        name : str or None, default=None
            The name in the legend.
        ax : matplotlib axes or None, default=None
            The axes to draw on; None makes new ones.

        Returns
        -------
        display : ReliabilityDisplay
            The display.
        """
        found = calibration.reliability(probabilities, outcomes, bins=bins, strategy=strategy)
        return cls(reliability=found, name=name, positive=positive).plot(ax=ax)

    def plot(self, *, ax: Any = None) -> ReliabilityDisplay:
        """Draws the diagram; the area of a point is that of its share of the samples.

        Parameters
        ----------
        ax : matplotlib axes or None, default=None
            The axes to draw on; None makes new ones.

        Returns
        -------
        display : ReliabilityDisplay
            The display.
        """
        found = self.reliability
        if not isinstance(found, dict) or not {"count", "calibration_error"} <= set(found):
            raise TypeError(f"reliability is {found!r}, but must be what margins_learn.calibration.reliability returns.")
        ax = self._axes(ax)
        label = "" if self.name is None else f"{self.name}: "
        error, chance = found["calibration_error"], found["expected_if_calibrated"]
        (line,) = ax.plot(
            found["mean_probability"], found["observed_frequency"], label=f"{label}off by {error:.3f}, {chance:.3f} by chance"
        )
        sizes = 300 * found["count"] / found["count"].sum()
        # Whole points at 0 and 1 reach over the edge.
        ax.scatter(found["mean_probability"], found["observed_frequency"], s=8 + sizes, color=line.get_color(), clip_on=False, zorder=3)
        ax.plot([0, 1], [0, 1], color=GREY, linewidth=1, linestyle=":")
        of = "" if self.positive is None else f" of class {self.positive}"
        ax.set(xlabel=f"mean probability{of}", ylabel=f"observed frequency{of}", xlim=(0, 1), ylim=(0, 1), aspect="equal")
        ax.legend(fontsize="small", framealpha=0.8, edgecolor="none")
        return self
