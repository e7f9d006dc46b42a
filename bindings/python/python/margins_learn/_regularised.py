"""Classifiers that minimise a regularised risk, with a duality gap."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import numpy as np
from scipy import sparse

from . import _native
from ._base import Fitting, ModelClassifier
from ._inputs import checked
from ._progress import announced, watchers
from ._settings import number_of
from ._tables import checked_table, columns_of, encode_options, left_out
from ._values import floats_of
from ._warnings import warn_of_end, warn_of_gap, warn_of_report

PRECOMPUTED = "precomputed"


class Regularised(Fitting):
    """What all fits of a regularised risk have in common."""

    encoded_names_: np.ndarray
    encode: Any
    penalty_factors: Any

    def _fit(self, fit: Callable[..., dict[str, Any]], X: Any, y: Any, sample_weight: Any, **changed: Any) -> dict[str, Any]:
        """Returns the report of a fit by a function of the native module."""
        if getattr(self, "probability", "loss") not in ("loss", "platt"):
            raise ValueError(f"probability is {self.probability!r}, but must be 'loss' or 'platt'.")
        data = self._data(X, y, sample_weight)
        if "penalty_factors" in _native.SETTINGS[self._listed()]:
            changed["penalty_factors"] = self._factors(X)
        settings = self._settings(class_weight=self._class_costs(self.classes_), encode=encode_options(self.encode, X), **changed)
        with watchers(self) as watching:
            report = fit(data, settings, watching)
        self._keep(encoded_names_=np.array(report["names"], dtype=object) if self.encode else None)
        return report

    def _factors(self, X: Any) -> Any:
        """Returns the penalty factors: one per feature, or pairs of a name and a factor for encoded columns."""
        factors = self.penalty_factors
        if factors is None:
            return None
        names = [str(name) for name in getattr(self, "feature_names_in_", [f"x{k}" for k in range(self.n_features_in_)])]
        if not isinstance(factors, dict):
            values = floats_of(factors, "penalty_factors")
            if values.shape != (len(names),):
                raise ValueError(f"penalty_factors has shape {values.shape}, but must have {len(names)} numbers, one per feature.")
            factors = dict(enumerate(values.tolist()))
        given = {self._column(key, names): number_of(factor, "A penalty factor") for key, factor in factors.items()}
        if self.encode:
            return list(given.items())
        return [given.get(name, 1.0) for name in names]

    def _column(self, key: Any, names: list[str]) -> str:
        """Returns the name of a feature given by its name, or by its number counted from 0."""
        if isinstance(key, (int, np.integer)) and not isinstance(key, bool) and 0 <= key < len(names):
            return names[key]
        if not isinstance(key, str) or key not in names:
            raise ValueError(f"penalty_factors has a factor of {key!r}, but there is no such feature: the features are {names}.")
        return key

    def _checked(self, X: Any) -> Any:
        return checked_table(self, X, reset=True) if self.encode else super()._checked(X)

    def _samples(self, X: Any) -> Any:
        return columns_of(X, dropped=left_out(self.encode)) if self.encode else super()._samples(X)

    def _feature_names(self) -> list[str] | None:
        return None if self.encode else super()._feature_names()

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = not self.encode
        if self.encode:
            tags.input_tags.allow_nan = tags.input_tags.string = tags.input_tags.categorical = True
        return tags


class OneKernel(Regularised):
    """A fit with one kernel, which may be a function of Python."""

    kernel_: str
    X_fit_: Any

    def _fit(self, fit: Callable[..., dict[str, Any]], X: Any, y: Any, sample_weight: Any, **changed: Any) -> dict[str, Any]:
        report = super()._fit(fit, X, y, sample_weight, kernel=self._kernel(), **changed)
        self._keep(kernel_=report["kernel"])
        return report

    def _is_precomputed(self) -> bool:
        return callable(self.kernel) or self.kernel == PRECOMPUTED

    def _kernel(self) -> Any:
        """Returns the kernel for the native module."""
        if callable(self.kernel):
            return PRECOMPUTED
        return with_parameters(self.kernel, gamma=self.gamma, degree=self.degree, coef0=self.coef0)

    def _data(self, X: Any, y: Any, sample_weight: Any) -> dict[str, Any]:
        if callable(self.kernel) and self.encode:
            raise ValueError(f"encode is {self.encode!r}, but the kernel is a function, which gets the samples as they are: encode them first.")
        if callable(self.kernel):
            self.X_fit_ = _seen(checked(self, X, reset=True))
        return super()._data(X, y, sample_weight)

    def _functions(self, X: Any) -> Any:
        if not callable(self.kernel):
            return X
        matrix = floats_of(self.kernel(_seen(X), self.X_fit_), "The array of the kernel")
        expected = (X.shape[0], self.X_fit_.shape[0])
        if matrix.shape != expected:
            raise ValueError(f"The kernel returned an array of shape {matrix.shape}, but must return {expected}.")
        return matrix

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.pairwise = isinstance(self.kernel, str) and self.kernel == PRECOMPUTED
        return tags


def _start(coef_init: Any, intercept_init: float | None) -> list[float] | None:
    """Returns the intercept and the coefficients at which a fit starts; None for the origin."""
    if coef_init is None:
        if intercept_init is not None:
            raise ValueError(f"intercept_init is {intercept_init!r}, but needs coef_init.")
        return None
    coef = floats_of(coef_init, "coef_init")
    if coef.ndim == 2 and len(coef) == 1:
        coef = coef[0]
    if coef.ndim != 1:
        raise ValueError(f"coef_init has the shape {coef.shape}, but must have one dimension.")
    return [0.0 if intercept_init is None else number_of(intercept_init, "intercept_init"), *coef.tolist()]


# The names in kernels of the parameters that scikit-learn calls otherwise.
_PARAMETERS = {
    "gaussian": {"gamma": "sigma"},
    "rbf": {"gamma": "sigma"},
    "laplacian": {"gamma": "sigma"},
    "poly": {"gamma": "scale", "degree": "degree", "coef0": "offset"},
    "sigmoid": {"gamma": "scale", "coef0": "offset"},
    "anova": {"gamma": "sigma", "degree": "degree"},
    "bessel": {"gamma": "sigma", "degree": "degree"},
}


def with_parameters(kernel: Any, **parameters: Any) -> Any:
    """Returns the text of a kernel with the parameters that are not None, as far as it has them."""
    given = {name: _parameter(value, name) for name, value in parameters.items() if value is not None}
    if not isinstance(kernel, str) or not given:
        return kernel
    if re.search(r"[*(]|(?<![eE])\+", kernel):
        raise ValueError(f"kernel is {kernel!r}, a sum or a product, so {next(iter(given))} could belong to any part: write it into the string.")
    names = _PARAMETERS.get(kernel.partition(":")[0].strip(), {})
    written = [f"{names[name]}={value}" for name, value in given.items() if name in names]
    return kernel + "".join(("," if ":" in kernel or k else ":") + text for k, text in enumerate(written))


def _parameter(value: Any, name: str) -> str:
    """Returns the text of a kernel parameter: of a number or, for gamma, of a rule that takes it from the data."""
    if name == "gamma" and isinstance(value, str):
        if value not in ("scale", "auto"):
            raise ValueError(f"gamma is {value!r}, but must be a number, 'scale', 'auto' or None.")
        return value
    return repr(number_of(value, name))


def _seen(X: Any) -> Any:
    """Returns checked samples as a kernel that is a function sees them: sparse ones as rows of float64."""
    return X.tocsr().astype(np.float64, copy=False) if sparse.issparse(X) else X


class MarginClassifier(OneKernel, ModelClassifier):
    """A linear or kernel classifier at one C, with a duality gap.

    It minimises `(1/n) sum_i c_i L(y_i f(x_i)) + lambda ||f||^2`, where `lambda = 1/(2 n C)`, `n` counts the rows and
    `c_i` are their weights. The intercept is not penalised.

    Parameters
    ----------
    loss : str, default="lhs"
        Loss, such as `lhs`, `hinge`, `logistic` or `l-r:r=2`. A name or `name:parameter=value,...`: `lhs`, `l-r:r=2`,
        `margin-pursuit:gamma=1,scale=1`, `log-cosh:gamma=1,scale=1`, `hinge`, `squared-hinge`,
        `smoothed-hinge:width=1`, `modified-huber`, `dwd:q=1`, `logistic`, `exponential`, `squared`,
        `leaky-relu:lambda=0.1`, `garg-roth:alpha=1,beta=1`, which is not convex: fit it with the robust objective
        `garg-roth`, or from a stream, without a certificate. The parameters shown are the defaults.
        `margin-pursuit:gamma=1,scale=auto,k=10` takes the scale from the training data, for a fit at one lambda. The
        names of scikit-learn are valid as well: `log_loss`, `squared_hinge`, `squared_error` and `modified_huber`.
    C : float > 0, default=1.0
        Weight of the loss against the penalty: lambda = 1/(2 n C). Infinity fits a linear classifier without a penalty,
        for differentiable losses. Its evidence is `gradient_norm_`; only several classes in one problem have a gap.
    kernel : str, callable or None, default=None
        Kernel, such as `gaussian` or `poly:degree=3`. Default: linear classifier. `gaussian` (sigma from the data),
        `gaussian:sigma=0.5`, `laplacian:sigma=1`, `poly:degree=3`, `matern32:length=1`, `matern52:length=1`,
        `anova:sigma=1`, `bessel:sigma=1,order=1`, `spline`, `sigmoid`, `linear`. Kernels are combined with `+`, `*` and
        parentheses. `precomputed` reads a kernel matrix instead of features. The values `scale` and `auto` are the
        rules of gamma in scikit-learn, such as `gaussian:sigma=scale`. `gaussian:sigma=s` is `exp(-s ||x - z||^2)`,
        where `SVC` calls s gamma; `rbf` is another name of it. `laplacian:sigma=s` is `exp(-s ||x - z||)`, and
        `poly:degree=d,scale=a,offset=b` is `(a <x, z> + b)^d`. A function of two matrices returns their kernel matrix.
    gamma : float, "scale", "auto" or None, default=None
        Parameter gamma of scikit-learn for a kernel given by its name alone: sigma, or the scale of `poly` and
        `sigmoid`. Default: the value of the kernel. `"scale"` is `1 / (n_features * X.var())` and `"auto"` is `1 /
        n_features`, for X after standardisation. A kernel without this parameter ignores it.
    degree : float or None, default=None
        Degree of a kernel given by its name alone. Default: the value of the kernel.
    coef0 : float or None, default=None
        Offset of a kernel given by its name alone. Default: the value of the kernel.
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
    classes_ : array of shape (n_classes,)
        Classes in sorted order.
    coef_ : array of shape (n_members, n_features)
        Coefficients of a linear classifier or of the kernel `linear`, one row per binary problem. With another kernel,
        those of the features with the penalty factor 0, and 0 for all others. Like `dual_coef_` and `intercept_`, they
        are read-only.
    dual_coef_ : array of shape (n_members, n_functions)
        Coefficients of a kernel classifier.
    intercept_ : array of shape (n_members,)
        Intercepts.
    kernel_ : str
        Kernel with all of its parameters, including those computed from the data. Not set by a linear classifier.
    lambda_ : float
        Weight of the penalty, `1/(2 n C)`.
    auto_scale_ : dict of str to float
        With `scale=auto` of the loss `margin-pursuit`: the `scale` s of the model, `k`, the `variance_bound` v of the
        margins, the scale `v k/gamma` that the rule has `required` at the end, the number of `fits`, and whether the
        scale has `settled`, to 1 %. Otherwise not set.
    objective_, lower_bound_, dual_gap_, relative_gap_ : float or array of shape (n_members,)
        Objective, lower bound on its minimum, their difference, and the difference relative to their size. A float for
        two classes and for one problem of all classes (any other `multi_class` than `"ovr"` and `"ovo"`).
    relative_rounding_ : float or array of shape (n_members,)
        Allowance for rounding errors, which the relative gap does not include.
    exact_objective_, exact_lower_bound_, exact_dual_gap_, exact_relative_gap_, exact_relative_rounding_ : \
float or array of shape (n_members,)
        The same numbers for the exact kernel, with `certify_exact`.
    leave_one_out_bounds_ : tuple of two floats
        Lowest and highest share of the rows that the classifier can get wrong if each is left out of the fit, computed
        without refits. Set for two classes with `fit_intercept=False` if every feature has a penalty.
    margin_location_ : dict or list of dict
        Location of the training margins at the scale of the loss `margin-pursuit`, with its interval and whether it
        attains gamma: the attributes of `calibration.MarginLocation`. Set for that loss, with one entry per member for
        several classes (`"ovr"` or `"ovo"`). `calibration.margin_location` is for other samples.
    gradient_norm_ : float or array of shape (n_members,)
        Norm of the gradient of the objective, set instead of a gap if C is infinite.
    status_ : str
        Why the fit ended: "converged" if every gap and every allowance for rounding is at most `tol`; "rounding-limit"
        if only the allowance exceeds it; or the limit that was met. If C is infinite: "rule-met" if the norm of the
        gradient is at most `tol` times the norm at the origin, and "no-minimum" if the classes are separated and the
        loss has no minimum.
    n_iter_ : int
        Largest number of iterations of a binary problem, at least 1.
    best_intercepts_ : array of shape (2,)
        Ends of the interval of best intercepts, set for two classes if more than one is best.
    duals_ : array of shape (n_samples,) or (n_members, n_samples)
        Dual variables, with `keep_duals`: minus the slopes of the loss at the margins, a subgradient at kinks.
    constrained_form_ : dict, list of dict or None
        Constrained form, with `keep_duals`: `norm` is C, the norm of the coefficients, and `intercept` is divided by it;
        `multipliers` is `C * duals_`; `distances` and `slacks` are set for the leaky hockey stick; `primal`, `dual` and
        `gap` are values of both problems; `norm_by_duals` and `intercept_by_duals` recover the classifier from the
        duals; `balance`, `direction` and `slackness` are violations of the conditions of optimality; `hull_total`,
        `hull_distance` and `geometric_mean` describe the points of the hulls of both classes. None if all coefficients
        are 0.
    model_ : Model
        Model as it is saved to files.
    n_features_in_ : int
        Number of features, or of columns with `encode`.
    feature_names_in_ : array of shape (n_features_in_,)
        Names of the features, set if all of them are strings.
    encoded_names_ : array of shape (n_encoded,)
        Names of the features after encoding.
    X_fit_ : array or sparse matrix of shape (n_samples, n_features)
        Training samples, set if the kernel is a function.

    See Also
    --------
    MarginClassifierCV : Selects C and the kernel by cross-validation.
    MarginPath : Fits along a path of C.
    StreamClassifier : Fits by stochastic gradient, also chunk by chunk.

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

    auto_scale_: dict[str, float]
    lambda_: float
    exact_objective_: float | np.ndarray
    exact_lower_bound_: float | np.ndarray
    exact_dual_gap_: float | np.ndarray
    exact_relative_gap_: float | np.ndarray
    exact_relative_rounding_: float | np.ndarray

    def __init__(
        self,
        loss: str = "lhs",
        C: float = 1.0,
        kernel: str | Callable[[Any, Any], Any] | None = None,
        *,
        gamma: float | str | None = None,
        degree: float | None = None,
        coef0: float | None = None,
        approximation: str | None = None,
        memory: int | str | None = None,
        certify_exact: bool = False,
        keep_duals: bool = False,
        encode: bool | dict[str, Any] = False,
        fit_intercept: bool = True,
        standardize: bool = False,
        penalty_factors: Any = None,
        class_weight: Any = None,
        multi_class: str = "ovo",
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
        self.C = C
        self.kernel = kernel
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.approximation = approximation
        self.memory = memory
        self.certify_exact = certify_exact
        self.keep_duals = keep_duals
        self.encode = encode
        self.fit_intercept = fit_intercept
        self.standardize = standardize
        self.penalty_factors = penalty_factors
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
    def fit(self, X: Any, y: Any, sample_weight: Any = None, coef_init: Any = None, intercept_init: float | None = None) -> MarginClassifier:
        """Fits the classifier.

        Parameters
        ----------
        X : array, sparse matrix or data frame of shape (n_samples, n_features)
            The samples.
        y : array of shape (n_samples,)
            Their classes.
        sample_weight : array of shape (n_samples,) or None, default=None
            Their weights, 1 for None.
        coef_init : array of shape (n_features,) or (1, n_features) or None, default=None
            The coefficients at which a fit without a penalty (`C=inf`) starts, 0 for None.
        intercept_init : float or None, default=None
            The intercept at which it starts, 0 for None.

        Returns
        -------
        self : MarginClassifier
            The classifier, fitted.
        """
        report = self._fit(_native.fit_classifier, X, y, sample_weight, start=_start(coef_init, intercept_init))
        self._adopt(report["model"])
        self._adopt_report(report)
        self._keep(lambda_=report["lambdas"][0], auto_scale_=report.get("scale"))
        if report["certifiable"]:
            warn_of_gap(report, self.tol)
        else:
            warn_of_end(report)
        warn_of_report(report)
        return self
