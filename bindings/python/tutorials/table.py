"""From a table to a tuned classifier.

The table has a column of text and columns of different units. A pipeline encodes and scales it, cross-validation selects
C, and the fit comes with a certificate: no other classifier of this C has an objective lower by more than the gap.
"""

from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from sklearn.compose import make_column_transformer
from sklearn.model_selection import train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

from margins_learn import MarginClassifierCV
from margins_learn.display import ErrorPathDisplay, MarginDistributionDisplay, ReliabilityDisplay


def table(rows: int = 1200) -> tuple[pd.DataFrame, pd.Series]:
    """Draws customers, some of whom leave."""
    rng = np.random.default_rng(1)
    frame = pd.DataFrame(
        {
            "age": rng.integers(18, 80, rows),
            "income": np.exp(rng.normal(10.5, 0.5, rows)),
            "plan": rng.choice(["basic", "family", "premium"], rows),
            "calls": rng.poisson(2, rows),
        }
    )
    leaning = 0.9 * frame["calls"] - 0.03 * frame["age"] + 1.2 * (frame["plan"] == "basic") - 1.0
    return frame, pd.Series(np.where(leaning + rng.logistic(size=rows) > 0, "leaves", "stays"), name="customer")


def main(folder: Path) -> None:
    frame, customer = table()
    train, test, y_train, y_test = train_test_split(frame, customer, test_size=0.5, random_state=1, stratify=customer)
    encode = make_column_transformer((OneHotEncoder(), ["plan"]), remainder=StandardScaler())
    search = MarginClassifierCV("logistic", selection="one-se", n_jobs=-1)
    model = make_pipeline(encode, search).fit(train, y_train)
    print(f"C = {search.best_C_:.3g}, {search.status_}, relative gap {search.relative_gap_:.1e}")
    print(f"accuracy on customers not seen: {model.score(test, y_test):.3f}")

    figure, axes = plt.subplots(1, 3, figsize=(13, 4), layout="constrained")
    ErrorPathDisplay.from_estimator(search, ax=axes[0])
    MarginDistributionDisplay.from_estimator(model, test, y_test, ax=axes[1])
    ReliabilityDisplay.from_estimator(model, test, y_test, positive="leaves", strategy="quantile", bins=8, ax=axes[2])
    figure.savefig(folder / "table.png", dpi=110)


if __name__ == "__main__":
    main(Path("."))
