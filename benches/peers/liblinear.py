"""Compare linear fits with LIBLINEAR: seconds to a relative gap, reading excluded on both sides.

    cargo build --release -p margins-benches --example solve
    python liblinear.py [--library liblinear.so.4] [--solve target/release/examples/solve] FILE...

LIBLINEAR minimises ||w||^2/2 + C sum L without intercept (bias -1), which is our F without intercept
times 1/(2 lambda) at C = 1/(2 n lambda). The script calls `train` of its shared library, the one behind
`liblinear-train`, on the data in memory, so that its time is that of training alone; ours is printed by
the example `solve`, likewise without reading. Ours stops by its certified gap. LIBLINEAR has no gap: its
tolerance is lowered by powers of sqrt(10) until the objective, recomputed here from its coefficients, is
within the target of the optimum (ours at 1e-10), which is easier. Every solver of LIBLINEAR for the loss is
tried and the fastest counts. The two alternate, --repeats times; medians.
"""

import argparse
import ctypes
import gzip
import json
import math
import os
import statistics
import subprocess
import time

SOLVERS = {"logistic": {0: "-s 0", 7: "-s 7"}, "squared-hinge": {2: "-s 2", 1: "-s 1"}, "hinge": {3: "-s 3"}}


# The structures of linear.h, version 2.30 (Debian 12).
class Node(ctypes.Structure):
    _fields_ = [("index", ctypes.c_int), ("value", ctypes.c_double)]


class Problem(ctypes.Structure):
    _fields_ = [
        ("l", ctypes.c_int),
        ("n", ctypes.c_int),
        ("y", ctypes.POINTER(ctypes.c_double)),
        ("x", ctypes.POINTER(ctypes.POINTER(Node))),
        ("bias", ctypes.c_double),
    ]


class Parameter(ctypes.Structure):
    _fields_ = [
        ("solver_type", ctypes.c_int),
        ("eps", ctypes.c_double),
        ("C", ctypes.c_double),
        ("nr_weight", ctypes.c_int),
        ("weight_label", ctypes.POINTER(ctypes.c_int)),
        ("weight", ctypes.POINTER(ctypes.c_double)),
        ("p", ctypes.c_double),
        ("init_sol", ctypes.POINTER(ctypes.c_double)),
    ]


class Model(ctypes.Structure):
    _fields_ = [
        ("param", Parameter),
        ("nr_class", ctypes.c_int),
        ("nr_feature", ctypes.c_int),
        ("w", ctypes.POINTER(ctypes.c_double)),
        ("label", ctypes.POINTER(ctypes.c_int)),
        ("bias", ctypes.c_double),
    ]


class Liblinear:
    def __init__(self, library, labels, rows):
        self.library = ctypes.CDLL(library)
        version = ctypes.c_int.in_dll(self.library, "liblinear_version").value
        if version != 230:
            raise SystemExit(f"the structures here are those of LIBLINEAR 2.30, not {version / 100}")
        self.library.train.restype = ctypes.POINTER(Model)
        self.quiet = ctypes.CFUNCTYPE(None, ctypes.c_char_p)(lambda text: None)
        self.library.set_print_string_function(self.quiet)
        self.labels, self.rows = labels, rows
        self.features = max(row[-1][0] for row in rows if row)
        end = (-1, 0.0)
        flat = [node for row in rows for node in (*row, end)]
        self.nodes = (Node * len(flat))(*flat)
        starts, at = [], 0
        for row in rows:
            starts.append(ctypes.cast(ctypes.byref(self.nodes, at * ctypes.sizeof(Node)), ctypes.POINTER(Node)))
            at += len(row) + 1
        self.starts = (ctypes.POINTER(Node) * len(rows))(*starts)
        self.y = (ctypes.c_double * len(rows))(*labels)
        self.problem = Problem(len(rows), self.features, self.y, self.starts, -1.0)

    def train(self, solver, loss, penalty, tolerance):
        """Seconds and the objective F of the coefficients."""
        cost = 1 / (2 * len(self.rows) * penalty)
        parameter = Parameter(solver, tolerance, cost, 0, None, None, 0.1, None)
        start = time.perf_counter()
        model = self.library.train(ctypes.byref(self.problem), ctypes.byref(parameter))
        seconds = time.perf_counter() - start
        sign = 1.0 if model.contents.label[0] > 0 else -1.0
        w = [0.0] + [sign * model.contents.w[j] for j in range(self.features)]
        self.library.free_and_destroy_model(ctypes.byref(model))
        total = 0.0
        for y, row in zip(self.labels, self.rows):
            total += LOSSES[loss](y * sum(w[j] * x for j, x in row))
        return seconds, total / len(self.rows) + penalty * sum(x * x for x in w)


LOSSES = {
    "logistic": lambda u: max(-u, 0.0) + math.log1p(math.exp(-abs(u))),
    "squared-hinge": lambda u: max(0.0, 1 - u) ** 2,
    "hinge": lambda u: max(0.0, 1 - u),
}


def read(path):
    opened = gzip.open(path, "rt") if path.endswith(".gz") else open(path)
    labels, rows = [], []
    with opened as file:
        for line in file:
            label, *cells = line.split()
            labels.append(1.0 if float(label) > 0 else -1.0)
            pairs = (cell.split(":") for cell in cells)
            rows.append([(int(index), float(value)) for index, value in pairs])
    return labels, rows


def ours(command, file, loss, penalty, tolerance, solver="auto"):
    text = subprocess.run(
        [command, file, loss, str(penalty), str(tolerance), solver], check=True, capture_output=True
    ).stdout
    return json.loads(text)


def sweep(peer, loss, penalty, best, target, budget):
    """Runs of LIBLINEAR as (seconds, solver, tolerance, relative excess), up to the target or the budget."""
    runs = []
    for solver in SOLVERS[loss]:
        tolerance = 0.1
        while tolerance > 1e-9:
            seconds, objective = peer.train(solver, loss, penalty, tolerance)
            excess = (objective - best) / abs(best)
            runs.append((seconds, solver, tolerance, excess))
            if excess <= target or seconds > budget:
                break
            tolerance /= math.sqrt(10)
    return runs


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("files", nargs="+")
    parser.add_argument("--library", default="liblinear.so.4")
    parser.add_argument("--solve", default="target/release/examples/solve")
    parser.add_argument("--losses", nargs="+", default=["squared-hinge", "logistic"])
    parser.add_argument("--lambdas", nargs="+", type=float, default=[1e-4, 1e-6])
    parser.add_argument("--targets", nargs="+", type=float, default=[1e-3, 1e-6])
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--budget", type=float, default=60.0, help="seconds for one run of LIBLINEAR")
    arguments = parser.parse_args()
    print("| file | loss | lambda | gap | ours | LIBLINEAR | solver | ratio |")
    print("| --- | --- | --: | --: | --: | --: | --- | --: |")
    for file in arguments.files:
        peer = Liblinear(arguments.library, *read(file))
        for loss in arguments.losses:
            for penalty in arguments.lambdas:
                best = ours(arguments.solve, file, loss, penalty, 1e-10)["dual_objective"]
                runs = sweep(peer, loss, penalty, best, min(arguments.targets), arguments.budget)
                for target in arguments.targets:
                    compare(arguments, peer, file, loss, penalty, target, runs)


def compare(arguments, peer, file, loss, penalty, target, runs):
    found = min((run for run in runs if run[3] <= target), default=None)
    nearest = min(runs, key=lambda run: run[3])
    mine, theirs, ratios = [], [], []
    for _ in range(arguments.repeats):
        report = ours(arguments.solve, file, loss, penalty, target)
        mine.append(report["seconds"] if report["converged"] else math.inf)
        theirs.append(peer.train(found[1], loss, penalty, found[2])[0] if found else math.inf)
        ratios.append(theirs[-1] / mine[-1])
    if found:
        how = f"-s {found[1]} -e {found[2]:.1g}"
    else:
        how = f"nearest {nearest[3]:.1g}: -s {nearest[1]} -e {nearest[2]:.1g} in {nearest[0]:.2g} s"
    middle = statistics.median
    print(
        f"| `{os.path.basename(file)}` | {loss} | {penalty:g} | {target:g} | {middle(mine):.3g} s"
        f" | {middle(theirs):.3g} s | {how} | {middle(ratios):.2g} |",
        flush=True,
    )


if __name__ == "__main__":
    main()
