"""Focused draws for any learner.

`FocusedSampler` draws the samples that a learner gets wrong more often; the learner is anything with `partial_fit`. Here a network
learns the digit 8 from ten 8s among about 800 other digits, from focused and from uniform draws, for several seeds.
"""

from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits
from sklearn.neural_network import MLPClassifier

from margins_learn import FocusedSampler

RARE, BATCH, EVERY = 10, 32, 250


def split(seed: int) -> tuple[np.ndarray, ...]:
    """Returns samples to learn from, ten of them 8s, and others to test on."""
    X, digit = load_digits(return_X_y=True)
    X, y = X / 16, digit == 8
    order = np.random.default_rng(seed).permutation(len(y))
    rare, typical = order[y[order]], order[~y[order]]
    half = len(typical) // 2
    train, test = np.r_[rare[:RARE], typical[:half]], np.r_[rare[RARE:], typical[half:]]
    return X[train], y[train], X[test], y[test]


def shares_missed(focused: bool, seed: int, steps: int) -> list[tuple[float, float]]:
    """Returns the shares of the other 8s that the network misses and of the other digits that it takes for 8s, along the steps."""
    X, y, X_test, y_test = split(seed)
    network = MLPClassifier((32,), random_state=seed).partial_fit(X[:1], y[:1], classes=[False, True])
    sampler, rng = FocusedSampler(len(y), random_state=seed), np.random.default_rng(seed)
    shares = []
    for step in range(1, steps + 1):
        drawn = sampler.draw(BATCH) if focused else rng.integers(len(y), size=BATCH)
        if focused:
            sampler.observe(network.predict(X[drawn]) != y[drawn])
        network.partial_fit(X[drawn], y[drawn])
        if step % EVERY == 0:
            wrong = network.predict(X_test) != y_test
            shares.append((100 * np.mean(wrong[y_test]), 100 * np.mean(wrong[~y_test])))
    return shares


def main(folder: Path, seeds: int = 10, steps: int = 1500) -> None:
    figure, ax = plt.subplots(figsize=(7, 4.5), layout="constrained")
    at = np.arange(EVERY, steps + 1, EVERY)
    runs = {
        "uniform": np.array([shares_missed(False, seed, steps) for seed in range(seeds)]),
        "focused": np.array([shares_missed(True, seed, steps) for seed in range(seeds)]),
    }
    for name, shares in runs.items():
        mean, error = shares.mean(axis=0), shares.std(axis=0, ddof=1) / np.sqrt(seeds)
        for step, (missed, false), (missed_error, false_error) in zip(at, mean, error):
            print(f"{name}, {step} steps: {missed:.0f} % of the 8s missed (se {missed_error:.1f}), {false:.2f} % of the others (se {false_error:.2f})")
        ax.errorbar(at, mean[:, 0], error[:, 0], label=f"{name} draws", capsize=3)
    gain = runs["uniform"][:, -1, 0] - runs["focused"][:, -1, 0]
    print(f"difference at the end: {gain.mean():.0f} % of the 8s (se {gain.std(ddof=1) / np.sqrt(seeds):.1f})")
    ax.set(title="digits: ten 8s to learn from", xlabel="steps of 32 samples", ylabel="held-out 8s that are missed, %", ylim=(0, 105))
    ax.legend()
    figure.savefig(folder / "any_learner.png", dpi=110)


if __name__ == "__main__":
    main(Path("."))
