"""Arrays that bytes describe, for every estimator: a fit ends with a result or with an error in words.

    python tests/arrays.py 100000 1                     # So many random ones of a seed.
    python tests/arrays.py --atheris -runs=100000       # Guided by coverage, with the package atheris.
    python tests/arrays.py --native 10000000 1          # To the compiled library itself, without a fit.

What is no ValueError, TypeError or TimeoutError is a finding, and ends the run with the bytes in `artifacts/`.
"""

import pickle
import random
import sys
import time
import warnings
from collections import Counter, deque
from contextlib import contextmanager
from pathlib import Path

import numpy as np
from scipy import sparse

if sys.argv[1:2] == ["--atheris"]:
    import atheris

    with atheris.instrument_imports(include=["margins_learn"]):
        import margins_learn as ml
else:
    import margins_learn as ml

native_module = ml._native
REFUSALS = (ValueError, TypeError, TimeoutError)
NUMBERS = [0.0, -0.0, 1.0, -1.0, 0.5, 3.0, 1e-3, 1e300, -1e300, 1e-300, 5e-324, np.nan, np.inf, -np.inf, 2.0**53, 1e16]
TYPES = ["f8", "f4", "f2", ">f8", "i8", "i4", "u1", "?", "c16", "O", "U3", "M8[D]", "longdouble"]


def estimators():
    short = {"max_iter": 20, "time_limit": 2.0}
    return [
        lambda: ml.MarginClassifier(**short),
        lambda: ml.MarginClassifier("hinge", C=0.1, **short),
        lambda: ml.MarginClassifier("logistic", kernel="gaussian", **short),
        lambda: ml.MarginClassifier("hinge", kernel="poly", approximation="nystrom:m=3", **short),
        lambda: ml.MarginClassifier("logistic", encode=True, **short),
        lambda: ml.MarginClassifierCV("logistic", Cs=[0.1, 1.0], cv=2, **short),
        lambda: ml.MarginPath("squared-hinge", Cs=[0.1, 1.0], **short),
        lambda: ml.RobustClassifier("catoni:alpha=1", "logistic"),
        lambda: ml.StreamClassifier(),
        lambda: ml.MassartClassifier("sgd", eta=0.2, gamma=0.2, epsilon=0.3),
        lambda: ml.FocusedClassifier(max_steps=50, outputs=3),
    ]


class Reader:
    """Choices that bytes make, and zeros after their end."""

    def __init__(self, data):
        self.data, self.at = data, 0

    def byte(self):
        value = self.data[self.at] if self.at < len(self.data) else 0
        self.at += 1
        return value

    def below(self, bound):
        return self.byte() % bound

    def choice(self, values):
        return values[self.below(len(values))]

    def number(self):
        """A number of the list, a small one, or any bits."""
        kind = self.below(8)
        if kind == 0:
            return self.choice(NUMBERS)
        if kind == 1:
            return float(np.frombuffer(bytes(self.byte() for _ in range(8)), "f8")[0])
        return (self.byte() - 128) / 16

    def matrix(self, rows, columns):
        values = np.array([self.number() for _ in range(rows * columns)]).reshape(rows, columns)
        kind = self.below(4)
        values = values.astype(self.choice(TYPES)) if kind == 0 else values
        match self.below(10):
            case 0:
                return np.asfortranarray(values)
            case 1:
                return values[::-1, ::-1]
            case 2:
                return np.repeat(values, 2, axis=1)[:, ::2]
            case 3:
                return values.tolist()
            case 4:
                return np.ma.masked_invalid(values)
            case 5 | 6:
                return self.sparse(values)
            case 7:
                values.flags.writeable = False
        return values

    def sparse(self, values):
        """A matrix of scipy, whose parts may contradict each other."""
        matrix = self.choice([sparse.csr_array, sparse.csc_matrix, sparse.coo_array])(values.astype(float))
        if self.below(2) == 0 and matrix.nnz:
            coordinates = matrix.format == "coo"
            part = self.choice([matrix.row, matrix.col] if coordinates else [matrix.indices, matrix.indptr])
            part[self.below(len(part))] = self.choice([-1, 0, 1, 2, 1000, 2**31 - 1, -(2**31)])
        return matrix

    def target(self, rows):
        match self.below(8):
            case 0:
                return np.array([self.number() for _ in range(rows)])
            case 1:
                return [self.choice(["a", "b", "", "ä", "a\0", None, 3]) for _ in range(rows)]
            case 2:
                return np.array([self.below(4) for _ in range(rows)], dtype=self.choice(["i8", "u1", "?", "U2", "O"]))
            case 3:
                return np.arange(rows + self.below(3)) % 2
        return np.array([self.below(2) for _ in range(rows)])


def attempt(data):
    """Fits an estimator to arrays that the bytes describe; returns what came of it in a word."""
    reader = Reader(data)
    estimator = reader.choice(estimators())()
    rows, columns = reader.below(24), reader.below(6)
    given = {}
    if reader.below(4) == 0 and "sample_weight" in estimator.fit.__code__.co_varnames:
        given["sample_weight"] = np.array([reader.number() for _ in range(rows)])
    try:
        samples, target = reader.matrix(rows, columns), reader.target(rows)
    except (*REFUSALS, OverflowError):
        return "no arrays"  # numpy or scipy does not make them.
    try:
        estimator.fit(samples, target, **given)
    except REFUSALS as refusal:
        assert str(refusal)
        return "refused"
    check(estimator, samples, reader)
    return "fitted"


def check(estimator, samples, reader):
    """A fitted estimator knows its classes, and survives other arrays and a pickle."""
    if not hasattr(estimator, "predict"):
        return
    try:
        decided = estimator.predict(samples)
    except ValueError as refusal:
        # The path has coefficients, but no models.
        assert "overflowed" in str(refusal)
        return
    rows = samples.shape[0] if hasattr(samples, "shape") else len(samples)
    assert len(decided) == rows
    assert set(decided.tolist()) <= set(estimator.classes_.tolist())
    again = pickle.loads(pickle.dumps(estimator)).predict(samples)
    assert (again == decided).all()
    try:
        estimator.predict(reader.matrix(reader.below(5), reader.below(6)))
    except (*REFUSALS, OverflowError) as refusal:
        assert str(refusal)


MODEL = ml.MarginClassifier("logistic").fit([[0.0, 1.0], [1.0, 0.5], [2.0, -1.0]], [0, 1, 1]).model_
LOSSES = ["lhs", "logistic", "hinge", "squared-hinge", "dwd:q=1", "catoni", "", "lhs:x=1"]


def any_array(reader, size):
    """Returns an array of one or two dimensions, of any type and order, or something else than an array."""
    values = np.array([reader.number() for _ in range(size)])
    kind = reader.below(16)
    if kind == 0:
        return reader.choice([None, 3, "a", [1.0, 2.0], values.astype("U3")])
    values = values.astype(reader.choice(TYPES)) if kind == 1 else values
    values = values.astype("f4") if kind == 2 else values
    values = values[::-1] if kind == 3 else values
    return values.reshape(-1, reader.choice([1, 2, 3])) if size % 6 == 0 and kind > 3 else values


def indices(reader, size):
    values = np.array([reader.below(8) for _ in range(size)], dtype=np.int64)
    if size and reader.below(8) == 0:
        values[reader.below(size)] = reader.choice([-1, 8, 2**31, 2**62, -(2**63)])
    return values


def dense_in(reader):
    rows, columns = reader.below(8), reader.below(4)
    table = native_module.DenseRows(rows, columns)
    for _ in range(reader.below(3)):
        table.append(any_array(reader, reader.choice([rows * columns, 6, reader.below(9)])))
    return table.finish()


def sparse_in(reader):
    columns = reader.below(8)
    rows = native_module.SparseRows(indices(reader, reader.below(8)), columns)
    for _ in range(reader.below(3)):
        size = reader.below(6)
        if reader.below(2):
            rows.place_rows(reader.below(4), indices(reader, reader.below(4)), indices(reader, size), any_array(reader, size))
            continue
        rows.place(indices(reader, size), indices(reader, size), any_array(reader, reader.choice([size, reader.below(6)])))
    return rows.finish()


def enter(reader):
    """Hands arrays to a function of the compiled library."""
    match reader.below(6):
        case 0 | 1:
            samples = dense_in(reader) if reader.below(2) else sparse_in(reader)
            rows, columns = samples.shape
            assert rows > 0 and columns > 0
            assert MODEL.scores(samples, 1).shape == (rows, 1) and columns == 2
        case 2:
            function = reader.choice([native_module.value, native_module.derivative, native_module.conjugate, native_module.psi])
            at = any_array(reader, reader.below(9))
            assert np.shape(function(reader.choice(LOSSES), at)) == np.shape(at)
        case 3:
            scores = any_array(reader, 6)
            assert set(MODEL.decide(scores).tolist()) <= {0, 1}
            probabilities = MODEL.probabilities(scores)
            assert probabilities.shape == (len(scores), 2)
            assert ((probabilities >= 0) & (probabilities <= 1) | np.isnan(scores.astype("f8"))).all()
        case 4:
            location = native_module.location(any_array(reader, reader.below(9)), reader.choice([None, 1.0, reader.number()]), None, 0.05, reader.below(4), 1)
            assert np.isfinite(location["estimate"])
        case 5:
            size = reader.below(9)
            native_module.reliability(any_array(reader, size), any_array(reader, size), reader.below(5), "uniform")


def attempt_native(data):
    """Returns in a word what came of arrays that the bytes describe, in the compiled library."""
    try:
        enter(Reader(data))
    except (*REFUSALS, OverflowError) as refusal:
        assert str(refusal)
        return "refused"
    return "fitted"


@contextmanager
def no_warnings():
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        yield


def keep(data):
    folder = Path("artifacts")
    folder.mkdir(exist_ok=True)
    (folder / f"arrays-{abs(hash(data)):x}").write_bytes(data)


def at_random(executions, seed, attempt=attempt):
    """Tries random bytes, half of them a change of bytes that were taken."""
    draw, start = random.Random(seed), time.monotonic()
    outcomes, fitted = Counter(), deque([bytes(200)], maxlen=100)
    with no_warnings():
        for _ in range(executions):
            data = next_bytes(draw, fitted)
            try:
                outcome = attempt(data)
            except BaseException:
                keep(data)
                raise
            outcomes[outcome] += 1
            if outcome == "fitted":
                fitted.append(data)
    return outcomes, time.monotonic() - start


def next_bytes(draw, fitted):
    # Products of `random` are several times as fast as `randrange`, and the bytes need no even chances.
    if draw.random() < 0.5:
        return draw.randbytes(1 + int(399 * draw.random()))
    data = bytearray(fitted[int(len(fitted) * draw.random())])
    for _ in range(1 + int(7 * draw.random())):
        data[int(len(data) * draw.random())] = int(256 * draw.random())
    return bytes(data)


def guided(arguments):
    """Lets atheris choose the bytes, and prints how often each outcome occurred."""
    outcomes = Counter()

    def once(data):
        outcomes[attempt(data)] += 1
        if sum(outcomes.values()) % 500 == 0:
            print(dict(outcomes), flush=True)

    atheris.Setup([sys.argv[0], *arguments], once)
    with no_warnings():
        atheris.Fuzz()


if __name__ == "__main__":
    if sys.argv[1:2] == ["--atheris"]:
        guided(sys.argv[2:])
    else:
        arguments = [argument for argument in sys.argv[1:] if argument != "--native"]
        executions, seed = map(int, arguments)
        outcomes, seconds = at_random(executions, seed, attempt_native if len(arguments) < len(sys.argv) - 1 else attempt)
        print(f"{executions} executions, seed {seed}, {seconds:.0f} s: {dict(outcomes)}")
