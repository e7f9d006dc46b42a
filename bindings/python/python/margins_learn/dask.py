"""Certified fits to collections of Dask: one machine drives, workers hold the samples.

The estimators have the settings of those of the same name in `margins_learn`, and `client`. A fit takes dask arrays and frames,
lists of delayed blocks, or the path of a block file. Its result has the same bits for any number of workers.

    from dask.distributed import Client
    from margins_learn.dask import MarginClassifier

    classifier = MarginClassifier("logistic", C=10.0, client=Client(...)).fit(X, y)
    classifier.to_local().predict(rows)

Functions are linear, or those of a kernel on landmarks (`kernel="gaussian", approximation="nystrom:m=1000"`), whose features the workers
make of their samples.
"""

from __future__ import annotations

import contextlib
import itertools
import threading
import time
import warnings
import weakref
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

try:
    import dask
    from dask.delayed import Delayed
    from dask.distributed import Actor, Client, futures_of, get_client
except ModuleNotFoundError as error:
    raise ModuleNotFoundError(f"{error}: the extra 'dask' of margins-learn installs what margins_learn.dask needs, as in pip install './bindings/python[dask]'.") from None

from . import _path, _regularised, _search
from ._dask_partitions import cut, delayed_parts, has_known_rows, predictions_of, rows_of
from ._inputs import is_path
from ._shards import Distributed, Holder, peak_of, shares_of, with_client

__all__ = ["MarginClassifier", "MarginClassifierCV", "MarginPath"]

_PATIENCE = 300.0
_LOOK = 0.5
# The seconds to wait for reports of the workers on their memory.
_REPORTS = 10.0
_names = itertools.count()
# Fits in several threads restore the configuration of Dask one after the other.
_config_lock = threading.Lock()


# The holders of this process, by their names, until Dask releases them.
_holders_here: weakref.WeakValueDictionary[str, Holder] = weakref.WeakValueDictionary()


class _NamedHolder(Holder):
    """A holder that the tasks of its worker find by its name."""

    def __init__(self, name: str, *made_of: Any) -> None:
        super().__init__(*made_of)
        _holders_here[name] = self


def _insert(holder: Actor, name: str, number: int, partition: Any, before: None) -> None:
    """Inserts a partition into the holder on this worker, after the insertion before."""
    # The proxy of the actor would send a copy over a connection of the worker to itself.
    _holders_here[name].insert(number, partition)


class _Cluster:
    """The workers of a Dask cluster during one fit."""

    TRIALS = 4

    def __init__(self, client: Client | None) -> None:
        given = _usable(get_client() if client is None else client)
        self._client = Client(
            given.scheduler.address,
            security=given.security,
            direct_to_workers=True,
            set_as_default=False,
            timeout=_PATIENCE,
        )
        self._fit = f"margins-{given.id}-{next(_names)}"
        self._holders: dict[str, Any] = {}
        # The last insertion into each holder, until all of them are done.
        self._filled: dict[str, Any] = {}
        self._futures: dict[int, Any] = {}
        self._kept = False
        self._actors: dict[str, Actor] = {}
        self._places: dict[str, str] = {}
        self._shares: dict[str, list[int]] = {}
        try:
            workers = self._wait_for_workers(_may_grow(given.cluster))
        except BaseException:
            self.close()
            raise
        if missing := _missing(given, workers):
            warnings.warn(f"The fit begins without workers that the cluster was asked for: {', '.join(missing)}.", stacklevel=4)

    def _ask_scheduler(self, what: str, function: Callable[..., Any], *arguments: Any, **named: Any) -> Any:
        """Returns what the scheduler answers, and says for what if it does not answer."""
        try:
            return self._client.sync(function, *arguments, callback_timeout=_PATIENCE, **named)
        except TimeoutError:
            raise TimeoutError(f"The scheduler of Dask has not answered for {_PATIENCE:.0f} s: {what}.") from None

    def _identity(self) -> dict[str, Any]:
        """Returns the workers with what is known of each."""
        return self._ask_scheduler("who works", self._client.scheduler.identity, n_workers=-1)["workers"]

    def _wait_for_workers(self, patient: bool) -> dict[str, Any]:
        """Returns the workers, and waits for the first of them if that is worth the wait."""
        workers, since = self._identity(), time.monotonic()
        # An adaptive cluster starts workers for tasks alone.
        wanted = None if workers or not patient else self._client.submit(int, pure=False)
        while not workers:
            if wanted is None:
                raise ValueError("The Dask cluster has no workers. Start some, as with cluster.scale(2).")
            if time.monotonic() - since > _PATIENCE:
                raise TimeoutError(f"The Dask cluster has no workers, and none came for {_PATIENCE:.0f} s. Start some.")
            time.sleep(0.05)
            workers = self._identity()
        return workers

    def _free(self, workers: dict[str, Any], unreported: dict[str, int]) -> dict[str, int | None]:
        """Returns the bytes that each worker may still take, None without a limit, beside some that it has not reported yet."""
        # Dask pauses a worker above the first share, which would then insert no partition.
        share = min(dask.config.get(f"distributed.worker.memory.{name}") or 1.0 for name in ("pause", "terminate"))
        free: dict[str, int | None] = {}
        for address, worker in workers.items():
            # What was put on disk is read again.
            used = worker["metrics"]["memory"] + worker["metrics"]["spilled_bytes"]["memory"] + unreported.get(address, 0)
            free[address] = int(share * worker["memory_limit"]) - used if worker["memory_limit"] else None
        return free

    def _shares_at_home(self, homes: list[str | None]) -> dict[str, list[int]]:
        """Returns the partitions that each worker copies, which may be those that it has."""
        workers, unreported = self._identity(), dict.fromkeys(filter(None, homes), 0)
        for home, size in zip(homes, self._sizes):
            if home is not None:
                unreported[home] += size
        try:
            return shares_of(self._costs, self._sizes, homes, self._free(workers, unreported), self._kept)
        except MemoryError:
            # The partitions may be in the reports of the workers already, and are in the next ones.
            seen = {address: worker["last_seen"] for address, worker in workers.items()}
            since = time.monotonic()
            while any(worker["last_seen"] == seen.get(address) for address, worker in workers.items()) and time.monotonic() - since < _REPORTS:
                time.sleep(0.1)
                workers = self._identity()
            return shares_of(self._costs, self._sizes, homes, self._free(workers, {}), self._kept)

    def partitions(self, *parts: Any) -> list[Delayed]:
        """Returns partitions that hold features, labels, weights and folds."""
        named = dict(zip(("X", "y", "sample_weight", "folds"), parts))
        # Another client may register its persisted data with the scheduler later than this one asks for them.
        self._await(futures_of([part for part in parts if dask.is_dask_collection(part)]), "the data are persisted")
        # Features that the caller has persisted stay in memory beside the copies.
        self._kept = bool(futures_of(named["X"]))
        with _config_lock, dask.config.set({"optimization.tune.active": False}):
            # Tuning would join the partitions of a projection of a Parquet file by the size of its own columns.
            split = {name: delayed_parts(name, part) for name, part in named.items() if part is not None}
        rows = {name: list(part.chunks[0]) for name, part in named.items() if has_known_rows(part)}
        split = self._aligned(split, rows)
        each = [split.get(name, itertools.repeat(None)) for name in named]
        return [dask.delayed(tuple, pure=False)(list(one)) for one in zip(*each)]

    def _aligned(self, split: dict[str, list[Any]], known: dict[str, list[int]]) -> dict[str, list[Any]]:
        """Returns all parts in the partitions of X; their rows are counted where they are unknown and the numbers of partitions differ.

        Dask joins the partitions of a projection of a Parquet file by itself, as in `table["label"].persist()`.
        """
        if len({len(parts) for parts in split.values()}) == 1 and len({tuple(rows) for rows in known.values()}) < 2:
            return split
        rows = {name: known.get(name) or self._rows(parts) for name, parts in split.items()}
        if len({sum(each) for each in rows.values()}) != 1:
            listed = ", ".join(f"{name} has {sum(each)} in {len(each)} partitions" for name, each in rows.items())
            raise ValueError(f"The numbers of rows differ: {listed}.")
        like = rows["X"]
        return {name: parts if rows[name] == like else cut(parts, rows[name], like) for name, parts in split.items()}

    def _rows(self, parts: list[Any]) -> list[int]:
        """Returns the numbers of rows of partitions."""
        return self._gather([self._client.compute(dask.delayed(rows_of, pure=False)(part)) for part in parts], "the workers count the rows of partitions")

    def each(self, function: Callable[..., Any], partitions: Sequence[Any]) -> list[Any]:
        """Applies a function to each partition and returns the results; partitions stay where they were computed."""
        self._futures = {k: self._compute(part) for k, part in enumerate(partitions)}
        futures = [self._client.submit(function, future, k, pure=False) for k, future in self._futures.items()]
        return self._gather(futures, "the workers inspect the partitions")

    def _compute(self, partition: Any) -> Any:
        if isinstance(partition, Delayed):
            return self._client.compute(partition)
        return self._client.scatter(partition)

    def _gather(self, futures: list[Any], what: str) -> list[Any]:
        """Returns results that are waited for."""
        self._await(futures, what)
        # Of a persisted projection of a Parquet file Dask may list partitions that it has joined and lacks. The scheduler alone
        # knows: the graph of a persisted collection need not have tasks.
        lost = next((number for number, future in enumerate(futures) if future.status == "cancelled"), None)
        if lost is not None:
            raise ValueError(
                f"partition {lost}: Dask has no tasks or results for its data. "
                "Persist the data again, a table before its columns are taken: table = table.persist()."
            )
        for future in futures:
            # Of several errors the first in order is raised.
            if future.status == "error":
                future.result()
        return self._ask_scheduler(what, self._client._gather, futures)

    def _await(self, futures: list[Any], what: str, in_vain: Callable[[], bool] = lambda: False) -> None:
        """Waits for futures, and says for what if nothing comes for long; ends at once where it waits in vain."""
        ended, since, looked = 0, time.monotonic(), time.monotonic()
        while True:
            done = sum(future.done() for future in futures)
            if done == len(futures):
                return
            if time.monotonic() - looked > _LOOK:
                if in_vain():
                    return
                looked = time.monotonic()
            if done > ended:
                ended, since = done, time.monotonic()
            if time.monotonic() - since > _PATIENCE:
                raise TimeoutError(f"Nothing came for {_PATIENCE:.0f} s, but {len(futures) - done} of {len(futures)} are missing: {what}.")
            time.sleep(min(0.05, 0.001 + 0.1 * (time.monotonic() - since)))

    def place(self, made_of: tuple[Any, ...], partitions: Sequence[Any], costs: Sequence[int]) -> None:
        """Makes an actor on every worker, with partitions that are there already where that is fair."""
        self._made_of, self._partitions = made_of, list(partitions)
        if not self._futures:
            self._futures = {k: self._compute(part) for k, part in enumerate(partitions)}
        self._await(list(self._futures.values()), "the workers compute the partitions")
        keys = [future.key for future in self._futures.values()]
        where = self._ask_scheduler("where the partitions are", self._client.scheduler.who_has, keys=keys)
        sizes = self._ask_scheduler("how large the partitions are", self._client.scheduler.nbytes, keys=keys, summary=False)
        homes = [next(iter(where.get(key, ())), None) for key in keys]
        self._costs, self._sizes = list(costs), [max(0, sizes[key]) for key in keys]
        for worker, numbers in self._shares_at_home(homes).items():
            self._hold(worker, numbers)
        self._start(list(self._holders), "the workers take their partitions over")

    def all(self, method: str, *arguments: Any) -> list[Any]:
        """Calls a method of every actor and returns the results."""
        results, names = [], list(self._holders)
        while names:
            some, lost = self._answers(names, method, *arguments)
            results += some
            names = self._anew(lost)
        return results

    def _hold(self, worker: str, numbers: list[int]) -> str:
        """Starts an actor on a worker, inserts partitions one after the other, and returns its name."""
        name = f"{self._fit}-{next(_names)}"
        there = {"workers": [worker], "allow_other_workers": False}
        holder = self._client.submit(_NamedHolder, name, *self._made_of, key=name, actor=True, pure=False, **there)
        graph, last = {}, None
        for k in numbers:
            # Dask releases the partition after its insertion. If the worker is lost, it is computed again.
            partition = self._futures.pop(k, None) or self._compute(self._partitions[k])
            key = f"{name}-partition-{k}"
            graph[key], last = (_insert, holder, name, k, partition, last), key
        filled = self._client.get(graph, last, sync=False, **there)
        self._holders[name], self._filled[name] = holder, filled
        self._shares[name], self._places[name] = numbers, worker
        return name

    def ask(self, message: bytes, to: list[str] | None) -> tuple[list[bytes], list[str]]:
        """Sends a message to actors; partitions of those that are lost go to other workers."""
        answers, lost = self._answers(list(self._holders) if to is None else to, "answer", message)
        return answers, self._anew(lost)

    def _answers(self, names: list[str], method: str, *arguments: Any) -> tuple[list[Any], list[str]]:
        """Returns the answers of actors, and the names of those whose worker is lost."""
        asked, lost, answers = {}, [], []
        for name in names:
            try:
                asked[name] = getattr(self._actors[name], method)(*arguments)
            except Exception as error:
                self._lost_or_raise(name, error)
                lost.append(name)
        for name, future in asked.items():
            try:
                answers.append(self._result(name, future))
            except Exception as error:
                self._lost_or_raise(name, error)
                lost.append(name)
        return answers, lost

    def _result(self, name: str, future: Any) -> Any:
        """Returns an answer; a lost worker does not keep the fit waiting."""
        since = time.monotonic()
        while True:
            try:
                return future.result(timeout=_LOOK)
            except TimeoutError:
                if self._places[name] not in self._identity():
                    raise ConnectionError(f"worker {self._places[name]} is lost") from None
                if time.monotonic() - since > _PATIENCE:
                    place = self._places[name]
                    raise RuntimeError(f"Worker {place} has not answered for {_PATIENCE:.0f} s: is it at work?") from None

    def _lost_or_raise(self, name: str, error: Exception) -> None:
        """Raises the error of a worker, unless the worker is lost."""
        if isinstance(error, (OSError, ValueError)) and self._places[name] not in self._identity():
            return
        # A worker that has died answers before the scheduler knows of it.
        if isinstance(error, OSError) or "lost" in str(error).lower():
            deadline = time.monotonic() + 30.0
            while time.monotonic() < deadline:
                if self._places[name] not in self._identity():
                    return
                time.sleep(0.05)
        raise error

    def _anew(self, lost: list[str]) -> list[str]:
        """Loads the partitions of lost actors elsewhere, and returns the names of the actors that have them."""
        return [made for name in lost for made in self._start(self._move(name), "workers take the partitions of a lost one over")]

    def _move(self, name: str) -> list[str]:
        """Lets other workers load the partitions of a lost actor, and returns the names of their actors."""
        numbers = self._shares.pop(name)
        for register in (self._holders, self._filled, self._actors, self._places):
            register.pop(name, None)
        workers, coming = self._wait_for_workers(patient=True), {}
        for other in self._filled:
            place = self._places[other]
            coming[place] = coming.get(place, 0) + peak_of(self._shares[other], self._costs, self._sizes, [False] * len(self._costs), False)
        costs, sizes = ([of[k] for k in numbers] for of in (self._costs, self._sizes))
        shares = shares_of(costs, sizes, [None] * len(numbers), self._free(workers, coming))
        return [self._hold(worker, [numbers[k] for k in some]) for worker, some in shares.items()]

    def _gone(self, names: list[str]) -> list[str]:
        """Returns the names of actors whose worker is lost."""
        workers = self._identity()
        return [name for name in names if self._places[name] not in workers]

    def _lost(self, names: list[str]) -> list[str]:
        """Returns the names of actors that their worker took with it; raises what another has ended with."""
        lost = self._gone(names)
        for name in [name for name in names if name not in lost]:
            # The worker may have been lost in the meantime.
            with contextlib.suppress(TimeoutError):
                if self._filled[name].done() and (error := self._filled[name].exception(timeout=_LOOK)) is not None:
                    self._lost_or_raise(name, error)
                    lost.append(name)
        return lost

    def _start(self, names: list[str], what: str) -> list[str]:
        """Waits until actors have their partitions, and returns their names; those whose worker goes meanwhile start elsewhere."""
        while True:
            self._await([self._filled[name] for name in names], what, lambda: bool(self._gone(names)))
            lost = self._lost(names)
            if not lost and all(self._filled[name].done() for name in names):
                break
            names = [name for name in names if name not in lost] + [made for name in lost for made in self._move(name)]
        for name in names:
            # Otherwise Dask would compute the partitions again if the worker is lost later.
            del self._filled[name]
            # What the future has for a result may speak through another client.
            with self._client.as_current():
                self._actors[name] = Actor(_NamedHolder, self._places[name], name)
        return names

    def close(self) -> None:
        """Releases the actors and the connection."""
        for register in (self._actors, self._filled, self._holders, self._futures):
            register.clear()
        self._client.close()


def _usable(client: Any) -> Client:
    """Returns a client that a fit can wait for, and refuses others."""
    if not isinstance(client, Client):
        raise TypeError(f"client is {client!r}, but must be a Client of dask.distributed.")
    if client.asynchronous:
        raise ValueError(
            "The client of Dask is asynchronous, but a fit waits, which would block the event loop. "
            "Fit in a thread: await asyncio.to_thread(estimator.fit, X, y)."
        )
    if client.status != "running":
        raise ValueError(f"The client of Dask is {client.status}. Pass one that is connected to a scheduler.")
    return client


def _may_grow(cluster: Any) -> bool:
    """Returns true if workers may come to a cluster without any: it is adaptive, has been asked for some, or is not known here."""
    return cluster is None or getattr(cluster, "_adaptive", None) is not None or bool(getattr(cluster, "worker_spec", True))


def _missing(client: Client, workers: dict[str, Any]) -> list[str]:
    """Returns the names of the workers that a cluster was asked for and that are not there."""
    names = {str(worker["name"]) for worker in workers.values()}
    asked = getattr(client.cluster, "worker_spec", {})
    return [str(name) for name, spec in asked.items() if "group" not in spec and str(name) not in names]


class _Predicting(Distributed):
    """The base of classifiers on Dask, which predict lazily, one partition at a time."""

    def _lazily(self, method: str, X: Any) -> Any:
        local = self.to_local()
        predict = getattr(local, method)
        if is_path(X):
            raise TypeError(f"X is the path {str(X)!r}, but must be rows: to_local().save('model.mgn') makes a model for `margins predict --data`.")
        is_one = isinstance(X, Delayed)
        if is_one or isinstance(X, (list, tuple)) and len(X) > 0 and all(isinstance(block, Delayed) for block in X):
            of_none = predict(self._row(getattr(self, "feature_names_in_", None)))[:0]
            predictions = [dask.delayed(predictions_of)(block, local, method, of_none) for block in delayed_parts("X", X)]
            return predictions[0] if is_one else predictions
        if not dask.is_dask_collection(X):
            return predict(X)
        if not hasattr(X, "chunks"):
            of_none = predict(self._row(X.columns))[:0]
            return X.map_partitions(predictions_of, local, method, of_none, meta=predictions_of(X._meta, local, method, of_none))
        example = predict(self._row(None))
        shape = {"drop_axis": 1} if example.ndim == 1 else {"chunks": (X.chunks[0], (example.shape[1],))}
        return X.rechunk({1: -1}).map_blocks(predictions_of, local, method, example[:0], dtype=example.dtype, meta=example[:0], **shape)

    def _row(self, columns: Any) -> Any:
        """Returns a row of zeros, in a frame if there are names of columns."""
        if columns is None:
            return np.zeros((1, self.n_features_in_))
        import pandas as pd

        return pd.DataFrame(np.zeros((1, len(columns))), columns=columns)

    def decision_function(self, X: Any) -> Any:
        """Returns the score of every sample, lazily for a collection of Dask or delayed blocks."""
        return self._lazily("decision_function", X)

    def predict(self, X: Any) -> Any:
        """Returns the class of every sample, lazily for a collection of Dask or delayed blocks."""
        return self._lazily("predict", X)

    def predict_proba(self, X: Any) -> Any:
        """Returns the probability of every class, lazily for a collection of Dask or delayed blocks."""
        return self._lazily("predict_proba", X)


@with_client(_regularised.MarginClassifier, _Cluster)
class MarginClassifier(_Predicting, _regularised.MarginClassifier):
    """`margins_learn.MarginClassifier` for samples on the workers of a Dask cluster."""


@with_client(_search.MarginClassifierCV, _Cluster)
class MarginClassifierCV(_Predicting, _search.MarginClassifierCV):
    """`margins_learn.MarginClassifierCV` for samples on the workers of a Dask cluster."""


@with_client(_path.MarginPath, _Cluster)
class MarginPath(Distributed, _path.MarginPath):
    """`margins_learn.MarginPath` for samples on the workers of a Dask cluster."""
