"""Hostile arrays and settings at every estimator: ValueError or TypeError with the value and the place, never a panic."""

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from scipy import sparse
from sklearn.metrics import accuracy_score

import margins_learn as ml
from hostile import FITTED, GOOD, LABELS, PLACES, SAMPLES, SAMPLES_TOLD, TARGETS, WEIGHTS, WEIGHTS_TOLD

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


@pytest.mark.parametrize(("kind", "told"), [("complex", "complex"), ("dates", "times are not numbers"), ("fewer rows", "19")])
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
    with pytest.raises(ValueError, match="invalid sparse matrix|negative dimensions"):
        estimator.fit(matrix, LABELS)
    with pytest.raises(ValueError, match="invalid sparse matrix|negative dimensions"):
        estimator.fit(GOOD, LABELS).predict(matrix)


@pytest.mark.parametrize("kind", TARGETS)
@pytest.mark.parametrize("estimator", ESTIMATORS, ids=name_of)
def test_targets(estimator, kind):
    with pytest.raises((ValueError, TypeError)):
        estimator.fit(GOOD, TARGETS[kind])


# A class without weight is kept, and never predicted.
@pytest.mark.parametrize("kind", [kind for kind in WEIGHTS if kind != "of one class"])
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
        (ml.MarginClassifier(loss="linear_svc"), "unknown loss 'linear_svc'.*did you mean 'squared-hinge'"),
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
        (ml.MarginClassifierCV(Cs=[]), r"Cs is \[\], but must contain at least one number"),
        (ml.MarginClassifier(class_weight=[1.0, 2.0]), "class_weight is .*dict of costs"),
        (ml.MarginClassifierCV(Cs=0), "Cs is 0, but must be at least one"),
        (ml.MarginClassifierCV(Cs=0.5), r"Cs is 0.5, but must be an array of numbers, such as \[0.5\]"),
        (ml.MarginPath(lambdas=0.5), r"lambdas is 0.5, but must be an array of numbers, such as \[0.5\]"),
        (ml.MarginClassifierCV(kernels="gaussian", sigmas=5), r"sigmas is 5, but must be an array"),
        (ml.MarginClassifierCV(Cs=[1.0], lambdas=[1.0]), "Cs and lambdas are both given"),
        (ml.MarginClassifierCV(kernels=[]), "kernels is"),
        (ml.MarginClassifierCV(sigmas=[1.0]), "sigmas 1.0 cannot be combined with a linear classifier"),
        (ml.MarginClassifierCV(kernels="gaussian:sigma=1", sigmas=[1.0]), "leave their sigma out"),
        (ml.MarginClassifierCV(kernels="gaussian", sigmas=[]), r"sigmas is \[\], but must contain"),
        (ml.MarginClassifierCV(kernels="gaussian", sigmas=[1.0, -2.0]), "sigma is -2"),
        (ml.MarginClassifierCV(kernels="gaussian", sigmas="auto:0"), "sigmas is 'auto:0': '0' is not a number of sigmas"),
        (ml.MarginClassifierCV(kernels="gaussian", sigmas="1:2"), "sigmas is '1:2': expected auto:COUNT"),
        (ml.MarginClassifierCV(kernels=["gaussian", "laplacian"], sigmas="auto:3"), "laplacian"),
        (ml.MarginClassifierCV(cv=1), "cv is 1, but a number of folds must be at least 2"),
        (ml.MarginClassifierCV(cv=[0] * 20), "fold"),
        (ml.MarginClassifierCV(cv=[(np.arange(10), np.arange(15, 25))]), "cv yields rows of split 0 that are neither indices nor a mask"),
        (ml.MarginClassifierCV(cv=[([0.5], [1])]), "cv yields rows of split 0 that are neither indices nor a mask"),
        (ml.MarginClassifierCV(cv=[(np.arange(10), [])]), "split 0 has no row to test on"),
        (ml.MarginClassifierCV(cv=[([0, 1, 2], [3, 3])]), "split 0: row 3 to test on is beyond the .* rows of the data, or repeats"),
        (ml.MarginClassifierCV(scoring="f1"), "scoring is 'f1', but must be None or one of 'error', 'accuracy', .*'roc_auc'. GridSearchCV takes"),
        (ml.MarginClassifierCV(scoring=accuracy_score), "but must be None or one of"),
        (ml.MarginClassifierCV("hinge", scoring="log-loss"), "the measure needs probabilities, which the loss does not have"),
        (ml.MarginClassifierCV("logistic", cv="one-step", kernels="gaussian", scoring="auc"), "single samples are counted as errors"),
        (ml.MarginClassifierCV(selection="worst"), "selection is 'worst'"),
        (ml.RobustClassifier("mean"), "objective: "),
        (ml.StreamClassifier(lam=-1), "lambda is -1"),
        (ml.StreamClassifier(lam=0, method="sgd"), "cannot be combined with lambda 0"),
        (ml.StreamClassifier(method="pegasos"), "pegasos"),
        (ml.StreamClassifier(average="some"), "average is 'some'"),
        (ml.MassartClassifier("sgd"), "needs eta and gamma"),
        (ml.MassartClassifier(eta=0.1), "does not use eta"),
        (ml.MassartClassifier("cuts", eta=0.7, gamma=0.1), "0.7"),
        (ml.FocusedClassifier("boost"), "learner is 'boost': known are"),
        (ml.FocusedClassifier("kernel-perceptron"), "needs a kernel"),
        (ml.FocusedClassifier(kernel="gaussian"), "kernel is 'gaussian'"),
        (ml.FocusedClassifier(slack="sum:budget=1"), "slack is 'sum:budget=1': known are"),
        (ml.FocusedClassifier(pause_at=5), "pause_at needs a checkpoint"),
    ],
    ids=lambda given: given if isinstance(given, str) else "",
)
def test_settings_are_refused_with_their_value(estimator, message):
    with pytest.raises((ValueError, TypeError), match=message):
        estimator.fit(GOOD, LABELS)


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


@pytest.mark.parametrize("kind", [kind for kind in WEIGHTS if kind not in ("of one class", "zeros")])
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
    with pytest.raises(TypeError, match="Column 'when' has the dtype datetime64.*times are not numbers"):
        ml.MarginClassifier().fit(table, np.arange(20) % 2)


def test_labels_without_an_order_are_refused():
    with pytest.raises(TypeError, match="y has labels of the types int, str, which cannot be sorted"):
        ml.MarginClassifier().fit(np.eye(4), np.array([1, "one", 1, "one"], dtype=object))
