"""Searches by any measure, over any splits, with groups and with classes of one row."""

import warnings

import numpy as np
import pytest
import sklearn
from conftest import clouds
from sklearn import metrics
from sklearn.datasets import load_wine
from sklearn.model_selection import (
    GroupKFold,
    GroupShuffleSplit,
    LeaveOneGroupOut,
    RepeatedStratifiedKFold,
    ShuffleSplit,
    StratifiedKFold,
    TimeSeriesSplit,
    cross_validate,
)
from sklearn.preprocessing import StandardScaler

import margins_learn as ml

Cs = [1e-3, 1e-2, 1e-1, 1.0]
SCORINGS = {
    "error": "accuracy",
    "balanced-error": "balanced_accuracy",
    "log-loss": "neg_log_loss",
    "brier": "neg_brier_score",
    "auc": "roc_auc",
}


@pytest.mark.parametrize(("measure", "classes"), [(measure, classes) for measure in SCORINGS for classes in (2, 3) if (measure, classes) != ("auc", 3)])
def test_measures_are_those_of_scikit_learn(measure, classes):
    X, y = clouds(150, classes)
    cv = ShuffleSplit(4, test_size=30, random_state=0)
    # Of pairs, predict_proba moves probabilities to where the class that is decided is the most probable.
    fixed = {"tol": 1e-10, "multi_class": "ovr"}
    search = ml.MarginClassifierCV("logistic", Cs=Cs, cv=cv, scoring=SCORINGS[measure], **fixed).fit(X, y)
    by_our_name = ml.MarginClassifierCV("logistic", Cs=Cs, cv=cv, scoring=measure, **fixed).fit(X, y)
    path = search.path_
    assert path["measure"] == measure and np.array_equal(path["mean_measure"], by_our_name.path_["mean_measure"])
    expected = []
    for C in path["Cs"]:
        # Fits without a fold have the same C as fits to all rows.
        model = ml.MarginClassifier("logistic", C=C, **fixed)
        scores = cross_validate(model, X, y, cv=cv, scoring=SCORINGS[measure])["test_score"]
        expected.append(scores.mean())
    expected = np.array(expected)
    signed = {"auc": expected, "error": 1 - expected, "balanced-error": 1 - expected}.get(measure, -expected)
    np.testing.assert_allclose(path["mean_measure"], signed, rtol=1e-5, atol=1e-12)
    assert expected[path["best"]] == pytest.approx(expected.max(), abs=1e-12)
    assert not hasattr(search, "folds_")


def test_weights_count_in_measures():
    X, y = clouds(90, 2)
    weights = np.arange(90) % 4
    splits = list(StratifiedKFold(3).split(X, y))
    search = ml.MarginClassifierCV("logistic", lambdas=[0.1], cv=splits, scoring="log-loss", tol=1e-10).fit(X, y, weights)
    found, total = 0.0, 0.0
    for train, test in splits:
        model = ml.MarginClassifier("logistic", C=1 / (2 * len(train) * 0.1), tol=1e-10).fit(X[train], y[train], weights[train])
        found += metrics.log_loss(y[test], model.predict_proba(X[test]), sample_weight=weights[test]) * weights[test].sum()
        total += weights[test].sum()
    assert search.path_["mean_measure"] == pytest.approx([found / total], rel=1e-6)


def test_ties_in_error_go_to_the_smaller_log_loss():
    X, y = load_wine(return_X_y=True)
    X = StandardScaler().fit_transform(X)
    search = ml.MarginClassifierCV("logistic", cv=StratifiedKFold(5)).fit(X, y)
    errors, log_loss = search.path_["mean_error"], search.path_["mean_log_loss"]
    tied = np.flatnonzero(errors == errors.min())
    assert len(tied) > 1 and log_loss[search.path_["best"]] == log_loss[tied].min()
    # The least C among ties is far from the probabilities.
    assert log_loss[search.path_["best"]] < 0.1 < log_loss[tied[0]]
    hinge = ml.MarginClassifierCV("hinge", cv=StratifiedKFold(5)).fit(X, y)
    errors = hinge.path_["mean_error"]
    assert np.isnan(hinge.path_["mean_log_loss"]).all() and hinge.path_["best"] == np.argmin(errors)


@pytest.mark.parametrize(
    "cv",
    [
        ShuffleSplit(3, random_state=1),
        RepeatedStratifiedKFold(n_splits=3, n_repeats=2, random_state=1),
        TimeSeriesSplit(3),
        [(np.arange(120) < 60, np.arange(120) >= 100)],
        [(range(60), range(-20, 0))],
        [(np.arange(120) ** 2 % 50, range(50, 120))],
    ],
    ids=["shuffled", "repeated", "time", "masks", "negative", "bootstrap"],
)
@pytest.mark.parametrize("kernels", [None, "gaussian:sigma=0.5"])
def test_any_splitter_is_taken(cv, kernels, two):
    X, y = two
    search = ml.MarginClassifierCV("logistic", lambdas=[1e-1, 1e-3], kernels=kernels, cv=cv, n_jobs=2).fit(X, y)
    splits = list(cv.split(X, y)) if hasattr(cv, "split") else [(np.arange(120)[np.array(a)], np.arange(120)[np.array(b)]) for a, b in cv]
    for lambda_, found in zip(search.path_["lambdas"], search.errors_, strict=True):
        wrong = []
        for train, test in splits:
            model = ml.MarginClassifier("logistic", C=1 / (2 * len(train) * lambda_), kernel=kernels).fit(X[train], y[train])
            wrong.append((model.predict(X[test]) != y[test]).sum())
        assert found == pytest.approx(sum(wrong) / sum(len(test) for _, test in splits), abs=1e-12)


def test_groups_reach_the_splitter_and_divide_no_fold(two):
    X, y = two
    groups = np.arange(120) // 6
    for cv in (GroupKFold(4), LeaveOneGroupOut(), GroupShuffleSplit(4, random_state=1)):
        search = ml.MarginClassifierCV("logistic", Cs=Cs, cv=cv).fit(X, y, groups=groups)
        given = ml.MarginClassifierCV("logistic", Cs=Cs, cv=list(cv.split(X, y, groups))).fit(X, y)
        assert np.array_equal(search.errors_, given.errors_)
    for cv, folds in ((None, 5), (3, 3)):
        for names in (groups, groups - 10, [f"patient {group}" for group in groups]):
            search = ml.MarginClassifierCV("logistic", Cs=Cs, cv=cv).fit(X, y, groups=names)
            assert len(np.unique(search.folds_)) == folds
            assert all(len(np.unique(search.folds_[groups == group])) == 1 for group in np.unique(groups))
    for cv in ("leave-one-out", groups):
        with pytest.raises(ValueError, match="groups are given, but this cv does not use them"):
            ml.MarginClassifierCV("logistic", cv=cv, kernels="gaussian").fit(X, y, groups=groups)
    with pytest.raises(ValueError, match="inconsistent numbers of samples"):
        ml.MarginClassifierCV("logistic").fit(X, y, groups=groups[1:])


def test_groups_are_routed_as_metadata(two):
    X, y = two
    groups, fits = np.arange(120) // 6, []

    class Seen(GroupKFold):
        def split(self, X, y=None, groups=None):
            fits.append(groups)
            return super().split(X, y, groups)

    with sklearn.config_context(enable_metadata_routing=True):
        def weighted(cv):
            return ml.MarginClassifierCV("logistic", Cs=Cs, cv=cv).set_fit_request(sample_weight=True).set_score_request(sample_weight=True)

        given = {"groups": groups, "sample_weight": np.ones(120)}
        cross_validate(weighted(Seen(4)), X, y, cv=GroupKFold(3), params=given, error_score="raise")
        assert len(fits) == 3 and all(len(inner) == 6 * len(np.unique(inner)) < 100 for inner in fits)
        cross_validate(weighted(3), X, y, cv=GroupKFold(3), params=given, error_score="raise")
        # The splitter may request its groups by another name.
        fits.clear()
        families = ml.MarginClassifierCV("logistic", Cs=Cs, cv=Seen(4).set_split_request(groups="family")).fit(X, y, family=groups)
        assert np.array_equal(fits[0], groups)
        assert np.array_equal(families.errors_, ml.MarginClassifierCV("logistic", Cs=Cs, cv=Seen(4)).fit(X, y, groups=groups).errors_)
        cross_validate(families, X, y, cv=GroupKFold(3), params={"groups": groups, "family": groups}, error_score="raise")
        assert all(len(inner) == 6 * len(np.unique(inner)) for inner in fits)
    with pytest.raises(TypeError, match="unexpected argument 'family'"):
        families.fit(X, y, family=groups)


@pytest.mark.parametrize("classes", [1, 2, 3])
@pytest.mark.parametrize("cv", [None, 4, StratifiedKFold(4)])
def test_a_class_with_one_row_does_not_end_a_search(cv, classes):
    X, y = clouds(60, classes)
    y[7] = 9
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        search = ml.MarginClassifierCV("logistic", Cs=Cs, cv=cv).fit(X, y)
    assert any("leaves no sample of class '9' to train on" in str(warning.message) for warning in seen)
    assert list(search.classes_) == [*range(classes), 9]
    assert search.predict_proba(X).shape == (60, classes + 1)
    assert (search.errors_ >= 1 / 60 - 1e-12).all()
