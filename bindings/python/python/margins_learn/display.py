"""Plots in the pattern of displays of scikit-learn; matplotlib is imported when one is drawn."""

from __future__ import annotations

from typing import Any

import numpy as np

from . import calibration
from ._inputs import count_of
from ._shown import Display, check_classifier, check_searched, curve_shown, geometric_edges, grid_size, height_shown, place_shown
from ._shown import places, scores_shown, shortened, style_of

__all__ = ["ErrorPathDisplay", "KernelGridDisplay", "MarginDistributionDisplay", "PsiDisplay", "ReliabilityDisplay"]

_BLUE, _ORANGE, _GREY = "#1f5f99", "#d9822b", "#777777"


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
        ax.fill_between(Cs, error - spread, error + spread, color=_BLUE, alpha=0.18, linewidth=0, label="± 1 standard error")
        ax.plot(Cs, error, color=_BLUE, label="mean error")
        if not certified.all():
            open_ = certified == 0
            ax.plot(Cs[open_], error[open_], "x", color=_GREY, label="not certified")
        ax.axhline(error[best] + spread[best], color=_GREY, linestyle=":", linewidth=1, label="lowest + 1 standard error")
        ax.plot(Cs[best], error[best], "o", color=_ORANGE, label="lowest error")
        ax.plot(Cs[one_se], error[one_se], "s", color=_ORANGE, markerfacecolor="white", label="within one standard error")
        if selected is not None:
            ax.axvline(Cs[selected], color=_ORANGE, linewidth=1, label="selected")
        ax.set(xscale="log", xlabel="C", ylabel="cross-validated error (%)")
        ax.legend(frameon=False, fontsize="small")
        return self


class KernelGridDisplay(Display):
    """The cross-validated error of every kernel at every C, as a grid of colours.

    Parameters
    ----------
    Cs : array of shape (n_Cs,)
        The values of C.
    kernels : list of str
        The kernels.
    errors : array of shape (n_kernels, n_Cs)
        The mean errors.
    selected : tuple of int
        The place of the kernel and of the C selected.

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
    >>> from margins_learn.display import KernelGridDisplay
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> kernels = ["linear", "gaussian"]
    >>> search = MarginClassifierCV("logistic", Cs=3, kernels=kernels, standardize=True).fit(X[:100], y[:100])
    >>> display = KernelGridDisplay.from_estimator(search)
    >>> display.ax_.get_ylabel()
    'kernel'
    """

    def __init__(self, *, Cs: np.ndarray, kernels: list[str], errors: np.ndarray, selected: tuple[int, int]) -> None:
        self.Cs = Cs
        self.kernels = kernels
        self.errors = errors
        self.selected = selected

    @classmethod
    def from_estimator(cls, estimator: Any, *, ax: Any = None) -> KernelGridDisplay:
        """Draws the display of a fitted search among kernels.

        Parameters
        ----------
        estimator : MarginClassifierCV
            The fitted estimator.
        ax : matplotlib axes or None, default=None
            The axes to draw on; None makes new ones.

        Returns
        -------
        display : KernelGridDisplay
            The display.
        """
        check_searched(estimator)
        if not hasattr(estimator, "best_kernel_"):
            raise ValueError("The search chose among no kernels: ErrorPathDisplay shows its errors.")
        paths = estimator.paths_ or {estimator.best_kernel_: estimator.path_}
        kernels = list(paths)
        path = estimator.path_
        at = int(np.argmin(np.abs(np.log(path["lambdas"] / estimator.best_lambda_))))
        shown = cls(
            Cs=path["Cs"],
            kernels=kernels,
            errors=np.stack([curve["mean_error"] for curve in paths.values()]),
            selected=(kernels.index(estimator.best_kernel_), at),
        )
        return shown.plot(ax=ax)

    def plot(self, *, ax: Any = None, cmap: str = "viridis_r") -> KernelGridDisplay:
        """Draws the grid.

        Parameters
        ----------
        ax : matplotlib axes or None, default=None
            The axes to draw on; None makes new ones.
        cmap : str, default="viridis_r"
            The map of colours.

        Returns
        -------
        display : KernelGridDisplay
            The display.
        """
        Cs, kernels = curve_shown(self.Cs, "Cs"), [str(kernel) for kernel in self.kernels]
        errors = curve_shown(self.errors, "errors", (len(kernels), len(Cs)))
        row, column = (place_shown(place, "selected", count) for place, count in zip(self.selected, errors.shape, strict=True))
        ticks = [shortened(kernel) for kernel in kernels]
        ax = self._axes(ax, grid_size(ticks))
        rows, order = np.arange(len(kernels)), np.argsort(Cs)
        edges = geometric_edges(Cs[order])
        mesh = ax.pcolormesh(edges, np.arange(len(rows) + 1) - 0.5, 100 * errors[:, order], cmap=cmap)
        # The cell of the lowest error has the lightest colour.
        ax.plot(Cs[column], row, "o", markersize=9, markerfacecolor="none", markeredgecolor="black", markeredgewidth=2)
        ax.set(xscale="log", xlabel="C", ylabel="kernel")
        ax.set_yticks(rows, ticks)
        ax.invert_yaxis()
        self.figure_.colorbar(mesh, ax=ax, label="cross-validated error (%)")
        return self


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
        ax.axvline(0, color=_GREY, linewidth=1, linestyle=":")
        ax.set(xlabel="margin", ylabel="share of samples with at most this margin", ylim=(0, 1))
        ax.legend(frameon=False, fontsize="small")
        return self


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
        ax.plot([0, 1], [0, 1], color=_GREY, linewidth=1, linestyle=":")
        of = "" if self.positive is None else f" of class {self.positive}"
        ax.set(xlabel=f"mean probability{of}", ylabel=f"observed frequency{of}", xlim=(0, 1), ylim=(0, 1), aspect="equal")
        ax.legend(fontsize="small", framealpha=0.8, edgecolor="none")
        return self


class PsiDisplay(Display):
    """The Psi-transforms of losses: the lowest excess surrogate risk at an excess misclassification risk.

    Parameters
    ----------
    curves : dict of str to array
        The Psi-transform of each loss at the risks.
    risks : array
        The excess misclassification risks, over the Bayes error.

    Attributes
    ----------
    ax_, figure_
        The axes and the figure, once drawn.

    Examples
    --------
    >>> import matplotlib
    >>> matplotlib.use("Agg")  # Draws without a screen.
    >>> from margins_learn.display import PsiDisplay
    >>> display = PsiDisplay.from_losses(["hinge", "logistic"])
    >>> display.ax_.get_xlabel()
    'excess misclassification risk'
    """

    def __init__(self, *, risks: np.ndarray, curves: dict[str, np.ndarray]) -> None:
        self.risks = risks
        self.curves = curves

    @classmethod
    def from_losses(cls, losses: list[str] | str, *, points: int = 201, ax: Any = None) -> PsiDisplay:
        """Draws the display of losses, which must be calibrated.

        Parameters
        ----------
        losses : list of str or str
            The losses.
        points : int, default=201
            The number of risks from 0 to 1.
        ax : matplotlib axes or None, default=None
            The axes to draw on; None makes new ones.

        Returns
        -------
        display : PsiDisplay
            The display.
        """
        losses = [losses] if isinstance(losses, str) else losses
        risks = np.linspace(0, 1, count_of(points, "points"))
        return cls(risks=risks, curves={loss: calibration.psi(loss, risks) for loss in losses}).plot(ax=ax)

    def plot(self, *, ax: Any = None) -> PsiDisplay:
        """Draws the transforms.

        Parameters
        ----------
        ax : matplotlib axes or None, default=None
            The axes to draw on; None makes new ones.

        Returns
        -------
        display : PsiDisplay
            The display.
        """
        if not isinstance(self.curves, dict):
            raise TypeError(f"curves is {self.curves!r}, but must be a dict with the values of every loss.")
        risks = curve_shown(self.risks, "risks")
        curves = {loss: curve_shown(values, f"The curve of {loss!r}", risks.shape) for loss, values in self.curves.items()}
        ax = self._axes(ax)
        for number, (loss, values) in enumerate(curves.items()):
            ax.plot(risks, values, label=loss, linestyle=style_of(number))
        ax.set(xlabel="excess misclassification risk", ylabel="excess surrogate risk", xlim=(0, 1))
        ax.set_ylim(0, height_shown(list(curves.values())))
        ax.legend(frameon=False, fontsize="small")
        return self
