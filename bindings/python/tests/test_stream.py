"""The classifier by stochastic gradient tells how its fits end, and what a chunk goes on from."""

import warnings

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning

import margins_learn as ml

EVIDENCE = ("objective_", "lower_bound_", "dual_gap_", "relative_gap_", "status_")


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_a_chunk_after_a_fit_begins_anew_without_its_evidence(two):
    X, y = two
    alone = ml.StreamClassifier("logistic").partial_fit(X, y)
    fitted = ml.StreamClassifier("logistic").fit(X, y)
    assert all(hasattr(fitted, name) for name in EVIDENCE)
    fitted.partial_fit(X, y)
    assert not any(hasattr(fitted, name) for name in EVIDENCE)
    assert fitted.t_ == len(y) and np.array_equal(fitted.coef_, alone.coef_)
    again = fitted.fit(X, y)
    assert all(hasattr(again, name) for name in EVIDENCE) and not hasattr(again, "t_")


def test_a_chunk_that_is_refused_leaves_the_fit_and_its_evidence(two):
    X, y = two
    with pytest.warns(ConvergenceWarning):
        fitted = ml.StreamClassifier("logistic").fit(X, y)
    before = {name: getattr(fitted, name) for name in EVIDENCE}
    with pytest.raises(ValueError, match="has the class 7"):
        fitted.partial_fit(X, y + 7, classes=[0, 1])
    assert {name: getattr(fitted, name) for name in EVIDENCE} == before


def test_a_gap_above_the_tolerance_is_told_once(two):
    told = r"gap is \d\.\de-0\d, above the tolerance 1\.0e-06: the epochs came to their end\. Raise epochs"
    with pytest.warns(ConvergenceWarning, match=told) as caught:
        fitted = ml.StreamClassifier("logistic").fit(*two)
    assert len(caught) == 1 and caught[0].filename == __file__
    assert fitted.relative_gap_ > 1e-6 and fitted.status_ == "rule-met"


def test_the_time_limit_is_told_with_the_gap(two):
    with pytest.warns(ConvergenceWarning, match=r"gap is .*, above the tolerance .*time limit came first\. Raise time_limit") as caught:
        fitted = ml.StreamClassifier("logistic", epochs=10**6, time_limit=0.1).fit(*two)
    assert len(caught) == 1 and fitted.status_ == "time-limit"


@pytest.mark.parametrize(
    "estimator",
    [
        ml.StreamClassifier("logistic", tol=0.5),
        ml.StreamClassifier("logistic", hold_out=0.2),
        ml.StreamClassifier("garg-roth", method="sgd"),
    ],
    ids=repr,
)
def test_what_ends_as_asked_or_has_no_gap_is_not_warned_of(estimator, two):
    with warnings.catch_warnings():
        warnings.simplefilter("error", ConvergenceWarning)
        estimator.fit(*two)
