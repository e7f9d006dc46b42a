"""One pass of `margins stream` beside Vowpal Wabbit with its defaults, alternating, on the same rows.

    python streams.py DATA --margins target/release/margins [--runs 3] [--columns as-they-are|deviations|multiplied] [NAME ...]

DATA is a folder with `NAME.svm.gz` or `NAME.csv.gz` (its last column the label). Columns are taken as they are, divided by their standard
deviations, or each multiplied by 10^U(-4, 4) of its own. Rows come in the order of the file, but those of a file that is sorted by
class in an order drawn by seed 1. Both get the rows as text, in a file of svmlight or of Vowpal Wabbit's own format. The error is the
share of rows that were predicted wrongly before they were learned. Seconds are those of a clock and those of the processor: of the whole
process for ours, and for Vowpal Wabbit without loading Python. Both programs read on a thread beside the one that learns. It needs numpy,
scipy, scikit-learn and vowpalwabbit.
"""

import argparse
import gzip
import json
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
from scipy import sparse
from sklearn.datasets import load_svmlight_file

NAMES = ["covtype", "a9a", "ijcnn1", "mnist5_train", "news20_half"]
LOSSES = ["logistic", "hinge"]
# The rows of covtype that are streamed.
MOST_ROWS = 200_000

VOWPAL_WABBIT = """
import sys, time, vowpalwabbit
began, of_processor = time.perf_counter(), time.process_time()
learner = vowpalwabbit.Workspace(f"--quiet --binary -d {sys.argv[1]} --loss_function {sys.argv[2]} -p {sys.argv[3]}")
learner.finish()
print(time.perf_counter() - began, time.process_time() - of_processor)
"""


def read(folder, name):
    """Returns the samples as a sparse matrix, and their signs."""
    path = folder / f"{name}.svm.gz"
    if path.exists():
        x, y = load_svmlight_file(str(path))
    else:
        with gzip.open(folder / f"{name}.csv.gz", "rt") as file:
            table = np.loadtxt(file, delimiter=",", skiprows=1, max_rows=MOST_ROWS)
        x, y = sparse.csr_array(table[:, :-1]), table[:, -1]
    signs = np.where(y > 0, 1, -1)
    # A file in order of class has few changes of it.
    share = np.mean(signs > 0)
    if np.count_nonzero(np.diff(signs)) < 0.8 * share * (1 - share) * len(signs):
        order = np.random.default_rng(1).permutation(len(signs))
        x, signs = x[order], signs[order]
    return sparse.csr_array(x), signs


def change(x, how):
    """Returns the samples with their columns in other units."""
    if how == "as-they-are":
        return x
    if how == "multiplied":
        factors = 10 ** np.random.default_rng(7).uniform(-4, 4, x.shape[1])
    else:
        mean, square = x.mean(axis=0), x.multiply(x).mean(axis=0)
        deviations = np.sqrt(np.maximum(np.asarray(square - mean**2).ravel(), 0))
        factors = 1 / np.where(deviations > 0, deviations, 1)
    return sparse.csr_array(x.multiply(factors))


def write(x, signs, path, separator):
    """Writes a line for each sample."""
    with open(path, "w") as file:
        for i, sign in enumerate(signs):
            row = range(x.indptr[i], x.indptr[i + 1])
            values = " ".join(f"{x.indices[k] + 1}:{x.data[k]:.17g}" for k in row)
            file.write(f"{sign}{separator}{values}\n")


def ours(margins, path, columns, loss):
    """Returns the error of our command, its seconds and those of the processor."""
    began, before = time.perf_counter(), resource.getrusage(resource.RUSAGE_CHILDREN)
    words = [margins, "stream", "--data", path, "--columns", str(columns), "--loss", loss, "--lambda", "1e-9", "--format", "json", "--quiet"]
    answer = subprocess.run(words, check=True, capture_output=True)
    seconds, after = time.perf_counter() - began, resource.getrusage(resource.RUSAGE_CHILDREN)
    of_processor = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return json.loads(answer.stdout)["progressive_error"], seconds, of_processor


def theirs(path, signs, loss, predictions):
    """Returns the error of Vowpal Wabbit, its seconds and those of the processor."""
    words = [sys.executable, "-c", VOWPAL_WABBIT, path, loss, predictions]
    seconds = map(float, subprocess.run(words, check=True, capture_output=True).stdout.split())
    predicted = np.loadtxt(predictions, usecols=0)
    return np.mean((predicted > 0) != (signs > 0)), *seconds


def main():
    """Prints a row for each file and loss."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=Path)
    parser.add_argument("names", nargs="*", default=NAMES)
    parser.add_argument("--margins", required=True)
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--columns", choices=["as-they-are", "deviations", "multiplied"], default="as-they-are")
    options = parser.parse_args()
    print("| data | loss | error | of Vowpal Wabbit | s | of Vowpal Wabbit | ratio | processor s | of Vowpal Wabbit | ratio |")
    print("| --- | --- | --: | --: | --: | --: | --: | --: | --: | --: |")
    for name in options.names or NAMES:
        x, signs = read(options.data, name)
        x = change(x, options.columns)
        with tempfile.TemporaryDirectory() as folder:
            svm, vw, predictions = (f"{folder}/{part}" for part in ("rows.svm", "rows.vw", "predictions"))
            write(x, signs, svm, " ")
            write(x, signs, vw, " | ")
            for loss in LOSSES:
                turns = [(ours(options.margins, svm, x.shape[1], loss), theirs(vw, signs, loss, predictions)) for _ in range(options.runs)]
                cells = [f"{100 * error:.2f} %" for error, *_ in turns[0]]
                for kind in (1, 2):
                    seconds = np.array([[side[kind] for side in turn] for turn in turns])
                    cells += [f"{median:.2f}" for median in (*np.median(seconds, axis=0), np.median(seconds[:, 0] / seconds[:, 1]))]
                print(f"| {name} | {loss} | {' | '.join(cells)} |", flush=True)


if __name__ == "__main__":
    main()
