"""Graphs give what the classifiers give, for every loss and kernel that ONNX can express."""

import numpy as np
import onnxruntime
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline

import margins_learn as ml
from conftest import clouds

LOSSES = [name for name in ml.losses.names() if name not in ("garg-roth", "zero-one", "leaky-relu", "l-r")] + ["l-r:r=2", "l-r:r=3"]
KERNELS = [
    None,
    "linear",
    "gaussian",
    "laplacian:sigma=0.5",
    "matern32:length=2",
    "matern52:length=2",
    "poly:degree=3,scale=0.5,offset=1",
    "anova:sigma=0.7,degree=2",
    "gaussian+linear",
    "gaussian:sigma=0.5*(linear+laplacian:sigma=0.3)*linear+poly:degree=2,scale=1,offset=1",
]


def assert_agrees(model, X):
    session = onnxruntime.InferenceSession(ml.to_onnx(model).SerializeToString())
    names = [output.name for output in session.get_outputs()]
    found = dict(zip(names, session.run(None, {"X": X})))
    assert found["label"].tolist() == model.predict(X).tolist()
    scores = model.decision_function(X)
    np.testing.assert_allclose(found["scores"].reshape(scores.shape), scores, rtol=1e-12, atol=1e-12)
    assert ("probabilities" in found) == hasattr(model, "predict_proba")
    if "probabilities" in found:
        np.testing.assert_allclose(found["probabilities"], model.predict_proba(X), rtol=0, atol=1e-12)
        assert found["label"].tolist() == model.classes_[found["probabilities"].argmax(axis=1)].tolist()


@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("loss", LOSSES)
def test_every_loss_agrees(loss, classes):
    X, y = clouds(90, classes)
    assert_agrees(ml.MarginClassifier(loss, C=0.3, solver="auto").fit(X, y), X)


@pytest.mark.parametrize("kernel", KERNELS)
def test_every_kernel_agrees(kernel):
    X, y = clouds(80, 3)
    assert_agrees(ml.MarginClassifier("logistic", 2.0, kernel, standardize=True).fit(X, y), X)


def test_an_indefinite_kernel_agrees():
    X, y = clouds(80, 3)
    assert_agrees(ml.MarginClassifier("logistic", 2.0, "sigmoid:scale=0.1,offset=0.2", approximation="nystrom:m=2").fit(X, y), X)


# The scores of the squared loss add up to a constant: some class claims every sample.
@pytest.mark.parametrize("loss", [loss for loss in LOSSES if loss != "squared"])
def test_samples_that_no_class_claims_have_probabilities(loss):
    """Every score is below -1: some losses give every class the probability 0."""
    X, y = clouds(90, 3)
    model = ml.MarginClassifier(loss, C=0.3, multi_class="ovr").fit(X, y)
    direction = np.linalg.lstsq(model.coef_, -np.ones(3), rcond=None)[0]
    unclaimed = X[:20] * 1e-3 + 40 * direction
    assert model.decision_function(unclaimed).max() < -1
    assert_agrees(model, unclaimed)


@pytest.mark.parametrize("loss", LOSSES)
def test_samples_on_the_boundary_have_probabilities(loss):
    X, y = clouds(90, 2)
    model = ml.MarginClassifier(loss, C=0.3, fit_intercept=False).fit(X, y)
    assert_agrees(model, np.zeros((1, X.shape[1])))


@pytest.mark.parametrize("classes", [3, 5])
def test_platt_scaling_of_several_classes_agrees(classes):
    X, y = clouds(120, classes)
    model = ml.MarginClassifier("squared-hinge", probability="platt").fit(X, y)
    assert_agrees(model, np.vstack([X, 100 * X, -100 * X]))


@pytest.mark.parametrize("classes", [3, 5])
def test_contests_of_pairs_agree(classes):
    X, y = clouds(120, classes)
    assert_agrees(ml.MarginClassifier("hinge", multi_class="ovo").fit(X, y), np.vstack([X, np.zeros_like(X[:1])]))


def test_a_class_without_weight_breaks_no_tie():
    """Each of three classes wins one pair of them, and that against the fourth class, whose score rounds the others away."""
    # Labels that features do not explain: pairs contradict each other.
    X, y = np.random.default_rng(2).normal(size=(200, 3)), np.arange(200) % 4
    with pytest.warns(UserWarning, match="never predicted"):
        model = ml.MarginClassifier("logistic", multi_class="ovo").fit(X, y, sample_weight=np.where(y == 3, 0.0, 1.0))
    scores = model.decision_function(X)[:, :3]
    tied = (scores.round() == 2).all(axis=1)
    assert tied.any() and (np.diff(np.sort(scores[tied]), axis=1) > 0).all()
    assert_agrees(model, X)


@pytest.mark.parametrize("classes", [3, 4, 12])
@pytest.mark.parametrize(("loss", "settings"), [("logistic", {}), ("lhs", {"kernel": "gaussian"}), ("squared-hinge", {"probability": "platt"})])
def test_coupled_probabilities_of_pairs_agree(loss, settings, classes):
    """Far samples have pairs that are certain, and 0 has some that are even."""
    X, y = clouds(30 * classes, classes)
    model = ml.MarginClassifier(loss, multi_class="ovo", **settings).fit(X, y)
    assert_agrees(model, np.vstack([X, 1e3 * X, -1e3 * X, np.zeros_like(X[:1])]))


@pytest.mark.parametrize(("loss", "scheme"), [("logistic", "joint"), ("logistic", "multinomial"), ("hinge", "joint"), ("hinge", "crammer-singer")])
def test_joint_classes_agree(loss, scheme):
    X, y = clouds(90, 3)
    assert_agrees(ml.MarginClassifier(loss, multi_class=scheme).fit(X, y), np.vstack([X, 100 * X]))


@pytest.mark.parametrize(("scheme", "approximation"), [("joint", None), ("multinomial", "nystrom:m=30"), ("joint", "cholesky:tol=1e-8")])
def test_joint_classes_with_a_kernel_agree(scheme, approximation):
    X, y = clouds(90, 3)
    assert_agrees(ml.MarginClassifier("logistic", kernel="gaussian", approximation=approximation, multi_class=scheme).fit(X, y), X)


def test_joint_probabilities_of_other_losses_are_refused():
    X, y = clouds(90, 3)
    with pytest.raises(ValueError, match="Markov chain"):
        ml.to_onnx(ml.MarginClassifier("lhs", multi_class="joint").fit(X, y))


def test_labels_of_text_and_platt_scaling_agree():
    X, y = clouds(80, 2)
    assert_agrees(ml.MarginClassifier("squared-hinge", probability="platt").fit(X, np.array(["ham", "spam"])[y]), X)


def test_other_estimators_agree():
    for classes in (2, 3):
        X, y = clouds(80, classes)
        estimators = (ml.StreamClassifier(), ml.MassartClassifier(), ml.FocusedClassifier(max_steps=500), ml.FocusedClassifier("kernel-perceptron:budget=20", "gaussian", max_steps=200), ml.FocusedClassifier(combine="average", max_steps=500), ml.FocusedClassifier(multi_class="joint", max_steps=300, outputs=6), ml.MarginClassifierCV(Cs=[0.1, 1.0]))
        for estimator in estimators:
            assert_agrees(estimator.fit(X, y), X)


@pytest.mark.parametrize(
    ("estimator", "classes", "name"),
    [
        (ml.MarginClassifier(kernel="gaussian:sigma=1", approximation="rff:m=10"), 2, "random Fourier"),
        (ml.MarginClassifier(kernel=lambda a, b: a @ b.T), 2, "function"),
        (ml.FocusedClassifier("stump", max_steps=100, outputs=3), 2, "FocusedClassifier"),
    ],
)
def test_what_cannot_be_expressed_is_refused_by_name(estimator, classes, name):
    X, y = clouds(60, classes)
    with pytest.raises(ValueError, match=name):
        ml.to_onnx(estimator.fit(X, y))


@pytest.mark.parametrize("classes", [np.array([0, 2**64 - 1], dtype=np.uint64), np.array(["2026-01-01", "2026-01-02"], dtype="M8[D]")])
def test_classes_that_no_type_of_onnx_holds_are_refused(classes):
    X, y = clouds(60, 2)
    with pytest.raises(ValueError, match="The classes are .* but ONNX has"):
        ml.to_onnx(ml.MarginClassifier("logistic").fit(X, classes[y]))


@pytest.mark.parametrize("classes", [[False, True], [2.0, 3.0], np.array([1, 7], dtype=np.uint8), np.array(["a", "é"], dtype=object)])
def test_classes_of_every_type_agree(classes):
    X, y = clouds(60, 2)
    assert_agrees(ml.MarginClassifier("logistic").fit(X, np.array(classes)[y]), X)


def test_scores_of_many_large_terms_agree_relative_to_them():
    X, y = clouds(120, 2, features=30)
    model = ml.MarginClassifier("logistic", 1e3, "anova:sigma=0.01,degree=2").fit(X, y)
    session = onnxruntime.InferenceSession(ml.to_onnx(model).SerializeToString())
    (scores,) = session.run(["scores"], {"X": X})
    terms = 30**2 * np.abs(model.dual_coef_).sum()
    assert terms > 1e3
    np.testing.assert_allclose(scores[:, 0], model.decision_function(X), rtol=0, atol=1e-12 * terms)


def test_what_is_no_classifier_of_ours_is_refused():
    pipeline = make_pipeline(LogisticRegression()).fit(*clouds(60, 2))
    with pytest.raises(TypeError, match="model is LogisticRegression.*or a pipeline that ends with one"):
        ml.to_onnx(pipeline)
