"""Pictures are drawn on the axes given, with what they show in the legend."""

import subprocess
import sys

import matplotlib.pyplot as plt
import numpy as np
import pytest

import margins_learn as ml
from margins_learn import display


def texts(shown):
    return [text.get_text() for text in shown.ax_.get_legend().get_texts()]


def test_error_path(two):
    search = ml.MarginClassifierCV("logistic", Cs=np.geomspace(1e-3, 10, 9), selection="one-se").fit(*two)
    shown = display.ErrorPathDisplay.from_estimator(search)
    assert shown.Cs[shown.selected] == pytest.approx(search.best_C_) and shown.selected == shown.one_se
    assert "selected" in texts(shown) and shown.ax_.get_xscale() == "log"
    assert shown.figure_ is shown.ax_.figure


def test_kernel_grid(two):
    kernels = ["gaussian:sigma=0.1", "gaussian:sigma=1", "linear"]
    search = ml.MarginClassifierCV("logistic", Cs=[0.1, 1.0], kernels=kernels).fit(*two)
    shown = display.KernelGridDisplay.from_estimator(search)
    assert shown.errors.shape == (3, 2) and shown.kernels[shown.selected[0]] == search.best_kernel_
    assert [tick.get_text() for tick in shown.ax_.get_yticklabels()] == kernels
    widths = ml.MarginClassifierCV("logistic", Cs=[0.1, 1.0], kernels="gaussian", sigmas="2:0.5:3").fit(*two)
    assert display.KernelGridDisplay.from_estimator(widths).kernels == [f"gaussian:sigma={sigma}" for sigma in ("2", "1", "0.5")]
    linear = ml.MarginClassifierCV("logistic", Cs=[0.1, 1.0]).fit(*two)
    with pytest.raises(ValueError, match="ErrorPathDisplay"):
        display.KernelGridDisplay.from_estimator(linear)


@pytest.mark.parametrize("data", ["two", "three"])
def test_margin_distribution(data, request):
    X, y = request.getfixturevalue(data)
    model = ml.MarginClassifier("logistic").fit(X, y)
    axes = plt.subplots()[1]
    shown = display.MarginDistributionDisplay.from_estimator(model, X, y, name="logistic", ax=axes)
    assert shown.ax_ is axes
    wrong = np.mean(model.predict(X) != y)
    assert np.mean(shown.margins <= 0) == pytest.approx(wrong)
    assert texts(shown)[0] == f"logistic: {100 * wrong:.1f} % at most 0"


def test_reliability(two):
    X, y = two
    model = ml.MarginClassifier("logistic").fit(X, y)
    shown = display.ReliabilityDisplay.from_estimator(model, X, y, bins=5, strategy="quantile")
    assert shown.reliability["count"].sum() == len(y) and texts(shown)[0].startswith("off by ")
    with pytest.raises(ValueError, match="positive is 7"):
        display.ReliabilityDisplay.from_estimator(model, X, y, positive=7)


def test_psi():
    shown = display.PsiDisplay.from_losses(["lhs", "logistic", "hinge"])
    assert texts(shown) == ["lhs", "logistic", "hinge"]
    np.testing.assert_allclose(shown.curves["hinge"], shown.risks)
    with pytest.raises(ValueError, match="not calibrated"):
        display.PsiDisplay.from_losses(["leaky-relu:lambda=0.1"])


def test_matplotlib_is_imported_only_when_used():
    program = "import margins_learn, sys; sys.exit(any(name in sys.modules for name in ('matplotlib', 'onnx', 'tqdm')))"
    subprocess.run([sys.executable, "-c", program], check=True)


def test_one_loss_is_shown_and_what_has_not_searched_is_refused(two):
    assert list(display.PsiDisplay.from_losses("hinge").curves) == ["hinge"]
    for shown in (display.ErrorPathDisplay, display.KernelGridDisplay):
        with pytest.raises(TypeError, match="MarginClassifier.*but must be a MarginClassifierCV"):
            shown.from_estimator(ml.MarginClassifier().fit(*two))
