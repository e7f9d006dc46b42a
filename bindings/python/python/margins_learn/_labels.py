"""The labels, weights and folds of samples, and the names of classes in files."""

from __future__ import annotations

import re
import warnings
from contextlib import suppress
from numbers import Real
from typing import Any

import numpy as np
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import _num_samples, assert_all_finite, column_or_1d

from ._values import BLOCK_ROWS, aligned, array_of, floats_of, once, refuse_gaps
from ._warnings import caller_level

# How numbers are written: "01" and "1_0" are codes, and "inf" and "nan" are words.
_WHOLE = re.compile(r"[+-]?(0|[1-9][0-9]*)")
_NUMBER = re.compile(r"[+-]?((0|[1-9][0-9]*)(\.[0-9]*)?|\.[0-9]+)([eE][+-]?[0-9]+)?")


def targets_of(y: Any) -> tuple[np.ndarray, np.ndarray]:
    """Returns the sorted classes, and the index of the class of every sample."""
    if y is None:
        raise ValueError("This estimator requires y to be passed, but the target y is None.")
    y = column_or_1d(array_of(y), warn=True)
    classes = distinct(y)
    # The distinct labels show whether they are measurements, unless most samples have labels of their own.
    check_classification_targets(y if 2 * len(classes) > len(y) else np.repeat(classes, 2))
    if len(classes) < 2:
        found = f"one class, {classes.tolist()[0]!r}" if len(classes) else "no labels"
        raise ValueError(f"y has {found}, but a classifier needs samples of two classes.")
    if len(classes) == len(y) > 2:
        warnings.warn(f"Each of the {len(y)} samples has its own class: does y contain names of samples?", stacklevel=caller_level())
    return classes, _indices(classes, y)


def distinct(y: np.ndarray) -> np.ndarray:
    """Returns the distinct labels, sorted, and refuses missing labels and labels that cannot be sorted.

    It processes some labels at a time, so that Ctrl-C takes effect between them.
    """
    try:
        return _distinct(y)
    except TypeError as error:
        kinds = sorted({type(label).__name__ for label in y})
        raise TypeError(f"y has labels of the types {', '.join(kinds)}, which cannot be sorted: make all of them strings or numbers.") from error


def _distinct(y: np.ndarray) -> np.ndarray:
    parts = []
    for start in range(0, len(y), BLOCK_ROWS):
        part = y[start : start + BLOCK_ROWS]
        refuse_gaps(part, "y", start)
        assert_all_finite(part, input_name="y")
        parts.append(np.unique(once(part) if y.dtype == object else part))
    return np.unique(np.concatenate(parts)) if parts else y


def _indices(classes: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Returns the index of the class of every sample, without larger arrays in between."""
    indices = np.empty(len(y), dtype=np.uint8 if len(classes) <= 256 else np.uint32)
    for start in range(0, len(y), BLOCK_ROWS):
        stop = start + BLOCK_ROWS
        indices[start:stop] = np.searchsorted(classes, y[start:stop])
    return indices


def names_of(classes: np.ndarray) -> list[str]:
    """Returns the names of classes in files: times as numpy writes them, durations as numbers of their unit."""
    if classes.dtype.kind == "M":
        return np.datetime_as_string(classes).tolist()
    return [str(label) for label in (classes.astype(np.int64) if classes.dtype.kind == "m" else classes).tolist()]


def label_type_of(classes: np.ndarray) -> str | None:
    """Returns the dtype of classes as files name it; None of objects that are not all texts."""
    return classes.dtype.str if classes.dtype != object or all(isinstance(label, str) for label in classes) else None


def classes_named(names: list[str], label_type: str | None = None) -> np.ndarray:
    """Returns the classes of a file by their names, of the dtype in the file.

    Without one they are whole numbers or numbers if all names are written as such, else the names.
    """
    if label_type is None:
        return _classes_like(names)
    try:
        dtype = np.dtype(label_type)
        if dtype.kind not in "biufUOMm":
            raise TypeError(f"{dtype} is not the dtype of labels")
        if dtype.kind == "m":
            return np.array(names, dtype=np.int64).astype(dtype)
        return np.array([name == "True" for name in names] if dtype.kind == "b" else names, dtype=dtype)
    except (TypeError, OverflowError) as error:
        raise ValueError(str(error)) from error


def _classes_like(names: list[str]) -> np.ndarray:
    """Returns the classes as numbers if all names are written as numbers, else as text."""
    if not all(_WHOLE.fullmatch(name) for name in names):
        return np.array(names, dtype=float if all(_NUMBER.fullmatch(name) for name in names) else str)
    numbers = [int(name) for name in names]
    for dtype in (np.int64, np.uint64):
        with suppress(OverflowError):
            return np.array(numbers, dtype=dtype)
    return np.array(numbers, dtype=object)


def weights_of(sample_weight: Any, X: Any, *, zeros: bool = False) -> np.ndarray | None:
    """Returns the weights of the samples; the library refuses negative ones.

    Raises `ValueError` if all weights are zero, unless `zeros` is true, as for a part of the samples.
    """
    if sample_weight is None:
        return None
    weights = floats_of(sample_weight, "sample_weight")
    rows = _num_samples(X)
    if weights.ndim == 0:
        return np.full(rows, float(weights))
    if weights.shape != (rows,):
        raise ValueError(f"sample_weight has the shape {weights.shape}, but must have the shape ({rows},).")
    if not zeros and not weights.any():
        raise ValueError("All weights in sample_weight are zero: at least one sample of each class needs a positive weight.")
    return aligned(np.ascontiguousarray(weights))


def fold_names(folds: np.ndarray, name: str) -> list[str]:
    """Returns the names of the folds of all rows; a name is a string or a whole number of at least 0, and none may be missing."""
    if folds.ndim == 1:
        refuse_gaps(folds, name)
    if folds.ndim != 1 or folds.dtype.kind not in "OU":
        return [str(fold) for fold in whole_folds(folds, name)]
    names = []
    for row, fold in enumerate(folds.tolist()):
        is_number = isinstance(fold, Real) and fold >= 0 and fold % 1 == 0
        if not (is_number or isinstance(fold, str) and fold.strip()):
            raise ValueError(f"{name} has {fold!r} in row {row}, but must have whole numbers of at least 0 or strings.")
        names.append(str(int(fold)) if is_number else fold)
    return names


def whole_folds(folds: np.ndarray, name: str) -> list[int]:
    """Returns the numbers of folds, which must be whole and at least 0."""
    if folds.ndim != 1 or folds.dtype.kind not in "biuf":
        raise ValueError(f"{name} has the shape {folds.shape} and the dtype {folds.dtype}, but must have the name or number of a fold for every row.")
    strange = np.flatnonzero(~(np.isfinite(folds) & (folds >= 0) & (folds == np.floor(folds))))
    if len(strange):
        raise ValueError(f"{name} has {folds[strange[0]].item()!r} in row {strange[0]}, but must have whole numbers of at least 0 or strings.")
    return [int(fold) for fold in folds.tolist()]
