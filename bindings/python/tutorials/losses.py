"""Choosing a loss.

Losses differ in what they say about misclassification, in whether they have probabilities, and in how far a sample on
the wrong side pulls. Two pictures show the first and the last; the table counts errors.
"""

from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np

from margins_learn import MarginClassifierCV, losses
from margins_learn.display import PsiDisplay

NAMES = ["lhs", "logistic", "hinge", "squared-hinge", "exponential", "margin-pursuit"]


def samples(rows: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Draws two clouds with heavy tails."""
    rng = np.random.default_rng(seed)
    y = np.arange(rows) % 2
    return rng.standard_t(2.5, size=(rows, 4)) + np.where(y, 0.7, -0.7)[:, None], y


def main(folder: Path) -> None:
    figure, (left, right) = plt.subplots(1, 2, figsize=(11, 4.2), layout="constrained")
    margins = np.linspace(-2, 3, 251)
    # The first is the hinge up to the margin 1, and is seen behind it.
    for name, width in zip(NAMES, [4, 1.5, 1.5, 1.5, 1.5, 1.5]):
        left.plot(margins, losses.value(name, margins), linewidth=width, label=losses.specification(name))
    left.set(xlabel="margin", ylabel="loss", ylim=(-1, 5))
    left.legend(frameon=False, fontsize="small")
    PsiDisplay.from_losses(NAMES, ax=right)
    figure.savefig(folder / "losses.png", dpi=110)

    train, y_train = samples(200, 1)
    test, y_test = samples(4000, 2)
    for name in NAMES:
        search = MarginClassifierCV(name, Cs=np.geomspace(1e-3, 1, 7)).fit(train, y_train)
        probabilities = "probabilities" if hasattr(search, "predict_proba") else "none"
        print(f"{name:15} {100 * (1 - search.score(test, y_test)):5.2f} % errors, C = {search.best_C_:.3g}, {probabilities}")


if __name__ == "__main__":
    main(Path("."))
