"""The cross-validated error by kernel and C."""

from __future__ import annotations

from typing import Any

import numpy as np

from ._shared import Display, check_searched, curve_shown, geometric_edges, grid_size, place_shown, shortened


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
