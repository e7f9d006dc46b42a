"""Warnings about fits: which gaps exceed their tolerance, which limits ended them, and what to do."""

from __future__ import annotations

import os
import sys
import warnings
from typing import Any

import numpy as np
import sklearn
from sklearn.exceptions import ConvergenceWarning


def caller_level() -> int:
    """Returns the stack level of a warning that belongs to the caller of this package."""
    level, frame = 1, sys._getframe(1)
    while frame.f_back is not None and frame.f_code.co_filename.startswith((os.path.dirname(__file__), os.path.dirname(sklearn.__file__))):
        level, frame = level + 1, frame.f_back
    return level


def warn_of_gap(report: dict[str, Any], tolerance: float, remedy: str = "Try another solver or a larger tol.") -> None:
    """Warns once that a fit is not certified, with its gap, the tolerance and what to do: `remedy` if the method met its own rule."""
    # The allowance for rounding must be within the tolerance as well.
    ends = zip(np.maximum(report["relative_gap"], report["relative_rounding"]), report["relative_gap"], report["status"], report["reason"])
    left = [end for end in ends if end[2] != "converged"]
    if not left:
        return
    open_, gap, status, reason = max(left, key=lambda end: end[0] if end[0] == end[0] else np.inf)
    remedy = _REMEDIES.get(status, remedy)
    what = "relative duality gap" if gap == open_ or gap != gap else "allowance for rounding in the relative duality gap"
    warnings.warn(
        f"The {what} is {open_:.1e}, above the tolerance {tolerance:.1e} (status {status}): {reason}. {remedy}",
        ConvergenceWarning,
        stacklevel=caller_level(),
    )


def warn_of_report(report: dict[str, Any]) -> None:
    """Issues the warnings in the report on a fit."""
    for sentence in report["warnings"]:
        warnings.warn(sentence, UserWarning, stacklevel=caller_level())


def warn_of_end(report: dict[str, Any]) -> None:
    """Warns if a descent without a certificate did not end by its rule."""
    ends = zip(report["status"], report["reason"])
    early = next((end for end in ends if end[0] not in ("converged", "rule-met")), None)
    if early is not None:
        remedy = _REMEDIES.get(early[0], "Raise tol.")
        warnings.warn(f"The descent ended early (status {early[0]}): {early[1]}. {remedy}", ConvergenceWarning, stacklevel=caller_level())


def warn_of_time(status: str, work: str) -> None:
    """Warns if the time limit ended a method without a certificate."""
    if status == "time-limit":
        message = f"The time limit ended {work}. {_REMEDIES[status]}"
        warnings.warn(message, ConvergenceWarning, stacklevel=caller_level())


def warn_of_plan(plan: str, needed: int | None, samples: int, learner: str) -> None:
    """Warns if the proof of a plan needs more samples than there are."""
    if plan == "proven" and needed is not None and samples < needed:
        of_steps = f"massart.plan(..., samples={samples}) returns what they prove"
        what = "massart.cut_plan(...) returns what the proof needs" if learner == "cuts" else of_steps
        warnings.warn(
            f"plan='proven' has its guarantee for {needed} fresh samples, and there are {samples}. error_bound_ holds nevertheless. "
            f"margins_learn.{what}.",
            UserWarning,
            stacklevel=caller_level(),
        )


def warn_of_no_use(who: str, error: float, rows: str, baseline: float, standardized: bool) -> None:
    """Warns if a classifier is not better than always predicting the larger class."""
    if error >= baseline:
        remedy = "The features may not separate the classes." if standardized else "Set standardize=True."
        warnings.warn(
            f"{who} is wrong on {error:.1%} of {rows}, and always predicting the larger class on {baseline:.1%}. {remedy}",
            UserWarning,
            stacklevel=caller_level(),
        )


_REMEDIES = {
    "iteration-limit": "Raise max_iter, or standardize the features.",
    "time-limit": "Raise time_limit, or accept the point reached.",
    "interrupted": "The point reached is kept.",
    "stalled": "Standardize the features, or raise tol.",
    "rounding-limit": "Standardize the features, raise tol, or lower C.",
    "no-minimum": "Use a finite C, and penalty factors above 0.",
    "unbounded": "Set class_weight='balanced', use penalty factors above 0, or use another loss.",
    "truncated": "Use a more accurate approximation of the kernel.",
    "numerical-trouble": "Standardize the features.",
    "contradicted": "Run the test-kit of losses on the loss.",
}
