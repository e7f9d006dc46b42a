"""Values that no public function may take for what it asks for, and a classifier fitted to good ones."""

import numpy as np
from scipy import sparse

import margins_learn as ml

GOOD = np.random.default_rng(1).normal(size=(20, 3))
LABELS = np.arange(20) % 2


def spoiled(value):
    X = GOOD.copy()
    X[7, 1] = value
    return X


SAMPLES = {
    "NaN": spoiled(np.nan),
    "infinite": spoiled(np.inf),
    "sparse NaN": sparse.csr_array(spoiled(np.nan)),
    "no rows": GOOD[:0],
    "no columns": GOOD[:, :0],
    "one dimension": GOOD[:, 0],
    "three dimensions": GOOD[None],
    "text": np.full((20, 3), "a"),
    "objects": np.full((20, 3), object()),
    "complex": GOOD + 1j,
    "None": None,
    "a number": 3.0,
    "fewer rows": GOOD[:19],
    "a dict": {"a": 1},
    "dates": np.full((20, 3), np.datetime64("2020-01-01")),
    "ragged": [[1.0, 2.0], [1.0]] * 10,
    "malformed sparse": sparse.csr_array((np.ones(20), np.full(20, 9), np.arange(21)), shape=(20, 10))[:, :0],
}
TARGETS = {
    "one class": np.ones(20, dtype=int),
    "NaN": np.where(LABELS == 1, np.nan, 0.0),
    "continuous": GOOD[:, 0],
    "two columns": np.column_stack([LABELS, LABELS]),
    "None": None,
    "fewer": LABELS[:10],
    "empty": LABELS[:0],
    "objects": np.array([object()] * 20),
    "a number": 1,
}
WEIGHTS = {
    "negative": np.where(np.arange(20) == 7, -1.0, 1.0),
    "NaN": np.where(np.arange(20) == 7, np.nan, 1.0),
    "infinite": np.where(np.arange(20) == 7, np.inf, 1.0),
    "zeros": np.zeros(20),
    "of one class": LABELS.astype(float),
    "fewer": np.ones(19),
    "two columns": np.ones((20, 2)),
    "text": ["a"] * 20,
}
# What a refusal of these says, wherever they are found.
SAMPLES_TOLD = {
    "NaN": "NaN",
    "infinite": "inf",
    "sparse NaN": "NaN",
    "complex": "[Cc]omplex",
    "dates": "times are not numbers",
    "fewer rows": "inconsistent numbers of samples",
}
PLACES = ["NaN", "infinite", "sparse NaN"]
WEIGHTS_TOLD = {
    "negative": "(row|sample) 7.* -1",
    "NaN": "(row|sample) 7.* NaN",
    "infinite": "(row|sample) 7.* inf",
    "zeros": "zero",
    "fewer": r"\(19,\)",
    "two columns": r"\(20, 2\)",
}
HOSTILE = [np.nan, np.inf, [], "a", object(), [[1.0], [2.0, 3.0]], 1j, None, -1.0, 2.0]

FITTED = ml.MarginClassifier("logistic").fit(GOOD, LABELS)
