"""Several classes beside scikit-learn, on its handwritten digits.

    cargo build --release -p margins-benches --example multiclass
    python multiclass.py [--runs 5]

Writes the 1797 digits (64 features over 16) to two CSV files, 70 % of every class to train on, and fits each problem
alternately with `multiclass` and with scikit-learn, one thread each, training alone without reading. C = 1/(2 n lambda) with n the
samples that a binary problem has. Prints a table: medians of the seconds, the test errors with the standard error of
their difference, and for probabilities the mean log-loss.
"""

import argparse
import json
import os
import subprocess
import tempfile
import time

import numpy as np
from sklearn.datasets import load_digits
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import log_loss
from sklearn.model_selection import train_test_split
from sklearn.multiclass import OneVsRestClassifier
from sklearn.svm import SVC, LinearSVC

EXAMPLE = "target/release/examples/multiclass"


def write(path, x, y):
    header = ",".join([f"x{j}" for j in range(x.shape[1])] + ["label"])
    np.savetxt(path, np.column_stack([x, y]), delimiter=",", header=header, comments="", fmt="%.17g")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=5)
    runs = parser.parse_args().runs
    x, y = load_digits(return_X_y=True)
    x = x / 16
    x, x_test, y, y_test = train_test_split(x, y, test_size=0.3, random_state=1, stratify=y)
    n, pair = len(y), len(y) // 5
    c = lambda size, penalty: 1 / (2 * size * penalty)
    rest = OneVsRestClassifier
    gaussian = "gaussian:sigma=0.05"
    problems = [
        ("logistic, one-versus-rest", ["ovr", "logistic", "1e-4", "none", "loss"],
         lambda: rest(LogisticRegression(C=c(n, 1e-4), max_iter=1000)), True),
        ("squared hinge, one-versus-rest", ["ovr", "squared-hinge", "1e-4", "none", "none"],
         lambda: rest(LinearSVC(C=c(n, 1e-4), max_iter=10000)), False),
        ("hinge, Gaussian, one-versus-rest", ["ovr", "hinge", "1e-4", gaussian, "none"],
         lambda: rest(SVC(C=c(n, 1e-4), gamma=0.05, cache_size=1000)), False),
        ("hinge, Gaussian, one-versus-one", ["ovo", "hinge", "1e-4", gaussian, "none"],
         lambda: SVC(C=c(pair, 1e-4), gamma=0.05, cache_size=1000), False),
        ("the same with Platt scaling", ["ovo", "hinge", "1e-4", gaussian, "platt"],
         lambda: SVC(C=c(pair, 1e-4), gamma=0.05, cache_size=1000, probability=True, random_state=1), True),
        ("leaky hockey stick, Gaussian, one-versus-rest", ["ovr", "lhs", "1e-4", gaussian, "loss"], None, True),
    ]
    print("| problem | ours | scikit-learn | ratio | test error % | of scikit-learn | standard error | log-loss | of scikit-learn | standard error |")
    print("| --- | --: | --: | --: | --: | --: | --: | --: | --: | --: |")
    with tempfile.TemporaryDirectory() as directory:
        train, test = (os.path.join(directory, name) for name in ("train.csv", "test.csv"))
        write(train, x, y)
        write(test, x_test, y_test)
        for name, arguments, make, probabilities in problems:
            ours, theirs = [], []
            for _ in range(runs):
                out = subprocess.run([EXAMPLE, train, test, *arguments], capture_output=True, text=True, check=True)
                result = json.loads(out.stdout)
                ours.append(result["seconds"])
                if make:
                    classifier = make()
                    start = time.perf_counter()
                    classifier.fit(x, y)
                    theirs.append(time.perf_counter() - start)
            assert result["certified"]
            wrong = np.array(result["predicted"]) != y_test
            row = [name, f"{np.median(ours):.3f} s"]
            if make:
                their_wrong = classifier.predict(x_test) != y_test
                difference = wrong.astype(float) - their_wrong
                row += [f"{np.median(theirs):.3f} s", f"{np.median(np.array(theirs) / np.array(ours)):.1f}",
                        f"{100 * wrong.mean():.2f}", f"{100 * their_wrong.mean():.2f}",
                        f"{100 * difference.std() / np.sqrt(len(difference)):.2f}"]
            else:
                row += ["", "", f"{100 * wrong.mean():.2f}", "", ""]
            if probabilities:
                each = lambda p: -np.log(np.clip(np.asarray(p)[np.arange(len(y_test)), y_test], 1e-15, 1))
                mine = each(result["probabilities"])
                row.append(f"{mine.mean():.4f}")
                if make:
                    other = each(classifier.predict_proba(x_test))
                    row += [f"{other.mean():.4f}", f"{(mine - other).std() / np.sqrt(len(mine)):.4f}"]
                else:
                    row += ["", ""]
            else:
                row += ["", "", ""]
            print("| " + " | ".join(row) + " |", flush=True)


if __name__ == "__main__":
    main()
