"""Time several classes in one problem beside scikit-learn, at the same objectives.

    python several_classes.py [--data-dir DIR] [--runs 5] [--threads 2] [NAME ...]

Tables: `digits` of scikit-learn, `covertype` (200,000 x 54, seven types; `covtype.csv.gz` and
`covtype_cover_type.csv.gz` of DIR), `mixture` (50,000 x 100, 50 normal classes) and `text` (docstrings of the installed
packages, the 20 packages with most of them, sparse). NAMES are those to run, by default all that are there.

Fits alternate, and the table has medians of the seconds of `fit`. Ours are certified to 1e-6. Of scikit-learn it is the
loosest tolerance whose objective is within 1e-6 of ours, relatively; the column *excess* has what it leaves, and *above*
marks a fit that no tolerance brings there. `joint logistic` stands beside our own `multinomial`, and `joint hinge`
beside LinearSVC(crammer_singer), whose objective is another one; `crammer-singer` has the same. Kernel fits stand
beside SVC, which fits one problem for each pair of classes.
"""

import argparse
import ast
import gzip
import os
import sys
import time
import warnings
from collections import defaultdict
from pathlib import Path

_parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
_parser.add_argument("names", nargs="*")
_parser.add_argument("--data-dir", type=Path)
_parser.add_argument("--runs", type=int, default=5)
_parser.add_argument("--threads", type=int, default=2)
ARGUMENTS = _parser.parse_args()
# Libraries read these when they are loaded.
for _library in ("OMP", "OPENBLAS", "MKL", "BLIS", "VECLIB_MAXIMUM", "NUMEXPR", "RAYON"):
    os.environ[f"{_library}_NUM_THREADS"] = str(ARGUMENTS.threads)

import numpy as np
from scipy import sparse
from scipy.special import logsumexp
from sklearn.datasets import load_digits
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC, LinearSVC

import margins_learn as ml

NEAR = 1e-6
# Rows of the kernel fits to covertype.
KERNEL_ROWS = 10_000
# The most coefficients for which newton-cholesky forms its matrix.
MOST_DENSE = 6000
LAMBDA = 1e-4
# Seconds of a fit beyond which no smaller tolerance is tried.
LONGEST = 120


def digits(_folder):
    X, y = load_digits(return_X_y=True)
    return X / 16, y


def covertype(folder):
    if folder is None or not (folder / "covtype_cover_type.csv.gz").exists():
        return None
    with gzip.open(folder / "covtype.csv.gz", "rt") as file:
        header = file.readline().strip().split(",")
        table = np.loadtxt(file, delimiter=",")
    with gzip.open(folder / "covtype_cover_type.csv.gz", "rt") as file:
        file.readline()
        y = np.loadtxt(file).astype(int)
    X = np.delete(table, header.index("label"), axis=1)
    return StandardScaler().fit_transform(X), y


def mixture(_folder):
    random = np.random.default_rng(1)
    centres = random.normal(size=(50, 100))
    y = random.integers(50, size=50_000)
    return centres[y] + 3 * random.normal(size=(len(y), 100)), y


def docstrings(path):
    """Yields the docstrings of a module, its classes and its functions."""
    try:
        tree = ast.parse(path.read_text(encoding="utf-8"))
    except (OSError, SyntaxError, ValueError, RecursionError):
        return
    for node in ast.walk(tree):
        if isinstance(node, (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)):
            yield ast.get_docstring(node) or ""


def text(_folder):
    few, most, packages = 30, 1500, 20
    found = defaultdict(list)
    folders = {Path(path) for path in sys.path if path.endswith("site-packages")}
    for folder in sorted(folders):
        for path in sorted(folder.rglob("*.py")):
            package = path.relative_to(folder).parts[0]
            if len(found[package]) < most:
                found[package] += [text for text in docstrings(path) if len(text.split()) >= few]
    largest = sorted(found, key=lambda package: (-len(found[package]), package))[:packages]
    texts = [(text, k) for k, package in enumerate(largest) for text in found[package][:most]]
    X = TfidfVectorizer(min_df=3).fit_transform([text for text, _ in texts])
    return sparse.csr_matrix(X), np.array([k for _, k in texts])


TABLES = {"digits": digits, "covertype": covertype, "mixture": mixture, "text": text}


def scores_of(fitted, X):
    return np.asarray(X @ fitted.coef_.T) + fitted.intercept_


def objective(loss, penalty, fitted, X, y):
    """Returns the objective of our form at the coefficients of a classifier."""
    scores = scores_of(fitted, X)
    own = scores[np.arange(len(y)), y][:, None]
    if loss == "multinomial":
        of_rows = logsumexp(scores, axis=1) - own[:, 0]
    else:
        hinges = np.maximum(0, 1 - own + scores)
        hinges[np.arange(len(y)), y] = 0
        of_rows = hinges.max(axis=1)
    return of_rows.mean() + penalty * np.sum(fitted.coef_**2)


def seconds(make, X, y):
    """Returns the seconds of a fit, and the fit."""
    estimator = make()
    begun = time.perf_counter()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        estimator.fit(X, y)
    return time.perf_counter() - begun, estimator


def loosest(make, near, X, y):
    """Returns the loosest tolerance at which the fits of scikit-learn are near enough, and whether one is."""
    for tol in 10.0 ** -np.arange(2, 10):
        spent, fitted = seconds(lambda: make(tol), X, y)
        if near(fitted):
            return tol, True
        if spent > LONGEST:
            break
    return tol, False


def compared(name, ours, theirs, X, y, value=None):
    """Prints a row: our fits and others by turns, with the objectives if both have the same."""
    try:
        _, mine = seconds(ours, X, y)
    except ValueError as refused:
        print(f"| {name} | refused: {refused} | | | | |", flush=True)
        return
    excess = ""
    if value is not None:
        least = value(mine)
        bound = lambda fitted: value(fitted) - least <= NEAR * abs(least)
        tol, is_near = loosest(theirs, bound, X, y)
        make = lambda: theirs(tol)
    else:
        make, is_near = theirs, True
    times = [[], []]
    for _ in range(ARGUMENTS.runs):
        for taken, maker in zip(times, (ours, make)):
            spent, fitted = seconds(maker, X, y)
            taken.append(spent)
    if value is not None:
        excess = f"{(value(fitted) - least) / abs(least):.1e}" + ("" if is_near else ", above")
    mean, other = (float(np.median(taken)) for taken in times)
    gap = float(np.max(mine.relative_gap_))
    print(f"| {name} | {mean:.3f} | {other:.3f} | {mean / other:.2f} | {gap:.1e} | {excess} |", flush=True)


def main():
    print("| fit | ours, s | other, s | ratio | our relative gap | excess of the other |")
    print("| --- | --: | --: | --: | --: | --: |")
    for name, table in TABLES.items():
        if ARGUMENTS.names and name not in ARGUMENTS.names:
            continue
        found = table(ARGUMENTS.data_dir)
        if found is None:
            print(f"{name} is left out: its files are not in --data-dir", file=sys.stderr)
            continue
        X, y = found
        y = np.unique(y, return_inverse=True)[1]
        n, p = X.shape
        k = y.max() + 1
        C = 1 / (2 * n * LAMBDA)

        def fit(loss="logistic", multi_class="multinomial", C=C, **more):
            return lambda: ml.MarginClassifier(loss, C=C, multi_class=multi_class, n_jobs=ARGUMENTS.threads, **more)

        size = f"{name}, {n} x {p}, {k} classes"
        value = lambda fitted: objective("multinomial", LAMBDA, fitted, X, y)
        solvers = ["lbfgs"]
        if not sparse.issparse(X) and k * (p + 1) <= MOST_DENSE:
            solvers.append("newton-cholesky")
        for solver in solvers:
            theirs = lambda tol, solver=solver: LogisticRegression(C=C, tol=tol, solver=solver, max_iter=10_000)
            compared(f"{size}: multinomial, {solver}", fit(), theirs, X, y, value)
        compared(f"{size}: joint logistic, our multinomial", fit(multi_class="joint"), fit(), X, y)
        machine = lambda tol: LinearSVC(C=C, tol=tol, multi_class="crammer_singer", fit_intercept=False, max_iter=100_000)
        joint = fit("hinge", "joint", fit_intercept=False)
        compared(f"{size}: joint hinge, LinearSVC(crammer_singer)", joint, lambda: machine(1e-4), X, y)
        largest = lambda fitted: objective("hinge", LAMBDA, fitted, X, y)
        same = fit("hinge", "crammer-singer", fit_intercept=False)
        compared(f"{size}: crammer-singer, LinearSVC(crammer_singer)", same, machine, X, y, largest)
        if name in ("digits", "covertype"):
            rows = np.random.default_rng(1).permutation(n)[:KERNEL_ROWS]
            of_rows, part = X[rows], 1 / (2 * len(rows) * LAMBDA)
            for loss in ("logistic", "hinge"):
                ours = fit(loss, "joint", C=part, kernel="gaussian:sigma=0.05")
                svc = lambda: SVC(C=part, gamma=0.05, cache_size=1000)
                compared(f"{name}, {len(rows)} rows: joint {loss}, Gaussian, SVC", ours, svc, of_rows, y[rows])


if __name__ == "__main__":
    main()
