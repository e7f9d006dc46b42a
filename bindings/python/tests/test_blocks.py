"""Block files that the package writes are those of the library."""

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
    assert facts["rows"] == [8] * 5 and facts["folds"] == 2 and facts["classes"] == ["no", "yes"]


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
