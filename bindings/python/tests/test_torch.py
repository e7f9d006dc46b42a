"""The fragment for PyTorch of the page on focused learning, where PyTorch is installed: `conftest.py` leaves it out elsewhere."""

from pathlib import Path

import numpy as np
import torch

from margins_learn import FocusedSampler

PAGE = Path(__file__).parents[3] / "docs" / "boost.md"


def test_a_network_learns_a_rare_class_by_focused_draws():
    rng = np.random.default_rng(1)
    rare = np.arange(2000) < 20
    points = rng.normal(size=(2000, 2)) * 0.3 + np.where(rare, 1.5, 0.0)[:, None]
    X, y = torch.tensor(points, dtype=torch.float32), torch.tensor(rare.astype(np.int64))
    torch.manual_seed(1)
    network = torch.nn.Sequential(torch.nn.Linear(2, 8), torch.nn.ReLU(), torch.nn.Linear(8, 2))
    optimizer = torch.optim.Adam(network.parameters(), lr=0.003)
    fragment = PAGE.read_text().split("The same with PyTorch")[1].split("```python\n")[1].split("```")[0]
    names = {"FocusedSampler": FocusedSampler, "torch": torch, "X": X, "y": y, "network": network, "optimizer": optimizer}
    exec(compile(fragment, PAGE.name, "exec"), names)
    right = (network(X).argmax(axis=1) == y).numpy()
    assert right[rare].mean() > 0.9 and right[~rare].mean() > 0.95
    assert names["sampler"].n_draws == 1500 * 32
