"""Massart noise: what algorithm 1 of Diakonikolas and Zarifis (2024) needs for its guarantee, and simulated data with exact errors."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from sklearn.utils.validation import _num_samples, check_consistent_length, column_or_1d

from . import _native
from ._massart import MassartClassifier
from ._settings import LARGEST_COUNT, count_of, number_of, seed_of, text_of
from ._values import floats_of

__all__ = ["Audit", "CutPlan", "Plan", "Simulation", "audit", "cut_plan", "plan", "reweighted_loss", "simulate"]


@dataclass(frozen=True)
class Plan:
    """The constants of a run of algorithm 1.

    Attributes
    ----------
    step : float
        Step size.
    steps : int
        Number of steps T, each of which takes a fresh sample.
    candidates : int
        Number of iterates to select from: random ones and the last one.
    held_out : int
        Number of fresh samples N to select by.
    rows : int
        T + N.
    proven_epsilon : float or None
        Smallest epsilon that is proven for the number of samples given; None without it, or if every epsilon below 1 needs
        more samples.
    seconds : float or None
        Predicted seconds of all steps, by steps on the samples given; None without them.
    """

    step: float
    steps: int
    candidates: int
    held_out: int
    rows: int
    proven_epsilon: float | None = None
    seconds: float | None = None


def plan(
    eta: float,
    gamma: float,
    epsilon: float = 0.05,
    delta: float = 0.05,
    *,
    plan: str = "proven",
    samples: int | None = None,
    X: Any = None,
) -> Plan:
    """Returns how many steps and samples algorithm 1 takes for an error of at most `eta + epsilon` with probability `1 - delta`.

    Parameters
    ----------
    eta : float in [0, 1/2)
        Noise rate: upper bound on the probability of a flipped label.
    gamma : float in (0, 1)
        Margin of the best halfspace on samples of norm at most 1.
    epsilon : float in (0, 1), default=0.05
        Target excess of the error over eta.
    delta : float in (0, 1), default=0.05
        Failure probability.
    plan : {"proven", "practical"}, default="proven"
        Constants: those of the proof of theorem 2.1, or those found by experiment, which `MassartClassifier` takes by default.
    samples : int >= 1 or None, default=None
        Number of samples available, for `proven_epsilon`. Default: the number of rows of X.
    X : array, sparse matrix or data frame of shape (n_samples, n_features) or None, default=None
        Samples to measure steps on, for `seconds`: for a tenth of a second, with an intercept.

    Returns
    -------
    plan : Plan
        The constants.

    Examples
    --------
    >>> from margins_learn import massart
    >>> plan = massart.plan(0.3, 0.05, samples=10**9)
    >>> plan.steps, plan.held_out, round(plan.proven_epsilon, 4)
    (392279560, 32492, 0.0313)
    """
    named = {"eta": eta, "gamma": gamma, "epsilon": epsilon, "delta": delta}
    problem = [number_of(value, name) for name, value in named.items()]
    if samples is None and X is not None:
        samples = _num_samples(X)
    count = None if samples is None else count_of(samples, "samples", most=LARGEST_COUNT)
    found = Plan(**_native.massart_plan(problem, text_of(plan, "plan"), count))
    return found if X is None else replace(found, seconds=found.steps * _Measured(X).seconds(problem, of_calls=False))


class _Measured:
    """Samples to measure the work of learners on."""

    def __init__(self, X: Any) -> None:
        rows = _num_samples(X)
        if rows < 2:
            raise ValueError(f"X has {rows} row{'s' * (rows != 1)}, but must have two or more to measure.")
        self._as_fitted = MassartClassifier()
        # Labels take part in the work, not in the time.
        self._data = self._as_fitted._data(X, np.arange(rows) % 2, None)
        self.features = self._as_fitted.n_features_in_

    def seconds(self, problem: list[float], *, of_calls: bool) -> float:
        """Returns the seconds of a step, or of a call of the oracle for each of its samples."""
        return _native.massart_seconds(self._data, self._as_fitted._settings(), problem, of_calls)


@dataclass(frozen=True)
class CutPlan:
    """The numbers of cutting planes with fresh samples in each call of the oracle.

    Attributes
    ----------
    calls : int
        Largest number of calls of the oracle.
    rows_per_call : int
        Number of fresh samples in each call.
    held_out : int
        Largest number of samples held out to test the halfspace.
    rows : int
        The samples of all calls and those held out.
    seconds : float or None
        Predicted seconds of all calls, at most, by calls on the samples given; None without them.
    """

    calls: int
    rows_per_call: int
    held_out: int
    rows: int
    seconds: float | None = None


def cut_plan(
    eta: float,
    gamma: float,
    features: int | None = None,
    epsilon: float = 0.05,
    delta: float = 0.05,
    *,
    localization: str = "ellipsoid",
    max_calls: int | None = None,
    X: Any = None,
) -> CutPlan:
    """Returns how many calls and samples cutting planes take for an error of at most `eta + epsilon` with probability `1 - delta`.

    The numbers are those of theorem B.3 with constants, which `MassartClassifier("cuts", plan="proven")` takes.

    Parameters
    ----------
    eta : float in [0, 1/2)
        Noise rate: upper bound on the probability of a flipped label.
    gamma : float in (0, 1)
        Margin of the best halfspace on samples of norm at most 1.
    features : int >= 1 or None, default=None
        Number of features; an intercept counts as one. Default: that of X with an intercept.
    epsilon : float in (0, 1), default=0.05
        Target excess of the error over eta.
    delta : float in (0, 1), default=0.05
        Failure probability.
    localization : {"ellipsoid", "analytic-centre"}, default="ellipsoid"
        Point that the oracle is asked about. The number of calls is proven for ellipsoids, and of experience for analytic centres.
    max_calls : int >= 2 or None, default=None
        Largest number of calls. Fewer calls need fewer samples in each, and may end before a halfspace is accepted.
    X : array, sparse matrix or data frame of shape (n_samples, n_features) or None, default=None
        Samples to measure calls on, for `seconds`: for a tenth of a second, with an intercept.

    Returns
    -------
    plan : CutPlan
        The numbers.

    Examples
    --------
    >>> from margins_learn import massart
    >>> massart.cut_plan(0.1, 0.5, 3, 0.4, 0.1)
    CutPlan(calls=51, rows_per_call=31206, held_out=15, rows=1591521, seconds=None)
    """
    named = {"eta": eta, "gamma": gamma, "epsilon": epsilon, "delta": delta}
    problem = [number_of(value, name) for name, value in named.items()]
    calls = None if max_calls is None else count_of(max_calls, "max_calls", 2, LARGEST_COUNT)
    measured = None if X is None else _Measured(X)
    of_samples = None if measured is None else measured.features + 1
    if features is None and of_samples is None:
        raise ValueError("Pass features, or X to take their number from.")
    count = count_of(of_samples if features is None else features, "features", most=LARGEST_COUNT)
    if of_samples not in (None, count):
        raise ValueError(f"features is {count}, but X has {of_samples} with an intercept. Leave features out.")
    found = CutPlan(**_native.massart_cut_plan(problem, count, text_of(localization, "localization"), calls))
    rows = found.calls * found.rows_per_call
    return found if measured is None else replace(found, seconds=rows * measured.seconds(problem, of_calls=True))


@dataclass(frozen=True, eq=False)
class Simulation:
    """Samples whose distribution is known: equally likely points, each with the label of a halfspace, flipped at a rate of its own.

    Attributes
    ----------
    X : array of shape (n_samples, n_features)
        The samples, of norm 1.
    y : array of shape (n_samples,)
        Their labels, 1 or -1.
    points : array of shape (n_points, n_features)
        The points that the samples are drawn from.
    clean : array of shape (n_points,)
        The label of each point before noise.
    rates : array of shape (n_points,)
        The probability that the label of the point is flipped.
    normal : array of shape (n_features,)
        Unit normal w* of the halfspace.
    opt : float
        The lowest error, of w*.
    """

    X: np.ndarray
    y: np.ndarray
    points: np.ndarray
    clean: np.ndarray
    rates: np.ndarray
    normal: np.ndarray
    opt: float

    def error(self, classifier: Any) -> float:
        """Returns the exact probability that a classifier is wrong on a new sample.

        Parameters
        ----------
        classifier : estimator
            A fitted classifier of the classes 1 and -1 with a method `predict`.

        Returns
        -------
        error : float
            The error.
        """
        if not hasattr(classifier, "predict"):
            raise TypeError(f"classifier is {classifier!r}, but must be a fitted classifier.")
        right = np.asarray(classifier.predict(self.points)) == self.clean
        return float(np.mean(np.where(right, self.rates, 1 - self.rates)))


def simulate(
    features: int = 20,
    gamma: float = 0.1,
    eta: float = 0.3,
    adversary: str = "random",
    *,
    points: int = 1000,
    samples: int = 4000,
    random_state: Any = None,
) -> Simulation:
    """Draws a halfspace with a margin, points with Massart noise, and samples of them.

    The same settings and seed draw the same samples as `halfspace:...` of the command.

    Parameters
    ----------
    features : int >= 2, default=20
        Number of features.
    gamma : float in (0, 1), default=0.1
        Margin: no point is nearer to the boundary.
    eta : float in [0, 1/2), default=0.3
        Largest probability of a flipped label; above 0 for the trap.
    adversary : {"random", "far", "near", "greedy", "trap"}, default="random"
        Which labels are flipped at the rate eta, the others not at all. `"random"`: All labels. `"far"`: Those of the half of the
        points farthest from the boundary. `"near"`: Those of the other half. `"greedy"`: Those that mislead the average of y x.
        `"trap"`: Those of a region, with points that mislead convex losses.
    points : int >= 1, default=1000
        Number of distinct points.
    samples : int >= 2, default=4000
        Number of samples.
    random_state : int, RandomState or None, default=None
        Seed. Default: 1.

    Returns
    -------
    simulation : Simulation
        The samples, and the distribution that they are drawn from.

    Examples
    --------
    >>> from margins_learn import MassartClassifier, massart
    >>> noisy = massart.simulate(adversary="trap", samples=20000)
    >>> halfspace = MassartClassifier("sgd", eta=0.3, gamma=0.1, fit_intercept=False).fit(noisy.X, noisy.y)
    >>> bool(noisy.opt < noisy.error(halfspace) < 0.35)
    True
    """
    most = _native.MOST_SIMULATED
    counts = [count_of(features, "features", 2, 10**6), count_of(points, "points", 1, most), count_of(samples, "samples", 2, most)]
    noise = [number_of(gamma, "gamma"), number_of(eta, "eta")]
    seed = seed_of(random_state)
    return Simulation(**_native.massart_simulation(counts[0], noise, text_of(adversary, "adversary"), *counts[1:], seed))


@dataclass(frozen=True, eq=False)
class Audit:
    """A lower bound on a noise rate, and the samples that speak for it.

    Attributes
    ----------
    eta_bound : float
        With probability `1 - delta` the noise rate is at least this, if some halfspace has the margin.
    flipped : float
        The share of the labels that is certainly flipped if one has it, by weight.
    suspects : array of int
        Indices of the samples most likely flipped: those on the wrong side of the halfspace of the audit, the most contradictory
        first.
    terms : array of float
        The term of each of them in `flipped`.
    """

    eta_bound: float
    flipped: float
    suspects: np.ndarray
    terms: np.ndarray


def audit(
    X: Any,
    y: Any,
    gamma: float = 0.1,
    delta: float = 0.05,
    *,
    sample_weight: Any = None,
    fit_intercept: bool = True,
    standardize: bool = False,
    scale_rows: str = "largest",
) -> Audit:
    """Returns a lower bound on the noise rate of samples, and the samples most likely flipped.

    The bound is proven if the clean labels are those of a halfspace with the margin gamma. It is weak: a noise rate of 0.2 may have
    a bound of 0.06. The order of the samples is a heuristic.

    Parameters
    ----------
    X : array, sparse matrix or data frame of shape (n_samples, n_features)
        The samples.
    y : array of shape (n_samples,)
        Their classes, of which there are two.
    gamma : float in (0, 1), default=0.1
        Margin of the best halfspace, after `scale_rows`.
    delta : float in (0, 1), default=0.05
        Probability that the bound is wrong.
    sample_weight : array of shape (n_samples,) or None, default=None
        Weights of the samples.
    fit_intercept, standardize, scale_rows
        As in `MassartClassifier`.

    Returns
    -------
    audit : Audit
        The bound and the samples.

    Examples
    --------
    >>> from margins_learn import massart
    >>> noisy = massart.simulate(5, 0.3, 0.2, samples=4000)
    >>> audit = massart.audit(noisy.X, noisy.y, 0.3, fit_intercept=False)
    >>> 0.05 < audit.eta_bound < 0.2
    True
    """
    as_fitted = MassartClassifier(fit_intercept=fit_intercept, standardize=standardize, scale_rows=scale_rows)
    data, numbers = as_fitted._data(X, y, sample_weight), (number_of(gamma, "gamma"), number_of(delta, "delta"))
    return Audit(**_native.audit_massart(data, as_fitted._settings(), *numbers))


def reweighted_loss(scores: Any, reference: Any, y: Any, eta: float = 0.3, gamma: float = 0.1) -> np.ndarray:
    """Returns the reweighted loss (3) of the paper, `(1[sign(s) != y] - eta) |s|/max(|r|, gamma/2)`.

    It is convex in the halfspace. Where the reference is the halfspace itself and all samples are at least gamma/2 from its
    boundary, the mean is its error less eta. For the best halfspace the mean is at most 0 in expectation, whatever the
    reference.

    Parameters
    ----------
    scores : array of shape (n_samples,)
        Scores s of unit samples under a halfspace.
    reference : array of shape (n_samples,)
        Their scores r under the halfspace that gives the weights.
    y : array of shape (n_samples,)
        Their labels, -1 or 1.
    eta : float in [0, 1/2), default=0.3
        Noise rate.
    gamma : float in (0, 1), default=0.1
        Margin.

    Returns
    -------
    losses : array of shape (n_samples,)
        The loss of each sample.

    Examples
    --------
    >>> from margins_learn import massart
    >>> massart.reweighted_loss([-0.2, 0.4], [-0.2, 0.4], [1, 1]).round(4).tolist()
    [0.7, -0.3]
    """
    given = [(scores, "scores"), (reference, "reference"), (y, "y")]
    arrays = [np.ascontiguousarray(column_or_1d(floats_of(values, name))) for values, name in given]
    check_consistent_length(*arrays)
    if not np.isin(arrays[2], (-1.0, 1.0)).all():
        raise ValueError("y must consist of -1 and 1.")
    return _native.massart_reweighted_loss(*arrays, number_of(eta, "eta"), number_of(gamma, "gamma"))
