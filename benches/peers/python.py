"""Time the Python package beside programs that fit the same objectives.

    python python.py DATA [NAME ...]

DATA is a folder of svmlight and CSV files, `NAME.svm.gz` or `NAME.csv.gz` with a column `label`; NAMES are those to run, five
unless told. Half of the rows, drawn by seed 1 and stratified, are fitted, the others tell the error. Features are divided by
their standard deviations. For each program: seconds of `fit`, the objective of our form at its coefficients beside the
least one known (the lower bound of the certified fit), and the test error. A program that is not installed is left out
by name. One process, one thread.
"""

import argparse
import gzip
import importlib
import importlib.util
import sys
import time
import warnings
from pathlib import Path

import numpy as np
from scipy import sparse
from sklearn.datasets import load_svmlight_file
from sklearn.linear_model import LogisticRegressionCV, SGDClassifier
from sklearn.model_selection import GridSearchCV, train_test_split
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC, LinearSVC

import margins_learn as ml

NAMES = ["a9a", "ijcnn1", "mushrooms", "phishing", "australian"]
# Kernel machines get no more rows than this: LIBSVM takes them all, but not in the time of a bench.
MOST_KERNEL_ROWS = 3000
CS = np.geomspace(1e-3, 10, 9)


def read(folder, name):
    """Returns the samples and their labels."""
    for ending in (".svm.gz", ".csv.gz"):
        path = folder / f"{name}{ending}"
        if path.exists() and ending == ".svm.gz":
            return load_svmlight_file(str(path))
        if path.exists():
            with gzip.open(path, "rt") as file:
                header = file.readline().strip().split(",")
                table = np.loadtxt(file, delimiter=",")
            label = header.index("label")
            return np.delete(table, label, axis=1), table[:, label]
    raise SystemExit(f"{folder} has no {name}.svm.gz and no {name}.csv.gz")


def timed(model, X, y):
    """Returns the seconds of the fit."""
    began = time.perf_counter()
    model.fit(X, y)
    return time.perf_counter() - began


def report(program, seconds, excess, error):
    """Prints a line of the table."""
    excess = "" if excess is None else f"{excess:9.1e}"
    print(f"  {program:44} {seconds:8.2f} s  {excess:>9}  {100 * error:6.2f} %", flush=True)


def objective(loss, lam, signs, scores, w):
    """Returns the mean loss with the penalty."""
    return np.mean(ml.losses.value(loss, signs * scores)) + lam * np.sum(w**2)


def linear(X, y, test, y_test, C):
    """Compares linear classifiers at one C."""
    signs, lam = np.where(y > 0, 1, -1), 1 / (2 * len(y) * C)
    for loss, theirs in (
        ("logistic", [("SGDClassifier", SGDClassifier("log_loss", alpha=2 * lam, random_state=1))]),
        (
            "squared-hinge",
            [("LinearSVC, its intercept penalised", LinearSVC(C=C, random_state=1, max_iter=10_000))],
        ),
        ("hinge", [("SGDClassifier", SGDClassifier("hinge", alpha=2 * lam, random_state=1))]),
    ):
        ours = ml.MarginClassifier(loss, C)
        seconds = timed(ours, X, y)
        print(f" {loss}, C = {C:g}")
        report("MarginClassifier", seconds, ours.objective_ / ours.lower_bound_ - 1, 1 - ours.score(test, y_test))
        for program, model in theirs + list(cyanure(loss, lam)):
            try:
                seconds = timed(model, X, y)
                scores = X @ model.coef_.ravel() + np.ravel(model.intercept_)
                value = objective(loss, lam, signs, scores, model.coef_)
                error = np.mean(np.where(test @ model.coef_.ravel() + np.ravel(model.intercept_) > 0, 1, -1) != np.sign(y_test))
                report(program, seconds, value / ours.lower_bound_ - 1, error)
            except Exception as failure:  # A peer may refuse data.
                print(f"  {program}: {failure}")


def cyanure(loss, lam):
    """Yields the classifier of cyanure, if it is there and has the loss; it takes the squared loss for the hinge."""
    names = {"logistic": "logistic", "squared-hinge": "sqhinge"}
    if loss not in names:
        return
    try:
        estimators = importlib.import_module("cyanure.estimators")
    except ImportError:
        return
    yield "cyanure", estimators.Classifier(
        loss=names[loss], penalty="l2", lambda_1=2 * lam, fit_intercept=True, tol=1e-6, verbose=False
    )


def searches(X, y, test, y_test):
    """Compares cross-validations over the same values of C and folds."""
    print(f" cross-validation over {len(CS)} values of C, 5 folds")
    ours = ml.MarginClassifierCV("logistic", Cs=CS, cv=5)
    report("MarginClassifierCV", timed(ours, X, y), None, 1 - ours.score(test, y_test))
    theirs = LogisticRegressionCV(Cs=CS, cv=5, l1_ratios=(0,), use_legacy_attributes=False, max_iter=1000)
    report("LogisticRegressionCV", timed(theirs, X, y), None, 1 - theirs.score(test, y_test))


def kernels(X, y, test, y_test):
    """Compares cross-validations of kernel machines."""
    rows = min(X.shape[0], MOST_KERNEL_ROWS)
    X, y = (X[:rows].toarray() if sparse.issparse(X) else X[:rows]), y[:rows]
    test = test.toarray() if sparse.issparse(test) else test
    sigma = 1 / X.shape[1]
    print(f" gaussian kernel on {rows} rows, {len(CS)} values of C, 5 folds")
    for loss in ("hinge", "lhs"):
        ours = ml.MarginClassifierCV(loss, Cs=CS, kernels=f"gaussian:sigma={sigma}", cv=5)
        report(f"MarginClassifierCV, {loss}", timed(ours, X, y), None, 1 - ours.score(test, y_test))
    theirs = GridSearchCV(SVC(gamma=sigma, cache_size=1000), {"C": CS}, cv=5)
    report("SVC with GridSearchCV", timed(theirs, X, y), None, 1 - theirs.score(test, y_test))
    for program, model in (*intelex(sigma), *torchkm(sigma)):
        try:
            report(program, timed(model, X, y), None, np.mean(np.ravel(model.predict(test)) != y_test))
        except Exception as failure:  # A peer may refuse data.
            print(f"  {program}: {failure}")


def intelex(sigma):
    """Yields the search over the SVC of scikit-learn-intelex, if it is there."""
    try:
        svm = importlib.import_module("sklearnex.svm")
    except ImportError:
        return
    yield "scikit-learn-intelex SVC with GridSearchCV", GridSearchCV(svm.SVC(gamma=sigma), {"C": CS}, cv=5)


class TorchKM:
    """The cross-validated support vector machine of torchkm, on the processor."""

    def __init__(self, sigma):
        self.sigma = sigma

    def fit(self, X, y):
        import torch
        from torchkm.cvksvm import cvksvm
        from torchkm.functions import rbf_kernel

        self.X = torch.from_numpy(X)
        matrix = rbf_kernel(self.X, self.sigma)
        lambdas = torch.from_numpy(1 / (2 * len(y) * CS[::-1].copy()))
        folds = 5
        self.model = cvksvm(
            Kmat=matrix, y=torch.from_numpy(y), nlam=len(CS), ulam=lambdas, nfolds=folds, eps=1e-5, maxit=1000,
            gamma=1e-8, is_exact=0, foldid=torch.arange(len(y)) % folds + 1, device="cpu",
        )
        self.model.fit()
        self.best = int(torch.argmin(self.model.cv(self.model.pred, torch.from_numpy(y))))

    def predict(self, X):
        import torch
        from torchkm.functions import kernelMult

        alpha = self.model.alpmat[:, self.best]
        scores = kernelMult(torch.from_numpy(X), self.X, self.sigma) @ alpha[1:] + alpha[0]
        return torch.sign(scores).numpy()


def torchkm(sigma):
    """Yields TorchKM, if it is there."""
    try:
        importlib.import_module("torchkm.cvksvm")
    except ImportError:
        return
    yield "TorchKM", TorchKM(sigma)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("data", type=Path)
    parser.add_argument("names", nargs="*", default=NAMES)
    arguments = parser.parse_args()
    warnings.simplefilter("ignore")
    for module in ("cyanure", "sklearnex", "torchkm"):
        if importlib.util.find_spec(module) is None:
            print(f"{module} is not installed and left out", file=sys.stderr)
    print("  program                                          time    above least   test error")
    for name in arguments.names:
        X, y = read(arguments.data, name)
        y = np.where(y > 0, 1.0, -1.0)
        X, test, y, y_test = train_test_split(X, y, test_size=0.5, random_state=1, stratify=y)
        scaler = StandardScaler(with_mean=not sparse.issparse(X)).fit(X)
        X, test = scaler.transform(X), scaler.transform(test)
        print(f"{name}: {X.shape[0]} rows, {X.shape[1]} features")
        linear(X, y, test, y_test, 0.1)
        searches(X, y, test, y_test)
        kernels(X, y, test, y_test)


if __name__ == "__main__":
    main()
