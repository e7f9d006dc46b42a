"""Hostile arrays at every public function: ValueError or TypeError with the value and the place, never a panic."""

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from scipy import sparse

import margins_learn as ml

ESTIMATORS = [
    ml.MarginClassifier(),
    ml.MarginClassifier("logistic", kernel="gaussian"),
    ml.MarginClassifier("hinge", kernel="poly", approximation="nystrom:m=5"),
    ml.MarginClassifierCV(Cs=[0.1, 1.0], cv=2),
    ml.MarginPath(Cs=[0.1, 1.0]),
    ml.RobustClassifier(),
    ml.RobustClassifier("catoni:alpha=1", "logistic"),
    ml.StreamClassifier(),
    ml.MassartClassifier(),
    ml.FocusedClassifier(max_steps=100, outputs=3),
]
GOOD = np.random.default_rng(1).normal(size=(20, 3))
LABELS = np.arange(20) % 2


def spoiled(value):
    X = GOOD.copy()
    X[7, 1] = value
    return X


SAMPLES = {
    "NaN": spoiled(np.nan),
    "infinite": spoiled(np.inf),
    "sparse NaN": sparse.csr_array(spoiled(np.nan)),
    "no rows": GOOD[:0],
    "no columns": GOOD[:, :0],
    "one dimension": GOOD[:, 0],
    "three dimensions": GOOD[None],
    "text": np.full((20, 3), "a"),
    "objects": np.full((20, 3), object()),
    "complex": GOOD + 1j,
    "None": None,
    "a number": 3.0,
    "fewer rows": GOOD[:19],
    "a dict": {"a": 1},
    "dates": np.full((20, 3), np.datetime64("2020-01-01")),
    "ragged": [[1.0, 2.0], [1.0]] * 10,
    "malformed sparse": sparse.csr_array((np.ones(20), np.full(20, 9), np.arange(21)), shape=(20, 10))[:, :0],
}
TARGETS = {
    "one class": np.ones(20, dtype=int),
    "NaN": np.where(LABELS == 1, np.nan, 0.0),
    "continuous": GOOD[:, 0],
    "two columns": np.column_stack([LABELS, LABELS]),
    "None": None,
    "fewer": LABELS[:10],
    "empty": LABELS[:0],
    "objects": np.array([object()] * 20),
    "a number": 1,
}
WEIGHTS = {
    "negative": np.where(np.arange(20) == 7, -1.0, 1.0),
    "NaN": np.where(np.arange(20) == 7, np.nan, 1.0),
    "infinite": np.where(np.arange(20) == 7, np.inf, 1.0),
    "zeros": np.zeros(20),
    "of one class": LABELS.astype(float),
    "fewer": np.ones(19),
    "two columns": np.ones((20, 2)),
    "text": ["a"] * 20,
}


def name_of(estimator):
    return repr(estimator).replace("\n", "")


@pytest.mark.parametrize("kind", SAMPLES)
@pytest.mark.parametrize("estimator", ESTIMATORS, ids=name_of)
def test_samples(estimator, kind):
    with pytest.raises((ValueError, TypeError)):
        estimator.fit(SAMPLES[kind], LABELS)
    if hasattr(estimator, "predict") and kind != "fewer rows":
        estimator.fit(GOOD, LABELS)
        with pytest.raises((ValueError, TypeError)):
            estimator.predict(SAMPLES[kind])


# What a refusal of these says, wherever they are found.
SAMPLES_TOLD = {
    "NaN": "NaN",
    "infinite": "inf",
    "sparse NaN": "NaN",
    "complex": "[Cc]omplex",
    "dates": "times are no numbers",
    "fewer rows": "inconsistent numbers of samples",
}
PLACES = ["NaN", "infinite", "sparse NaN"]
WEIGHTS_TOLD = {
    "negative": "(row|sample) 7.* -1",
    "NaN": "(row|sample) 7.* NaN",
    "infinite": "(row|sample) 7.* inf",
    "zeros": "zero",
    "fewer": r"\(19,\)",
    "two columns": r"\(20, 2\)",
}


@pytest.mark.parametrize("kind", PLACES)
@pytest.mark.parametrize("estimator", ESTIMATORS, ids=name_of)
def test_samples_are_refused_with_value_and_place(estimator, kind):
    told = f"row 7, column 1: the value is {SAMPLES_TOLD[kind]}, but features must be finite"
    with pytest.raises(ValueError, match=told):
        estimator.fit(SAMPLES[kind], LABELS)
    if hasattr(estimator, "predict"):
        estimator.fit(GOOD, LABELS)
        with pytest.raises(ValueError, match=told):
            estimator.predict(SAMPLES[kind])


@pytest.mark.parametrize("kind", WEIGHTS_TOLD)
@pytest.mark.parametrize("estimator", ESTIMATORS[:6], ids=name_of)
def test_weights_are_refused_with_value_and_place(estimator, kind):
    with pytest.raises(ValueError, match=WEIGHTS_TOLD[kind]):
        estimator.fit(GOOD, LABELS, sample_weight=WEIGHTS[kind])


@pytest.mark.parametrize(("kind", "told"), [("complex", "complex"), ("dates", "times are no numbers"), ("fewer rows", "19")])
@pytest.mark.parametrize("estimator", ESTIMATORS, ids=name_of)
def test_samples_of_another_kind_are_told(estimator, kind, told):
    with pytest.raises((ValueError, TypeError), match=f"(?i){told}"):
        estimator.fit(SAMPLES[kind], LABELS)


WIDE = sparse.csr_array((np.ones(20), np.arange(20) * 10**11, np.arange(21)), shape=(20, 10**13))


@pytest.mark.parametrize("estimator", ESTIMATORS, ids=name_of)
def test_columns_that_leave_no_room_for_a_vector_are_refused(estimator):
    with pytest.raises(ValueError, match="20 rows and 10000000000000 columns does not fit into memory"):
        estimator.fit(WIDE, LABELS)


def test_columns_that_leave_no_room_for_a_vector_are_refused_elsewhere(tmp_path):
    with pytest.raises(ValueError, match="10000000000000 columns does not fit into memory"):
        ml.StreamClassifier().partial_fit(WIDE, LABELS)
    with pytest.raises(ValueError, match="10000000000000 columns does not fit into memory"):
        ml.blocks.write(tmp_path / "wide", WIDE, LABELS)


@pytest.mark.parametrize("part", ["indices", "indptr", "row", "col"])
@pytest.mark.parametrize("value", [-1, 1000, 2**31 - 1])
def test_sparse_matrices_that_contradict_themselves(part, value):
    """scipy itself would read past the arrays, and end the process."""
    make = sparse.coo_array if part in ("row", "col") else sparse.csc_array
    matrix = make(GOOD)
    getattr(matrix, part)[-1] = value
    estimator = ml.MarginClassifier("logistic")
    with pytest.raises(ValueError, match="contradicts itself|negative dimensions"):
        estimator.fit(matrix, LABELS)
    with pytest.raises(ValueError, match="contradicts itself|negative dimensions"):
        estimator.fit(GOOD, LABELS).predict(matrix)


@pytest.mark.parametrize("kind", TARGETS)
@pytest.mark.parametrize("estimator", ESTIMATORS, ids=name_of)
def test_targets(estimator, kind):
    with pytest.raises((ValueError, TypeError)):
        estimator.fit(GOOD, TARGETS[kind])


@pytest.mark.parametrize("kind", WEIGHTS)
@pytest.mark.parametrize("estimator", ESTIMATORS[:6], ids=name_of)
def test_weights(estimator, kind):
    with pytest.raises((ValueError, TypeError)):
        estimator.fit(GOOD, LABELS, sample_weight=WEIGHTS[kind])


@pytest.mark.parametrize("size", [1e300, 1e-300, 5e-324])
@pytest.mark.parametrize("estimator", ESTIMATORS, ids=name_of)
def test_sizes_end_in_a_fit_or_a_refusal(estimator, size):
    try:
        fitted = estimator.fit(size * GOOD, LABELS)
    except ValueError as refusal:
        assert str(refusal)
    else:
        assert fitted is estimator


@pytest.mark.parametrize(
    ("estimator", "message"),
    [
        (ml.MarginClassifier(C=-1), r"C is -1, but must be a finite number greater than 0"),
        (ml.MarginClassifier(C=np.nan), "C is NaN"),
        (ml.MarginClassifier(C="1"), "C is '1'"),
        (ml.MarginClassifier(loss="hinges"), "unknown loss 'hinges'.*did you mean 'hinge'"),
        (ml.MarginClassifier(loss="log_loss"), "unknown loss 'log_loss'.*did you mean 'logistic'"),
        (ml.MarginClassifier(loss="squared_hinge"), "unknown loss 'squared_hinge'.*did you mean 'squared-hinge'"),
        (ml.MarginClassifier(loss="linear_svc"), "unknown loss 'linear_svc'.*did you mean 'squared-hinge'"),
        (ml.MarginClassifier(kernel="rbf"), "unknown kernel 'rbf'.*did you mean 'gaussian'"),
        (ml.MarginClassifier(loss=3), "loss is 3"),
        (ml.MarginClassifier(kernel="gauss"), "gauss"),
        (ml.MarginClassifier(kernel="gaussian", approximation="nystrom:m=0"), "m is 0"),
        (ml.MarginClassifier(approximation="rff"), "a linear classifier"),
        (ml.MarginClassifier(solver="sgd"), "solver is 'sgd'"),
        (ml.MarginClassifier(tol=0), "the tolerance is 0"),
        (ml.MarginClassifier(max_iter=-1), "max_iter is -1"),
        (ml.MarginClassifier(time_limit=-1), "time_limit is -1"),
        (ml.MassartClassifier(time_limit=-1), "time_limit is -1"),
        (ml.FocusedClassifier(time_limit=-1), "time_limit is -1"),
        (ml.MarginClassifier(random_state=-1), "random_state is -1"),
        (ml.MarginClassifier(multi_class="all"), "multi_class is 'all'"),
        (ml.MarginClassifier(probability="yes"), "probability is 'yes'"),
        (ml.MarginClassifier(class_weight="even"), "class_weight is 'even'"),
        (ml.MarginClassifier(class_weight={5: 1.0}), "cost of 5, but there is no class 5: the classes are .0, 1."),
        (ml.MarginClassifier(class_weight={1: -1.0}), "-1"),
        (ml.MarginClassifier(callback=3), "callback is 3"),
        (ml.MarginClassifier(kernel=lambda a, b: 1.0), "the shape|of shape"),
        (ml.MarginClassifierCV(Cs=[]), r"Cs is \[\], but must have at least one number"),
        (ml.MarginClassifier(class_weight=[1.0, 2.0]), "class_weight is .*dict of costs"),
        (ml.MarginClassifierCV(Cs=0), "Cs is 0, but must be at least one"),
        (ml.MarginClassifierCV(Cs=0.5), r"Cs is 0.5, but must be an array of numbers, such as \[0.5\]"),
        (ml.MarginPath(lambdas=0.5), r"lambdas is 0.5, but must be an array of numbers, such as \[0.5\]"),
        (ml.MarginClassifierCV(kernels="gaussian", sigmas=5), r"sigmas is 5, but must be an array"),
        (ml.MarginClassifierCV(Cs=[1.0], lambdas=[1.0]), "Cs and lambdas are both given"),
        (ml.MarginClassifierCV(kernels=[]), "kernels is"),
        (ml.MarginClassifierCV(sigmas=[1.0]), "sigmas 1.0 and a linear classifier contradict each other"),
        (ml.MarginClassifierCV(kernels="gaussian:sigma=1", sigmas=[1.0]), "leave their sigma out"),
        (ml.MarginClassifierCV(kernels="gaussian", sigmas=[]), r"sigmas is \[\], but must have"),
        (ml.MarginClassifierCV(kernels="gaussian", sigmas=[1.0, -2.0]), "sigma is -2"),
        (ml.MarginClassifierCV(kernels="gaussian", sigmas="auto:0"), "sigmas is 'auto:0': '0' is not a number of sigmas"),
        (ml.MarginClassifierCV(kernels="gaussian", sigmas="1:2"), "sigmas is '1:2': expected auto:COUNT"),
        (ml.MarginClassifierCV(kernels=["gaussian", "laplacian"], sigmas="auto:3"), "laplacian"),
        (ml.MarginClassifierCV(cv=1), "is 1, but must be at least 2"),
        (ml.MarginClassifierCV(cv=[0] * 20), "fold"),
        (ml.MarginClassifierCV(cv=[(np.arange(10), np.arange(10, 20))]), "hold out every row once"),
        (ml.MarginClassifierCV(selection="worst"), "selection is 'worst'"),
        (ml.RobustClassifier("mean"), "objective: "),
        (ml.StreamClassifier(lam=0), "lambda is 0"),
        (ml.StreamClassifier(method="pegasos"), "pegasos"),
        (ml.StreamClassifier(average="some"), "average is 'some'"),
        (ml.MassartClassifier("sgd"), "needs eta and gamma"),
        (ml.MassartClassifier(eta=0.1), "takes no eta"),
        (ml.MassartClassifier("cuts", eta=0.7, gamma=0.1), "0.7"),
        (ml.FocusedClassifier("boost"), "learner: known are"),
        (ml.FocusedClassifier("kernel-perceptron"), "needs a kernel"),
        (ml.FocusedClassifier(kernel="gaussian"), "kernel is 'gaussian'"),
        (ml.FocusedClassifier(slack="sum:budget=1"), "slack: known are"),
        (ml.FocusedClassifier(pause_at=5), "pause_at needs a checkpoint"),
    ],
    ids=lambda given: given if isinstance(given, str) else "",
)
def test_settings_are_refused_with_their_value(estimator, message):
    with pytest.raises((ValueError, TypeError), match=message):
        estimator.fit(GOOD, LABELS)


HOSTILE = [np.nan, np.inf, [], "a", object(), [[1.0], [2.0, 3.0]], 1j, None, -1.0, 2.0]


@pytest.mark.parametrize("given", HOSTILE, ids=repr)
@pytest.mark.parametrize(
    "function",
    [
        lambda given: ml.losses.population_minimizer("lhs", given),
        lambda given: ml.losses.value("lhs", given),
        lambda given: ml.losses.derivative("lhs", given),
        lambda given: ml.losses.conjugate("logistic", given),
        lambda given: ml.losses.probability("logistic", given),
        lambda given: ml.calibration.psi("lhs", given),
        lambda given: ml.calibration.psi_inverse("lhs", given),
        lambda given: ml.calibration.catoni_location(given, 1.0),
        lambda given: ml.calibration.catoni_location([1.0, 2.0], given),
        lambda given: ml.calibration.catoni_location([1.0, 2.0], variance_bound=1.0, delta=given),
        lambda given: ml.calibration.reliability(given, [True]),
        lambda given: ml.calibration.margin_pursuit_bound(
            gamma=1.0, scale=given, strong_convexity=1.0, input_second_moment=2.0, step=0.1, iterations=5,
            initial_distance=1.0, diameter=1.0, samples=100, dimension=2,
        ),
        lambda given: ml.load(given),
        lambda given: ml.losses.value(given, 1.0),
        lambda given: ml.losses.specification(given),
        lambda given: ml.calibration.psi(given, 0.5),
        lambda given: ml.calibration.is_calibrated(given),
        lambda given: ml.calibration.reliability([0.5], given),
        lambda given: ml.calibration.reliability([0.5], [True], bins=given),
        lambda given: ml.display.PsiDisplay.from_losses(given),
    ],
)
def test_functions_answer_or_refuse(function, given):
    try:
        function(given)
    except (ValueError, TypeError, FileNotFoundError) as refusal:
        assert str(refusal)


COMPLEX = [1j, np.array([0.5, 0.5j]), [1 + 0j]]


@pytest.mark.parametrize("given", COMPLEX, ids=repr)
@pytest.mark.parametrize(
    "function",
    [
        lambda given: ml.losses.population_minimizer("lhs", given),
        lambda given: ml.losses.value("lhs", given),
        lambda given: ml.losses.derivative("lhs", given),
        lambda given: ml.losses.conjugate("logistic", given),
        lambda given: ml.losses.probability("logistic", given),
        lambda given: ml.calibration.psi("lhs", given),
        lambda given: ml.calibration.psi_inverse("lhs", given),
        lambda given: ml.calibration.catoni_location(given, 1.0),
        lambda given: ml.calibration.reliability(given, [True, False]),
        lambda given: ml.calibration.reliability([0.5, 0.5], given),
        lambda given: ml.display.MarginDistributionDisplay.from_predictions([0, 1], given),
        lambda given: ml.display.ReliabilityDisplay.from_predictions([0, 1], given),
        lambda given: ml.MarginClassifierCV(Cs=np.atleast_1d(given)).fit(GOOD, LABELS),
        lambda given: ml.MarginClassifier().fit(GOOD, LABELS, sample_weight=np.resize(given, 20)),
        lambda given: ml.StreamClassifier().partial_fit(GOOD, LABELS, sample_weight=np.resize(given, 20)),
        lambda given: ml.MarginClassifier().fit(np.resize(given, (20, 3)), LABELS),
        lambda given: ml.MarginClassifier().fit(sparse.csr_array(np.resize(given, (20, 3))), LABELS),
        lambda given: ml.MarginClassifier().fit(pd.DataFrame(np.resize(given, (20, 3))), LABELS),
        lambda given: ml.MarginClassifier(kernel=lambda a, b: np.resize(given, (len(a), len(b)))).fit(GOOD, LABELS),
    ],
)
def test_complex_numbers_are_refused(function, given):
    with pytest.raises((TypeError, ValueError), match="(?i)complex|outcomes has the dtype complex"):
        function(given)


@pytest.mark.parametrize(
    ("outcomes", "message"),
    [
        ([1, -1, 1], "outcomes has -1 in row 1, but must consist of booleans, or of 0 and 1"),
        ([1.0, 0.0, 2.0], r"outcomes has 2.0 in row 2"),
        ([1.0, np.nan, 0.0], r"outcomes has nan in row 1"),
        (["yes", "no", "no"], "outcomes has the dtype <U3"),
        ([True, None, False], "outcomes has the dtype object"),
        ([[1, 0, 1]], r"outcomes has the shape \(1, 3\)"),
        ([1, 0], "2"),
    ],
)
@pytest.mark.parametrize("function", [ml.calibration.reliability, lambda p, y: ml.display.ReliabilityDisplay.from_predictions(y, p)])
def test_outcomes_are_booleans_or_0_and_1(function, outcomes, message):
    with pytest.raises((TypeError, ValueError), match=message):
        function([0.2, 0.5, 0.7], outcomes)


def test_outcomes_of_every_kind_are_the_same():
    expected = ml.calibration.reliability([0.2, 0.5, 0.7], [True, False, True])
    for outcomes in ([1, 0, 1], [1.0, 0.0, 1.0], np.array([1, 0, 1], dtype=np.uint8), pd.Series([True, False, True], dtype="boolean")):
        found = ml.calibration.reliability([0.2, 0.5, 0.7], outcomes)
        assert found["brier"] == expected["brier"] and found["observed_frequency"].tolist() == expected["observed_frequency"].tolist()


FITTED = ml.MarginClassifier("logistic").fit(GOOD, LABELS)


@pytest.mark.parametrize("kind", [kind for kind in TARGETS if kind not in ("one class", "None")])
@pytest.mark.parametrize("shown", [ml.display.MarginDistributionDisplay, ml.display.ReliabilityDisplay])
def test_targets_of_displays(shown, kind):
    with pytest.raises((ValueError, TypeError)):
        shown.from_estimator(FITTED, GOOD, TARGETS[kind])


@pytest.mark.parametrize("given", [given for given in HOSTILE if given is not None], ids=repr)
@pytest.mark.parametrize(
    "function",
    [
        lambda given: ml.display.MarginDistributionDisplay.from_predictions(given, [1.0, 2.0]),
        lambda given: ml.display.MarginDistributionDisplay.from_predictions([0, 1], given),
        lambda given: ml.display.MarginDistributionDisplay.from_predictions([0, 1], [1.0, 2.0], classes=given),
        lambda given: ml.display.ReliabilityDisplay.from_predictions(given, [0.5, 0.7]),
        lambda given: ml.display.ReliabilityDisplay.from_predictions([0, 1], given),
        lambda given: ml.to_onnx(given),
        lambda given: ml.blocks.describe(given),
    ],
)
def test_displays_graphs_and_block_files_refuse(function, given):
    with pytest.raises((ValueError, TypeError, FileNotFoundError)):
        function(given)


@pytest.mark.parametrize("kind", SAMPLES)
def test_samples_of_a_block_file(kind, tmp_path):
    told = f"row 7, column 1.* {SAMPLES_TOLD[kind]}" if kind in PLACES else SAMPLES_TOLD.get(kind)
    with pytest.raises((ValueError, TypeError), match=told):
        ml.blocks.write(tmp_path / "rows", SAMPLES[kind], LABELS)
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("kind", WEIGHTS_TOLD)
def test_weights_of_a_block_file(kind, tmp_path):
    with pytest.raises((ValueError, TypeError), match=WEIGHTS_TOLD[kind]):
        ml.blocks.write(tmp_path / "rows", GOOD, LABELS, sample_weight=WEIGHTS[kind])
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("folds", [np.arange(20) + 0.5, np.full(20, -1), np.full(20, np.nan), ["a"] * 20, [0] * 19, np.zeros((20, 2)), 1j])
def test_folds_of_a_block_file(folds, tmp_path):
    with pytest.raises((ValueError, TypeError)):
        ml.blocks.write(tmp_path / "rows", GOOD, LABELS, folds=folds)
    assert not list(tmp_path.iterdir())


def test_a_block_file_that_is_not_there_or_none(tmp_path):
    with pytest.raises(FileNotFoundError, match="nowhere"):
        ml.blocks.describe(tmp_path / "nowhere")
    with pytest.raises(FileNotFoundError, match="nowhere"):
        ml.blocks.write(tmp_path / "nowhere" / "rows", GOOD, LABELS)
    (tmp_path / "text").write_text("1 2 3\n")
    with pytest.raises(ValueError, match="text"):
        ml.blocks.describe(tmp_path / "text")


@pytest.mark.parametrize("kind", [kind for kind in SAMPLES if kind != "fewer rows"])
@pytest.mark.parametrize(
    "use",
    [
        FITTED.decision_function,
        FITTED.predict_proba,
        FITTED.predict_log_proba,
        lambda X: FITTED.score(X, LABELS),
        lambda X: ml.StreamClassifier().partial_fit(X, LABELS),
        lambda X: ml.display.MarginDistributionDisplay.from_estimator(FITTED, X, LABELS),
        lambda X: ml.display.ReliabilityDisplay.from_estimator(FITTED, X, LABELS),
    ],
)
def test_samples_of_what_is_fitted(use, kind):
    with pytest.raises((ValueError, TypeError)):
        use(SAMPLES[kind])


@pytest.mark.parametrize("kind", [kind for kind in TARGETS if kind != "one class"])
def test_targets_of_a_stream(kind):
    with pytest.raises((ValueError, TypeError)):
        ml.StreamClassifier().partial_fit(GOOD, TARGETS[kind], classes=[0, 1])


@pytest.mark.parametrize("kind", [kind for kind in WEIGHTS if kind != "of one class"])
def test_weights_of_a_stream(kind):
    with pytest.raises((ValueError, TypeError)):
        ml.StreamClassifier().partial_fit(GOOD, LABELS, sample_weight=WEIGHTS[kind])


@pytest.mark.parametrize("kind", [kind for kind in SAMPLES if kind not in ("NaN", "text", "fewer rows")])
def test_samples_to_encode(kind):
    with pytest.raises((ValueError, TypeError)):
        ml.MarginClassifier(encode=True).fit(SAMPLES[kind], LABELS)


@pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame, pa.table])
def test_times_in_a_frame_are_refused(frame):
    table = frame({"number": np.arange(20.0), "when": np.arange(20).astype("datetime64[ms]")})
    with pytest.raises(TypeError, match="Column 'when' has the dtype datetime64.*times are no numbers"):
        ml.MarginClassifier().fit(table, np.arange(20) % 2)


def test_labels_without_an_order_are_refused():
    with pytest.raises(TypeError, match="y has labels of the types int, str, which have no order"):
        ml.MarginClassifier().fit(np.eye(4), np.array([1, "one", 1, "one"], dtype=object))
