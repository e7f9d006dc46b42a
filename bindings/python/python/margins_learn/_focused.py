"""Ensembles that make the largest loss of a sample small."""

from __future__ import annotations

from collections.abc import Callable
from os import PathLike
from typing import Any

import numpy as np
from joblib import effective_n_jobs
from sklearn.utils.validation import check_is_fitted

from . import _native
from ._base import BinaryClassifier, ModelClassifier, warn_of_no_use, warn_of_time
from ._inputs import blocks, checked, samples_of
from ._progress import announced, watchers


class FocusedClassifier(BinaryClassifier, ModelClassifier):
    """An ensemble of two classes that focused online learning makes right on every sample, if it can.

    An online learner plays against a player who draws the samples that it gets wrong. Every sample counts alike.

    Parameters
    ----------
    learner : str, default="perceptron"
        The learner: `"perceptron"`, `"averaged-perceptron"`, `"passive-aggressive"` (`:capped=C` or `:damped=C`),
        `"online-gradient:inverse-sqrt=1,loss=hinge"`, `"stump:thresholds=20,eta=0.1"`,
        `"kernel-perceptron:budget=1000"` with a kernel, or `"mlp:hidden=32x16,step=0.05,loss=logistic"`.
    kernel : str or None, default=None
        The kernel of the kernel perceptron, as `MarginClassifier` takes it.
    loss : str, default="zero-one"
        The loss, which is clipped to [0, 1]; `"ramp"` is the clipped hinge loss.
    epsilon : float, default=0.49
        The largest loss of a sample at which the game ends, between 0 and 1. A sample on the wrong side keeps the game going.
    standardize : bool, default=False
        True scales features to mean 0 and deviation 1 first, sparse ones to deviation 1. The model is one of the features as given.
    fit_intercept : bool, default=True
        True adds an intercept to linear learners.
    max_steps : int or None, default=None
        The most steps; None takes the number that the theory asks for.
    outputs : int or None, default=None
        The number of classifiers in the ensemble; None takes the number that the theory asks for.
    combine : {"majority", "average"}, default="majority"
        The combination of the classifiers. The majority is right on every sample if one of the learner's classifiers is, with high probability.
    slack : str or None, default=None
        The slack for outliers, such as `"additive-sum:budget=5"`.
    subsample : str or None, default=None
        The counts by which a random part of the samples is drawn to learn from, such as `"outliers=5,rare=200"`.
    checkpoint : path or None, default=None
        The file of the state of the game, written now and then and at the end; where it is there the game goes on.
    pause_at : int or None, default=None
        The step after which the game ends, to go on later from its checkpoint.
    time_limit : float or None, default=None
        The seconds after which the game ends with a warning, and with the ensemble so far; with the learner if the ensemble is empty.
    random_state : int, RandomState or None, default=None
        The seed of the game; None takes the seed 1.
    n_jobs : int or None, default=None
        The number of threads, on which no result depends: one for None, all for -1.
    callback : callable or None, default=None
        A function that `fit` calls with a dictionary of the seconds `elapsed`, up to fifty times a second. What it raises ends the fit.
    verbose : bool, default=False
        True prints the seconds elapsed, up to fifty times a second.

    Attributes
    ----------
    ensemble_ : Ensemble
        The classifiers, which decide together.
    max_loss_ : float
        The largest loss of a sample.
    consistent_at_ : int
        The step by which the ensemble was right on every sample with a loss of at most `epsilon`, if it ever was.
    n_iter_ : int
        The steps of the game.
    finished_ : bool
        True if the game came to its end, and was not paused or out of time.
    status_ : str
        Why the game ended: "rule-met" if the largest loss was at most `epsilon`, "iteration-limit" after the most steps,
        "paused" at `pause_at`, or "time-limit".
    outliers_ : list of int
        The rows with slack, the largest first, in a game with slack.
    kernel_ : str
        The kernel with all of its parameters, if there is one.
    coef_, intercept_ : array
        The coefficients, if the ensemble is one linear classifier: the average of linear learners.
    model_ : Model
        The model, as files keep it. Stumps and networks do not have one: no file holds them, but they can be pickled.
    classes_, n_features_in_, feature_names_in_
        The facts of the data, as `MarginClassifier` has them.

    Notes
    -----
    There is no duality gap, because a game minimises no convex objective. The evidence in its place is `max_loss_`, the largest loss of
    a sample under the whole ensemble, which is looked at sample by sample.

    Examples
    --------
    >>> from margins_learn import FocusedClassifier
    >>> X, y = [[1.0, 0.1], [-1.0, 0.2], [0.5, -0.9]], ["yes", "no", "yes"]
    >>> FocusedClassifier().fit(X, y).predict(X).tolist()
    ['yes', 'no', 'yes']
    """

    ensemble_: _native.Ensemble
    max_loss_: float
    consistent_at_: int
    finished_: bool
    outliers_: list[int]
    kernel_: str
    model_: Any
    status_: str
    n_iter_: int

    def __init__(
        self,
        learner: str = "perceptron",
        kernel: str | None = None,
        *,
        loss: str = "zero-one",
        epsilon: float = 0.49,
        standardize: bool = False,
        fit_intercept: bool = True,
        max_steps: int | None = None,
        outputs: int | None = None,
        combine: str = "majority",
        slack: str | None = None,
        subsample: str | None = None,
        checkpoint: str | PathLike[str] | None = None,
        pause_at: int | None = None,
        time_limit: float | None = None,
        random_state: Any = None,
        n_jobs: int | None = None,
        callback: Callable[[dict[str, Any]], Any] | None = None,
        verbose: bool = False,
    ) -> None:
        self.learner = learner
        self.kernel = kernel
        self.loss = loss
        self.epsilon = epsilon
        self.standardize = standardize
        self.fit_intercept = fit_intercept
        self.max_steps = max_steps
        self.outputs = outputs
        self.combine = combine
        self.slack = slack
        self.subsample = subsample
        self.checkpoint = checkpoint
        self.pause_at = pause_at
        self.time_limit = time_limit
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.callback = callback
        self.verbose = verbose

    @announced
    def fit(self, X: Any, y: Any) -> FocusedClassifier:
        """Plays the game.

        Parameters
        ----------
        X : array, sparse matrix or data frame of shape (n_samples, n_features)
            The samples.
        y : array of shape (n_samples,)
            Their classes, of which there are two.

        Returns
        -------
        self : FocusedClassifier
            The ensemble.
        """
        data = self._data(X, y, None)
        with watchers(self) as watching:
            report = _native.fit_focused(data, self._settings(), watching)
        self.ensemble_ = report["ensemble"]
        self._forget_model()
        if report["model"] is not None:
            self._adopt(report["model"])
        self.max_loss_, self.n_iter_, self.finished_ = report["max_loss"], max(1, report["rounds"]), report["finished"]
        self.status_ = report["status"]
        for name in ("consistent_at", "outliers", "kernel"):
            self._keep(f"{name}_", report[name])
        if self.finished_:
            warn_of_no_use("The ensemble", report["error"], "the samples", report["baseline"], self.standardize)
        warn_of_time(self.status_, f"the game after {self.n_iter_} of {report['max_steps']} steps")
        return self

    def _scores(self, X: Any) -> np.ndarray:
        check_is_fitted(self, "ensemble_")
        if hasattr(self, "model_"):
            return super()._scores(X)
        X = checked(self, X, reset=False)
        threads = effective_n_jobs(self.n_jobs)
        return np.concatenate([self.ensemble_.scores(samples_of(part), threads) for part in blocks(X)])[:, None]

    def decision_function(self, X: Any) -> np.ndarray:
        """Returns the score of every sample, of which the sign decides.

        Parameters
        ----------
        X : array, sparse matrix or data frame of shape (n_samples, n_features)
            The samples.

        Returns
        -------
        scores : array of shape (n_samples,)
            The scores.
        """
        return self._scores(X)[:, 0]

    def predict(self, X: Any) -> np.ndarray:
        """Returns the class of every sample.

        Parameters
        ----------
        X : array, sparse matrix or data frame of shape (n_samples, n_features)
            The samples.

        Returns
        -------
        classes : array of shape (n_samples,)
            The classes.
        """
        scores = self._scores(X)[:, 0]
        return self.classes_[(scores > 0).astype(int)]

    def save(self, path: str | PathLike[str]) -> None:
        """Writes the classifier to a file, unless it is an ensemble of stumps or networks.

        Parameters
        ----------
        path : path
            The file, which is JSON if its name ends in `.json`, and else binary.
        """
        check_is_fitted(self, "ensemble_")
        if not hasattr(self, "model_"):
            raise ValueError(f"The learner is {self.learner!r}, whose ensemble no file holds: pickle the estimator instead.")
        super().save(path)

    def _will_have_probabilities(self) -> bool:
        return False

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "ensemble_")
