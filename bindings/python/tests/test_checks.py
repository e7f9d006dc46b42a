"""The checks of scikit-learn, all of them, for every estimator."""

from sklearn.utils.estimator_checks import parametrize_with_checks

import margins_learn as ml


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
    ]
)
def test_estimator_keeps_the_conventions(estimator, check):
    check(estimator)
