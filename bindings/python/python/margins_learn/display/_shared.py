"""What the displays share: axes, colours, checks of their inputs, edges of cells and short texts."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
from sklearn.utils.validation import assert_all_finite, check_is_fitted, column_or_1d

from .._values import array_of, floats_of, refuse_gaps

BLUE, ORANGE, GREY = "#1f5f99", "#d9822b", "#777777"


class Display:
    """The base of displays: `plot` draws them and sets `figure_` and `ax_`."""

    ax_: Any
    figure_: Any

    def _axes(self, ax: Any, size: tuple[float, float] | None = None) -> Any:
        """Returns the axes to draw on, and keeps them; new ones are on a figure of some inches."""
        if ax is None:
            try:
                import matplotlib.pyplot as plt
            except ImportError as error:
                raise ImportError("Displays need the package matplotlib: pip install matplotlib") from error

            ax = plt.subplots(layout="constrained", figsize=size)[1]
        if not hasattr(ax, "figure"):
            raise TypeError(f"ax is {ax!r}, but must be axes of matplotlib or None.")
        self.ax_, self.figure_ = ax, ax.figure
        return ax


def check_searched(estimator: Any) -> None:
    """Refuses an estimator that has not searched, or never does."""
    check_is_fitted(estimator)
    if not hasattr(estimator, "path_"):
        raise TypeError(f"The estimator is {estimator!r}, but must be a MarginClassifierCV, whose search has errors to show.")


def check_classifier(estimator: Any) -> None:
    """Refuses an object that is not a fitted classifier."""
    check_is_fitted(estimator)
    if not hasattr(estimator, "classes_"):
        raise TypeError(f"The estimator is {estimator!r}, but must be a classifier.")


def shortened(specification: str) -> str:
    """Returns a specification with numbers of four digits, for a picture."""
    return re.sub(r"\d+\.\d{4,}(e-?\d+)?", lambda number: f"{float(number[0]):.4g}", specification)


def grid_size(names: list[str]) -> tuple[float, float]:
    """Returns the inches of a grid with a row for every name, beside which the names have room."""
    return 6.4 + 0.09 * max(0, max(map(len, names), default=0) - 20), max(4.8, 1.2 + 0.3 * len(names))


def height_shown(curves: list[np.ndarray]) -> float | None:
    """Returns the height at which a picture of curves ends, None for that of the tallest.

    One that grows without bound would press those flat that end at a number.
    """
    tallest = max((values[np.isfinite(values)].max(initial=0.0) for values in curves), default=0.0)
    ends = max((values[-1] for values in curves if np.isfinite(values[-1])), default=tallest)
    return 3 * ends if tallest > 10 * ends > 0 else None


def style_of(number: int) -> str:
    """Returns the line of a curve, which differs where matplotlib gives the same colour again, after ten of them."""
    return ("-", "--", ":", "-.")[number // 10 % 4]


def geometric_edges(Cs: np.ndarray) -> np.ndarray:
    """Returns the edges of cells around ascending values, halfway between them on a logarithmic axis; one alone has two decades."""
    if len(Cs) == 1:
        return Cs[0] * 10 ** np.array([-1.0, 1.0])
    between = np.sqrt(Cs[:-1]) * np.sqrt(Cs[1:])
    return np.concatenate([[Cs[0] * (Cs[0] / between[0])], between, [Cs[-1] * (Cs[-1] / between[-1])]])


def places(y: Any, classes: Any) -> tuple[np.ndarray, int]:
    """Returns the index of the class of each sample among the classes (by default those of y), and the number of classes."""
    y = column_or_1d(array_of(y))
    refuse_gaps(y, "y")
    known = np.unique(y) if classes is None else np.asarray(classes)
    if len(known) < 2:
        raise ValueError(f"y has the classes {known.tolist()}, but there must be at least two: pass all of them as classes.")
    place_of = {label: place for place, label in enumerate(known.tolist())}
    labels = y.tolist()
    strange = next((row for row, label in enumerate(labels) if label not in place_of), None)
    if strange is not None:
        raise ValueError(f"y has the class {labels[strange]!r} in row {strange}, but the classes are {known.tolist()}.")
    return np.array([place_of[label] for label in labels]), len(known)


def scores_shown(scores: Any, rows: int, classes: int) -> np.ndarray:
    """Returns the scores of samples, and refuses another number of them and scores that are not finite."""
    scores = floats_of(scores, "scores")
    expected = (rows,) if classes == 2 else (rows, classes)
    if scores.shape not in {expected, (rows, classes)}:
        raise ValueError(f"scores has the shape {scores.shape}, but must have the shape {expected}: {rows} samples of {classes} classes.")
    assert_all_finite(scores, input_name="scores")
    return scores


def curve_shown(values: Any, name: str, shape: tuple[int, ...] | None = None) -> np.ndarray:
    """Returns the numbers of a curve or grid, of the shape if one is given; they may be infinite or NaN."""
    numbers = floats_of(values, name)
    if shape is None and (numbers.ndim != 1 or not len(numbers)):
        raise ValueError(f"{name} has the shape {numbers.shape}, but must have one dimension and a number at least.")
    if shape is not None and numbers.shape != shape:
        raise ValueError(f"{name} has the shape {numbers.shape}, but must have the shape {shape}.")
    return numbers


def place_shown(place: Any, name: str, count: int) -> int:
    """Returns a place on a curve of so many numbers."""
    if not isinstance(place, (int, np.integer)) or not 0 <= place < count:
        raise ValueError(f"{name} is {place!r}, but must be a whole number from 0 to {count - 1}.")
    return int(place)
