"""Classifiers by stochastic gradient."""

from __future__ import annotations

import functools
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from . import _native
from ._base import EVIDENCE, ModelClassifier
from ._chunks import chunk_of
from ._inputs import samples_of
from ._labels import names_of, weights_of
from ._progress import announced, watchers
from ._warnings import caller_level, warn_of_end, warn_of_gap

# Settings that chunks cannot have, with their defaults.
_FOR_FIT = {"hold_out": None, "rescale_at": None, "balanced_rows": None, "standardize": False, "class_weight": None}
_REMEDY = "Raise epochs, standardize the features, or accept a larger tol."


class StreamClassifier(ModelClassifier):
    """A linear classifier by stochastic gradient, over data in memory or chunk by chunk; several classes are learned one-versus-rest.

    It descends on `(1/n) sum_i c_i L(y_i f(x_i)) + lam ||w||^2`. `fit` visits the samples several times in an order that
    it draws; `partial_fit` takes each chunk once, as it comes, in bounded memory.

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
    lam : float >= 0, default=1e-4
        Weight of the penalty in mean loss + lambda * squared norm. With 0 there is no duality gap. C is undefined,
        because the number of samples of a stream is unknown.
    method : {"adaptive", "coin", "sgd", "pegasos", "margin-pursuit"}, default="adaptive"
        Algorithm. `"adaptive"`: Mixture of adaptive steps and coin betting: any loss, no parameters to tune. `"coin"`:
        Coin betting alone: any loss, no step length. `"sgd"`: Stochastic gradient with a step length schedule: any
        loss. `"pegasos"`: Pegasos: the hinge loss. `"margin-pursuit"`: Margin pursuit: that loss, its schedule, the
        ball of radius 1/sqrt(lambda), and independent draws from data in memory.
    schedule : {"constant", "inverse-sqrt", "inverse-time", "bottou", "margin-pursuit"}, default="bottou"
        Step length schedule of sgd. `"constant"`: STEP. `"inverse-sqrt"`: STEP / sqrt(t). `"inverse-time"`: STEP / t.
        `"bottou"`: STEP / (1 + 2 lambda STEP t). `"margin-pursuit"`: 1 / (scale sqrt(lambda) t), of the margin-pursuit
        loss. STEP is `first_step`.
    first_step : float > 0 or None, default=None
        First step length of sgd. Default: 1, or by the schedule.
    fit_intercept : bool, default=True
        If False, fix the intercept at 0.
    epochs : int >= 1 or None, default=None
        Number of passes over data in memory. Default: 10. Only `fit` uses it.
    replacement : bool, default=False
        If True, draw samples independently instead of in shuffled epochs. The method margin-pursuit always does.
    batch : int >= 1, default=1
        Mini-batch size of sgd, pegasos or margin-pursuit.
    average : str, default="none"
        Averaging of iterates: `none`, `polyak`, or `suffix:SHARE`. `none` returns the last iterate, `polyak` the mean
        of all iterates, and `suffix` the mean of the last SHARE of the iterates, which needs `epochs`.
    radius : float > 0 or None, default=None
        Radius to project the coefficients to. Default: by method. Coefficients are projected onto the ball after every
        step. By default, none for sgd, 1/sqrt(2 lambda) for pegasos and 1/sqrt(lambda) for margin-pursuit. The other
        methods do not project. Infinity is no projection.
    start_norm : float > 0 or None, default=None
        Norm of random initial coefficients of sgd, pegasos or margin-pursuit. Default: start at 0.
    hold_out : float in (0, 1) or None, default=None
        Share of the samples to hold out for early stopping. The fit stops if the loss of the held-out samples has not
        improved for `patience` epochs.
    patience : int >= 1, default=5
        Number of epochs without improvement before stopping.
    rescale_at : int >= 1 or None, default=None
        Step after which the scale of margin-pursuit is set from the data. The scale is set once, by the rule of Holland
        (2019), section 4.
    rescale_steps : {"divide", "keep"}, default="divide"
        Step lengths after the scale was set. `"divide"`: Divided by the factor of the increase of the scale, as printed
        in the paper. `"keep"`: Those of the schedule.
    balanced_rows : int >= 2 or None, default=None
        Number of rows to draw at random and fit to, half of them of each of two classes. Default: all rows.
    standardize : bool, default=False
        If True, scale features to unit standard deviation during the fit. Linear classifiers use the deviations of the
        training rows of each fold, kernel classifiers those of all rows.
    class_weight : dict, "balanced" or None, default=None
        Class weights. `balanced` gives the two sides of a binary problem, or all classes of one problem, the same total
        weight. A number multiplies the weight of every sample of its class, also in cross-validated errors; classes not
        listed have 1. A dict maps classes to numbers.
    tol : float > 0 or None, default=None
        Relative duality gap at which the fit counts as converged. A larger gap raises a `ConvergenceWarning`, unless
        `hold_out` ends the fit. None gives no warning, because stochastic gradient seldom reaches a small gap; a gap of
        1e-6 then counts as converged.
    time_limit : float >= 0 or None, default=None
        Time limit in seconds; the current epoch is finished first.
    random_state : int, RandomState or None, default=None
        Random seed of the sample order and of all draws. Default: 1.
    callback : callable or None, default=None
        Function that `fit` calls with a dictionary for every epoch. Its numbers take as long as one or two more epochs.
        If it returns True, the fit ends at the current point. An exception ends the fit and is raised.
    verbose : bool, default=False
        If True, print a line for every epoch of `fit`.

    Attributes
    ----------
    coef_, intercept_, classes_, model_, n_features_in_, feature_names_in_
        Attributes of the classifier, as in `MarginClassifier`.
    objective_, lower_bound_, dual_gap_, relative_gap_, relative_rounding_, status_
        Evidence after `fit`, as in `MarginClassifier`; `partial_fit` removes it, because the objective of a stream is
        unknown. `status_` is "converged" if the gap is at most `tol`, or 1e-6 if that is None, and "rule-met" if all
        epochs were run.
    n_iter_ : int
        Number of epochs.
    t_ : int
        Number of samples so far: the samples of `fit`, each counted once, and of the chunks.

    Notes
    -----
    The weight of a sample multiplies its loss. The minimum is the same as for repeated samples, but the steps towards it
    are not, so that a fit to weighted samples differs slightly from a fit to repeated ones.

    Examples
    --------
    >>> import numpy as np
    >>> from margins_learn import StreamClassifier
    >>> X = np.random.default_rng(1).normal(size=(200, 2))
    >>> y = X[:, 0] > 0
    >>> stream = StreamClassifier("logistic")
    >>> for rows in np.split(np.arange(200), 4):
    ...     stream = stream.partial_fit(X[rows], y[rows], classes=[False, True])
    >>> bool(stream.score(X, y) > 0.9), stream.t_
    (True, 200)
    """

    t_: int
    n_iter_: int

    def __init__(
        self,
        loss: str = "lhs",
        lam: float = 1e-4,
        *,
        method: str = "adaptive",
        schedule: str = "bottou",
        first_step: float | None = None,
        fit_intercept: bool = True,
        epochs: int | None = None,
        replacement: bool = False,
        batch: int = 1,
        average: str = "none",
        radius: float | None = None,
        start_norm: float | None = None,
        hold_out: float | None = None,
        patience: int = 5,
        rescale_at: int | None = None,
        rescale_steps: str = "divide",
        balanced_rows: int | None = None,
        standardize: bool = False,
        class_weight: Any = None,
        tol: float | None = None,
        time_limit: float | None = None,
        random_state: Any = None,
        callback: Callable[[dict[str, Any]], Any] | None = None,
        verbose: bool = False,
    ) -> None:
        self.loss = loss
        self.lam = lam
        self.method = method
        self.schedule = schedule
        self.first_step = first_step
        self.fit_intercept = fit_intercept
        self.epochs = epochs
        self.replacement = replacement
        self.batch = batch
        self.average = average
        self.radius = radius
        self.start_norm = start_norm
        self.hold_out = hold_out
        self.patience = patience
        self.rescale_at = rescale_at
        self.rescale_steps = rescale_steps
        self.balanced_rows = balanced_rows
        self.standardize = standardize
        self.class_weight = class_weight
        self.tol = tol
        self.time_limit = time_limit
        self.random_state = random_state
        self.callback = callback
        self.verbose = verbose

    @announced
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> StreamClassifier:
        """Fits the classifier from scratch, by several epochs over the samples.

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
        self : StreamClassifier
            The classifier, fitted.
        """
        data = self._data(X, y, sample_weight)
        rows = len(data["targets"])
        settings = self._settings(class_weight=self._class_costs(self.classes_))
        with watchers(self) as watching:
            report = _native.fit_stream(data, settings, watching)
        self._state = report["state"]
        self._keep(t_=min(rows, self.balanced_rows or rows))
        self._adopt(report["model"])
        self._adopt_report(report)
        self._warn(report)
        _warn_of_step(report["too_long_step"])
        return self

    def partial_fit(self, X: Any, y: Any, classes: Any = None, sample_weight: Any = None) -> StreamClassifier:
        """Takes the steps of a chunk of samples, in their order.

        A chunk continues from the chunks before it, or from the last step of `fit`, whose evidence is then removed. The classifier does not
        depend on how the samples are cut into chunks: with `batch`, samples of an incomplete batch count as a smaller one until the next
        chunk completes it. `clone` of scikit-learn makes a classifier that starts from scratch, as another `lam`, `method` or `batch`
        needs it. `epochs`, `replacement`, `tol` and `time_limit` are for `fit` alone.

        Parameters
        ----------
        X : array, sparse matrix or data frame of shape (n_samples, n_features)
            The samples of the chunk.
        y : array of shape (n_samples,)
            Their classes.
        classes : array of shape (n_classes,) or None, default=None
            All classes of the stream; None takes those of the first chunk, of which there must be two at least.
        sample_weight : array of shape (n_samples,) or None, default=None
            The weights of the samples, 1 for None; a sample of weight 0 takes no part.

        Returns
        -------
        self : StreamClassifier
            The classifier after the chunk.
        """
        first = not hasattr(self, "_state")
        self._refuse_settings_of_fit(first)
        X, known, targets = chunk_of(self, X, y, classes, first)
        weights = weights_of(sample_weight, X, zeros=True)
        settings = self._settings(class_weight=self._class_costs(known))
        samples, features = samples_of(X), X.shape[1]
        named = (settings, names_of(known), features)
        learner = _native.StreamLearner(*named) if first else _native.StreamLearner.resumed(*named, self._state)
        learner.take(samples, targets, weights)
        self.classes_ = known
        self._forget_evidence()
        self._state = learner.state()
        self._keep(n_iter_=1, t_=self._state.rows)
        names = getattr(self, "feature_names_in_", None)
        self._adopt(learner.model(None if names is None else list(names)))
        _warn_of_step(learner.too_long_step)
        return self

    def _refuse_settings_of_fit(self, first: bool) -> None:
        """Refuses settings that need all samples at once, and going on from a fit that had some."""
        given = [f"{name}={getattr(self, name)!r}" for name, default in _FOR_FIT.items() if getattr(self, name) is not default]
        if str(self.average).startswith("suffix"):
            given.append(f"average={self.average!r}")
        if given:
            need, them = ("needs", "it") if len(given) == 1 else ("need", "them")
            raise ValueError(f"partial_fit does not support {', '.join(given)}, which {need} all samples at once: call fit, or leave {them} out.")
        if not first and self._state is None:
            names = ", ".join(_FOR_FIT)
            raise ValueError(f"partial_fit cannot continue a fit with {names} or the mean of a suffix: clone the classifier to start again.")

    def _warn(self, report: dict[str, Any]) -> None:
        """Says once that the fit ended early, or that it misses the gap that was asked for, unless samples held out have ended it."""
        asked = self.tol is not None and report["certifiable"] and np.isfinite(report["relative_gap"]).all()
        if any(status not in ("converged", "rule-met") for status in report["status"]):
            warn = functools.partial(warn_of_gap, tolerance=self.tol) if asked else warn_of_end
            warn(report)
        elif asked and self.hold_out is None:
            warn_of_gap(report, self.tol, _REMEDY)

    def _forget_evidence(self) -> None:
        """Forgets the evidence of a fit before, which a chunk has none of."""
        self._keep(**dict.fromkeys([*(f"{name}_" for name in EVIDENCE), "gradient_norm_", "status_"]))


def _warn_of_step(step: float | None) -> None:
    """Says that steps of the length that was given have made the loss larger, if they have."""
    if step is not None:
        message = f"first_step={step:g} may be too long: the loss has grown above its value at w = 0. Lower it, or set method='adaptive'."
        warnings.warn(message, ConvergenceWarning, stacklevel=caller_level())
