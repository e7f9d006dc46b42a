"""Certified fits to partitions that a Ray cluster holds, by the same messages as `margins_learn.dask`.

A fit takes lists of object references, one per partition, or the path of a block file on storage that all nodes read.

    import ray
    from margins_learn.ray import MarginClassifier

    X, y = [[ray.put(part) for part in parts] for parts in (X_parts, y_parts)]
    classifier = MarginClassifier("logistic", C=10.0).fit(X, y)
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from typing import Any

try:
    import ray
except ModuleNotFoundError as error:
    raise ModuleNotFoundError(f"{error}: the extra 'ray' of margins-learn installs what margins_learn.ray needs, as in pip install './bindings/python[ray]'.") from None

from . import _path, _regularised, _search
from ._settings import count_of
from ._shards import Distributed, FilePart, Holder, shares_of, with_client

__all__ = ["MarginClassifier", "MarginClassifierCV", "MarginPath"]

_PATIENCE = 300.0


@ray.remote(num_cpus=1, max_restarts=0)
class _Actor:
    """A holder in a process of its own."""

    def take(self, made_of: tuple[Any, ...], numbers: list[int], *partitions: Any) -> None:
        """Makes the holder. What the constructor of an actor raises would come back as the death of the actor."""
        self._holder = Holder(*made_of)
        for number, part in zip(numbers, partitions):
            self._holder.insert(number, part if isinstance(part, FilePart) else tuple(_taken(part)))

    def call(self, method: str, *arguments: Any) -> Any:
        """Returns what a method of the holder returns."""
        return getattr(self._holder, method)(*arguments)


def _taken(part: Sequence[Any]) -> list[Any]:
    """Returns the features, labels, weights and folds behind references."""
    return [ray.get(piece) if isinstance(piece, ray.ObjectRef) else piece for piece in part]


@ray.remote(num_cpus=1)
def _look(function: Callable[..., Any], part: Sequence[Any], number: int) -> Any:
    return function(_taken(part), number)


class _Cluster:
    """The actors of a Ray cluster during one fit; `client` is their number, by default one per processor."""

    TRIALS = 4

    def __init__(self, client: int | None) -> None:
        if not ray.is_initialized():
            raise ValueError("Ray is not running here: call ray.init first.")
        has = ray.cluster_resources()
        self._count = max(1, int(has.get("CPU", 1))) if client is None else count_of(client, "client")
        if self._count > has.get("CPU", 0):
            raise ValueError(f"client is {client}, but the Ray cluster has {has.get('CPU', 0):.0f} CPUs, and every actor takes one.")
        # What an actor may take, in bytes.
        self._limit = int(has["memory"] / self._count) if "memory" in has else None
        self._actors: dict[str, Any] = {}
        self._shares: dict[str, list[int]] = {}
        self._names = itertools.count()

    def partitions(self, *parts: Any) -> list[list[Any]]:
        """Returns partitions of references to features, labels, weights and folds."""
        named = dict(zip(("X", "y", "sample_weight", "folds"), parts))
        for name, part in named.items():
            if part is not None and not isinstance(part, (list, tuple)):
                raise TypeError(f"{name} is a {type(part).__name__}, but must be a list of references, one per partition.")
        counts = {name: len(part) for name, part in named.items() if part is not None}
        if len(set(counts.values())) != 1:
            listed = ", ".join(f"{name} has {count} partitions" for name, count in counts.items())
            raise ValueError(f"{listed}: features, labels, weights and folds must be partitioned alike.")
        each = [part if part is not None else itertools.repeat(None) for part in parts]
        return [list(one) for one in zip(*each)]

    def each(self, function: Callable[..., Any], partitions: Sequence[Any]) -> list[Any]:
        """Applies a function to each partition and returns the results."""
        return self._all([_look.remote(function, part, number) for number, part in enumerate(partitions)])

    def _all(self, references: Sequence[Any]) -> list[Any]:
        """Returns results in order, so that of several errors the first is raised."""
        return [self._get(reference) for reference in references]

    def _get(self, reference: Any) -> Any:
        try:
            return ray.get(reference, timeout=_PATIENCE)
        except ray.exceptions.GetTimeoutError:
            raise TimeoutError(f"The actors of Ray have not answered for {_PATIENCE:.0f} s: are there {self._count} free CPUs?") from None
        except ray.exceptions.RayTaskError as error:
            raise error.cause from None

    def place(self, made_of: tuple[Any, ...], partitions: Sequence[Any], costs: Sequence[int]) -> None:
        """Makes the actors with their partitions, which stay in the object store."""
        self._made_of, self._partitions = made_of, list(partitions)
        free = dict.fromkeys(map(str, range(self._count)), self._limit)
        shares = shares_of(costs, [0] * len(costs), [None] * len(costs), free).values()
        self._all([self._hold(numbers)[1] for numbers in shares])

    def all(self, method: str, *arguments: Any) -> list[Any]:
        """Calls a method of every actor and returns the results."""
        return self._all([actor.call.remote(method, *arguments) for actor in self._actors.values()])

    def _hold(self, numbers: list[int]) -> tuple[str, Any]:
        """Starts an actor, and returns its name with the reference to wait for until it has its partitions."""
        name = str(next(self._names))
        self._actors[name], self._shares[name] = _Actor.remote(), numbers
        return name, self._actors[name].take.remote(self._made_of, numbers, *(self._partitions[k] for k in numbers))

    def ask(self, message: bytes, to: list[str] | None) -> tuple[list[bytes], list[str]]:
        """Sends a message to actors; replaces those that have died."""
        sent = ray.put(message)
        asked = {name: self._actors[name].call.remote("answer", sent) for name in to or list(self._actors)}
        answers, replaced = [], []
        for name, reference in asked.items():
            try:
                answers.append(self._get(reference))
            except ray.exceptions.RayActorError:
                del self._actors[name]
                made, taken = self._hold(self._shares.pop(name))
                self._get(taken)
                replaced.append(made)
        return answers, replaced

    def close(self) -> None:
        """Ends the actors."""
        for actor in self._actors.values():
            ray.kill(actor)
        self._actors.clear()


@with_client(_regularised.MarginClassifier, _Cluster)
class MarginClassifier(Distributed, _regularised.MarginClassifier):
    """`margins_learn.MarginClassifier` for samples on Ray actors; `client` is the number of actors."""


@with_client(_search.MarginClassifierCV, _Cluster)
class MarginClassifierCV(Distributed, _search.MarginClassifierCV):
    """`margins_learn.MarginClassifierCV` for samples on Ray actors; `client` is the number of actors."""


@with_client(_path.MarginPath, _Cluster)
class MarginPath(Distributed, _path.MarginPath):
    """`margins_learn.MarginPath` for samples on Ray actors; `client` is the number of actors."""
