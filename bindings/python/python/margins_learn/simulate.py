"""Simulated data whose class probabilities and Bayes error are known."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from . import _native
from ._settings import count_of, number_of, seed_of

# The most coordinates of centres and of samples.
_MOST = 10**8

__all__ = ["Mixture", "mixture"]


@dataclass(frozen=True, eq=False)
class Mixture:
    """Samples of a mixture, as `mixture` returns them.

    Attributes
    ----------
    X : array of shape (n_samples, n_features)
        Samples.
    y : array of shape (n_samples,)
        Their classes, 1 and -1.
    log_odds : array of shape (n_samples,)
        Logarithm of the odds of the class 1 at each sample: the best score that there is.
    bayes_error : float
        Lowest misclassification risk of all classifiers.
    bayes_error_error : float
        Error of that number: of an integral for two features, else the standard error of a mean over 200,000 draws.
    """

    X: np.ndarray
    y: np.ndarray
    log_odds: np.ndarray
    bayes_error: float
    bayes_error_error: float

    @property
    def probabilities(self) -> np.ndarray:
        """The probabilities of the class 1 at the samples, an array of shape (n_samples,)."""
        small = np.exp(-np.abs(self.log_odds))
        return np.where(self.log_odds >= 0, 1.0, small) / (1.0 + small)


def mixture(
    centres: int = 3,
    features: int = 2,
    sigma: float = 0.1**0.5,
    *,
    samples: int = 200,
    random_state: Any = None,
) -> Mixture:
    """Draws two classes, each an equal mixture of normal distributions around random centres.

    It is the model of section 6.1 of Kwon and Zou, *Leaky hockey stick loss* (2023): with `mu = (1, ..., 1, -1, ..., -1)` two
    thirds of the centres of the class 1 come from `N(mu, I)` and the others from `N(-mu, I)`; for the class -1 it is the other
    way round. The defaults are those of its first example; the second has 10 centres and sigma `0.02**0.5`. The same settings
    and seed draw the same samples as `mixture:k=...,p=...,sigma=...,n=...,seed=...` of the command.

    Parameters
    ----------
    centres : int >= 1, default=3
        Number of centres of each class.
    features : int >= 2, default=2
        Number of features, an even number.
    sigma : float > 0, default=sqrt(0.1)
        Standard deviation around each centre.
    samples : int >= 2, default=200
        Number of samples.
    random_state : int, RandomState or None, default=None
        Seed. Default: 1.

    Returns
    -------
    mixture : Mixture
        The samples, with what is known of their distribution.

    Examples
    --------
    >>> import numpy as np
    >>> from margins_learn import MarginClassifier, simulate
    >>> drawn = simulate.mixture(samples=500)
    >>> classifier = MarginClassifier("lhs", kernel="gaussian").fit(drawn.X, drawn.y)
    >>> bool(np.mean(classifier.predict(drawn.X) != drawn.y) < drawn.bayes_error + 0.05)
    True
    """
    counts = [count_of(centres, "centres"), count_of(features, "features"), count_of(samples, "samples", 2)]
    for number, name in ((counts[0], "centres"), (counts[2], "samples")):
        if number * counts[1] > _MOST:
            raise ValueError(f"{name} is {number} and features is {counts[1]}, but their product must be at most {_MOST}.")
    seed = seed_of(random_state)
    return Mixture(**_native.mixture_simulation(*counts[:2], number_of(sigma, "sigma"), counts[2], seed))
