"""The theorems on the maximal loss as calculators, which need no data.

Source: Shalev-Shwartz and Wexler, *Minimizing the maximal loss: how and why?* (2016). The paper leaves most constants open;
the page `boost.md` of the documentation has those used here, with their proofs.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from . import _native
from ._settings import LARGEST_COUNT, count_of, number_of, seed_of

__all__ = ["focused_failure", "focused_horizon", "gap_samples", "rare_samples", "risk_bound", "subsample_failure", "typical_and_rare_samples"]


def focused_horizon(n: int, mistakes: float, *, epsilon: float = 0.49, delta: float = 0.01, slack: float = 0.0) -> dict[str, int]:
    """Returns the steps and classifiers of theorem 1, which `FocusedClassifier` takes by default.

    With probability `1 - delta` the mean loss of the classifiers is at most epsilon on each of the n samples, if the
    learner suffers at most `mistakes` in sum. With the 0-1 loss and epsilon below 1/2 their majority is then right on
    every sample (corollary 1).

    Parameters
    ----------
    n : int >= 1
        Number of samples.
    mistakes : float >= 0
        Bound B on the sum of the learner's losses: for the perceptron `(R/margin)**2`.
    epsilon : float in (0, 1), default=0.49
        The largest mean loss.
    delta : float in (0, 1), default=0.01
        Probability of failure.
    slack : float >= 0, default=0.0
        Budget K of Euclidean slack, as for K outliers: the losses left by slack sum to at most `mistakes + 1.07 sqrt(K T)`.

    Returns
    -------
    horizon : dict
        `steps`, without slack T = (8/epsilon) ((e - 1) B + n (ln n + ln(2n/delta))), and `outputs`,
        k = ln(2n/delta)/((ln 2 - 1/2) epsilon).

    Examples
    --------
    >>> from margins_learn import bounds
    >>> bounds.focused_horizon(1000, 400.0)
    {'steps': 323284, 'outputs': 129}
    """
    numbers = number_of(mistakes, "mistakes"), number_of(epsilon, "epsilon"), number_of(delta, "delta")
    steps, outputs = _native.focused_horizon(count_of(n, "n", 1, LARGEST_COUNT), *numbers, number_of(slack, "slack"))
    return {"steps": steps, "outputs": outputs}


def focused_failure(n: int, mistakes: float, *, steps: int, outputs: int, epsilon: float = 0.49, slack: float = 0.0) -> float:
    """Returns a bound on the probability that theorem 1 fails with so many steps and classifiers.

    Parameters
    ----------
    n : int >= 1
        Number of samples.
    mistakes : float >= 0
        Bound on the sum of the learner's losses.
    steps : int >= 1
        Number of steps T.
    outputs : int >= 1
        Number of classifiers k.
    epsilon : float in (0, 1), default=0.49
        The largest mean loss.
    slack : float >= 0, default=0.0
        Budget K of Euclidean slack, as for K outliers: the losses left by slack sum to at most `mistakes + 1.07 sqrt(K T)`.

    Returns
    -------
    failure : float
        The probability, at most 1.

    Examples
    --------
    >>> from margins_learn import bounds
    >>> bounds.focused_failure(1000, 400.0, **bounds.focused_horizon(1000, 400.0)) <= 0.01
    True
    """
    counts = count_of(steps, "steps", 1, LARGEST_COUNT), count_of(outputs, "outputs", 1)
    numbers = number_of(mistakes, "mistakes"), number_of(epsilon, "epsilon")
    return _native.focused_failure(count_of(n, "n", 1, LARGEST_COUNT), *numbers, *counts, number_of(slack, "slack"))


def typical_and_rare_samples(
    dimension: int, reduced_dimension: int, *, epsilon: float, gap: float, rare: float, delta: float = 0.01
) -> dict[str, int]:
    """Returns the number of samples of theorem 2 on typical and rare samples.

    With probability `1 - delta` every classifier that is right on all of them has an error of at most epsilon on
    both distributions.

    Parameters
    ----------
    dimension : int >= 1
        VC dimension of the class of classifiers.
    reduced_dimension : int >= 1
        VC dimension of its classifiers with an error of at most epsilon on typical samples.
    epsilon : float in (0, 1)
        The largest error on either distribution.
    gap : float in [epsilon, 1)
        The gap c: a classifier of the reduced class with an error of at most c on rare samples has one of at most
        epsilon.
    rare : float in (0, 1/2]
        Share of rare samples.
    delta : float in (0, 1), default=0.01
        Probability of failure.

    Returns
    -------
    numbers : dict
        `samples`, and `naive_samples` without a reduced class and a gap.

    Examples
    --------
    >>> from margins_learn import bounds
    >>> bounds.typical_and_rare_samples(100, 3, epsilon=0.05, gap=0.5, rare=0.01)
    {'samples': 259309, 'naive_samples': 25671578}
    """
    named = {"epsilon": epsilon, "gap": gap, "rare": rare, "delta": delta}
    numbers = [number_of(value, name) for name, value in named.items()]
    counts = count_of(dimension, "dimension"), count_of(reduced_dimension, "reduced_dimension")
    samples, naive = _native.typical_and_rare_samples(*counts, *numbers)
    return {"samples": samples, "naive_samples": naive}


def subsample_failure(n: int, outliers: int, rare: int, size: int) -> dict[str, float]:
    """Returns the probability that a random part has an outlier or too few rare samples, by theorem 3.

    Parameters
    ----------
    n : int >= 1
        Number of samples.
    outliers : int >= 0
        How many of them are outliers.
    rare : int >= 1
        How many others are rare.
    size : int >= 1
        Number of samples of the part, which are drawn with repetition.

    Returns
    -------
    failure : dict
        `exact`, the probability of an outlier or fewer than half of the rare samples expected; its `bound`
        k size/n + exp(-size rare/(8n)); and the bound as `published`.

    Examples
    --------
    >>> from margins_learn import bounds
    >>> {name: round(p, 4) for name, p in bounds.subsample_failure(1_000_000, 10, 46_052, 1000).items()}
    {'exact': 0.01, 'bound': 0.0132, 'published': 0.0299}
    """
    counts = count_of(n, "n", 1, LARGEST_COUNT), count_of(outliers, "outliers", 0), count_of(rare, "rare"), count_of(size, "size")
    exact, bound, published = _native.subsample_failure(*counts)
    return {"exact": exact, "bound": bound, "published": published}


def risk_bound(n: int, dimension: int, mean_loss: float, *, delta: float = 0.01) -> float:
    """Returns the bound of section 3 on the risk of all classifiers of a class at once, from their mean 0-1 loss.

    Parameters
    ----------
    n : int >= 1
        Number of samples.
    dimension : int >= 1
        VC dimension of the class, at most n: of linear classifiers with an intercept the number of features plus 1.
    mean_loss : float in [0, 1]
        Share of the samples that the classifier gets wrong, L.
    delta : float in (0, 1), default=0.01
        Probability of failure.

    Returns
    -------
    bound : float
        L + 2 sqrt(a L) + 4 a with a = (d ln(2 e n/d) + ln(4/delta))/n, at most 1.

    Examples
    --------
    >>> from margins_learn import bounds
    >>> round(bounds.risk_bound(100_000, 11, 0.0), 4)
    0.005
    """
    counts = count_of(n, "n", 1, LARGEST_COUNT), count_of(dimension, "dimension")
    return _native.risk_bound(*counts, number_of(mean_loss, "mean_loss"), number_of(delta, "delta"))


def gap_samples(n: int = 1200, alpha: float = 0.001, epsilon: float = 0.01, *, random_state: Any = None) -> tuple[np.ndarray, np.ndarray]:
    """Draws from the distribution of section 3.1, on which a small mean loss misses the rare samples.

    Samples are `y (alpha, 1)`, and with probability epsilon `y (alpha, -2 alpha)`; the first four are both points with both
    labels.

    Parameters
    ----------
    n : int >= 4, default=1200
        Number of samples.
    alpha : float in (0, 1), default=0.001
        The first feature.
    epsilon : float in (0, 1), default=0.01
        Probability of a rare sample.
    random_state : int, RandomState or None, default=None
        Seed. Default: 1.

    Returns
    -------
    X, y : arrays of shape (n, 2) and (n,)
        The samples and their labels, -1 or 1.

    Examples
    --------
    >>> from margins_learn import FocusedClassifier, bounds
    >>> X, y = bounds.gap_samples()
    >>> FocusedClassifier().fit(X, y).score(X, y)
    1.0
    """
    seed = seed_of(random_state)
    return _native.gap_samples(count_of(n, "n", 4, _native.MOST_SIMULATED), number_of(alpha, "alpha"), number_of(epsilon, "epsilon"), seed)


def rare_samples(typical: int = 1990, rare: int = 10, *, random_state: Any = None) -> tuple[np.ndarray, np.ndarray]:
    """Draws typical samples, then rare ones, of section 3.2: the feature that decides typical samples is wrong on rare ones.

    A typical sample is `y (1, 0, noise)`, a rare one `y (-1/2, 1/10, noise)`, of 20 features with noise of standard deviation
    0.02.

    Parameters
    ----------
    typical : int >= 2, default=1990
        Number of typical samples.
    rare : int >= 0, default=10
        Number of rare samples.
    random_state : int, RandomState or None, default=None
        Seed. Default: 1.

    Returns
    -------
    X, y : arrays of shape (typical + rare, 20) and (typical + rare,)
        The samples and their labels, -1 or 1.

    Examples
    --------
    >>> from margins_learn import bounds
    >>> X, y = bounds.rare_samples(100, 5)
    >>> X.shape, bool((X[:100, 0] == y[:100]).all()), bool((X[100:, 1] == 0.1 * y[100:]).all())
    ((105, 20), True, True)
    """
    most = _native.MOST_SIMULATED
    counts = count_of(typical, "typical", 2, most), count_of(rare, "rare", 0, most)
    return _native.rare_samples(*counts, seed_of(random_state))
