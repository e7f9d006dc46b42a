"""Hostile values at the functions, the displays and the writer of block files: ValueError or TypeError, never a panic."""

import numpy as np
import pandas as pd
import pytest
from scipy import sparse

import margins_learn as ml
from hostile import FITTED, GOOD, HOSTILE, LABELS, PLACES, SAMPLES, SAMPLES_TOLD, TARGETS, WEIGHTS, WEIGHTS_TOLD

OF_NUMBERS = [
    lambda given: ml.losses.population_minimizer("lhs", given),
    lambda given: ml.losses.value("lhs", given),
    lambda given: ml.losses.derivative("lhs", given),
    lambda given: ml.losses.conjugate("logistic", given),
    lambda given: ml.losses.probability("logistic", given),
    lambda given: ml.calibration.psi("lhs", given),
    lambda given: ml.calibration.psi_inverse("lhs", given),
    lambda given: ml.calibration.location(given, 1.0),
]


@pytest.mark.parametrize("given", HOSTILE, ids=repr)
@pytest.mark.parametrize(
    "function",
    [
        *OF_NUMBERS,
        lambda given: ml.calibration.location([1.0, 2.0], given),
        lambda given: ml.calibration.location([1.0, 2.0], variance_bound=1.0, delta=given),
        lambda given: ml.calibration.reliability(given, [True]),
        lambda given: ml.calibration.margin_pursuit_bound(
            gamma=1.0, scale=given, strong_convexity=1.0, input_second_moment=2.0, step=0.1, iterations=5,
            initial_distance=1.0, diameter=1.0, samples=100, dimension=2, approximation_error=0.0,
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
        *OF_NUMBERS,
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


@pytest.mark.parametrize("folds", [np.arange(20) + 0.5, np.full(20, -1), np.full(20, np.nan), ["a"] * 20, [None] * 20, [0] * 19, np.zeros((20, 2)), 1j])
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
