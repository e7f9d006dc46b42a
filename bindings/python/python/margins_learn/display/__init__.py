"""Plots in the pattern of scikit-learn's displays; matplotlib is imported when one is drawn."""

from ._coefficient_path import CoefficientPathDisplay
from ._error_path import ErrorPathDisplay
from ._kernel_grid import KernelGridDisplay
from ._margin_distribution import MarginDistributionDisplay
from ._psi import PsiDisplay
from ._reliability import ReliabilityDisplay

__all__ = [
    "CoefficientPathDisplay",
    "ErrorPathDisplay",
    "KernelGridDisplay",
    "MarginDistributionDisplay",
    "PsiDisplay",
    "ReliabilityDisplay",
]
