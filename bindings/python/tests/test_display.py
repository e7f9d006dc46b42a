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


@pytest.mark.parametrize("kernels", [["linear"], ["linear", "gaussian:sigma=1"]])
@pytest.mark.parametrize("Cs", [[1.0], [0.001, 1.0], [10.0, 0.1, 0.001]])
def test_kernel_grid_has_a_cell_for_every_fit(two, Cs, kernels):
    search = ml.MarginClassifierCV("logistic", Cs=Cs, kernels=kernels).fit(*two)
    shown = display.KernelGridDisplay.from_estimator(search)
    edges = shown.ax_.collections[0].get_coordinates()
    assert edges.shape == (len(kernels) + 1, len(Cs) + 1, 2)
    columns, rows = edges[0, :, 0], edges[:, 0, 1]
    assert columns[0] > 0 and (np.diff(columns) > 0).all() and (np.diff(rows) == 1).all()
    middles = np.sqrt(columns[1:] * columns[:-1])
    assert (columns[:-1] < np.sort(Cs)).all() and (np.sort(Cs) < columns[1:]).all()
    if len(Cs) < 3:
        np.testing.assert_allclose(middles, np.sort(Cs))
    # The colour of a cell is the error of the fit in it.
    at = {C: column for column, C in enumerate(np.sort(Cs))}
    colours = np.asarray(shown.ax_.collections[0].get_array()).reshape(len(kernels), len(Cs))
    for column, C in enumerate(shown.Cs):
        np.testing.assert_allclose(colours[:, at[C]], 100 * shown.errors[:, column])
    assert np.diff(shown.ax_.get_xlim())[0] > 0
    plt.close(shown.figure_)


def test_margins_of_lists_and_of_classes_in_any_order(two):
    scores = [1.0, -2.0, 3.0, -4.0]
    y = ["yes", "no", "no", "yes"]
    shown = display.MarginDistributionDisplay.from_predictions(y, scores)
    assert shown.margins.tolist() == [1.0, 2.0, -3.0, -4.0]
    turned = display.MarginDistributionDisplay.from_predictions(y, scores, classes=["yes", "no"])
    assert turned.margins.tolist() == [-1.0, -2.0, 3.0, 4.0]
    several = display.MarginDistributionDisplay.from_predictions([2, 0], [[1, 2, 4], [0, 1, 5]], classes=[0, 1, 2])
    assert several.margins.tolist() == [2.0, -5.0]
    for labels, numbers, classes, message in (
        ([0, 1, 7], [1.0, 2.0, 3.0], [0, 1], "y has the class 7 in row 2, but the classes are"),
        (["1", "0"], [1.0, 2.0], [0, 1], "y has the class '1' in row 0"),
        (["a", None], [1.0, 2.0], None, "y has no value in row 1"),
        ([1, 1], [1.0, 2.0], None, "y has the classes .1., but there must be at least two"),
        ([0, 1, 2], [1.0, 2.0, 3.0], None, r"scores has the shape \(3,\), but must have the shape \(3, 3\)"),
        ([0, 1], [1.0, 2.0, 3.0], None, r"scores has the shape \(3,\), but must have the shape \(2,\)"),
        ([0, 1], [1.0, np.nan], None, "scores contains NaN"),
    ):
        with pytest.raises(ValueError, match=message):
            display.MarginDistributionDisplay.from_predictions(labels, numbers, classes=classes)


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
    with pytest.raises(ValueError, match="y has the class 7 in row 0"):
        display.ReliabilityDisplay.from_estimator(model, X, np.full(len(y), 7))


def test_reliability_names_the_class(two):
    X, y = two
    labels = np.array(["stays", "leaves"])[y]
    model = ml.MarginClassifier("logistic").fit(X, labels)
    shown = display.ReliabilityDisplay.from_estimator(model, X, labels, positive="leaves")
    assert shown.ax_.get_xlabel() == "mean probability of class leaves"
    unnamed = display.ReliabilityDisplay.from_predictions(labels == "leaves", model.predict_proba(X)[:, 0])
    assert unnamed.ax_.get_ylabel() == "observed frequency"


def test_a_grid_of_long_names_has_room_for_its_cells():
    kernels = [f"gaussian:sigma=0.{k}+poly:degree=2,scale=0.1,offset=1" for k in range(1, 25)]
    shown = display.KernelGridDisplay(Cs=np.array([0.1, 1.0]), kernels=kernels, errors=np.zeros((24, 2)), selected=(0, 0)).plot()
    shown.figure_.canvas.draw()
    cells = shown.ax_.get_window_extent()
    assert cells.width > 0.3 * shown.figure_.bbox.width
    names = [tick.get_window_extent() for tick in shown.ax_.get_yticklabels()]
    assert all(below.y1 <= above.y0 for above, below in zip(names, names[1:]))


def test_many_curves_differ_and_none_presses_the_others_flat():
    losses = [loss for loss in ml.losses.names() if ml.calibration.is_calibrated(loss)]
    shown = display.PsiDisplay.from_losses(losses)
    looks = {(line.get_color(), line.get_linestyle()) for line in shown.ax_.get_lines()}
    assert len(looks) == len(losses) > 10
    assert shown.ax_.get_ylim() == (0, 3)
    assert display.PsiDisplay.from_losses("lhs").ax_.get_ylim()[1] > 5


def test_psi():
    shown = display.PsiDisplay.from_losses(["lhs", "logistic", "hinge"])
    assert texts(shown) == ["lhs", "logistic", "hinge"]
    np.testing.assert_allclose(shown.curves["hinge"], shown.risks)
    with pytest.raises(ValueError, match="not calibrated"):
        display.PsiDisplay.from_losses(["leaky-relu:lambda=0.1"])


def test_coefficients_along_c(two):
    X, y = two
    linear = ml.MarginPath("lhs", Cs=[0.01, 1.0, 100.0]).fit(X, y)
    shown = display.CoefficientPathDisplay.from_estimator(linear, count=2)
    largest = np.argsort(-np.abs(linear.coefs_[:, 0]).max(axis=0))[:2]
    assert texts(shown) == [f"feature {j}" for j in largest] and shown.ax_.get_ylabel() == "coefficient"
    kernel = ml.MarginPath("lhs", Cs=[0.01, 1.0, 100.0], kernel="gaussian:sigma=0.5", tol=1e-10).fit(X, y)
    shown = display.CoefficientPathDisplay.from_estimator(kernel)
    assert kernel.duals_.shape == (3, len(y)) and (kernel.duals_ >= -1e-3).all() and (kernel.duals_ <= 1 + 1e-3).all()
    # The duals balance the classes, because the intercept is free.
    np.testing.assert_allclose(kernel.duals_ @ np.where(y == 1, 1, -1), 0, atol=1e-3)
    ends = [values[-1] for values in shown.curves.values()]
    assert len(ends) == 8 and ends == sorted(ends, reverse=True)
    assert (ends[0], ends[-1]) == (kernel.duals_[-1].max(), kernel.duals_[-1].min())
    approximated = ml.MarginPath("lhs", Cs=[1.0], kernel="gaussian:sigma=0.5", approximation="nystrom:m=10").fit(X, y)
    for path, message in ((approximated, "approximated"), (ml.MarginPath(Cs=[1.0]).fit(X, np.arange(len(y)) % 3), "3 classes")):
        with pytest.raises(ValueError, match=message):
            display.CoefficientPathDisplay.from_estimator(path)
    with pytest.raises(TypeError, match="must be a MarginPath"):
        display.CoefficientPathDisplay.from_estimator(ml.MarginClassifier().fit(X, y))


def test_matplotlib_is_imported_only_when_used():
    program = "import margins_learn, sys; sys.exit(any(name in sys.modules for name in ('matplotlib', 'onnx', 'tqdm')))"
    subprocess.run([sys.executable, "-c", program], check=True)


def test_one_loss_is_shown_and_what_has_not_searched_is_refused(two):
    assert list(display.PsiDisplay.from_losses("hinge").curves) == ["hinge"]
    for shown in (display.ErrorPathDisplay, display.KernelGridDisplay):
        with pytest.raises(TypeError, match="MarginClassifier.*but must be a MarginClassifierCV"):
            shown.from_estimator(ml.MarginClassifier().fit(*two))
