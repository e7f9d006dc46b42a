"""The chunks of samples that `partial_fit` takes."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import column_or_1d

from ._inputs import checked
from ._values import array_of, refuse_gaps


def chunk_of(estimator: Any, X: Any, y: Any, classes: Any, first: bool) -> tuple[Any, np.ndarray, np.ndarray]:
    """Returns the checked samples of a chunk, all classes of the stream, and the index of the class of every sample.

    The first chunk sets the features and the classes, which later chunks must have.
    """
    X = checked(estimator, X, reset=first)
    y = column_or_1d(array_of(y), warn=True)
    refuse_gaps(y, "y")
    known = _known_classes(estimator, y, classes, first)
    strange = y[~np.isin(y, known)]
    if len(y) != X.shape[0] or len(strange):
        what = f"has {len(y)} labels for {X.shape[0]} samples" if len(y) != X.shape[0] else f"has the class {strange.tolist()[0]!r}"
        remedy = " Pass all classes with the first chunk." if len(strange) else ""
        raise ValueError(f"y {what}, but must have one of the classes {known.tolist()} for each sample.{remedy}")
    return X, known, np.searchsorted(known, y).astype(np.uint32)


def _known_classes(estimator: Any, y: np.ndarray, classes: Any, first: bool) -> np.ndarray:
    """Returns the classes of the stream, and refuses others than before."""
    if first:
        known = y if classes is None else array_of(classes)
        refuse_gaps(known, "classes")
        known = np.unique(known)
        # One label per class looks like measurements.
        check_classification_targets(np.repeat(known, 2))
        if len(known) == 1:
            raise ValueError(f"The first chunk has one class, {known.tolist()[0]!r}: pass all of them as classes.")
        return known
    if classes is not None and not np.array_equal(np.unique(classes), estimator.classes_):
        raise ValueError(f"classes is {list(classes)!r}, but was {estimator.classes_.tolist()} before.")
    return estimator.classes_
