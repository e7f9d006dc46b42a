"""Fits on Dask whose workers, driver or waits fail."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import subprocess
import sys
import time

import numpy as np
import pytest

from on_dask import LANDMARKS, client, da, dask, data, distributed, partitions, split  # noqa: F401

import margins_learn.dask as elsewhere


def killed(client, fit):
    """Kills a worker in the second iteration of a fit."""
    pids = iter(client.run(os.getpid).values())

    def kill(iteration):
        if iteration["iteration"] == 2 and (pid := next(pids, None)):
            os.kill(pid, signal.SIGKILL)
            kill.done = True

    kill.done = False
    result = fit(kill)
    assert kill.done
    return result


@pytest.mark.skipif(os.name != "posix", reason="there is no signal that kills")
def test_a_worker_that_is_killed_changes_no_bit(client, data):
    settings = {"loss": "logistic", "tol": 1e-12, "client": client}
    expected = elsewhere.MarginClassifier(**settings).fit(*split(data))
    classifier = killed(client, lambda kill: elsewhere.MarginClassifier(**settings, callback=kill).fit(*split(data)))
    assert (classifier.coef_ == expected.coef_).all() and classifier.status_ == "converged"
    client.wait_for_workers(2, timeout=60)


@pytest.mark.skipif(os.name != "posix", reason="there is no signal that kills")
def test_a_worker_that_is_killed_gets_the_landmarks_again(client, data):
    settings = {"loss": "logistic", "tol": 1e-12, "kernel": "gaussian:sigma=0.1", "client": client, **LANDMARKS}
    expected = elsewhere.MarginClassifier(**settings).fit(*split(data))
    classifier = killed(client, lambda kill: elsewhere.MarginClassifier(**settings, callback=kill).fit(*split(data)))
    assert (classifier.dual_coef_ == expected.dual_coef_).all()
    client.wait_for_workers(2, timeout=60)


@pytest.mark.skipif(os.name != "posix", reason="there is no signal that kills")
def test_a_worker_that_is_killed_before_it_has_its_partitions_changes_no_bit(client, data, monkeypatch):
    settings = {"loss": "hinge", "client": client}
    expected = elsewhere.MarginClassifier(**settings).fit(*split(data))
    pids, hold, killed = client.run(os.getpid), elsewhere._Cluster._hold, []

    def hold_there(cluster, worker, numbers):
        if not killed:
            killed.append(worker)
            os.kill(pids[worker], signal.SIGKILL)
        return hold(cluster, worker, numbers)

    monkeypatch.setattr(elsewhere._Cluster, "_hold", hold_there)
    monkeypatch.setattr(elsewhere, "_PATIENCE", 60.0)
    classifier = elsewhere.MarginClassifier(**settings).fit(*split(data))
    assert killed and (classifier.coef_ == expected.coef_).all()
    client.wait_for_workers(2, timeout=60)


@pytest.mark.skipif(os.name != "posix", reason="there is no signal that kills")
@pytest.mark.parametrize("moment", ["has the actor, which nobody has looked at", "has started"])
def test_a_worker_that_is_killed_before_it_is_asked_changes_no_bit(client, data, monkeypatch, moment):
    settings = {"loss": "hinge", "client": client}
    expected = elsewhere.MarginClassifier(**settings).fit(*split(data))
    pids, killed = client.run(os.getpid), []

    def kill(cluster):
        """Kills a worker, and returns when the actor on it is known to be lost."""
        name, worker = next(iter(cluster._places.items()))
        killed.append(worker)
        os.kill(pids[worker], signal.SIGKILL)
        deadline = time.monotonic() + 60
        while cluster._holders[name].status == "finished" and time.monotonic() < deadline:
            time.sleep(0.01)

    def after(method, is_moment):
        def call(cluster, *arguments):
            result = method(cluster, *arguments)
            if not killed and is_moment(*arguments):
                kill(cluster)
            return result

        return call

    if moment == "has started":
        monkeypatch.setattr(elsewhere._Cluster, "_start", after(elsewhere._Cluster._start, lambda *_: True))
    else:
        start = lambda futures, what, *_: what == "the workers take their partitions over"  # noqa: E731
        monkeypatch.setattr(elsewhere._Cluster, "_await", after(elsewhere._Cluster._await, start))
    classifier = elsewhere.MarginClassifier(**settings).fit(*split(data))
    assert killed and (classifier.coef_ == expected.coef_).all()
    client.wait_for_workers(2, timeout=60)


def impatient(monkeypatch, method, is_meant):
    """Lets a method of the cluster lose its patience after a second where it is meant."""
    plain, usual = getattr(elsewhere._Cluster, method), elsewhere._PATIENCE

    def call(cluster, *arguments):
        monkeypatch.setattr(elsewhere, "_PATIENCE", 1.0 if is_meant(cluster, *arguments) else usual)
        return plain(cluster, *arguments)

    monkeypatch.setattr(elsewhere._Cluster, method, call)


def test_every_wait_has_a_limit_and_says_what_for(client, data, monkeypatch):
    X, y, _ = data
    what = "the workers inspect the partitions"
    impatient(monkeypatch, "_await", lambda cluster, futures, awaited, *_: awaited == what)
    over = distributed.Event("over", client=client)

    def late(piece):
        distributed.Event("over").wait(timeout=60)
        return piece

    blocks, labels = partitions(X, y, cuts=(300,))
    slow = [blocks[0], dask.delayed(late)(blocks[1])]
    try:
        with pytest.raises(TimeoutError, match=f"Nothing came for 1 s, but [12] of 2 are missing: {what}"):
            elsewhere.MarginClassifier("logistic", client=client).fit(slow, labels)
    finally:
        over.set()


@pytest.mark.skipif(os.name != "posix", reason="there is no signal that stops")
def test_a_worker_that_does_not_answer_is_named(client, data, monkeypatch):
    pids = client.run(os.getpid)
    stopped = next(iter(pids))
    # The others may take any time.
    impatient(monkeypatch, "_result", lambda cluster, name, _: stops and cluster._places[name] == stopped)
    stops = []

    def stop(iteration):
        if iteration["iteration"] == 2:
            os.kill(pids[stopped], signal.SIGSTOP)
            stops.append(stopped)

    try:
        with pytest.raises(RuntimeError, match=f"Worker {stopped} has not answered for 1 s"):
            elsewhere.MarginClassifier("logistic", tol=1e-12, client=client, callback=stop).fit(*split(data))
    finally:
        os.kill(pids[stopped], signal.SIGCONT)
        monkeypatch.undo()
    assert elsewhere.MarginClassifier("logistic", client=client).fit(*split(data)).status_ == "converged"


def test_workers_that_have_not_come_are_named(client, data, monkeypatch):
    asked = {**client.cluster.worker_spec, "seventh": {}}
    monkeypatch.setattr(client.cluster, "worker_spec", asked)
    with pytest.warns(UserWarning, match="begins without workers that the cluster was asked for: seventh"):
        elsewhere.MarginClassifier("logistic", client=client).fit(*split(data))


def test_clients_that_cannot_be_waited_for_are_refused(client, data):
    with distributed.Client(client.scheduler.address, set_as_default=False) as closed:
        pass
    with pytest.raises(ValueError, match="The client of Dask is closed. Pass one that is connected"):
        elsewhere.MarginClassifier("logistic", client=closed).fit(*split(data))
    with pytest.raises(TypeError, match="client is 3, but must be a Client"):
        elsewhere.MarginClassifier("logistic", client=3).fit(*split(data))
    expected = elsewhere.MarginClassifier("logistic", client=client).fit(*split(data))

    async def fit():
        async with distributed.Client(client.scheduler.address, asynchronous=True, set_as_default=False) as other:
            classifier = elsewhere.MarginClassifier("logistic", client=other)
            with pytest.raises(ValueError, match="asynchronous, .*await asyncio.to_thread"):
                classifier.fit(*split(data))
            return await asyncio.to_thread(classifier.fit, *split(data))

    assert (asyncio.run(asyncio.wait_for(fit(), timeout=60)).coef_ == expected.coef_).all()


def test_an_adaptive_cluster_grows_for_a_fit(data):
    options = {"processes": False, "threads_per_worker": 1, "dashboard_address": None}
    with distributed.LocalCluster(n_workers=0, **options) as cluster, distributed.Client(cluster, set_as_default=False) as client:
        with pytest.raises(ValueError, match="has no workers. Start some"):
            elsewhere.MarginClassifier("logistic", client=client).fit(*split(data))
        cluster.adapt(minimum=0, maximum=1)
        assert elsewhere.MarginClassifier("logistic", client=client).fit(*split(data)).status_ == "converged"


def on_one_worker(memory_limit, work):
    """Returns what a function does with the client of a cluster of one worker."""
    options = {"processes": True, "threads_per_worker": 1, "dashboard_address": None}
    with distributed.LocalCluster(n_workers=1, memory_limit=memory_limit, **options) as cluster:
        with distributed.Client(cluster, set_as_default=False) as client:
            return work(client)


def resident_memory():
    """Returns the bytes of this process once the library is loaded."""
    import dask.array  # noqa: F401
    import margins_learn.dask  # noqa: F401
    import psutil

    return psutil.Process().memory_info().rss


@pytest.fixture(scope="module")
def own_memory():
    """The bytes of a worker without data."""
    return on_one_worker(0, lambda client: max(client.run(resident_memory).values()))


# Dask pauses a worker above the first share of its limit, and kills it above the second.
PAUSE, TERMINATE = 0.8, 0.95


def test_partitions_of_which_a_worker_has_no_room_for_a_copy_are_refused_before_they_are_copied(own_memory, monkeypatch):
    held = []
    monkeypatch.setattr(elsewhere._Cluster, "_hold", lambda *arguments: held.append(arguments))
    X = da.random.default_rng(1).normal(size=(500_000, 50), chunks=(50_000, 50))

    def work(client):
        with pytest.raises(MemoryError, match=r"would need 0\.05 GB more for 10 of 10 partitions, but has 0\.0\d GB left"):
            elsewhere.MarginClassifier("logistic", client=client).fit(X, X[:, 0] > 0)

    on_one_worker(int((own_memory + X.nbytes) / PAUSE), work)
    assert not held


def test_a_worker_holds_its_partitions_once(own_memory):
    """A table that would not fit twice is fitted: a partition is released when it has been copied."""
    X = da.random.default_rng(1).normal(size=(1_000_000, 50), chunks=(50_000, 50))
    limit = int((own_memory + 1.3 * X.nbytes) / PAUSE)
    assert own_memory + 2 * X.nbytes > TERMINATE * limit
    fit = lambda client: elsewhere.MarginClassifier("logistic", tol=1e-3, client=client).fit(X, X[:, 0] > 0.1)  # noqa: E731
    assert on_one_worker(limit, fit).status_ == "converged"


DRIVER = """
import os, signal, sys, numpy as np, dask.array as da
from dask.distributed import Client, LocalCluster
from margins_learn.dask import MarginPath

def kill(iteration):
    points, *kills = sys.argv[1:]
    if kills and os.path.exists(points) and open(points).read().count('"lambda"') > 3:
        os.killpg(0, signal.SIGKILL)

def main():
    random = np.random.default_rng(1)
    X = random.normal(size=(4000, 20))
    y = X @ random.normal(size=20) + random.normal(size=4000) > 0
    parts = [da.from_array(part, chunks=(500, *part.shape[1:])) for part in (X, y)]
    with LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as cluster, Client(cluster) as client:
        path = MarginPath("logistic", lambdas=np.geomspace(1, 1e-4, 12), tol=1e-9, client=client, callback=kill)
        path.fit(*parts, checkpoint=sys.argv[1])
    assert set(path.statuses_.ravel()) == {"converged"}
    print(sum(path.n_rounds_), repr(path.objectives_.ravel().tolist()))

if __name__ == "__main__":
    main()
"""


@pytest.mark.skipif(os.name != "posix", reason="there is no signal that kills")
def test_a_driver_that_is_killed_goes_on_from_its_points(tmp_path):
    """The whole program dies by -9 in the middle of a path; the next run begins where it was."""
    program, points = tmp_path / "driver.py", tmp_path / "points.json"
    program.write_text(DRIVER)

    def run(*arguments):
        command = [sys.executable, str(program), *map(str, arguments)]
        done = subprocess.run(command, capture_output=True, text=True, timeout=600, start_new_session=True)
        return done.returncode, done.stdout, done.stderr

    def result(path):
        status, out, errors = run(path)
        assert status == 0, errors
        rounds, objectives = out.split(maxsplit=1)
        return int(rounds), np.array(json.loads(objectives))

    whole_rounds, whole = result(tmp_path / "other.json")
    assert run(points, "kill")[0] == -signal.SIGKILL
    rounds, objectives = result(points)
    assert objectives == pytest.approx(whole, rel=2e-9)
    assert rounds < whole_rounds
