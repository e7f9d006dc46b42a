"""Held-out errors of `focus` on tables whose labels no halfspace fits, beside logistic regression.

    python focused.py --data-dir FOLDER [--names NAME...]

The folder has NAME.csv or NAME.csv.gz with a column `label`. Features are standardised within each training set. The
table has the percent of held-out rows that are wrong in ten 5-fold cross-validations, and the mean difference to
logistic regression on the same splits with its standard error.
"""

import argparse
from pathlib import Path

import numpy as np
import pandas as pd
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import RepeatedStratifiedKFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from margins_learn import FocusedClassifier

OTHERS = {
    "one game, --slack none": {"slack": "none"},
    "default": {},
}


def errors(make, x, y):
    """The percent of wrong held-out rows, one number a cross-validation."""
    splits = list(RepeatedStratifiedKFold(n_splits=5, n_repeats=10, random_state=1).split(x, y))
    wrong = [np.sum(make().fit(x[a], y[a]).predict(x[b]) != y[b]) for a, b in splits]
    return 100 * np.reshape(wrong, (10, 5)).sum(axis=1) / len(y)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data-dir", type=Path, required=True)
    parser.add_argument("--names", nargs="+", default=["australian", "heart_cleveland", "spect"])
    arguments = parser.parse_args()
    for name in arguments.names:
        table = pd.read_csv(next(arguments.data_dir.glob(f"{name}.csv*")))
        y = table.pop("label").to_numpy()
        x = table.to_numpy(dtype=float)
        logistic = errors(lambda: make_pipeline(StandardScaler(), LogisticRegression(max_iter=10_000)), x, y)
        print(f"{name}: logistic regression {logistic.mean():.1f}")
        for what, settings in OTHERS.items():
            own = errors(lambda: FocusedClassifier(standardize=True, **settings), x, y)
            difference = own - logistic
            error = difference.std(ddof=1) / np.sqrt(len(difference))
            print(f"  {what}: {own.mean():.1f}, difference {difference.mean():+.2f} +- {error:.2f}")


if __name__ == "__main__":
    main()
