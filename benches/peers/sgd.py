"""Seconds per epoch of scikit-learn's SGDClassifier and of `margins stream --method sgd`.

Both run the same number of shuffled epochs of the hinge loss from the same files, one thread each, turn by turn;
an epoch is the difference between a run of many epochs and one of few, over the difference of their numbers, so that
reading and the final certificate drop out. Printed: medians of the seconds, and of the ratios of neighbours.

    python benches/peers/sgd.py target/release/margins shared/data
"""

import os
import subprocess
import sys
import time

os.environ["OMP_NUM_THREADS"] = "1"

import numpy as np
from sklearn.datasets import load_svmlight_file
from sklearn.linear_model import SGDClassifier

SETS = [
    # name, whether dense, few and many epochs
    ("covtype", True, 2, 42),
    ("mnist5_train", True, 1, 11),
    ("a9a", False, 5, 205),
    ("reuters_moneyfx", False, 5, 405),
    ("news20_half", False, 2, 42),
]
ALPHA = 2e-5  # twice our lambda
ROUNDS = 5


def load(folder, name, dense):
    if name == "covtype":
        import gzip

        with gzip.open(f"{folder}/{name}.csv.gz", "rt") as file:
            header = file.readline().strip().split(",")
            table = np.loadtxt(file, delimiter=",")
        column = header.index("label")
        x, y = np.delete(table, column, axis=1), table[:, column]
        x = x / np.where(x.std(axis=0) > 0, x.std(axis=0), 1.0)
        return np.ascontiguousarray(x), np.where(y > y.min(), 1, -1)
    x, y = load_svmlight_file(f"{folder}/{name}.svm.gz")
    if dense:
        return np.ascontiguousarray(x.toarray()), y
    x = x.tocsr()
    x.indices, x.indptr = x.indices.astype(np.int32), x.indptr.astype(np.int32)
    return x, y


def write_csv(path, x, y):
    header = ",".join([f"x{j}" for j in range(x.shape[1])] + ["label"])
    np.savetxt(path, np.column_stack([x, y]), delimiter=",", header=header, comments="", fmt="%.6g")


def peer(x, y, averaged):
    def run(epochs):
        model = SGDClassifier(loss="hinge", alpha=ALPHA, max_iter=epochs, tol=None, shuffle=True, average=averaged, random_state=1)
        start = time.perf_counter()
        model.fit(x, y)
        return time.perf_counter() - start

    return run


def ours(program, file, averaged):
    options = ["--average", "polyak"] if averaged else []
    alone = {**os.environ, "RAYON_NUM_THREADS": "1"}

    def run(epochs):
        command = [program, "stream", "--data", file, "--loss", "hinge", "--lambda", str(ALPHA / 2)]
        start = time.perf_counter()
        subprocess.run(command + ["--epochs", str(epochs)] + options, check=True, stdout=subprocess.DEVNULL, env=alone)
        return time.perf_counter() - start

    return run


def main():
    program, folder = sys.argv[1:3]
    work = sys.argv[3] if len(sys.argv) > 3 else "."
    print("| data | n x p | mean | scikit-learn | margins | ratio |")
    print("| --- | --- | --- | --- | --- | --- |")
    for name, dense, few, many in SETS:
        x, y = load(folder, name, dense)
        file = f"{folder}/{name}.svm.gz"
        if dense:
            file = f"{work}/{name}.csv"
            write_csv(file, x, y)
        for averaged in (False, True):
            runs = [ours(program, file, averaged), peer(x, y, averaged)]
            seconds = []
            for _ in range(ROUNDS):
                seconds.append([(run(many) - run(few)) / (many - few) for run in runs])
            seconds = np.array(seconds)
            mine, theirs = np.median(seconds, axis=0)
            ratio = np.median(seconds[:, 0] / seconds[:, 1])
            shape = f"{x.shape[0]} x {x.shape[1]}"
            print(f"| {name} | {shape} | {'polyak' if averaged else 'none'} | {1e3 * theirs:.2f} ms | {1e3 * mine:.2f} ms | {ratio:.2f} |", flush=True)
        if dense:
            os.remove(file)


main()
