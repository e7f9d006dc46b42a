"""Classifiers of objectives that no single sample rules."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from . import _native
from ._base import ModelClassifier, warn_of_end, warn_of_gap
from ._progress import announced
from ._regularised import OneKernel, explained


@explained
class RobustClassifier(OneKernel, ModelClassifier):
    """A classifier that minimises a robust objective instead of the mean loss.

    Parameters
    ----------
    objective : str, default="margin-distribution:mean=1,variance=1"
        The objective: `"margin-distribution:mean=1,variance=1"`, which has a gap, `"catoni:alpha=1"`,
        `"median-of-means:blocks=11"`, or `"garg-roth:restarts=10"` for the loss of that name.
    loss : str, default="hinge"
        The loss, as `MarginClassifier` takes it. The margin distribution shifts scores, and takes a loss without
        probabilities.
    C : float, default=1.0
        The weight of the objective against the penalty, `1/(2 n lambda)`.
    kernel : str, callable or None, default=None
        The kernel, which must be approximated by features.
    gamma, degree, coef0, approximation, encode, fit_intercept, standardize, class_weight, multi_class
        As `MarginClassifier` takes them.
    tol : float, default=1e-9
        The relative duality gap to reach, or, for an objective without a gap, the relative decrease over twenty steps that ends the descent.
    max_iter, time_limit, random_state, n_jobs, callback, progress, verbose
        As `MarginClassifier` takes them.

    Attributes
    ----------
    classes_, coef_, dual_coef_, intercept_, kernel_, lambda_, objective_, lower_bound_, dual_gap_, relative_gap_, relative_rounding_, gradient_norm_, \
status_, n_iter_, \
model_, n_features_in_, feature_names_in_, encoded_names_
        The facts of the fit, as `MarginClassifier` has them. An objective that is not convex has `gradient_norm_` instead of
        `lower_bound_`, `dual_gap_` and `relative_gap_`, and `status_` is how the descent ended: "rule-met" if no step gains more than `tol`, or after all
        steps of the median of means.

    Examples
    --------
    >>> from margins_learn import RobustClassifier
    >>> X, y = [[0.0], [1.0], [2.0], [3.0]], [0, 0, 1, 1]
    >>> robust = RobustClassifier(C=10.0).fit(X, y)
    >>> robust.predict([[0.0], [3.0]]).tolist(), robust.status_
    ([0, 1], 'converged')
    """

    lambda_: float

    def __init__(
        self,
        objective: str = "margin-distribution:mean=1,variance=1",
        loss: str = "hinge",
        C: float = 1.0,
        kernel: str | Callable[[Any, Any], Any] | None = None,
        *,
        gamma: float | str | None = None,
        degree: float | None = None,
        coef0: float | None = None,
        approximation: str | None = None,
        encode: bool | dict[str, Any] = False,
        fit_intercept: bool = True,
        standardize: bool = False,
        class_weight: Any = None,
        multi_class: str = "ovr",
        tol: float = 1e-9,
        max_iter: int | None = None,
        time_limit: float | None = None,
        random_state: Any = None,
        n_jobs: int | None = None,
        callback: Callable[[dict[str, Any]], Any] | None = None,
        progress: bool = False,
        verbose: bool = False,
    ) -> None:
        self.objective = objective
        self.loss = loss
        self.C = C
        self.kernel = kernel
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.approximation = approximation
        self.encode = encode
        self.fit_intercept = fit_intercept
        self.standardize = standardize
        self.class_weight = class_weight
        self.multi_class = multi_class
        self.tol = tol
        self.max_iter = max_iter
        self.time_limit = time_limit
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.callback = callback
        self.progress = progress
        self.verbose = verbose

    @announced
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> RobustClassifier:
        """Fits the classifier.

        Parameters
        ----------
        X : array, sparse matrix or data frame of shape (n_samples, n_features)
            The samples.
        y : array of shape (n_samples,)
            Their classes.
        sample_weight : array of shape (n_samples,) or None, default=None
            Their weights, 1 for None.

        Returns
        -------
        self : RobustClassifier
            The classifier, fitted.
        """
        report = self._fit(_native.fit_robust, X, y, sample_weight)
        self._adopt(report["model"])
        self._adopt_report(report)
        self.lambda_ = report["lambdas"][0]
        if report["certifiable"]:
            warn_of_gap(report, self.tol)
        else:
            warn_of_end(report)
        return self
