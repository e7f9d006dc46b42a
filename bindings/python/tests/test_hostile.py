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
        (ml.MarginClassifier(class_weight={5: 1.0}), "no class '5'"),
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


FITTED = ml.MarginClassifier("logistic").fit(GOOD, LABELS)


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
