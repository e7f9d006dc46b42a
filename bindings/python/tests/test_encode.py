"""Raw tables, with words and missing values, are encoded as the command does it."""

import datetime
import pickle

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV, cross_val_score

import margins_learn as ml

ROWS = 90


def raw(rows=ROWS, seed=1):
    """Returns columns as people have them, and labels that depend on them."""
    random = np.random.default_rng(seed)
    town = random.choice(["Bern", "Basel", "Chur"], rows)
    age = random.integers(20, 60, rows).astype(float)
    member = random.random(rows) < 0.5
    zone = random.choice([8001, 3000, 4051], rows)
    score = (town == "Bern") + 0.05 * (age - 40) + member + 0.5 * random.normal(size=rows)
    columns = {
        "town": [None if k % 11 == 0 else name for k, name in enumerate(town.tolist())],
        "age": [None if k % 7 == 0 else value for k, value in enumerate(age.tolist())],
        "member": member.tolist(),
        "zone": zone.tolist(),
    }
    return columns, np.where(score > 1, "yes", "no")


FRAMES = {
    "pandas": pd.DataFrame,
    "nullable": lambda columns: pd.DataFrame(columns).convert_dtypes(),
    "polars": pl.DataFrame,
    "pyarrow": pa.table,
    "array": lambda columns: np.array(list(columns.values()), dtype=object).T,
}


@pytest.fixture
def table():
    return raw()


@pytest.mark.parametrize("kind", FRAMES)
def test_words_gaps_and_booleans_become_features(kind, table):
    columns, y = table
    X = FRAMES[kind](columns)
    model = ml.MarginClassifier("logistic", encode=True).fit(X, y)
    town, age, member, zone = ["x0", "x1", "x2", "x3"] if kind == "array" else columns
    names = [f"{town}={level}" for level in dict.fromkeys(columns["town"]) if level]
    assert model.encoded_names_.tolist() == [*names, f"{town} (missing)", age, f"{age} (missing)", member, zone]
    assert model.n_features_in_ == 4 and model.coef_.shape == (1, len(model.encoded_names_))
    if kind != "array":
        assert model.feature_names_in_.tolist() == list(columns)

    ages = np.array([np.nan if age is None else age for age in columns["age"]])
    by_hand = np.column_stack(
        [[level == name.split("=")[1] for level in columns["town"]] for name in names]
        + [[level is None for level in columns["town"]], np.where(np.isnan(ages), np.nanmedian(ages), ages), np.isnan(ages)]
        + [columns["member"], columns["zone"]]
    ).astype(float)
    expected = ml.MarginClassifier("logistic").fit(by_hand, y)
    np.testing.assert_allclose(model.decision_function(X), expected.decision_function(by_hand), rtol=1e-6, atol=1e-9)
    tags = model.__sklearn_tags__().input_tags
    assert tags.allow_nan and tags.string and tags.categorical and not tags.sparse


@pytest.mark.parametrize(
    "frame",
    [
        lambda columns: pd.DataFrame(columns).astype({"zone": "category"}),
        lambda columns: pl.DataFrame(columns).with_columns(pl.col("zone").cast(pl.String).cast(pl.Categorical)),
        lambda columns: (table := pa.table(columns)).set_column(3, "zone", table["zone"].dictionary_encode()),
    ],
)
def test_columns_of_categories_are_categorical(frame, table):
    columns, y = table
    model = ml.MarginClassifier("logistic", encode={"drop": ["age"]}).fit(frame(columns), y)
    levels = [f"zone={level}" for level in dict.fromkeys(columns["zone"])]
    assert model.encoded_names_.tolist()[-3:] == levels and not any("age" in name for name in model.encoded_names_)
    told = ml.MarginClassifier("logistic", encode={"drop": ["age"], "categorical": ["zone"]}).fit(pd.DataFrame(columns), y)
    np.testing.assert_allclose(model.coef_, told.coef_)
    assert (model.predict(frame(columns)) == told.predict(pd.DataFrame(columns).drop(columns="age"))).all()


def test_the_encoding_is_told_what_becomes_of_gaps_and_levels(table):
    columns, y = table
    X = pd.DataFrame(columns)
    strange = X.assign(town="Genf")
    with pytest.raises(ValueError, match="'town'.*'Genf' is not a category"):
        ml.MarginClassifier(encode=True).fit(X, y).predict(strange)
    model = ml.MarginClassifier(encode={"unknown": "none", "categorical": ["zone"]}).fit(X, y)
    levels = [name.startswith("town=") for name in model.encoded_names_]
    of_town = model.coef_[0] * levels
    at = columns["town"].index("Chur")
    here = model.encoded_names_.tolist().index("town=Chur")
    difference = model.decision_function(X.iloc[[at]]) - model.decision_function(strange.iloc[[at]])
    np.testing.assert_allclose(difference, of_town[here], rtol=1e-9)
    with pytest.raises(ValueError, match="row 0, column 'town': the cell is empty"):
        ml.MarginClassifier(encode={"missing": "refuse"}).fit(X, y)
    words = ml.MarginClassifier(encode={"missing_words": ["chur"]}).fit(X, y)
    assert "town=Chur" not in words.encoded_names_ and "town=Basel" in words.encoded_names_


@pytest.mark.parametrize(
    ("encode", "message"),
    [
        ("yes", "encode is 'yes': it must be True, False or a dict"),
        ({"levels": 3}, "there is no setting 'levels': known are 'categorical'"),
        ({"missing": "mean"}, "missing is 'mean', but must be 'median' or 'refuse'"),
        ({"unknown": "zero"}, "unknown is 'zero', but must be 'refuse' or 'none'"),
        ({"categorical": "town"}, "categorical is 'town'"),
        ({"drop": ["city"]}, "no column 'city' to leave out; the columns are 'town', 'age'"),
        ({"drop": ["town"], "categorical": ["town"]}, "'town' cannot be both"),
        ({"missing_words": [1]}, "missing_words is"),
    ],
    ids=str,
)
def test_what_an_encoding_does_not_take_is_refused(encode, message, table):
    columns, y = table
    with pytest.raises((ValueError, TypeError), match=message):
        ml.MarginClassifier(encode=encode).fit(pd.DataFrame(columns), y)


@pytest.mark.parametrize(
    ("spoil", "message"),
    [
        (lambda X: X.assign(age=np.inf), "'age'.*inf"),
        (lambda X: X.assign(when=datetime.date(2020, 1, 1)), "'when' has datetime.date.*row 0.*drop"),
        (lambda X: X.assign(when=pd.Timestamp("2020-01-01")), "'when' has .*datetime64.*row 0"),
        (lambda X: X.assign(town=[[1]] * len(X)), r"'town' has \[1\] in row 0"),
        (lambda X: X.iloc[:-1], "inconsistent numbers of samples"),
        (lambda X: X[[]], "0 columns|no columns|0 feature"),
        (lambda X: X.rename(columns={"age": "town"}), "'town'"),
    ],
)
def test_hostile_columns_are_refused(spoil, message, table):
    columns, y = table
    with pytest.raises((ValueError, TypeError), match=message):
        ml.MarginClassifier(encode=True).fit(spoil(pd.DataFrame(columns)), y)


def test_too_many_levels_are_refused_with_advice():
    X = pd.DataFrame({"name": [f"row {k}" for k in range(1200)]})
    with pytest.raises(ValueError, match="'name' has more than 1000 categories: leave it out"):
        ml.MarginClassifier(encode=True).fit(X, np.arange(1200) % 2)


def test_kernels_of_rows_have_no_columns(table):
    columns, y = table
    X = pd.DataFrame(columns)
    with pytest.raises(ValueError, match="kernel is a function"):
        ml.MarginClassifier(encode=True, kernel=lambda a, b: a @ b.T).fit(X, y)
    with pytest.raises(ValueError, match="precomputed.*encoded"):
        ml.MarginClassifier(encode=True, kernel="precomputed").fit(X, y)
    assert ml.MarginClassifier(encode=True, kernel="gaussian", standardize=True).fit(X, y).score(X, y) > 0.7
    with pytest.raises(ValueError, match="raw columns"):
        ml.to_onnx(ml.MarginClassifier(encode=True).fit(X, y))


def test_cross_validation_learns_in_its_folds(table):
    """A category that only one fold has is unknown to the others, and is not refused in any."""
    columns, y = table
    columns["town"][5] = "Genf"
    X = pd.DataFrame(columns)
    folds = np.arange(len(y)) % 3
    search = ml.MarginClassifierCV("logistic", Cs=[0.1, 1.0], encode=True, cv=folds).fit(X, y)
    errors = np.zeros(2)
    for k, C in enumerate([0.1, 1.0]):
        for fold in range(3):
            model = ml.MarginClassifier("logistic", C=C, encode={"unknown": "none"}).fit(X[folds != fold], y[folds != fold])
            errors[k] += np.sum(model.predict(X[folds == fold]) != y[folds == fold]) / len(y)
    by_C = dict(zip(np.round(search.path_["Cs"], 6), search.errors_))
    np.testing.assert_allclose([by_C[0.1], by_C[1.0]], errors, atol=1e-12)
    assert "town=Genf" in search.encoded_names_
    path = ml.MarginPath("logistic", Cs=[0.1, 1.0], encode=True).fit(X, y)
    assert path.coefs_.shape[2] == len(path.encoded_names_) == len(search.encoded_names_)
    assert ml.RobustClassifier(encode=True, standardize=True).fit(X, y).score(X, y) > 0.7


def test_searches_of_scikit_learn_and_copies(table):
    columns, y = table
    X = pd.DataFrame(columns)
    model = ml.MarginClassifier("logistic", encode={"unknown": "none"})
    assert cross_val_score(model, X, y, cv=3).mean() > 0.6
    search = GridSearchCV(model, {"encode": [True, {"drop": ["zone"]}]}, cv=3).fit(X, y)
    assert search.best_estimator_.predict(X).shape == y.shape
    fitted = clone(model).fit(X, y)
    again = pickle.loads(pickle.dumps(fitted))
    assert np.array_equal(again.predict_proba(X), fitted.predict_proba(X))
    plain = fitted.set_params(encode=False).fit(X[["age", "zone"]].fillna(0), y)
    assert not hasattr(plain, "encoded_names_") and plain.n_features_in_ == 2


@pytest.mark.parametrize("name", ["model.json", "model.mgn"])
def test_files_take_raw_rows(name, table, tmp_path):
    columns, y = table
    X = pd.DataFrame(columns)
    fitted = ml.MarginClassifier("logistic", encode={"categorical": ["zone"], "drop": ["member"]}).fit(X, y)
    fitted.save(tmp_path / name)
    loaded = ml.load(tmp_path / name)
    np.testing.assert_allclose(loaded.predict_proba(X), fitted.predict_proba(X), rtol=1e-15)
    assert loaded.encode["categorical"] == ["zone"] and loaded.encode["drop"] == ["member"]
    assert loaded.n_features_in_ == 3 and loaded.feature_names_in_.tolist() == ["town", "age", "zone"]
    turned = X[["zone", "age", "town"]]
    assert (loaded.predict(turned) == fitted.predict(X)).all()
    with pytest.raises(ValueError, match="'age' was in the training table, but is not in this one"):
        loaded.predict(X.drop(columns="age"))
    with pytest.raises(ValueError, match="'more' is in the table, but not among"):
        loaded.predict(X.assign(more=1))
    np.testing.assert_allclose(clone(loaded).fit(X, y).coef_, fitted.coef_, rtol=1e-6)
