"""Classifiers that minimise a regularised risk, with a duality gap."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn.model_selection import check_cv
from sklearn.utils.validation import _num_samples

from . import _native
from ._base import Fitting, ModelClassifier, warn_of_gap
from ._inputs import checked
from ._progress import watchers

PRECOMPUTED = "precomputed"


class _Regularised(Fitting):
    """What all fits of a regularised risk have in common."""

    def _fit(self, fit: Callable[..., dict[str, Any]], X: Any, y: Any, sample_weight: Any, **changed: Any) -> dict[str, Any]:
        """Returns the report of a fit by a function of the native module."""
        settings = self._settings(class_weight=self._class_costs(), **changed)
        data = self._data(X, y, sample_weight)
        with watchers(self.callback, self.progress) as watching:
            return fit(data, settings, watching)


class _OneKernel(_Regularised):
    """A fit with one kernel, which may be a function of Python."""

    def _is_precomputed(self) -> bool:
        return callable(self.kernel) or self.kernel == PRECOMPUTED

    def _kernel(self) -> Any:
        """Returns the kernel for the native module."""
        return PRECOMPUTED if callable(self.kernel) else self.kernel

    def _data(self, X: Any, y: Any, sample_weight: Any) -> dict[str, Any]:
        if callable(self.kernel):
            self.X_fit_ = checked(self, X, reset=True)
        return super()._data(X, y, sample_weight)

    def _functions(self, X: Any) -> Any:
        if not callable(self.kernel):
            return X
        matrix = np.asarray(self.kernel(X, self.X_fit_), dtype=np.float64)
        expected = (X.shape[0], self.X_fit_.shape[0])
        if matrix.shape != expected:
            raise ValueError(f"The kernel returned an array of shape {matrix.shape}, but must return {expected}.")
        return matrix

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.pairwise = isinstance(self.kernel, str) and self.kernel == PRECOMPUTED
        return tags


class MarginClassifier(_OneKernel, ModelClassifier):
    """A linear or kernel classifier at one C, with a duality gap.

    It minimises `(1/n) sum_i c_i L(y_i f(x_i)) + lambda ||f||^2`, where `lambda = 1/(2 n C)`, `n` counts the rows and
    `c_i` are their weights. The intercept is not penalised.

    Parameters
    ----------
    loss : str, default="lhs"
        The loss, a name or `name:parameter=value,...`, such as `"lhs"`, `"logistic"` or `"l-r:r=2"`. The function
        `margins_learn.losses.names` lists the names.
    C : float, default=1.0
        The weight of the loss against the penalty.
    kernel : str, callable or None, default=None
        The kernel, such as `"gaussian"`, `"gaussian:sigma=0.5"` or `"precomputed"`, or a function of two matrices that
        returns their kernel matrix. None fits a linear classifier.
    approximation : str or None, default=None
        The approximation of the kernel for many rows: `"cholesky"`, `"nystrom:m=1000"` or `"rff:m=2000"`.
    fit_intercept : bool, default=True
        True adds an intercept.
    standardize : bool, default=False
        True scales the features to unit standard deviation for the fit.
    class_weight : dict, "balanced" or None, default=None
        The cost of an error on a sample of each class, 1 for a class that is not named. "balanced" gives the two sides
        of every binary problem the same total weight.
    multi_class : {"ovr", "ovo"}, default="ovr"
        The binary problems that more than two classes are broken into.
    probability : {"loss", "platt"}, default="loss"
        The source of probabilities: the loss, or a scaling of scores of held-out folds.
    solver : str, default="auto"
        The solver: `"auto"`, `"newton"`, `"mm"`, `"mm-accelerated"`, `"mm-batched"`, `"sdca"`, `"bundle"` or `"gd"`.
    tol : float, default=1e-6
        The relative duality gap to reach.
    max_iter : int or None, default=None
        The most iterations; None takes the limit of the solver.
    time_limit : float or None, default=None
        The seconds after which the fit ends with the best point so far.
    random_state : int, RandomState or None, default=None
        The seed of folds, landmarks, random features and of the order of `"sdca"`; None takes the seed 1.
    n_jobs : int or None, default=None
        The number of threads, on which no result depends: one for None, all for -1.
    callback : callable or None, default=None
        A function that is called with a dictionary for every iteration. What it raises ends the fit.
    progress : bool, default=False
        True shows a bar of the fits made, for which tqdm must be installed.

    Attributes
    ----------
    classes_ : array of shape (n_classes,)
        The classes in order.
    coef_ : array of shape (n_members, n_features)
        The coefficients of a linear classifier, one row a binary problem.
    dual_coef_ : array of shape (n_members, n_functions)
        The coefficients of a kernel classifier.
    intercept_ : array of shape (n_members,)
        The intercepts.
    lambda_ : float
        The weight of the penalty, `1/(2 n C)`.
    objective_, lower_bound_, dual_gap_, relative_gap_ : float or array of shape (n_members,)
        The objective, a bound below which its minimum is not, their distance, and that relative to their size.
    status_ : str
        The end of the fit, "converged" if every gap is at most `tol`.
    n_iter_ : int
        The most iterations that a binary problem took, at least 1.
    model_ : Model
        The model, as files keep it.
    n_features_in_ : int
        The number of features.
    feature_names_in_ : array of shape (n_features_in_,)
        The names of the features, if they are all text.

    Examples
    --------
    >>> from margins_learn import MarginClassifier
    >>> X, y = [[0.0, 1.0], [1.0, 3.0], [2.0, 0.0], [3.0, 1.0]], ["ham", "ham", "spam", "spam"]
    >>> classifier = MarginClassifier(C=10.0).fit(X, y)
    >>> classifier.status_, bool(classifier.relative_gap_ <= 1e-6)
    ('converged', True)
    >>> classifier.predict([[3.0, 0.0]]).tolist()
    ['spam']
    """

    def __init__(
        self,
        loss: str = "lhs",
        C: float = 1.0,
        kernel: str | Callable[[Any, Any], Any] | None = None,
        *,
        approximation: str | None = None,
        fit_intercept: bool = True,
        standardize: bool = False,
        class_weight: Any = None,
        multi_class: str = "ovr",
        probability: str = "loss",
        solver: str = "auto",
        tol: float = 1e-6,
        max_iter: int | None = None,
        time_limit: float | None = None,
        random_state: Any = None,
        n_jobs: int | None = None,
        callback: Callable[[dict[str, Any]], Any] | None = None,
        progress: bool = False,
    ) -> None:
        self.loss = loss
        self.C = C
        self.kernel = kernel
        self.approximation = approximation
        self.fit_intercept = fit_intercept
        self.standardize = standardize
        self.class_weight = class_weight
        self.multi_class = multi_class
        self.probability = probability
        self.solver = solver
        self.tol = tol
        self.max_iter = max_iter
        self.time_limit = time_limit
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.callback = callback
        self.progress = progress

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> MarginClassifier:
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
        self : MarginClassifier
            The classifier, fitted.
        """
        report = self._fit(_native.fit_classifier, X, y, sample_weight, kernel=self._kernel())
        self._adopt(report["model"])
        self._adopt_report(report)
        self.lambda_ = report["lambdas"][0]
        warn_of_gap(report, self.tol)
        return self


class MarginClassifierCV(_Regularised, ModelClassifier):
    """A linear or kernel classifier at the C, and with the kernel, that cross-validation selects.

    The folds, all values of C and all binary problems share what can be computed once; then the classifier is fitted
    to all samples.

    Parameters
    ----------
    loss : str, default="lhs"
        The loss, as `MarginClassifier` takes it.
    Cs : array or None, default=None
        The values of C to choose from, the same for fits without a fold; 33 from 1e-4 to 1e4 if `lambdas` is None too.
    lambdas : array or None, default=None
        The values of lambda to choose from, in the place of `Cs`; fits without a fold then have the same lambda.
    kernels : list of str, str or None, default=None
        The kernels to choose from; None fits linear classifiers.
    approximation : str or None, default=None
        The approximation of every kernel, as `MarginClassifier` takes it.
    cv : int, splitter, array or None, default=None
        The number of stratified folds, drawn by `random_state`; 5 for None, or as many as the smallest class has
        samples. Else a splitter of scikit-learn or its splits,
        which hold out every row once; the fold of every row, counted from 0; or `"leave-one-out"` or `"one-step"` for
        two classes and a kernel.
    selection : {"best", "one-se"}, default="best"
        The rule: the C of the least error, or the least C within one standard error of it.
    abandon_hopeless : bool, default=False
        True gives values of C up that the first folds show to be hopeless.
    fit_intercept, standardize, class_weight, multi_class, probability, solver, tol, max_iter, random_state, n_jobs, \
callback, progress
        The settings of every fit, as `MarginClassifier` takes them.
    time_limit : float or None, default=None
        The seconds after which the search ends: it chooses among what is certified in four fifths of them.

    Attributes
    ----------
    best_C_, best_lambda_ : float
        The regularisation selected.
    best_kernel_ : str or None
        The kernel selected, with all of its parameters.
    path_ : dict of str to array
        What cross-validation found along the lambdas with the kernel selected: `Cs`, `lambdas`, `mean_error`,
        `standard_error`, `worst_relative_gap`, `certified` and `abandoned`, and the indices `best` and `one_se`.
    paths_ : dict of str to dict
        The same for each of several kernels.
    errors_ : array of shape (n_Cs,) or (n_kernels, n_Cs)
        The mean errors.
    folds_ : array of shape (n_samples,)
        The fold of every row.
    classes_, coef_, dual_coef_, intercept_, lambda_, objective_, lower_bound_, dual_gap_, relative_gap_, status_, n_iter_, \
model_, n_features_in_, feature_names_in_
        The facts of the final fit, as `MarginClassifier` has them.

    Examples
    --------
    >>> import numpy as np
    >>> from margins_learn import MarginClassifierCV
    >>> X = np.random.default_rng(1).normal(size=(60, 2))
    >>> search = MarginClassifierCV("logistic", Cs=[0.01, 1.0, 100.0]).fit(X, X[:, 0] > 0)
    >>> search.best_C_ in (0.01, 1.0, 100.0), search.errors_.shape
    (True, (3,))
    """

    def __init__(
        self,
        loss: str = "lhs",
        Cs: Any = None,
        lambdas: Any = None,
        kernels: Any = None,
        *,
        approximation: str | None = None,
        cv: Any = None,
        selection: str = "best",
        abandon_hopeless: bool = False,
        fit_intercept: bool = True,
        standardize: bool = False,
        class_weight: Any = None,
        multi_class: str = "ovr",
        probability: str = "loss",
        solver: str = "auto",
        tol: float = 1e-6,
        max_iter: int | None = None,
        time_limit: float | None = None,
        random_state: Any = None,
        n_jobs: int | None = None,
        callback: Callable[[dict[str, Any]], Any] | None = None,
        progress: bool = False,
    ) -> None:
        self.loss = loss
        self.Cs = Cs
        self.lambdas = lambdas
        self.kernels = kernels
        self.approximation = approximation
        self.cv = cv
        self.selection = selection
        self.abandon_hopeless = abandon_hopeless
        self.fit_intercept = fit_intercept
        self.standardize = standardize
        self.class_weight = class_weight
        self.multi_class = multi_class
        self.probability = probability
        self.solver = solver
        self.tol = tol
        self.max_iter = max_iter
        self.time_limit = time_limit
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.callback = callback
        self.progress = progress

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> MarginClassifierCV:
        """Selects C and the kernel, and fits the classifier with them.

        Parameters
        ----------
        X : array, sparse matrix or data frame of shape (n_samples, n_features)
            The samples.
        y : array of shape (n_samples,)
            Their classes.
        sample_weight : array of shape (n_samples,) or None, default=None
            Their weights, 1 for None, in the fits and in the errors.

        Returns
        -------
        self : MarginClassifierCV
            The classifier, fitted.
        """
        report = self._fit(
            _native.fit_cross_validated,
            X,
            y,
            sample_weight,
            Cs=_numbers(self.Cs),
            lambdas=_numbers(self.lambdas),
            kernels=[self.kernels] if isinstance(self.kernels, str) else self.kernels,
            cv=_folds(self.cv, X, y),
        )
        self._adopt(report["model"])
        self._adopt_report(report)
        rows = len(report["folds"])
        self.lambda_ = self.best_lambda_ = report["lambdas"][0]
        self.best_C_ = 1 / (2 * rows * self.lambda_)
        self.best_kernel_ = report["kernel"]
        self.folds_ = report["folds"]
        self.path_ = _with_Cs(report["curve"], rows)
        self.paths_ = {kernel: _with_Cs(curve, rows) for kernel, curve in report["curves"]}
        curves = [self.paths_[kernel] for kernel in self.paths_] or [self.path_]
        errors = [curve["mean_error"] for curve in curves]
        self.errors_ = errors[0] if len(errors) == 1 else np.stack(errors)
        warn_of_gap(report, self.tol)
        return self


class MarginPath(_OneKernel):
    """The fits along a whole path of C, each with its duality gap.

    Parameters
    ----------
    loss : str, default="lhs"
        The loss, as `MarginClassifier` takes it.
    Cs : array or None, default=None
        The values of C; 33 from 1e-4 to 1e4 if `lambdas` is None too.
    lambdas : array or None, default=None
        The values of lambda in the place of `Cs`.
    kernel : str, callable or None, default=None
        The kernel, as `MarginClassifier` takes it.
    approximation, fit_intercept, standardize, class_weight, multi_class, solver, tol, max_iter, time_limit, random_state, \
n_jobs, callback, progress
        The settings of every fit, as `MarginClassifier` takes them.

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
    statuses_ : array of shape (n_Cs, n_members)
        The ends of the fits.
    n_iter_ : int
        The most iterations of a fit, at least 1; fits on the ray in closed form take none.
    classes_, n_features_in_, feature_names_in_
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

    def __init__(
        self,
        loss: str = "lhs",
        Cs: Any = None,
        lambdas: Any = None,
        kernel: str | Callable[[Any, Any], Any] | None = None,
        *,
        approximation: str | None = None,
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
    ) -> None:
        self.loss = loss
        self.Cs = Cs
        self.lambdas = lambdas
        self.kernel = kernel
        self.approximation = approximation
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
            Cs=_numbers(self.Cs),
            lambdas=_numbers(self.lambdas),
            kernel=self._kernel(),
        )
        self.lambdas_ = report["lambdas"]
        self.Cs_ = 1 / (2 * report["rows"] * self.lambdas_)
        self.coefs_, self.intercepts_ = report["coef"], report["intercept"]
        self.objectives_, self.lower_bounds_ = report["objective"], report["lower_bound"]
        self.dual_gaps_, self.relative_gaps_ = report["dual_gap"], report["relative_gap"]
        self.statuses_ = np.array(report["status"])
        self.n_iter_ = max(1, int(report["iterations"].max()))
        self.kernel_ = report["kernel"]
        flat = {name: np.ravel(report[name]) for name in ("relative_gap", "status", "reason")}
        warn_of_gap(flat, self.tol)
        return self

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "coefs_")

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.target_tags.required = True
        return tags


class RobustClassifier(_OneKernel, ModelClassifier):
    """A classifier of a robust objective, in the place of the mean loss.

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
    approximation, fit_intercept, standardize, class_weight, multi_class, tol, max_iter, time_limit, random_state, n_jobs, \
callback, progress
        The settings of the fit, as `MarginClassifier` takes them.

    Attributes
    ----------
    classes_, coef_, dual_coef_, intercept_, lambda_, objective_, lower_bound_, dual_gap_, relative_gap_, status_, n_iter_, \
model_, n_features_in_, feature_names_in_
        The facts of the fit, as `MarginClassifier` has them. An objective that is not convex has no gap: it is
        infinite, and `status_` tells how the descent ended.

    Examples
    --------
    >>> from margins_learn import RobustClassifier
    >>> X, y = [[0.0], [1.0], [2.0], [3.0]], [0, 0, 1, 1]
    >>> robust = RobustClassifier(C=10.0).fit(X, y)
    >>> robust.predict([[0.0], [3.0]]).tolist(), robust.status_
    ([0, 1], 'converged')
    """

    def __init__(
        self,
        objective: str = "margin-distribution:mean=1,variance=1",
        loss: str = "hinge",
        C: float = 1.0,
        kernel: str | Callable[[Any, Any], Any] | None = None,
        *,
        approximation: str | None = None,
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
    ) -> None:
        self.objective = objective
        self.loss = loss
        self.C = C
        self.kernel = kernel
        self.approximation = approximation
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
        report = self._fit(_native.fit_robust, X, y, sample_weight, kernel=self._kernel())
        self._adopt(report["model"])
        self._adopt_report(report)
        self.lambda_ = report["lambdas"][0]
        if report["certifiable"]:
            warn_of_gap(report, self.tol)
        return self


def _numbers(values: Any) -> list[float] | None:
    """Returns the numbers of an array as a list."""
    return None if values is None else np.asarray(values, dtype=np.float64).ravel().tolist()


def _with_Cs(curve: dict[str, Any], rows: int) -> dict[str, Any]:
    """Returns the curve with the values of C beside the lambdas."""
    return {"Cs": 1 / (2 * rows * curve["lambdas"]), **curve}


def _folds(cv: Any, X: Any, y: Any) -> Any:
    """Returns a number of folds, the fold of every row, or a word, for the native module."""
    if cv is None or isinstance(cv, (str, int, np.integer)):
        return cv if cv is None or isinstance(cv, str) else int(cv)
    if isinstance(cv, (np.ndarray, list, tuple)) and all(isinstance(fold, (int, np.integer)) for fold in cv):
        return [int(fold) for fold in cv]
    rows = _num_samples(X)
    splits = list(check_cv(cv, y, classifier=True).split(np.zeros(rows), y))
    folds = np.full(rows, -1)
    for fold, (train, test) in enumerate(splits):
        once = len(train) + len(test) == rows and (folds[test] < 0).all()
        folds[test] = fold if once else -1
    if (folds < 0).any():
        raise ValueError(f"cv is {cv!r}, but must hold out every row once and train on all others.")
    return folds.tolist()
