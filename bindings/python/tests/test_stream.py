"""The classifier by stochastic gradient: how its fits end, and where a chunk continues."""

import pickle
import warnings

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning

import margins_learn as ml
from conftest import clouds

EVIDENCE = ("objective_", "lower_bound_", "dual_gap_", "relative_gap_", "status_")


@pytest.mark.parametrize("settings", [{}, {"method": "sgd", "average": "polyak"}, {"method": "coin", "epochs": 3}], ids=str)
def test_a_chunk_goes_on_from_a_fit_without_its_evidence(settings, two):
    X, y = two
    fitted = ml.StreamClassifier("logistic", **settings).fit(X, y)
    assert all(hasattr(fitted, name) for name in EVIDENCE) and fitted.t_ == len(y)
    before, again = fitted.coef_, pickle.loads(pickle.dumps(fitted))
    fitted.partial_fit(X[:50], y[:50]).partial_fit(X[50:], y[50:])
    again = pickle.loads(pickle.dumps(again.partial_fit(X[:50], y[:50]))).partial_fit(X[50:], y[50:])
    assert np.array_equal(again.coef_, fitted.coef_) and again.t_ == 2 * len(y)
    # One more pass over the samples moves less than the first.
    alone = clone(fitted).partial_fit(X, y).coef_
    assert 0 < np.linalg.norm(again.coef_ - before) < np.linalg.norm(alone - before)
    assert not any(hasattr(again, name) for name in EVIDENCE)
    again.fit(X, y)
    assert all(hasattr(again, name) for name in EVIDENCE) and np.array_equal(again.coef_, before) and again.t_ == len(y)


@pytest.mark.parametrize("settings", [{"lam": 0.5}, {"method": "coin"}, {"fit_intercept": False}, {"average": "polyak"}], ids=str)
def test_a_chunk_under_other_settings_is_refused(settings, two):
    fitted = ml.StreamClassifier("logistic").fit(*two).set_params(**settings)
    with pytest.raises(ValueError, match="are not those of the settings"):
        fitted.partial_fit(*two)


def test_an_altered_state_is_refused(two):
    kept = pickle.dumps(ml.StreamClassifier("logistic").fit(*two))
    at = kept.index(b'"rows":') + 7
    altered = kept[:at] + bytes([kept[at] ^ 1]) + kept[at + 1 :]
    with pytest.raises(ValueError, match="not the bytes of the state of a stream: it is damaged: its checksum is"):
        pickle.loads(altered)


def test_a_fit_that_chunks_cannot_go_on_from_says_so(two):
    X, y = two
    for name, value in (("standardize", True), ("hold_out", 0.2), ("class_weight", "balanced"), ("average", "suffix:0.5")):
        classifier = ml.StreamClassifier("logistic").set_params(**{name: value})
        with pytest.raises(ValueError, match=f"partial_fit does not support {name}={value!r}, which needs all samples"):
            classifier.partial_fit(X, y)
        fitted = classifier.fit(X, y)
        before = fitted.coef_
        with pytest.raises(ValueError, match=f"partial_fit does not support {name}={value!r}, which needs all samples"):
            fitted.partial_fit(X, y)
        fitted.set_params(**{name: getattr(ml.StreamClassifier(), name)})
        with pytest.raises(ValueError, match="cannot continue a fit with hold_out, .*clone the classifier to start again"):
            fitted.partial_fit(X, y)
        assert fitted.coef_ is before and hasattr(fitted, "dual_gap_")


def test_a_chunk_that_is_refused_leaves_the_fit_and_its_evidence(two):
    X, y = two
    fitted = ml.StreamClassifier("logistic").fit(X, y)
    before = {name: getattr(fitted, name) for name in EVIDENCE}
    with pytest.raises(ValueError, match="has the class 7"):
        fitted.partial_fit(X, y + 7, classes=[0, 1])
    assert {name: getattr(fitted, name) for name in EVIDENCE} == before


def test_a_gap_above_the_tolerance_is_reported_once(two):
    message = r"gap is \d\.\de-0\d, above the tolerance 1\.0e-06 \(status rule-met\): .*\. Raise epochs"
    with pytest.warns(ConvergenceWarning, match=message) as caught:
        fitted = ml.StreamClassifier("logistic", tol=1e-6).fit(*two)
    assert len(caught) == 1 and caught[0].filename == __file__
    assert fitted.relative_gap_ > 1e-6 and fitted.status_ == "rule-met"


TIME_ENDED = r"\(status time-limit\): the time limit was reached first\. Raise time_limit"


@pytest.mark.parametrize(
    ("tol", "message"),
    [(1e-12, rf"gap is .*, above the tolerance 1\.0e-12 {TIME_ENDED}"), (None, rf"^The descent ended early {TIME_ENDED}")],
)
def test_the_time_limit_is_reported_and_the_gap_where_one_is_asked_for(tol, message, two):
    with pytest.warns(ConvergenceWarning, match=message) as caught:
        fitted = ml.StreamClassifier("logistic", epochs=10**6, time_limit=0.1, tol=tol).fit(*two)
    assert len(caught) == 1 and fitted.status_ == "time-limit"


@pytest.mark.parametrize(
    "estimator",
    [
        ml.StreamClassifier("logistic"),
        ml.StreamClassifier("logistic", tol=0.5),
        ml.StreamClassifier("logistic", hold_out=0.2, tol=1e-9),
        ml.StreamClassifier("garg-roth", method="sgd", tol=1e-9),
    ],
    ids=repr,
)
def test_what_ends_as_asked_or_has_no_gap_is_not_warned_of(estimator, two):
    with warnings.catch_warnings():
        warnings.simplefilter("error", ConvergenceWarning)
        estimator.fit(*two)
    assert estimator.relative_gap_ > 1e-9 and estimator.status_ in ("rule-met", "converged")


def test_batches_do_not_depend_on_chunks(two):
    X, y = two
    stream = ml.StreamClassifier("logistic", method="sgd", batch=7)
    whole = clone(stream).partial_fit(X, y)
    for size in (1, 10, 50):
        parts, weights = clone(stream), np.ones(size)
        for start in range(0, len(y), size):
            part = slice(start, start + size)
            parts.partial_fit(X[part], y[part], classes=[0, 1], sample_weight=weights[: len(y[part])])
            parts = pickle.loads(pickle.dumps(parts))
        assert np.array_equal(parts.coef_, whole.coef_) and parts.intercept_ == whole.intercept_ and parts.t_ == whole.t_
    with pytest.raises(ValueError, match="batch"):
        whole.set_params(batch=3).partial_fit(X, y)


def test_samples_of_weight_zero_take_no_part(two):
    X, y = two
    for settings in ({}, {"method": "sgd"}, {"method": "sgd", "batch": 7}):
        stream = ml.StreamClassifier("logistic", **settings)
        some, weights = np.arange(len(y)) % 3 > 0, (np.arange(len(y)) % 3 > 0).astype(float)
        expected = clone(stream).partial_fit(X[some], y[some])
        weighted = clone(stream).partial_fit(X, y, sample_weight=weights)
        assert np.array_equal(weighted.coef_, expected.coef_)
        skipped = clone(stream).partial_fit(X, y, sample_weight=np.zeros(len(y)))
        assert not skipped.coef_.any()
        assert np.array_equal(skipped.partial_fit(X, y, sample_weight=weights).coef_, expected.coef_)


@pytest.mark.parametrize("classes", [None, [0.5, 1.5]])
def test_measurements_are_no_classes(classes, two):
    X, y = two
    with pytest.raises(ValueError, match="Unknown label type: continuous"):
        ml.StreamClassifier("logistic").partial_fit(X, y + 0.5, classes=classes)


@pytest.mark.parametrize("settings", [{}, {"method": "sgd", "batch": 7}, {"lam": 0.0}], ids=str)
def test_several_classes_are_learned_one_versus_rest(settings, three):
    X, y = three
    X = X + 6 * np.array([[1.0, 0.0, 0.0], [-0.5, 0.9, 0.0], [-0.5, -0.9, 0.0]])[y]
    fitted = ml.StreamClassifier("logistic", **settings).fit(X, y)
    assert fitted.coef_.shape == (3, X.shape[1]) and fitted.intercept_.shape == (3,) and fitted.score(X, y) > 0.95
    assert fitted.decision_function(X).shape == fitted.predict_proba(X).shape == (len(y), 3)
    rest = [ml.StreamClassifier("logistic", **settings).fit(X, y == label) for label in fitted.classes_]
    assert np.array_equal(np.concatenate([one.coef_ for one in rest]), fitted.coef_)
    stream = ml.StreamClassifier("logistic", **settings).partial_fit(X[:1], y[:1], classes=np.unique(y))
    for rows in np.array_split(np.arange(1, len(y)), 5):
        stream = pickle.loads(pickle.dumps(stream.partial_fit(X[rows], y[rows])))
    whole = ml.StreamClassifier("logistic", **settings).partial_fit(X, y)
    assert np.array_equal(stream.coef_, whole.coef_) and stream.score(X, y) > 0.9 and stream.t_ == len(y)
    fitted.partial_fit(X, y)
    with pytest.raises(ValueError, match="first chunk has one class"):
        ml.StreamClassifier().partial_fit(X[:1], y[:1])
    with pytest.raises(ValueError, match="has the class .* Pass all classes with the first chunk"):
        ml.StreamClassifier().partial_fit(X[y < 2], y[y < 2]).partial_fit(X, y)


def test_several_classes_are_kept_in_files(three, tmp_path):
    X, y = three
    for fitted in (ml.StreamClassifier("logistic").fit(X, y), ml.StreamClassifier("logistic").partial_fit(X, y)):
        fitted.save(tmp_path / "stream.json")
        assert np.array_equal(ml.load(tmp_path / "stream.json").predict(X), fitted.predict(X))


def test_weights_of_a_fit_multiply_losses(two):
    X, y = two
    weights = np.where(y == y[0], 5.0, 1.0)
    weighted = ml.StreamClassifier("logistic", lam=0.01).fit(X, y, sample_weight=weights)
    costly = ml.StreamClassifier("logistic", lam=0.01, class_weight={y[0]: 5.0}).fit(X, y)
    assert np.array_equal(weighted.coef_, costly.coef_) and weighted.objective_ == costly.objective_
    assert not np.array_equal(weighted.coef_, ml.StreamClassifier("logistic", lam=0.01).fit(X, y).coef_)
    plain = ml.StreamClassifier("logistic", lam=0.01).fit(X, y, sample_weight=np.ones(len(y)))
    assert np.array_equal(plain.coef_, ml.StreamClassifier("logistic", lam=0.01).fit(X, y).coef_)


def test_margin_pursuit_is_a_method(two):
    X, y = two
    recipe = {"lam": 0.04, "epochs": 20, "fit_intercept": False, "balanced_rows": 20, "start_norm": 1.0}
    pursuit = ml.StreamClassifier("margin-pursuit", method="margin-pursuit", **recipe)
    parts = ml.StreamClassifier("margin-pursuit", method="sgd", schedule="margin-pursuit", replacement=True, radius=5.0, **recipe)
    for more in ({}, {"rescale_at": 20}, {"rescale_at": 20, "rescale_steps": "keep"}):
        fits = [clone(stream).set_params(**more).fit(X, y) for stream in (pursuit, parts)]
        np.testing.assert_array_equal(fits[0].coef_, fits[1].coef_)
    with pytest.raises(ValueError, match="method is 'margin-pursuit', which sets its own steps"):
        pursuit.set_params(schedule="constant").fit(X, y)
    with pytest.raises(ValueError, match="rescale_steps is 'halve', but must be 'divide' or 'keep'"):
        ml.StreamClassifier(rescale_steps="halve").fit(X, y)


def test_the_gradient_is_the_evidence_without_a_penalty(two):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        fitted = ml.StreamClassifier("logistic", lam=0, tol=1e-6).fit(*two)
    assert fitted.gradient_norm_ >= 0 and fitted.status_ == "rule-met" and not hasattr(fitted, "relative_gap_")
    assert not hasattr(fitted.partial_fit(*two), "gradient_norm_")


@pytest.mark.parametrize("classes", [2, 3])
def test_steps_that_are_too_long_are_named(classes):
    X, y = clouds(300, classes)
    for order in (slice(None), np.argsort(y, kind="stable")):
        rows = (X[order], y[order])
        for step, fit in [(1e3, "fit"), (1e3, "partial_fit"), (0.01, "fit"), (0.01, "partial_fit"), (None, "fit"), (None, "partial_fit")]:
            stream = ml.StreamClassifier("logistic", method="sgd", schedule="constant" if step else "bottou", first_step=step)
            with warnings.catch_warnings(record=True) as caught:
                warnings.simplefilter("always")
                for part in np.array_split(np.arange(len(y)), 1 if fit == "fit" else 3):
                    named = {} if fit == "fit" else {"classes": range(classes)}
                    # What is known of the steps so far goes through pickles.
                    stream = getattr(pickle.loads(pickle.dumps(stream)), fit)(rows[0][part], rows[1][part], **named)
            said = any("first_step=1000 may be too long: the loss has grown" in str(warning.message) for warning in caught)
            assert said == (step == 1e3), (step, fit)
