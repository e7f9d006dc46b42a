"""What code for scikit-learn's classifiers expects of ours: names, parameters, attributes, callbacks and files."""

import ast
import copy
import inspect
import pickle
import re

import numpy as np
import polars as pl
import pytest
from scipy import stats
from sklearn import callback as callbacks
from sklearn.base import clone
from sklearn.compose import ColumnTransformer
from sklearn.ensemble import BaggingClassifier
from sklearn.model_selection import GridSearchCV, RandomizedSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, OrdinalEncoder, StandardScaler
from sklearn.svm import SVC

import margins_learn as ml
from conftest import clouds

MULTI_CLASS = ["ovr", "ovo"]


@pytest.mark.parametrize("estimator", [ml.MarginClassifier("logistic"), ml.MarginClassifier("hinge", kernel="gaussian"), ml.RobustClassifier()])
@pytest.mark.parametrize("multi_class", MULTI_CLASS)
@pytest.mark.parametrize("classes", [2, 3])
def test_a_class_without_weight_stays_a_class_and_is_never_predicted(estimator, multi_class, classes):
    X, y = clouds(90, classes)
    estimator = clone(estimator).set_params(multi_class=multi_class)
    absent = clone(estimator).fit(X, y, sample_weight=(y != 1).astype(float))
    assert absent.classes_.tolist() == list(range(classes)) and absent.status_ == "converged"
    assert 1 not in absent.predict(1e3 * X)
    if classes == 3:
        others = y != 1
        assert (absent.predict(X) == estimator.fit(X[others], y[others]).predict(X)).mean() > 0.97
    costly = estimator.set_params(class_weight={1: 0}).fit(X, y)
    assert 1 not in costly.predict(1e3 * X)


def test_probabilities_of_a_class_without_weight_are_zero():
    X, y = clouds(90, 3)
    weights = (y != 1).astype(float)
    rest = ml.MarginClassifier("logistic", multi_class="ovr").fit(X, y, sample_weight=weights)
    assert (rest.predict_proba(X)[:, 1] == 0).all()
    # Pairs have probabilities between 1e-7 and 1 - 1e-7.
    pairs = ml.MarginClassifier("logistic").fit(X, y, sample_weight=weights)
    assert pairs.predict_proba(X)[:, 1].max() < 1e-6


def test_cross_validation_and_paths_take_a_class_without_weight():
    X, y = clouds(90, 2)
    weights = (y != 1).astype(float)
    search = ml.MarginClassifierCV("logistic", Cs=[0.1, 1.0], cv=3).fit(X, y, weights)
    assert (search.predict(X) == 0).all() and (search.errors_ == 0).all()
    assert (ml.MarginPath("logistic", Cs=[0.1, 1.0]).fit(X, y, weights).coefs_ == 0).all()


def test_bagging_takes_bags_without_a_class():
    X, y = clouds(60, 2)
    y[:57] = 0
    bagging = BaggingClassifier(ml.MarginClassifier("logistic"), n_estimators=20, max_samples=10, random_state=0).fit(X, y)
    assert set(bagging.predict(X)) <= {0, 1}


def test_one_sample_of_every_class_is_fitted_with_a_warning():
    X = np.eye(5)
    with pytest.warns(UserWarning, match="its own class"):
        fitted = ml.MarginClassifier("logistic", C=100.0).fit(X, np.arange(5))
    assert fitted.predict(X).tolist() == list(range(5))


def test_kernel_matrices_of_single_precision_are_taken():
    X = np.linspace(0, 1, 80)[:, None]
    y = (X[:, 0] > 0.5).astype(int)
    matrix = np.exp(-((X - X.T) ** 2)).astype(np.float32)
    assert np.linalg.eigvalsh(matrix.astype(float)).min() < -1e-10 * 80
    fitted = ml.MarginClassifier("logistic", kernel="precomputed").fit(matrix, y)
    assert fitted.status_ == "converged" and fitted.score(matrix, y) > 0.9
    with pytest.raises(ValueError, match="semidefinite"):
        ml.MarginClassifier("logistic", kernel="precomputed").fit(matrix - 0.1 * np.eye(80, dtype=np.float32), y)


@pytest.mark.parametrize("rows", [30, 300])
def test_the_default_width_counts_weights(rows):
    X, y = clouds(rows, 2)
    counts = np.arange(rows) % 3
    weighted = ml.MarginClassifier("logistic", kernel="gaussian").fit(X, y, counts.astype(float))
    repeated = ml.MarginClassifier("logistic", kernel="gaussian").fit(np.repeat(X, counts, axis=0), np.repeat(y, counts))
    assert weighted.kernel_ == repeated.kernel_ != ml.MarginClassifier("logistic", kernel="gaussian").fit(X, y).kernel_


def test_coefficients_are_read_only(two):
    for fitted in (ml.MarginClassifier().fit(*two), ml.MarginClassifier(kernel="linear").fit(*two)):
        for name in ("coef_", "dual_coef_", "intercept_"):
            if hasattr(fitted, name):
                with pytest.raises(ValueError, match="read-only"):
                    getattr(fitted, name)[0] = 0


@pytest.mark.parametrize(
    "estimator",
    [
        ml.MarginClassifier("logistic", kernel="gaussian", approximation="nystrom:m=20", certify_exact=True),
        ml.MarginClassifier("logistic", encode=True, C=np.inf, max_iter=5),
        ml.MarginClassifierCV("logistic", Cs=[0.1, 1.0], kernels=["gaussian", "linear"]),
        ml.MarginPath("logistic", Cs=[0.1, 1.0], kernel="gaussian", approximation="nystrom:m=20", certify_exact=True),
        ml.RobustClassifier(),
        ml.StreamClassifier("logistic"),
        ml.MassartClassifier("cuts", eta=0.2, gamma=0.2, epsilon=0.2, project=1),
        ml.FocusedClassifier("kernel-perceptron:budget=20", "gaussian", slack="additive-sum:budget=5", max_steps=200),
    ],
    ids=lambda estimator: type(estimator).__name__,
)
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_what_has_no_effect_on_predictions_cannot_be_assigned(estimator, two):
    fitted = clone(estimator).fit(*two)
    # Predictions use these, and scikit-learn sets the names and the number of features.
    used = {"classes_", "model_", "ensemble_", "n_features_in_", "feature_names_in_"}
    given = {name for name in vars(fitted) if name.endswith("_")} - used
    assert {"status_", "statuses_"} & given
    for name in given | {"coef_"}:
        with pytest.raises(AttributeError, match=f"^{name} is read-only: fit sets it"):
            setattr(fitted, name, 0.0)
    fitted.classes_ = fitted.classes_[::-1]
    for copied in (copy.copy(fitted), copy.deepcopy(fitted), pickle.loads(pickle.dumps(fitted))):
        assert vars(copied).keys() == vars(fitted).keys()
        assert copied.fit(*two).n_iter_ == fitted.n_iter_


@pytest.mark.parametrize("standardize", [False, True])
@pytest.mark.parametrize("approximation", [None, "nystrom:m=3", "cholesky"])
def test_the_linear_kernel_has_coefficients(approximation, standardize, three):
    X, y = three
    X = X * [1.0, 10.0, 0.1]
    fitted = ml.MarginClassifier("logistic", kernel="linear", approximation=approximation, standardize=standardize, multi_class="ovr").fit(X, y)
    assert fitted.coef_.shape == (3, 3) and fitted.dual_coef_.shape[0] == 3
    np.testing.assert_allclose(X @ fitted.coef_.T + fitted.intercept_, fitted.decision_function(X), rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize(
    ("alias", "own"),
    [("log_loss", "logistic"), ("squared_hinge", "squared-hinge"), ("modified_huber", "modified-huber"), ("squared_error", "squared")],
)
def test_losses_have_the_names_of_scikit_learn(alias, own, two):
    assert (ml.MarginClassifier(alias).fit(*two).coef_ == ml.MarginClassifier(own).fit(*two).coef_).all()


@pytest.mark.parametrize(
    ("kernel", "parameters", "text"),
    [
        ("rbf", {"gamma": 0.5}, "gaussian:sigma=0.5"),
        ("gaussian", {"gamma": 0.5, "degree": 3, "coef0": 1.0}, "gaussian:sigma=0.5"),
        ("poly", {"gamma": 0.5, "degree": 2, "coef0": 1.5}, "poly:degree=2,scale=0.5,offset=1.5"),
        ("poly:degree=2", {"coef0": 0.5}, "poly:degree=2,scale=1,offset=0.5"),
        ("anova", {"gamma": 0.5}, "anova:sigma=0.5,degree=1"),
        ("bessel:order=3", {"gamma": 0.5}, "bessel:sigma=0.5,order=3,degree=1"),
        ("linear", {"gamma": 0.5}, "linear"),
    ],
)
def test_kernels_take_the_parameters_of_scikit_learn(kernel, parameters, text, two):
    assert ml.MarginClassifier("logistic", kernel=kernel, **parameters).fit(*two).kernel_ == text
    assert ml.MarginPath("logistic", Cs=[1.0], kernel=kernel, **parameters).fit(*two).kernel_ == text


@pytest.mark.parametrize("gamma", ["scale", "auto"])
def test_gamma_is_taken_from_the_data_as_in_scikit_learn(gamma, two):
    X, y = two
    ours = ml.MarginClassifier("hinge", kernel="rbf", gamma=gamma, tol=1e-10).fit(X, y)
    theirs = SVC(gamma=gamma, tol=1e-8).fit(X, y)
    assert float(ours.kernel_.partition("=")[2]) == pytest.approx(theirs._gamma, rel=1e-14)
    assert ours.decision_function(X) == pytest.approx(theirs.decision_function(X), abs=1e-5)
    with pytest.raises(ValueError, match="gamma is 'wide', but must be a number, 'scale', 'auto' or None"):
        ml.MarginClassifier(kernel="rbf", gamma="wide").fit(X, y)


@pytest.mark.parametrize(("kernel", "message"), [("gaussian:sigma=1", "'sigma' is given twice"), ("gaussian+linear", "a sum or a product, so gamma")])
def test_a_parameter_that_a_kernel_has_already_is_refused(kernel, message, two):
    with pytest.raises(ValueError, match=message):
        ml.MarginClassifier(kernel=kernel, gamma=0.5).fit(*two)


def test_a_random_search_draws_parameters_of_kernels(two):
    drawn = {"kernel": ["rbf", "poly", "linear"], "gamma": stats.loguniform(1e-3, 1e1), "degree": [2, 3], "C": stats.loguniform(1e-2, 1e2)}
    search = RandomizedSearchCV(ml.MarginClassifier("hinge"), drawn, n_iter=6, cv=3, random_state=0).fit(*two)
    assert search.best_score_ > 0.8


@pytest.mark.parametrize(
    "estimator",
    [
        ml.MarginClassifier("logistic"),
        ml.MarginClassifier("logistic", kernel="gaussian"),
        ml.MarginClassifierCV("logistic", Cs=[0.1, 1.0]),
        ml.RobustClassifier(),
        ml.StreamClassifier("logistic"),
        ml.MassartClassifier(),
        ml.FocusedClassifier("stump", max_steps=200, outputs=5),
    ],
    ids=lambda estimator: type(estimator).__name__,
)
def test_skops_keeps_classifiers(estimator, two):
    io = pytest.importorskip("skops.io")
    X, y = two
    fitted = estimator.fit(X, y)
    written = io.dumps(fitted)
    read = io.loads(written, trusted=io.get_untrusted_types(data=written))
    assert (read.decision_function(X) == fitted.decision_function(X)).all()
    assert all(not getattr(read, name).flags.writeable for name in ("coef_", "intercept_") if hasattr(read, name))


def test_skops_keeps_the_state_of_a_stream(two):
    io = pytest.importorskip("skops.io")
    X, y = two
    stream = ml.StreamClassifier("logistic").partial_fit(X[:60], y[:60], classes=[0, 1])
    written = io.dumps(stream)
    read = io.loads(written, trusted=io.get_untrusted_types(data=written))
    assert (read.partial_fit(X[60:], y[60:]).coef_ == stream.partial_fit(X[60:], y[60:]).coef_).all()


class Recorder:
    """A callback that counts what it sees, and ends a fit after some iterations."""

    def __init__(self, most=10**9):
        self.seen, self.most, self.last = [], most, None

    def setup(self, estimator, context):
        self.seen.append("setup")

    def on_fit_task_begin(self, estimator, context):
        self.seen.append(f"begin {context.task_name}")

    def on_fit_task_end(self, estimator, context, *, X=None, y=None, metadata=None, fitted_estimator=None):
        self.seen.append(f"end {context.task_name}")
        if context.task_name == "fit":
            self.last = (X, y, metadata, fitted_estimator)
        return self.seen.count("end iteration") >= self.most

    def teardown(self, estimator, context):
        self.seen.append("teardown")


@pytest.mark.parametrize("estimator", [ml.MarginClassifier("logistic"), ml.MarginPath("logistic", Cs=[1.0]), ml.StreamClassifier("logistic")])
def test_callbacks_of_scikit_learn_see_fits(estimator, two):
    recorder = Recorder()
    estimator.set_callbacks(recorder).fit(*two)
    assert recorder.seen[:2] == ["setup", "begin fit"] and recorder.seen[-2:] == ["end fit", "teardown"]
    assert recorder.seen.count("begin iteration") == recorder.seen.count("end iteration") > 0
    assert recorder.last[0] is two[0]
    recorder.seen.clear()
    estimator.set_callbacks().fit(*two)
    assert recorder.seen == []


def test_callbacks_of_scikit_learn_end_a_fit_with_the_point_reached(three):
    with pytest.warns(Warning, match="The point reached is kept"):
        fitted = ml.MarginClassifier("logistic", C=100.0).set_callbacks(Recorder(most=1)).fit(*three)
    assert fitted.status_ == "interrupted" and fitted.coef_.shape == (3, 3)


def test_a_scoring_monitor_scores_a_fit_inside_of_a_search(two):
    monitor = callbacks.ScoringMonitor(scoring="accuracy")
    fitted = ml.MarginClassifier("logistic").set_callbacks(monitor).fit(*two)
    scores = [row["accuracy"] for row in monitor.get_logs(select="most_recent").data]
    assert scores[-1] == fitted.score(*two)
    search = GridSearchCV(ml.MarginClassifier("logistic"), {"C": [0.1, 1.0]}, cv=2).set_callbacks(callbacks.ScoringMonitor(scoring="accuracy"))
    assert search.fit(*two).best_score_ > 0.7


@pytest.mark.parametrize("estimator", [ml.MarginClassifier("logistic"), ml.StreamClassifier("logistic"), ml.MassartClassifier()])
def test_verbose_prints_iterations(estimator, two, capsys):
    estimator.fit(*two)
    assert capsys.readouterr().out == ""
    estimator.set_params(verbose=True).fit(*two)
    lines = capsys.readouterr().out.splitlines()
    assert lines and all(line.startswith(f"[{type(estimator).__name__}] ") for line in lines)


def test_an_objective_without_a_gap_has_no_attributes_of_one(two):
    robust = ml.RobustClassifier().fit(*two)
    assert robust.relative_gap_ <= 1e-6
    robust.set_params(objective="catoni:alpha=1").fit(*two)
    assert robust.objective_ > 0 and not any(hasattr(robust, name) for name in ("lower_bound_", "dual_gap_", "relative_gap_"))


def test_attributes_that_a_fit_lacks_are_not_there(two):
    fitted = ml.MarginClassifier(kernel="gaussian").fit(*two)
    assert not hasattr(fitted, "coef_") and hasattr(fitted, "kernel_")
    fitted.set_params(kernel=None).fit(*two)
    assert not hasattr(fitted, "kernel_") and not hasattr(fitted, "dual_coef_") and not hasattr(fitted, "exact_objective_")


@pytest.mark.parametrize("estimator", [getattr(ml, name) for name in ml.__all__ if inspect.isclass(getattr(ml, name))])
def test_every_parameter_is_documented_with_type_and_default(estimator):
    text = inspect.getdoc(estimator).split("Parameters\n--")[1].split("Attributes\n--")[0]
    heads = re.findall(r"(?m)^(\w[\w, ]*) : (.+)$", text)
    documented = {name: kind for names, kind in heads for name in names.split(", ")}
    for name, parameter in inspect.signature(estimator).parameters.items():
        if parameter.default is inspect.Parameter.empty:
            assert documented[name], name
            continue
        kind, _, default = documented[name].rpartition(", default=")
        assert kind and ast.literal_eval(default) == parameter.default, name


def test_masked_values_are_missing(two):
    X, y = two
    masked = np.ma.MaskedArray(X, mask=np.zeros_like(X, dtype=bool))
    assert (ml.MarginClassifier().fit(masked, y).coef_ == ml.MarginClassifier().fit(X, y).coef_).all()
    masked.mask[7, 1] = True
    with pytest.raises(ValueError, match="row 7.*NaN|NaN.*row 7"):
        ml.MarginClassifier().fit(masked, y)
    gaps = X.copy()
    gaps[7, 1] = np.nan
    encoded = ml.MarginClassifier(encode=True)
    assert (encoded.fit(masked, y).decision_function(masked) == encoded.fit(gaps, y).decision_function(gaps)).all()
    with pytest.raises(ValueError, match="y has no value in row 3"):
        ml.MarginClassifier().fit(X, np.ma.MaskedArray(y, mask=np.arange(len(y)) == 3))
    with pytest.raises(ValueError, match="weight"):
        ml.MarginClassifier().fit(X, y, sample_weight=np.ma.MaskedArray(np.ones(len(y)), mask=np.arange(len(y)) == 3))


@pytest.mark.parametrize("encode", [False, True])
def test_a_column_of_structs_is_named(encode, two):
    frame = pl.DataFrame({"a": two[0][:, 0], "pair": [{"x": 1.0, "y": 2.0}] * len(two[1])})
    with pytest.raises(TypeError, match="Column 'pair' has 2 values per row"):
        ml.MarginClassifier(encode=encode).fit(frame, two[1])


@pytest.mark.parametrize("classes", [2, 3])
def test_an_infinite_C_fits_without_a_penalty(classes):
    X, y = clouds(200, classes)
    y[::5] = (y[::5] + 1) % classes
    free = ml.MarginClassifier("logistic", C=np.inf).fit(X, y)
    assert free.status_ == "rule-met" and free.lambda_ == 0 and np.max(free.gradient_norm_) < 1e-6
    assert not any(hasattr(free, name) for name in ("lower_bound_", "dual_gap_", "relative_gap_"))
    nearly = ml.MarginClassifier("logistic", C=1e9).fit(X, y)
    np.testing.assert_allclose(free.coef_, nearly.coef_, rtol=1e-3, atol=1e-4)
    assert not hasattr(nearly, "gradient_norm_")


@pytest.mark.parametrize("loss", ["logistic", "lhs"])
def test_separated_classes_have_no_minimum_without_a_penalty(loss):
    X, y = np.array([[0.0], [1.0], [2.0], [3.0]]), [0, 0, 1, 1]
    with pytest.warns(Warning, match="the classes are separated.*Use a finite C"):
        fitted = ml.MarginClassifier(loss, C=np.inf).fit(X, y)
    assert fitted.status_ == "no-minimum" and fitted.predict(X).tolist() == y
    assert ml.MarginClassifier("squared-hinge", C=np.inf).fit(X, y).status_ == "rule-met"


@pytest.mark.parametrize(("settings", "message"), [({"kernel": "gaussian"}, "linear"), ({"loss": "hinge"}, "hinge"), ({"solver": "sdca"}, "use lbfgs")])
def test_what_has_no_fit_without_a_penalty_is_refused(settings, message, two):
    with pytest.raises(ValueError, match=message):
        ml.MarginClassifier(**{"loss": "logistic", "C": np.inf, **settings}).fit(*two)


def mixed(rows):
    rng = np.random.default_rng(1)
    numbers = rng.normal(size=(rows, 2)) * [1.0, 100.0]
    words = np.array(["low", "middle", "high"], dtype=object)[rng.integers(3, size=(rows, 2))]
    return numbers, words, ((numbers[:, 0] > 0) ^ (words[:, 0] == "high")).astype(int)


def run(model, inputs):
    onnxruntime = pytest.importorskip("onnxruntime")
    session = onnxruntime.InferenceSession(ml.to_onnx(model).SerializeToString())
    return session.run(["label", "probabilities"], inputs)


@pytest.mark.parametrize("settings", [{}, {"with_mean": False}, {"with_std": False}])
def test_graphs_of_pipelines_scale(settings):
    X, _, y = mixed(80)
    pipeline = make_pipeline(StandardScaler(**settings), "passthrough", ml.MarginClassifier("logistic")).fit(X, y)
    label, probabilities = run(pipeline, {"X": X})
    assert (label == pipeline.predict(X)).all()
    np.testing.assert_allclose(probabilities, pipeline.predict_proba(X), rtol=0, atol=1e-12)


@pytest.mark.parametrize(
    "encoder",
    [OneHotEncoder(), OneHotEncoder(drop="first"), OneHotEncoder(handle_unknown="ignore"), OrdinalEncoder(),
     OrdinalEncoder(handle_unknown="use_encoded_value", unknown_value=-7)],
)  # fmt: skip
@pytest.mark.parametrize("numeric", [False, True])
def test_graphs_of_pipelines_encode(encoder, numeric):
    _, words, y = mixed(80)
    levels = np.unique(words, return_inverse=True)[1].reshape(words.shape).astype(float) if numeric else words
    pipeline = make_pipeline(encoder, StandardScaler(with_mean=False), ml.MarginClassifier("logistic")).fit(levels, y)
    asked = levels.copy()
    if "handle_unknown" in str(encoder):
        asked[0, 0] = 9.0 if numeric else "unheard of"
    label, probabilities = run(pipeline, {"X": asked})
    assert (label == pipeline.predict(asked)).all()
    np.testing.assert_allclose(probabilities, pipeline.predict_proba(asked), rtol=0, atol=1e-12)


def test_graphs_of_pipelines_take_columns_of_several_types():
    numbers, words, y = mixed(80)
    X = np.concatenate([numbers.astype(object), words, numbers[:, :1].astype(object)], axis=1)
    parts = [("numbers", StandardScaler(), [0, 1]), ("words", OneHotEncoder(), [2, 3]), ("rest", "drop", [4])]
    pipeline = make_pipeline(ColumnTransformer(parts), ml.MarginClassifier("logistic")).fit(X, y)
    label, probabilities = run(pipeline, {"numbers": numbers, "words": words})
    assert (label == pipeline.predict(X)).all()
    np.testing.assert_allclose(probabilities, pipeline.predict_proba(X), rtol=0, atol=1e-12)


def test_transformers_that_no_graph_has_are_refused_by_name():
    from sklearn.decomposition import PCA

    X, _, y = mixed(80)
    with pytest.raises(ValueError, match=r"The pipeline has PCA\(\), which ONNX cannot express"):
        ml.to_onnx(make_pipeline(PCA(), ml.MarginClassifier()).fit(X, y))


def test_what_a_fit_lacks_is_no_attribute(two):
    X, y = two
    game = ml.FocusedClassifier("kernel-perceptron:budget=20", "gaussian", slack="additive-sum:budget=5", max_steps=200).fit(X, y)
    assert game.kernel_.startswith("gaussian:sigma=") and game.slack_ == "additive-sum:budget=5" and hasattr(game, "model_")
    game.set_params(learner="stump", kernel=None, slack="none", outputs=5).fit(X, y)
    lacking = ("kernel_", "slack_", "outliers_", "model_", "coef_", "intercept_")
    assert not [name for name in lacking if hasattr(game, name)] and game.score(X, y) > 0.5
    assert game.__sklearn_is_fitted__() and not ml.FocusedClassifier().__sklearn_is_fitted__() and not hasattr(game, "predict_proba")
    halfspace = ml.MassartClassifier("cuts", eta=0.2, gamma=0.2, epsilon=0.2, project=1).fit(X, y)
    assert halfspace.dimensions_ == 1 and halfspace.distance_ > 0
    halfspace.set_params(learner="sgd", project=None, scale_rows="each").fit(X, y)
    assert not [name for name in ("dimensions_", "distance_") if hasattr(halfspace, name)]
