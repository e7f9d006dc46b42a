"""Fits beyond memory and beyond one process, beside the same fit in memory and beside Spark MLlib.

Runs alternate, and the medians of several runs count. Every objective is computed again here, from the coefficients alone.
Starting a cluster, and bringing the data to it, are left out of the times of Dask and Spark.

    python benches/peers/scale.py dense --rows 2000000 --spark
    python benches/peers/scale.py dense --rows 2000000 --loss hinge --spark
    python benches/peers/scale.py copies news20_half.svm.gz --times 20 --loss hinge --spark
    python benches/peers/scale.py copies covtype.csv.gz --times 30
    python benches/peers/scale.py cost
    python benches/peers/scale.py file --margins target/release/margins --rows 10000000
    python benches/peers/scale.py text --margins target/release/margins --gigabytes 10

`copies` repeats the rows of a file, each time with other noise of a thousandth of every value; the last column of a CSV is the label. Every
run is reported on standard error as soon as it ends, so that the results of a slow opponent are not lost if it is stopped.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np

FEATURES, LAMBDA = 50, 1e-4


def table(rows: int, seed: int, features: int = FEATURES) -> tuple[np.ndarray, np.ndarray]:
    """Returns rows of two classes that overlap."""
    X = np.random.default_rng([seed, 1]).normal(size=(rows, features)).astype(np.float32)
    w = np.random.default_rng(0).normal(size=features)
    return X, X @ w + 5 * np.random.default_rng([seed, 2]).normal(size=rows) > 0


def objective(loss: str, X: Any, y: np.ndarray, intercept: float, coef: np.ndarray) -> float:
    """Returns the regularised risk."""
    margins = np.where(y, 1.0, -1.0) * (X @ coef + intercept)
    losses = np.maximum(0, 1 - margins) if loss == "hinge" else np.logaddexp(0, -margins)
    return float(losses.mean() + LAMBDA * coef @ coef)


def timed(job: Any) -> tuple[float, Any]:
    start = time.perf_counter()
    result = job()
    return time.perf_counter() - start, result


def show(times: dict[str, list[float]], objectives: dict[str, float], reference: str) -> None:
    base = statistics.median(times[reference])
    print("| fit | seconds (median) | times that of " + reference + " | objective |")
    print("| --- | --- | --- | --- |")
    for name, own in times.items():
        median = statistics.median(own)
        print(f"| {name} | {median:.2f} | {median / base:.2f} | {objectives[name]:.10f} |")


def dense(arguments: argparse.Namespace) -> None:
    """Compares a fit to drawn rows in memory with the same on two Dask workers, and with Spark on two threads."""
    compare(arguments, *table(arguments.rows, 1))


def copies(arguments: argparse.Namespace) -> None:
    """Compares fits as `dense` does, to rows of a file that are repeated."""
    from scipy import sparse

    X, labels = samples(arguments.data)
    random = np.random.default_rng(1)

    def jittered() -> Any:
        copy = X.copy()
        copy.data *= 1 + 1e-3 * random.normal(size=copy.nnz)
        return copy

    rows = sparse.vstack([jittered() for _ in range(arguments.times)]).tocsr()
    y = np.tile(labels == labels.max(), arguments.times)
    compare(arguments, rows.toarray() if rows.nnz > 0.2 * rows.shape[0] * rows.shape[1] else rows, y)


def samples(path: str) -> tuple[Any, np.ndarray]:
    """Returns the samples of a file as a sparse matrix, and their labels."""
    from scipy import sparse
    from sklearn.datasets import load_svmlight_file

    if ".csv" not in path:
        return load_svmlight_file(path)
    import pandas as pd

    table = pd.read_csv(path).to_numpy(dtype=float)
    return sparse.csr_matrix(table[:, :-1]), table[:, -1]


def compare(arguments: argparse.Namespace, X: Any, y: np.ndarray) -> None:
    """Compares a fit in memory with the same on two Dask workers, and with Spark on two threads."""
    from dask.distributed import Client, LocalCluster

    import margins_learn as ml
    import margins_learn.dask as md

    loss, C = arguments.loss, 1 / (2 * len(y) * LAMBDA)
    with LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as cluster, Client(cluster) as client:
        parts = dealt(client, X, y)
        fits = {
            "margins, in memory": lambda: ml.MarginClassifier(loss, C=C, n_jobs=2).fit(X, y),
            "margins, two workers of Dask": lambda: md.MarginClassifier(loss, C=C, client=client).fit(*parts),
        }
        if arguments.spark:
            name = "LinearSVC" if loss == "hinge" else "LogisticRegression"
            fits[f"Spark MLlib {name}, local[2]"] = spark_fit(loss, X, y)
        times, objectives = {name: [] for name in fits}, {}
        for _ in range(arguments.runs):
            for name, fit in fits.items():
                seconds, fitted = timed(fit)
                times[name].append(seconds)
                print(f"{name}: {seconds:.2f} s", file=sys.stderr, flush=True)
                coef, intercept = (fitted.coef_[0], fitted.intercept_[0]) if hasattr(fitted, "coef_") else fitted
                objectives[name] = objective(loss, X, y, intercept, coef)
        show(times, objectives, "margins, two workers of Dask" if arguments.spark else "margins, in memory")


def dealt(client: Any, *arrays: Any) -> list[list[Any]]:
    """Returns sixteen parts of each array, dealt to the workers in turn."""
    ends = np.linspace(0, arrays[0].shape[0], 17).astype(int)
    homes = list(client.scheduler_info()["workers"])
    spans = [(slice(*span), homes[k % len(homes)]) for k, span in enumerate(zip(ends, ends[1:]))]
    return [[dask_delayed(client.scatter(array[rows], workers=home)) for rows, home in spans] for array in arrays]


def cost(arguments: argparse.Namespace) -> None:
    """Fits the cost of a round on one worker and on two, and predicts other fits by it."""
    from dask.distributed import Client, LocalCluster

    known = [(workers, shape) for workers in (1, 2) for shape in ((250_000, 50), (1_000_000, 50), (1_000_000, 10))]
    asked = [(2, (2_000_000, 50)), (2, (4_000_000, 20)), (1, (500_000, 100))]
    rounds, seconds = {}, {}
    for count in (1, 2):
        with LocalCluster(n_workers=count, threads_per_worker=1, dashboard_address=None) as cluster, Client(cluster) as client:
            for setting in (setting for setting in known + asked if setting[0] == count):
                rounds[setting], seconds[setting] = waited(client, *setting[1], arguments.runs)

    def terms(setting: Any) -> list[float]:
        # Every round has its latency, goes over the rows of a worker, and over their features.
        workers, (rows, features) = setting
        return [rounds[setting], rounds[setting] * rows / workers, rounds[setting] * rows * features / workers]

    # Relative errors are to be small.
    matrix = np.array([terms(setting) for setting in known]) / np.array([[seconds[setting]] for setting in known])
    constants = np.linalg.lstsq(matrix, np.ones(len(known)), rcond=None)[0]
    print("seconds of a round, of a row in it, and of a value in it:", *(f"{constant:.2g}" for constant in constants))
    print("| workers | rows x features | rounds | seconds of all rounds (median) | by the constants |")
    print("| --- | --- | --- | --- | --- |")
    for setting in known + asked:
        workers, (rows, features) = setting
        told = " (predicted)" if setting in asked else ""
        print(f"| {workers} | {rows:,} x {features} | {rounds[setting]} | {seconds[setting]:.2f} | {np.dot(terms(setting), constants):.2f}{told} |")


def waited(client: Any, rows: int, features: int, runs: int) -> tuple[int, float]:
    """Returns the number of rounds of a fit to drawn rows, and the median of the seconds that the driver waits for answers."""
    import margins_learn.dask as md

    parts = dealt(client, *table(rows, 1, features))
    classifier = md.MarginClassifier("logistic", C=1 / (2 * rows * LAMBDA), client=client)
    waits: list[float] = []
    ask = md._Cluster.ask

    def asked(self: Any, *question: Any) -> Any:
        seconds, answer = timed(lambda: ask(self, *question))
        waits.append(seconds)
        return answer

    fits = []
    md._Cluster.ask = asked
    try:
        # The first fit starts what later ones find.
        for _ in range(runs + 1):
            waits.clear()
            classifier.fit(*parts)
            fits.append(sum(waits))
    finally:
        md._Cluster.ask = ask
    return len(waits), statistics.median(fits[1:])


def dask_delayed(future: Any) -> Any:
    """Returns a delayed block of what workers hold."""
    from dask.delayed import Delayed

    return Delayed(future.key, {future.key: future})


def spark_fit(loss: str, X: Any, y: np.ndarray) -> Any:
    """Returns a job that fits by Spark to rows that it holds in memory."""
    os.environ.setdefault("SPARK_LOCAL_IP", "127.0.0.1")
    from pyspark.ml.classification import LinearSVC, LogisticRegression
    from pyspark.sql import SparkSession

    session = SparkSession.builder.master("local[2]").config("spark.driver.memory", "10g").config("spark.ui.enabled", "false").config("spark.ui.showConsoleProgress", "false").getOrCreate()
    session.sparkContext.setLogLevel("ERROR")
    rows = rows_of_spark(session, X, y)
    print(f"Spark holds {rows.count()} rows", file=sys.stderr, flush=True)
    kind = LinearSVC if loss == "hinge" else LogisticRegression

    def fit() -> tuple[np.ndarray, float]:
        # Spark minimises the mean loss and regParam/2 times the square of the norm.
        model = kind(regParam=2 * LAMBDA, standardization=False, tol=1e-6, maxIter=1000).fit(rows)
        return model.coefficients.toArray(), float(model.intercept)

    return fit


def rows_of_spark(session: Any, X: Any, y: np.ndarray) -> Any:
    """Returns cached rows of Spark, which come to it as a Parquet file of its own vectors."""
    import pyarrow as pa
    import pyarrow.parquet as pq
    from pyspark.ml.linalg import VectorUDT
    from pyspark.sql.types import DoubleType, StructType

    # A vector of Spark is its kind (0 is sparse, 1 is dense), its size, its indices and its values.
    rows, columns = X.shape
    if isinstance(X, np.ndarray):
        bounds = np.arange(0, X.size + 1, columns)
        kind, size, indices = pa.array(np.ones(rows, np.int8)), pa.nulls(rows, pa.int32()), pa.nulls(rows, pa.list_(pa.int32()))
        values = X.astype(np.float64).ravel()
    else:
        bounds, values = X.indptr, X.data
        kind, size = pa.array(np.zeros(rows, np.int8)), pa.array(np.full(rows, columns, np.int32))
        indices = pa.ListArray.from_arrays(pa.array(bounds, pa.int32()), pa.array(X.indices, pa.int32()))
    values = pa.ListArray.from_arrays(pa.array(bounds, pa.int32()), pa.array(values))
    vectors = pa.StructArray.from_arrays([kind, size, indices, values], ["type", "size", "indices", "values"])
    schema = StructType().add("features", VectorUDT()).add("label", DoubleType())
    table = pa.table({"features": vectors, "label": pa.array(y.astype(np.float64))})
    folder = tempfile.mkdtemp()
    described = table.replace_schema_metadata({"org.apache.spark.sql.parquet.row.metadata": schema.json()})
    pq.write_table(described, folder + "/rows.parquet", row_group_size=-(-rows // 16))
    return session.read.parquet(folder).repartition(16).cache()


def file(arguments: argparse.Namespace) -> None:
    """Compares fits to a block file with all, most or little of it in memory."""
    from margins_learn import blocks

    path = Path(arguments.folder or tempfile.mkdtemp()) / f"rows-{arguments.rows}.blocks"
    if not path.exists():
        with blocks.Writer(path) as writer:
            for part in range(10):
                writer.append(*table(arguments.rows // 10, part))
    whole = arguments.rows * (8 * FEATURES + 64)
    limits = {"all in memory": 4 * whole, "nine tenths in memory": int(0.9 * whole), "1 GB": 10**9}
    times = {name: [] for name in limits}
    facts: dict[str, Any] = {}
    for _ in range(arguments.runs):
        for name, limit in limits.items():
            command = [arguments.margins, "fit", "--data", str(path), "--loss", "logistic", "--lambda", str(LAMBDA), "--memory", f"{limit}B"]
            run = subprocess.run(["/usr/bin/time", "-f", "peak %M kB", *command, "--verbose", "--format", "json"], capture_output=True, text=True, check=True)
            fit = json.loads(run.stdout)["fits"][0]
            times[name].append(float(re.search(r"fitting: ([\d.]+) s", run.stderr)[1]))
            facts[name] = (fit["passes"], fit["objective"], fit["relative_gap"], int(re.search(r"peak (\d+) kB", run.stderr)[1]) / 1e6)
    print("| memory | seconds of the fit (median) | passes | seconds per pass | gap | peak GB |")
    print("| --- | --- | --- | --- | --- | --- |")
    for name, own in times.items():
        passes, _, gap, peak = facts[name]
        median = statistics.median(own)
        print(f"| {name} | {median:.2f} | {passes} | {median / passes:.3f} | {gap:.1e} | {peak:.2f} |")
    print("objectives:", {name: fact[1] for name, fact in facts.items()})


def text(arguments: argparse.Namespace) -> None:
    """Takes a CSV file of many gigabytes to a certified model."""
    import pyarrow as pa
    from pyarrow import csv

    folder, margins = Path(arguments.folder or tempfile.mkdtemp()), arguments.margins
    rows, packed, model = (str(folder / name) for name in ("huge.csv", "huge.blocks", "model.json"))
    names = [*(f"x{j + 1}" for j in range(2 * FEATURES)), "label"]
    writer, part = None, 0
    while writer is None or os.path.getsize(rows) < arguments.gigabytes * 1e9:
        X, y = table(200_000, part, 2 * FEATURES)
        columns = pa.table([*np.round(X.astype(float), 3).T.copy(), y], names)
        writer = writer or csv.CSVWriter(rows, columns.schema)
        writer.write(columns)
        part += 1
    writer.close()
    print(f"{rows}: {os.path.getsize(rows) / 1e9:.2f} GB", flush=True)
    blocks = [margins, "blocks", "--data", rows, "--out", packed, "--precision", "single"]
    fit = [margins, "fit", "--data", packed, "--loss", "logistic", "--lambda", "1e-4", "--memory", arguments.memory, "--out", model]
    for command in (blocks, fit):
        start = time.perf_counter()
        run = subprocess.run(["/usr/bin/time", "-f", "peak %M kB", *command], capture_output=True, text=True, check=True)
        seconds, peak = time.perf_counter() - start, int(re.search(r"peak (\d+) kB", run.stderr)[1]) / 1e6
        print(f"{run.stdout}margins {command[1]}: {seconds:.1f} s, peak memory {peak:.2f} GB", flush=True)
    print(f"{packed}: {os.path.getsize(packed) / 1e9:.2f} GB")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    kinds = parser.add_subparsers(required=True)
    for kind in (dense, copies, file, text, cost):
        own = kinds.add_parser(kind.__name__, help=kind.__doc__)
        own.add_argument("--runs", type=int, default=3)
        own.set_defaults(run=kind)
        if kind is copies:
            own.add_argument("data", help="a file of svmlight")
            own.add_argument("--times", type=int, default=30)
        elif kind in (dense, file):
            own.add_argument("--rows", type=int, default=2_000_000)
        if kind in (dense, copies):
            own.add_argument("--loss", choices=["logistic", "hinge"], default="logistic")
            own.add_argument("--spark", action="store_true", help="compare with Spark MLlib, which needs Java and pyspark")
        if kind is text:
            own.add_argument("--gigabytes", type=float, default=10.0)
            own.add_argument("--memory", default="2GB", help="the memory of the fit")
        if kind in (file, text):
            own.add_argument("--margins", default="target/release/margins", help="the command")
            own.add_argument("--folder", help="a folder that keeps the files")
    arguments = parser.parse_args()
    arguments.run(arguments)


if __name__ == "__main__":
    main()
