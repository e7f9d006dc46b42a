"""Data that tests have in common, pictures without a screen, and a look at what was left out."""

import os
from importlib.util import find_spec

import matplotlib
import numpy as np
import pytest

matplotlib.use("agg")

# PyTorch is 5 GB, which nobody has to install for these tests.
collect_ignore = [] if find_spec("torch") else ["test_torch.py"]


def clouds(rows: int, classes: int, seed: int = 1, features: int = 3) -> tuple[np.ndarray, np.ndarray]:
    """Returns overlapping clouds, one per class, and the class of every row."""
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


def pytest_sessionfinish(session):
    """Fails where all tests were asked for (MARGINS_TESTS=all) and one was left out."""
    reporter = session.config.pluginmanager.get_plugin("terminalreporter")
    left_out = reporter.stats.get("skipped", []) if reporter else []
    if os.environ.get("MARGINS_TESTS") == "all" and left_out:
        session.exitstatus = pytest.ExitCode.TESTS_FAILED
        reporter.write_line(f"\nMARGINS_TESTS=all asks for all tests, and {len(left_out)} were left out.")
