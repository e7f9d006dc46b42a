"""Compare the automatic choice of a method with every method of ours and with scikit-learn, in 60 cells.

    cargo build --release -p margins-cli
    python methods.py [--margins target/release/margins] [--cells FROM:TO] [--solvers NAME...] [--peers]

A cell is a table, a loss, and a lambda or a path of 20 lambdas from 1e-2 to 1e-6. Dense tables have normal values.
Sparse ones have rows of unit length and columns that are as unlike in frequency as words. The numbers are processor
seconds of one thread, user and system, less the seconds of a trivial fit to the same file: of `auto`, of the fastest other method that certifies as many fits, and, with
--peers, of LogisticRegression or LinearSVC at the loosest tolerance whose objective is within 1e-6 of ours (LinearSVC
penalises the intercept, so that its cells have none). A cell is marked where `auto` takes more than twice the seconds of another method, or
more than scikit-learn, and more than 5 ms.
"""

import os

os.environ.update(OMP_NUM_THREADS="1", OPENBLAS_NUM_THREADS="1", RAYON_NUM_THREADS="1")

import argparse
import json
import subprocess
import tempfile
import time
import warnings

import numpy as np
import scipy.sparse

LOSSES = ["logistic", "lhs", "hinge", "squared-hinge"]
LAMBDAS = ["1e-2", "1e-4", "1e-6", "1e-2:1e-6:20"]
SHAPES = [
    (1000, 100, 1), (10000, 10, 1), (10000, 100, 1), (1000, 1000, 1), (3000, 1000, 1),
    (300, 3000, 1), (100, 10000, 1), (1000, 3000, 1), (2500, 4000, 1),
    (1000, 1000, 0.01), (1000, 10000, 0.01), (3000, 10000, 0.01), (10000, 1000, 0.01), (10000, 10000, 0.01),
    (300, 100000, 0.01), (3000, 10000, 0.001), (10000, 10000, 0.001), (1000, 100000, 0.001),
    (3000, 100000, 0.001), (10000, 100000, 0.001),
]  # fmt: skip


def cells():
    """Three cells a table, so that losses and lambdas alternate."""
    for s, shape in enumerate(SHAPES):
        for j in range(3):
            loss = LOSSES[(s + j) % 4]
            yield (*shape, loss, LAMBDAS[(s // 4 + s + 2 * j + j // 2) % 4])


def table(n, p, density):
    """Features and labels of overlapping classes."""
    random = np.random.default_rng(1)
    if density == 1:
        x = random.standard_normal((n, p))
    else:
        count = max(2, int(p * density))
        frequency = 1 / (np.arange(p) + 0.1 * p)
        chosen = random.choice(p, size=(n, 2 * count), p=frequency / frequency.sum())
        rows = np.repeat(np.arange(n), 2 * count)
        x = scipy.sparse.csr_matrix((random.exponential(size=rows.size), (rows, chosen.ravel())), shape=(n, p))
        keep = random.random(x.nnz) < count * n / x.nnz
        x.data *= keep
        x.eliminate_zeros()
        norms = np.sqrt(np.asarray(x.multiply(x).sum(axis=1)).ravel())
        x = scipy.sparse.diags(1 / np.maximum(norms, 1e-12)) @ x
    scores = x @ random.standard_normal(p)
    scores += 0.5 * scores.std() * random.standard_normal(n)
    return x, np.where(scores > np.median(scores), 1, -1)


def write(path, x, y):
    if scipy.sparse.issparse(x):
        from sklearn.datasets import dump_svmlight_file

        # Every column is there.
        dump_svmlight_file(x, y, path, zero_based=False)
    else:
        header = ",".join(["label"] + [f"x{j}" for j in range(x.shape[1])])
        np.savetxt(path, np.column_stack([y, x]), delimiter=",", header=header, comments="", fmt="%.17g")


SOLVERS = ["newton", "proximal-newton", "sdca", "lbfgs", "gd", "bundle", "mm", "mm-accelerated"]


def run(command, path, loss, lambdas, intercept, solver, limit=None):
    """The processor seconds of a run and its fits; None if the solver does not take the problem."""
    kind = ["path", "--lambdas", lambdas] if ":" in lambdas else ["fit", "--lambda", lambdas]
    line = [command, *kind, "--data", path, "--loss", loss, "--solver", solver, "--threads", "1", "--format", "json", "--quiet"]
    line += [] if intercept else ["--no-intercept"]
    line += ["--time-limit", f"{limit:.2f}"] if limit else []
    with tempfile.TemporaryFile() as out:
        process = subprocess.Popen(line, stdout=out, stderr=subprocess.DEVNULL)
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = status
        out.seek(0)
        text = out.read()
    return (usage.ru_utime + usage.ru_stime, json.loads(text)["fits"]) if status == 0 else None


def timed(*arguments, **limits):
    """The least processor seconds of three runs, of one if it is long, and the fits."""
    runs = []
    while len(runs) < 3 and (not runs or runs[0][0] < 0.5):
        made = run(*arguments, **limits)
        if made is None:
            return None
        runs.append(made)
    return min(seconds for seconds, _ in runs), runs[0][1]


def ours(command, path, loss, lambdas, intercept, solvers=SOLVERS):
    """The seconds, certified fits and objective of `auto` and of the other solvers."""
    reading, _ = timed(command, path, "logistic", "1e9", True, "gd")
    found = []
    for solver in ["auto", *solvers]:
        # Seconds on the clock may be many for one of the processor.
        limit = None if solver == "auto" else 1 + 4 * (found[0]["seconds"] + reading)
        made = timed(command, path, loss, lambdas, intercept, solver, limit=limit)
        if made:
            seconds, fits = made
            certified = sum(fit["converged"] for fit in fits)
            objective = fits[-1]["objective"]
            found.append(
                {"solver": solver, "seconds": max(seconds - reading, 1e-4), "certified": certified, "of": len(fits), "objective": objective}
            )
    return found


VALUES = {
    "logistic": lambda u: np.logaddexp(0, -u),
    "hinge": lambda u: np.maximum(0, 1 - u),
    "squared-hinge": lambda u: np.maximum(0, 1 - u) ** 2,
}


def peer(x, y, loss, penalty, best):
    """Seconds of scikit-learn at the loosest tolerance within 1e-6 of the best objective; None if no tolerance does."""
    from sklearn.linear_model import LogisticRegression
    from sklearn.svm import LinearSVC

    cost = 1 / (2 * len(y) * penalty)
    if scipy.sparse.issparse(x):
        x = x.tocsr()
    for exponent in range(2, 11):
        tolerance = 10.0**-exponent
        if loss == "logistic":
            model = LogisticRegression(C=cost, tol=tolerance, max_iter=100_000)
        else:
            name = loss.replace("-", "_")
            model = LinearSVC(C=cost, loss=name, tol=tolerance, max_iter=100_000, fit_intercept=False, dual="auto")
        runs = 0
        start = time.process_time()
        while runs == 0 or time.process_time() - start < 0.1:
            model.fit(x, y)
            runs += 1
        seconds = (time.process_time() - start) / runs
        w = model.coef_.ravel()
        margins = y * (x @ w + np.ravel(model.intercept_)[0])
        objective = VALUES[loss](margins).mean() + penalty * w @ w
        if objective <= best + 1e-6 * abs(best):
            return seconds
        if seconds > 20:
            return None
    return None


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--margins", default="target/release/margins")
    parser.add_argument("--cells", default="0:60")
    parser.add_argument("--peers", action="store_true")
    parser.add_argument("--solvers", nargs="*", default=SOLVERS)
    arguments = parser.parse_args()
    warnings.simplefilter("ignore")
    first, last = map(int, arguments.cells.split(":"))
    print("| n | p | stored % | loss | lambda | auto s | next method | s | ratio | scikit-learn s | ratio | |")
    print("| --: | --: | --: | --- | --- | --: | --- | --: | --: | --: | --: | --- |")
    made = None
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "table")
        for n, p, density, loss, lambdas in list(cells())[first:last]:
            if made != (n, p, density):
                made = (n, p, density)
                x, y = table(*made)
                path = os.path.join(folder, "table.svm" if scipy.sparse.issparse(x) else "table.csv")
                write(path, x, y)
            intercept = loss in ("logistic", "lhs")
            auto, *others = ours(arguments.margins, path, loss, lambdas, intercept, arguments.solvers)
            rivals = [other for other in others if other["certified"] >= auto["certified"]]
            best = min(rivals, key=lambda other: other["seconds"])
            ratio = auto["seconds"] / best["seconds"]
            seconds = None
            if arguments.peers and ":" not in lambdas and loss in VALUES:
                seconds = peer(x, y, loss, float(lambdas), min(auto["objective"], best["objective"]))
            of_peer = auto["seconds"] / seconds if seconds else 0
            slow = auto["seconds"] > 0.005 and (ratio > 2 or of_peer > 1)
            print(
                f"| {n} | {p} | {100 * density:g} | {loss} | {lambdas} | {auto['seconds']:.4f} "
                f"| {best['solver']} | {best['seconds']:.4f} | {ratio:.2f} "
                f"| {f'{seconds:.4f} | {of_peer:.2f}' if seconds else ' | '} "
                f"| {'slow' if slow else ''}{'' if auto['certified'] == auto['of'] else ' not certified'} |",
                flush=True,
            )


if __name__ == "__main__":
    main()
