"""Coming from other programs.

Each pair fits the same objective: the coefficients of ours are theirs, or their objective is above ours. The words for
the parameters of the R packages lhsc, kerndwd and gcdnet stand at the end.
"""

from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
from sklearn.linear_model import LogisticRegression, LogisticRegressionCV, SGDClassifier
from sklearn.model_selection import StratifiedKFold
from sklearn.svm import SVC, LinearSVC

from margins_learn import MarginClassifier, MarginClassifierCV, MarginPath, StreamClassifier


def samples(rows: int = 300) -> tuple[np.ndarray, np.ndarray]:
    """Draws two overlapping clouds."""
    rng = np.random.default_rng(4)
    y = np.arange(rows) % 2
    return rng.normal(size=(rows, 3)) + np.where(y, 0.6, -0.6)[:, None], y


def agree(program: str, theirs: np.ndarray, ours: np.ndarray, within: float) -> None:
    """Says how far the numbers of another program are from ours, and that they are near."""
    apart = np.abs(theirs - ours).max()
    print(f"{program}: {apart:.1e}")
    assert apart < within, f"{program} is {apart} away from ours"


def main(folder: Path) -> None:
    X, y = samples()

    # LogisticRegression(C) penalises with ||w||^2/2 beside C times the sum of losses: C is our C.
    theirs = LogisticRegression(C=0.5, tol=1e-10).fit(X, y)
    ours = MarginClassifier("logistic", C=0.5).fit(X, y)
    agree("LogisticRegression", theirs.coef_, ours.coef_, 1e-6)

    # SVC(kernel="rbf", gamma) is the hinge loss with the kernel gaussian:sigma=gamma.
    theirs = SVC(C=0.5, gamma=0.3, tol=1e-8).fit(X, y)
    ours = MarginClassifier("squared-hinge", C=0.5, kernel="gaussian:sigma=0.3").fit(X, y)
    print("SVC agrees with another loss on", np.mean(theirs.predict(X) == ours.predict(X)))
    hinge = MarginClassifier("hinge", C=0.5, kernel="gaussian:sigma=0.3").fit(X, y)
    agree("SVC", theirs.decision_function(X), hinge.decision_function(X), 1e-4)

    # LinearSVC penalises its intercept, as a coefficient of a feature that is intercept_scaling.
    ones = np.column_stack([X, np.ones(len(X))])
    theirs = LinearSVC(C=0.5, tol=1e-10, max_iter=100_000).fit(X, y)
    ours = MarginClassifier("squared-hinge", C=0.5, fit_intercept=False).fit(ones, y)
    agree("LinearSVC", theirs.coef_, ours.coef_[:, :3], 1e-5)

    # LogisticRegressionCV(Cs, cv) chooses by accuracy, as ours does by errors; ours has standard errors too. Both have the same
    # folds here: the errors hardly depend on C, so that with folds of its own, as cv=5 draws them, each would choose another C.
    Cs, folds = np.geomspace(1e-4, 10, 12), list(StratifiedKFold(5).split(X, y))
    accurate = {"scoring": "accuracy", "l1_ratios": (0,), "use_legacy_attributes": False, "tol": 1e-10}
    theirs = LogisticRegressionCV(Cs=Cs, cv=folds, **accurate).fit(X, y)
    ours = MarginClassifierCV("logistic", Cs=Cs, cv=folds).fit(X, y)
    agree("LogisticRegressionCV, errors", 1 - theirs.scores_.mean(axis=(0, 1)), ours.errors_, 1e-12)
    agree("LogisticRegressionCV, C", theirs.C_, ours.best_C_, 1e-12)

    # SGDClassifier(alpha) penalises with alpha ||w||^2/2 beside the mean loss: alpha is 2 lam. Its tol is about the change of the
    # loss, ours about the gap, which steps on single samples bring to some percent.
    theirs = SGDClassifier("log_loss", alpha=2e-3, random_state=1).fit(X, y)
    ours = StreamClassifier("logistic", lam=1e-3, tol=0.05).fit(X, y)
    print("SGDClassifier agrees on", np.mean(theirs.predict(X) == ours.predict(X)))

    # lhsc(x, y, kern=rbfdot(sigma), lambda) and kerndwd(..., qval) minimise the mean loss beside lambda a'Ka: their lambda is
    # ours, their sigma that of "gaussian:sigma=...", and their losses are "lhs" and "dwd:q=...". gcdnet(lambda2) with
    # lambda=0 halves the penalty: lambda2 is 2 lambda; its methods "logit" and "sqsvm" are "logistic" and "squared-hinge".
    path = MarginPath("lhs", lambdas=np.geomspace(1, 1e-4, 30), kernel="gaussian:sigma=0.3").fit(X, y)
    print("lhsc: a path of", len(path.lambdas_), "lambdas, the largest relative gap is", path.relative_gaps_.max())

    figure, ax = plt.subplots(figsize=(7, 4), layout="constrained")
    linear = MarginPath("logistic").fit(X, y)
    ax.plot(linear.Cs_, linear.coefs_[:, 0], label=["first feature", "second feature", "third feature"])
    ax.set(xscale="log", xlabel="C", ylabel="coefficient", title="MarginPath: every point has a certificate")
    ax.legend(frameon=False)
    figure.savefig(folder / "coming_from.png", dpi=110)


if __name__ == "__main__":
    main(Path("."))
