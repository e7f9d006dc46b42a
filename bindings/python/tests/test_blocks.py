"""Block files that the package writes are those of the library."""

import os

import numpy as np
import pytest
from scipy import sparse

from margins_learn import blocks

X = np.random.default_rng(1).normal(size=(40, 3))
y = np.where(X[:, 0] > 0, "yes", "no")


def test_rows_appended_are_those_written_at_once(tmp_path):
    weights, folds = np.linspace(0.5, 1, 40), np.arange(40) % 2
    blocks.write(tmp_path / "one", X, y, weights, folds, rows=8)
    with blocks.Writer(tmp_path / "two", rows=8) as writer:
        for start in range(0, 40, 10):
            part = slice(start, start + 10)
            writer.append(X[part], y[part], weights[part], folds[part])
    assert (tmp_path / "one").read_bytes() == (tmp_path / "two").read_bytes()
    facts = blocks.describe(tmp_path / "one")
    assert facts["rows"] == [8] * 5 and facts["folds"] == ["0", "1"] and facts["classes"] == ["no", "yes"]


def test_frames_sparse_rows_and_batches_of_arrow(tmp_path):
    pandas, arrow = pytest.importorskip("pandas"), pytest.importorskip("pyarrow")
    frame = pandas.DataFrame(X, columns=["a", "b", "c"])
    blocks.write(tmp_path / "frame", frame, y)
    with blocks.Writer(tmp_path / "arrow") as writer:
        for batch in arrow.Table.from_pandas(frame).to_batches(max_chunksize=40):
            writer.append(batch, y)
    assert (tmp_path / "frame").read_bytes() == (tmp_path / "arrow").read_bytes()
    assert blocks.describe(tmp_path / "frame")["names"] == ["a", "b", "c"]
    blocks.write(tmp_path / "sparse", sparse.csr_array(X), y)
    assert blocks.describe(tmp_path / "sparse")["sparse"]
    blocks.write(tmp_path / "single", X.astype(np.float32), y)
    assert (tmp_path / "single").stat().st_size < (tmp_path / "frame").stat().st_size


def test_what_is_wrong_leaves_no_file(tmp_path):
    path = tmp_path / "rows"
    for rows, labels, message in (
        ([[np.nan, 1.0]], ["no"], "NaN"),
        (X[:4], y[:3], "inconsistent"),
        (X[:4], ["no"] * 4, "class"),
    ):
        with pytest.raises(ValueError, match=message):
            blocks.write(path, rows, labels)
        assert not path.exists()
    with pytest.raises(ValueError, match="dtype is 'int8'"):
        blocks.write(path, X, y, dtype="int8")
    with pytest.raises(ValueError, match="No rows"), blocks.Writer(path):
        pass


def test_gaps_are_no_categories_and_no_classes(tmp_path):
    pandas, arrow = pytest.importorskip("pandas"), pytest.importorskip("pyarrow")
    words, numbers = (["no", "yes"] * 20, [0.5, 1.5] * 20)

    def coded(values, gap=None):
        values = [None if k == gap else value for k, value in enumerate(values)]
        return arrow.chunked_array([arrow.array(values[k : k + 20]).dictionary_encode() for k in (0, 20)])

    table = arrow.table({"a": coded(numbers), "b": X[:, 1]})
    blocks.write(tmp_path / "plain", pandas.DataFrame({"a": numbers, "b": X[:, 1]}), words)
    blocks.write(tmp_path / "coded", table, coded(words))
    assert (tmp_path / "plain").read_bytes() == (tmp_path / "coded").read_bytes()
    with pytest.raises(ValueError, match="NaN"):
        blocks.write(tmp_path / "gap", table.set_column(0, "a", coded(numbers, gap=3)), words)
    missing = [value for value in (None, np.nan, pandas.NA, pandas.NaT)]
    labels = [coded(words, gap=25), *([*words[:25], gap, *words[26:]] for gap in missing)]
    labels.append(pandas.Series(labels[1], dtype="string"))
    labels += [arrow.table({"label": labels[0]}), list(labels[0])]
    for given in labels:
        with pytest.raises(ValueError, match="y has no value in row 25"):
            blocks.write(tmp_path / "gap", table, given)
    with pytest.raises(ValueError, match="NaN"):
        blocks.write(tmp_path / "gap", np.ma.MaskedArray(X, X < 0), words)
    with pytest.raises(TypeError, match="y has labels of bytes, such as b'no'"):
        blocks.write(tmp_path / "gap", X, [word.encode() for word in words])
    assert not (tmp_path / "gap").exists()
    single = arrow.table({"a": arrow.array(X[:, 0], arrow.float32()), "b": arrow.array(X[:, 1], arrow.float32())})
    blocks.write(tmp_path / "single", single, words)
    # Names of files need not be text.
    odd = os.fsdecode(os.fsencode(tmp_path) + b"/\xe9.blocks")
    blocks.write(odd, single, words)
    assert blocks.describe(odd)["rows"] == [40]
    assert (tmp_path / "single").stat().st_size < (tmp_path / "plain").stat().st_size
