"""The search for C and the kernel by cross-validation."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn import get_config
from sklearn.utils.metadata_routing import UNUSED, MetadataRouter, MethodMapping, process_routing
from sklearn.utils.validation import _num_samples, check_consistent_length

from . import _native
from ._base import ModelClassifier, warn_of_gap, warn_of_report
from ._inputs import Cs_given, Cs_of, array_of, fold_names, numbers_of
from ._progress import announced
from ._regularised import PRECOMPUTED, Regularised, explained


# The names of scorers in scikit-learn, with our names of their measures.
_MEASURES = {
    "accuracy": "error",
    "balanced_accuracy": "balanced-error",
    "neg_log_loss": "log-loss",
    "neg_brier_score": "brier",
    "roc_auc": "auc",
}


@explained
class MarginClassifierCV(Regularised, ModelClassifier):
    """A linear or kernel classifier at the C, and with the kernel, that cross-validation selects.

    The folds, all values of C and all binary problems share what can be computed once; then the classifier is fitted
    to all samples.

    Parameters
    ----------
    loss : str, default="lhs"
        The loss, as `MarginClassifier` takes it.
    Cs : array, int or None, default=None
        The values of C to choose from, the same for fits without a fold, or their number from 1e-4 to 1e4, evenly on a logarithmic scale;
        None takes 33 such values if `lambdas` is None too.
    lambdas : array or None, default=None
        The values of lambda to choose from, in the place of `Cs`; fits without a fold then have the same lambda.
    kernels : list of str, str or None, default=None
        The kernels to choose from; None fits linear classifiers, and `"precomputed"` alone takes the kernel matrix in the place of the
        features.
    sigmas : str, array or None, default=None
        The values of sigma to choose from, for every kernel that leaves its sigma out: an array, `"FIRST:LAST:COUNT"` for
        values evenly spaced on a logarithmic scale, or `"auto:COUNT"` for a range around the distances in the data, which is for
        the gaussian kernel.
    approximation : str or None, default=None
        The approximation of every kernel, as `MarginClassifier` takes it.
    memory : int, str or None, default=None
        The most memory for the matrix of every kernel, as `MarginClassifier` takes it.
    certify_exact : bool, default=False
        True tells how far the final fit is from the best one of the kernel itself, as `MarginClassifier` does.
    cv : int, splitter, array or None, default=None
        The number of stratified folds, drawn by `random_state`; 5 for None, or as many as the smallest class has
        samples, where classes of one sample do not count. Else any splitter of scikit-learn, such as `ShuffleSplit(10)`, `TimeSeriesSplit()` or
        `GroupKFold(5)`, or its splits; the name of the fold of every row, a text or a whole number of at least 0; or `"leave-one-out"` or
        `"one-step"` for two classes and a kernel. A fold whose training samples lack a class misclassifies its samples, with a warning.
    scoring : str or None, default=None
        The measure to choose C and the kernel by: `"error"` (None, `"accuracy"`), `"balanced-error"` (`"balanced_accuracy"`), `"log-loss"`
        (`"neg_log_loss"`), `"brier"` (`"neg_brier_score"`), or for two classes `"auc"` (`"roc_auc"`); the names in parentheses are those of
        scikit-learn. Of equal values the one with the smaller log-loss is taken, if the loss has probabilities, and then the smallest C.
    selection : {"best", "one-se"}, default="best"
        The rule: the C of the best mean of the measure, or the least C within one standard error of it.
    abandon_hopeless : bool, default=False
        True gives values of C up that the first folds show to be hopeless.
    encode : bool or dict, default=False
        The encoding of a raw table, as `MarginClassifier` takes it; it is learned anew in every fold.
    fit_intercept, standardize, class_weight, multi_class, probability, solver, tol, max_iter, random_state, n_jobs, \
callback, progress, verbose
        As `MarginClassifier` takes them.
    time_limit : float or None, default=None
        The seconds after which the search ends: it chooses among what is certified in four fifths of them.

    Attributes
    ----------
    best_C_, best_lambda_ : float
        The regularisation selected.
    best_kernel_ : str
        The kernel selected, with all of its parameters. A linear classifier has none.
    path_ : dict of str to array
        What cross-validation found along the lambdas with the kernel selected: `Cs`, `lambdas`, `mean_error`,
        `standard_error`, `measure` (the name that `scoring` gives), `mean_measure`, `measure_standard_error`, `mean_log_loss` (NaN without
        probabilities), `worst_relative_gap`, `unproven`, `certified` and `abandoned`, and the indices `best` and
        `one_se`. `unproven` bounds how far a mean error is from that of exact minimisers: it is the share of the
        held-out samples whose class the gap leaves open, NaN for several classes.
    paths_ : dict of str to dict
        The same for each of several kernels.
    errors_ : array of shape (n_Cs,) or (n_kernels, n_Cs)
        The mean errors.
    folds_ : array of shape (n_samples,)
        The fold of every row, counted from 0; folds with names are in the order of these. Splits that hold out a row never or more than
        once have none.
    classes_, coef_, dual_coef_, intercept_, lambda_, objective_, lower_bound_, dual_gap_, relative_gap_, relative_rounding_, \
exact_objective_, exact_lower_bound_, exact_dual_gap_, exact_relative_gap_, exact_relative_rounding_, status_, n_iter_, model_, n_features_in_, feature_names_in_, encoded_names_
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

    # The splitter requests groups, not the classifier.
    __metadata_request__fit = {"groups": UNUSED}

    best_C_: float
    best_lambda_: float
    best_kernel_: str
    path_: dict[str, Any]
    paths_: dict[str, dict[str, Any]]
    errors_: np.ndarray
    folds_: np.ndarray
    lambda_: float
    exact_objective_: float | np.ndarray
    exact_lower_bound_: float | np.ndarray
    exact_dual_gap_: float | np.ndarray
    exact_relative_gap_: float | np.ndarray
    exact_relative_rounding_: float | np.ndarray

    def __init__(
        self,
        loss: str = "lhs",
        Cs: Any = None,
        lambdas: Any = None,
        kernels: Any = None,
        *,
        sigmas: Any = None,
        approximation: str | None = None,
        memory: int | str | None = None,
        certify_exact: bool = False,
        cv: Any = None,
        scoring: str | None = None,
        selection: str = "best",
        abandon_hopeless: bool = False,
        encode: bool | dict[str, Any] = False,
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
        verbose: bool = False,
    ) -> None:
        self.loss = loss
        self.Cs = Cs
        self.lambdas = lambdas
        self.kernels = kernels
        self.sigmas = sigmas
        self.approximation = approximation
        self.memory = memory
        self.certify_exact = certify_exact
        self.cv = cv
        self.scoring = scoring
        self.selection = selection
        self.abandon_hopeless = abandon_hopeless
        self.encode = encode
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
        self.verbose = verbose

    @announced
    def fit(self, X: Any, y: Any, sample_weight: Any = None, groups: Any = None, **params: Any) -> MarginClassifierCV:
        """Selects C and the kernel, and fits the classifier with them.

        Parameters
        ----------
        X : array, sparse matrix or data frame of shape (n_samples, n_features)
            The samples.
        y : array of shape (n_samples,)
            Their classes.
        sample_weight : array of shape (n_samples,) or None, default=None
            Their weights, 1 for None, in the fits and in the measure.
        groups : array of shape (n_samples,) or None, default=None
            Their groups, which the splitter `cv` gets; folds that are drawn divide no group.
        **params : dict
            The groups by the name that the splitter requests with `set_split_request(groups=name)`; with scikit-learn's
            `enable_metadata_routing`.

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
            Cs=Cs_given(self.Cs),
            lambdas=numbers_of(self.lambdas, "lambdas"),
            kernels=specifications(self.kernels),
            sigmas=self.sigmas if isinstance(self.sigmas, str) else numbers_of(self.sigmas, "sigmas"),
            cv=self._cv(X, y, self._routed(groups, params)),
            scoring=_measure(self.scoring),
        )
        self._adopt(report["model"])
        self._adopt_report(report)
        rows = report["rows"]
        self.lambda_ = self.best_lambda_ = report["lambdas"][0]
        self.best_C_ = float(Cs_of(self.lambda_, rows, self.Cs))
        self._keep("best_kernel_", report["kernel"])
        self._keep("folds_", report["folds"] if len(report["folds"]) else None)

        def with_Cs(curve: dict[str, Any]) -> dict[str, Any]:
            return {"Cs": Cs_of(curve["lambdas"], rows, self.Cs), **curve}

        self.path_ = with_Cs(report["curve"])
        self.paths_ = {kernel: with_Cs(curve) for kernel, curve in report["curves"]}
        curves = [self.paths_[kernel] for kernel in self.paths_] or [self.path_]
        errors = [curve["mean_error"] for curve in curves]
        self.errors_ = errors[0] if len(errors) == 1 else np.stack(errors)
        warn_of_gap(report, self.tol)
        warn_of_report(report)
        return self

    def _routed(self, groups: Any, params: dict[str, Any]) -> Any:
        """Returns the groups, which the splitter may request by another name."""
        if not params:
            return groups
        if not get_config()["enable_metadata_routing"]:
            name = next(iter(params))
            raise TypeError(f"fit got the unexpected argument {name!r}. sklearn.set_config(enable_metadata_routing=True) routes it to cv.")
        return process_routing(self, "fit", **params).splitter.split.get("groups", groups)

    def _is_precomputed(self) -> bool:
        return specifications(self.kernels) == [PRECOMPUTED]

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        listed = [self.kernels] if isinstance(self.kernels, str) else self.kernels
        tags.input_tags.pairwise = isinstance(listed, (list, tuple)) and list(listed) == [PRECOMPUTED]
        return tags

    def _cv(self, X: Any, y: Any, groups: Any) -> Any:
        """Returns the folds for the native module."""
        return _folds(self.cv, X, y, groups)

    def get_metadata_routing(self) -> MetadataRouter:
        """Returns the routing of metadata: `groups` go to the splitter `cv` if it requests them.

        Returns
        -------
        routing : MetadataRouter
            The routing.
        """
        mapping = MethodMapping().add(caller="fit", callee="split")
        return MetadataRouter(owner=self).add_self_request(self).add(splitter=self.cv, method_mapping=mapping)


def specifications(kernels: Any) -> list[str] | None:
    """Returns the kernels for the native module."""
    if kernels is None or isinstance(kernels, str):
        return kernels if kernels is None else [kernels]
    listed = [kernels] if callable(kernels) else list(kernels)
    for kernel in listed:
        if not isinstance(kernel, str):
            advice = ": MarginClassifier(kernel=...) takes a function, which GridSearchCV can search for" if callable(kernel) else ""
            raise TypeError(f"kernels holds {kernel!r}, but must hold texts such as 'gaussian:sigma=0.5'{advice}.")
    if PRECOMPUTED in listed and len(listed) > 1:
        raise ValueError(f"kernels is {kernels!r}, but a kernel matrix in the place of the features is that of one kernel.")
    return listed


def _folds_given(cv: Any) -> list[str] | None:
    """Returns the name of the fold of every row, if this is what an array or a list has."""
    if not hasattr(cv, "__array__") and not isinstance(cv, (list, tuple)):
        return None
    try:
        folds = array_of(cv)
    except ValueError:
        # Splits of different lengths make no array.
        return None
    if folds.ndim != 1 or not len(folds) or isinstance(folds[0], (list, tuple, np.ndarray)):
        return None
    return fold_names(folds, "cv")


def _measure(scoring: Any) -> str:
    """Returns the name of the measure for the native module."""
    if scoring is None:
        return "error"
    if isinstance(scoring, str) and (scoring in _MEASURES or scoring in _MEASURES.values()):
        return _MEASURES.get(scoring, scoring)
    listed = ", ".join(repr(name) for pair in zip(_MEASURES.values(), _MEASURES) for name in pair)
    raise ValueError(f"scoring is {scoring!r}, but must be None or one of {listed}. GridSearchCV takes any other score.")


def _folds(cv: Any, X: Any, y: Any, groups: Any) -> Any:
    """Returns folds for the native module: a number, the name of the fold of every row, the name of the group of every row with a number of
    folds, the rows of every split, or a word."""
    if cv is not None and isinstance(cv, (int, np.integer)) and cv < 2:
        raise ValueError(f"cv is {cv!r}, but must be at least 2 where it is the number of folds.")
    if cv is None or isinstance(cv, (int, np.integer)):
        count = None if cv is None else int(cv)
        if groups is None:
            return count
        check_consistent_length(y, groups)
        names, codes = np.unique(array_of(groups), return_inverse=True)
        return [str(code) for code in codes.tolist()], count or min(5, len(names))
    given = cv if isinstance(cv, str) else _folds_given(cv)
    if given is None:
        return _splits(cv, X, y, groups)
    if groups is not None:
        raise ValueError("groups are given, but cv says how to leave rows out: give a splitter that takes groups, such as GroupKFold, or a number of folds.")
    return given


def _splits(cv: Any, X: Any, y: Any, groups: Any) -> Any:
    """Returns the splits of a splitter: the fold of every row if each row is held out once, else the rows to train on and to test on."""
    # The import takes memory and time, and most searches do without.
    from sklearn.model_selection import check_cv

    rows = _num_samples(X)
    folds = np.full(rows, -1)
    splits = []
    for fold, split in enumerate(check_cv(cv, y, classifier=True).split(X, y, groups)):
        train, test = (_rows_of(part, rows, fold) for part in split)
        once = len(test) + len(np.unique(train)) == rows == len(test) + len(train) and (folds[test] < 0).all() and not np.isin(test, train).any()
        folds[test] = fold if once else -1
        splits.append((train, test))
    return splits if (folds < 0).any() else [str(fold) for fold in folds.tolist()]


def _rows_of(part: Any, rows: int, fold: int) -> np.ndarray:
    """Returns the numbers of rows that indices, negative ones too, or a mask name."""
    chosen = np.asarray(part)
    try:
        return np.arange(rows)[chosen if chosen.size else chosen.astype(int)].reshape(-1)
    except IndexError as error:
        raise ValueError(f"cv gives rows of split {fold} that are not numbers of rows or a mask of {rows} rows: {error}.") from error
