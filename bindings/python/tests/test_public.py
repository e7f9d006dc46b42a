"""Hostile values for every parameter of every public function and for every setting: a result, or an error in words.

The functions, methods and settings are found by looking, so that a new one is tried as soon as it is there; a parameter of a new name
needs a value below that a call goes well with.
"""

import inspect
import pkgutil
import warnings
from dataclasses import is_dataclass
from importlib import import_module

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from matplotlib import pyplot as plt
from scipy import sparse
from sklearn.base import clone

import margins_learn as ml

REFUSALS = (ValueError, TypeError, OSError)
ROWS = 20
X = np.random.default_rng(1).normal(size=(ROWS, 3))
Y = np.arange(ROWS) % 2
# Their classifiers see samples that workers hold: test_dask.py and test_ray.py try those.
ELSEWHERE = {"dask", "ray"}
MODULES = sorted({found.name for found in pkgutil.iter_modules(ml.__path__) if not found.name.startswith("_")} - ELSEWHERE)


def spoiled(value):
    array = X.copy()
    array[7, 1] = value
    return array


HOSTILE = [
    None, np.nan, np.inf, -1.0, 0, 2.5, 1e300, 10**12, 10**30, "", "a", "a\0b", b"a", 1j, object(), [], {}, {"a": 1}, {0: "b"}, [None], [[]], [1.0, np.nan],
    [[1.0], [2.0, 3.0]], np.array([]), np.array(3.0), np.array([1j]), np.full(ROWS, np.inf), np.full(ROWS, "a"), np.full(ROWS, object()),
    np.full(ROWS, np.datetime64("2020-01-01")), -np.ones(ROWS), np.zeros(ROWS), np.ones(ROWS - 1), np.ones(ROWS, dtype=int), X[:0], X[:, :0], X[None],
    spoiled(np.nan), spoiled(-np.inf), 1e300 * X, sparse.csr_array(spoiled(np.nan)), sparse.coo_array(X[:, :1]), sparse.csr_array(X[:0]),
    pd.DataFrame({"a": ["b"] * ROWS}), pl.DataFrame({"a": [None] * ROWS}), pa.table({"a": [1] * ROWS}), pd.Series([None] * ROWS), lambda *_: "a", type,
]  # fmt: skip


def estimators():
    """Returns every estimator, which ends soon."""
    short = {"max_iter": 20, "time_limit": 2.0, "max_steps": 100, "outputs": 3, "Cs": [0.1, 1.0], "cv": 2}
    kinds = (getattr(ml, name) for name in ml.__all__)
    kinds = [kind for kind in kinds if inspect.isclass(kind) and hasattr(kind, "fit")]
    return [kind(**{name: short[name] for name in short if name in inspect.signature(kind).parameters}) for kind in kinds]


FITTED = ml.MarginClassifier("logistic").fit(X, Y)
SEARCH = ml.MarginClassifierCV("logistic", Cs=[0.1, 1.0], kernels=["gaussian", "linear"]).fit(X, Y)
PATH = ml.MarginPath("lhs", Cs=[0.1, 1.0], kernel="gaussian:sigma=1").fit(X, Y)
CURVE = ml.calibration.reliability([0.2, 0.7], [0, 1])
# What calls go well with; a function that needs another value of a name has it under both names.
GOOD = {
    "X": X, "y": Y, "sample_weight": np.ones(ROWS), "kind": "proven", "plan.gamma": 0.1, "simulate.gamma": 0.1, "audit.gamma": 0.1, "fit_intercept": True, "standardize": False, "scale_rows": "each", "features": 3, "adversary": "far", "random_state": 1, "simulate.points": 20, "epsilon": 0.2, "classes": [0, 1], "folds": Y, "groups": np.arange(ROWS), "loss": "logistic", "u": 1.0, "t": 0.5, "eta": 0.3, "score": 0.1,
    "at": 0.5, "sample": [1.0, 2.0], "scale": 1.0, "variance_bound": None, "delta": 0.05, "changes": 1, "a": 1.0, "b": 0.0, "c": -1.0, "d": 0.0, "probabilities": [0.2, 0.7], "outcomes": [0, 1], "bins": 5,
    "strategy": "uniform", "model": FITTED, "name": "a", "estimator": SEARCH, "ax": None, "positive": 1, "losses": ["lhs"], "points": 11, "rows": 5,
    "dtype": "float32", "cmap": "viridis", "Cs": np.ones(2), "mean_error": np.ones(2), "standard_error": np.ones(2), "best": 0, "one_se": 1,
    "selected": 0, "certified": np.array([True, False]), "kernels": ["a", "b"], "errors": np.ones((2, 2)), "KernelGridDisplay.selected": (0, 1),
    "margins": X[:, 0], "scores": X[:, 0], "from_predictions.y": Y, "reliability": CURVE, "risks": [0.0, 1.0], "curves": {"a": [0.0, 1.0]},
    "gamma": 1.0, "strong_convexity": 1.0, "input_second_moment": 2.0, "step": 0.1, "iterations": 5, "initial_distance": 1.0, "diameter": 1.0,
    "n": 100, "mistakes": 5.0, "epsilon": 0.3, "steps": 10, "outputs": 3, "reduced_dimension": 1, "gap": 0.5, "rare": 1, "outliers": 1, "size": 10,
    "mean_loss": 0.1, "typical_and_rare_samples.rare": 0.1, "alpha": 0.1, "typical": 20, "reference": X[:, 1], "reweighted_loss.y": np.sign(X[:, 0]), "reweighted_loss.gamma": 0.1, "samples": 100, "dimension": 2, "gradient_constant": 0.5, "operator_norm_moment": 2.0, "approximation_error": 0.1,
    "garg_roth_bound.margins": np.clip(X[:, 0], -1, 1), "radius": None, "log_odds": X[:, 0], "centres": 2, "sigma": 0.5, "mixture.features": 4, "point": 0.5, "count": 3, "quantity": "dual", "CoefficientPathDisplay.from_estimator.estimator": PATH, "coef_init": None, "intercept_init": None,
    "C": None, "q": 2.0, "separable_limit.y": X[:, 0] > 0, "separable_limit.loss": "lhs", "plan": "practical", "cut_plan.gamma": 0.1, "localization": "ellipsoid", "max_calls": 9, "slack": 2.0, "cut_plan.features": None,
}  # fmt: skip


def functions():
    """Yields every public function of the modules, with its name."""
    yield from ((name, getattr(ml, name)) for name in ml.__all__ if inspect.isfunction(getattr(ml, name)))
    for module in map(lambda name: import_module(f"margins_learn.{name}"), MODULES):
        for name in module.__all__:
            thing = getattr(module, name)
            if inspect.isfunction(thing):
                yield f"{module.__name__}.{name}", thing
            elif inspect.isclass(thing) and not is_dataclass(thing):
                yield from of_class(name, thing)


def of_class(name, kind):
    """Yields the constructor of a class, with all that its result does, and its class methods."""
    ways = [key for key, member in inspect.getmembers(kind, inspect.ismethod) if not key.startswith("_")]
    yield from ((f"{name}.{way}", getattr(kind, way)) for way in ways)
    yield name, kind


def methods():
    """Yields every public method of every estimator, each of an estimator of its own, fitted if it must be, with its name."""
    for estimator in estimators():
        for name, method in inspect.getmembers(type(estimator), callable):
            own = clone(estimator)
            if name == "partial_fit" and isinstance(own, ml.MassartClassifier):
                own.set_params(learner="sgd", eta=0.2, gamma=0.1, scale_rows="each")
            generic = name.startswith("_") or name.endswith(("_request", "_params", "_routing"))
            if not generic and (name in ("fit", "partial_fit") or hasattr(own.fit(X, Y), name)):
                yield f"{type(estimator).__name__}.{name}", getattr(own, name)


def good_values(name, function, folder):
    """Returns the arguments of a call that goes well."""
    parameters = inspect.signature(function).parameters.values()
    named = [p.name for p in parameters if p.kind not in (p.VAR_KEYWORD, p.VAR_POSITIONAL)]
    short = name.split(".")[-1]
    unknown = [key for key in named if key not in GOOD and key != "path"]
    assert not unknown, f"{name} has the parameters {unknown}: tell values of them that it goes well with, in GOOD"
    if short == "describe":
        ml.blocks.write(folder / "file", X, Y)
    if short == "load":
        FITTED.save(folder / "file")
    return {key: folder / "file" if key == "path" else GOOD.get(f"{name}.{key}", GOOD.get(f"{short}.{key}", GOOD.get(key))) for key in named}


def finish(result):
    """Draws what is to be drawn, and writes what is to be written."""
    if isinstance(result, ml.blocks.Writer):
        with result:
            result.append(X, Y)
    if hasattr(result, "ax_") or hasattr(result, "plot"):
        result.plot()
        plt.close("all")


def told(value):
    """Returns a value in a few words."""
    return " ".join(repr(value).split())[:60] + (f" of shape {value.shape}" if hasattr(value, "shape") else "")


def finding(call, what):
    """Returns what is wrong with the end of a call: another exception than a refusal, or one without words."""
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        try:
            call()
        except REFUSALS as refusal:
            return None if str(refusal) else f"{what}: {type(refusal).__name__} without words"
        except Exception as error:
            return f"{what}: {type(error).__name__}: {error}"
    return None


def hold(tried):
    """Fails with all that is wrong with the ends of calls, each with its name."""
    findings = [found for what, call in tried if (found := finding(call, what))]
    assert not findings, "\n" + "\n".join(findings)


@pytest.mark.parametrize(("name", "function"), [*functions(), *methods()], ids=lambda given: given if isinstance(given, str) else "")
def test_functions(name, function, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    good = good_values(name, function, tmp_path)
    finish(function(**good))
    hold((f"{key}={told(hostile)}", lambda: finish(function(**good | {key: hostile}))) for key in good for hostile in HOSTILE)


@pytest.mark.parametrize("estimator", estimators(), ids=lambda estimator: type(estimator).__name__)
def test_settings(estimator, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    good, kind = estimator.get_params(), type(estimator)
    hold((f"{name}={told(hostile)}", lambda: kind(**good | {name: hostile}).fit(X, Y)) for name in good for hostile in HOSTILE)


def test_what_is_looked_for_is_found():
    names = {name for name, _ in [*functions(), *methods()]}
    assert {"load", "margins_learn.losses.value", "Writer", "PsiDisplay.from_losses", "StreamClassifier.partial_fit"} <= names
    assert len(names) > 60
