"""Refusals name the argument and what it was, and NaN stays NaN."""

import numpy as np
import pytest

import margins_learn as ml
from conftest import clouds

X, Y = clouds(40, 2)
BOUND = {
    "gamma": 1.0, "scale": 1.0, "strong_convexity": 0.1, "input_second_moment": 1.0, "step": 0.1, "iterations": 10,
    "initial_distance": 1.0, "diameter": 2.0, "samples": 100, "dimension": 5,
    "approximation_error": 0.1,
}  # fmt: skip


@pytest.mark.parametrize(
    ("call", "kind", "told"),
    [
        (lambda: ml.losses.value(None, 1.0), TypeError, "loss is None, but must be a string"),
        (lambda: ml.losses.specification(3), TypeError, "loss is 3"),
        (lambda: ml.losses.value("lhs", "a"), ValueError, "u does not consist of numbers: .*'a'"),
        (lambda: ml.losses.conjugate("lhs", [[1], [1, 2]]), ValueError, r"t does not consist of numbers: .*[^.]\.$"),
        (lambda: ml.losses.probability("lhs", [10**400]), ValueError, "score does not consist of numbers: int too large"),
        (lambda: ml.calibration.psi("lhs", object()), TypeError, "at does not consist of numbers"),
        (lambda: ml.calibration.conditional_risk("lhs", "a"), ValueError, "eta does not consist of numbers"),
        (lambda: ml.calibration.is_calibrated(None), TypeError, "loss is None"),
        (lambda: ml.calibration.location([1.0], "1"), TypeError, "scale is '1', but must be a number"),
        (lambda: ml.calibration.location([1.0], 1.0, delta=None), TypeError, "delta is None"),
        (lambda: ml.calibration.margin_pursuit_bound(**BOUND | {"iterations": -1}), ValueError, "iterations is -1"),
        (lambda: ml.calibration.margin_pursuit_bound(**BOUND | {"samples": "many"}), ValueError, "samples is 'many'"),
        (lambda: ml.calibration.margin_pursuit_bound(**BOUND | {"step": [1]}), TypeError, r"step is \[1\]"),
        (
            lambda: ml.calibration.margin_pursuit_bound(**BOUND | {"approximation_error": -1.0}),
            ValueError,
            "approximation error is -1, but must be at least 0",
        ),
        (lambda: ml.calibration.reliability([0.1], [0, 1]), ValueError, "1 probabilities and 2 outcomes"),
        (lambda: ml.calibration.reliability([0.1], [1], strategy=None), TypeError, "strategy is None"),
        (lambda: ml.MarginClassifier().fit(X, Y, np.full(40, "a")), ValueError, "sample_weight does not consist of numbers"),
        (lambda: ml.MarginClassifier().fit([[10**400]] * 40, Y), ValueError, "X has a whole number that float64 cannot represent"),
        (lambda: ml.MarginClassifier(kernel=lambda a, b: "x").fit(X, Y), ValueError, "array of the kernel does not consist"),
        (lambda: ml.MarginClassifier().fit(X, []), ValueError, "y has no labels"),
        (lambda: ml.MarginClassifierCV(cv=-2).fit(X, Y), ValueError, "cv is -2, but a number of folds must be at least 2"),
        (lambda: ml.MarginClassifierCV(cv=True).fit(X, Y), ValueError, "cv is True"),
    ],
)
def test_a_refusal_names_the_argument(call, kind, told):
    with pytest.raises(kind, match=told):
        call()


@pytest.mark.parametrize("loss", ml.losses.names())
def test_nan_stays_nan(loss):
    for function in (ml.losses.value, ml.losses.derivative, ml.losses.conjugate):
        found = function(loss, [[np.nan, 0.5]])
        assert np.isnan(found).tolist() == [[True, False]] and np.isnan(function(loss, np.nan))
    if loss == "lhs":
        assert np.isnan(ml.losses.probability(loss, np.nan))
