"""Time scikit-learn's SVC (LIBSVM) on the folds and lambdas of `margins cv`.

    python svc.py FILE SIGMA [--every K]

FILE is a CSV with feature columns, `label` (-1, 1) and `fold`. For every fold and 100 lambdas from 1 to
1e-7, C = 1/(2 n lambda) with n the rows of the file, SVC with a Gaussian kernel is fitted to the other
folds and predicts the fold. With --every K only every K-th lambda is fitted and the time multiplied by
K. One process, default tolerance (1e-3), a kernel cache that holds the whole matrix.
"""

import argparse
import csv
import gzip
import time

import numpy as np
from sklearn.svm import SVC


def read(path):
    opened = gzip.open(path, "rt") if path.endswith(".gz") else open(path)
    with opened as file:
        rows = list(csv.reader(file))
    header, table = rows[0], np.array(rows[1:], dtype=float)
    label, fold = header.index("label"), header.index("fold")
    features = [j for j in range(len(header)) if j not in (label, fold)]
    return table[:, features], table[:, label], table[:, fold]


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("file")
    parser.add_argument("sigma", type=float)
    parser.add_argument("--every", type=int, default=1)
    arguments = parser.parse_args()
    x, y, fold = read(arguments.file)
    lambdas = np.logspace(0, -7, 100)[:: arguments.every]
    errors = np.zeros(len(lambdas))
    start = time.perf_counter()
    for held_out in np.unique(fold):
        train, test = fold != held_out, fold == held_out
        for k, penalty in enumerate(lambdas):
            classifier = SVC(
                C=1 / (2 * len(y) * penalty), gamma=arguments.sigma, cache_size=4000
            ).fit(x[train], y[train])
            errors[k] += np.sum(classifier.predict(x[test]) != y[test])
    seconds = (time.perf_counter() - start) * arguments.every
    best = np.argmin(errors)
    print(f"{seconds:.2f} s, least error {errors[best] / len(y):.4f} at lambda {lambdas[best]:.3g}")


if __name__ == "__main__":
    main()
