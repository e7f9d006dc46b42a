"""Rare classes.

One sample in fifty belongs to the class that matters. `class_weight` sets the cost of an error on it; where every sample
counts, focused online learning makes the largest loss small instead of the mean.
"""

from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
from sklearn.metrics import recall_score

from margins_learn import FocusedClassifier, MarginClassifier
from margins_learn.display import MarginDistributionDisplay


def samples(rows: int = 3000) -> tuple[np.ndarray, np.ndarray]:
    """Draws samples of which one in fifty is rare, and separated by a narrow margin."""
    rng = np.random.default_rng(3)
    y = np.arange(rows) % 50 == 0
    X = rng.normal(size=(rows, 5))
    X[:, 0] = np.where(y, 1.1, -0.4) + 0.35 * np.clip(X[:, 0], -2, 2)
    return X, y


def main(folder: Path) -> None:
    X, y = samples()
    classifiers = {
        "mean loss": MarginClassifier("logistic", C=0.01),
        "rare errors cost 50": MarginClassifier("logistic", C=0.01, class_weight={True: 50.0}),
        "balanced": MarginClassifier("logistic", C=0.01, class_weight="balanced"),
        "largest loss": FocusedClassifier(combine="average", max_steps=200_000),
    }
    figure, ax = plt.subplots(figsize=(7, 4.5), layout="constrained")
    for name, classifier in classifiers.items():
        classifier.fit(X, y)
        predicted = classifier.predict(X)
        print(f"{name}: {100 * recall_score(y, predicted):.0f} % of the rare ones found, {100 * np.mean(predicted != y):.2f} % errors")
        scale = np.linalg.norm(classifier.coef_)
        scores = classifier.decision_function(X[y]) / scale
        MarginDistributionDisplay.from_predictions(y[y], scores, classes=[False, True], name=name, ax=ax)
    ax.set(title="distance of the rare samples from the boundary", xlabel="distance")
    figure.savefig(folder / "rare_classes.png", dpi=110)


if __name__ == "__main__":
    main(Path("."))
