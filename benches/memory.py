"""Prints the peak memory of ten kinds of fits beside the estimate by which the command refuses them.

    cargo build --release -p margins-cli
    python3 benches/memory.py target/release/margins

Each command runs without a limit, and then under smaller and smaller limits of its address space (`ulimit -v`) until the smallest
limit is known, to 5 %, under which it does its job. Below it the command must refuse the job with an estimate: what the process held
at that moment and what it said it needs in addition. Needs Linux.
"""

from __future__ import annotations

import os
import re
import resource
import subprocess
import sys

KERNEL = "--data mixture:example=1,n=2500,seed=1 --lambda 0.1 --kernel gaussian"
KINDS = {
    "linear, 200,000 x 30": "fit --data mixture:example=3,n=200000,seed=1 --lambda 0.1",
    "linear, standardised, 200,000 x 30": "fit --data mixture:example=3,n=200000,seed=1 --lambda 0.1 --standardize",
    "linear, cross-validation, 100,000 x 30": "cv --data mixture:example=3,n=100000,seed=1 --lambdas 1:0.1:2",
    "kernel, 2500 rows": f"fit {KERNEL}",
    "kernel, hinge, 2500 rows": f"fit {KERNEL} --loss hinge",
    "kernel, mm, 1000 rows": "fit --data mixture:example=1,n=1000,seed=1 --lambda 0.1 --kernel gaussian --solver mm",
    "kernel, cross-validation, 1500 rows": "cv --data mixture:example=1,n=1500,seed=1 --lambdas 1:0.1:2 --kernel gaussian",
    "Nystrom, 1000 landmarks of 5000 rows": f"fit {KERNEL} --approx nystrom:m=1000".replace("n=2500", "n=5000"),
    "random Fourier features, 500 of 20,000 rows": f"fit {KERNEL} --approx rff:m=500".replace("n=2500", "n=20000"),
    "pivoted Cholesky, 5000 rows": f"fit {KERNEL} --approx cholesky".replace("n=2500", "n=5000"),
}
UNITS = {"B": 1, "kB": 1e3, "MB": 1e6, "GB": 1e9}
FREE = re.compile(r"about ([\d.]+) (\w+) are needed, and ([\d.]+) (\w+) are free")


def run(margins: str, line: str, limit: int | None = None) -> tuple[int, str, int]:
    """Returns the exit status of a command, what it says on standard error and its peak memory in bytes."""
    limited = None if limit is None else lambda: resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
    command = [margins, *line.split(), "--threads", "2", "--quiet"]
    process = subprocess.Popen(command, preexec_fn=limited, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
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


def row(margins: str, kind: str, line: str) -> str:
    status, words, peak = run(margins, line)
    assert status == 0, f"{line}: {words}"
    low, high, refused = 60e6, 2.0 * peak + 200e6, None
    while high > 1.05 * low:
        limit = int((low * high) ** 0.5)
        status, words, _ = run(margins, line, limit)
        if status == 0:
            high = limit
            continue
        assert status in (1, 2) and "error:" in words, f"{line}, {limit}: {status}, {words}"
        low, refused = limit, (estimate(words, limit), words)
    counted, words = refused
    said = f"{counted / 1e6:.0f} MB" if counted else words.split("error: ")[1].split(":")[0]
    return f"| {kind} | {peak / 1e6:.0f} MB | {high / 1e6:.0f} MB | {said} |"


def main() -> None:
    print("| fit | peak, resident | done from `ulimit -v` | estimate where it is refused |\n| --- | ---: | ---: | ---: |")
    for kind, line in KINDS.items():
        print(row(sys.argv[1], kind, line), flush=True)


if __name__ == "__main__":
    main()
