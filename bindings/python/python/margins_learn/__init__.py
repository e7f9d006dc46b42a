"""Margin losses for scikit-learn: regularised convex fits with a duality gap."""

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
