"""Time the Python package beside programs that fit the same objectives.

    python python.py DATA [NAME ...] [--parts linear,searches,kernels]

DATA is a folder of svmlight and CSV files, `NAME.svm.gz` or `NAME.csv.gz` with a column `label`; NAMES are those to run, by default
five. Half of the rows, drawn by seed 1 and stratified, are fitted; the error is that on the other half. Features are divided by
their standard deviations. For each program: seconds of `fit`, the objective of our form at its coefficients, or at its combination of
kernels, beside the lowest known objective, which is the lower bound of our certified fit at the same C, and the test error. A search is held to
the objective at the C that it has chosen. A program that is not installed is left out by name. One process, whose libraries have one thread
each, on one processor.
"""

import argparse
import functools
import gzip
import importlib
import importlib.util
import os
import sys
import time
import warnings
from pathlib import Path

# Libraries read these when they are loaded.
for _library in ("OMP", "OPENBLAS", "MKL", "BLIS", "VECLIB_MAXIMUM", "NUMEXPR", "RAYON"):
    os.environ[f"{_library}_NUM_THREADS"] = "1"

import numpy as np
from scipy import sparse
from sklearn.datasets import load_svmlight_file
from sklearn.linear_model import LogisticRegressionCV, SGDClassifier
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.model_selection import GridSearchCV, train_test_split
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC, LinearSVC
from threadpoolctl import threadpool_info, threadpool_limits

import margins_learn as ml

NAMES = ["a9a", "ijcnn1", "mushrooms", "phishing", "australian"]
# Kernel classifiers get no more rows than this: LIBSVM takes them all, but not in the time of a bench.
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
    print(f"  {program:44} {seconds:8.2f} s  {excess:9.1e}  {100 * error:6.2f} %", flush=True)


def objective(loss, lam, y, scores, square):
    """Returns the mean loss with the penalty on the squared norm of a classifier."""
    return np.mean(ml.losses.value(loss, y * scores)) + lam * square


class Least:
    """The least objectives that our certified fits prove, one per value of C."""

    def __init__(self, loss, X, y, kernel=None):
        self.loss, self.X, self.y, self.kernel = loss, X, y, kernel

    @functools.cache
    def at(self, C):
        """Returns the lower bound at a C."""
        return ml.MarginClassifier(self.loss, C, self.kernel, tol=1e-8).fit(self.X, self.y).lower_bound_

    def excess(self, C, scores, square):
        """Returns how far the objective of scores and a squared norm is above the minimum, relative to the minimum."""
        value, least = objective(self.loss, 1 / (2 * len(self.y) * C), self.y, scores, square), self.at(C)
        return (value - least) / abs(least)


def proven(ours):
    """Returns how far the objective of a fit of ours is above its own lower bound, relative to it."""
    return (ours.objective_ - ours.lower_bound_) / abs(ours.lower_bound_)


def linear(X, y, test, y_test, *, C):
    """Compares linear classifiers at one C."""
    lam = 1 / (2 * len(y) * C)
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
        report("MarginClassifier", seconds, proven(ours), 1 - ours.score(test, y_test))
        least = Least(loss, X, y)
        for program, model in theirs + list(cyanure(loss, lam)):
            try:
                seconds = timed(model, X, y)
                scores = lambda rows: rows @ model.coef_.ravel() + np.ravel(model.intercept_)
                excess = least.excess(C, scores(X), np.sum(model.coef_**2))
                report(program, seconds, excess, np.mean(np.where(scores(test) > 0, 1, -1) != y_test))
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
    report("MarginClassifierCV", timed(ours, X, y), proven(ours), 1 - ours.score(test, y_test))
    theirs = LogisticRegressionCV(Cs=CS, cv=5, l1_ratios=(0,), use_legacy_attributes=False, max_iter=1000)
    seconds = timed(theirs, X, y)
    excess = Least("logistic", X, y).excess(float(theirs.C_), theirs.decision_function(X), np.sum(theirs.coef_**2))
    report("LogisticRegressionCV", seconds, excess, 1 - theirs.score(test, y_test))


def kernels(X, y, test, y_test):
    """Compares cross-validations of kernel classifiers."""
    rows = min(X.shape[0], MOST_KERNEL_ROWS)
    X, y = (X[:rows].toarray() if sparse.issparse(X) else X[:rows]), y[:rows]
    test = test.toarray() if sparse.issparse(test) else test
    sigma = 1 / X.shape[1]
    print(f" gaussian kernel on {rows} rows, {len(CS)} values of C, 5 folds")
    for loss in ("hinge", "lhs"):
        ours = ml.MarginClassifierCV(loss, Cs=CS, kernels=f"gaussian:sigma={sigma}", cv=5)
        report(f"MarginClassifierCV, {loss}", timed(ours, X, y), proven(ours), 1 - ours.score(test, y_test))
    least = Least("hinge", X, y, f"gaussian:sigma={sigma}")
    for program, model in (("SVC with GridSearchCV", SearchedSVC(SVC, sigma)), *intelex(sigma), *torchkm(sigma)):
        try:
            seconds = timed(model, X, y)
            excess = least.excess(model.C, model.scores(X), model.square())
            report(program, seconds, excess, np.mean(np.where(model.scores(test) > 0, 1, -1) != y_test))
        except Exception as failure:  # A peer may refuse data.
            print(f"  {program}: {failure}")


class SearchedSVC:
    """A cross-validated SVC of scikit-learn, or of a program that has its attributes."""

    def __init__(self, kind, sigma):
        self.sigma, self.search = sigma, GridSearchCV(kind(gamma=sigma, cache_size=1000), {"C": CS}, cv=5)

    def fit(self, X, y):
        self.search.fit(X, y)
        self.C = self.search.best_params_["C"]

    def scores(self, X):
        return np.ravel(self.search.decision_function(X))

    def square(self):
        """Returns the squared norm of the classifier in the space of the kernel."""
        best = self.search.best_estimator_
        alpha = np.ravel(best.dual_coef_)
        return alpha @ rbf_kernel(best.support_vectors_, gamma=self.sigma) @ alpha


def intelex(sigma):
    """Yields the search over the SVC of scikit-learn-intelex, if it is there."""
    try:
        svm = importlib.import_module("sklearnex.svm")
    except ImportError:
        return
    yield "scikit-learn-intelex SVC with GridSearchCV", SearchedSVC(svm.SVC, sigma)


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
        best = int(torch.argmin(self.model.cv(self.model.pred, torch.from_numpy(y))))
        self.C, self.alpha = float(CS[::-1][best]), self.model.alpmat[:, best]

    def scores(self, X):
        import torch
        from torchkm.functions import kernelMult

        return (kernelMult(torch.from_numpy(X), self.X, self.sigma) @ self.alpha[1:] + self.alpha[0]).numpy()

    def square(self):
        """Returns the squared norm of the classifier in the space of the kernel."""
        alpha = self.alpha[1:].numpy()
        return alpha @ (self.scores(self.X.numpy()) - float(self.alpha[0]))


def torchkm(sigma):
    """Yields TorchKM, if it is there."""
    try:
        importlib.import_module("torchkm.cvksvm")
    except ImportError:
        return
    # Its sigma is half of ours: exp(-2 sigma ||x - z||^2).
    yield "TorchKM", TorchKM(sigma / 2)


def one_thread():
    """Gives every library that is loaded one thread, and the process one processor."""
    threadpool_limits(1)
    # Pools that neither the environment nor threadpoolctl reaches.
    if importlib.util.find_spec("torch"):
        importlib.import_module("torch").set_num_threads(1)
    if importlib.util.find_spec("daal4py"):
        importlib.import_module("daal4py").daalinit(1)
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})


PARTS = {"linear": functools.partial(linear, C=0.1), "searches": searches, "kernels": kernels}


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("data", type=Path)
    parser.add_argument("names", nargs="*", default=NAMES)
    parser.add_argument("--parts", default=",".join(PARTS), help="those of the comparison, with commas between them")
    arguments = parser.parse_args()
    parts = arguments.parts.split(",")
    unknown = next((part for part in parts if part not in PARTS), None)
    if unknown is not None:
        parser.error(f"--parts has {unknown!r}, but must be of {', '.join(PARTS)}")
    warnings.simplefilter("ignore")
    one_thread()
    wide = [pool["filepath"] for pool in threadpool_info() if pool["num_threads"] != 1]
    if wide:
        raise SystemExit(f"these libraries have several threads: {', '.join(wide)}")
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
        for part in parts:
            PARTS[part](X, y, test, y_test)


if __name__ == "__main__":
    main()
