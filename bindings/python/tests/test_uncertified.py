"""Learners without a duality gap report their status, show their progress, and stop when a callback raises."""

import pickle

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning

import margins_learn as ml
from conftest import clouds

LEARNERS = [
    ml.MassartClassifier(),
    ml.MassartClassifier("sgd", eta=0.2, gamma=0.1),
    ml.MassartClassifier("cuts", eta=0.2, gamma=0.1),
    ml.FocusedClassifier(max_steps=1000),
]


@pytest.mark.parametrize("estimator", LEARNERS, ids=repr)
def test_a_callback_sees_the_time_and_ends_the_fit(estimator, two):
    seen = []
    estimator = type(estimator)(**estimator.get_params()).set_params(callback=seen.append).fit(*two)
    times = [iteration["elapsed"] for iteration in seen]
    assert times and times == sorted(times) and all(set(iteration) == {"elapsed"} for iteration in seen)

    def enough(iteration):
        raise RuntimeError("enough")

    with pytest.raises(RuntimeError, match="enough"):
        estimator.set_params(callback=enough).fit(*two)
    with pytest.raises(TypeError, match="callback is 3"):
        estimator.set_params(callback=3).fit(*two)


def test_the_status_of_a_halfspace(two):
    X, y = two
    assert ml.MassartClassifier().fit(X, y).status_ == "rule-met"
    for eta, status in ((0.3, "rule-met"), (0.01, "infeasible")):
        assert ml.MassartClassifier("cuts", eta=eta, gamma=0.3, epsilon=0.01).fit(X, y).status_ == status
    chance = np.random.default_rng(1).integers(0, 2, len(y))
    with pytest.warns(ConvergenceWarning, match="time limit"):
        late = ml.MassartClassifier("sgd", eta=0.1, gamma=0.001, epsilon=0.001, time_limit=0.1).fit(X, chance)
    assert late.status_ == "time-limit"


def test_the_status_of_a_game(tmp_path):
    X, y = clouds(60, 2)
    apart = X + 20 * np.where(y, 1, -1)[:, None]
    assert ml.FocusedClassifier().fit(apart, y).status_ == "rule-met"
    assert ml.FocusedClassifier(max_steps=500).fit(X, y).status_ == "iteration-limit"
    paused = ml.FocusedClassifier(max_steps=500, checkpoint=tmp_path / "game", pause_at=100).fit(X, y)
    assert paused.status_ == "paused" and not paused.finished_
    with pytest.warns(ConvergenceWarning, match="time limit"):
        late = ml.FocusedClassifier(max_steps=10**9, time_limit=0.1).fit(X, y)
    assert late.status_ == "time-limit"


def test_an_altered_ensemble_is_refused(two):
    fitted = ml.FocusedClassifier("stump", max_steps=500, outputs=5).fit(*two)
    kept = pickle.dumps(fitted)
    assert np.array_equal(pickle.loads(kept).decision_function(two[0]), fitted.decision_function(two[0]))
    at = kept.index(b'"Stumps"') + 1
    altered = kept[:at] + b"s" + kept[at + 1 :]
    with pytest.raises(ValueError, match="not the bytes of an ensemble: it is damaged: its checksum is"):
        pickle.loads(altered)


def test_a_model_says_what_it_is(three):
    linear = ml.MarginClassifier("logistic", multi_class="ovr").fit(*three).model_
    assert repr(linear) == "<Model: loss='logistic', classes=3, features=3, one-versus-rest>"
    kernel = ml.MarginClassifier("hinge", kernel="linear", multi_class="ovo").fit(*three).model_
    assert repr(kernel) == f"<Model: loss='hinge', kernel='linear', functions={kernel.coef.shape[1]}, classes=3, features=3, one-versus-one>"


def test_the_published_rule_ends_a_path_and_selects_among_what_it_reaches():
    X, y = clouds(60, 2)
    X = np.hstack([X, np.random.default_rng(2).normal(size=(len(X), 80))])
    grid = np.logspace(0, -7, 100)
    for kernel in (None, "gaussian:sigma=0.01"):
        with pytest.warns(ConvergenceWarning, match='Set stop="gap" for certified fits'):
            path = ml.MarginPath(lambdas=grid, kernel=kernel, stop="published").fit(X, y)
        assert 2 <= len(path.lambdas_) == len(path.coefs_) < 100
        with pytest.warns(UserWarning, match="of 100 lambdas have a fit in every fold"):
            search = ml.MarginClassifierCV(lambdas=grid, kernels=kernel, stop="published").fit(X, y)
        reached = search.path_["reached"]
        assert search.best_lambda_ in search.path_["lambdas"][reached] and not reached.all()
    for bad, message in ((dict(solver="newton"), "solver is 'newton'"), (dict(time_limit=1.0), "time limit"), (dict(stop="x"), "stop is 'x'")):
        with pytest.raises(ValueError, match=message):
            ml.MarginPath(lambdas=grid, **{"stop": "published", **bad}).fit(X, y)
