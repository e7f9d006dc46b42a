"""Samples on workers: partitions, and the base of the estimators that fit them.

This module does not depend on an engine. A class for each engine, in `margins_learn.dask` and `margins_learn.ray`,
places the partitions on workers, sends them one message per round, and replaces lost workers.
"""

from __future__ import annotations

import inspect
import itertools
import math
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, Protocol, TypeVar

import numpy as np
from scipy import sparse
from sklearn.base import clone
from sklearn.utils.multiclass import check_classification_targets

from . import _native
from ._inputs import columns_named, is_frame, is_path, samples_of
from ._labels import distinct, fold_names, names_of, weights_of
from ._regularised import PRECOMPUTED
from ._search import specifications
from ._values import array_of, floats_of, refuse_complex

Kind = TypeVar("Kind", bound=type)

_BYTES_PER_ROW = 64
_BYTES_PER_PAIR_ROW = 24
# The kinds of labels that compare with each other.
_KINDS = {**dict.fromkeys("biuf", "number"), **dict.fromkeys("US", "text"), **{kind: kind for kind in "OcmMV"}}


class Engine(Protocol):
    """The interface of an engine, from the first inspection of its partitions to the end of the fit."""

    TRIALS: int
    """The number of trial steps that a message asks for at once."""

    def each(self, function: Callable[..., Any], partitions: Sequence[Any]) -> list[Any]:
        """Applies a function to each partition, where the partition is, and returns the results."""

    def place(self, made_of: tuple[Any, ...], partitions: Sequence[Any], costs: Sequence[int]) -> None:
        """Makes a `Holder` on every worker from these arguments, and inserts some of the partitions, which take so many bytes in memory."""

    def all(self, method: str, *arguments: Any) -> list[Any]:
        """Calls a method of every `Holder` and returns the results."""

    def ask(self, message: bytes, to: list[str] | None) -> tuple[list[bytes], list[str]]:
        """Sends a message to the workers named, or to all.

        Returns their answers, and the names of those that were lost and replaced.
        """

    def close(self) -> None:
        """Releases the workers."""


class Holder:
    """The partitions of one worker, in the memory of the library."""

    def __init__(self, loss: str, classes: Any, folds: dict[str, int]) -> None:
        self._shard = _native.Shard(loss)
        self._classes, self._folds = np.asarray(classes), folds
        self._class_rows = np.zeros(len(classes), dtype=int)

    def insert(self, number: int, partition: Any) -> None:
        """Copies a partition, which the caller can then release."""
        if isinstance(partition, FilePart):
            self._class_rows += self._shard.insert_block(partition.path, partition.number)
        else:
            self._insert(number, partition)

    def class_rows(self) -> list[int]:
        """Returns the number of rows of every class."""
        return self._class_rows.tolist()

    def folds(self, draw: tuple[int, int] | None) -> list[tuple[int, np.ndarray]]:
        """Returns the folds of every partition: its own, or those drawn of so many with a seed."""
        return self._shard.folds(draw)

    def _insert(self, number: int, partition: Any) -> None:
        X, y, weights, folds = parts_of(partition, number)
        if not len(y):
            self._shard.insert_empty(number, X.shape[1])
            return
        with _in_partition(number):
            samples = samples_of(X)
            weights = weights_of(weights, X, zeros=True)
        targets = np.searchsorted(self._classes, y).astype(np.uint32)
        if folds is not None:
            folds = np.array([self._folds[name] for name in fold_names(folds, "folds")], dtype=np.uint32)
        self._class_rows += np.bincount(targets, minlength=len(self._classes))
        self._shard.insert(number, samples, targets, weights, folds)

    def answer(self, message: bytes) -> bytes:
        """Returns the answers of all partitions to a message."""
        return self._shard.answer(message)


class FilePart:
    """A partition of a block file that every worker can read."""

    def __init__(self, path: str, number: int) -> None:
        self.path, self.number = path, number


@contextmanager
def _in_partition(number: int) -> Iterator[None]:
    """Adds the number of the partition to errors."""
    try:
        yield
    except (TypeError, ValueError) as error:
        kind = TypeError if isinstance(error, TypeError) else ValueError
        raise kind(f"partition {number}: {error}") from None


def parts_of(partition: Any, number: int) -> tuple[Any, np.ndarray, np.ndarray | None, np.ndarray | None]:
    """Returns features, labels, weights and folds of a partition, which must have the same rows."""
    X, y, weights, folds = partition
    if not hasattr(X, "shape"):
        X = np.asarray(X)
    if sparse.issparse(X):
        refuse_complex(X, "X")
        X = sparse.csr_array(X, dtype=np.float64)
    elif isinstance(X, np.ndarray) and X.dtype.kind in "biu":
        X = X.astype(np.float64)
    if getattr(X, "ndim", len(X.shape)) != 2:
        raise ValueError(f"partition {number}: X has the shape {X.shape}, but must have two dimensions.")
    parts = {"y": y, "sample_weight": weights, "folds": folds}
    found = {name: None if part is None else array_of(part).ravel() for name, part in parts.items()}
    for name, part in found.items():
        if part is not None and len(part) != X.shape[0]:
            raise ValueError(
                f"partition {number}: X has {X.shape[0]} rows, but {name} has {len(part)}. Partition them alike: "
                "persist a Dask table before its columns are taken."
            )
    return X, found["y"], found["sample_weight"], found["folds"]


def facts_of(partition: Any, number: int) -> dict[str, Any]:
    """Returns what a fit must know of a partition before it places it."""
    X, y, _, folds = parts_of(partition, number)
    with _in_partition(number):
        labels = distinct(y)
        folds = set() if folds is None else set(fold_names(folds, "folds"))
    stored = 16 * X.nnz if sparse.issparse(X) else 8 * X.shape[0] * X.shape[1]
    return {
        "labels": labels,
        "rows": X.shape[0],
        "features": X.shape[1],
        "sparse": sparse.issparse(X),
        "bytes": stored,
        "pair_rows": int(np.sort(np.bincount(np.searchsorted(labels, y)))[-2:].sum()),
        "folds": folds,
        "names": [str(name) for name in columns_named(X)] if is_frame(X) else None,
    }


def cost_of(stored: int, rows: int, made: int, pair_rows: float) -> int:
    """Returns the bytes that a worker needs for a partition, about.

    They are the stored values of the features, 8 bytes for each of the features `made` of a row, and 64 bytes a row. Beside
    them a fit of one pair of classes after another keeps a copy of the features that it fits and 24 bytes for each of
    `pair_rows`, the rows of the two largest classes; 0 if there is no such copy.
    """
    fitted = 8 * made * rows if made else stored
    copied = pair_rows * (fitted / max(rows, 1) + _BYTES_PER_PAIR_ROW)
    return stored + (_BYTES_PER_ROW + 8 * made) * rows + math.ceil(copied)


def ground_of(engine: Engine, loss: str, partitions: list[Any], made: int, pairs: bool) -> tuple[np.ndarray, dict[str, Any]]:
    """Places partitions on the workers of an engine, with room for so many features that are made of those of a row.

    `pairs` says that several classes are fitted as pairs. Returns the classes, and the ground of the fit for the native module.
    """
    facts = engine.each(facts_of, partitions)
    features = {fact["features"] for fact in facts}
    if len(features) != 1:
        raise ValueError(f"The partitions have different numbers of features: {sorted(features)}.")
    _refuse_differences(facts)
    classes = np.unique(np.concatenate([fact["labels"] for fact in facts if len(fact["labels"])] or [np.empty(0)]))
    check_classification_targets(classes)
    if len(classes) < 2:
        raise ValueError(f"y has one class, {classes.tolist()}, but a classifier needs samples of two classes.")
    copied = pairs and len(classes) > 2
    costs = [cost_of(fact["bytes"], fact["rows"], made, fact["pair_rows"] if copied else 0) for fact in facts]
    spellings = sorted(set().union(*[fact["folds"] for fact in facts]))
    folds, numbers = _native.folds_named(spellings) if spellings else ([], [])
    engine.place((loss, classes, dict(zip(spellings, numbers))), partitions, costs)
    return classes, {
        "workers": engine.ask,
        "trials": engine.TRIALS,
        "classes": names_of(classes),
        "class_rows": np.sum(engine.all("class_rows"), axis=0).tolist(),
        "features": features.pop(),
        "sparse": any(fact["sparse"] for fact in facts if fact["rows"]),
        "partitions": [fact["rows"] for fact in facts],
        "folds": folds,
        "names": facts[0]["names"],
    }


def _refuse_differences(facts: list[dict[str, Any]]) -> None:
    """Raises a ValueError if partitions name features differently, or have labels of different types."""
    for number, fact in enumerate(facts):
        if fact["names"] != facts[0]["names"]:
            raise ValueError(f"partition {number}: X has the columns {fact['names']}, but partition 0 has {facts[0]['names']}.")
    labelled = [(number, fact["labels"].dtype) for number, fact in enumerate(facts) if len(fact["labels"])]
    for number, dtype in labelled:
        first, of_first = labelled[0]
        if _KINDS[dtype.kind] != _KINDS[of_first.kind]:
            raise ValueError(f"partition {number}: y has labels of type {dtype}, but partition {first} has {of_first}.")


def file_ground_of(engine: Engine, loss: str, path: str, made: int, pairs: bool) -> tuple[np.ndarray, dict[str, Any]]:
    """Places the partitions of a block file, which every worker reads by itself, as `ground_of` does.

    The rows of a class are not known before, so all classes count as equally large.
    """
    from ._labels import classes_named

    file = _native.block_file(path)
    partitions = [FilePart(path, number) for number in range(len(file["rows"]))]
    classes = classes_named(file["classes"])
    share = 2 / len(classes) if pairs and len(classes) > 2 else 0
    costs = [cost_of(bytes_, rows, made, share * rows) for bytes_, rows in zip(file["bytes"], file["rows"])]
    engine.place((loss, classes, {}), partitions, costs)
    return classes, {
        "workers": engine.ask,
        "trials": engine.TRIALS,
        "classes": file["classes"],
        "class_rows": np.sum(engine.all("class_rows"), axis=0).tolist(),
        "features": file["features"],
        "sparse": file["sparse"],
        "partitions": file["rows"],
        "folds": file["folds"],
        "names": file["names"],
    }


def shares_of(
    costs: Sequence[int], sizes: Sequence[int], homes: Sequence[str | None], free: dict[str, int | None], kept: bool = False
) -> dict[str, list[int]]:
    """Returns the partitions of every worker: those that are there already, and the others where there is least.

    A worker copies its partitions one after the other. A copy takes the cost in bytes, the partition itself its size; `kept` says that
    partitions stay in memory after their copy. Raises a MemoryError if the peak of a worker exceeds its free memory, which is None
    without a limit.
    """
    shares: dict[str, list[int]] = {worker: [] for worker in free}
    load = dict.fromkeys(free, 0)
    fair = sum(costs) / len(free)
    for number, cost in enumerate(costs):
        worker = homes[number]
        if worker not in free or load[worker] + cost > 1.5 * fair:
            worker = min(load, key=load.__getitem__)
        shares[worker].append(number)
        load[worker] += cost
    for worker, numbers in shares.items():
        here = [home == worker for home in homes]
        needed, limit = peak_of(numbers, costs, sizes, here, kept), free[worker]
        if limit is not None and needed > max(0, limit):
            # The peak of small partitions, of which every worker gets some. The free memory is known only roughly.
            least = sum(costs[k] - (sizes[k] if here[k] and not kept else 0) for k in numbers) * min(1.0, len(costs) / len(free))
            advice = "Split the rows into more partitions." if least < max(limit, needed / 2) else "Add workers, give them more memory, or fit fewer rows."
            raise MemoryError(
                f"Worker {worker} would need {needed / 1e9:.2f} GB more for {len(numbers)} of {len(costs)} partitions, but "
                f"has {max(0, limit) / 1e9:.2f} GB left. {advice}"
            )
    return {worker: numbers for worker, numbers in shares.items() if numbers}


def peak_of(numbers: Sequence[int], costs: Sequence[int], sizes: Sequence[int], here: Sequence[bool], kept: bool) -> int:
    """Returns the peak, in additional bytes, of a worker that copies partitions one after the other.

    A partition that is not here is fetched first. It is released after its copy, unless it is here and kept.
    """
    taken = peak = 0
    for number in numbers:
        taken += costs[number] + (0 if here[number] else sizes[number])
        peak = max(peak, taken)
        taken -= 0 if here[number] and kept else sizes[number]
    return peak


def with_client(local: type, engine_of: Callable[..., Any]) -> Callable[[Kind], Kind]:
    """Gives an estimator the constructor of the local one, with `client` behind the other settings."""

    def decorate(kind: Kind) -> Kind:
        signature = inspect.signature(local.__init__)
        client = inspect.Parameter("client", inspect.Parameter.KEYWORD_ONLY, default=None)

        def __init__(self: Any, *args: Any, client: Any = None, **settings: Any) -> None:
            local.__init__(self, *args, **settings)
            self.client = client

        __init__.__signature__ = signature.replace(parameters=[*signature.parameters.values(), client])
        kind.__init__ = __init__
        kind._local, kind._engine_of = local, staticmethod(engine_of)
        return kind

    return decorate


class Distributed:
    """The base of estimators whose samples are on workers."""

    _local: type
    _engine_of: Callable[..., Any]
    classes_: np.ndarray
    n_features_in_: int
    n_rounds_: list[int] | np.ndarray

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None, folds: Any = None, checkpoint: Any = None) -> Any:
        """Fits to samples that workers hold.

        Parameters
        ----------
        X : collection of shape (n_samples, n_features), or path of a block file
            The samples, in partitions of rows; a block file must be on storage that all workers read.
        y : collection of shape (n_samples,) or None, default=None
            Their classes, in the same partitions; None for a block file, which has them.
        sample_weight : collection of shape (n_samples,) or None, default=None
            Their weights, in the same partitions, 1 for None.
        folds : collection of shape (n_samples,) or None, default=None
            The fold of every sample, a whole number or a name, for a cross-validation; drawn in every partition for None.
        checkpoint : path of a file or None, default=None
            The file that keeps intercept, coefficients and lambda of the points reached; where it is there already, the fit goes
            on from them, and certifies them again.

        Returns
        -------
        self : estimator
            The estimator, fitted.
        """
        if self.encode:
            raise ValueError(f"encode is {self.encode!r}, but samples that workers hold are fitted by functions of numbers.")
        landmarks = self._landmarks()
        given = {"y": y, "sample_weight": sample_weight, "folds": folds}
        if is_path(X) and (beside := [name for name, value in given.items() if value is not None]):
            raise ValueError(f"{beside[0]} is given beside the block file {str(X)!r}, which has labels, weights and folds of its own.")
        if folds is not None and not hasattr(self, "cv"):
            raise ValueError(f"folds are given, but {type(self).__name__} has no cross-validation.")
        self._engine = self._engine_of(self.client)
        self._folds_given, self._checkpoint = folds, checkpoint
        self._room = landmarks + self._beside() if landmarks else 0
        try:
            return super().fit(X, y, sample_weight)
        finally:
            self._engine.close()
            del self._engine, self._folds_given, self._checkpoint, self._room

    def _landmarks(self) -> int:
        """Returns the number of landmarks, 0 for linear functions; refuses kernels that workers cannot make features of."""
        kernels = [self.kernel] if hasattr(self, "kernel") else specifications(self.kernels) or [None]
        if kernels == [None]:
            return 0
        landmarks = _native.landmarks(self.approximation) if self.approximation else 0
        if len(kernels) > 1 or not isinstance(kernels[0], str) or kernels[0] == PRECOMPUTED or not landmarks:
            listed = ", ".join(map(repr, kernels))
            raise ValueError(
                f"The kernel is {listed} with approximation {self.approximation!r}, but samples that workers hold take one kernel, "
                "named by a text, on landmarks: approximation='nystrom:m=1000'."
            )
        return landmarks

    def _beside(self) -> int:
        """Returns the number of features that stand beside a kernel: those with the penalty factor 0."""
        factors = self.penalty_factors
        if factors is None:
            return 0
        given = list(factors.values()) if isinstance(factors, dict) else floats_of(factors, "penalty_factors").ravel()
        return sum(bool(factor == 0) for factor in given)

    def _fit(self, *arguments: Any, **changed: Any) -> dict[str, Any]:
        report = super()._fit(*arguments, **changed)
        if "folds" in report:
            parts = dict(itertools.chain.from_iterable(self._engine.all("folds", report["fold_draw"])))
            report["folds"] = np.concatenate([parts[number] for number in sorted(parts)])
        rounds = np.asarray(report["rounds"], dtype=int)
        self._keep(n_rounds_=rounds[..., 0].tolist() if rounds.shape[-1] == 1 else rounds)
        return report

    def _data(self, X: Any, y: Any, sample_weight: Any) -> dict[str, Any]:
        engine, pairs = self._engine, self.multi_class == "ovo"
        if is_path(X):
            self.classes_, ground = file_ground_of(engine, self._one_loss(), str(X), self._room, pairs)
        else:
            partitions = engine.partitions(X, y, sample_weight, self._folds_given)
            self.classes_, ground = ground_of(engine, self._one_loss(), partitions, self._room, pairs)
        ground["checkpoint"] = self._checkpoint
        self.n_features_in_ = ground["features"]
        self._keep(feature_names_in_=np.array(ground["names"], dtype=object) if ground["names"] else None)
        return ground

    def _one_loss(self) -> str:
        losses = [self.loss] if isinstance(self.loss, str) else list(self.loss)
        if len(losses) != 1:
            raise ValueError(
                f"loss is {self.loss!r}, but workers have one loss. Cross-validate each, with the same random_state."
            )
        return losses[0]

    def _cv(self, X: Any, y: Any, groups: Any) -> Any:
        if self.cv is None or isinstance(self.cv, (int, np.integer)):
            return self.cv if self.cv is None else int(self.cv)
        raise ValueError(f"cv is {self.cv!r}, but must be None or an int for samples that workers hold: fit takes their folds.")

    def _listed(self) -> str:
        return self._local.__name__

    def __sklearn_clone__(self) -> Any:
        settings = self.get_params(deep=False)
        client = settings.pop("client")
        return type(self)(client=client, **{name: clone(value, safe=False) for name, value in settings.items()})

    def __getstate__(self) -> dict[str, Any]:
        state = super().__getstate__()
        # A number can be kept, a connection cannot.
        return {**state, "client": self.client if isinstance(self.client, int) else None}

    def to_local(self) -> Any:
        """Returns the estimator of this package that has the same settings and the same fit, and needs no workers."""
        settings = {name: value for name, value in self.get_params(deep=False).items() if name != "client"}
        local = self._local(**settings)
        local.__dict__.update({name: value for name, value in self.__dict__.items() if name.endswith("_")})
        return local
