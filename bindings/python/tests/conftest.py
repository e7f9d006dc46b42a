"""Data that tests have in common, and pictures without a screen."""

import matplotlib
import numpy as np
import pytest

matplotlib.use("agg")


def clouds(rows: int, classes: int, seed: int = 1, features: int = 3) -> tuple[np.ndarray, np.ndarray]:
    """Returns overlapping clouds, one a class, and the class of every row."""
    rng = np.random.default_rng(seed)
    y = np.arange(rows) % classes
    centres = rng.normal(size=(classes, features))
    return centres[y] + 0.8 * rng.normal(size=(rows, features)), y


@pytest.fixture
def two():
    return clouds(120, 2)


@pytest.fixture
def three():
    return clouds(150, 3)
