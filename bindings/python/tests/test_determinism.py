"""Every estimator that takes threads gives the same bits on 1, 2 and 8 of them."""

import inspect

import numpy as np
import pytest

import margins_learn as ml
from conftest import clouds
from margins_learn import _native

CASES = [
    (ml.MarginClassifier, {"loss": "logistic"}),
    (ml.MarginClassifier, {"loss": "hinge", "kernel": "gaussian:sigma=1"}),
    (ml.MarginClassifier, {"loss": "lhs", "kernel": "gaussian:sigma=1", "approximation": "nystrom:m=20"}),
    (ml.MarginClassifier, {"loss": "hinge", "probability": "platt"}),
    (ml.MarginClassifierCV, {"loss": "lhs", "lambdas": [1.0, 0.1, 0.01]}),
    (ml.MarginClassifierCV, {"loss": "logistic", "kernels": ["gaussian", "linear"], "lambdas": [1.0, 0.01]}),
    (ml.MarginPath, {"loss": "hinge", "lambdas": [1.0, 0.1, 0.01]}),
    (ml.RobustClassifier, {}),
    (ml.MassartClassifier, {}),
    (ml.FocusedClassifier, {"max_steps": 2000}),
]


def test_every_estimator_that_takes_threads_has_a_case():
    estimators = [getattr(ml, name) for name in _native.SETTINGS]
    assert {estimator for estimator, _ in CASES} == {one for one in estimators if "n_jobs" in inspect.signature(one).parameters}


@pytest.mark.parametrize(("estimator", "settings"), CASES)
def test_no_bit_depends_on_the_threads(estimator, settings):
    X, y = clouds(400, 2)

    def outcome(threads):
        fitted = estimator(**settings, n_jobs=threads).fit(X, y)
        numbers = (np.asarray(value) for name, value in sorted(vars(fitted).items()) if name.endswith("_"))
        found = [number.tobytes() for number in numbers if number.dtype.kind in "biuf"]
        ways = ("decision_function", "predict_proba", "predict")
        return found, [getattr(fitted, way)(X).tobytes() for way in ways if hasattr(fitted, way)]

    one = outcome(1)
    assert len(one[0]) > 3
    for threads in (2, 8):
        assert outcome(threads) == one
