"""Halfspaces under label noise."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from . import _native
from ._base import ModelClassifier, adopted, available_if
from ._chunks import chunk_of
from ._inputs import is_path, samples_of
from ._labels import names_of
from ._progress import announced, watchers
from ._warnings import warn_of_no_use, warn_of_plan, warn_of_time


def _learns_from_streams(estimator: Any) -> bool:
    """Returns whether the learner needs no sample twice."""
    if estimator.learner != "sgd":
        raise AttributeError(f"learner is {estimator.learner!r}, which needs all samples at once: partial_fit is for learner='sgd'.")
    return True


class MassartClassifier(ModelClassifier):
    """A halfspace with a margin, learned although any label may be flipped.

    Every label may be flipped with a probability of at most `eta` < 1/2, which an adversary chooses sample by sample.
    The learner is given `eta` and the margin `gamma`, or finds them. Samples are divided by their largest norm. For more
    than two classes, a halfspace is learned for each class against the rest, and the largest score decides.

    Parameters
    ----------
    learner : {"sgd", "cuts", "auto", "perceptron", "leaky-relu", "proper", "plane", "partition"}, default="auto"
        Algorithm. `"sgd"`: Reweighted stochastic gradient. `"cuts"`: Cutting planes. `"auto"`: Reweighted stochastic
        gradient over a grid of noise rates and margins. `"perceptron"`: Perceptron, for comparison. `"leaky-relu"`:
        Minimum of the LeakyReLU loss, for comparison. `"proper"`: Cutting planes of Chen et al. (2020), for comparison.
        `"plane"`: Lowest 0-1 error of two features, the intercept one of them, for comparison. `"partition"`: Decision
        list of Diakonikolas et al. (2019), for comparison and two classes.
    eta : float in [0, 1/2) or None, default=None
        Noise rate: upper bound on the probability of a flipped label (all but auto).
    gamma : float in (0, 1) or None, default=None
        Margin of the best halfspace, after `scale_rows` (all but auto).
    epsilon : float in (0, 1), default=0.05
        Target excess of the error over eta.
    delta : float in (0, 1), default=0.05
        Failure probability of the learner.
    plan : {"practical", "proven"}, default="practical"
        Numbers of steps and rows (sgd, cuts). `"practical"`: Found by experiment. `"proven"`: Those of the proofs of
        theorems 2.1 (sgd) and B.3 (cuts). For sgd: the step size and the numbers of steps, candidates and held-out
        rows; the proven plan takes some thousand times as many steps, and its guarantee needs as many rows. For cuts:
        the proven plan gives each call of the oracle fresh rows, where the practical one has all rows in each call.
    steps : int >= 1 or None, default=None
        Number of steps T of algorithm 1 (sgd). Default: as in the plan.
    step : float > 0 or None, default=None
        Step size of algorithm 1 (sgd). Default: as in the plan.
    held_out : int >= 1 or None, default=None
        Largest number of held-out rows N, at most a fifth of all rows (sgd). Default: as in the plan.
    candidates : "all", int >= 1 or None, default=None
        Iterates to select from: `all`, or a number of random ones beside the last (sgd). Default: as in the plan. All T
        + 1 iterates take 8 (T + 1)(d + 1) bytes of memory.
    project : int >= 1 or None, default=None
        Number of dimensions of a random projection of the features (cuts). The projection costs half of gamma. By
        default, the dimension is the smallest one proven to keep half of gamma, and nothing is projected if that
        dimension is not smaller.
    localization : {"analytic-centre", "ellipsoid"} or None, default=None
        Point that the oracle is asked about (cuts). Default: analytic-centre; ellipsoid with the proven plan.
        `"analytic-centre"`: Analytic centre of the unit ball and the cuts. `"ellipsoid"`: Centre of an ellipsoid around
        what is left, whose number of calls is proven.
    max_calls : int >= 2 or None, default=None
        Largest number of calls of the oracle (cuts). Default: from gamma and the number of features. The first call
        cuts off the zero vector.
    memory : int, str or None, default=None
        Memory limit for a block file. Default: half of the free memory. An amount such as 2GB. A file that fits three
        times is loaded. Rows of a larger one are read in several passes; cutting planes read the file once per cut. An
        int is a number of bytes.
    fit_intercept : bool, default=True
        If False, fix the intercept at 0.
    standardize : bool, default=False
        If True, scale features to mean 0 and standard deviation 1; sparse features are not centred. The saved model
        applies to the unscaled features.
    scale_rows : {"largest", "each"}, default="largest"
        Norm to divide the rows by. `"largest"`: Largest norm of all rows. `"each"`: Norm of each row. After division by
        the largest norm, margins are proportional to distances from the boundary. After division by its own norm, the
        margin of each row is the sine of an angle.
    time_limit : float >= 0 or None, default=None
        Time limit in seconds; returns the best halfspace so far.
    random_state : int, RandomState or None, default=None
        Random seed of the samples and of the projection. Default: 1.
    n_jobs : int or None, default=None
        Number of threads. Default: 1. Results do not depend on it. -1 uses all cores.
    callback : callable or None, default=None
        Function that `fit` calls with a dictionary of the seconds `elapsed`, up to fifty times per second. An exception
        ends the fit and is raised.
    verbose : bool, default=False
        If True, print the elapsed seconds, up to fifty times per second.

    Attributes
    ----------
    error_bound_ : float
        Bound on the error from held-out samples, which holds with probability `1 - delta`.
    held_out_error_ : float
        Share of the held-out samples that are misclassified, by weight.
    training_error_ : float
        Share of all samples that are misclassified, by weight. Not set by `partial_fit`.
    eta_, gamma_ : float or array of shape (n_classes,)
        Noise rate and margin with which the halfspace was learned; for more than two classes, those of each class
        against the rest.
    distance_ : float or array of shape (n_classes,)
        Distance from the boundary, in the units of the features, at which a sample has the margin `gamma_`. Not set if
        each sample was divided by its own norm.
    dimensions_ : int or array of shape (n_classes,)
        Number of dimensions after a projection by `project`, if there was one.
    n_iter_ : int
        Number of steps, or of calls of the oracle; for more than two classes the largest one.
    t_ : int
        Number of samples that `partial_fit` has taken.
    status_ : str
        Why the learner ended: "rule-met" if it ran as its theory requires, "infeasible" if cutting planes excluded
        every halfspace, "iteration-limit" if they reached their limit of calls, or "time-limit".
    coef_, intercept_, classes_, model_, n_features_in_, feature_names_in_
        Attributes of the halfspace, as in `MarginClassifier`; with `learner="partition"` a row of `coef_` for each
        halfspace of the decision list.
    thresholds_ : array of shape (n_rules,)
        With `learner="partition"`: thresholds of the halfspaces of the decision list. The first one whose score, divided
        as the rows were, is at least its threshold in absolute value decides, and `decision_function` returns its score.

    Notes
    -----
    There is no duality gap, because the learner minimises no convex objective. The evidence is `error_bound_` instead. For
    more than two classes, it bounds the error of the decision, for every combination of the candidates of the classes at
    once.

    `fit` draws samples in proportion to `sample_weight`, and counts errors by weight. A weight of 2 does not mean two independent
    samples: with weights that differ, `error_bound_` counts n held-out samples as (sum c)^2 / sum c^2 samples, at most n.

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
    eta_: float | np.ndarray
    gamma_: float | np.ndarray
    distance_: float | np.ndarray
    dimensions_: int | np.ndarray
    status_: str
    n_iter_: int
    t_: int

    def __init__(
        self,
        learner: str = "auto",
        eta: float | None = None,
        gamma: float | None = None,
        *,
        epsilon: float = 0.05,
        delta: float = 0.05,
        plan: str = "practical",
        steps: int | None = None,
        step: float | None = None,
        held_out: int | None = None,
        candidates: int | str | None = None,
        project: int | None = None,
        localization: str | None = None,
        max_calls: int | None = None,
        memory: int | str | None = None,
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
        self.plan = plan
        self.steps = steps
        self.step = step
        self.held_out = held_out
        self.candidates = candidates
        self.project = project
        self.localization = localization
        self.max_calls = max_calls
        self.memory = memory
        self.fit_intercept = fit_intercept
        self.standardize = standardize
        self.scale_rows = scale_rows
        self.time_limit = time_limit
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.callback = callback
        self.verbose = verbose

    @announced
    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> MassartClassifier:
        """Learns the halfspace.

        Parameters
        ----------
        X : array, sparse matrix or data frame of shape (n_samples, n_features), or path of a block file
            The samples. A block file may be larger than memory.
        y : array of shape (n_samples,) or None, default=None
            Their classes, of which there are at least two; None for a block file, which has them.
        sample_weight : array of shape (n_samples,) or None, default=None
            Weights of the samples, at least 0. A sample of weight 0 is ignored. None for a block file.

        Returns
        -------
        self : MassartClassifier
            The halfspace, learned.
        """
        if is_path(X):
            for name, value in {"y": y, "sample_weight": sample_weight}.items():
                if value is not None:
                    raise ValueError(f"{name} is given beside the block file {str(X)!r}, which has labels and weights of its own.")
            data = {"path": X}
        else:
            data = self._data(X, y, sample_weight)
        with watchers(self) as watching:
            report = _native.fit_massart(data, self._settings(), watching)
        if is_path(X):
            self._keep(feature_names_in_=None, encoded_names_=None)
            adopted(self, report["model"])
        self._keep(_stream=None, t_=None)
        self._adopt_halfspace(report)
        warn_of_plan(self.plan, report["needed_rows"], report["rows"], self.learner)
        errors = [(self.training_error_, "the samples"), (self.held_out_error_, f"the {report['held_out']} samples held out")]
        found = "The halfspace" if self.model_.thresholds is None else "The decision list"
        warn_of_no_use(found, *max(errors), report["baseline"], self.standardize)
        warn_of_time(self.status_, f"the learner after {self.n_iter_} steps")
        return self

    @available_if(_learns_from_streams)
    def partial_fit(self, X: Any, y: Any, classes: Any = None) -> MassartClassifier:
        """Takes the samples of a chunk of a stream, in their order, each once.

        Every fifth sample is held out until there are as many as the plan holds out; the others are learned from until all steps of the
        plan are taken. Further samples are ignored. The halfspace does not depend on how the samples are cut into chunks. It
        exists from the fifth sample on. This needs the learner `"sgd"`, `scale_rows="each"`, and samples of two classes in random order;
        `standardize` and `sample_weight` need all samples at once. `clone` of scikit-learn makes a classifier that starts from scratch.

        Parameters
        ----------
        X : array, sparse matrix or data frame of shape (n_samples, n_features)
            The samples of the chunk.
        y : array of shape (n_samples,)
            Their classes.
        classes : array of shape (2,) or None, default=None
            Both classes; None takes those of the first chunk.

        Returns
        -------
        self : MassartClassifier
            The halfspace after the chunk.
        """
        state = self.__dict__.get("_stream")
        if state is None and hasattr(self, "model_"):
            raise ValueError("partial_fit cannot continue a fit, which has drawn its samples: clone the classifier to start a stream.")
        for name, needed in (("standardize", False), ("scale_rows", "each")):
            if getattr(self, name) != needed:
                raise ValueError(f"{name} is {getattr(self, name)!r}, which needs all samples at once: pass {name}={needed!r} for partial_fit.")
        X, known, targets = chunk_of(self, X, y, classes, first=state is None)
        if len(known) != 2:
            raise ValueError(f"There are the classes {known.tolist()}, but partial_fit learns from two: call fit, which learns a halfspace for each.")
        data = {
            "samples": samples_of(X),
            "targets": targets,
            "classes": names_of(known),
            "names": self._feature_names(),
            "weights": None,
        }
        report = _native.partial_fit_massart(state, data, self._settings())
        self.classes_ = known
        self._stream = report["state"]
        self._keep(t_=self._stream.rows)
        if "model" in report:
            self._adopt_halfspace(report)
        return self

    def _adopt_halfspace(self, report: dict[str, Any]) -> None:
        """Takes the halfspace with what is known of it."""
        self._adopt(report["model"])
        self._keep(n_iter_=max(1, report["steps"]))
        given = ("error_bound", "held_out_error", "training_error", "status")
        self._keep(**{f"{name}_": report[name] for name in given})
        of_classes = {"eta_": "noise", "gamma_": "margin", "distance_": "distance", "dimensions_": "dimensions"}
        values = {name: report[key] for name, key in of_classes.items()}
        self._keep(**{name: np.array(value) if isinstance(value, list) else value for name, value in values.items()})

    def _will_have_probabilities(self) -> bool:
        return False
