"""Margin losses for scikit-learn: regularised convex fits with a duality gap.

The estimators are classifiers as scikit-learn has them, for its pipelines, searches and metrics:

* `MarginClassifier` fits a linear or kernel classifier at one C, as `LogisticRegression`, `LinearSVC` and `SVC` do.
* `MarginClassifierCV` chooses C and the kernel by cross-validation first, as `LogisticRegressionCV` and a search over `SVC` do.
* `MarginPath` keeps the coefficients along a whole path of C.
* `RobustClassifier` minimises an objective that no single sample rules.
* `StreamClassifier` learns by steps, chunk by chunk with `partial_fit`, as `SGDClassifier` does.
* `MassartClassifier` learns a halfspace although labels lie.
* `FocusedClassifier` makes the largest loss of a sample small.

After a fit `relative_gap_` bounds the distance of its objective from the minimum, and `status_` is "converged" if that is at
most `tol`. `load` reads what `save` has written, and `to_onnx` makes a graph of a classifier. The modules `losses` and
`calibration` have functions of the losses, `display` has pictures, `blocks` has files for data larger than memory, and
`margins_learn.dask` and `margins_learn.ray`, which are imported by themselves, fit to what the workers of a cluster hold.

>>> from margins_learn import MarginClassifierCV, losses
>>> X, y = [[0.0], [1.0], [2.0], [3.0], [4.0], [5.0]], ["low", "low", "low", "high", "high", "high"]
>>> model = MarginClassifierCV("logistic", cv=3).fit(X, y)
>>> model.status_, model.predict([[6.0]]).tolist()
('converged', ['high'])
>>> losses.names()[:3]
['dwd', 'exponential', 'garg-roth']
"""

from . import blocks, calibration, display, losses
from ._files import load
from ._focused import FocusedClassifier
from ._massart import MassartClassifier
from ._native import __version__
from ._path import MarginPath
from ._regularised import MarginClassifier
from ._robust import RobustClassifier
from ._search import MarginClassifierCV
from ._stream import StreamClassifier
from .onnx import to_onnx

__all__ = [
    "FocusedClassifier",
    "MarginClassifier",
    "MarginClassifierCV",
    "MarginPath",
    "MassartClassifier",
    "RobustClassifier",
    "StreamClassifier",
    "blocks",
    "calibration",
    "display",
    "load",
    "losses",
    "to_onnx",
    "__version__",
]
