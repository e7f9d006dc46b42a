"""Probabilities of scikit-learn's LogisticRegression at the objective of margins, for the tests.

    python probabilities.py > crates/facade/tests/references/logistic_probabilities.json

The 150 irises of Fisher, C = 1/(2 n lambda): F = (1/n) sum log(1 + exp(-y f)) + lambda ||w||^2 is 2 lambda times
scikit-learn's objective. Two classes (the last two) by LogisticRegression, three by OneVsRestClassifier around it, which
divides the probabilities by their sum.
"""

import json
import sys

import numpy as np
import sklearn
from sklearn.datasets import load_iris
from sklearn.linear_model import LogisticRegression
from sklearn.multiclass import OneVsRestClassifier

x, y = load_iris(return_X_y=True)


def classifier(n, penalty):
    return LogisticRegression(
        C=1 / (2 * n * penalty), solver="newton-cholesky", tol=1e-13, max_iter=1000
    )


problems = []
for penalty in (1e-2, 1e-4):
    last = y > 0
    two = classifier(last.sum(), penalty).fit(x[last], y[last])
    three = OneVsRestClassifier(classifier(len(y), penalty)).fit(x, y)
    problems.append(
        {
            "lambda": penalty,
            "two_classes": two.predict_proba(x[last]).round(12).tolist(),
            "one_versus_rest": three.predict_proba(x).round(12).tolist(),
        }
    )
json.dump(
    {
        "made_by": f"benches/peers/probabilities.py, scikit-learn {sklearn.__version__}, numpy {np.__version__}",
        "rows": x.tolist(),
        "labels": y.tolist(),
        "problems": problems,
    },
    sys.stdout,
)
print()
