"""Prints the peak memory of fits beside the estimate by which the command refuses them.

    cargo build --release -p margins-cli
    python3 benches/memory.py target/release/margins

Each command runs without a limit, and then under limits of its address space (`ulimit -v`) from the size of the program
upwards, 5 % larger each time, until it has far more than its peak. Below the smallest limit under which the fit is done
it must refuse the job with an estimate: what the process held at that moment and what it said it needs in addition. Any
other end stops the script: an abort, a panic, 60 seconds without an end, or a refusal under more memory than was enough
before. `--kind TEXT` selects fits by their names. Needs Linux.
"""

from __future__ import annotations

import argparse
import os
import random
import re
import resource
import subprocess
import tempfile
from pathlib import Path

MIXTURE = "--data mixture:example={},n={},seed=1"


def kernel(rows: int, options: str = "", command: str = "fit", example: int = 3) -> str:
    lambdas = "--lambda 0.1" if command == "fit" else "--lambdas 1:0.1:2"
    return f"{command} {MIXTURE.format(example, rows)} {lambdas} --kernel gaussian {options}"


SEVERAL = "fit --data {folder}/classes.csv --lambda 0.01 --multi-class"
KINDS = {
    "linear, 200,000 x 30": f"fit {MIXTURE.format(3, 200000)} --lambda 0.1",
    "linear, standardised, 200,000 x 30": f"fit {MIXTURE.format(3, 200000)} --lambda 0.1 --standardize",
    "linear, sparse, 50,000 x 20,000": "fit --data {folder}/sparse.svm --lambda 0.01",
    "linear, cross-validation, 100,000 x 30": f"cv {MIXTURE.format(3, 100000)} --lambdas 1:0.1:2",
    "robust, catoni, 200,000 x 30": f"fit {MIXTURE.format(3, 200000)} --lambda 0.1 --objective catoni:alpha=1",
    "one-versus-rest, 300 classes, 2000 x 30": f"{SEVERAL} ovr",
    "one-versus-one, 300 classes, 2000 x 30": f"{SEVERAL} ovo",
    "kernel, 2500 rows": kernel(2500),
    "kernel, hinge, 2500 rows": kernel(2500, "--loss hinge"),
    "kernel, mm, 1000 rows": kernel(1000, "--solver mm"),
    "kernel, cross-validation, 1500 rows": kernel(1500, command="cv"),
    "kernel, hinge, cross-validation, 2500 rows": kernel(2500, "--loss hinge", "cv"),
    "kernel, leave-one-out, 1500 rows": kernel(1500, "--leave-one-out exact", "cv"),
    "kernel, one-versus-rest, 50 classes, 2000 rows": "fit --data {folder}/fifty.csv --lambda 0.01 --multi-class ovr --kernel gaussian",
    "kernel, one-versus-one, 50 classes, 2000 rows": "fit --data {folder}/fifty.csv --lambda 0.01 --multi-class ovo --kernel gaussian",
    "Nystrom, 1000 landmarks of 5000 rows": kernel(5000, "--approx nystrom:m=1000"),
    "Nystrom, cross-validation, 500 landmarks of 5000 rows": kernel(5000, "--approx nystrom:m=500", "cv"),
    "random Fourier features, 500 of 20,000 rows": kernel(20000, "--approx rff:m=500"),
    "pivoted Cholesky, 5000 rows": kernel(5000, "--approx cholesky", example=1),
}
UNITS = {"B": 1, "kB": 1e3, "MB": 1e6, "GB": 1e9}
FREE = re.compile(r"about ([\d.]+) (\w+) are needed, and ([\d.]+) (\w+) are free")
STEP = 1.05


def run(command: list[str], limit: int | None = None) -> tuple[int, str, int]:
    """Returns the exit status of a command, what it says on standard error and its peak memory in bytes."""
    limits = None if limit is None else f"ulimit -v {limit // 1024}; "
    line = command if limits is None else ["sh", "-c", limits + 'exec "$0" "$@"', *command]
    process = subprocess.Popen(line, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    words = process.stderr.read()
    _, status, usage = os.wait4(process.pid, 0)
    return os.waitstatus_to_exitcode(status), words, usage.ru_maxrss * 1024


def estimate(words: str, limit: int) -> float | None:
    """Returns the bytes that a refusal counts in all: those held already, and those needed in addition."""
    found = FREE.search(words)
    if found is None:
        return None
    needed, unit, free, of_free = found.groups()
    return limit - float(free) * UNITS[of_free] + float(needed) * UNITS[unit]


def row(margins: str, kind: str, line: str, base: int) -> str:
    command = ["timeout", "60", margins, *line.split(), "--threads", "2", "--quiet"]
    status, words, peak = run(command)
    assert status == 0, f"{line}: {words}"
    limit, refused, done = base, (None, ""), []
    while not done or limit < 1.5 * peak + 80e6:
        status, words, _ = run(command, limit)
        if status == 0:
            done.append(limit)
        else:
            seen = f"{line}, {limit / 1e6:.0f} MB: {status}, {words}"
            assert status == 1 and "error:" in words and "panicked" not in words, seen
            assert not done, f"{seen}, but done at {done[0] / 1e6:.0f} MB"
            refused = (estimate(words, limit), words)
        limit = int(STEP * limit)
    counted, words = refused
    said = f"{counted / 1e6:.0f} MB" if counted else words.split("error: ")[-1].split(":")[0].strip()
    return f"| {kind} | {peak / 1e6:.0f} MB | {done[0] / 1e6:.0f} MB | {said} |"


def write_tables(folder: Path) -> None:
    draw = random.Random(1)
    for name, classes, columns in [("classes", 300, 30), ("fifty", 50, 2)]:
        rows = (",".join([f"c{i % classes}", *(f"{draw.gauss(i % classes, 1):.3f}" for _ in range(columns))]) for i in range(2000))
        (folder / f"{name}.csv").write_text("\n".join([",".join(["label", *(f"x{j}" for j in range(columns))]), *rows]) + "\n")
    with open(folder / "sparse.svm", "w") as out:
        for _ in range(50000):
            columns = sorted({draw.randrange(1, 20001) for _ in range(20)})
            out.write(f"{draw.choice((-1, 1))} " + " ".join(f"{j}:{draw.random():.3f}" for j in columns) + "\n")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("margins")
    parser.add_argument("--kind", default="")
    arguments = parser.parse_args()
    base = 12_000_000
    while run([arguments.margins, "--version"], base)[0] != 0:
        base += 100_000
    print("| fit | peak, resident | done from `ulimit -v` | estimate where it is refused |\n| --- | ---: | ---: | ---: |")
    with tempfile.TemporaryDirectory() as folder:
        write_tables(Path(folder))
        for kind, line in KINDS.items():
            if arguments.kind in kind:
                print(row(arguments.margins, kind, line.format(folder=folder), base), flush=True)


if __name__ == "__main__":
    main()
