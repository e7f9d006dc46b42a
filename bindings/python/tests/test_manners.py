"""Long calls release the lock, end by Ctrl-C, by callbacks and by the clock, and stand forks and threads."""

import multiprocessing
import os
import signal
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.exceptions import ConvergenceWarning

import margins_learn as ml
from conftest import clouds
from margins_learn import _native


def slow():
    """Returns a fit that would take minutes."""
    X, y = clouds(3000, 2, features=40)
    return ml.MarginClassifier("logistic", C=1e3, solver="mm", max_iter=10**9, tol=1e-300), X, y


def mixed(features):
    """Returns samples whose labels are chance, of which no classifier is right."""
    random = np.random.default_rng(1)
    return random.normal(size=(3000, features)), random.integers(0, 2, 3000)


SLOW = [
    lambda: slow(),
    lambda: (ml.MarginClassifierCV("hinge", kernels="gaussian", tol=1e-12, max_iter=10**9), *clouds(1500, 2)),
    lambda: (ml.MassartClassifier("sgd", eta=0.1, gamma=0.001, epsilon=0.001), *clouds(3000, 2)),
    lambda: (ml.FocusedClassifier(max_steps=10**9), *clouds(3000, 2)),
    lambda: (ml.MassartClassifier("auto", epsilon=0.001), *clouds(3000, 2)),
    lambda: (ml.MassartClassifier("cuts", eta=0.01, gamma=1e-9, epsilon=1e-3), *mixed(300)),
    lambda: (ml.FocusedClassifier("kernel-perceptron:budget=1000", "gaussian", max_steps=10**9), *mixed(5)),
    lambda: (ml.StreamClassifier(epochs=10**6), *clouds(3000, 2)),
    lambda: (ml.MarginPath("logistic", solver="mm", max_iter=10**9, tol=1e-300), *clouds(3000, 2, features=40)),
    lambda: (ml.MarginClassifierCV("logistic", solver="mm", max_iter=10**9, tol=1e-300), *clouds(3000, 3, features=40)),
    lambda: (ml.RobustClassifier("catoni:alpha=1", "logistic", C=1e3, tol=1e-300, max_iter=10**9), *mixed(300)),
    lambda: (ml.RobustClassifier("garg-roth:restarts=1000000", "garg-roth", C=1e3), *mixed(30)),
    lambda: (ml.RobustClassifier("median-of-means:blocks=11", "logistic", C=1e3, tol=1e-300, max_iter=10**9), *mixed(300)),
    lambda: (ml.MarginClassifier("logistic", kernel="gaussian:sigma=1", memory=10**6), *clouds(20_000, 2, features=100)),
    lambda: (ml.MarginClassifier("hinge", kernel="gaussian:sigma=1", memory=10**6), *clouds(20_000, 2, features=100)),
]


def table(rows):
    """Returns a table of numbers and words with its labels."""
    random = np.random.default_rng(1)
    frame = pd.DataFrame(random.normal(size=(rows, 32)), columns=[f"number {k}" for k in range(32)])
    frame["word"] = random.choice(["Bern", "Basel", "Chur"], rows)
    return frame, random.integers(0, 2, rows)


def scattered(rows):
    """Returns sparse samples with their labels."""
    random = np.random.default_rng(1)
    indices = np.sort(random.integers(0, 10**4, size=(rows, 20)) * 20 + np.arange(20), axis=1)
    matrix = sparse.csr_array((random.normal(size=20 * rows), indices.ravel(), np.arange(0, 20 * rows + 1, 20)), shape=(rows, 10**6))
    return matrix, random.integers(0, 2, rows)


# Samples whose way into the library is long, with fits that would take long after it.
LARGE = [
    lambda: (ml.MarginClassifier("hinge", C=1e3, tol=1e-12, encode=True), *table(100_000)),
    lambda: (ml.MarginClassifierCV("hinge", tol=1e-12, encode=True), *table(100_000)),
    lambda: (ml.StreamClassifier(epochs=10**6), *scattered(200_000)),
]


@pytest.mark.parametrize("make", LARGE)
def test_ctrl_c_ends_a_fit_on_the_way_of_its_samples(make):
    # A fit without time ends where the way of its samples ends, which is the unit here. Other work on the machine may delay one of two.
    late = interrupted(
        make,
        """
whole = used(lambda: clone(estimator).set_params(time_limit=1e-9).fit(X, y))
for share in (0.1, 0.3, 0.5):
    print(min(used(lambda: estimator.fit(X, y), share * whole) for _ in range(2)) / whole)
""",
    )
    assert max(map(float, late)) < 0.3


def test_ctrl_c_ends_a_fit_soon_and_leaves_the_process_usable():
    # All in one process, which stays usable. The work of learners without a certificate and of products with a kernel matrix, which take
    # seconds, ends with the fit: its threads do.
    said = interrupted(
        SLOW[0],
        f"""
for make in test_manners.SLOW:
    estimator, X, y = make()
    if "n_jobs" in estimator.get_params():
        estimator.set_params(n_jobs=2)
    before = test_manners.threads()
    took = used(lambda: estimator.fit(X, y), unit)
    ended = time.process_time()
    while {sys.platform == "linux"} and test_manners.has_own_threads(estimator) and test_manners.threads() > before:
        time.sleep(0.001)
    print(max(took, time.process_time() - ended) / unit)
    print(ml.MarginClassifier("logistic").fit([[0.0], [1.0]], [0, 1]).status_, flush=True)
""",
    )
    assert said[1::2] == ["converged"] * len(SLOW)
    assert all(float(took) < UNITS for took in said[::2]), said


@pytest.mark.parametrize(
    "call",
    [
        "ml.calibration.psi_inverse('log-cosh', np.linspace(0.01, 0.9, {}))",
        "ml.losses.population_minimizer('margin-pursuit', np.linspace(0.01, 0.9, {}))",
    ],
)
def test_ctrl_c_ends_a_function_of_an_array(call):
    # A tenth of the array is the unit.
    (took,) = interrupted(
        SLOW[0],
        f"""
tenth = used(lambda: {call.format(100_000)})
print(used(lambda: {call.format(1_000_000)}, tenth) / tenth)
""",
    )
    assert float(took) < 3


# The units of work, of hundreds that a fit would take, within which an interrupted one ends.
UNITS = 5


def work_of_a_unit():
    """Does a fixed number of iterations, whose time is the unit of other times, so that these do not depend on the machine."""
    estimator, X, y = slow()
    estimator.set_params(max_iter=1000).fit(X, y)


def interrupted(make, program):
    """Returns the words that a program prints, in which `used(work, after)` sends a signal as of Ctrl-C after so much work.

    It is a process of its own: a fit that is left alone may go on for a while, and other packages that the tests load may have taken
    the signal for themselves. One that does not end fails.
    """
    before = f"""
import os, signal, sys, time, warnings
sys.path.insert(0, {os.path.dirname(__file__)!r})
import numpy as np
from sklearn.base import clone
import test_manners, margins_learn as ml
warnings.simplefilter("ignore")
# The clock of the process sends the signal: a thread of Python would wait for the lock of the interpreter.
signal.signal(signal.SIGPROF, signal.default_int_handler)

def used(work, after=0.0):
    begun = time.process_time() + after
    signal.setitimer(signal.ITIMER_PROF, after)
    try:
        work()
        assert not after, "the work has ended before the signal"
    except (KeyboardInterrupt, TimeoutError):
        pass
    return time.process_time() - begun

unit = used(test_manners.work_of_a_unit)
estimator, X, y = test_manners.EVERY[{EVERY.index(make)}]()
if "n_jobs" in estimator.get_params():
    estimator.set_params(n_jobs=2)
"""
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)}
    command = [sys.executable, "-c", before + program + "sys.stdout.flush()\nos._exit(0)\n"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=600, env=environment)
    assert done.returncode == 0, done.stderr
    return done.stdout.split()


@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="a clock of the system sends the signals")
def test_no_signal_is_lost_where_arrays_are_passed(monkeypatch):
    lost = []
    monkeypatch.setattr(sys, "unraisablehook", lost.append)
    one, columns, values = np.ones(1, dtype=np.int64), np.zeros(1, dtype=np.int64), np.ones(1)

    class Signal(Exception):
        pass

    def arrive(*_):
        raise Signal

    before = signal.signal(signal.SIGALRM, arrive)
    try:
        for _ in range(300):
            rows = _native.SparseRows(np.ones(100, dtype=np.int64), 1)
            with suppress(Signal):
                signal.setitimer(signal.ITIMER_REAL, 1e-4)
                for row in range(100):
                    rows.place_rows(row, one, columns, values)
                time.sleep(0.01)
    finally:
        signal.signal(signal.SIGALRM, before)
    assert not lost


def test_an_exception_of_a_callback_ends_the_fit_and_arrives():
    seen = []

    def callback(iteration):
        seen.append(iteration)
        if len(seen) == 3:
            raise RuntimeError("enough")

    estimator, X, y = slow()
    with pytest.raises(RuntimeError, match="enough"):
        estimator.set_params(callback=callback).fit(X, y)
    assert len(seen) == 3 and seen[1]["objective"] <= seen[0]["objective"]
    assert set(seen[0]) == {"lambda", "iteration", "passes", "objective", "relative_gap", "step", "elapsed"}
    with pytest.raises(RuntimeError, match="enough"):
        seen.clear()
        ml.StreamClassifier(epochs=10**4, callback=callback).fit(X, y)


def test_a_time_limit_ends_with_the_best_point_so_far():
    # Without the limit none of these ends before pytest gives it up.
    estimator, X, y = slow()
    with pytest.warns(ConvergenceWarning, match="time limit.*time_limit"):
        estimator.set_params(time_limit=0.3).fit(X, y)
    assert estimator.status_ == "time-limit" and estimator.lower_bound_ <= estimator.objective_
    with pytest.raises(TimeoutError, match="time limit"):
        ml.MarginClassifierCV("logistic", kernels="gaussian", time_limit=1e-6).fit(X, y)


@pytest.mark.skipif(sys.platform != "linux", reason="the system counts how often a thread waits")
def test_functions_of_few_numbers_wait_for_no_thread():
    import resource

    few = [0.25, 0.5, 0.75]
    calls = [
        lambda: ml.losses.value("logistic", few),
        lambda: ml.losses.conjugate("lhs", few),
        lambda: ml.calibration.psi("logistic", few),
        lambda: ml.calibration.location(few, scale=1.0),
        lambda: ml.calibration.reliability(few, [True, False, True]),
    ]
    for call in calls:
        call()
        before = resource.getrusage(resource.RUSAGE_THREAD).ru_nvcsw
        for _ in range(100):
            call()
        assert resource.getrusage(resource.RUSAGE_THREAD).ru_nvcsw - before < 50


EVERY = SLOW + LARGE


def has_no_certificate(estimator):
    """Returns whether an estimator learns without a certificate."""
    return isinstance(estimator, ml.MassartClassifier | ml.FocusedClassifier)


def has_own_threads(estimator):
    """Returns whether the threads of a fit with this estimator end with it."""
    return has_no_certificate(estimator) or str(getattr(estimator, "kernel", None)).startswith("gaussian:")


LEARNERS = [make for make in SLOW if has_no_certificate(make()[0])]


def threads():
    """Returns the number of live threads of the process, those of the library included."""
    return len(os.listdir("/proc/self/task"))


@pytest.mark.parametrize("make", LEARNERS)
def test_a_time_limit_ends_learners_without_a_certificate(make):
    estimator, X, y = make()
    with pytest.warns(ConvergenceWarning, match="time limit.*time_limit"):
        estimator.set_params(time_limit=0.2).fit(X, y)
    assert estimator.status_ == "time-limit" and set(estimator.predict(X)) == {0, 1}


def test_progress_is_shown_when_asked_for(capsys, two):
    ml.MarginClassifierCV("logistic", Cs=[0.1, 1.0], cv=3, progress=True).fit(*two)
    assert "8/8" in capsys.readouterr().err


def test_other_threads_run_during_a_fit():
    """A fit that has no other end stops when another thread has had several turns between two calls of its callback."""
    turns = seen = 0

    def callback(iteration):
        nonlocal seen
        if turns - seen > 5:
            raise RuntimeError("enough")
        seen = turns

    def fit():
        with suppress(RuntimeError):
            ml.FocusedClassifier(max_steps=10**9, callback=callback).fit(*clouds(3000, 2))

    worker = threading.Thread(target=fit)
    worker.start()
    while worker.is_alive():
        # The lock of the interpreter is given back, so that a turn needs it again.
        time.sleep(1e-4)
        turns += 1
    assert turns - seen > 5


def test_fits_in_threads_are_the_fits():
    X, y = clouds(200, 3)
    expected = ml.MarginClassifier("logistic", n_jobs=2).fit(X, y).coef_
    with ThreadPoolExecutor(4) as pool:
        fits = list(pool.map(lambda _: ml.MarginClassifier("logistic", n_jobs=2).fit(X, y).coef_, range(8)))
    assert all(np.array_equal(fit, expected) for fit in fits)


def child(queue):
    X, y = clouds(200, 3)
    queue.put(ml.MarginClassifier("logistic", n_jobs=2).fit(X, y).coef_)


def test_fits_after_a_fork_are_the_fits():
    X, y = clouds(200, 3)
    expected = ml.MarginClassifier("logistic", n_jobs=2).fit(X, y).coef_
    context = multiprocessing.get_context("fork")
    queue = context.Queue()
    process = context.Process(target=child, args=(queue,))
    process.start()
    assert np.array_equal(queue.get(timeout=60), expected)
    process.join()


PEAK = """
import sys, numpy as np, margins_learn as ml
from scipy import sparse
rows, columns = 200_000, 100
kind, form, learner = sys.argv[1:]
# Columns around 0: the library moves those that are far from it, in a copy of its own.
if form in "CF":
    X, copy = np.resize(np.arange(-5, 6), (rows, columns)).astype(kind, order=form), 8 * rows * columns
else:
    # A hundred of four hundred columns are stored, each of which takes a value and an index in the library. Arrays of 32 MiB or less
    # the allocator of glibc may keep after they were freed.
    rows = 60_000
    at, own = np.divmod(np.arange(rows * 100, dtype=np.int32), 100)
    X = sparse.coo_array(((own % 11 - 5).astype(kind), (at, 4 * own + at % 4)), shape=(rows, 400)).asformat(form)
    copy = 16 * X.nnz
    del at, own
y = np.arange(rows) % 2
estimator = ml.StreamClassifier("logistic", epochs=1) if learner == "stream" else ml.MarginClassifier("logistic", tol=1e-3)
estimator.fit(X[:1000] if form in "CF" else X.tocsr()[:1000].asformat(form), y[:1000])
# The peak counts from here on: making the samples took more.
with open("/proc/self/clear_refs", "w") as file:
    file.write("5")
with open("/proc/self/status") as file:
    before = next(int(line.split()[1]) for line in file if line.startswith("VmRSS"))
estimator.fit(X, y)
estimator.predict(X)
with open("/proc/self/status") as file:
    after = next(int(line.split()[1]) for line in file if line.startswith("VmHWM"))
print((after - before) * 1024 / copy)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="the peak of the memory is read from /proc")
@pytest.mark.parametrize(
    ("kind", "form", "learner"),
    [(kind, form, learner) for kind, form in (("f8", "C"), ("f4", "F")) for learner in ("stream", "newton")]
    + [(kind, form, "stream") for kind, form in (("i2", "C"), ("f8", "csr"), ("i4", "csr"), ("f8", "csc"), ("f4", "coo"))],
)
def test_a_fit_makes_one_copy_of_the_data(kind, form, learner):
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)}
    done = subprocess.run([sys.executable, "-c", PEAK, kind, form, learner], capture_output=True, text=True, env=environment)
    assert done.returncode == 0, done.stderr
    assert float(done.stdout) < 1.25
