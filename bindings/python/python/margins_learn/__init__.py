"""Margin losses for scikit-learn: regularised convex fits with a duality gap.

The estimators follow the interface of scikit-learn, and work in its pipelines, searches and metrics:

* `MarginClassifier` fits a linear or kernel classifier at one C, as `LogisticRegression`, `LinearSVC` and `SVC` do.
* `MarginClassifierCV` chooses C and the kernel by cross-validation first, as `LogisticRegressionCV` and a search over `SVC` do.
* `MarginPath` keeps the classifiers along a whole path of C; `separable_limit` returns its limit for separable classes.
* `RobustClassifier` minimises an objective that single wrong samples cannot dominate.
* `StreamClassifier` learns sample by sample, also in chunks with `partial_fit`, as `SGDClassifier` does.
* `MassartClassifier` learns a halfspace from noisy labels, with a bound on its error.
* `FocusedClassifier` minimises the largest loss of a sample; `FocusedRegressor` does so in regression, and `FocusedSampler`
  draws samples so for any online learner.

After a fit `relative_gap_` bounds the distance of the objective from the minimum, and `status_` is "converged" if the gap is at
most `tol`. `load` reads a file that `save` has written, and `to_onnx` converts a classifier to ONNX. The modules `losses` and
`calibration` have functions of the losses, `bounds` the theorems on the maximal loss, `massart` and `simulate` simulated data,
`display` has plots, and `blocks` writes files for data larger than memory.
`margins_learn.dask` and `margins_learn.ray`, which must be imported explicitly, fit data on the workers of a cluster.

>>> from margins_learn import MarginClassifierCV, losses
>>> X, y = [[0.0], [1.0], [2.0], [3.0], [4.0], [5.0]], ["low", "low", "low", "high", "high", "high"]
>>> model = MarginClassifierCV("logistic", cv=3).fit(X, y)
>>> model.status_, model.predict([[6.0]]).tolist()
('converged', ['high'])
>>> losses.names()[:3]
['dwd', 'exponential', 'garg-roth']
"""

from . import blocks, bounds, calibration, display, losses, massart, simulate
from ._files import load
from ._focused import FocusedClassifier
from ._massart import MassartClassifier
from ._native import __version__
from ._path import MarginPath, separable_limit
from ._regressor import FocusedRegressor
from ._regularised import MarginClassifier
from ._robust import RobustClassifier
from ._sampler import FocusedSampler
from ._search import MarginClassifierCV
from ._stream import StreamClassifier
from .onnx import to_onnx

__all__ = [
    "FocusedClassifier",
    "FocusedRegressor",
    "FocusedSampler",
    "MarginClassifier",
    "MarginClassifierCV",
    "MarginPath",
    "MassartClassifier",
    "RobustClassifier",
    "StreamClassifier",
    "blocks",
    "bounds",
    "calibration",
    "display",
    "load",
    "losses",
    "massart",
    "separable_limit",
    "simulate",
    "to_onnx",
    "__version__",
]
