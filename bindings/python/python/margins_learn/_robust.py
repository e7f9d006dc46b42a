"""Classifiers by robust objectives, which single wrong samples cannot dominate."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from . import _native
from ._base import ModelClassifier
from ._progress import announced
from ._regularised import OneKernel
from ._warnings import warn_of_end, warn_of_gap


class RobustClassifier(OneKernel, ModelClassifier):
    """A classifier that minimises a robust objective instead of the mean loss.

    Parameters
    ----------
    objective : str, default="margin-distribution:mean=1,variance=1"
        Robust objective, such as `catoni:alpha=1`. `catoni:alpha=1`, `median-of-means:blocks=11`,
        `margin-distribution:mean=1,variance=1`, or `garg-roth:restarts=10` for the loss garg-roth.
        `margin-distribution:lambda1=1,lambda2=1,lambda3=1` minimises `||w||^2/2 + lambda1 v - lambda2 m` plus lambda3
        times the mean loss, which sets lambda to `1/(2 lambda3)`. Only the margin distribution has a duality gap. It
        shifts scores, and therefore needs a loss without probabilities.
    loss : str, default="hinge"
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
        rules of gamma in scikit-learn, such as `gaussian:sigma=scale`. The kernel needs an `approximation` by features.
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
    tol : float > 0, default=1e-9
        Relative duality gap to reach. For an objective without a gap: the relative decrease over twenty steps below
        which the descent ends.
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
    classes_, coef_, dual_coef_, intercept_, kernel_, lambda_, objective_, lower_bound_, dual_gap_, relative_gap_, relative_rounding_, gradient_norm_, \
status_, n_iter_, \
model_, n_features_in_, feature_names_in_, encoded_names_
        Attributes of the fit, as in `MarginClassifier`. An objective that is not convex has `gradient_norm_` instead of
        `lower_bound_`, `dual_gap_` and `relative_gap_`; its `status_` is "rule-met" if no step gains more than `tol`, or
        after all steps of the median of means.
    fixed_moments_leave_one_out_bound_ : float or array of shape (n_members,)
        For the margin distribution with the hinge: the bound of Zhang and Zhou on the share of samples that are
        misclassified if they are left out one at a time, with the mean and variance of all margins. Otherwise not set.

    Examples
    --------
    >>> from margins_learn import RobustClassifier
    >>> X, y = [[0.0], [1.0], [2.0], [3.0]], [0, 0, 1, 1]
    >>> robust = RobustClassifier(C=10.0).fit(X, y)
    >>> robust.predict([[0.0], [3.0]]).tolist(), robust.status_
    ([0, 1], 'converged')
    """

    lambda_: float
    fixed_moments_leave_one_out_bound_: float | np.ndarray

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
        multi_class: str = "ovo",
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
        self._keep(lambda_=report["lambdas"][0])
        bounds = report["fixed_moments_leave_one_out_bound"]
        self._keep(fixed_moments_leave_one_out_bound_=bounds[0] if bounds and len(bounds) == 1 else bounds and np.array(bounds))
        if report["certifiable"]:
            warn_of_gap(report, self.tol)
        else:
            warn_of_end(report)
        return self
