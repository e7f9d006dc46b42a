"""Checks of the values of settings: numbers, texts, counts, seeds and grids of C."""

from __future__ import annotations

from contextlib import suppress
from typing import Any

import numpy as np
from sklearn.utils import check_random_state

from ._values import floats_of

# The largest count in a setting, and the largest that a formula takes: every whole number up to it is a float64.
_MOST = 10**9
LARGEST_COUNT = 2**53
# The largest seed.
_LARGEST_SEED = 2**64 - 1
# The largest number of values of C to ask for by their number.
_MOST_CS = 10_000
# The default number of values of C.
_DEFAULT_COUNT = 33


def number_of(value: Any, name: str) -> float:
    """Returns a value as a float; raises `TypeError` if it is not a number."""
    if not isinstance(value, (str, bytes)) and np.ndim(value) == 0:
        with suppress(TypeError, ValueError, OverflowError):
            return float(value)
    raise TypeError(f"{name} is {value!r}, but must be a number.")


def text_of(value: Any, name: str) -> str:
    """Returns a string; raises `TypeError` for any other type."""
    if not isinstance(value, str):
        raise TypeError(f"{name} is {value!r}, but must be a string.")
    return value


def numbers_of(values: Any, name: str) -> list[float] | None:
    """Returns the numbers of an array as a list. One number alone might be a value or a count, and is refused."""
    if values is None:
        return None
    if np.ndim(values) == 0:
        raise ValueError(f"{name} is {values!r}, but must be an array of numbers, such as [{values}].")
    numbers = floats_of(values, name).ravel().tolist()
    if not numbers:
        raise ValueError(f"{name} is {values!r}, but must contain at least one number.")
    return numbers


def count_of(value: Any, name: str, least: int = 1, most: int = _MOST) -> int:
    """Returns a count, and raises `ValueError` if it is not a whole number from `least` to `most`."""
    if not isinstance(value, (int, np.integer)) or not least <= value <= most:
        raise ValueError(f"{name} is {value!r}, but must be a whole number from {least} to {most}.")
    return int(value)


def seed_of(random_state: Any) -> int:
    """Returns a seed: 1 for None, so that fits are reproducible by default. A negative number is a `ValueError`."""
    if random_state is None:
        return 1
    if isinstance(random_state, (int, np.integer)):
        return count_of(random_state, "random_state", 0, _LARGEST_SEED)
    return int(check_random_state(random_state).randint(np.iinfo(np.int32).max))


def Cs_given(Cs: Any) -> list[float] | None:
    """Returns the values of C of a setting, which may be their number, as in LogisticRegressionCV of scikit-learn."""
    if isinstance(Cs, (int, np.integer)) and not isinstance(Cs, bool):
        if not 1 <= Cs <= _MOST_CS:
            raise ValueError(f"Cs is {Cs}, but must be at least one value of C, or a number of them from 1 to {_MOST_CS}.")
        return np.logspace(-4, 4, Cs).tolist()
    return numbers_of(Cs, "Cs")


def Cs_of(lambdas: Any, rows: int, given: Any) -> np.ndarray:
    """Returns the value of C for every lambda, as it was given where rounding alone has changed it."""
    Cs = 1 / (2 * rows * np.asarray(lambdas, dtype=np.float64))
    known = np.asarray(Cs_given(_DEFAULT_COUNT if given is None else given))
    nearest = known[np.abs(known - Cs[..., None]).argmin(axis=-1)]
    return np.where(np.isclose(nearest, Cs, rtol=1e-14, atol=0), nearest, Cs)
