"""Run one program that `cargo xtask peers` compares margins with.

    python opponents.py JOB FILE --out COEFFICIENTS [options]

FILE is a CSV file with feature columns, `label` (-1, 1) and, where the job cross-validates, `fold`, or a svmlight file. The
last line of output is JSON: `seconds` of the work alone, with libraries loaded and data read, `version` of the program, and the
least cross-validated `error` where there is one. COEFFICIENTS is a file of little-endian doubles: for each lambda the intercept, then
the coefficients of the samples, or of the features where the classifier is linear; it is left out where a program does not report them.

Jobs:

    liquidsvm   grid of 10 widths x 10 lambdas, hinge, its own values
    svc         GridSearchCV of scikit-learn's SVC over --sigmas and --lambdas, two processes
    torchkm     path over --lambdas at the first of --sigmas, --model svm or logistic; --landmarks M for its Nystrom form
    intelex     one SVC of scikit-learn-intelex at the first of --sigmas and --lambdas
    cyanure     one linear classifier at the first of --lambdas, --model sqhinge, hinge or logistic, no intercept

C = 1/(2 n lambda), with n the rows of the file.
"""

import argparse
import contextlib
import gzip
import io
import json
import os
import sys
import time
import warnings
from importlib.metadata import version

import numpy as np

THREADS = 2


def read(path):
    """Returns samples, labels and folds (None without)."""
    if ".svm" in path:
        from sklearn.datasets import load_svmlight_file

        x, y = load_svmlight_file(path)
        return x.tocsr(), np.where(y > 0, 1.0, -1.0), None
    with gzip.open(path, "rt") if path.endswith(".gz") else open(path) as file:
        names = file.readline().strip().split(",")
        table = np.loadtxt(file, delimiter=",")
    fold = table[:, names.index("fold")].astype(int) if "fold" in names else None
    features = [j for j, name in enumerate(names) if name not in ("label", "fold")]
    return np.ascontiguousarray(table[:, features]), table[:, names.index("label")], fold


def timed(work):
    """Returns the seconds that the work takes, and its result."""
    began = time.perf_counter()
    result = work()
    return time.perf_counter() - began, result


def fitted(svm, n):
    """Returns intercept and coefficients of a fitted SVC as one row."""
    row = np.zeros(n + 1)
    row[0] = float(np.ravel(svm.intercept_)[0])
    row[1 + svm.support_] = np.ravel(svm.dual_coef_)
    return row[None, :]


def liquidsvm(x, y, fold, options):
    """Runs the whole selection of liquidSVM with its own grid and folds."""
    import liquidSVM

    settings = dict(folds=5, threads=THREADS, d=0, grid_choice=0, scale=False)
    seconds, model = timed(lambda: liquidSVM.mcSVM(x, y, **settings))
    # A row of its table is a fold at a width and a lambda, with the error on the fold in column 7.
    cells = {}
    for row in np.asarray(model.errTrain):
        cells.setdefault((row[3], row[5]), []).append(row[7])
    return {"seconds": seconds, "version": version("liquidSVM"), "error": min(map(np.mean, cells.values()))}, None


def svc(x, y, fold, options):
    """Searches widths and C with LIBSVM."""
    from sklearn.model_selection import GridSearchCV, PredefinedSplit
    from sklearn.svm import SVC

    n = len(y)
    grid = {"gamma": options.sigmas, "C": [1 / (2 * n * penalty) for penalty in options.lambdas]}
    search = GridSearchCV(SVC(), grid, cv=PredefinedSplit(fold), n_jobs=THREADS)
    seconds, search = timed(lambda: search.fit(x, y))
    best = search.best_params_
    result = {"seconds": seconds, "version": version("scikit-learn"), "error": 1 - float(search.best_score_)}
    result |= {"sigma": best["gamma"], "lambda": 1 / (2 * n * best["C"])}
    return result, fitted(search.best_estimator_, n)


def torchkm(x, y, fold, options):
    """Runs a cross-validated path of TorchKM on the processor."""
    import torch

    module = {"svm": "svm", "logistic": "logit"}[options.model]
    torch.set_num_threads(THREADS)
    y = torch.tensor(y)
    given = {"y": y, "nlam": len(options.lambdas), "ulam": torch.tensor(options.lambdas)}
    given |= {"foldid": torch.tensor(fold), "nfolds": 5, "device": "cpu"}
    if options.landmarks:
        given |= {"num_landmarks": options.landmarks, "k": options.landmarks, "gamma": 1e-8}
        names = {"svm": "cvknyssvm", "logit": "cvknyslogit"}
        fitter = __import__(f"torchkm.{names[module]}", fromlist=["x"])
        raw = torch.tensor(x)

        def work():
            model = getattr(fitter, names[module])(Xmat=raw, X_test=raw[:2], **given)
            model.fit()
            return model
    else:
        from torchkm.functions import rbf_kernel

        fitter = __import__(f"torchkm.cvk{module}", fromlist=["x"])
        raw = torch.tensor(x)

        def work():
            kernel = rbf_kernel(raw, options.sigmas[0] / 2)
            model = getattr(fitter, f"cvk{module}")(Kmat=kernel, **given, gamma=1e-8)
            model.fit()
            return model

    seconds, model = timed(work)
    error = float(model.cv(model.pred.cpu(), y).min())
    result = {"seconds": seconds, "version": version("torchkm"), "error": error}
    if hasattr(model, "converged"):
        result["unconverged"] = int((~model.converged).sum())
    return result, None if options.landmarks else model.alpmat.cpu().numpy().T


def intelex(x, y, fold, options):
    """Fits one SVC of scikit-learn-intelex."""
    from sklearnex.svm import SVC

    n = len(y)
    model = SVC(C=1 / (2 * n * options.lambdas[0]), gamma=options.sigmas[0], cache_size=4000)
    seconds, model = timed(lambda: model.fit(x, y))
    return {"seconds": seconds, "version": version("scikit-learn-intelex")}, fitted(model, n)


def cyanure(x, y, fold, options):
    """Fits one linear classifier of cyanure to its own gap of 1e-6, without an intercept."""
    from cyanure.estimators import Classifier

    model = Classifier(
        loss=options.model, penalty="l2", lambda_1=2 * options.lambdas[0], fit_intercept=False, tol=1e-6,
        max_iter=options.passes, verbose=False, n_threads=THREADS,
    )
    seconds, model = timed(lambda: model.fit(x, y))
    return {"seconds": seconds, "version": version("cyanure")}, np.concatenate([[0.0], np.ravel(model.coef_)])[None, :]


JOBS = {"liquidsvm": liquidsvm, "svc": svc, "torchkm": torchkm, "intelex": intelex, "cyanure": cyanure}


def numbers(text):
    """Reads numbers between commas."""
    return [float(part) for part in text.split(",")]


def main():
    """Runs the job and prints its result."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("job", choices=JOBS)
    parser.add_argument("file")
    parser.add_argument("--out", required=True)
    parser.add_argument("--sigmas", type=numbers, default=[])
    parser.add_argument("--lambdas", type=numbers, default=[])
    parser.add_argument("--model", default="svm")
    parser.add_argument("--landmarks", type=int, default=0)
    parser.add_argument("--passes", type=int, default=2000)
    options = parser.parse_args()
    os.environ["OMP_NUM_THREADS"] = str(THREADS)
    warnings.simplefilter("ignore")
    with contextlib.redirect_stdout(io.StringIO()):
        result, rows = JOBS[options.job](*read(options.file), options)
    if rows is not None:
        np.ascontiguousarray(rows, dtype="<f8").tofile(options.out)
    print(json.dumps(result), flush=True)


if __name__ == "__main__":
    sys.exit(main())
