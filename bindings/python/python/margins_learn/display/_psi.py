"""The Psi-transforms of losses."""

from __future__ import annotations

from typing import Any

import numpy as np

from .. import calibration
from .._settings import count_of
from ._shared import Display, curve_shown, height_shown, style_of


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
