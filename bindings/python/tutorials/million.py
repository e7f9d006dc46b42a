"""A million rows.

Stochastic gradient takes the rows chunk by chunk, in bounded memory; the certified fit takes them all, with one copy,
and says how far the stream is from the best. Both take float32 as it is. Fewer rows are taken here if asked for.
"""

import time
from collections.abc import Iterator
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np

from margins_learn import MarginClassifier, StreamClassifier, losses


def chunks(rows: int, size: int = 20_000) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Draws chunks of rows, as a reader of files yields them."""
    truth = np.random.default_rng(0).normal(size=20)
    for seed in range(rows // size):
        rng = np.random.default_rng(seed + 1)
        X = rng.normal(size=(size, 20)).astype(np.float32)
        yield X, X @ truth / 3 + rng.logistic(size=size) > 0


def main(folder: Path, rows: int = 1_000_000) -> None:
    stream = StreamClassifier("logistic", lam=1e-4, average="polyak")
    taken, errors = [], []
    began = time.perf_counter()
    for X, y in chunks(rows):
        if stream.__sklearn_is_fitted__():
            taken.append(stream.t_)
            errors.append(np.mean(stream.predict(X) != y))
        stream.partial_fit(X, y, classes=[False, True])
    print(f"stream: {rows} rows in {time.perf_counter() - began:.1f} s")

    parts = list(chunks(rows))
    X, y = (np.concatenate(part) for part in zip(*parts))
    began = time.perf_counter()
    model = MarginClassifier("logistic", C=1 / (2 * len(y) * 1e-4), n_jobs=-1).fit(X, y)
    print(f"certified: {time.perf_counter() - began:.1f} s, {model.status_}, relative gap {model.relative_gap_:.1e}")
    margins = np.where(y, 1, -1) * stream.decision_function(X)
    objective = losses.value("logistic", margins).mean() + 1e-4 * np.sum(stream.coef_**2)
    print(f"the stream is {objective / model.lower_bound_ - 1:.1e} above the least objective, at most")

    figure, ax = plt.subplots(figsize=(7, 4), layout="constrained")
    ax.plot(np.array(taken) / 1e6, 100 * np.array(errors), label="stream, on the next chunk")
    ax.axhline(100 * np.mean(model.predict(X) != y), color="#d9822b", label="certified fit")
    ax.set(xlabel="rows taken (millions)", ylabel="errors (%)")
    ax.margins(y=0.2)
    ax.legend(frameon=False, loc="upper left", ncols=2)
    figure.savefig(folder / "million.png", dpi=110)


if __name__ == "__main__":
    main(Path("."))
