"""Focused online learning: ensembles with a small largest loss."""

from __future__ import annotations

from collections.abc import Callable
from os import PathLike
from typing import Any

import numpy as np
from joblib import effective_n_jobs
from sklearn.utils.validation import check_is_fitted

from . import _native
from ._base import ModelClassifier
from ._inputs import blocks, checked, samples_of
from ._progress import announced, watchers
from ._warnings import warn_of_no_use, warn_of_time


class FocusedClassifier(ModelClassifier):
    """An ensemble that is right on every sample if possible, by focused online learning.

    An online learner plays against a player who draws the samples that it gets wrong.
    For more than two classes, there is a game for each class against the rest, and the largest share of votes
    decides, or one game of all classes.

    Parameters
    ----------
    learner : str, default="perceptron"
        Online learner, such as `passive-aggressive:capped=1` or `stump`. `perceptron`, `averaged-perceptron`,
        `passive-aggressive` (`capped=C` for PA-I, `damped=C` for PA-II),
        `online-gradient:inverse-sqrt=1,radius=5,lambda=1e-3,loss=hinge` (or `constant=STEP`, `inverse-time=STEP`; the
        loss comes last), `adaptive:loss=logistic` (without a step length), `stump:thresholds=20,eta=0.1`,
        `kernel-perceptron:budget=1000` (needs `kernel`), `mlp:hidden=32x16,step=0.05,loss=logistic`.
    kernel : str or None, default=None
        Kernel of the kernel perceptron, such as `gaussian` or `poly:degree=3`.
    loss : str, default="zero-one"
        Loss, clipped to [0, 1]: name or `name:parameter=value,...`; `ramp` is the clipped hinge.
    epsilon : float in (0, 1), default=0.49
        Target for the largest loss of a row, between 0 and 1. The game ends when every row is classified correctly with
        a loss of at most epsilon.
    class_weight : dict, "balanced" or None, default=None
        Class weights. A class weight multiplies the weight of every sample of its class. The losses of the game are
        multiplied by the weight of their row divided by the largest one: a row with at most `epsilon` of the largest
        weight need not be right. `balanced` gives both classes the same total weight, and is refused if this would
        spare all rows of a class. A dict maps classes to numbers.
    standardize : bool, default=False
        If True, scale features to mean 0 and standard deviation 1; sparse features are not centred. The saved model
        applies to the unscaled features.
    fit_intercept : bool, default=True
        If False, fix the intercept of a linear learner at 0.
    multi_class : {"ovr", "joint"}, default="ovr"
        Games of more than two classes. `"ovr"`: One-versus-rest: one binary classifier per class. `"joint"`: One game
        on the multiclass 0-1 loss by the perceptron of several classes. `ovr` decides for the class with the largest
        share of votes of its own game, `joint` for the class that most classifiers of one game decide for.
    max_steps : int >= 1 or None, default=None
        Maximum number of steps of a game. Default: by theorem 1. The game ends earlier once every loss is at most
        `epsilon`. The default is theorem 1 with `delta` and `mistakes`.
    outputs : int >= 1 or None, default=None
        Number of classifiers in the ensemble, drawn from random steps. Default: by theorem 1.
    combine : {"majority", "average", "last", "validated"}, default="majority"
        How the classifiers are combined, or which one is taken. `"majority"`: Majority vote. `"average"`: Mean score.
        `"last"`: The learner's classifier at the end. `"validated"`: The one with the fewest mistakes on a fifth of the
        rows, held out. With `last` and `validated` the game ends when the present classifier alone reaches `epsilon`.
    delta : float in (0, 1), default=0.01
        Failure probability of theorem 1 and of the bounds.
    mistakes : float >= 0 or None, default=None
        Bound on the mistakes of the learner, for theorem 1. Default: the number of rows. With another loss than
        `zero-one` it bounds the sum of the learner's losses.
    margin : float > 0 or None, default=None
        Margin of the rows, which bounds the mistakes of the perceptron by (R/margin)^2. R is the largest norm of a row
        as the learner sees it, with a 1 for the intercept. In one game of several classes the bound is 2 (R/margin)^2.
    player : {"focused", "uniform", "exp3p"}, default="focused"
        Player who draws the rows. `"focused"`: Rows with large losses more often (theorem 1). `"uniform"`: All rows
        equally often: stochastic gradient. `"exp3p"`: EXP3.P.1 of Auer et al., which takes a pass over the rows for
        each step.
    slack : str, default="auto"
        Slack for outliers: `auto`, `none` or such as `additive-sum:budget=5`. `auto` plays without slack. If some rows
        remain wrong after the steps of theorem 1, it plays a second game with slack for that many rows, and returns the
        ensemble that is wrong on fewer rows. In that game `adaptive:loss=logistic` replaces the perceptron. Other forms
        are `additive-euclidean:budget=5` and `multiplicative:budget=5`.
    subsample : str or None, default=None
        Learn from a random subsample, such as `outliers=5,rare=200`. The size is chosen such that the subsample is
        likely to miss 5 outliers and to have enough of 200 rare samples.
    checkpoint : path or None, default=None
        Checkpoint file: save the state regularly, and resume from it if it exists.
    pause_at : int >= 0 or None, default=None
        Pause after this step, to resume later with the same `checkpoint`.
    time_limit : float >= 0 or None, default=None
        Time limit in seconds; returns the ensemble so far, and a checkpoint can resume from it.
    random_state : int, RandomState or None, default=None
        Seed of the game. Default: 1.
    n_jobs : int or None, default=None
        Number of threads. Default: 1. Results do not depend on it. -1 uses all cores.
    callback : callable or None, default=None
        Function that `fit` calls with a dictionary of the seconds `elapsed`, up to fifty times per second. An exception
        ends the fit and is raised.
    verbose : bool, default=False
        If True, print the elapsed seconds, up to fifty times per second.

    Attributes
    ----------
    ensemble_ : Ensemble
        Classifiers, which decide together.
    max_loss_ : float
        Largest loss of a sample, multiplied by its weight divided by the largest one.
    mean_loss_ : float
        Mean of these losses.
    seen_loss_ : float
        Mean of the losses that the player saw, each under the classifier of its step.
    loss_bound_ : float
        Bound on the mean loss of every sample over the steps, with probability `1 - delta`, whatever the learner is.
        Absent with slack and for another player than the focused one.
    theorem_ : dict
        Theorem 1 for this game: `delta`, `mistakes`, `steps` and `outputs` of the theorem, the probability of `failure`
        with the limits of this game, and `subsample_failure` by theorem 3; None where a theorem says nothing.
    validation_ : dict
        With `combine="validated"`: number of `rows` held out, of `candidates`, the `error` of the chosen one on these
        rows, and the `error_bound` for new rows of the same distribution, with probability `1 - delta`.
    consistent_at_ : int
        Step by which the ensemble was correct on every sample with a loss of at most `epsilon`, if it was.
    n_iter_ : int
        Number of steps of the game.
    finished_ : bool
        True if the game was neither paused nor ended by the time limit.
    status_ : str
        Why the game ended: "rule-met" if the largest loss was at most `epsilon`, "iteration-limit" after the maximum
        number of steps, "paused" at `pause_at`, or "time-limit".
    slack_ : str
        Slack of the game, given or chosen, if there was any.
    outliers_ : list of int
        Rows with slack, the largest slack first, in a game with slack.
    learner_ : str
        Learner that played the game, with all of its parameters.
    kernel_ : str
        Kernel with all of its parameters, if there is one.
    coef_, intercept_ : array
        Coefficients, if the ensemble is a linear classifier: the average of linear learners.
    model_ : Model
        Model as it is saved to files. Ensembles of stumps and networks have none, but can be pickled.
    classes_, n_features_in_, feature_names_in_
        Attributes of the data, as in `MarginClassifier`.

    Notes
    -----
    There is no duality gap, because a game minimises no convex objective. The evidence is `max_loss_` instead, which is
    computed from every sample.

    For more than two classes with `multi_class="ovr"`, `max_loss_` and `mean_loss_` are those of the 0-1 loss of the
    decision, and theorem 1 holds for all games together with probability `1 - delta`. `seen_loss_` and `loss_bound_`
    are arrays and `theorem_`, `validation_`, `slack_`, `outliers_` and `learner_` lists with an entry for each class;
    `n_iter_` is the largest number of steps. A checkpoint has a file for each class, with `.1`, `.2`, ... after its
    name.

    With `multi_class="joint"` the learner of more than two classes is the perceptron on the vectors of Kesler's
    construction: on a mistake it adds the sample to the function of its class, and takes it from the largest of the
    others. The attributes are those of one game. Where the mean loss of a sample is below 1/2, the plurality of the
    classifiers is right.

    Examples
    --------
    >>> from margins_learn import FocusedClassifier
    >>> X, y = [[1.0, 0.1], [-1.0, 0.2], [0.5, -0.9]], ["yes", "no", "yes"]
    >>> FocusedClassifier().fit(X, y).predict(X).tolist()
    ['yes', 'no', 'yes']
    """

    ensemble_: _native.Ensemble
    max_loss_: float
    mean_loss_: float
    seen_loss_: float | np.ndarray
    loss_bound_: float | np.ndarray
    theorem_: dict[str, Any] | list[dict[str, Any]]
    validation_: dict[str, Any] | list[dict[str, Any]]
    consistent_at_: int
    finished_: bool
    slack_: str | list[str | None]
    outliers_: list[int] | list[list[int]]
    learner_: str | list[str]
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
        class_weight: Any = None,
        standardize: bool = False,
        fit_intercept: bool = True,
        multi_class: str = "ovr",
        max_steps: int | None = None,
        outputs: int | None = None,
        combine: str = "majority",
        delta: float = 0.01,
        mistakes: float | None = None,
        margin: float | None = None,
        player: str = "focused",
        slack: str = "auto",
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
        self.class_weight = class_weight
        self.standardize = standardize
        self.fit_intercept = fit_intercept
        self.multi_class = multi_class
        self.max_steps = max_steps
        self.outputs = outputs
        self.combine = combine
        self.delta = delta
        self.mistakes = mistakes
        self.margin = margin
        self.player = player
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
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> FocusedClassifier:
        """Plays the game.

        Parameters
        ----------
        X : array, sparse matrix or data frame of shape (n_samples, n_features)
            The samples.
        y : array of shape (n_samples,)
            Their classes, of which there are at least two.
        sample_weight : array of shape (n_samples,) or None, default=None
            Costs of the samples, at least 0: the losses of the game are multiplied by them, divided by the largest one. A
            sample with at most `epsilon` of the largest weight need not be right.

        Returns
        -------
        self : FocusedClassifier
            The ensemble.
        """
        data = self._data(X, y, sample_weight)
        settings = self._settings(class_weight=self._class_costs(self.classes_))
        with watchers(self) as watching:
            report = _native.fit_focused(data, settings, watching)
        self.ensemble_ = report["ensemble"]
        self._forget_model()
        if report["model"] is not None:
            self._adopt(report["model"])
        self._keep(n_iter_=max(1, report["rounds"]))
        kept = ("max_loss", "mean_loss", "seen_loss", "loss_bound", "theorem", "validation", "finished", "status", "consistent_at")
        self._keep(**{f"{name}_": report[name] for name in (*kept, "slack", "outliers", "learner", "kernel")})
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
        return np.concatenate([self.ensemble_.scores(samples_of(part), threads) for part in blocks(X)])

    def decision_function(self, X: Any) -> np.ndarray:
        """Returns the score of every sample, of which the sign decides, or of several classes the largest one.

        Parameters
        ----------
        X : array, sparse matrix or data frame of shape (n_samples, n_features)
            The samples.

        Returns
        -------
        scores : array of shape (n_samples,) or (n_samples, n_classes)
            The scores.
        """
        scores = self._scores(X)
        return scores[:, 0] if scores.shape[1] == 1 else scores

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
        scores = self.decision_function(X)
        return self.classes_[(scores > 0).astype(int) if scores.ndim == 1 else scores.argmax(axis=1)]

    def save(self, path: str | PathLike[str]) -> None:
        """Writes the classifier to a file, unless it is an ensemble of stumps or networks.

        Parameters
        ----------
        path : path
            The file, which is JSON if its name ends in `.json`, and else binary.
        """
        check_is_fitted(self, "ensemble_")
        if not hasattr(self, "model_"):
            raise ValueError(f"A model file cannot store the ensemble of the learner {self.learner!r}: pickle the estimator instead.")
        super().save(path)

    def _will_have_probabilities(self) -> bool:
        return False

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "ensemble_")
