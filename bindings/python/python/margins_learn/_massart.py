"""Halfspaces under label noise."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from . import _native
from ._base import BinaryClassifier, ModelClassifier, warn_of_no_use, warn_of_time
from ._progress import announced, watchers


class MassartClassifier(BinaryClassifier, ModelClassifier):
    """A halfspace with a margin, learned although any label may be flipped.

    Every label may be flipped with a probability of at most `eta` < 1/2, which an adversary chooses sample by sample.
    The learner is given `eta` and the margin `gamma`, or finds them. Samples are divided by their largest norm.

    Parameters
    ----------
    learner : {"auto", "sgd", "cuts"}, default="auto"
        The learner: stochastic gradient for many noise rates and margins, for those that are given, or cutting planes.
    eta : float or None, default=None
        The noise rate, for `"sgd"` and `"cuts"`.
    gamma : float or None, default=None
        The margin of the best halfspace on samples divided as `scale_rows` says, for `"sgd"` and `"cuts"`.
    epsilon : float, default=0.05
        The excess over `eta` that the error may have.
    delta : float, default=0.05
        The probability with which the learner may fail.
    project : int or None, default=None
        The number of random dimensions that `"cuts"` projects to; None lets it choose.
    fit_intercept : bool, default=True
        True gives every sample a feature that is 1, so that the halfspace need not pass through the origin.
    standardize : bool, default=False
        True scales features to mean 0 and deviation 1 first, sparse ones to deviation 1. The model is one of the features as given.
    scale_rows : {"largest", "each"}, default="largest"
        The number that samples are divided by: the largest norm of all, so that a margin is a distance, or the norm of each, so that it is
        an angle.
    time_limit : float or None, default=None
        The seconds after which no more steps or cuts are made, and the best halfspace so far is taken, with a warning.
    random_state : int, RandomState or None, default=None
        The seed of samples held out, of their order and of projections; None takes the seed 1.
    n_jobs : int or None, default=None
        The number of threads, on which no result depends: one for None, all for -1.
    callback : callable or None, default=None
        A function that `fit` calls with a dictionary of the seconds `elapsed`, up to fifty times a second. What it raises ends the fit.
    verbose : bool, default=False
        True prints the seconds elapsed, up to fifty times a second.

    Attributes
    ----------
    error_bound_ : float
        The bound on the error, which holds with probability `1 - delta`, from samples held out.
    held_out_error_ : float
        The share of the samples held out on the wrong side.
    training_error_ : float
        The share of all samples on the wrong side.
    eta_, gamma_ : float
        The noise rate and the margin that the halfspace was learned with.
    distance_ : float
        The distance from the boundary, in the units of the features, at which a sample has the margin `gamma_`, unless each sample was
        divided by its own norm.
    dimensions_ : int
        The dimensions after a projection by `project`, if there was one.
    n_iter_ : int
        The steps, or the calls of the oracle.
    status_ : str
        Why the learner ended: "rule-met" if it did all that its theory asks for, "infeasible" if cutting planes excluded every
        halfspace, "iteration-limit" if they reached their limit of calls, or "time-limit".
    coef_, intercept_, classes_, model_, n_features_in_, feature_names_in_
        The facts of the halfspace, as `MarginClassifier` has them.

    Notes
    -----
    There is no duality gap, because the learner minimises no convex objective. The evidence in its place is `error_bound_`, which
    holds with the probability `1 - delta`, from samples held out.

    `fit` takes no weights of samples, because what is drawn by weight is not what is drawn among repetitions.

    Examples
    --------
    >>> import numpy as np
    >>> from margins_learn import MassartClassifier
    >>> rng = np.random.default_rng(1)
    >>> X = rng.normal(size=(2000, 2))
    >>> y = (X[:, 0] > 0) ^ (rng.random(2000) < 0.1)
    >>> halfspace = MassartClassifier("sgd", eta=0.15, gamma=0.2, fit_intercept=False).fit(X, y)
    >>> bool(halfspace.score(X, X[:, 0] > 0) > 0.9)
    True
    """

    error_bound_: float
    held_out_error_: float
    training_error_: float
    eta_: float
    gamma_: float
    distance_: float
    dimensions_: int
    status_: str
    n_iter_: int

    def __init__(
        self,
        learner: str = "auto",
        eta: float | None = None,
        gamma: float | None = None,
        *,
        epsilon: float = 0.05,
        delta: float = 0.05,
        project: int | None = None,
        fit_intercept: bool = True,
        standardize: bool = False,
        scale_rows: str = "largest",
        time_limit: float | None = None,
        random_state: Any = None,
        n_jobs: int | None = None,
        callback: Callable[[dict[str, Any]], Any] | None = None,
        verbose: bool = False,
    ) -> None:
        self.learner = learner
        self.eta = eta
        self.gamma = gamma
        self.epsilon = epsilon
        self.delta = delta
        self.project = project
        self.fit_intercept = fit_intercept
        self.standardize = standardize
        self.scale_rows = scale_rows
        self.time_limit = time_limit
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.callback = callback
        self.verbose = verbose

    @announced
    def fit(self, X: Any, y: Any) -> MassartClassifier:
        """Learns the halfspace.

        Parameters
        ----------
        X : array, sparse matrix or data frame of shape (n_samples, n_features)
            The samples.
        y : array of shape (n_samples,)
            Their classes, of which there are two.

        Returns
        -------
        self : MassartClassifier
            The halfspace, learned.
        """
        data = self._data(X, y, None)
        with watchers(self) as watching:
            report = _native.fit_massart(data, self._settings(), watching)
        self._adopt(report["model"])
        self.error_bound_, self.held_out_error_ = report["error_bound"], report["held_out_error"]
        self.training_error_ = report["training_error"]
        self.eta_, self.gamma_, self.n_iter_ = report["noise"], report["margin"], max(1, report["steps"])
        for name in ("distance", "dimensions"):
            self._keep(f"{name}_", report[name])
        self.status_ = report["status"]
        errors = [(self.training_error_, "the samples"), (self.held_out_error_, f"the {report['held_out']} samples held out")]
        warn_of_no_use("The halfspace", *max(errors), report["baseline"], self.standardize)
        warn_of_time(self.status_, f"the learner after {self.n_iter_} steps")
        return self

    def _will_have_probabilities(self) -> bool:
        return False
