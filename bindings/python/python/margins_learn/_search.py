"""The search for C and the kernel by cross-validation."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from sklearn import get_config
from sklearn.utils.metadata_routing import UNUSED, MetadataRouter, MethodMapping, process_routing
from sklearn.utils.validation import _num_samples, check_consistent_length

from . import _native
from ._base import ModelClassifier
from ._labels import fold_names
from ._progress import announced
from ._regularised import PRECOMPUTED, Regularised
from ._settings import Cs_given, Cs_of, numbers_of
from ._values import array_of, refuse_gaps
from ._warnings import warn_of_gap, warn_of_report


# The names of scorers in scikit-learn, with our names of their measures.
_MEASURES = {
    "accuracy": "error",
    "balanced_accuracy": "balanced-error",
    "neg_log_loss": "log-loss",
    "neg_brier_score": "brier",
    "roc_auc": "auc",
}


class MarginClassifierCV(Regularised, ModelClassifier):
    """A linear or kernel classifier at the C, and with the kernel, that cross-validation selects.

    The folds, all values of C and all binary problems share what can be computed once; then the classifier is fitted
    to all samples.

    Parameters
    ----------
    loss : str or list of str, default="lhs"
        Loss, such as `lhs`, `hinge`, `logistic` or `l-r:r=2`. A name or `name:parameter=value,...`: `lhs`, `l-r:r=2`,
        `margin-pursuit:gamma=1,scale=1`, `log-cosh:gamma=1,scale=1`, `hinge`, `squared-hinge`,
        `smoothed-hinge:width=1`, `modified-huber`, `dwd:q=1`, `logistic`, `exponential`, `squared`,
        `leaky-relu:lambda=0.1`, `garg-roth:alpha=1,beta=1`, which is not convex: fit it with the robust objective
        `garg-roth`, or from a stream, without a certificate. The parameters shown are the defaults.
        `margin-pursuit:gamma=1,scale=auto,k=10` takes the scale from the training data, for a fit at one lambda. The
        names of scikit-learn are valid as well: `log_loss`, `squared_hinge`, `squared_error` and `modified_huber`. Of
        several losses the cross-validation takes that of the lowest error.
    Cs : array, int or None, default=None
        Values of C, or their number from 1e-4 to 1e4, evenly spaced on a logarithmic scale. Default: 33, unless
        `lambdas` is given. The fits of the folds have the same C.
    lambdas : array or None, default=None
        Grid of lambdas. A fit minimises the mean loss + lambda * squared norm. Pass either `Cs` or lambdas. The fits of
        the folds have the same lambda.
    kernels : list of str, str or None, default=None
        Candidate kernels. Default: linear classifier. Each is written as the kernel of `MarginClassifier`.
        `precomputed` takes a kernel matrix instead of features and must be the only kernel.
    scales : array or None, default=None
        Candidate scales. Each loss given without its scale, such as `margin-pursuit:gamma=1`, is tried with every
        candidate, on the same folds. Only the ratio of scale and gamma matters, so that gamma may stay as it is.
    sigmas : str, array or None, default=None
        Candidate sigmas: `auto:COUNT`, `FIRST:LAST:COUNT` or a list. Each kernel given without a sigma is tried with
        every candidate. Ranges are evenly spaced on a logarithmic scale. `auto` is for gaussian kernels: it ranges from
        10 / q10 down to 0.1 / q90, where q10 and q90 are the 0.1 and 0.9 quantiles of the squared distances between
        rows.
    approximation : str or None, default=None
        Approximation: `cholesky`, `nystrom:m=1000`, `rff:m=2000`. For large data. `cholesky` is a pivoted Cholesky
        factorisation with `tol=1e-8` and `memory=1`, the limit for its factor in gigabytes. `nystrom` uses m landmarks,
        chosen by leverage scores with `leverage=LAMBDA`. `rff` uses m random Fourier features and is for gaussian
        kernels.
    memory : int, str or None, default=None
        Memory limit for the kernel matrix or a block file. Default: half of the free memory. An amount such as 2GB.
        Entries of a larger kernel matrix are recomputed when needed. This is slower, by the time of a few kernel
        matrices for the hinge and of 20 to 100 per lambda for other losses; the certificate is the same. With
        `approximation`, the limit is for the inner products of the samples, which the hinge uses. Linear classifiers
        keep this amount of a larger block file in memory and read the rest in each pass. An int is a number of bytes.
    certify_exact : bool, default=False
        If True, compute the duality gap for the exact kernel as well, with the approximation `nystrom`. This takes one
        pass over the kernel matrix, which is never stored.
    keep_duals : bool, default=False
        If True, keep the dual variables of the fit and its constrained form. They are `duals_` and `constrained_form_`.
        The constrained form bounds the norm of the coefficients instead of penalising it; for the leaky hockey stick it
        is the problem with slacks of its paper. Of more than two classes only `multi_class="ovr"` has them, not the
        default.
    cv : int, splitter, array, str or None, default=None
        Number of stratified folds. Default: 5. It is at least 2; by default at most the number of samples of the
        smallest class with two or more. Instead of a number: any splitter of scikit-learn, such as `ShuffleSplit(10)`,
        `TimeSeriesSplit()` or `GroupKFold(5)`, or its splits; an array with the name of the fold of every row, a text
        or a whole number; or, for two classes and a kernel, `"leave-one-out"` or `"one-step"`, an approximation by one
        Newton step per sample. A fold whose training samples lack a class misclassifies its samples, with a warning.
    scoring : {"error", "balanced-error", "log-loss", "auc", "brier"}, default="error"
        Measure. `"error"`: Share of misclassified rows. `"balanced-error"`: Mean of the error rates of the classes.
        `"log-loss"`: Mean of -log of the probability of the true class. `"auc"`: Area under the ROC curve, two classes.
        `"brier"`: Mean squared error of the probabilities. Lambda and kernel are selected by its mean over the folds.
        Ties are resolved by the log-loss. `log-loss` and `brier` need a loss with probabilities. The names of
        scikit-learn are valid as well: `accuracy`, `balanced_accuracy`, `neg_log_loss`, `roc_auc` and
        `neg_brier_score`.
    selection : {"best", "one-se"}, default="best"
        Rule to select lambda. `"best"`: Lambda with the lowest mean error. `"one-se"`: Largest lambda within one
        standard error of the best.
    abandon_hopeless : bool, default=False
        If True, skip clearly worse lambdas in the second half of the folds. A lambda is skipped if its error over the
        first half of the folds is four standard deviations above the error of the best lambda.
    encode : bool or dict, default=False
        Encode text (one-hot) and missing values (median, indicator). A column of text becomes one feature per category,
        a column of true and false one feature. Missing values, which are empty cells and words such as NA, are replaced
        by the median of the column, and an indicator feature is added. The encoding is learned from the training rows,
        separately in each fold of a cross-validation, and stored in the model, so that prediction takes raw rows. A
        dict encodes with options: `categorical`, a list of numeric columns to encode as categories; `drop`, a list of
        columns to drop; `missing`, `"median"` or `"refuse"`; `missing_words`, a list of the texts that are missing
        values; and `unknown`, `"refuse"` or `"none"`, for categories that the training rows lack.
    fit_intercept : bool, default=True
        If False, fix the intercept at 0.
    standardize : bool, default=False
        If True, scale features to unit standard deviation during the fit. Linear classifiers use the deviations of the
        training rows of each fold, kernel classifiers those of all rows.
    penalty_factors : array-like of shape (n_features,), dict or None, default=None
        Penalty factor of a feature. Default: 1 for every feature. With the factors W the penalty is lambda times the
        sum of W w^2, as in glmnet. A factor of 0 takes a feature out of the penalty; up to 64 features may have it.
        With a kernel every factor is 0 or 1, and a feature with the factor 0 is not seen by the kernel: its coefficient
        stands beside the function of the kernel (partially linear model). A dict maps names, or numbers counted from 0,
        to factors; features not listed have 1. The name of an encoded column stands for all of its features.
    class_weight : dict, "balanced" or None, default=None
        Class weights. `balanced` gives the two sides of a binary problem, or all classes of one problem, the same total
        weight. A number multiplies the weight of every sample of its class, also in cross-validated errors; classes not
        listed have 1. A dict maps classes to numbers.
    multi_class : {"ovr", "ovo", "joint", "multinomial", "crammer-singer"}, default="ovo"
        Scheme. `"ovr"`: One-versus-rest: one binary classifier per class. `"ovo"`: One-versus-one: one binary
        classifier per pair of classes. `"joint"`: One problem for all classes: the loss of every class against every
        other. `"multinomial"`: Multinomial logistic regression, with the logistic loss. `"crammer-singer"`: One problem
        with the largest hinge over the other classes. The default had the best mean rank by error and log-loss on ten
        data sets. k classes have k(k - 1)/2 pairs: from some hundred classes on, `"ovr"` with its k classifiers takes
        less time and memory.
    probability : {"loss", "platt"}, default="loss"
        Probability estimates. `"loss"`: Probabilities of the loss; hinge, leaky-relu and garg-roth have none.
        `"platt"`: Platt scaling of cross-validated scores, for any loss.
    solver : {"auto", "mm", "mm-accelerated", "newton", "proximal-newton", "sdca", "bundle", "lbfgs", "gd"}, default="auto"
        Algorithm. `"auto"`: Solver predicted to be fastest. `"mm"`: Majorisation-minimisation. `"mm-accelerated"`:
        Majorisation-minimisation with extrapolation. `"newton"`: Semismooth Newton, by a dense factorisation or
        conjugate gradients. `"proximal-newton"`: Proximal Newton: any convex loss, linear classifiers. `"sdca"`:
        Stochastic dual coordinate ascent: any convex loss, linear classifiers. `"bundle"`: Cutting planes (bundle
        method) with line search: any convex loss, linear classifiers. `"lbfgs"`: Limited-memory BFGS: differentiable
        losses, linear classifiers. `"gd"`: Gradient descent.
    stop : {"gap", "published"}, default="gap"
        Stopping rule. `"gap"`: The relative duality gap is within the tolerance, which certifies the fit.
        `"published"`: The rule of the R package lhsc, which certifies nothing: squared changes below 1e-5 in sum,
        10,000 iterations per path. `published` is unaccelerated majorisation-minimisation from the largest lambda down.
        The path ends at the lambda at which all iterations together reach 10,000. Smaller lambdas have no fit, and
        cross-validation selects among the lambdas that every path has reached. The reports have the gap that the rule
        leaves.
    tol : float > 0, default=1e-6
        Relative duality gap to reach.
    max_iter : int >= 0 or None, default=None
        Maximum number of iterations at each lambda. Default: by solver. By default, 200 for newton, 1000 for
        proximal-newton and sdca, 2000 for bundle, and 10,000 for mm, lbfgs and gd.
    time_limit : float >= 0 or None, default=None
        Time limit in seconds, including kernel matrices and factorisations. A fit that is not certified by then is
        returned with the status time-limit. A cross-validation takes lambdas, largest first, over all folds, and
        selects among those that it has reached.
    random_state : int, RandomState or None, default=None
        Random seed. Default: 1. Seed of the folds, the landmarks and random features, the pairs of rows that set sigma,
        and the order of the samples in the solver sdca.
    n_jobs : int or None, default=None
        Number of threads. Default: 1. Results do not depend on it. -1 uses all cores.
    callback : callable or None, default=None
        Function that is called with a dictionary for every iteration. If it returns True, the fit ends at the current
        point. An exception ends the fit and is raised. The callbacks of scikit-learn 1.9 (`set_callbacks`) see
        iterations as well.
    progress : bool, default=False
        If True, show a bar of the finished fits; needs the package tqdm.
    verbose : bool, default=False
        If True, print a line for every iteration.

    Attributes
    ----------
    best_C_, best_lambda_ : float
        Selected regularisation.
    best_loss_ : str
        Selected loss with all of its parameters.
    best_kernel_ : str
        Selected kernel with all of its parameters. Not set by a linear classifier.
    path_ : dict of str to array
        Results of the cross-validation along the lambdas, for the selected kernel: `Cs`, `lambdas`, `mean_error`,
        `standard_error`, `measure` (the name given as `scoring`), `mean_measure`, `measure_standard_error`,
        `mean_log_loss` (NaN without probabilities), `worst_relative_gap`, `unproven`, `certified`, `abandoned` and
        `reached` (False if the time limit or the end of a path came before every fold had that lambda), and the indices `best` and `one_se`. `unproven` bounds the distance of a mean error from the mean error of exact
        minimisers: it is the share of the held-out samples whose class the gap leaves open, NaN for several classes.
    paths_ : dict of str to dict
        The same for each of several kernels, with the selected loss.
    losses_ : dict of str to dict
        The same for each of several losses, with its best kernel.
    errors_ : array of shape (n_Cs,) or (n_kernels, n_Cs)
        Mean errors.
    folds_ : array of shape (n_samples,)
        Fold of every row, counted from 0; named folds are in sorted order. Not set if a splitter holds out a row never
        or more than once.
    classes_, coef_, dual_coef_, intercept_, lambda_, objective_, lower_bound_, dual_gap_, relative_gap_, relative_rounding_, \
exact_objective_, exact_lower_bound_, exact_dual_gap_, exact_relative_gap_, exact_relative_rounding_, leave_one_out_bounds_, \
margin_location_, duals_, constrained_form_, status_, n_iter_, model_, n_features_in_, feature_names_in_, encoded_names_
        Attributes of the final fit, as in `MarginClassifier`.

    See Also
    --------
    MarginClassifier : Fits at one C.

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
    best_loss_: str
    best_kernel_: str
    path_: dict[str, Any]
    paths_: dict[str, dict[str, Any]]
    losses_: dict[str, dict[str, Any]]
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
        loss: str | Sequence[str] = "lhs",
        Cs: Any = None,
        lambdas: Any = None,
        kernels: Any = None,
        *,
        scales: Any = None,
        sigmas: Any = None,
        approximation: str | None = None,
        memory: int | str | None = None,
        certify_exact: bool = False,
        keep_duals: bool = False,
        cv: Any = None,
        scoring: str = "error",
        selection: str = "best",
        abandon_hopeless: bool = False,
        encode: bool | dict[str, Any] = False,
        fit_intercept: bool = True,
        standardize: bool = False,
        penalty_factors: Any = None,
        class_weight: Any = None,
        multi_class: str = "ovo",
        probability: str = "loss",
        solver: str = "auto",
        stop: str = "gap",
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
        self.scales = scales
        self.sigmas = sigmas
        self.approximation = approximation
        self.memory = memory
        self.certify_exact = certify_exact
        self.keep_duals = keep_duals
        self.cv = cv
        self.scoring = scoring
        self.selection = selection
        self.abandon_hopeless = abandon_hopeless
        self.encode = encode
        self.fit_intercept = fit_intercept
        self.standardize = standardize
        self.penalty_factors = penalty_factors
        self.class_weight = class_weight
        self.multi_class = multi_class
        self.probability = probability
        self.solver = solver
        self.stop = stop
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
            loss=self.loss if isinstance(self.loss, str) else list(self.loss),
            Cs=Cs_given(self.Cs),
            lambdas=numbers_of(self.lambdas, "lambdas"),
            kernels=specifications(self.kernels),
            scales=numbers_of(self.scales, "scales"),
            sigmas=self.sigmas if isinstance(self.sigmas, str) else numbers_of(self.sigmas, "sigmas"),
            cv=self._cv(X, y, self._routed(groups, params)),
            scoring=_measure(self.scoring),
        )
        self._adopt(report["model"])
        self._adopt_report(report)
        rows, best = report["rows"], report["lambdas"][0]
        self._keep(lambda_=best, best_lambda_=best, best_C_=float(Cs_of(best, rows, self.Cs)), best_kernel_=report["kernel"])
        self._keep(best_loss_=report["loss"])
        self._keep(folds_=report["folds"] if len(report["folds"]) else None)

        def with_Cs(curve: dict[str, Any]) -> dict[str, Any]:
            return {"Cs": Cs_of(curve["lambdas"], rows, self.Cs), **curve}

        self._keep(losses_={loss: with_Cs(curve) for loss, curve in report["losses"]})
        self._keep(path_=with_Cs(report["curve"]), paths_={kernel: with_Cs(curve) for kernel, curve in report["curves"]})
        curves = [self.paths_[kernel] for kernel in self.paths_] or [self.path_]
        errors = [curve["mean_error"] for curve in curves]
        self._keep(errors_=errors[0] if len(errors) == 1 else np.stack(errors))
        warn_of_gap(report, self.tol, 'Set stop="gap" for certified fits.')
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
            raise TypeError(f"kernels contains {kernel!r}, but must contain strings such as 'gaussian:sigma=0.5'{advice}.")
    if PRECOMPUTED in listed and len(listed) > 1:
        raise ValueError(f"kernels is {kernels!r}, but a precomputed kernel matrix belongs to one kernel. Pass 'precomputed' alone.")
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
        raise ValueError(f"cv is {cv!r}, but a number of folds must be at least 2.")
    if cv is None or isinstance(cv, (int, np.integer)):
        count = None if cv is None else int(cv)
        if groups is None:
            return count
        check_consistent_length(y, groups)
        named = array_of(groups)
        refuse_gaps(named, "groups")
        names, codes = np.unique(named, return_inverse=True)
        return [str(code) for code in codes.tolist()], count or min(5, len(names))
    given = cv if isinstance(cv, str) else _folds_given(cv)
    if given is None:
        return _splits(cv, X, y, groups)
    if groups is not None:
        raise ValueError("groups are given, but this cv does not use them: pass a splitter that does, such as GroupKFold, or a number of folds.")
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
        raise ValueError(f"cv yields rows of split {fold} that are neither indices nor a mask of {rows} rows: {error}.") from error
