"""The fits along a path of C."""

from __future__ import annotations

from collections.abc import Callable
from os import PathLike
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from . import _native
from ._base import EVIDENCE
from ._labels import label_type_of, weights_of
from ._progress import announced
from ._regularised import MarginClassifier, OneKernel
from ._settings import Cs_given, Cs_of, number_of, numbers_of, text_of
from ._values import array_of, floats_of
from ._warnings import warn_of_gap, warn_of_report


class MarginPath(OneKernel):
    """The fits along a whole path of C, each with its duality gap.

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
    Cs : array, int or None, default=None
        Values of C, or their number from 1e-4 to 1e4, evenly spaced on a logarithmic scale. Default: 33, unless
        `lambdas` is given.
    lambdas : array or None, default=None
        Grid of lambdas. A fit minimises the mean loss + lambda * squared norm. Pass either `Cs` or lambdas.
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
        If True, keep the dual variables of the fits and their constrained forms. They are `duals_` and
        `constrained_forms_`. Of more than two classes only `multi_class="ovr"` has them, not the default.
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
    lambdas_, Cs_ : array of shape (n_Cs,)
        Path, from the largest lambda to the smallest.
    coefs_ : array of shape (n_Cs, n_members, n_functions)
        Coefficients: of the features of a linear classifier, of the samples with a kernel.
    intercepts_ : array of shape (n_Cs, n_members)
        Intercepts.
    objectives_, lower_bounds_, dual_gaps_, relative_gaps_ : array of shape (n_Cs, n_problems)
        Objectives, lower bounds on their minima, their differences, and the differences relative to their size.
        There is one problem per member, and one for all classes unless `multi_class` is `"ovr"` or `"ovo"`.
    relative_roundings_ : array of shape (n_Cs, n_problems)
        Allowances for rounding errors, which the relative gaps do not include.
    exact_objectives_, exact_lower_bounds_, exact_dual_gaps_, exact_relative_gaps_, exact_relative_roundings_ : \
array of shape (n_Cs, n_problems)
        The same numbers for the exact kernel, with `certify_exact`.
    duals_ : array of shape (n_Cs, n_samples) or (n_Cs, n_members, n_samples)
        Dual variables, with `keep_duals`, or of two classes by a kernel that is not approximated: negative slopes of the
        loss at the samples, `-L'(u_i)`. `display.CoefficientPathDisplay` draws them.
    constrained_forms_ : list
        With `keep_duals`: the constrained form at each C, as `constrained_form_` of `MarginClassifier`.
    margin_locations_ : list
        Locations of the training margins at each C by the loss `margin-pursuit`, as `margin_location_` of
        `MarginClassifier`.
    statuses_ : array of shape (n_Cs, n_problems)
        Why each fit ended.
    n_iter_ : int
        Largest number of iterations of a fit, at least 1; fits in closed form take none.
    kernel_ : str
        Kernel with all of its parameters. Not set by linear fits.
    classes_, n_features_in_, feature_names_in_, encoded_names_
        Attributes of the data, as in `MarginClassifier`.

    See Also
    --------
    MarginClassifier : Fits at one C, and predicts.
    MarginClassifierCV : Selects C and the kernel by cross-validation.

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
    duals_: np.ndarray
    constrained_forms_: list[Any]
    margin_locations_: list[Any]
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
        keep_duals: bool = False,
        encode: bool | dict[str, Any] = False,
        fit_intercept: bool = True,
        standardize: bool = False,
        penalty_factors: Any = None,
        class_weight: Any = None,
        multi_class: str = "ovo",
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
        self._keep(_models=report["models"])
        self._keep(lambdas_=report["lambdas"], Cs_=Cs_of(report["lambdas"], report["rows"], self.Cs))
        self._keep(**{f"{name}s_": report[name] for name in ("coef", "intercept", *EVIDENCE)})
        duals, forms = report.get("duals"), None
        if "solutions" in report:
            # Of one problem the numbers alone, of several one entry for each, as in `MarginClassifier`.
            alone = report["coef"].shape[1] == 1
            duals = np.stack([found["duals"][0] if alone else found["duals"] for found in report["solutions"]])
            forms = [found["constrained"][0] if alone else found["constrained"] for found in report["solutions"]]
        locations = [found[0] if len(found) == 1 else found for found in report["margin_locations"] if found]
        self._keep(duals_=duals, constrained_forms_=forms, margin_locations_=locations or None)
        self._adopt_exact({name + "s": values for name, values in report.get("exact", {}).items()})
        self._keep(statuses_=np.array(report["status"]), n_iter_=max(1, int(report["iterations"].max())))
        flat = {name: np.ravel(report[name]) for name in ("relative_gap", "relative_rounding", "status", "reason")}
        warn_of_gap(flat, self.tol, 'Set stop="gap" for certified fits.')
        warn_of_report(report)
        return self

    def classifier(self, C: float | None = None) -> MarginClassifier:
        """Returns the classifier at one C of the path, with its evidence.

        Parameters
        ----------
        C : float or None, default=None
            One of `Cs_`, to six digits. Default: the largest. Any other C is refused, because interpolated coefficients
            have no certificate.

        Returns
        -------
        classifier : MarginClassifier
            The classifier, ready to predict.
        """
        check_is_fitted(self, "coefs_")
        step = self._step(C)
        if getattr(self, "_models", None) is None:
            raise ValueError("A fit of the path overflowed, so that the path has no classifiers: scale the features.")
        names = set(MarginClassifier._get_param_names()) - {"C"}
        shared = {name: value for name, value in self.get_params(deep=False).items() if name in names}
        classifier = MarginClassifier(C=float(self.Cs_[step]), **shared)
        known = ("classes_", "n_features_in_", "feature_names_in_", "encoded_names_", "kernel_", "X_fit_")
        classifier._keep(**{name: self.__dict__.get(name) for name in known})
        classifier._adopt(self._models.at(float(self.lambdas_[step])))
        report = {name: getattr(self, f"{name}s_")[step] for name in EVIDENCE}
        exact = {name: [getattr(self, f"exact_{name}s_")[step]] for name in EVIDENCE if hasattr(self, f"exact_{name}s_")}
        statuses = self.statuses_[step].tolist()
        classifier._adopt_report(report | {"exact": exact, "status": statuses, "iterations": [self.n_iter_] * len(statuses)})
        classifier._keep(lambda_=float(self.lambdas_[step]))
        return classifier

    def predict(self, X: Any, C: float | None = None) -> np.ndarray:
        """Returns the class of every sample by the classifier at one C of the path.

        Parameters
        ----------
        X : array, sparse matrix or data frame of shape (n_samples, n_features)
            The samples.
        C : float or None, default=None
            One of `Cs_`, as in `classifier`. Default: the largest.

        Returns
        -------
        classes : array of shape (n_samples,)
            The classes.
        """
        return self.classifier(C).predict(X)

    def save(self, path: str | PathLike[str]) -> None:
        """Writes the classifiers at all C to one file, which `load` and the command read.

        Parameters
        ----------
        path : path
            The file, which is JSON if its name ends in `.json`, and else binary.
        """
        check_is_fitted(self, "coefs_")
        if self._is_precomputed():
            raise ValueError("A model file cannot store a path with a precomputed kernel or a kernel function: pickle the estimator instead.")
        if getattr(self, "_models", None) is None:
            raise ValueError("A fit of the path overflowed, so that the path has no classifiers: scale the features.")
        self._models.save(path, label_type_of(self.classes_))

    def _step(self, C: float | None) -> int:
        """Returns the position of one C of the path, given to six digits; of the largest for None."""
        Cs = self.Cs_
        if C is None:
            return int(np.argmax(Cs))
        C = number_of(C, "C")
        if not 0 < C < np.inf:
            raise ValueError(f"C is {C}, but must be a finite number greater than 0.")
        nearest = int(np.argmin(np.abs(Cs - C) / Cs))
        if not abs(Cs[nearest] - C) <= 5e-6 * Cs[nearest]:
            around = [f"{fitted:.6g}" for fitted in (*Cs[Cs < C][-1:], *Cs[Cs > C][:1])]
            raise ValueError(
                f"C is {C!r}, but the path was not fitted there: the nearest fitted C {'is' if len(around) == 1 else 'are'} "
                f"{' and '.join(around)}. Interpolated coefficients would have no certificate."
            )
        return nearest

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "coefs_")

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        return tags


def separable_limit(X: Any, y: Any, loss: str = "lhs", *, q: float = 2.0, sample_weight: Any = None) -> dict[str, Any]:
    """Returns the limit of a path without intercept as lambda falls to 0, for classes that a direction separates.

    The minimisers of the mean loss + lambda * sum |w|^q have the same direction for all small lambdas: that of the largest
    product of margins for `lhs`, and of the largest sum of margins to the power 1/r for `l-r`. This is theorem 3 of Kwon and
    Zou (2023), with the lambda at which it begins.

    Parameters
    ----------
    X : array of shape (n_samples, n_features)
        Features.
    y : array of shape (n_samples,)
        Labels of two classes.
    loss : str, default="lhs"
        Loss: `lhs`, `l-r` or `dwd`.
    q : float in [1, 100], default=2.0
        Exponent of the penalty.
    sample_weight : array of shape (n_samples,) or None, default=None
        Weights of the samples, 1 for None.

    Returns
    -------
    limit : dict
        `coef`, the direction with q-norm 1; `first_lambda`, the largest lambda whose minimiser has it; `first_size` and
        `power`: the minimiser at a lambda up to it is `first_size * (first_lambda/lambda)**power * coef`; `least_margin`,
        the smallest margin of `coef`; `criterion`, the mean of the logarithms of the margins, for `l-r` of r times their powers 1/r; and
        `relative_gap`, a bound on the distance of the criterion to its maximum.

    Examples
    --------
    >>> from margins_learn import separable_limit
    >>> limit = separable_limit([[1.0, 0.0], [0.0, 1.0], [-1.0, -1.0]], [1, 1, 0])
    >>> limit["coef"].round(6).tolist(), round(limit["first_lambda"], 6)
    ([0.707107, 0.707107], 0.25)
    """
    X, labels = floats_of(X, "X"), array_of(y)
    if X.ndim != 2:
        raise ValueError(f"X has the shape {X.shape}, but must have two dimensions.")
    if labels.shape != X.shape[:1]:
        raise ValueError(f"y has the shape {labels.shape}, but X has {len(X)} rows.")
    classes = np.unique(labels)
    if len(classes) != 2:
        raise ValueError(f"y has {len(classes)} classes, but must have two.")
    signs = np.where(labels == classes[1], 1.0, -1.0)
    weights = weights_of(sample_weight, X)
    return _native.separable_limit(np.ascontiguousarray(X), signs, weights, text_of(loss, "loss"), number_of(q, "q"))
