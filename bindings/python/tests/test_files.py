"""Files go back and forth between the package and the command."""

import csv
import json
import os
import pickle
import re
import runpy
import subprocess
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import margins_learn as ml
from conftest import clouds

try:
    from skops import io as skops
except ImportError:
    skops = None

REPOSITORY = Path(__file__).parents[3]
FIXTURES = sorted(path for path in REPOSITORY.glob("crates/model/tests/fixtures/**/*") if path.is_file())


# Two classes of every type that labels have.
CLASSES = [
    *(np.array([1, np.iinfo(dtype).max], dtype=dtype) for dtype in "bhilqBHILQ"),
    *(np.array([0.0, 3.0], dtype=dtype) for dtype in "efdg"),
    np.array([-1, 1], dtype=">i4"), np.array([2**53, 2**53 + 1]), np.array([False, True]),
    np.array(["0", "1"]), np.array(["no", "yes"], dtype="<U9"), np.array(["False", "True"]),
    *(np.array([1, 400], dtype=f"{kind}8[{unit}]") for kind in "mM" for unit in ("D", "ns")),
    np.array(["no", "yes"], dtype=object), *([np.array(["no", "yes"], dtype="T")] if hasattr(np.dtypes, "StringDType") else []),
    pd.array(["no", "yes"], dtype="string"), pd.Categorical(["no", "yes"]), pd.Categorical([3, 4]), pd.array([3, 4], dtype="Int16"),
]


@pytest.fixture
def command():
    """Returns the command that `cargo build -p margins-cli` makes, or the one that MARGINS names."""
    path = Path(os.environ.get("MARGINS", REPOSITORY / "target/debug/margins"))
    if not path.exists():
        pytest.skip(f"there is no command at {path}: build it, or name it by MARGINS")
    return path


def test_fixtures_of_the_library_are_there():
    assert len(FIXTURES) > 3


@pytest.mark.parametrize("path", FIXTURES, ids=lambda path: path.name)
def test_models_of_the_library_predict_or_are_refused(path):
    try:
        model = ml.load(path)
    except ValueError as refusal:
        assert str(path) in str(refusal)
    else:
        X = np.random.default_rng(1).normal(size=(10, model.n_features_in_))
        # No number is a level of a column of words, but a gap is welcome everywhere.
        X = np.where(model.encode, np.nan, X)
        assert set(model.predict(X)) <= set(model.classes_)


@pytest.mark.parametrize("kernel", [None, "gaussian:sigma=0.5"])
@pytest.mark.parametrize("classes", [2, 3])
def test_a_path_predicts_at_every_C_and_keeps_its_classifiers(kernel, classes, tmp_path):
    X, y = clouds(90, classes)
    path = ml.MarginPath("logistic", Cs=[0.01, 0.3, 10.0], kernel=kernel, tol=1e-10).fit(X, y)
    path.save(tmp_path / "path.mgn")
    for C in path.Cs_:
        alone = ml.MarginClassifier("logistic", C=C, kernel=kernel, tol=1e-10).fit(X, y)
        at = path.classifier(C)
        assert at.decision_function(X) == pytest.approx(alone.decision_function(X), abs=1e-3)
        assert (path.predict(X, C=C) == at.predict(X)).all() and at.C == C
        assert np.asarray(at.objective_) == pytest.approx(np.asarray(alone.objective_), rel=1e-8)
        assert (at.status_, at.lambda_) == ("converged", pytest.approx(alone.lambda_))
        read = ml.load(tmp_path / "path.mgn", C=C)
        assert (read.decision_function(X) == at.decision_function(X)).all() and read.C == pytest.approx(C)
    assert (path.predict(X) == path.predict(X, C=10.0)).all()
    assert (pickle.loads(pickle.dumps(path)).predict(X, C=0.3) == path.predict(X, C=0.3)).all()
    with pytest.raises(ValueError, match="C is 1.0, but the path was not fitted there: the nearest fitted C are 0.3 and 10. Interpolated"):
        path.predict(X, C=1.0)
    with pytest.raises(ValueError, match="the nearest fitted C is 10"):
        path.classifier(11)
    with pytest.raises(ValueError, match="path.mgn: it has the models of a path, at 3 lambdas"):
        ml.load(tmp_path / "path.mgn")
    with pytest.raises(ValueError, match="path.mgn: it has no model at lambda"):
        ml.load(tmp_path / "path.mgn", C=1.0)


@pytest.mark.parametrize("name", ["model.json", "model.bin"])
@pytest.mark.parametrize("kernel", [None, "gaussian:sigma=0.5"])
def test_models_go_both_ways(command, name, kernel, tmp_path):
    X, y = clouds(60, 2)
    with open(tmp_path / "data.csv", "w", newline="") as file:
        rows = csv.writer(file)
        rows.writerow(["a", "b", "c", "label"])
        rows.writerows([*map(repr, x.tolist()), label] for x, label in zip(X, np.array(["no", "yes"])[y]))
    ours = ml.MarginClassifier("logistic", kernel=kernel).fit(X, np.array(["no", "yes"])[y])
    ours.save(tmp_path / name)
    predicted = subprocess.run(
        [command, "predict", "--model", tmp_path / name, "--data", tmp_path / "data.csv", "--format", "json"],
        capture_output=True, text=True, check=False,
    )
    assert predicted.returncode == 0, predicted.stderr
    arguments = ["fit", "--data", tmp_path / "data.csv", "--loss", "logistic", "--lambda", repr(ours.lambda_), "--out", tmp_path / f"their-{name}"]
    subprocess.run([command, *arguments, *(["--kernel", kernel] if kernel else [])], check=True, capture_output=True)
    theirs = ml.load(tmp_path / f"their-{name}")
    np.testing.assert_allclose(theirs.decision_function(X), ours.decision_function(X), rtol=1e-9)
    assert theirs.classes_.tolist() == ["no", "yes"] and theirs.feature_names_in_.tolist() == ["a", "b", "c"]
    assert theirs.C == pytest.approx(ours.C)


@pytest.mark.parametrize("name", ["model.json", "model.bin"])
def test_models_of_raw_tables_go_both_ways(command, name, tmp_path):
    rows = 60
    random = np.random.default_rng(1)
    X = pd.DataFrame({"town": random.choice(["Bern", "Basel", "?"], rows), "age": random.normal(40, 9, rows).round(1)})
    X["old"], X["code"], X["id"] = np.where(X["age"] > 45, "True", "false"), random.integers(1, 4, rows), [f"r{k}" for k in range(rows)]
    X.loc[::7, "age"] = np.nan
    y = np.where(X["town"].eq("Bern") ^ (random.random(rows) < 0.2), "yes", "no")
    table, there = tmp_path / "data.csv", tmp_path / f"their-{name}"
    X.assign(label=y).to_csv(table, index=False)
    ours = ml.MarginClassifier("logistic", encode={"categorical": ["code"], "drop": ["id"]}, tol=1e-10).fit(X, y)
    ours.save(tmp_path / name)
    run = lambda *arguments: subprocess.run([command, *arguments], capture_output=True, text=True, check=True)
    predicted = run("predict", "--model", tmp_path / name, "--data", table, "--format", "json")
    rows_of = json.loads(predicted.stdout)["predictions"]
    assert [row["label"] for row in rows_of] == ours.predict(X).tolist()
    told = ["--encode", "--categorical", "code", "--drop", "id", "--tol", "1e-10"]
    run("fit", "--data", table, "--loss", "logistic", "--lambda", repr(ours.lambda_), "--out", there, *told)
    theirs = ml.load(there)
    assert theirs.encoded_names_.tolist() == ours.encoded_names_.tolist()
    np.testing.assert_allclose(theirs.coef_, ours.coef_, rtol=1e-4, atol=1e-6)
    np.testing.assert_allclose(theirs.predict_proba(X), ours.predict_proba(X), rtol=1e-4)


@pytest.mark.parametrize("name", ["model.json", "model.bin"])
@pytest.mark.parametrize("classes", CLASSES, ids=lambda classes: f"{np.asarray(classes).dtype.str}-{classes[1]}")
def test_files_keep_the_type_of_classes(classes, name, tmp_path):
    X, y = clouds(60, 2)
    ours = ml.MarginClassifier("logistic").fit(X, classes[y])
    ours.save(tmp_path / name)
    theirs = ml.load(tmp_path / name)
    others = [theirs, pickle.loads(pickle.dumps(ours))]
    if skops is not None:
        others.append(skops.loads(skops.dumps(ours), trusted=skops.get_untrusted_types(data=skops.dumps(ours))))
    for other in others:
        assert other.classes_.dtype == other.predict(X).dtype == ours.classes_.dtype
        assert list(map(type, other.classes_.tolist())) == list(map(type, ours.classes_.tolist()))
        assert other.classes_.tolist() == ours.classes_.tolist() and other.predict(X).tolist() == ours.predict(X).tolist()
    theirs.save(tmp_path / f"again-{name}")
    assert (tmp_path / f"again-{name}").read_bytes() == (tmp_path / name).read_bytes()


def test_a_type_of_classes_that_is_none_is_refused(tmp_path):
    X, y = clouds(60, 2)
    ml.MarginClassifier("logistic").fit(X, y).save(tmp_path / "model.json")
    text = (tmp_path / "model.json").read_text()
    assert text.count('"<i8"') == 1
    for name in ["signed", "|V8", "<c16", "i8,i8"]:
        (tmp_path / "model.json").write_text(text.replace('"<i8"', f'"{name}"'))
        with pytest.raises(ValueError, match=re.escape(f"not of the type '{name}' that the file names")):
            ml.load(tmp_path / "model.json")


@pytest.mark.parametrize("path", [path for path in FIXTURES if path.suffix == ".mgn"], ids=lambda path: path.name)
def test_the_documented_layout_is_all_that_a_reader_needs(path):
    reader = runpy.run_path(REPOSITORY / "examples/read_model.py")["read"]
    found, expected = reader(path.read_bytes()), json.loads(path.with_suffix(".json").read_text())
    for name in ["version", "loss", "scheme", "classes", "feature_names"]:
        assert found[name] == expected[name]
    for name in ["encoding", "label_type"]:
        assert found[name] == expected.get(name)
    assert found["kernel"] == (expected["basis"] or {}).get("kernel")
    for one, other in zip(found["members"], expected["members"], strict=True):
        assert [one[name] for name in ["lambda", "intercept", "coef"]] == [other[name] for name in ["lambda", "intercept", "coef"]]
    damaged = bytearray(path.read_bytes())
    damaged[-1] ^= 1
    with pytest.raises(ValueError):
        reader(bytes(damaged))
