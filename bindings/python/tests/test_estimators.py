"""What the estimators promise beyond the conventions."""

import pickle
import warnings

import joblib
import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.datasets import make_blobs
from sklearn.exceptions import ConvergenceWarning, NotFittedError
from sklearn.linear_model import LogisticRegressionCV
from sklearn.model_selection import GridSearchCV, KFold, StratifiedKFold, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import margins_learn as ml
from margins_learn import _inputs, bounds
from conftest import clouds

LOSSES = [name for name in ml.losses.names() if name not in ("garg-roth", "zero-one", "leaky-relu")]


def objective(model, X, y):
    """Returns the objective of a classifier of two classes, by the losses of the package."""
    margins = np.where(y == model.classes_[1], 1, -1) * model.decision_function(X)
    return np.mean(ml.losses.value(model.loss, margins)) + model.lambda_ * np.sum(model.coef_**2)


@pytest.mark.parametrize("loss", LOSSES)
def test_evidence_is_that_of_the_objective(loss, two):
    X, y = two
    model = ml.MarginClassifier(loss, C=0.5).fit(X, y)
    assert model.status_ == "converged" and model.relative_gap_ <= 1e-6 and model.n_iter_ >= 1
    assert model.lambda_ == 1 / (2 * len(y) * 0.5)
    assert model.objective_ == pytest.approx(objective(model, X, y), rel=1e-12)
    assert model.lower_bound_ <= model.objective_ <= model.lower_bound_ + model.dual_gap_ * (1 + 1e-9)
    # No neighbour is better than the bound.
    for step in np.random.default_rng(1).normal(size=(20, X.shape[1])):
        coef = model.coef_[0] + 0.01 * step
        margins = np.where(y == 1, 1, -1) * (X @ coef + model.intercept_[0])
        value = np.mean(ml.losses.value(loss, margins)) + model.lambda_ * np.sum(coef**2)
        assert value >= model.lower_bound_


@pytest.mark.parametrize(
    "scheme, probability", [("ovr", "loss"), ("ovr", "platt"), ("ovo", "loss"), ("ovo", "platt"), ("joint", "loss")]
)
@pytest.mark.parametrize("loss", ["lhs", "logistic", "squared-hinge"])
def test_the_most_probable_class_is_the_prediction(loss, scheme, probability):
    X, y = clouds(200, 4, seed=3)
    model = ml.MarginClassifier(loss, multi_class=scheme, probability=probability).fit(X, y)
    p, scores = model.predict_proba(X), model.decision_function(X)
    assert p.shape == scores.shape == (200, 4)
    np.testing.assert_allclose(p.sum(axis=1), 1, rtol=1e-12)
    assert np.array_equal(p.argmax(axis=1), model.predict(X)) and np.array_equal(scores.argmax(axis=1), model.predict(X))
    members = 6 if scheme == "ovo" else 4
    assert model.coef_.shape == (members, 3) and np.shape(model.dual_gap_) == (() if scheme == "joint" else (members,))


def test_a_loss_without_probabilities_has_none_to_offer(two):
    assert not hasattr(ml.MarginClassifier("hinge"), "predict_proba")
    with pytest.raises(AttributeError) as refused:
        ml.MarginClassifier("hinge").predict_proba  # noqa: B018
    assert "has no probabilities" in str(refused.value.__cause__)
    platt = ml.MarginClassifier("hinge", probability="platt").fit(*two)
    assert np.array_equal(platt.predict_proba(two[0])[:, 1] > 0.5, platt.predict(two[0]) == 1)


def test_a_function_is_a_kernel_like_the_named_one(two):
    X, y = two

    def gaussian(a, b):
        return np.exp(-0.5 * ((a[:, None] - b[None]) ** 2).sum(axis=2))

    own = ml.MarginClassifier("logistic", kernel=gaussian, tol=1e-9).fit(X, y)
    named = ml.MarginClassifier("logistic", kernel="gaussian:sigma=0.5", tol=1e-9).fit(X, y)
    given = ml.MarginClassifier("logistic", kernel="precomputed", tol=1e-9).fit(gaussian(X, X), y)
    for other in (own.decision_function(X), given.decision_function(gaussian(X, X))):
        np.testing.assert_allclose(other, named.decision_function(X), rtol=1e-5, atol=1e-7)
    assert not hasattr(own, "coef_") and own.dual_coef_.shape == (1, len(y))
    with pytest.raises(ValueError, match="pickle"):
        own.save("x.json")


SOLVERS = ["newton", "proximal-newton", "mm", "mm-accelerated", "sdca", "bundle", "lbfgs", "gd"]


@pytest.mark.parametrize("solver", SOLVERS)
def test_solvers_of_the_command_agree(two, solver):
    automatic = ml.MarginClassifier("logistic").fit(*two)
    other = ml.MarginClassifier("logistic", solver=solver).fit(*two)
    assert other.status_ == "converged"
    assert max(automatic.lower_bound_, other.lower_bound_) <= min(automatic.objective_, other.objective_)


def test_a_solver_that_is_none_is_refused_with_those_there_are(two):
    with pytest.raises(ValueError, match="solver is 'magic'") as refusal:
        ml.MarginClassifier(solver="magic").fit(*two)
    assert all(f"'{name}'" in str(refusal.value) for name in ["auto", *SOLVERS])


def test_one_warning_names_gap_tolerance_and_remedy(three):
    with pytest.warns(ConvergenceWarning) as seen:
        model = ml.MarginClassifier("logistic", solver="mm", max_iter=2, C=100.0).fit(*three)
    (warning,) = seen
    text = str(warning.message)
    assert f"{model.relative_gap_.max():.1e}" in text and "tolerance 1.0e-06" in text and "Raise max_iter" in text
    assert warning.filename == __file__ and model.status_ == "iteration-limit"


def test_rounding_above_the_tolerance_is_a_status_of_its_own(two):
    X, y = two
    with pytest.warns(ConvergenceWarning, match="allowance for rounding in the relative duality gap is .* above the tolerance 1.0e-17"):
        model = ml.MarginClassifier("logistic", tol=1e-17).fit(X, y)
    assert model.status_ == "rounding-limit" and model.relative_gap_ <= 1e-17 < model.relative_rounding_ < 1e-12
    with pytest.warns(ConvergenceWarning, match="allowance for rounding"):
        path = ml.MarginPath("logistic", Cs=[1.0, 2.0], tol=1e-17).fit(X, y)
    assert (path.statuses_ == "rounding-limit").all() and (path.relative_roundings_ > 1e-17).all()


def test_cross_validation_finds_what_a_search_by_hand_finds(two):
    X, y = two
    Cs = [1e-3, 1e-2, 1e-1, 1.0]
    folds = StratifiedKFold(4, shuffle=True, random_state=1)
    search = ml.MarginClassifierCV("logistic", Cs=Cs, cv=folds).fit(X, y)
    # The same C, not the same lambda, as scikit-learn has it; of equal errors the one with the smallest log-loss.
    by_hand = GridSearchCV(
        ml.MarginClassifier("logistic"), {"C": Cs}, cv=folds, scoring=["accuracy", "neg_log_loss"], refit=lambda results: np.lexsort(
            (-results["mean_test_neg_log_loss"], -results["mean_test_accuracy"].round(12))
        )[0],
    ).fit(X, y)
    errors = 1 - by_hand.cv_results_["mean_test_accuracy"]
    np.testing.assert_allclose(search.errors_, errors, atol=1e-12)
    assert search.best_C_ == by_hand.best_params_["C"]
    np.testing.assert_allclose(search.coef_, by_hand.best_estimator_.coef_, rtol=1e-3)
    assert search.path_["Cs"] == pytest.approx(Cs) and search.path_["certified"].all()


@pytest.mark.parametrize("cv", [3, KFold(3), "vector", "splits"])
def test_folds_come_in_every_form(cv, two):
    X, y = two
    vector = np.arange(len(y)) // 2 % 3
    given = {"vector": vector, "splits": [(np.flatnonzero(vector != k), np.flatnonzero(vector == k)) for k in range(3)]}
    search = ml.MarginClassifierCV("logistic", Cs=[0.1, 1.0], cv=given.get(cv, cv) if isinstance(cv, str) else cv).fit(X, y)
    assert set(search.folds_) == {0, 1, 2}
    if isinstance(cv, str):
        assert np.array_equal(search.folds_, vector)


def test_leaving_one_out_and_the_rule_of_one_standard_error(two):
    X, y = two
    search = ml.MarginClassifierCV("logistic", Cs=np.geomspace(1e-3, 10, 9), kernels="gaussian:sigma=0.5", cv="leave-one-out")
    one_se = ml.MarginClassifierCV(**(search.get_params() | {"selection": "one-se"})).fit(X, y)
    best = search.fit(X, y)
    assert one_se.best_C_ <= best.best_C_ and best.best_kernel_ == "gaussian:sigma=0.5"


def test_sigmas_are_tried_with_kernels_that_leave_theirs_out(two):
    search = ml.MarginClassifierCV("logistic", Cs=[0.1, 1.0], kernels=["gaussian", "linear"], sigmas=[4.0, 2.0, 1.0], cv=3).fit(*two)
    assert list(search.paths_) == ["gaussian:sigma=4", "gaussian:sigma=2", "gaussian:sigma=1", "linear"]
    assert search.errors_.shape == (4, 2) and search.best_kernel_ in search.paths_
    for sigmas in ("4:1:3", "4, 2, 1", np.array([4, 2, 1])):
        again = clone(search).set_params(sigmas=sigmas).fit(*two)
        np.testing.assert_allclose(again.errors_, search.errors_)
    auto = clone(search).set_params(kernels="gaussian", sigmas="auto:3").fit(*two)
    assert len(auto.paths_) == 3 and auto.score(*two) > 0.8


def test_of_several_losses_that_of_the_lowest_error_is_taken(two):
    losses = ["squared", "l-r:r=2", "hinge"]
    search = ml.MarginClassifierCV(losses, Cs=[0.1, 1.0], cv=3).fit(*two)
    alone = {loss: ml.MarginClassifierCV(loss, Cs=[0.1, 1.0], cv=3).fit(*two) for loss in losses}
    assert list(search.losses_) == losses and search.model_.loss == search.best_loss_
    for loss, other in alone.items():
        np.testing.assert_array_equal(search.losses_[loss]["mean_error"], other.errors_)
        assert other.best_loss_ == loss and other.losses_ == {}
    assert search.errors_.min() == min(other.errors_.min() for other in alone.values())
    np.testing.assert_array_equal(search.coef_, alone[search.best_loss_].coef_)
    with pytest.raises(ValueError, match=r"loss is \[\], but must be at least one loss"):
        ml.MarginClassifierCV([], Cs=[1.0]).fit(*two)


def test_letters_of_zhang_and_zhou_set_lambda(two):
    letters = ml.RobustClassifier("margin-distribution:lambda1=1,lambda2=2,lambda3=4").fit(*two)
    weights = ml.RobustClassifier("margin-distribution:mean=0.5,variance=0.25", C=4 / len(two[1])).fit(*two)
    assert letters.lambda_ == pytest.approx(weights.lambda_) and letters.lambda_ == 0.125
    np.testing.assert_allclose(letters.coef_, weights.coef_, rtol=1e-4)
    assert 0 < letters.fixed_moments_leave_one_out_bound_ == pytest.approx(weights.fixed_moments_leave_one_out_bound_, rel=1e-3)
    with pytest.raises(ValueError, match="C is 2, but must be 1.0, its default"):
        letters.set_params(C=2.0).fit(*two)
    assert not hasattr(ml.RobustClassifier("catoni", "logistic").fit(*two), "fixed_moments_leave_one_out_bound_")


def test_scales_are_tried_with_losses_that_leave_theirs_out(two):
    search = ml.MarginClassifierCV(["margin-pursuit", "hinge"], Cs=[0.1, 1.0], scales=[0.5, 2.0], cv=3).fit(*two)
    assert list(search.losses_) == ["margin-pursuit:gamma=1,scale=0.5", "margin-pursuit:gamma=1,scale=2", "hinge"]
    again = clone(search).set_params(loss=list(search.losses_), scales=None).fit(*two)
    np.testing.assert_array_equal(search.errors_, again.errors_)
    assert again.best_loss_ == search.best_loss_
    with pytest.raises(ValueError, match="scales 2 cannot be combined with loss hinge"):
        ml.MarginClassifierCV("hinge", Cs=[1.0], scales=[2.0]).fit(*two)


def test_the_scale_of_margin_pursuit_comes_from_the_data(two):
    X, y = two
    auto = ml.MarginClassifier("margin-pursuit:gamma=2,scale=auto,k=5").fit(X, y)
    found = auto.auto_scale_
    assert auto.model_.loss == f"margin-pursuit:gamma=2,scale={found['scale']!r}"
    assert found["settled"] and found["required"] == pytest.approx(found["variance_bound"] * 5 / 2)
    assert found["scale"] == pytest.approx(found["required"], rel=0.011)
    given = ml.MarginClassifier(auto.model_.loss).fit(X, y)
    np.testing.assert_array_equal(auto.coef_, given.coef_)
    assert not hasattr(given, "auto_scale_")
    with pytest.raises(ValueError, match="every fold would have a scale of its own"):
        ml.MarginClassifierCV("margin-pursuit:scale=auto").fit(X, y)
    with pytest.raises(ValueError, match="every lambda would have a scale of its own"):
        ml.MarginPath("margin-pursuit:scale=auto").fit(X, y)


def test_a_number_of_Cs_is_that_of_scikit_learn(two):
    theirs = LogisticRegressionCV(Cs=4, l1_ratios=(0,), scoring="accuracy", use_legacy_attributes=False).fit(*two)
    search, path = ml.MarginClassifierCV("logistic", Cs=4).fit(*two), ml.MarginPath("logistic", Cs=np.int64(4)).fit(*two)
    np.testing.assert_allclose(search.path_["Cs"], theirs.Cs_)
    np.testing.assert_allclose(path.Cs_, theirs.Cs_)


def test_the_kernel_tells_what_it_took_from_the_data(two):
    kernel = ml.MarginClassifier("logistic", kernel="gaussian").fit(*two).kernel_
    search = ml.MarginClassifierCV("logistic", Cs=[1.0], kernels="gaussian").fit(*two)
    assert kernel == search.best_kernel_ and kernel.startswith("gaussian:sigma=")
    assert ml.MarginClassifier(kernel="precomputed").fit(two[0] @ two[0].T, two[1]).kernel_ == "precomputed"


def test_a_path_is_its_fits(two):
    X, y = two
    path = ml.MarginPath("logistic", Cs=[0.1, 10.0, 1.0], tol=1e-9).fit(X, y)
    assert list(path.Cs_) == [0.1, 1.0, 10.0] and path.coefs_.shape == (3, 1, 3)
    for k, C in enumerate(path.Cs_):
        single = ml.MarginClassifier("logistic", C, tol=1e-9).fit(X, y)
        np.testing.assert_allclose(path.coefs_[k], single.coef_, rtol=1e-4)
        assert path.objectives_[k, 0] == pytest.approx(single.objective_, rel=1e-8)
    assert (path.relative_gaps_ <= 1e-9).all() and (path.statuses_ == "converged").all()


def test_the_ray_takes_no_iterations_and_counts_one():
    X, y = make_blobs(60, centers=[[-9, 0], [9, 0]], random_state=1)
    path = ml.MarginPath("lhs").fit(X, y)
    assert path.n_iter_ >= 1 and (path.relative_gaps_ <= 1e-6).all()


def test_a_stream_in_chunks_is_the_stream(two):
    X, y = two
    whole = ml.StreamClassifier("logistic", lam=0.01).partial_fit(X, y)
    chunks = ml.StreamClassifier("logistic", lam=0.01)
    for rows in np.array_split(np.arange(len(y)), 7):
        chunks = pickle.loads(pickle.dumps(chunks.partial_fit(X[rows], y[rows], classes=[0, 1])))
    assert np.array_equal(whole.coef_, chunks.coef_) and chunks.t_ == len(y)
    pegasos = ml.StreamClassifier("hinge", lam=0.01, method="pegasos").fit(X, y)
    assert pegasos.relative_gap_ < 0.5 and pegasos.n_iter_ == 10
    with pytest.raises(ValueError, match="classes is"):
        chunks.partial_fit(X, y, classes=[0, 2])
    with pytest.raises(ValueError, match="has the class 2"):
        chunks.partial_fit(X[:1], [2])


def test_halfspaces_have_a_bound_on_their_error():
    rng = np.random.default_rng(1)
    X = rng.normal(size=(3000, 3))
    clean = X[:, 0] + 0.5 > 0
    y = clean ^ (rng.random(3000) < 0.1)
    model = ml.MassartClassifier("sgd", eta=0.12, gamma=0.1).fit(X, y)
    assert model.score(X, clean) > 0.9 and 0.1 < model.error_bound_ < 0.5 and model.intercept_[0] != 0
    cuts = ml.MassartClassifier("cuts", eta=0.12, gamma=0.1).fit(X, y)
    assert cuts.held_out_error_ < cuts.error_bound_ < 0.5


@pytest.mark.parametrize("learner", ["sgd", "cuts", "auto"])
def test_halfspaces_are_learned_by_weight(learner):
    rng = np.random.default_rng(3)
    X = rng.normal(size=(1500, 2))
    X = X[abs(X[:, 0]) > 0.3]
    y = X[:, 0] > 0
    known = {} if learner == "auto" else {"eta": 0.2, "gamma": 0.05}
    fit = lambda *data: ml.MassartClassifier(learner, **known).fit(*data)
    X_all, y_all = np.concatenate([X, 9 * X]), np.concatenate([y, ~y])
    weights = np.concatenate([1.0 + np.arange(len(y)) % 3, np.zeros(len(y))])
    alone, weighted = fit(X, y, weights[: len(y)]), fit(X_all, y_all, weights)
    assert np.array_equal(weighted.coef_, alone.coef_) and weighted.error_bound_ == alone.error_bound_
    assert np.array_equal(fit(X, y, np.ones(len(y))).coef_, fit(X, y).coef_)
    # Of every two contradictory rows the heavier one decides.
    heavy = np.concatenate([np.ones(len(y)), np.full(len(y), 0.1)])
    twice = np.concatenate([X, X])
    assert fit(twice, y_all, heavy).score(X, y) > 0.9 > 0.1 > fit(twice, y_all, heavy[::-1]).score(X, y)
    with pytest.raises(ValueError, match="weight"):
        fit(X, y, -np.ones(len(y)))


def test_halfspaces_are_learned_from_a_stream(tmp_path):
    noisy = ml.massart.simulate(5, 0.2, 0.1, samples=6000, random_state=3)
    known = {"eta": 0.1, "gamma": 0.2, "epsilon": 0.1, "fit_intercept": False, "scale_rows": "each"}
    whole = ml.MassartClassifier("sgd", **known).partial_fit(noisy.X, noisy.y)
    assert noisy.error(whole) <= min(0.2, whole.error_bound_) and whole.status_ == "rule-met"
    assert whole.t_ == 6000 and not hasattr(whole, "training_error_")
    chunks = ml.MassartClassifier("sgd", **known)
    chunks.partial_fit(noisy.X[:4], noisy.y[:4], classes=[-1, 1])
    with pytest.raises(NotFittedError):
        chunks.predict(noisy.X)
    for rows in np.split(np.arange(6000), [4, 5, 105, 1105, 3000])[1:]:
        chunks = pickle.loads(pickle.dumps(chunks.partial_fit(noisy.X[rows], noisy.y[rows])))
    for name in ("coef_", "error_bound_", "held_out_error_", "n_iter_", "t_"):
        assert np.array_equal(getattr(chunks, name), getattr(whole, name)), name
    chunks.save(tmp_path / "model.mgn")
    assert np.array_equal(ml.load(tmp_path / "model.mgn").predict(noisy.X), whole.predict(noisy.X))
    # A stream keeps its settings and classes, and a fit does not begin one.
    with pytest.raises(ValueError, match="not the state of this learner: its noise rate, margin"):
        chunks.set_params(eta=0.2).partial_fit(noisy.X, noisy.y)
    with pytest.raises(ValueError, match="classes is"):
        whole.partial_fit(noisy.X, noisy.y, classes=[0, 1])
    with pytest.raises(ValueError, match="cannot continue a fit"):
        ml.MassartClassifier("sgd", **known).fit(noisy.X, noisy.y).partial_fit(noisy.X, noisy.y)
    with pytest.raises(ValueError, match="scale_rows is 'largest', which needs all samples at once"):
        ml.MassartClassifier("sgd", **known | {"scale_rows": "largest"}).partial_fit(noisy.X, noisy.y)
    with pytest.raises(ValueError, match="partial_fit learns from two"):
        ml.MassartClassifier("sgd", **known).partial_fit(noisy.X, np.arange(6000) % 3)
    assert not hasattr(ml.MassartClassifier("auto"), "partial_fit")


def test_halfspaces_are_learned_from_block_files(tmp_path):
    X, clean, y = sectors()
    weights = 1.0 + np.arange(len(y)) % 2
    frame = pd.DataFrame(X, columns=["east", "north"])
    known = {"eta": 0.1, "gamma": 0.2, "epsilon": 0.2}
    fit = lambda memory, *data: ml.MassartClassifier("sgd", **known, memory=memory).fit(*data)
    path = tmp_path / "two.blocks"
    ml.blocks.write(path, frame, y == "up", weights, rows=50)
    expected = fit(None, frame, y == "up", weights)
    # The smallest memory holds some of the blocks only.
    for memory in (150_000, "1GB", None):
        model = fit(memory, path)
        assert np.array_equal(model.coef_, expected.coef_) and model.error_bound_ == expected.error_bound_, memory
        assert model.training_error_ == pytest.approx(expected.training_error_)
        assert model.feature_names_in_.tolist() == ["east", "north"] and model.classes_.tolist() == ["False", "True"]
    assert not hasattr(model.fit(X, y == "up"), "feature_names_in_")
    ml.blocks.write(tmp_path / "three.blocks", X, y)
    assert np.array_equal(fit(None, str(tmp_path / "three.blocks")).coef_, fit(None, X, y).coef_)
    for name, beside in (("y", (y,)), ("sample_weight", (None, weights))):
        with pytest.raises(ValueError, match=f"{name} is given beside the block file"):
            fit(None, path, *beside)
    with pytest.raises(OSError, match="nowhere"):
        fit(None, tmp_path / "nowhere")


def sectors(n=900):
    """Three sectors of the plane, one label in thirteen that of the next one."""
    rows = np.arange(n)
    angles = 2 * np.pi / 3 * (rows % 3 + 0.125 * np.sin(0.7 * rows))
    clean = np.array(["left", "right", "up"])[rows % 3]
    noisy = np.array(["left", "right", "up"])[(rows + (rows % 13 == 12)) % 3]
    return np.column_stack([np.cos(angles), np.sin(angles)]), clean, noisy


@pytest.mark.parametrize("learner", ["sgd", "cuts", "auto", "proper"])
def test_halfspaces_of_several_classes(learner, tmp_path):
    X, clean, y = sectors()
    known = {"epsilon": 0.4} if learner == "auto" else {"eta": 0.1, "gamma": 0.2, "epsilon": 0.2}
    model = ml.MassartClassifier(learner, **known, fit_intercept=False).fit(X, y)
    assert model.score(X, clean) > 0.98 and model.score(X, y) == pytest.approx(1 - model.training_error_)
    assert model.coef_.shape == (3, 2) and np.allclose(np.linalg.norm(model.coef_, axis=1), 1)
    assert np.array_equal(model.predict(X), model.classes_[model.decision_function(X).argmax(axis=1)])
    assert model.held_out_error_ < model.error_bound_ < 0.5 and model.status_ == "rule-met"
    assert model.eta_.shape == model.gamma_.shape == model.distance_.shape == (3,)
    # Each halfspace is that of its class against the rest.
    for k, name in enumerate(model.classes_):
        alone = ml.MassartClassifier(learner, **known, fit_intercept=False).fit(X, y == name)
        assert np.allclose(alone.coef_ / np.linalg.norm(alone.coef_), model.coef_[k : k + 1]) and alone.eta_ == model.eta_[k]
    model.save(tmp_path / "model.mgn")
    assert np.array_equal(ml.load(tmp_path / "model.mgn").predict(X), model.predict(X))
    # The attributes of an earlier fit do not stay.
    binary = model.fit(X, y == "up")
    assert np.ndim(binary.eta_) == 0 and binary.coef_.shape == (1, 2)


def raw_table(flip=0.0):
    """Age, income and body mass index, of which the class depends on the first and the last."""
    rng = np.random.default_rng(1)
    X = np.column_stack([rng.normal(45, 15, 1500), rng.normal(50_000, 15_000, 1500), rng.normal(26, 5, 1500)])
    risk = (X[:, 0] - 45) / 15 + (X[:, 2] - 26) / 5
    X, risk = X[abs(risk) > 0.2], risk[abs(risk) > 0.2]
    return X, np.where((risk > 0) ^ (rng.random(len(X)) < flip), "ill", "well")


@pytest.mark.parametrize("estimator", [ml.MassartClassifier(), ml.FocusedClassifier(max_steps=400, outputs=9)], ids=repr)
def test_raw_tables_are_learned_standardised(estimator, tmp_path):
    X, y = raw_table()
    with pytest.warns(UserWarning, match="wrong on .*, and always predicting the larger class on .*standardize=True"):
        raw = estimator.fit(X, y)
    assert raw.score(X, y) < 0.7
    fitted = type(estimator)(**estimator.get_params() | {"standardize": True}).fit(X, y)
    assert fitted.score(X, y) > 0.93
    fitted.save(tmp_path / "model.json")
    assert np.array_equal(ml.load(tmp_path / "model.json").predict(X), fitted.predict(X))


@pytest.mark.parametrize("settings", [{}, {"learner": "kernel-perceptron:budget=90", "kernel": "gaussian:sigma=1"}, {"combine": "average"}, {"learner": "stump"}])
def test_games_of_several_classes(settings, tmp_path):
    X, y, _ = sectors(90)
    model = ml.FocusedClassifier(**settings, max_steps=3000).fit(X, y)
    assert model.status_ == "rule-met" or settings.get("learner") == "stump"
    assert model.score(X, y) == pytest.approx(1 - model.mean_loss_) and model.mean_loss_ < 0.1
    scores = model.decision_function(X)
    assert scores.shape == (90, 3) and np.array_equal(model.predict(X), model.classes_[scores.argmax(axis=1)])
    assert len(model.theorem_) == len(model.learner_) == 3 and model.seen_loss_.shape == (3,)
    # Every score is that of the class against the rest, with its share of delta.
    for k, name in enumerate(model.classes_):
        alone = ml.FocusedClassifier(**settings, max_steps=3000, delta=0.01 / 3).fit(X, y == name)
        assert np.allclose(alone.decision_function(X), scores[:, k]) and alone.theorem_ == model.theorem_[k]
    again = pickle.loads(pickle.dumps(model))
    assert np.array_equal(again.decision_function(X), scores)
    if settings.get("learner") == "stump":
        with pytest.raises(ValueError, match="stump"):
            model.save(tmp_path / "model.mgn")
        return
    assert model.model_.scheme == ("one-versus-rest" if "combine" in settings else "majority-versus-rest")
    model.save(tmp_path / "model.mgn")
    read = ml.load(tmp_path / "model.mgn")
    assert np.allclose(read.decision_function(X), scores) and np.array_equal(read.predict(X), model.predict(X))


@pytest.mark.parametrize(("combine", "scheme"), [("majority", "plurality"), ("average", "one-versus-rest"), ("last", "one-versus-rest")])
def test_one_game_of_several_classes(combine, scheme, tmp_path):
    X, y, _ = sectors(90)
    model = ml.FocusedClassifier(multi_class="joint", combine=combine, standardize=True, margin=0.05).fit(X, y)
    assert model.status_ == "rule-met" and model.max_loss_ == 0 and model.score(X, y) == 1 and model.model_.scheme == scheme
    # R counts the intercept, and features have been standardised.
    largest = (((X - X.mean(axis=0)) / X.std(axis=0)) ** 2).sum(axis=1).max()
    assert model.theorem_["mistakes"] == pytest.approx(2 * (largest + 1) / 0.05**2, rel=1e-9)
    scores = model.decision_function(X)
    assert scores.shape == (90, 3) and np.array_equal(model.predict(X), model.classes_[scores.argmax(axis=1)])
    if combine == "majority":
        # Shares of votes less those for other classes; the members are those of every voter in turn.
        voters = (X @ model.model_.coef.T + model.model_.intercept).reshape(90, -1, 3).argmax(axis=2)
        assert np.allclose(scores, 2 * (voters[:, :, None] == np.arange(3)).mean(axis=1) - 1)
    model.save(tmp_path / "model.mgn")
    for again in (ml.load(tmp_path / "model.mgn"), pickle.loads(pickle.dumps(model))):
        assert np.array_equal(again.decision_function(X), scores) and np.array_equal(again.predict(X), model.predict(X))


def test_one_game_of_two_classes_is_the_game_and_others_are_refused(two):
    X, y = two
    games = [ml.FocusedClassifier(multi_class=how, max_steps=500).fit(X, y) for how in ("ovr", "joint")]
    assert np.array_equal(games[0].decision_function(X), games[1].decision_function(X))
    X, y, _ = sectors(30)
    for settings, reason in [
        ({"multi_class": "ovo"}, "multi_class is 'ovo'"),
        ({"multi_class": "joint", "learner": "stump"}, "the learner stump"),
        ({"multi_class": "joint", "loss": "ramp"}, "the loss hinge"),
    ]:
        with pytest.raises(ValueError, match=reason):
            ml.FocusedClassifier(**settings).fit(X, y)


def test_majorities_are_models(two, tmp_path):
    X, y = two
    for settings in ({}, {"learner": "kernel-perceptron:budget=50", "kernel": "gaussian"}):
        vote = ml.FocusedClassifier(**settings, max_steps=500, outputs=7).fit(X, y)
        assert vote.model_.scheme == "majority" and vote.model_.coef.shape[0] == 7 and not hasattr(vote, "coef_")
        assert set(np.round(7 * vote.decision_function(X)).astype(int)) <= set(range(-7, 8, 2))
        vote.save(tmp_path / "vote.mgn")
        read = ml.load(tmp_path / "vote.mgn")
        assert np.array_equal(read.decision_function(X), vote.decision_function(X)) and np.array_equal(read.predict(X), vote.predict(X))
        assert not hasattr(read, "predict_proba")
    average = ml.FocusedClassifier(combine="average", max_steps=500).fit(X, y)
    assert average.coef_.shape == (1, X.shape[1])


def test_single_classifiers_of_a_game():
    X, y = clouds(100, 2)
    X += 20 * np.where(y, 1, -1)[:, None]
    last = ml.FocusedClassifier(combine="last").fit(X, y)
    assert last.coef_.shape == (1, X.shape[1]) and last.max_loss_ == 0 and last.theorem_["failure"] is None and not hasattr(last, "validation_")
    chosen = ml.FocusedClassifier(combine="validated", delta=0.1).fit(X, y)
    found = chosen.validation_
    assert found["rows"] == 20 and found["error"] == 0 and found["error_bound"] == pytest.approx(1 - (0.1 / found["candidates"]) ** (1 / 20))


def test_the_evidence_and_the_theorem_of_a_game():
    X, y = clouds(100, 2)
    X += 20 * np.where(y, 1, -1)[:, None]
    game = ml.FocusedClassifier(delta=0.05, margin=2.0, outputs=5000).fit(X, y)
    mistakes = (np.max(np.sum(X**2, axis=1)) + 1) / 4
    assert game.theorem_["mistakes"] == pytest.approx(mistakes)
    assert {"steps": game.theorem_["steps"], "outputs": game.theorem_["outputs"]} == bounds.focused_horizon(100, mistakes, delta=0.05)
    assert 0 <= game.mean_loss_ <= game.max_loss_ and 0 < game.seen_loss_ < 1 and game.loss_bound_ <= 1
    part = ml.FocusedClassifier(subsample="outliers=1,rare=20").fit(X, y)
    assert 0 < part.theorem_["subsample_failure"] <= 1
    uniform = ml.FocusedClassifier(player="uniform").fit(X, y)
    assert not hasattr(uniform, "loss_bound_") and uniform.theorem_["failure"] is None
    assert ml.FocusedClassifier(player="exp3p", max_steps=300).fit(X, y).n_iter_ <= 300
    refused = {"player": "random", "combine": "best", "delta": 0, "mistakes": -1, "margin": 0}
    for name, value in refused.items():
        with pytest.raises(ValueError, match=f"{name} is '?{value}'?, but must be"):
            ml.FocusedClassifier(**{name: value}).fit(X, y)
    with pytest.raises(ValueError, match="two forms of one bound"):
        ml.FocusedClassifier(mistakes=1, margin=1).fit(X, y)


def test_calculators_of_the_maximal_loss():
    slack = bounds.focused_horizon(50, 10.0, epsilon=0.1, delta=1e-3, slack=2.0)
    assert slack["steps"] > bounds.focused_horizon(50, 10.0, epsilon=0.1, delta=1e-3)["steps"]
    assert 9e-4 < bounds.focused_failure(50, 10.0, epsilon=0.1, slack=2.0, **slack) <= 1e-3
    with pytest.raises(ValueError, match="slack budget is -1"):
        bounds.focused_horizon(50, 10.0, slack=-1)
    horizon = bounds.focused_horizon(50, 10.0, epsilon=0.1, delta=1e-3)
    assert 0.9e-3 < bounds.focused_failure(50, 10.0, epsilon=0.1, **horizon) <= 1e-3
    assert bounds.focused_failure(50, 10.0, epsilon=0.1, steps=horizon["steps"] // 2, outputs=horizon["outputs"]) > 1e-3
    rng, n, outliers, rare, size = np.random.default_rng(0), 300, 2, 40, 30
    drawn = rng.integers(n, size=(20_000, size))
    few = 2 * n * np.sum((drawn >= outliers) & (drawn < outliers + rare), axis=1) < size * rare
    failed = np.mean(few | (drawn < outliers).any(axis=1))
    failure = bounds.subsample_failure(n, outliers, rare, size)
    assert abs(failed - failure["exact"]) < 4 * np.sqrt(failed / 20_000) and failure["exact"] <= failure["bound"] <= failure["published"]
    with pytest.raises(ValueError, match="the share of rare samples is 0.6"):
        bounds.typical_and_rare_samples(5, 2, epsilon=0.1, gap=0.5, rare=0.6)
    with pytest.raises(ValueError, match="the dimension is 20"):
        bounds.risk_bound(10, 20, 0.1)


def test_a_game_is_played_until_the_largest_loss_is_small():
    X, y = clouds(60, 2)
    X += 20 * np.where(y, 1, -1)[:, None]
    ramp = ml.FocusedClassifier(loss="ramp", epsilon=0.2).fit(X, y)
    assert ramp.max_loss_ <= 0.2 and ramp.consistent_at_ > 0 and ramp.status_ == "rule-met"
    with pytest.raises(ValueError, match="epsilon is 2, but must be between 0 and 1"):
        ml.FocusedClassifier(epsilon=2).fit(X, y)
    with pytest.raises(ValueError, match="no column has two values"):
        ml.FocusedClassifier("stump").fit(np.ones((4, 2)), [0, 1, 0, 1])


def test_gamma_has_the_units_of_the_features():
    rng = np.random.default_rng(2)
    X = rng.normal(size=(600, 2))
    y = X[:, 0] > 0
    fit = lambda **settings: ml.MassartClassifier("sgd", eta=0.1, gamma=0.2, fit_intercept=False, **settings).fit(X, y)
    assert fit().distance_ == pytest.approx(0.2 * np.linalg.norm(X, axis=1).max())
    assert not hasattr(fit(scale_rows="each"), "distance_")
    X[0] = 0
    assert fit().score(X, y) > 0.8 and fit(scale_rows="each").score(X, y) > 0.8
    with pytest.raises(ValueError, match="scale_rows is 'none', but must be 'largest' or 'each'"):
        fit(scale_rows="none")


@pytest.mark.parametrize("learner", ["perceptron", "stump", "mlp:hidden=4", "kernel-perceptron:budget=50"])
def test_games_with_any_learner(learner, two, tmp_path):
    X, y = two
    kernel = "gaussian" if learner.startswith("kernel") else None
    settings = {"learner": learner, "kernel": kernel, "max_steps": 2000, "outputs": 9}
    whole = ml.FocusedClassifier(**settings).fit(X, y)
    assert len(whole.ensemble_) == 9 and whole.score(X, y) > 0.6
    again = pickle.loads(pickle.dumps(whole))
    assert np.array_equal(again.decision_function(X), whole.decision_function(X))
    parts = ml.FocusedClassifier(**settings, checkpoint=tmp_path / "game", pause_at=700).fit(X, y)
    assert not parts.finished_ or hasattr(parts, "consistent_at_")
    parts.set_params(pause_at=None).fit(X, y)
    assert np.array_equal(parts.decision_function(X), whole.decision_function(X)) and parts.n_iter_ == whole.n_iter_


@pytest.mark.parametrize("objective", ["catoni:alpha=1", "median-of-means:blocks=5"])
def test_robust_objectives_withstand_outliers(objective):
    X, y = clouds(100, 2, seed=2, features=2)
    X[:4] *= -400
    robust = ml.RobustClassifier(objective, "logistic").fit(X, y)
    assert robust.score(X[4:], y[4:]) > 0.75 and not hasattr(robust, "dual_gap_")


@pytest.mark.parametrize("loss", ["hinge", "logistic", "lhs"])
@pytest.mark.parametrize("objective", ["catoni:alpha=1", "catoni:alpha=0.1", "median-of-means:blocks=11"])
def test_a_descent_ends_by_its_rule_or_warns(objective, loss):
    X, y = clouds(300, 2)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert ml.RobustClassifier(objective, loss).fit(X, y).status_ == "rule-met"
    if objective.startswith("catoni"):
        with pytest.warns(ConvergenceWarning, match="ended early.*max_iter"):
            short = ml.RobustClassifier(objective, loss, max_iter=2).fit(X, y)
        assert short.status_ == "iteration-limit"


def test_works_inside_scikit_learn(three):
    X, y = three
    pipeline = make_pipeline(StandardScaler(), ml.MarginClassifier("logistic"))
    grid = GridSearchCV(pipeline, {"marginclassifier__C": [0.01, 1.0]}, n_jobs=2).fit(X, y)
    assert grid.best_score_ > 0.5
    assert cross_val_score(ml.MarginClassifier(kernel="gaussian"), X, y, n_jobs=2).mean() > 0.5
    calibrated = CalibratedClassifierCV(ml.MarginClassifier("hinge"), cv=3).fit(X, y)
    assert calibrated.predict_proba(X).shape == (150, 3)


@pytest.mark.parametrize("dump", [lambda m, p: p.write_bytes(pickle.dumps(m)), joblib.dump])
def test_dumps_predict_alike(dump, three, tmp_path):
    X, y = three
    model = ml.MarginClassifier("logistic", kernel="gaussian").fit(X, np.array(["a", "b", "c"])[y])
    dump(model, tmp_path / "model")
    read = joblib.load(tmp_path / "model") if dump is joblib.dump else pickle.loads((tmp_path / "model").read_bytes())
    assert np.array_equal(read.predict_proba(X), model.predict_proba(X))
    damaged = bytearray(model.model_.to_bytes())
    damaged[40] ^= 1
    with pytest.raises(ValueError, match="checksum|model file"):
        type(model.model_).from_bytes(bytes(damaged))


@pytest.mark.parametrize("name", ["model.json", "model.bin"])
@pytest.mark.parametrize("kernel", [None, "gaussian"])
def test_files_predict_alike(name, kernel, three, tmp_path):
    X, y = three
    model = ml.MarginClassifier("logistic", 3.0, kernel, probability="platt").fit(X, y)
    model.save(tmp_path / name)
    read = ml.load(tmp_path / name)
    assert np.array_equal(read.predict(X), model.predict(X)) and read.classes_.dtype.kind == "i"
    assert np.array_equal(read.predict_proba(X), model.predict_proba(X)) and read.C == pytest.approx(3.0)
    with pytest.raises(FileNotFoundError, match="nowhere"):
        ml.load(tmp_path / "nowhere.json")


def test_threads_and_orders_change_nothing(three):
    X, y = three
    fits = [ml.MarginClassifier("logistic", n_jobs=jobs).fit(x, y) for jobs in (1, 2, -1) for x in (X, np.asfortranarray(X))]
    assert all(np.array_equal(fit.coef_, fits[0].coef_) for fit in fits)


def test_a_bound_on_memory_changes_how_a_kernel_is_fitted_and_not_the_fit(two):
    X, y = two
    held = ml.MarginClassifier("logistic", kernel="gaussian:sigma=1").fit(X, y)
    computed = ml.MarginClassifier("logistic", kernel="gaussian:sigma=1", memory=1000).fit(X, y)
    assert computed.status_ == "converged" and held.lower_bound_ <= computed.objective_ <= held.objective_ * (1 + 1e-6)
    path = ml.MarginPath("hinge", Cs=[0.1, 1.0], kernel="gaussian", memory="1kB").fit(X, y)
    assert (path.statuses_ == "converged").all()
    assert ml.MarginClassifierCV("hinge", Cs=[1.0], kernels="gaussian", memory="1kB", cv=2).fit(X, y).status_ == "converged"
    for settings, words in [
        ({"memory": "2GB"}, "memory 2 GB cannot be combined with a linear classifier"),
        ({"memory": "2GB", "kernel": "gaussian", "approximation": "nystrom:m=5"}, "memory 2 GB cannot be combined with approximation nystrom"),
        ({"memory": "2GB", "kernel": lambda A, B: A @ B.T}, "memory 2 GB cannot be combined with kernel precomputed"),
        ({"memory": 2 * 10**9}, "memory 2 GB cannot be combined with a linear classifier"),
        ({"memory": "2 gigs", "kernel": "gaussian"}, "memory is '2 gigs': '2 gigs' is no amount of memory"),
        ({"memory": -1, "kernel": "gaussian"}, "memory is -1: '-1B' is no amount of memory"),
    ]:
        with pytest.raises(ValueError, match=words):
            ml.MarginClassifier(**settings).fit(X, y)


EXACT = ["exact_objective_", "exact_lower_bound_", "exact_dual_gap_", "exact_relative_gap_"]


def test_fits_on_nystrom_features_are_certified_for_the_kernel_itself(two):
    X, y = two
    of_kernel = ml.MarginClassifier("logistic", kernel="gaussian:sigma=1").fit(X, y)
    model = ml.MarginClassifier("logistic", kernel="gaussian:sigma=1", approximation="nystrom:m=20", certify_exact=True).fit(X, y)
    assert model.exact_lower_bound_ <= of_kernel.objective_ and of_kernel.lower_bound_ <= model.exact_objective_
    assert model.exact_objective_ == pytest.approx(model.objective_, rel=1e-9)
    assert model.exact_dual_gap_ == pytest.approx(model.exact_objective_ - model.exact_lower_bound_)
    # Features that are few are some way from the kernel.
    assert model.exact_relative_gap_ > 10 * model.relative_gap_
    model.set_params(certify_exact=False).fit(X, y)
    assert not any(hasattr(model, name) for name in EXACT)
    with pytest.raises(ValueError, match="certify_exact cannot be combined with approximation none"):
        ml.MarginClassifier(kernel="gaussian", certify_exact=True).fit(X, y)


def test_searches_paths_and_several_classes_are_certified_for_the_kernel_itself(two, three):
    settings = {"approximation": "nystrom:m=20", "certify_exact": True}
    search = ml.MarginClassifierCV("logistic", Cs=[0.1, 1.0], kernels=["gaussian"], cv=3, **settings).fit(*two)
    assert 0 < search.exact_relative_gap_ < 1
    path = ml.MarginPath("logistic", Cs=[0.1, 1.0], kernel="gaussian", **settings).fit(*three)
    assert path.exact_relative_gaps_.shape == (2, 3) and (path.exact_lower_bounds_ <= path.exact_objectives_).all()
    np.testing.assert_allclose(path.exact_dual_gaps_, path.exact_objectives_ - path.exact_lower_bounds_)
    several = ml.MarginClassifier("logistic", kernel="gaussian", **settings).fit(*three)
    np.testing.assert_allclose(several.exact_objective_, path.exact_objectives_[1], rtol=1e-6)
    assert all(getattr(several, name).shape == (3,) for name in EXACT)


@pytest.mark.parametrize("kernels", ["precomputed", ["precomputed"]])
def test_a_search_on_a_kernel_matrix_is_one_on_its_kernel(kernels, two, tmp_path):
    X, y = two
    K = np.exp(-0.5 * ((X[:, None] - X[None]) ** 2).sum(axis=2))
    folds = StratifiedKFold(3)
    search = ml.MarginClassifierCV("logistic", Cs=[0.1, 1.0], kernels=kernels, cv=folds).fit(K, y)
    named = ml.MarginClassifierCV("logistic", Cs=[0.1, 1.0], kernels="gaussian:sigma=0.5", cv=folds).fit(X, y)
    np.testing.assert_allclose(search.errors_, named.errors_)
    np.testing.assert_allclose(search.dual_coef_, named.dual_coef_, atol=1e-6)
    assert not hasattr(search, "coef_")
    np.testing.assert_allclose(cross_val_score(search, K, y, error_score="raise"), cross_val_score(named, X, y))
    with pytest.raises(ValueError, match="pickle the estimator"):
        search.save(tmp_path / "model.json")
    with pytest.raises(ValueError, match="The kernel is 'precomputed', which ONNX cannot express"):
        ml.to_onnx(search)
    with pytest.raises(ValueError, match="belongs to one kernel"):
        ml.MarginClassifierCV(kernels=["precomputed", "linear"]).fit(K, y)


def test_platt_scaling_says_what_it_could_not_do():
    X, y = np.arange(20.0)[:, None] * 7 % 20, np.array([0, 1, 0, 0, 0, 0, 0] * 3)[:20]
    few = "The Platt scaling takes 3 folds instead of 5: class '1' has 3 rows"
    for classifier in (ml.MarginClassifier("hinge", probability="platt"), ml.MarginClassifierCV("hinge", Cs=[1.0], cv=3, probability="platt")):
        with pytest.warns(UserWarning, match=few):
            classifier.fit(X, y)
    # Each of four groups has as many rows of one class as of the other: what is held out leaves more of the other class to learn from.
    rows = np.arange(40)
    groups, halves = np.eye(4)[rows % 4], rows // 4 % 2
    with pytest.warns(UserWarning, match="The Platt scaling of '1' against '0' gives every sample the same probability"):
        flat = ml.MarginClassifier("logistic", C=100.0, probability="platt").fit(groups, halves)
    assert np.ptp(flat.predict_proba(groups)[:, 1]) < 1e-9


def test_scores_of_several_classes_are_held_for_some_rows_at_a_time(monkeypatch):
    random = np.random.default_rng(3)
    y = np.arange(300) % 12
    X = random.normal(size=(300, 2)) + y[:, None]
    classifier = ml.MarginClassifier("logistic", multi_class="ovo").fit(X, y)
    methods = ("predict", "decision_function", "predict_proba")
    whole = [getattr(classifier, method)(X) for method in methods]
    most, cut = 8 * 66 * 50, _inputs.cut
    rows = []
    monkeypatch.setattr(_inputs, "_BLOCK_BYTES", most)
    monkeypatch.setattr(_inputs, "cut", lambda part, start, stop: rows.append(stop - start) or cut(part, start, stop))
    for matrix in (X, sparse.csr_array(X)):
        for method, expected in zip(methods, whole):
            assert getattr(classifier, method)(matrix) == pytest.approx(expected, rel=1e-12)
    assert max(rows) == 50


def test_what_the_proof_needs_is_calculated():
    plan = ml.massart.plan(0.3, 0.05)
    assert (plan.steps, plan.candidates, plan.held_out, plan.rows) == (392_279_560, 214, 32_492, 392_312_052)
    assert plan.step == 0.05**2 * 0.025 / 8 and plan.proven_epsilon is None
    assert ml.massart.plan(0.3, 0.05, samples=plan.rows).proven_epsilon == pytest.approx(0.05, rel=1e-9)
    assert ml.massart.plan(0.3, 0.05, samples=plan.rows - 1).proven_epsilon > 0.05
    assert ml.massart.plan(0.3, 0.05, plan="practical").steps == 119_830
    assert ml.massart.plan(0.3, 0.05, samples=1000).proven_epsilon is None
    X = np.random.default_rng(1).normal(size=(2000, 3))
    timed, easy = ml.massart.plan(0.3, 0.05, X=X), ml.massart.plan(0, 0.9, 0.9, 0.9, X=X)
    assert plan.seconds is None and timed.seconds > 0
    # The samples that are measured are those available.
    assert easy.proven_epsilon == ml.massart.plan(0, 0.9, 0.9, 0.9, samples=len(X)).proven_epsilon > 0
    cuts = ml.massart.cut_plan(0.1, 0.5, None, 0.4, 0.1, X=X)
    assert cuts.calls == ml.massart.cut_plan(0.1, 0.5, 4, 0.4, 0.1).calls
    with pytest.raises(ValueError, match="features is 3, but X has 4 with an intercept"):
        ml.massart.cut_plan(0.1, 0.5, 3, X=X)
    with pytest.raises(ValueError, match="Pass features, or X to take their number from"):
        ml.massart.cut_plan(0.1, 0.5)
    with pytest.raises(ValueError, match="X has 1 row, but must have two or more"):
        ml.massart.plan(0.3, 0.05, X=X[:1])
    assert cuts.seconds > 0
    with pytest.raises(ValueError, match="eta is 0.5, but must be at least 0"):
        ml.massart.plan(0.5, 0.05)
    with pytest.raises(ValueError, match="plan is 'best', but must be 'practical' or 'proven'"):
        ml.massart.plan(0.3, 0.05, plan="best")


def test_halfspaces_are_learned_by_the_proven_plan():
    rng = np.random.default_rng(3)
    X = rng.normal(size=(9000, 2))
    X /= np.linalg.norm(X, axis=1)[:, None]
    X = X[abs(X[:, 0]) > 0.6]
    y = (X[:, 0] > 0) ^ (rng.random(len(X)) < 0.05)
    known = {"eta": 0.05, "gamma": 0.6, "epsilon": 0.4, "delta": 0.3, "plan": "proven", "fit_intercept": False}
    with pytest.warns(UserWarning, match=f"guarantee for .* fresh samples, and there are {len(X)}"):
        model = ml.MassartClassifier("sgd", **known).fit(X, y)
    assert model.n_iter_ == ml.massart.plan(0.05, 0.6, 0.4, 0.3).steps and model.score(X, X[:, 0] > 0) > 0.9
    # Samples of weight 0 are no fresh samples.
    weights = np.arange(len(X)) % 3 > 0
    with pytest.warns(UserWarning, match=f"fresh samples, and there are {weights.sum()}"):
        ml.MassartClassifier("sgd", **known).fit(X, y, sample_weight=weights)
    with pytest.raises(ValueError, match="'proper', which does not use plan"):
        ml.MassartClassifier("proper", eta=0.1, gamma=0.1, plan="proven").fit(X, y)


def test_cutting_planes_take_fresh_samples():
    noisy = ml.massart.simulate(3, 0.5, 0.1, "far", points=200, samples=100_000)
    known = {"eta": 0.1, "gamma": 0.5, "delta": 0.1, "fit_intercept": False}
    plan = ml.massart.cut_plan(0.1, 0.5, 3, 0.4, 0.1)
    assert (plan.calls, plan.rows_per_call, plan.rows) == (51, 31_206, 51 * 31_206 + 15)
    model = ml.MassartClassifier("cuts", epsilon=0.4, plan="proven", **known).fit(noisy.X, noisy.y)
    assert model.status_ == "rule-met" and 2 <= model.n_iter_ <= plan.calls
    assert noisy.error(model) <= 0.1 + 0.6 * 0.4
    with pytest.warns(UserWarning, match="fresh samples, and there are 100000"):
        ml.MassartClassifier("cuts", epsilon=0.01, plan="proven", **known).fit(noisy.X, noisy.y)
    fewer = ml.massart.cut_plan(0.1, 0.5, 3, 0.4, 0.1, localization="analytic-centre", max_calls=10)
    assert fewer.calls == 10 and fewer.rows_per_call < plan.rows_per_call
    calls = {name: ml.MassartClassifier("cuts", localization=name, max_calls=2, epsilon=1e-3, **known).fit(noisy.X, noisy.y) for name in ("ellipsoid", "analytic-centre")}
    assert all(model.n_iter_ == 2 for model in calls.values())
    with pytest.raises(ValueError, match="localization is 'centre', but must be 'analytic-centre' or 'ellipsoid'"):
        ml.MassartClassifier("cuts", localization="centre", **known).fit(noisy.X, noisy.y)
    with pytest.raises(ValueError, match="'sgd', which does not use max_calls"):
        ml.MassartClassifier("sgd", max_calls=9, **known).fit(noisy.X, noisy.y)
    with pytest.raises(ValueError, match="theorem B.3 is for the features as they are"):
        ml.MassartClassifier("cuts", plan="proven", project=2, **known).fit(noisy.X, noisy.y)
    with pytest.raises(ValueError, match="max_calls is 1"):
        ml.massart.cut_plan(0.1, 0.5, 3, max_calls=1)


def test_algorithm_1_takes_numbers_of_ones_own():
    noisy = ml.massart.simulate(3, 0.2, 0.1, "far", points=200, samples=1000)
    known = {"eta": 0.1, "gamma": 0.2, "steps": 300, "held_out": 50}
    fit = lambda **more: ml.MassartClassifier("sgd", **known | more).fit(noisy.X, noisy.y)
    every, some = fit(candidates="all"), fit(candidates=5)
    assert every.n_iter_ == some.n_iter_ == 300 and every.held_out_error_ <= some.held_out_error_
    # The bound counts 301 candidates, and 6 of the shorter list.
    assert round(50 * every.held_out_error_, 9).is_integer() and every.error_bound_ > every.held_out_error_
    still = fit(candidates="all", step=1e-12, fit_intercept=False)
    assert still.coef_[0] / np.linalg.norm(still.coef_) == pytest.approx([1, 0, 0], abs=1e-6)
    with pytest.raises(ValueError, match="100000000000000 candidates of 4 coefficients do not fit in memory.*Keep fewer candidates"):
        fit(candidates="all", steps=10**14 - 1)
    for wrong in ("some", 0):
        with pytest.raises(ValueError, match="candidates is .*, 'all' or a number of at least 1"):
            fit(candidates=wrong)
    with pytest.raises(ValueError, match="plan is 'proven', which has the numbers of the proof: leave out steps"):
        fit(plan="proven")
    with pytest.raises(ValueError, match="'cuts', which does not use candidates"):
        ml.MassartClassifier("cuts", eta=0.1, gamma=0.2, candidates="all").fit(noisy.X, noisy.y)


def test_earlier_learners_of_halfspaces_are_there_to_compare():
    rng = np.random.default_rng(1)
    X = rng.normal(size=(3000, 3))
    X = X[abs(X[:, 0]) > 0.4]
    y = (X[:, 0] > 0) ^ (rng.random(len(X)) < 0.1)
    models = {name: ml.MassartClassifier(name, eta=0.15, gamma=0.05).fit(X, y) for name in ("perceptron", "leaky-relu", "proper")}
    assert models["leaky-relu"].score(X, X[:, 0] > 0) > 0.9 and models["proper"].score(X, X[:, 0] > 0) > 0.8
    assert models["perceptron"].n_iter_ == ml.massart.plan(0.15, 0.05, plan="practical").steps
    assert all(model.held_out_error_ < model.error_bound_ for model in models.values())
    assert models["perceptron"].model_.loss == "leaky-relu:lambda=0" and models["proper"].model_.loss == "leaky-relu:lambda=0.15"
    with pytest.raises(ValueError, match="eta is 0, but must be greater than 0 for the LeakyReLU loss"):
        ml.MassartClassifier("leaky-relu", eta=0.0, gamma=0.05).fit(X, y)
    with pytest.raises(ValueError, match="'proper', which does not use project"):
        ml.MassartClassifier("proper", eta=0.1, gamma=0.05, project=2).fit(X, y)


def test_the_lowest_error_in_the_plane_is_found():
    noisy = ml.massart.simulate(2, 0.1, 0.3, "trap", samples=20_000)
    known = {"eta": 0.3, "gamma": 0.1, "fit_intercept": False}
    best = ml.MassartClassifier("plane", **known).fit(noisy.X, noisy.y)
    assert noisy.opt - 1e-12 <= noisy.error(best) < noisy.opt + 0.01 and noisy.error(best) <= best.error_bound_
    # A threshold of one feature is a halfspace of the plane.
    x = np.arange(100.0)[:, None]
    stump = ml.MassartClassifier("plane", eta=0.1, gamma=0.01, scale_rows="each").fit(x, (x[:, 0] > 40) ^ (x[:, 0] % 25 == 3))
    assert stump.training_error_ <= 0.06 and 37 < -stump.intercept_[0] / stump.coef_[0, 0] < 45
    with pytest.raises(ValueError, match="lowest 0-1 error is in the plane, and there are 3 features with the intercept"):
        ml.MassartClassifier("plane", eta=0.3, gamma=0.1).fit(noisy.X, noisy.y)


def test_decision_lists_are_models(tmp_path):
    # The noise near the boundary is above the rate given: the first rule leaves it to others.
    noisy = ml.massart.simulate(3, 0.2, 0.3, "near", points=500, samples=4000, random_state=2)
    known = {"eta": 0.07, "gamma": 0.2, "epsilon": 0.1, "fit_intercept": False}
    model = ml.MassartClassifier("partition", **known).fit(noisy.X, noisy.y)
    assert noisy.error(model) <= min(0.4, model.error_bound_)
    # The first rule whose score reaches its threshold decides.
    assert len(model.thresholds_) == len(model.coef_) > 1 and model.thresholds_[-1] == 0
    scores = noisy.X @ model.coef_.T / np.linalg.norm(noisy.X, axis=1).max()
    decides = (abs(scores) >= model.thresholds_).argmax(axis=1)
    assert np.allclose(model.decision_function(noisy.X), scores[np.arange(4000), decides])
    assert model.score(noisy.X, noisy.y) == pytest.approx(1 - model.training_error_)
    model.save(tmp_path / "model.mgn")
    for again in (ml.load(tmp_path / "model.mgn"), pickle.loads(pickle.dumps(model))):
        assert np.array_equal(again.decision_function(noisy.X), model.decision_function(noisy.X))
        assert np.array_equal(again.thresholds_, model.thresholds_)
    assert not hasattr(model, "predict_proba")
    with pytest.raises(AttributeError, match="thresholds_ is read-only"):
        model.thresholds_ = np.zeros(2)
    with pytest.raises(ValueError, match="several classes"):
        ml.MassartClassifier("partition", **known).fit(noisy.X, np.arange(4000) % 3)
    with pytest.raises(ValueError, match="divide by the largest norm"):
        ml.MassartClassifier("partition", **known, standardize=True, scale_rows="each").fit(noisy.X, noisy.y)
    assert not hasattr(model.set_params(learner="sgd").fit(noisy.X, noisy.y), "thresholds_")


def test_simulated_halfspaces_have_exact_errors(tmp_path):
    noisy = ml.massart.simulate(5, 0.1, 0.3, "far", points=300, samples=5000, random_state=7)
    assert noisy.X.shape == (5000, 5) and noisy.points.shape == (300, 5) and set(noisy.y) == {-1.0, 1.0}
    assert np.allclose(np.linalg.norm(noisy.points, axis=1), 1) and abs(noisy.points @ noisy.normal).min() >= 0.1 - 1e-12
    assert np.array_equal(np.sign(noisy.points @ noisy.normal), noisy.clean) and set(noisy.rates) == {0.0, 0.3}
    far = abs(noisy.points @ noisy.normal) >= np.median(abs(noisy.points @ noisy.normal))
    assert np.mean((noisy.rates == 0.3) == far) > 0.98 and noisy.opt == pytest.approx(0.15, abs=0.005)
    best = type("Best", (), {"predict": lambda self, X: np.sign(X @ noisy.normal)})()
    assert noisy.error(best) == pytest.approx(noisy.opt)
    model = ml.MassartClassifier("sgd", eta=0.3, gamma=0.1).fit(noisy.X, noisy.y)
    assert noisy.opt - 1e-12 <= noisy.error(model) <= min(0.35, model.error_bound_)
    assert abs(noisy.error(model) - (1 - model.score(noisy.X, noisy.y))) < 0.03
    again = ml.massart.simulate(5, 0.1, 0.3, "far", points=300, samples=5000, random_state=7)
    assert np.array_equal(noisy.X, again.X) and np.array_equal(noisy.y, again.y)
    with pytest.raises(ValueError, match="the adversary is .*devil.*, but must be random, far, near, greedy or trap"):
        ml.massart.simulate(adversary="devil")
    with pytest.raises(ValueError, match="the noise bound is 0.5"):
        ml.massart.simulate(eta=0.5)


def test_the_noise_is_audited():
    noisy = ml.massart.simulate(5, 0.3, 0.2, samples=3000, random_state=2)
    audit = ml.massart.audit(noisy.X, noisy.y, 0.3, fit_intercept=False)
    assert 0.05 < audit.eta_bound < audit.flipped < 0.25
    flipped = noisy.y != np.sign(noisy.X @ noisy.normal)
    assert audit.flipped <= flipped.mean() and flipped[audit.suspects[:100]].mean() > 0.9
    assert (np.diff(audit.terms) <= 0).all() and len(audit.terms) == len(audit.suspects)
    clean = ml.massart.audit(noisy.X, np.sign(noisy.X @ noisy.normal), 0.3, fit_intercept=False)
    assert clean.eta_bound == 0 and clean.flipped == 0
    half = np.arange(3000) < 1500
    weighted = ml.massart.audit(noisy.X, noisy.y, 0.3, fit_intercept=False, sample_weight=half)
    assert weighted.suspects.max() < 1500 and weighted.eta_bound == ml.massart.audit(noisy.X[half], noisy.y[half], 0.3, fit_intercept=False).eta_bound
    # Objects of arrays are equal to themselves alone.
    assert audit == audit and audit != clean and noisy == noisy and len({audit, clean, noisy}) == 3
    with pytest.raises(ValueError, match="gamma is 1, but must be strictly between 0 and 1"):
        ml.massart.audit(noisy.X, noisy.y, 1.0)
    with pytest.raises(ValueError, match="delta is 0, but must be strictly between 0 and 1"):
        ml.massart.audit(noisy.X, noisy.y, 0.3, 0.0)


def test_leave_one_out_bounds_hold_the_errors_of_refits(two):
    X, y = two[0][:40], two[1][:40]
    fitted = ml.MarginClassifier("lhs", 10.0, "gaussian:sigma=0.5", fit_intercept=False).fit(X, y)
    lower, upper = fitted.leave_one_out_bounds_
    n = len(y)
    # A row of weight 0 leaves n and lambda as they are.
    wrong = 0
    for k in range(n):
        weight = np.ones(n)
        weight[k] = 0.0
        without = ml.MarginClassifier("lhs", 10.0, "gaussian:sigma=0.5", fit_intercept=False).fit(X, y, weight)
        wrong += int(without.predict(X[k : k + 1])[0] != y[k])
    assert lower <= wrong / n <= upper < 1.0
    search = ml.MarginClassifierCV(Cs=[0.1, 10.0], fit_intercept=False).fit(X, y)
    assert 0.0 <= search.leave_one_out_bounds_[0] <= search.leave_one_out_bounds_[1] <= 1.0
    assert not hasattr(fitted.set_params(fit_intercept=True).fit(X, y), "leave_one_out_bounds_")
    with pytest.raises(AttributeError, match="leave_one_out_bounds_ is read-only"):
        search.leave_one_out_bounds_ = (0.0, 0.0)


@pytest.mark.parametrize("kernel", [None, "gaussian:sigma=0.5"])
def test_duals_solve_the_problems_of_lemmas_1_and_2(kernel):
    X, y = clouds(60, 2)
    fitted = ml.MarginClassifier("lhs", C=0.5, kernel=kernel, tol=1e-12, keep_duals=True).fit(X, y)
    form, signs = fitted.constrained_form_, np.where(y == fitted.classes_[1], 1, -1)
    sigma, d, eta, C = form["multipliers"], form["distances"], form["slacks"], form["norm"]
    margins = signs * fitted.decision_function(X)
    assert fitted.duals_ == pytest.approx(1 / np.maximum(margins, 1), abs=1e-4)
    assert sigma == pytest.approx(C * fitted.duals_) and margins / C + eta == pytest.approx(d, abs=1e-6)
    assert sigma @ signs == pytest.approx(0, abs=1e-8) and sigma * d == pytest.approx(1, abs=1e-3)
    assert form["primal"] == pytest.approx((C * eta - np.log(d)).sum(), rel=1e-8)
    if kernel is None:
        direction = X.T @ (signs * sigma)
        assert form["dual"] - len(y) == pytest.approx(np.log(sigma).sum() - np.linalg.norm(direction), rel=1e-8)
        assert direction / np.linalg.norm(direction) * C == pytest.approx(fitted.coef_[0], abs=1e-3)
    assert form["primal"] == pytest.approx(form["dual"], rel=1e-5) and form["gap"] >= 0
    assert (form["norm_by_duals"], form["intercept_by_duals"]) == pytest.approx((C, fitted.intercept_[0]), abs=1e-2)
    assert form["balance"] < 1e-8 and form["direction"] < 1e-2 and form["slackness"] < 1e-6
    again = fitted.set_params(keep_duals=False).fit(X, y)
    assert not hasattr(again, "duals_") and not hasattr(again, "constrained_form_")


def test_every_member_has_duals_one_versus_rest():
    X, y = clouds(60, 3)
    fitted = ml.MarginClassifier("hinge", multi_class="ovr", keep_duals=True).fit(X, y)
    assert fitted.duals_.shape == (3, 60) and len(fitted.constrained_form_) == 3
    assert fitted.duals_.min() >= 0 and fitted.duals_.max() <= 1
    with pytest.raises(ValueError, match='one-versus-one: take multi_class="ovr", whose'):
        ml.MarginClassifier("hinge", keep_duals=True).fit(X, y)
    with pytest.raises(ValueError, match="keep_duals"):
        ml.MarginClassifier("logistic", C=np.inf, keep_duals=True).fit(X, y == 0)


@pytest.mark.parametrize("loss", ["lhs", "hinge"])
def test_duals_of_paths_and_searches_are_those_of_their_fits(loss):
    X, y = clouds(60, 2)
    grid = [0.05, 0.5]
    path = ml.MarginPath(loss, Cs=grid, tol=1e-10, keep_duals=True).fit(X, y)
    search = ml.MarginClassifierCV(loss, Cs=grid, tol=1e-10, keep_duals=True).fit(X, y)
    fits = {C: ml.MarginClassifier(loss, C=C, tol=1e-10, keep_duals=True).fit(X, y) for C in path.Cs_}
    expected = np.array([fits[C].duals_ for C in path.Cs_])
    # The duals of the leaky hockey stick are unique; those of the hinge give unique coefficients.
    signs = np.where(y == path.classes_[1], 1, -1)
    assert (path.duals_ * signs) @ X == pytest.approx((expected * signs) @ X, abs=1e-3)
    assert (search.duals_ * signs) @ X == pytest.approx((fits[search.best_C_].duals_ * signs) @ X, abs=1e-3)
    assert search.constrained_form_["norm"] == pytest.approx(np.linalg.norm(search.coef_))
    norms = np.linalg.norm(path.coefs_[:, 0], axis=1)
    assert [form["norm"] for form in path.constrained_forms_] == pytest.approx(norms)
    assert not hasattr(ml.MarginPath(loss, Cs=grid).fit(X, y), "duals_")
    three, labels = clouds(60, 3)
    path = ml.MarginPath(loss, Cs=grid, multi_class="ovr", keep_duals=True).fit(three, labels)
    assert path.duals_.shape == (2, 3, 60) and len(path.constrained_forms_[1]) == 3


def test_margin_pursuit_says_where_its_margins_are():
    X, y = clouds(80, 2)
    loss = "margin-pursuit:gamma=1,scale=2"
    fitted = ml.MarginClassifier(loss).fit(X, y)
    margins = np.where(y == fitted.classes_[1], 1, -1) * fitted.decision_function(X)
    found = ml.calibration.margin_location(margins, 1, 2)
    named = dict(fitted.margin_location_)
    assert named.pop("interval") == pytest.approx(found.interval)
    assert named == pytest.approx({name: value for name, value in vars(found).items() if name != "interval"})
    assert found.estimate == pytest.approx(ml.calibration.location(margins, 2).estimate)
    assert found.attained == (abs(found.estimate - 1) <= 0.1)
    path = ml.MarginPath(loss, Cs=[0.1, 1.0]).fit(X, y)
    assert path.margin_locations_[np.argmax(path.Cs_)]["estimate"] == pytest.approx(found.estimate, rel=1e-2)
    assert not hasattr(ml.MarginClassifier("logistic").fit(X, y), "margin_location_")
    with pytest.raises(ValueError, match="gamma is 0"):
        ml.calibration.margin_location(margins, 0, 2)
    weights = np.r_[np.ones(60), np.zeros(20)]
    assert ml.calibration.margin_location(margins, 1, 2, sample_weight=weights).mean == pytest.approx(margins[:60].mean())


def test_all_best_intercepts_are_named_where_there_are_several():
    X, y = [[-1.0], [1.0], [-1.0], [1.0]], [0, 0, 1, 1]
    fitted = ml.MarginClassifier("lhs").fit(X, y)
    assert fitted.best_intercepts_ == pytest.approx([-1, 1], abs=1e-6)
    assert not hasattr(fitted.set_params(loss="logistic").fit(X, y), "best_intercepts_")


@pytest.mark.parametrize("loss", ["lhs", "l-r:r=3"])
def test_the_limit_of_separable_classes_is_the_direction_of_fits(loss):
    X, _ = clouds(40, 2)
    y = np.where(X[:, 0] + 0.5 * X[:, 1] > 0, 1, 0)
    limit = ml.separable_limit(X, y, loss)
    path = ml.MarginPath(loss, lambdas=limit["first_lambda"] * np.array([0.5, 0.01]), fit_intercept=False, tol=1e-12).fit(X, y)
    for coef in path.coefs_[:, 0]:
        assert coef / np.linalg.norm(coef) == pytest.approx(limit["coef"], abs=1e-4)
    assert limit["relative_gap"] < 1e-8 and limit["least_margin"] > 0
    one = ml.separable_limit(X, y, loss, q=1.0, sample_weight=np.arange(1.0, len(y) + 1))
    assert np.abs(one["coef"]).sum() == pytest.approx(1)
    with pytest.raises(ValueError, match="no direction through the origin separates"):
        ml.separable_limit(X, 1 - 2 * (X[:, 0] > 1), loss)
    with pytest.raises(ValueError, match="q is 0.5"):
        ml.separable_limit(X, y, loss, q=0.5)
def test_the_reweighted_loss_is_that_of_the_paper():
    noisy = ml.massart.simulate(4, 0.2, 0.3, "far", points=200, samples=3000)
    best, other = noisy.X @ noisy.normal, noisy.X @ [0.5, -0.5, 0.5, 0.5]
    loss = lambda scores, reference: ml.massart.reweighted_loss(scores, reference, noisy.y, 0.3, 0.2)
    assert loss(best, best).mean() == pytest.approx((np.sign(best) != noisy.y).mean() - 0.3)
    wrong = np.where(np.where(best >= 0, 1, -1) != noisy.y, 0.7, -0.3)
    np.testing.assert_allclose(loss(best, other), wrong * abs(best) / np.maximum(abs(other), 0.1), rtol=1e-12)
    assert loss(best, other).mean() < 0
    with pytest.raises(ValueError, match="-1 and 1"):
        ml.massart.reweighted_loss([1.0], [1.0], [0])
