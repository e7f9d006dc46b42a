"""Regression by focused online learning: a small absolute error on every sample."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn.base import RegressorMixin
from sklearn.utils.validation import check_consistent_length, check_is_fitted, column_or_1d

from . import _native
from ._base import Fitting
from ._inputs import blocks, checked, samples_of
from ._progress import announced, watchers
from ._values import array_of, floats_of, refuse_gaps
from ._warnings import warn_of_time


class FocusedRegressor(RegressorMixin, Fitting):
    """A bounded regression function with a small error on every sample if possible, by focused online learning.

    An online learner plays against a player who draws the samples with large errors. Targets are scaled to [0, 1] by their
    smallest and largest value, and the prediction is the mean of linear functions that are clipped to this range.

    Parameters
    ----------
    epsilon : float in (0, 1), default=0.1
        Target for the largest error of a row, as a share of the range of the targets. The game ends when no error is
        larger.
    norm : float > 0 or None, default=None
        Largest norm of the coefficients of a function, with its intercept, for targets in [0, 1]. Default: that of the
        least squares solution, or 1 if it is 0. With `standardize` they are those of standardised features. Of several
        least squares solutions it is the smallest one over standardised features.
    standardize : bool, default=False
        If True, scale features to mean 0 and standard deviation 1; sparse features are not centred. Without an
        intercept they are not centred. Predictions take the unscaled features.
    fit_intercept : bool, default=True
        If False, fix the intercept at 0. The smallest target is then the prediction at 0.
    max_steps : int >= 1 or None, default=None
        Maximum number of steps. Default: by theorem 1 for example 2. The game ends earlier once every error is at most
        `epsilon`.
    outputs : int >= 1 or None, default=None
        Number of functions in the mean, taken before random steps. Default: by theorem 1.
    delta : float in (0, 1), default=0.01
        Failure probability of theorem 1.
    time_limit : float >= 0 or None, default=None
        Time limit in seconds; keeps the functions so far.
    random_state : int, RandomState or None, default=None
        Seed of the game. Default: 1.
    callback : callable or None, default=None
        Function that `fit` calls with a dictionary of the seconds `elapsed`, up to fifty times per second. An exception
        ends the fit and is raised.
    verbose : bool, default=False
        If True, print the elapsed seconds, up to fifty times per second.

    Attributes
    ----------
    members_ : array of shape (n_functions, n_features)
        Coefficients of the functions of the features as given, for targets in [0, 1].
    intercepts_ : array of shape (n_functions,)
        Their intercepts.
    target_range_ : tuple of two floats
        Smallest and largest target.
    max_error_ : float
        Largest absolute error of a sample, in the units of the targets.
    norm_ : float
        Largest norm of the coefficients of a function, with its intercept; with `standardize` of those for standardised
        features.
    theorem_ : dict
        Theorem 1 for this game: `steps` and `outputs` of the theorem, and the probability of `failure` with the limits of
        this game, if some clipped function of this norm has no error. `steps` and `outputs` are None if `max_steps` is
        given and the theorem needs more than 2^53 steps.
    n_iter_ : int
        Number of steps.
    status_ : str
        Why the game ended: "rule-met" if every error was at most epsilon of the range, "iteration-limit" or "time-limit".
    n_features_in_, feature_names_in_
        Attributes of the data.

    Notes
    -----
    This is example 2 of Shalev-Shwartz and Wexler (2016), with steps of length `W/(X sqrt(T))`. If some function of norm W
    has no error after clipping, every error is at most epsilon with probability `1 - delta` after the steps of the
    theorem. The steps grow with the square of `W X/epsilon`, X the largest norm of a sample: `standardize` features of
    large numbers.

    Examples
    --------
    >>> import numpy as np
    >>> from margins_learn import FocusedRegressor
    >>> X = np.random.default_rng(1).random((50, 2))
    >>> model = FocusedRegressor(0.05).fit(X, X @ [1.0, 2.0])
    >>> model.status_, bool(model.max_error_ <= 0.05 * np.ptp(X @ [1.0, 2.0]))
    ('rule-met', True)
    """

    members_: np.ndarray
    intercepts_: np.ndarray
    target_range_: tuple[float, float]
    max_error_: float
    norm_: float
    theorem_: dict[str, Any]
    n_iter_: int
    status_: str
    n_features_in_: int
    feature_names_in_: np.ndarray

    def __init__(
        self,
        epsilon: float = 0.1,
        norm: float | None = None,
        *,
        standardize: bool = False,
        fit_intercept: bool = True,
        max_steps: int | None = None,
        outputs: int | None = None,
        delta: float = 0.01,
        time_limit: float | None = None,
        random_state: Any = None,
        callback: Callable[[dict[str, Any]], Any] | None = None,
        verbose: bool = False,
    ) -> None:
        self.epsilon = epsilon
        self.norm = norm
        self.standardize = standardize
        self.fit_intercept = fit_intercept
        self.max_steps = max_steps
        self.outputs = outputs
        self.delta = delta
        self.time_limit = time_limit
        self.random_state = random_state
        self.callback = callback
        self.verbose = verbose

    @announced
    def fit(self, X: Any, y: Any) -> FocusedRegressor:
        """Plays the game.

        Parameters
        ----------
        X : array, sparse matrix or data frame of shape (n_samples, n_features)
            The samples.
        y : array of shape (n_samples,)
            Their targets.

        Returns
        -------
        self : FocusedRegressor
            The regression function.
        """
        if y is None:
            raise ValueError("This FocusedRegressor estimator requires y to be passed, but the target y is None.")
        X = checked(self, X, reset=True)
        targets = column_or_1d(array_of(y), warn=True)
        refuse_gaps(targets, "y")
        targets = floats_of(targets, "y")
        check_consistent_length(targets, np.empty(X.shape[0]))
        with watchers(self) as watching:
            report = _native.fit_focused_regressor(samples_of(X), targets, self._settings(), watching)
        kept = ("members", "intercepts", "target_range", "norm", "max_error", "status")
        theorem = {name: report[name] for name in ("steps", "outputs", "failure")}
        self._keep(**{f"{name}_": report[name] for name in kept}, n_iter_=max(1, report["rounds"]), theorem_=theorem)
        warn_of_time(self.status_, f"the game after {self.n_iter_} steps")
        return self

    def predict(self, X: Any) -> np.ndarray:
        """Returns the prediction for every sample.

        Parameters
        ----------
        X : array, sparse matrix or data frame of shape (n_samples, n_features)
            The samples.

        Returns
        -------
        targets : array of shape (n_samples,)
            The predictions, within the range of the targets of the fit.
        """
        check_is_fitted(self, "members_")
        X = checked(self, X, reset=False)
        members, intercepts = np.ascontiguousarray(self.members_), self.intercepts_
        parts = [_native.clipped_mean(samples_of(part), members, intercepts, self.target_range_) for part in blocks(X)]
        return np.concatenate(parts)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags
