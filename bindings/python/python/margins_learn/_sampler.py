"""Focused draws of samples for any online learner."""

from __future__ import annotations

from os import PathLike
from typing import Any

import numpy as np

from . import _native
from ._settings import count_of, number_of, seed_of
from ._values import floats_of


class FocusedSampler:
    """Draws batches of samples for any online learner, those with large losses more often.

    This is focused online learning without a learner of its own: use it with `partial_fit` of any estimator, or with
    a network. A sample is drawn with the probability `p_i = q_i/2 + 1/(2n)`, with q in proportion to weights; a loss l
    multiplies the weight of its sample by `exp(l/(2 n p_i))`. A draw takes time of the order `log n`.

    Parameters
    ----------
    n : int >= 1
        Number of samples.
    random_state : int, RandomState or None, default=None
        Seed of the draws. Default: 1.

    Attributes
    ----------
    n : int
        Number of samples.
    n_draws : int
        Number of draws whose losses were observed.

    Notes
    -----
    The state can be pickled, also between `draw` and `observe`, and written to a file with `save`. A sampler that is
    read continues with the same draws. Source: Shalev-Shwartz and Wexler (2016), section 2.3.

    Examples
    --------
    >>> import numpy as np
    >>> from margins_learn import FocusedSampler
    >>> sampler = FocusedSampler(10)
    >>> for _ in range(300):
    ...     drawn = sampler.draw(8)
    ...     sampler.observe(drawn == 3)  # sample 3 stays wrong
    >>> bool(sampler.probabilities()[3] > 0.5), sampler.n_draws
    (True, 2400)
    """

    def __init__(self, n: int, *, random_state: Any = None) -> None:
        self._sampler = _native.Sampler(count_of(n, "n"), seed_of(random_state))

    @property
    def n(self) -> int:
        return self._sampler.rows

    @property
    def n_draws(self) -> int:
        return self._sampler.draws

    def draw(self, batch: int = 1) -> np.ndarray:
        """Returns the samples to learn from next. The probabilities stay the same within a batch.

        Parameters
        ----------
        batch : int >= 1, default=1
            Number of samples, which may repeat.

        Returns
        -------
        rows : array of shape (batch,)
            Their numbers, from 0.
        """
        return self._sampler.draw(count_of(batch, "batch"))

    def observe(self, losses: Any) -> None:
        """Takes the losses of the samples drawn last, under the classifier before it learns from them.

        Parameters
        ----------
        losses : array of shape (batch,), in [0, 1]
            The losses in the order of the draws. True stands for a mistake; clip other losses, as in
            `np.minimum(losses, 1)`.
        """
        losses = floats_of(losses, "losses")
        if losses.ndim != 1:
            raise ValueError(f"losses has the shape {losses.shape}, but must be one loss for each sample drawn.")
        self._sampler.observe(np.ascontiguousarray(losses))

    def probabilities(self) -> np.ndarray:
        """Returns the probabilities of the next draw.

        Returns
        -------
        p : array of shape (n,)
            The probabilities, of sum 1, each at least `1/(2n)`.
        """
        return self._sampler.probabilities()

    def loss_bounds(self, delta: float = 0.05) -> np.ndarray:
        """Returns upper bounds on the mean loss of every sample over the draws so far.

        All of them hold at once, after every draw, with probability `1 - delta`, whatever the learner is: `4 n (ln w_i +
        ln(n/delta))/n_draws` with the weight `w_i`, at most 1. They are about the classifiers that the learner had at
        the draws, on average, and not about its last one.

        Parameters
        ----------
        delta : float in (0, 1), default=0.05
            Probability with which the bounds may fail.

        Returns
        -------
        bounds : array of shape (n,)
            The bounds.
        """
        return self._sampler.loss_bounds(number_of(delta, "delta"))

    def save(self, path: str | PathLike[str]) -> None:
        """Writes the state to a file: to a temporary one first that then takes its name.

        Parameters
        ----------
        path : path
            The file.
        """
        self._sampler.save(path)

    @classmethod
    def load(cls, path: str | PathLike[str]) -> FocusedSampler:
        """Reads a sampler that `save` has written.

        Parameters
        ----------
        path : path
            The file.

        Returns
        -------
        sampler : FocusedSampler
            The sampler, which continues with the draws that it would have made.
        """
        sampler = cls.__new__(cls)
        sampler._sampler = _native.Sampler.load(path)
        return sampler

    def __getstate__(self) -> dict[str, bytes]:
        return {"sampler": self._sampler.to_bytes()}

    def __setstate__(self, state: dict[str, bytes]) -> None:
        self._sampler = _native.Sampler.from_bytes(state["sampler"])
