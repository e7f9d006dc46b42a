"""Kills workers of a local Dask cluster with -9 at random moments of fits, and compares the bits with those of an undisturbed fit.

    python benches/peers/kills.py --kills 20
"""

from __future__ import annotations

import argparse
import os
import random
import signal
import threading
import time

import dask.array as da
import numpy as np
from dask.distributed import Client, LocalCluster

from margins_learn.dask import MarginPath


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kills", type=int, default=20)
    parser.add_argument("--seed", type=int, default=1)
    arguments = parser.parse_args()
    numbers, draw = np.random.default_rng(arguments.seed), random.Random(arguments.seed)
    X = numbers.normal(size=(400_000, 20))
    y = X @ numbers.normal(size=20) + 3 * numbers.normal(size=len(X)) > 0
    parts = [da.from_array(part, chunks=(50_000, *part.shape[1:])) for part in (X, y)]

    def cluster() -> LocalCluster:
        return LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None)

    def fit(client: Client) -> MarginPath:
        return MarginPath("lhs", lambdas=np.geomspace(1, 1e-4, 10), client=client).fit(*parts)

    with cluster() as workers, Client(workers) as client:
        fit(client)
        start = time.perf_counter()
        expected = fit(client)
        seconds = time.perf_counter() - start
    print(f"undisturbed: {seconds:.2f} s")
    print("| kill | after s | seconds of the fit | same bits |")
    print("| --- | --- | --- | --- |")
    for kill in range(1, arguments.kills + 1):
        with cluster() as workers, Client(workers) as client:
            pid = draw.choice(sorted(client.run(os.getpid).values()))
            after = draw.uniform(0.05, 0.95) * seconds
            timer = threading.Timer(after, os.kill, (pid, signal.SIGKILL))
            start = time.perf_counter()
            timer.start()
            found = fit(client)
            taken = time.perf_counter() - start
            timer.join()
        same = (found.coefs_ == expected.coefs_).all() and (found.dual_gaps_ == expected.dual_gaps_).all()
        print(f"| {kill} | {after:.2f} | {taken:.2f} | {'yes' if same else 'NO'} |", flush=True)
        assert same


if __name__ == "__main__":
    main()
