"""Noisy labels.

A tenth of the labels is flipped, and a few samples lie far away on the wrong side. A convex loss pays for every one of
them; a learner for Massart noise knows that labels lie, and a robust objective lets no single sample rule.
"""

from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np

from margins_learn import MarginClassifier, MassartClassifier, RobustClassifier


def samples(rows: int = 2000) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Draws samples, their noisy classes and their true ones."""
    rng = np.random.default_rng(2)
    X = rng.normal(size=(rows, 2))
    truth = X @ [1.0, 0.6] > 0
    y = truth ^ (rng.random(rows) < 0.1)
    far = slice(0, 25)
    X[far] = [9.0, -2.0] + rng.normal(size=(25, 2))
    y[far] = False
    truth[far] = True
    return X, y, truth


def main(folder: Path) -> None:
    X, y, truth = samples()
    classifiers = {
        "logistic": MarginClassifier("logistic"),
        "Catoni's risk of it": RobustClassifier("catoni:alpha=1", "logistic"),
        "Massart, cutting planes": MassartClassifier("cuts", eta=0.15, gamma=0.02, scale_rows="each"),
        "Massart, stochastic gradient": MassartClassifier("sgd", eta=0.15, gamma=0.1, scale_rows="each"),
    }
    figure, axes = plt.subplots(1, 4, figsize=(15, 4), sharex=True, sharey=True, layout="constrained")
    grid = np.stack(np.meshgrid(np.linspace(-4, 12, 80), np.linspace(-5, 5, 60)), axis=-1)
    for ax, (name, classifier) in zip(axes, classifiers.items()):
        classifier.fit(X, y)
        wrong = 100 * np.mean(classifier.predict(X[25:]) != truth[25:])
        print(f"{name}: {wrong:.1f} % of the true labels missed")
        regions = classifier.predict(grid.reshape(-1, 2)).reshape(60, 80)
        ax.contourf(*np.moveaxis(grid, -1, 0), regions, alpha=0.25, levels=1, cmap="coolwarm")
        points = ax.scatter(*X.T, c=y, s=3, cmap="coolwarm")
        ax.set_title(f"{name}: {wrong:.1f} % missed", fontsize="medium")
        ax.set_xlabel("first feature")
    axes[0].set_ylabel("second feature")
    axes[0].legend(points.legend_elements()[0], ["label False", "label True"], fontsize="small", loc="upper right")
    figure.savefig(folder / "noisy_labels.png", dpi=110)


if __name__ == "__main__":
    main(Path("."))
