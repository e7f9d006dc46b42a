"""Fits to partitions on a local Dask cluster of two processes."""

from __future__ import annotations

import inspect
import pickle
import threading

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone

from on_dask import FEATURES, LANDMARKS, ROWS, client, da, dask, data, distributed, partitions, split  # noqa: F401

import margins_learn as local

pd = pytest.importorskip("pandas")
import dask.dataframe as dd  # noqa: E402
from dask.delayed import Delayed  # noqa: E402

import margins_learn.dask as elsewhere  # noqa: E402
from margins_learn._shards import cost_of, facts_of, shares_of  # noqa: E402


def test_constructors_are_the_local_ones_but_for_client():
    for name in elsewhere.__all__:
        own = inspect.signature(getattr(elsewhere, name)).parameters
        of_local = inspect.signature(getattr(local, name)).parameters
        assert {key: value for key, value in own.items() if key != "client"} == dict(of_local), name
        assert own["client"].default is None
        estimator = getattr(elsewhere, name)("logistic", standardize=True)
        assert estimator.get_params()["standardize"] and estimator.to_local().get_params()["loss"] == "logistic"


@pytest.mark.parametrize("settings", [{}, {"standardize": True}, {"class_weight": "balanced"}, {"class_weight": {"no": 3.0}}])
def test_fits_are_the_local_ones(client, data, settings):
    X, y, weights = data
    settings = {"tol": 1e-9, **settings}
    here = local.MarginClassifier("logistic", **settings).fit(X, y, weights)
    there = elsewhere.MarginClassifier("logistic", client=client, **settings).fit(*split(data))
    assert there.status_ == "converged" and there.classes_.tolist() == ["no", "yes"] and 5 < there.n_rounds_ < 40
    assert there.objective_ == pytest.approx(here.objective_, rel=2e-9)
    assert there.coef_ == pytest.approx(here.coef_, rel=1e-3)
    assert (there.to_local().predict(X) == here.predict(X)).mean() > 0.99


@pytest.mark.parametrize("settings", [{"loss": "logistic"}, {"loss": "hinge", "tol": 1e-7}, {"loss": "lhs", "standardize": True}])
def test_kernels_on_landmarks_are_the_local_ones(client, data, settings):
    X, y, weights = data
    settings = {"tol": 1e-9, "kernel": "gaussian:sigma=0.1", **LANDMARKS, **settings}
    here = local.MarginClassifier(**settings).fit(X, y, weights)
    there = elsewhere.MarginClassifier(client=client, **settings).fit(*split(data))
    assert there.status_ == "converged" and there.kernel_ == here.kernel_
    assert there.objective_ == pytest.approx(here.objective_, rel=2 * settings["tol"])
    assert there.decision_function(X) == pytest.approx(here.decision_function(X), abs=1e-2)
    plain = there.to_local()
    assert type(plain) is local.MarginClassifier and (plain.predict(X) == there.predict(X)).all()
    assert plain.model_.basis is not None and plain.get_params()["kernel"] == settings["kernel"]
    lazy = there.predict(split((X,))[0])
    assert dask.is_dask_collection(lazy) and (lazy.compute() == plain.predict(X)).all()
    with distributed.LocalCluster(n_workers=1, processes=False, dashboard_address=None) as cluster:
        with distributed.Client(cluster, set_as_default=False) as one:
            other = elsewhere.MarginClassifier(client=one, **settings).fit(*split(data))
    assert (other.dual_coef_ == there.dual_coef_).all() and other.objective_ == there.objective_


@pytest.mark.parametrize(("loss", "scheme"), [("logistic", "multinomial"), ("logistic", "joint"), ("hinge", "joint")])
def test_joint_classes_are_the_local_ones(client, data, loss, scheme):
    X, y, weights = data
    y = np.where(X[:, 0] > 0.8, "or", y)
    settings = {"multi_class": scheme, "tol": 1e-9 if loss == "logistic" else 1e-6}
    here = local.MarginClassifier(loss, **settings).fit(X, y, weights)
    there = elsewhere.MarginClassifier(loss, client=client, **settings).fit(*split((X, y, weights)))
    assert there.status_ == "converged" and there.coef_.shape == (3, FEATURES) and there.intercept_.shape == (3,)
    assert there.objective_ == pytest.approx(here.objective_, rel=2 * settings["tol"])
    assert there.coef_ == pytest.approx(here.coef_, rel=1e-2, abs=1e-3)
    if loss == "logistic":
        folds, lambdas = np.arange(ROWS) % 4, [0.1, 0.01]
        search = local.MarginClassifierCV(loss, lambdas=lambdas, cv=folds, **settings).fit(X, y, weights)
        other = elsewhere.MarginClassifierCV(loss, lambdas=lambdas, client=client, **settings)
        other.fit(*split((X, y, weights)), folds=split((X, folds))[1])
        assert other.errors_ == pytest.approx(search.errors_, abs=1e-12)
        path = elsewhere.MarginPath(loss, lambdas=lambdas, client=client, **settings).fit(*split((X, y, weights)))
        assert path.coefs_.shape == (2, 3, FEATURES)


def test_searches_and_paths_take_kernels_on_landmarks(client, data, tmp_path):
    X, y, weights = data
    folds, lambdas = np.arange(ROWS) % 4, np.geomspace(1, 1e-3, 4)
    common = {"loss": "logistic", "lambdas": lambdas, "tol": 1e-9, **LANDMARKS}
    here = local.MarginClassifierCV(kernels=["gaussian:sigma=0.1"], cv=folds, **common).fit(X, y, weights)
    there = elsewhere.MarginClassifierCV(kernels="gaussian:sigma=0.1", client=client, **common)
    there.fit(*split(data), folds=split((X, folds))[1])
    assert there.errors_ == pytest.approx(here.errors_, abs=1e-12) and there.best_kernel_ == here.best_kernel_
    path = elsewhere.MarginPath(kernel="gaussian:sigma=0.1", client=client, **common).fit(*split(data))
    local_path = local.MarginPath(kernel="gaussian:sigma=0.1", **common).fit(X, y, weights)
    assert path.objectives_ == pytest.approx(local_path.objectives_, rel=2e-9)
    # A block file, and a Gaussian kernel that takes its sigma from the landmarks.
    file = tmp_path / "rows.blocks"
    local.blocks.write(file, X, y, weights, rows=64)
    settings = {"loss": "logistic", "kernel": "gaussian", "client": client, **LANDMARKS}
    of_file = elsewhere.MarginClassifier(**settings).fit(file)
    blocks = [[dask.delayed(piece) for piece in np.split(part, range(64, ROWS, 64))] for part in data]
    of_blocks = elsewhere.MarginClassifier(**settings).fit(*blocks)
    assert of_file.kernel_ == of_blocks.kernel_ and (of_file.dual_coef_ == of_blocks.dual_coef_).all()


def test_features_without_a_penalty_stand_beside_the_landmarks(client, data, tmp_path):
    X, y, weights = data
    factors = {"penalty_factors": [0, 1, 1, 0, 1]}
    settings = {"loss": "logistic", "tol": 1e-9, "kernel": "gaussian:sigma=0.1", "standardize": True, **factors, **LANDMARKS}
    here = local.MarginClassifier(**settings).fit(X, y, weights)
    there = elsewhere.MarginClassifier(client=client, **settings).fit(*split(data))
    assert there.status_ == here.status_ == "converged" and there.kernel_ == here.kernel_
    assert there.objective_ == pytest.approx(here.objective_, rel=2e-9)
    assert there.coef_ == pytest.approx(here.coef_, abs=1e-3) and (there.coef_ != 0).tolist() == [[True, False, False, True, False]]
    assert there.decision_function(X) == pytest.approx(here.decision_function(X), abs=1e-2)
    file = tmp_path / "rows.blocks"
    local.blocks.write(file, X, y, weights, rows=100)
    of_file = elsewhere.MarginClassifier(client=client, **settings).fit(file)
    assert (of_file.coef_ == there.coef_).all() and (of_file.dual_coef_ == there.dual_coef_).all()
    path = elsewhere.MarginPath(client=client, Cs=[1e-2, 1.0], **settings).fit(*split(data))
    assert path.objectives_[0] == pytest.approx(local.MarginPath(Cs=[1e-2, 1.0], **settings).fit(X, y, weights).objectives_[0], rel=2e-9)
    with pytest.raises(ValueError, match="every feature has the penalty factor 0"):
        elsewhere.MarginClassifier(client=client, **{**settings, "penalty_factors": [0] * FEATURES}).fit(*split(data))


def test_the_hinge_is_the_local_one(client, data):
    X, y, weights = data
    here = local.MarginClassifier("hinge", tol=1e-7).fit(X, y, weights)
    there = elsewhere.MarginClassifier("hinge", tol=1e-7, client=client).fit(*split(data))
    assert there.status_ == "converged" and there.objective_ == pytest.approx(here.objective_, rel=2e-7)


@pytest.mark.parametrize("loss", ["logistic", "hinge"])
def test_penalty_factors_are_the_local_ones(client, data, loss):
    X, y, weights = data
    settings = {"loss": loss, "tol": 1e-7, "penalty_factors": [0, 1, 4, 1, 0]}
    here = local.MarginClassifier(**settings).fit(X, y, weights)
    there = elsewhere.MarginClassifier(client=client, **settings).fit(*split(data))
    assert there.status_ == here.status_ == "converged"
    assert there.objective_ == pytest.approx(here.objective_, rel=2e-7)
    path = elsewhere.MarginPath(client=client, Cs=[1e-6, 1.0], **settings).fit(*split(data))
    assert set(path.statuses_.ravel()) == {"converged"}


def test_fits_go_on_from_their_points(client, data, tmp_path):
    classifier = elsewhere.MarginClassifier("logistic", tol=1e-9, client=client)
    whole = clone(classifier).fit(*split(data))
    points = tmp_path / "points.json"
    cut = clone(classifier).set_params(max_iter=1)
    with pytest.warns(UserWarning):
        cut.fit(*split(data), checkpoint=points)
    for most in (whole.n_iter_, 1):
        again = clone(classifier).fit(*split(data), checkpoint=points)
        assert again.status_ == "converged" and again.n_iter_ <= most
        assert again.objective_ == pytest.approx(whole.objective_, rel=2e-9)
    with pytest.raises(ValueError, match="it is of a fit with standardize 'false', not 'true'"):
        clone(classifier).set_params(standardize=True).fit(*split(data), checkpoint=points)


def test_predictions_are_lazy_and_those_of_the_local_classifier(client, data):
    X, y, _ = data
    frame = dd.from_pandas(pd.DataFrame(X, columns=list("abcde")), npartitions=3)
    classifier = elsewhere.MarginClassifier("logistic", client=client).fit(*split((X, y)))
    here = classifier.to_local()
    assert type(here) is local.MarginClassifier
    lazy = classifier.predict(split((X,))[0])
    assert dask.is_dask_collection(lazy) and (lazy.compute() == here.predict(X)).all()
    assert (classifier.predict_proba(split((X,))[0]).compute() == here.predict_proba(X)).all()
    assert (classifier.decision_function(X) == here.decision_function(X)).all()
    of_frame = elsewhere.MarginClassifier("logistic", client=client).fit(frame, frame.a.map_partitions(lambda a: a > 0))
    assert of_frame.feature_names_in_.tolist() == list("abcde")
    predicted = of_frame.predict(frame).compute()
    assert (predicted.to_numpy() == of_frame.to_local().predict(frame.compute())).all()


def test_partitions_may_be_empty_of_one_class_or_sparse(client, data):
    X, y, _ = data
    order = np.argsort(y == "yes", kind="stable")
    X, y = X[order], y[order]
    reference = local.MarginClassifier("logistic", tol=1e-9).fit(X, y)
    for convert in (np.asarray, sparse.csr_array, np.asfortranarray):
        blocks = [dask.delayed(convert)(piece) for piece in np.split(X, (60, 60, 250))]
        classifier = elsewhere.MarginClassifier("logistic", tol=1e-9, client=client).fit(blocks, *partitions(y))
        assert classifier.objective_ == pytest.approx(reference.objective_, rel=2e-9)


def test_bits_do_not_depend_on_the_workers(client, data):
    there = elsewhere.MarginClassifier("lhs", client=client).fit(*split(data))
    with distributed.LocalCluster(n_workers=1, processes=False, dashboard_address=None) as cluster:
        with distributed.Client(cluster, set_as_default=False) as one:
            other = elsewhere.MarginClassifier("lhs", client=one).fit(*split(data))
    assert (other.coef_ == there.coef_).all() and other.objective_ == there.objective_


def test_cross_validation_takes_folds_in_the_same_partitions(client, data):
    X, y, weights = data
    folds = np.arange(ROWS) % 4
    lambdas = np.geomspace(1, 1e-3, 5)
    here = local.MarginClassifierCV("logistic", lambdas=lambdas, cv=folds, tol=1e-9).fit(X, y, weights)
    there = elsewhere.MarginClassifierCV("logistic", lambdas=lambdas, tol=1e-9, client=client)
    there.fit(*split(data), folds=split((X, folds))[1])
    assert there.errors_ == pytest.approx(here.errors_, abs=1e-12)
    assert there.best_lambda_ == here.best_lambda_ and there.best_C_ == here.best_C_
    drawn = elsewhere.MarginClassifierCV("logistic", lambdas=lambdas, cv=3, client=client).fit(*split(data))
    spread = here.path_["standard_error"]
    assert (abs(drawn.errors_ - here.errors_) <= 4 * spread).all()
    path = elsewhere.MarginPath("logistic", lambdas=lambdas, tol=1e-9, client=client).fit(*split(data))
    assert path.objectives_ == pytest.approx(local.MarginPath("logistic", lambdas=lambdas, tol=1e-9).fit(X, y, weights).objectives_, rel=2e-9)


@pytest.mark.parametrize("scoring", ["accuracy", "balanced_accuracy", "neg_log_loss", "neg_brier_score", "roc_auc"])
def test_measures_are_the_local_ones(client, data, scoring):
    X, y, weights = data
    folds, settings = np.arange(ROWS) % 4, {"lambdas": np.geomspace(1, 1e-3, 5), "tol": 1e-9, "scoring": scoring}
    three = np.where(X[:, 0] > 0.5, "maybe", y)
    for labels, costs in ((y, {"no": 3.0}), (three, {"maybe": 0.5})):
        if scoring == "roc_auc" and labels is three:
            continue
        here = local.MarginClassifierCV("logistic", cv=folds, class_weight=costs, **settings).fit(X, labels, weights)
        there = elsewhere.MarginClassifierCV("logistic", class_weight=costs, client=client, **settings)
        there.fit(*split((X, labels, weights)), folds=split((X, folds))[1])
        assert there.path_["measure"] == here.path_["measure"]
        for curve in ("mean_measure", "measure_standard_error", "mean_log_loss"):
            assert there.path_[curve] == pytest.approx(here.path_[curve], abs=1e-6), curve
        assert (there.best_lambda_, there.path_["one_se"]) == (here.best_lambda_, here.path_["one_se"])


def test_several_classes(client, data):
    X, _, weights = data
    y = (X[:, 0] + X[:, 1]).round().clip(-1, 1).astype(int)
    here = local.MarginClassifier("logistic", tol=1e-9).fit(X, y, weights)
    there = elsewhere.MarginClassifier("logistic", tol=1e-9, client=client).fit(*split((X, y, weights)))
    assert there.classes_.tolist() == [-1, 0, 1]
    assert there.objective_ == pytest.approx(here.objective_, rel=2e-9)


def test_a_block_file_is_read_by_the_workers(client, data, tmp_path):
    X, y, _ = data
    path = tmp_path / "rows.blocks"
    local.blocks.write(path, X, y, rows=64)
    there = elsewhere.MarginClassifier("logistic", tol=1e-9, client=client).fit(path)
    assert there.objective_ == pytest.approx(local.MarginClassifier("logistic", tol=1e-9).fit(X, y).objective_, rel=2e-9)
    assert there.classes_.tolist() == ["no", "yes"]


def test_two_fits_at_once(client, data):
    expected = elsewhere.MarginClassifier("logistic", client=client).fit(*split(data)).coef_
    found = []

    def fit():
        found.append(elsewhere.MarginClassifier("logistic", client=client).fit(*split(data)).coef_)

    threads = [threading.Thread(target=fit) for _ in range(2)]
    [thread.start() for thread in threads]
    [thread.join(timeout=120) for thread in threads]
    assert len(found) == 2 and all((coef == expected).all() for coef in found)


def test_what_is_wrong_is_named(client, data):
    X, y, weights = data

    def message(kind, *fitted, estimator=None):
        with pytest.raises(kind) as raised:
            (estimator or elsewhere.MarginClassifier("logistic", client=client)).fit(*fitted)
        return str(raised.value)

    blocks, labels = partitions(X, y)
    assert "The numbers of rows differ: X has 600 in 4 partitions, y has 250 in 3 partitions." in message(ValueError, blocks, labels[:3])
    assert "partition 2: X has 190 rows, but y has 60. Partition them alike" in message(ValueError, blocks, [labels[0], labels[1], labels[0], labels[3]])
    assert "different numbers of features: [4, 5]" in message(ValueError, [*blocks[:3], dask.delayed(X[250:, :4])], labels)
    bad = X.copy()
    bad[70, 3] = np.nan
    assert "partition 2: " in (text := message(ValueError, partitions(bad)[0], labels)) and "row 10" in text, text
    assert "one class" in message(ValueError, blocks, partitions(np.full(ROWS, "no"))[0])
    for kernel in ({"kernel": "gaussian"}, {"kernel": "gaussian", "approximation": "rff:m=5"}, {"kernel": np.dot, **LANDMARKS}):
        estimator = elsewhere.MarginClassifier("logistic", client=client, **kernel)
        assert "take one kernel, named by a text, on landmarks" in message(ValueError, blocks, labels, estimator=estimator), kernel
    several = elsewhere.MarginClassifierCV("logistic", kernels=["gaussian:sigma=1", "laplacian:sigma=1"], client=client, **LANDMARKS)
    assert "The kernel is 'gaussian:sigma=1', 'laplacian:sigma=1'" in message(ValueError, blocks, labels, estimator=several)
    assert "but must be a dask array" in message(TypeError, X, y)
    splits = elsewhere.MarginClassifierCV("logistic", cv=iter([]), client=client)
    assert "must be None or an int" in message(ValueError, blocks, labels, estimator=splits)
    scored = elsewhere.MarginClassifierCV("logistic", scoring="roc_auc", client=client)
    assert "the area under the curve needs two classes" in message(ValueError, blocks, partitions(np.arange(ROWS) % 3)[0], estimator=scored)

    names = pd.DataFrame(X, columns=list("abcde"))
    frames = [dask.delayed(names[:100]), dask.delayed(names[100:].rename(columns={"a": "z"}))]
    assert "partition 1: X has the columns ['z', 'b'" in message(ValueError, frames, partitions(y, cuts=(100,))[0])
    gone = [*blocks[:3], Delayed("gone", {"other": X})]
    assert "partition 3: Dask has no tasks or results for its data. Persist the data again" in message(ValueError, gone, labels)
    mixed = [dask.delayed(y[:100]), dask.delayed((y[100:] == "yes").astype(int))]
    assert "partition 1: y has labels of type int64" in message(ValueError, partitions(X, cuts=(100,))[0], mixed)
    assert "folds are given, but MarginClassifier" in message(ValueError, blocks, labels, None, partitions(np.arange(ROWS) % 3)[0])
    assert "sample_weight is given beside the block file 'some.blocks'" in message(ValueError, "some.blocks", None, weights)

    def stop(iteration):
        raise RuntimeError("enough")

    assert message(RuntimeError, blocks, labels, estimator=elsewhere.MarginClassifier(callback=stop, client=client)) == "enough"


def test_partitions_may_be_lists(client, data):
    X, y, _ = data
    blocks = [[dask.delayed(piece.tolist()) for piece in np.split(part, (60, 250))] for part in (X, y)]
    listed = elsewhere.MarginClassifier("logistic", client=client).fit(*blocks)
    arrays = elsewhere.MarginClassifier("logistic", client=client).fit(*partitions(X, y, cuts=(60, 250)))
    assert (listed.coef_ == arrays.coef_).all()


def test_a_clone_keeps_the_client_and_a_pickle_drops_it(client, data):
    classifier = elsewhere.MarginClassifier("logistic", C=3.0, client=client).fit(*split(data))
    copy = clone(classifier)
    assert copy.client is client and copy.C == 3.0 and not hasattr(copy, "coef_")
    thawed = pickle.loads(pickle.dumps(classifier))
    assert thawed.client is None and (thawed.predict(data[0]) == classifier.predict(data[0])).all()


def test_folds_need_no_rows_in_every_partition(client, data):
    X, y, _ = data
    folds = np.arange(ROWS) % 3
    search = elsewhere.MarginClassifierCV("logistic", lambdas=[1e-1, 1e-2], client=client)
    blocks, labels, numbers = partitions(X, y, folds)
    search.fit(blocks, labels, folds=numbers)
    here = local.MarginClassifierCV("logistic", lambdas=[1e-1, 1e-2], cv=folds).fit(X, y)
    assert search.errors_ == pytest.approx(here.errors_, abs=1e-12)


def test_shares_are_fair_and_refused_beyond_memory():
    free, sizes = {"a": 100, "b": 100}, [30] * 4
    shares = shares_of([30, 30, 30, 30], sizes, ["a", "a", "a", "b"], free)
    assert sorted(sum(shares.values(), [])) == [0, 1, 2, 3] and len(shares["a"]) <= 3
    with pytest.raises(MemoryError, match="Worker a would need"):
        shares_of([300, 10], [0, 0], ["a", "b"], free)
    # A partition from another worker is in memory twice until it is copied.
    assert shares_of([60], [60], ["a"], {"a": 100}) == {"a": [0]}
    with pytest.raises(MemoryError, match="Worker a would need 0.00 GB more for 1 of 1 partitions"):
        shares_of([60], [60], [None], {"a": 100})
    # A partition is released after its copy, unless the caller keeps it.
    assert shares_of([60, 60], [60, 60], ["a", "a"], {"a": 60}) == {"a": [0, 1]}
    with pytest.raises(MemoryError, match="Worker a would need"):
        shares_of([60, 60], [60, 60], ["a", "a"], {"a": 119}, kept=True)
    assert shares_of([60, 60], [30, 30], ["a", "a"], {"a": 90}) == {"a": [0, 1]}
    # Smaller partitions need less room on the way, and more workers take some.
    for costs, homes, free, advice in (
        ([348], ["a"], {"a": 50}, "Split the rows into more partitions"),
        ([348], ["a"], {"a": 110}, "Split the rows into more partitions"),
        ([348], [None], {"a": 300, "b": 300}, "Split the rows into more partitions"),
        ([348], [None], {"a": 300}, "Add workers"),
        ([35] * 10, ["a"] * 10, {"a": 40}, "Add workers"),
    ):
        with pytest.raises(MemoryError, match=rf"left\. {advice}"):
            shares_of(costs, [round(0.86 * cost) for cost in costs], homes, free)


def test_the_copy_of_a_pair_of_classes_counts():
    X, y = np.zeros((10, 4)), np.repeat(["a", "b", "c"], [5, 3, 2])
    facts = facts_of((X, y, None, None), 0)
    assert (facts["bytes"], facts["pair_rows"]) == (320, 8)
    assert cost_of(320, 10, 0, 0) == 320 + 64 * 10
    assert cost_of(320, 10, 0, 8) == 320 + 64 * 10 + 8 * (32 + 24)
    # The copy is of the features of a kernel, where these are fitted.
    assert cost_of(320, 10, 6, 8) == 320 + (64 + 8 * 6) * 10 + 8 * (8 * 6 + 24)
    assert facts_of((X[:0], y[:0], None, None), 0)["pair_rows"] == cost_of(0, 0, 6, 0) == 0


@pytest.mark.parametrize("multi_class", ["ovo", "ovr"])
def test_workers_need_room_for_pairs_of_classes(client, data, monkeypatch, multi_class):
    X, classes = data[0], np.arange(ROWS) % 3
    costs = []
    monkeypatch.setattr(elsewhere._Cluster, "place", lambda *arguments: costs.extend(arguments[-1]) or 1 / 0)
    for rows in (classes, classes % 2):
        classifier = elsewhere.MarginClassifier("logistic", multi_class=multi_class, client=client)
        with pytest.raises(ZeroDivisionError):
            classifier.fit(da.from_array(X, chunks=(-1, -1)), da.from_array(rows, chunks=-1))
    plain, row = X.nbytes + 64 * ROWS, X.nbytes / ROWS + 24
    pair = np.sort(np.bincount(classes))[-2:].sum() if multi_class == "ovo" else 0
    assert costs == [plain + pair * row, plain]


def test_the_parquet_of_the_guide_fits(client, data, tmp_path):
    X, y, _ = data
    frame = pd.DataFrame(X, columns=list("abcde")).assign(label=y)
    dd.from_pandas(frame, npartitions=5).to_parquet(tmp_path)
    table = dd.read_parquet(tmp_path)
    settings = {"lambdas": [1e-1, 1e-2], "standardize": True}
    search = elsewhere.MarginClassifierCV("logistic", client=client, **settings).fit(table.drop(columns="label"), table["label"])
    here = local.MarginClassifier("logistic", C=search.best_C_, standardize=True).fit(frame.drop(columns="label"), y)
    assert search.feature_names_in_.tolist() == list("abcde")
    assert search.objective_ == pytest.approx(here.objective_, rel=2e-6)
    # Dask joins the partitions of the column, whose numbers of rows it does not know.
    labels, weights = table["label"].values, (table["a"] > 0).to_dask_array() + 1.0
    assert labels.numblocks < (5,)
    of_frame = elsewhere.MarginClassifier("logistic", client=client).fit(table.drop(columns="label"), table["label"], (table["a"] > 0) + 1.0)
    of_array = elsewhere.MarginClassifier("logistic", client=client).fit(table.drop(columns="label"), labels, weights)
    of_frame_alone = elsewhere.MarginClassifier("logistic", client=client).fit(table.drop(columns="label"), table["label"])
    assert (of_array.coef_ == of_frame.coef_).all()
    with pytest.raises(ValueError, match=r"The numbers of rows differ: X has 600 in 5 partitions, y has \d+ in [1-4] partitions\."):
        elsewhere.MarginClassifier("logistic", client=client).fit(table.drop(columns="label"), labels[labels == 1])
    # It joins them as well when the column is persisted or becomes delayed blocks.
    features, column = table.drop(columns="label"), table["label"]
    for parts in ((features, column.persist()), (features.to_delayed(), column.to_delayed())):
        fitted = elsewhere.MarginClassifier("logistic", client=client).fit(*parts)
        assert fitted.objective_ == pytest.approx(of_frame_alone.objective_, rel=2e-6)
    assert (search.predict(table.drop(columns="label")).compute().to_numpy() == search.to_local().predict(frame.drop(columns="label"))).all()


def test_persisted_data_fit_with_the_same_bits(client, data, tmp_path):
    X, y, weights = data
    arrays = [da.from_array(part, chunks=(100, *part.shape[1:])) for part in (X, y, weights)]
    table = dd.from_pandas(pd.DataFrame(X, columns=list("abcde")).assign(label=y, weight=weights), npartitions=4)

    def columns(table):
        return table.drop(columns=["label", "weight"]), table["label"], table["weight"]

    def fit(*parts):
        return elsewhere.MarginClassifier("logistic", client=client).fit(*parts)

    of_arrays, of_frames = fit(*arrays), fit(*columns(table))
    for persist in (dask.persist, lambda *parts: client.persist(parts)):
        kept = persist(*arrays)
        for parts in (kept, [kept[0], *arrays[1:]], [arrays[0], *kept[1:]]):
            assert (fit(*parts).coef_ == of_arrays.coef_).all()
        for parts in (persist(*columns(table)), columns(*persist(table)), [*persist(columns(table)[0]), *columns(table)[1:]]):
            assert (fit(*parts).coef_ == of_frames.coef_).all()
    distributed.wait(kept)
    for parts in (kept, [list(part.to_delayed().ravel()) for part in kept]):
        assert (fit(*parts).coef_ == of_arrays.coef_).all()
    for method in ("predict", "predict_proba", "decision_function"):
        assert np.array_equal(getattr(of_arrays, method)(kept[0]).compute(), getattr(of_arrays.to_local(), method)(X))
    assert (fit(kept[0], kept[0][:, 0] > 0).coef_ == fit(arrays[0], arrays[0][:, 0] > 0).coef_).all()
    # Arrays of frames, whose numbers of rows are unknown.
    assert (fit(*[part.values.persist() for part in columns(table)]).coef_ == of_frames.coef_).all()
    folds = da.from_array(np.arange(ROWS) % 3, chunks=100)
    search = elsewhere.MarginClassifierCV("logistic", lambdas=[1e-1, 1e-2], client=client)
    errors = [clone(search).fit(*arrays, folds=given).errors_ for given in (folds, folds.persist())]
    assert np.array_equal(*errors)
    # Dask lists partitions of a persisted projection of small Parquet files that it does not have.
    table.to_parquet(tmp_path)
    features = columns(dd.read_parquet(tmp_path))[0].persist()
    with pytest.raises(ValueError, match=r"partition \d: Dask has no tasks or results for its data\. Persist the data again, a table before its columns"):
        fit(features, table["label"])


def test_what_fit_takes_is_predicted(client, data):
    X, y, _ = data
    frame = pd.DataFrame(X.round(), columns=list("abcde")).astype({"a": "Int64", "b": "Float64"}).assign(c=X[:, 2] > 0).astype({"c": "boolean"})
    collection = dd.from_pandas(frame, npartitions=4)
    collection = dd.concat([collection.partitions[:2], collection.partitions[2:3].loc[collection.a > 10**6], collection.partitions[2:]])
    part = pd.Series(y, dtype="string")
    labels = dd.from_pandas(part, npartitions=4)
    labels = dd.concat([labels.partitions[:2], labels.partitions[2:3].loc[labels == "none"], labels.partitions[2:]])
    classifier = elsewhere.MarginClassifier("logistic", client=client).fit(collection, labels)
    here = classifier.to_local()
    for method in ("predict", "decision_function", "predict_proba"):
        lazy = getattr(classifier, method)(collection)
        expected = getattr(here, method)(frame)
        assert np.array_equal(lazy.compute().to_numpy(), expected) and lazy._meta.shape == (0, *expected.shape[1:])
    holes = da.concatenate([da.from_array(frame.to_numpy(float)[:0]), da.from_array(frame.to_numpy(float), chunks=(200, 5)), da.zeros((0, 5))])
    of_array = elsewhere.MarginClassifier("logistic", client=client).fit(holes, da.concatenate([da.from_array(y[:0]), da.from_array(y, chunks=200), da.from_array(y[:0])]))
    predicted = of_array.predict(holes).compute()
    assert predicted.dtype == y.dtype and np.array_equal(predicted, of_array.to_local().predict(frame.to_numpy(float)))


def test_delayed_blocks_are_predicted_a_block_at_a_time(client, data):
    X, y, _ = data
    classifier = elsewhere.MarginClassifier("logistic", client=client).fit(*partitions(X, y))
    here = classifier.to_local()
    blocks = [*partitions(X)[0], dask.delayed(X[:3].tolist())]
    for method in ("predict", "predict_proba"):
        expected = [getattr(here, method)(block) if len(block) else [] for block in (X[:60], X[:0], X[60:250], X[250:], X[:3])]
        found = dask.compute(*getattr(classifier, method)(blocks))
        assert all(np.array_equal(one, other) or len(one) == len(other) == 0 for one, other in zip(found, expected, strict=True))
    assert np.array_equal(classifier.predict(dask.delayed(X[:9])).compute(), here.predict(X[:9]))
    with pytest.raises(TypeError, match="X is the path 'rows.blocks', but must be rows"):
        classifier.predict("rows.blocks")


def test_partitions_may_be_tables_of_pyarrow(client, data):
    pa = pytest.importorskip("pyarrow")
    X, y, _ = data
    tables = [pa.table(dict(zip("abcde", piece.T))) for piece in np.split(X, (60, 250))]
    labels = [pa.chunked_array([pa.array(piece).dictionary_encode()]) for piece in np.split(y, (60, 250))]
    lists = [[dask.delayed(piece) for piece in pieces] for pieces in (tables, labels)]
    fitted = elsewhere.MarginClassifier("logistic", client=client).fit(*lists)
    arrays = elsewhere.MarginClassifier("logistic", client=client).fit(*partitions(X, y, cuts=(60, 250)))
    assert fitted.feature_names_in_.tolist() == list("abcde") and (fitted.coef_ == arrays.coef_).all()


@pytest.mark.parametrize("kind", ["string", "boolean", "object", "float64"])
def test_a_label_that_is_missing_is_named_by_partition_and_row(client, data, kind):
    X, y, _ = data
    labels = pd.Series(y == "yes").astype({"string": str, "object": str, "boolean": "boolean", "float64": float}[kind]).astype(kind)
    labels[70] = None
    with pytest.raises(ValueError, match="partition 2: y has no value in row 10. Leave out such rows."):
        elsewhere.MarginClassifier("logistic", client=client).fit(partitions(X)[0], [dask.delayed(labels[i:j]) for i, j in ((0, 60), (60, 60), (60, 250), (250, ROWS))])


def test_folds_are_named_by_any_value(client, data):
    X, y, _ = data
    lambdas, three = [1e-1, 1e-2], np.arange(ROWS) % 3
    here = local.MarginClassifierCV("logistic", lambdas=lambdas, cv=three).fit(X, y)
    search = elsewhere.MarginClassifierCV("logistic", lambdas=lambdas, client=client)
    blocks, labels = partitions(X, y)
    for names in (np.array([7, 9, 2**33 + 7]), np.array(["a", "b", "c"]), np.array(["a", "b", "c"], dtype=object)):
        search.fit(blocks, labels, folds=partitions(names[three])[0])
        assert search.errors_ == pytest.approx(here.errors_, abs=1e-12) and (search.folds_ == three).all()
        assert (search.to_local().folds_ == three).all()
    drawn = clone(search).set_params(cv=3).fit(*split((X, y)))
    assert drawn.folds_.shape == (ROWS,) and np.bincount(drawn.folds_).min() > ROWS / 3 - 10
    again = elsewhere.MarginClassifierCV("logistic", lambdas=lambdas, client=client).fit(*split((X, y)), folds=split((X, drawn.folds_))[1])
    assert (again.errors_ == drawn.errors_).all()
    with pytest.raises(ValueError, match="leaves no sample of class 'no'"):
        search.fit(blocks, labels, folds=partitions(np.where(y == "no", 20, three))[0])
    # Spellings of one number are one fold, in every partition, as in a block file.
    search.fit(blocks, labels, folds=partitions(np.array(["10", "9", "9.0"])[three], cuts=(60, 60, 250))[0])
    assert (search.folds_ == np.array([1, 0, 0])[three]).all()
    refusals = (
        (three + 0.5, "0.5 in row 0"),
        (three - 1, "-1 in row 0"),
        (np.where(three > 1, None, "a"), "no value in row 2"),
        (np.ma.array(np.array(["a", "b", "c"])[three], mask=three > 1), "no value in row 2"),
        (np.array([0, 1.5, -1], dtype=object)[three], "1.5 in row 1"),
        (np.array(["a", "", "b"])[three], "'' in row 1"),
    )
    for wrong, found in refusals:
        message = f"has {found}" + ("" if "no value" in found else ", but must have whole numbers of at least 0 or strings")
        with pytest.raises(ValueError, match=f"partition 0: folds {message}"):
            search.fit(blocks, labels, folds=partitions(wrong)[0])
        with pytest.raises(ValueError, match=f"cv {message}"):
            local.MarginClassifierCV("logistic", cv=wrong).fit(X, y)
