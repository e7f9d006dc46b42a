"""Fits of one binary on processors with fewer instructions, beside those of this processor.

QEMU (`qemu-x86_64` of the package qemu-user) stands for the other processors: the binary finds AVX2, SSE4 or SSE2 there, and takes another
way through its inner loops. A run fails if a fit is not certified, or if two objectives differ by more than their gaps and `ULPS` units in
the last place. Fits to files that the folder lacks are left out, and named at the end.

    python benches/instruction_sets.py --margins target/release/margins --data-dir crates/test-support/fixtures/data
"""

from __future__ import annotations

import argparse
import json
import struct
import subprocess
import tempfile
from pathlib import Path
from typing import Any

ULPS = 1000
PROCESSORS = {"this one": None, "AVX2": "Haswell", "SSE4.2": "Nehalem", "SSE2": "qemu64"}
GAUSSIAN = ["--kernel", "gaussian:sigma=0.1", "--lambda", "1e-4"]
SMOOTH = ["newton", "lbfgs", "gd", "mm", "mm-accelerated"]
KINKS = ["proximal-newton", "sdca", "bundle"]
ON_KERNELS = ["newton", "mm", "mm-accelerated"]
HEART = ["heart_cleveland.csv.gz", "--standardize", "--lambda", "1e-2"]
KERNEL = ["--kernel", "gaussian:sigma=0.05"]
FITS = {
    "lhs, banknote": ["banknote.csv.gz", "--standardize", "--lambda", "1e-4"],
    "hinge, australian": ["australian.csv.gz", "--standardize", "--loss", "hinge", "--lambda", "1e-3"],
    "logistic, sparse, phishing": ["phishing.svm.gz", "--loss", "logistic", "--lambda", "1e-4"],
    "logistic, p > n, arrhythmia68": ["arrhythmia68.csv.gz", "--standardize", "--loss", "logistic", "--lambda", "1e-2"],
    "hinge, kernel, sonar": ["sonar.csv.gz", "--loss", "hinge", *GAUSSIAN],
    "lhs, kernel, sonar": ["sonar.csv.gz", "--loss", "lhs", *GAUSSIAN],
    **{f"{solver}, logistic, heart": [*HEART, "--loss", "logistic", "--solver", solver] for solver in SMOOTH + KINKS},
    **{f"{solver}, hinge, heart": [*HEART, "--loss", "hinge", "--solver", solver] for solver in KINKS},
    **{f"{solver}, lhs, kernel, heart": [*HEART, "--loss", "lhs", *KERNEL, "--solver", solver] for solver in ON_KERNELS},
    "hinge, kernel, heart": [*HEART, "--loss", "hinge", *KERNEL],
    "logistic, Nystrom, heart": ["heart_cleveland.csv.gz", "--standardize", "--loss", "logistic", *GAUSSIAN, "--approx", "nystrom:m=40"],
}


def ordered(number: float) -> int:
    """Returns the place of a number among all of double precision."""
    bits = struct.unpack("<q", struct.pack("<d", number))[0]
    return bits if bits >= 0 else -(bits & 0x7FFF_FFFF_FFFF_FFFF)


def coefficients(model: dict[str, Any]) -> list[float]:
    """Returns the numbers that a model decides by."""
    found: list[float] = []

    def walk(value: Any) -> None:
        if isinstance(value, float):
            found.append(value)
        elif isinstance(value, dict):
            for name in sorted(value):
                walk(value[name])
        elif isinstance(value, list):
            for item in value:
                walk(item)

    for member in model["members"]:
        walk({name: value for name, value in member.items() if name != "training"})
    return found


def fit(margins: str, processor: str | None, arguments: list[str], folder: Path) -> tuple[dict[str, Any], list[float]]:
    out = folder / "model.json"
    emulator = ["qemu-x86_64", "-cpu", processor] if processor else []
    command = [*emulator, margins, "fit", "--data", *arguments, "--threads", "1", "--format", "json", "--out", str(out)]
    run = subprocess.run(command, capture_output=True, text=True, check=True)
    return json.loads(run.stdout)["fits"][0], coefficients(json.loads(out.read_text()))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--margins", default="target/release/margins", help="the command")
    parser.add_argument("--data-dir", type=Path, required=True, help="the folder of the data sets")
    arguments = parser.parse_args()
    others = [processor for processor, model in PROCESSORS.items() if model]
    print("| fit | relative gap |", *(f"{processor}: objective, ulps | coefficients |" for processor in others))
    print("| --- | --- |" + " ---: | ---: |" * len(others))
    missing: list[str] = []
    with tempfile.TemporaryDirectory() as folder:
        for name, (file, *settings) in FITS.items():
            if not (arguments.data_dir / file).exists():
                missing.append(name)
                continue
            settings = [str(arguments.data_dir / file), *settings]
            first, expected = fit(arguments.margins, None, settings, Path(folder))
            cells: list[str] = []
            for processor in others:
                here, numbers = fit(arguments.margins, PROCESSORS[processor], settings, Path(folder))
                apart = abs(here["objective"] - first["objective"])
                ulps = abs(ordered(here["objective"]) - ordered(first["objective"]))
                gaps = sum(one["objective"] - one["dual_objective"] + 2 * one["rounding"] for one in (here, first))
                if not (here["converged"] and first["converged"]) or (ulps > ULPS and apart > gaps):
                    raise SystemExit(f"{name} on {processor}: {here['objective']!r} and {first['objective']!r}, certified: {here['converged']}")
                share = max(abs(one - other) for one, other in zip(numbers, expected)) / max(map(abs, expected))
                cells += [str(ulps), f"{share:.1e}"]
            print(f"| {name} | {first['relative_gap']:.1e} | {' | '.join(cells)} |")
    if missing:
        print(f"\nThe folder has no file for: {'; '.join(missing)}.")


if __name__ == "__main__":
    main()
