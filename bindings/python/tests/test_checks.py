"""The checks of scikit-learn, all of them, for every estimator."""

from sklearn.utils.estimator_checks import parametrize_with_checks

import margins_learn as ml

# SGDClassifier of scikit-learn fails these, too.
_WEIGHTED_STEPS = "steps on a weighted sample are not those on its repetitions"
_FAILURES = {
    name: {
        "check_sample_weight_equivalence_on_dense_data": _WEIGHTED_STEPS,
        "check_sample_weight_equivalence_on_sparse_data": _WEIGHTED_STEPS,
    }
    for name in ("StreamClassifier", "MassartClassifier", "FocusedClassifier")
}
_FAILURES["FocusedClassifier"]["check_class_weight_classifiers"] = (
    "a row whose cost is at most epsilon times the largest may be decided either way"
)


@parametrize_with_checks(
    [
        ml.MarginClassifier(),
        ml.MarginClassifier("logistic", kernel="gaussian:sigma=1", multi_class="ovo"),
        ml.MarginClassifierCV(),
        ml.MarginPath(),
        ml.RobustClassifier(),
        ml.StreamClassifier(),
        ml.MassartClassifier(),
        ml.FocusedClassifier(),
        ml.FocusedClassifier("stump", max_steps=2000, outputs=20),
        ml.FocusedRegressor(max_steps=3000, outputs=20),
    ],
    expected_failed_checks=lambda estimator: _FAILURES.get(type(estimator).__name__, {}),
)
def test_estimator_keeps_the_conventions(estimator, check):
    check(estimator)
