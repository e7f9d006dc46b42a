"""Samples of every kind give the same fit."""

import functools
import warnings
from decimal import Decimal

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.exceptions import DataConversionWarning

import margins_learn as ml
from margins_learn import _inputs, blocks


def kinds(X, folder):
    """Returns X as everything that the package takes."""
    names = [f"x{k}" for k in range(X.shape[1])]
    path = folder / "x.dat"
    mapped = np.memmap(path, dtype=X.dtype, mode="w+", shape=X.shape)
    mapped[:] = X
    mapped.flush()
    wide = sparse.csr_array(X)
    wide.indices, wide.indptr = wide.indices.astype(np.int64), wide.indptr.astype(np.int64)
    unsorted = sparse.csr_matrix(X)
    unsorted.has_sorted_indices = False
    frame = pd.DataFrame(X, columns=names)
    return {
        "list": X.tolist(),
        "F": np.asfortranarray(X),
        "strided": np.repeat(X, 2, axis=0)[::2],
        "reversed": X[::-1].copy()[::-1],
        "memmap": np.memmap(path, dtype=X.dtype, mode="r", shape=X.shape),
        "csr_matrix": sparse.csr_matrix(X),
        "csc_array": sparse.csc_array(X),
        "coo_matrix": sparse.coo_matrix(X),
        "coo_array": sparse.coo_array(X),
        "64-bit indices": wide,
        "pandas": frame,
        "pandas of several types": frame.astype({"x0": "float32", "x1": "Float64"}),
        "polars": pl.DataFrame(X, schema=names),
        "pyarrow": pa.table(dict(zip(names, X.T))),
    }


@pytest.mark.parametrize("blocks", [1 << 25, 100])
def test_every_kind_gives_the_same_fit(two, tmp_path, monkeypatch, blocks):
    monkeypatch.setattr(_inputs, "_BLOCK_BYTES", blocks)
    X, y = two
    X = np.where(np.abs(X) < 0.3, 0, X).astype(np.float32).astype(np.float64)
    expected = ml.MarginClassifier("logistic").fit(X, y)
    for kind, given in kinds(X, tmp_path).items():
        fitted = ml.MarginClassifier("logistic").fit(given, y)
        np.testing.assert_allclose(fitted.coef_, expected.coef_, rtol=1e-6, err_msg=kind)
        np.testing.assert_allclose(fitted.decision_function(given), expected.decision_function(X), rtol=1e-6, err_msg=kind)


def test_float32_is_not_rounded_further(two):
    X = two[0].astype(np.float32)
    narrow, wide = (ml.MarginClassifier("logistic").fit(x, two[1]) for x in (X, X.astype(np.float64)))
    assert np.array_equal(narrow.coef_, wide.coef_)


@pytest.mark.parametrize("frame", [pd.DataFrame, lambda data: pl.DataFrame(data), lambda data: pa.table(data)])
def test_names_of_features_are_kept_and_held_to(frame, two):
    X, y = two
    data = {"a": X[:, 0], "b": X[:, 1]}
    model = ml.MarginClassifier("logistic").fit(frame(data), y)
    assert model.feature_names_in_.tolist() == ["a", "b"] and model.model_.feature_names == ["a", "b"]
    with pytest.raises(ValueError, match="eature names"):
        model.predict(frame({"b": X[:, 1], "a": X[:, 0]}))


@pytest.mark.parametrize(
    "labels", [["no", "yes"], [False, True], [-1, 1], [0.0, 1.0], [3, 7], np.array(["no", "yes"], dtype=object)]
)
def test_labels_come_back_as_they_were(labels, two):
    X, y = two
    labels = np.asarray(labels)
    for given in (labels[y], labels[y].tolist(), pd.Series(labels[y]), pl.Series(labels[y].tolist())):
        predicted = ml.MarginClassifier("logistic").fit(X, given).predict(X)
        assert set(predicted.tolist()) == set(labels.tolist())


def test_categories_are_labels(two):
    X, y = two
    series = pd.Series(np.array(["no", "yes"])[y]).astype("category")
    assert ml.MarginClassifier("logistic").fit(X, series).classes_.tolist() == ["no", "yes"]


@pytest.mark.parametrize("kind", ["Int64", "UInt8", "boolean"])
def test_nullable_labels_are_what_they_are_without_gaps(kind, two):
    X, y = two
    fitted = ml.MarginClassifier("logistic").fit(X, pd.Series(y).astype(kind))
    assert fitted.classes_.dtype.kind in "iub" and fitted.classes_.tolist() == [0, 1]
    assert fitted.predict(X).dtype == fitted.classes_.dtype


def test_weights_are_repetitions_and_classes_have_costs(two):
    X, y = two
    weights = np.arange(len(y)) % 3
    weighed = ml.MarginClassifier("logistic", tol=1e-10).fit(X, y, weights)
    again = ml.MarginClassifier("logistic", tol=1e-10).fit(np.repeat(X, weights, axis=0), np.repeat(y, weights))
    np.testing.assert_allclose(weighed.coef_, again.coef_, rtol=1e-6)
    costs = ml.MarginClassifier("logistic", class_weight={1: 3.0}, tol=1e-10).fit(X, y)
    by_hand = ml.MarginClassifier("logistic", tol=1e-10).fit(X, y, np.where(y == 1, 3.0, 1.0))
    np.testing.assert_allclose(costs.coef_, by_hand.coef_, rtol=1e-6)


@pytest.mark.parametrize(
    ("labels", "weights"),
    [
        ([0, 1], {True: 3.0, False: 1.0}),
        ([False, True], {1: 3.0}),
        ([0.0, 1.0], {1: 3.0}),
        ([0, 1], {np.float64(1.0): 3.0}),
        (["no", "yes"], {np.str_("yes"): 3.0}),
    ],
)
def test_classes_of_costs_are_compared_as_values(labels, weights, two):
    X, y = two
    for estimator in (ml.MarginClassifier("logistic"), ml.MarginPath("logistic", Cs=[1.0]), ml.StreamClassifier("logistic")):
        expected = clone(estimator).set_params(class_weight={1: 3.0}).fit(X, y)
        found = clone(estimator).set_params(class_weight=weights).fit(X, np.array(labels)[y])
        for name in ("coef_", "coefs_"):
            assert np.array_equal(getattr(found, name, None), getattr(expected, name, None))
        for unknown in (7, "1", "maybe"):
            with pytest.raises(ValueError, match=f"class_weight has a cost of {unknown!r}, but there is no class"):
                clone(estimator).set_params(class_weight={unknown: 3.0}).fit(X, np.array(labels)[y])


def test_folds_of_rows_may_be_of_any_kind(two):
    X, y = two
    folds = np.arange(len(y)) // 2 % 3
    search = ml.MarginClassifierCV("logistic", Cs=[0.1, 1.0])
    expected = search.set_params(cv=folds).fit(X, y)
    assert expected.folds_.tolist() == folds.tolist()
    kinds = [folds.tolist(), pd.Series(folds), pd.Series(folds, dtype="Int64"), folds.astype(float), pl.Series(folds), folds.astype(np.uint8)]
    for cv in kinds:
        found = clone(search).set_params(cv=cv).fit(X, y)
        assert np.array_equal(found.folds_, folds) and np.array_equal(found.errors_, expected.errors_)
    for value in (0.5, -1.0, np.nan, np.inf):
        found = "no value in row 3" if np.isnan(value) else f"{value!r} in row 3, but must have whole numbers"
        with pytest.raises(ValueError, match=f"cv has {found}"):
            search.set_params(cv=np.where(np.arange(len(y)) == 3, value, folds)).fit(X, y)


def test_folds_have_names(two):
    X, y = two
    folds = np.arange(len(y)) // 2 % 3
    search = ml.MarginClassifierCV("logistic", Cs=[0.1, 1.0])
    expected = search.set_params(cv=folds).fit(X, y)
    names = np.array(["ab", "cd", "ef"])[folds]
    far = np.array([2**32, 2**63, 2**64 - 1], dtype=np.uint64)[folds]
    for cv in [names, names.tolist(), pd.Series(names), pd.Series(names, dtype="category"), pl.Series(names), 10 * folds + 7, far, far.tolist()]:
        found = clone(search).set_params(cv=cv).fit(X, y)
        assert np.array_equal(found.folds_, folds) and np.array_equal(found.errors_, expected.errors_)
    one = np.where(y == y[0], 20, 10 * (np.arange(len(y)) // 2 % 2))
    with pytest.raises(ValueError, match="fold '20' leaves no sample of class"):
        search.set_params(cv=one).fit(X, y)
    with pytest.raises(ValueError, match="every row is in fold '7'"):
        search.set_params(cv=np.full(len(y), 7)).fit(X, y)
    for value in (None, "", (1, 2)):
        given = [value if row == 3 else name for row, name in enumerate(names)]
        with pytest.raises(ValueError, match=r"cv has .* in row 3"):
            search.set_params(cv=np.array(given, dtype=object) if value != (1, 2) else _objects(given)).fit(X, y)


def _objects(values):
    array = np.empty(len(values), dtype=object)
    array[:] = values
    return array


def test_classes_and_levels_beyond_the_digits_of_float64(two):
    X, y = two
    for low, dtype in [(2**53, np.int64), (-(2**53) - 1, np.int64), (2**64 - 2, np.uint64)]:
        labels = np.array([low, low + 1], dtype=dtype)[y]
        fitted = ml.MarginClassifier("logistic").fit(X, labels)
        assert fitted.classes_.tolist() == [low, low + 1] and fitted.classes_.dtype == dtype
        assert set(fitted.predict(X)) == {low, low + 1}
    listed = ml.MarginClassifier("logistic").fit(X, [(7, 2**64 - 1)[k] for k in y])
    assert listed.classes_.tolist() == [7, 2**64 - 1]
    codes = np.array([2**53, 2**53 + 1, 2**53 + 2])[np.arange(len(y)) % 3]
    columns = [codes, pd.Series(codes, dtype="Int64"), pd.Categorical(codes)]
    tables = [*(pd.DataFrame({"code": column}) for column in columns), pl.DataFrame({"code": codes})]
    tables += [pa.table({"code": column}) for column in (codes, pa.array(codes).dictionary_encode())]
    for table in tables:
        fitted = ml.MarginClassifier("logistic", encode={"categorical": ["code"]}).fit(table, y)
        assert fitted.encoded_names_.tolist() == [f"code={2**53 + k}" for k in range(3)]
        assert np.array_equal(fitted.predict(table), fitted.predict(tables[0]))


def test_nothing_warns_about_lists_or_scalars(two):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        ml.MarginClassifier("logistic").fit(two[0].tolist(), two[1].tolist(), 2.0)


def dictionary(values):
    """Returns a column of pyarrow of several chunks with a dictionary."""
    half = len(values) // 2
    return pa.chunked_array([pa.array(part).dictionary_encode() for part in (values[:half], values[half:])])


def test_a_gap_in_a_dictionary_of_pyarrow_is_no_category(two):
    X, y = two
    numbers = [None if k % 7 == 0 else float(k % 3) for k in range(len(y))]
    words = [None if value is None else f"w{value}" for value in numbers]
    table = pa.table({"a": X[:, 0], "number": dictionary(numbers), "word": dictionary(words)})
    columns = {"a": X[:, 0], "number": numbers, "word": pd.Categorical(words)}
    of_table, of_frame = (ml.MarginClassifier("logistic", encode=True).fit(given, y) for given in (table, pd.DataFrame(columns)))
    assert of_table.encoded_names_.tolist() == ["a", "number=1", "number=2", "number=0", "number (missing)", "word=w1.0", "word=w2.0", "word=w0.0", "word (missing)"]
    assert set(of_frame.encoded_names_) >= {"word=w0.0", "word (missing)"}
    with pytest.raises(ValueError, match="NaN"):
        ml.MarginClassifier("logistic").fit(table.drop_columns("word"), y)
    labels = dictionary(["no" if label else "yes" for label in y])
    assert ml.MarginClassifier("logistic").fit(X, labels).classes_.tolist() == ["no", "yes"]
    gappy = dictionary([None if k in (7, 100) else "no" if label else "yes" for k, label in enumerate(y)])
    fitted = ml.MarginClassifier("logistic").fit(X, pa.table({"label": labels}))
    assert fitted.score(X, labels) == fitted.score(X, labels.to_pylist()) == fitted.score(X, list(labels))
    for given in (gappy, pa.table({"label": gappy}), list(gappy)):
        for takes in (ml.MarginClassifier("logistic").fit, fitted.score):
            with pytest.raises(ValueError, match="y has no value in row 7"):
                takes(X, given)
    with pytest.raises(ValueError, match="y has no value in row 9"):
        ml.MarginClassifier("logistic").fit(X, dictionary([None if k == 9 else float(label) for k, label in enumerate(y)]))


@pytest.mark.parametrize("depth", [0, 2])
@pytest.mark.parametrize("levels", [pa.array(["a", "b", "z"]), pa.array(["a", "b", "z"], pa.string_view()), pa.array([1, 2, 9])], ids=["text", "view", "number"])
def test_dictionaries_of_dictionaries_are_their_values(levels, depth, two):
    X, y = two
    codes = [None if k % 4 == 0 else k % 3 for k in range(len(y))]
    for _ in range(depth):
        levels = pa.DictionaryArray.from_arrays(pa.array([0, 1, 2], pa.int16()), levels)
    column = pa.DictionaryArray.from_arrays(pa.array(codes, pa.int8()), levels)
    values = column.to_pylist()
    fit = lambda kind: ml.MarginClassifier("logistic", encode={"categorical": ["k"]}).fit(kind({"x": X[:, 0], "k": values}), y)  # noqa: E731
    expected = fit(pd.DataFrame if isinstance(values[1], str) else lambda columns: pa.table(columns))
    for given in (column, pa.chunked_array([column[:50], column[50:]])):
        for table in (pa.table({"x": X[:, 0], "k": given}), pd.DataFrame({"x": X[:, 0], "k": pd.arrays.ArrowExtensionArray(given)})):
            assert np.array_equal(ml.MarginClassifier("logistic", encode=True).fit(table, y).coef_, expected.coef_)
            if not isinstance(values[1], str):
                with pytest.raises(ValueError, match="row 0, column 1: the value is NaN"):
                    ml.MarginClassifier("logistic").fit(table, y)
        with pytest.raises(ValueError, match="y has no value in row 0"):
            ml.MarginClassifier("logistic").fit(X, given)
        kept = given.drop_null()
        assert ml.MarginClassifier("logistic").fit(X[: len(kept)], kept).classes_.tolist() == sorted(set(kept.to_pylist()))


def gaps_among(words, row):
    """Returns texts with a gap of every kind in a row."""
    gaps = (None, np.nan, np.float32("nan"), pd.NA, pd.NaT, np.datetime64("NaT"), Decimal("NaN"), np.ma.masked)
    yield from ([*words[:row], gap, *words[row + 1 :]] for gap in gaps)
    yield [[word] for word in [*words[:row], np.nan, *words[row + 1 :]]]
    yield np.ma.array(words, mask=np.arange(len(words)) == row)
    for missing in (None, pd.NA, np.nan, pd.NaT, object(), "missing"):
        yield np.array([*words[:row], missing, *words[row + 1 :]], dtype=np.dtypes.StringDType(na_object=missing))


def test_gaps_of_every_kind_are_neither_labels_nor_folds(two, tmp_path):
    X, y = two
    words = np.array(["no", "yes"])[y].tolist()
    fitted = ml.MarginClassifier("logistic").fit(X, words)
    for gappy in gaps_among(words, 7):
        for takes in (ml.MarginClassifier("logistic").fit, ml.StreamClassifier("logistic").partial_fit, fitted.score, functools.partial(blocks.write, tmp_path / "rows")):
            with warnings.catch_warnings(), pytest.raises(ValueError, match=r"y has no value in row 7\. Leave out such rows\."):
                warnings.simplefilter("ignore", DataConversionWarning)
                takes(X, gappy)
        if isinstance(gappy[0], list):
            continue
        with pytest.raises(ValueError, match="folds has no value in row 7"):
            blocks.write(tmp_path / "rows", X, words, folds=gappy)
        with pytest.raises(ValueError, match="cv has no value in row 7"):
            ml.MarginClassifierCV("logistic", cv=gappy).fit(X, words)
        with pytest.raises(ValueError, match="groups has no value in row 7"):
            ml.MarginClassifierCV("logistic").fit(X, words, groups=gappy)
    assert not (tmp_path / "rows").exists()
    whole = np.array(words, dtype=np.dtypes.StringDType(na_object=None))
    assert np.array_equal(ml.MarginClassifier("logistic").fit(X, whole).predict(X), fitted.predict(X)) and fitted.score(X, whole) == fitted.score(X, words)
    # A masked word of a table is missing, too.
    masked = np.ma.array([[word] for word in words], dtype=object, mask=np.arange(len(words))[:, None] == 7)
    assert ml.MarginClassifier("logistic", encode=True).fit(masked, y).encoded_names_.tolist() == ["x0=no", "x0=yes", "x0 (missing)"]


@pytest.mark.parametrize(
    "labels",
    [pd.Series(["a", None, "b", "a"]), pd.Series([True, None, False, True], dtype="boolean"), np.array(["a", None, "b", "a"], dtype=object)],
    ids=["text", "boolean", "object"],
)
def test_a_label_that_is_missing_is_refused_with_its_row(labels):
    for fit in (ml.MarginClassifier("logistic").fit, ml.StreamClassifier("logistic").fit, ml.StreamClassifier("logistic").partial_fit):
        with pytest.raises(ValueError, match="y has no value in row 1. Leave out such rows."):
            fit(np.eye(4), labels)
