"""The fits along a path of C."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from . import _native
from ._base import warn_of_gap
from ._inputs import Cs_given, Cs_of, numbers_of
from ._progress import announced
from ._regularised import OneKernel, explained


@explained
class MarginPath(OneKernel):
    """The fits along a whole path of C, each with its duality gap.

    Parameters
    ----------
    loss : str, default="lhs"
        The loss, as `MarginClassifier` takes it.
    Cs : array, int or None, default=None
        The values of C, or their number from 1e-4 to 1e4, evenly on a logarithmic scale; None takes 33 such values if
        `lambdas` is None too.
    lambdas : array or None, default=None
        The values of lambda, instead of `Cs`.
    kernel : str, callable or None, default=None
        The kernel, as `MarginClassifier` takes it.
    gamma, degree, coef0, approximation, memory, certify_exact, encode, fit_intercept, standardize, class_weight, multi_class, solver, tol, \
max_iter, time_limit, random_state, n_jobs, callback, progress, verbose
        As `MarginClassifier` takes them.

    Attributes
    ----------
    lambdas_, Cs_ : array of shape (n_Cs,)
        The path, from the largest lambda to the least.
    coefs_ : array of shape (n_Cs, n_members, n_functions)
        The coefficients: of the features of a linear classifier, of the samples with a kernel.
    intercepts_ : array of shape (n_Cs, n_members)
        The intercepts.
    objectives_, lower_bounds_, dual_gaps_, relative_gaps_ : array of shape (n_Cs, n_members)
        The objectives, bounds below which their minima are not, and the distances.
    relative_roundings_ : array of shape (n_Cs, n_members)
        The allowances for rounding that the relative gaps leave out.
    exact_objectives_, exact_lower_bounds_, exact_dual_gaps_, exact_relative_gaps_, exact_relative_roundings_ : \
array of shape (n_Cs, n_members)
        The same numbers for the kernel itself, with `certify_exact`.
    statuses_ : array of shape (n_Cs, n_members)
        The ends of the fits.
    n_iter_ : int
        The most iterations of a fit, at least 1; fits on the ray in closed form take none.
    kernel_ : str
        The kernel with all of its parameters. Linear fits have none.
    classes_, n_features_in_, feature_names_in_, encoded_names_
        The facts of the data, as `MarginClassifier` has them.

    Examples
    --------
    >>> import numpy as np
    >>> from margins_learn import MarginPath
    >>> X = np.random.default_rng(1).normal(size=(60, 2))
    >>> path = MarginPath("logistic", Cs=[0.01, 1.0, 100.0]).fit(X, X[:, 0] > 0)
    >>> path.coefs_.shape, bool((path.relative_gaps_ <= 1e-6).all())
    ((3, 1, 2), True)
    """

    classes_: np.ndarray
    lambdas_: np.ndarray
    Cs_: np.ndarray
    coefs_: np.ndarray
    intercepts_: np.ndarray
    objectives_: np.ndarray
    lower_bounds_: np.ndarray
    dual_gaps_: np.ndarray
    relative_gaps_: np.ndarray
    relative_roundings_: np.ndarray
    exact_objectives_: np.ndarray
    exact_lower_bounds_: np.ndarray
    exact_dual_gaps_: np.ndarray
    exact_relative_gaps_: np.ndarray
    exact_relative_roundings_: np.ndarray
    statuses_: np.ndarray
    n_iter_: int

    def __init__(
        self,
        loss: str = "lhs",
        Cs: Any = None,
        lambdas: Any = None,
        kernel: str | Callable[[Any, Any], Any] | None = None,
        *,
        gamma: float | str | None = None,
        degree: float | None = None,
        coef0: float | None = None,
        approximation: str | None = None,
        memory: int | str | None = None,
        certify_exact: bool = False,
        encode: bool | dict[str, Any] = False,
        fit_intercept: bool = True,
        standardize: bool = False,
        class_weight: Any = None,
        multi_class: str = "ovr",
        solver: str = "auto",
        tol: float = 1e-6,
        max_iter: int | None = None,
        time_limit: float | None = None,
        random_state: Any = None,
        n_jobs: int | None = None,
        callback: Callable[[dict[str, Any]], Any] | None = None,
        progress: bool = False,
        verbose: bool = False,
    ) -> None:
        self.loss = loss
        self.Cs = Cs
        self.lambdas = lambdas
        self.kernel = kernel
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.approximation = approximation
        self.memory = memory
        self.certify_exact = certify_exact
        self.encode = encode
        self.fit_intercept = fit_intercept
        self.standardize = standardize
        self.class_weight = class_weight
        self.multi_class = multi_class
        self.solver = solver
        self.tol = tol
        self.max_iter = max_iter
        self.time_limit = time_limit
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.callback = callback
        self.progress = progress
        self.verbose = verbose

    @announced
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> MarginPath:
        """Fits at every C.

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
        self : MarginPath
            The path.
        """
        report = self._fit(
            _native.fit_path,
            X,
            y,
            sample_weight,
            Cs=Cs_given(self.Cs),
            lambdas=numbers_of(self.lambdas, "lambdas"),
        )
        self.lambdas_ = report["lambdas"]
        self.Cs_ = Cs_of(self.lambdas_, report["rows"], self.Cs)
        self.coefs_, self.intercepts_ = report["coef"], report["intercept"]
        self.objectives_, self.lower_bounds_ = report["objective"], report["lower_bound"]
        self.dual_gaps_, self.relative_gaps_ = report["dual_gap"], report["relative_gap"]
        self.relative_roundings_ = report["relative_rounding"]
        self._adopt_exact({name + "s": values for name, values in report.get("exact", {}).items()})
        self.statuses_ = np.array(report["status"])
        self.n_iter_ = max(1, int(report["iterations"].max()))
        flat = {name: np.ravel(report[name]) for name in ("relative_gap", "relative_rounding", "status", "reason")}
        warn_of_gap(flat, self.tol)
        return self

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "coefs_")

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        return tags
