"""Samples of every kind, brought to the library with one copy."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.utils.validation import validate_data

from ._native import DenseRows, Samples, SparseRows
from ._values import aligned, array_of, decoded, floats_of, is_time, refuse_complex, time_error, unmasked

_BLOCK_BYTES = 1 << 25
_BLOCK_ENTRIES = 1 << 16


def checked(estimator: Any, X: Any, *, reset: bool) -> Any:
    """Returns X as a matrix whose rows can be cut, and holds it to the features of the fit.

    Nothing is copied here unless it has to be parsed; the library takes numbers of every type, and looks for NaN and infinity.
    """
    X = unmasked(X)
    if is_frame(X):
        validate_data(estimator, X, reset=reset, skip_check_array=True)
        if 0 in X.shape:
            rows, columns = X.shape
            raise ValueError(f"Found array with {rows} sample(s) and {columns} feature(s): at least 1 of each is required.")
        return X
    if sparse.issparse(X):
        _refuse_contradictions(X)
        refuse_complex(X, "X")
    if hasattr(X, "collect_schema") and not hasattr(X, "shape"):
        raise TypeError("X is a lazy frame: call collect() first.")
    numbers = sparse.issparse(X) or isinstance(X, np.ndarray) and X.dtype.kind in "biuf"
    if isinstance(X, np.ndarray) and is_time(X):
        raise time_error(X, "X")
    try:
        return validate_data(
            estimator,
            X,
            reset=reset,
            dtype=None if numbers else (np.float64, np.float32),
            accept_sparse=("csr", "csc", "coo"),
            accept_large_sparse=True,
            ensure_all_finite=False,
        )
    except OverflowError as error:
        raise ValueError(f"X has a whole number that float64 cannot represent: {error}.") from error


def _refuse_contradictions(X: Any) -> None:
    """Refuses a matrix with indices out of range: SciPy would read past its arrays when it converts it."""
    try:
        if hasattr(X, "check_format"):
            X.check_format(full_check=True)
            if (np.diff(X.indptr) < 0).any():
                raise ValueError("its index pointer falls")
        elif X.format == "coo":
            for indices, length in zip((X.row, X.col), X.shape, strict=True):
                if len(indices) > 0 and not 0 <= indices.min() <= indices.max() < length:
                    raise ValueError(f"an index is not from 0 to {length - 1}")
    except ValueError as contradiction:
        raise ValueError(f"X is an invalid sparse matrix: {contradiction}") from None


def samples_of(X: Any) -> Samples:
    """Returns checked X in the memory of the library."""
    if sparse.issparse(X):
        return _of_sparse(X)
    table = DenseRows(*X.shape)
    for block in blocks(X):
        table.append(_numbers(block))
    return table.finish()


def blocks(X: Any, results: int = 1) -> Iterator[Any]:
    """Cuts checked X into blocks of rows, so that a block and its `results` numbers per row take some megabytes.

    For a sparse matrix only the results count.
    """
    rows, columns = X.shape
    step = max(1, _BLOCK_BYTES // (8 * (results if sparse.issparse(X) else max(columns, results))))
    if step >= rows:
        yield X
        return
    if sparse.issparse(X):
        X = X.tocsr()  # Not every sparse matrix has slices.
    for start in range(0, rows, step):
        yield cut(X, start, min(start + step, rows))


def cut(X: Any, start: int, stop: int) -> Any:
    """Returns some rows of a matrix, a frame, a table or a column."""
    if hasattr(X, "iloc"):
        return X.iloc[start:stop]
    return X.slice(start, stop - start) if hasattr(X, "slice") else X[start:stop]


def is_path(X: Any) -> bool:
    """Returns true if X is the path of a file."""
    return isinstance(X, str) or hasattr(X, "__fspath__")


def is_frame(X: Any) -> bool:
    """Recognises frames of pandas and polars and tables of pyarrow, without importing any of them."""
    return hasattr(X, "shape") and (hasattr(X, "columns") or hasattr(X, "column_names")) and not sparse.issparse(X)


def columns_named(frame: Any) -> list[Any]:
    """Returns the names of the columns of a frame or table."""
    return list(frame.column_names if hasattr(frame, "column_names") else frame.columns)


def numbers_of(X: Any) -> Any:
    """Returns checked X as numbers: a sparse matrix as it is, and anything else as an array."""
    return X if sparse.issparse(X) else _numbers(X)


def _numbers(block: Any) -> np.ndarray:
    """Returns a block as an array of float64 or float32."""
    if not is_frame(block):
        return aligned(block) if block.dtype in (np.float64, np.float32) else floats_of(block, "X")
    out = np.empty(block.shape, order="F")
    for k, name in enumerate(columns_named(block)):
        column = block.iloc[:, k] if hasattr(block, "iloc") else block[name] if not hasattr(block, "column_names") else block.column(k)
        out[:, k] = _of_column(column, name)
    return out


def _of_column(column: Any, name: str) -> np.ndarray:
    """Returns the numbers of a column of a frame."""
    column = decoded(column)
    if hasattr(column, "dtype"):
        refuse_complex(column, f"Column '{name}'")
    try:
        if hasattr(column, "iloc") and getattr(column.dtype, "kind", "O") not in "mM":
            return column.to_numpy(dtype=np.float64, na_value=np.nan)
        values = array_of(column)
        if values.ndim == 1 and not is_time(values):
            return values.astype(np.float64, copy=False)
    except (TypeError, ValueError, OverflowError) as error:
        reason = str(error).rstrip(".")
        raise ValueError(f"Column '{name}' does not consist of numbers: {reason}. Set encode=True to encode words and missing values.") from error
    raise time_error(one_value_per_row(values, name), f"Column '{name}'")


def one_value_per_row(values: np.ndarray, name: str) -> np.ndarray:
    """Returns the values of a column, and refuses a column with several values per row, such as one of structs."""
    if values.ndim != 1:
        raise TypeError(f"Column '{name}' has {values.shape[1]} values per row: make a column of each, or leave it out.")
    return values


def _of_sparse(X: Any) -> Samples:
    """Copies a sparse matrix in CSR, CSC or COO format into the memory of the library, some entries at a time."""
    samples = SparseRows(_counts(X), X.shape[1])
    for start in range(0, X.nnz, _BLOCK_ENTRIES):
        part = slice(start, min(start + _BLOCK_ENTRIES, X.nnz))
        values = aligned(np.ascontiguousarray(X.data[part], dtype=np.float64))
        if X.format == "coo":
            samples.place(_wide(X.row[part]), _wide(X.col[part]), values)
            continue
        # The rows of a matrix of rows, the columns of one of columns.
        first, last = np.searchsorted(X.indptr, [part.start, part.stop - 1], side="right")
        counts = _wide(np.diff(np.clip(X.indptr[first - 1 : last + 1], part.start, part.stop)))
        if X.format == "csr":
            minor = np.ascontiguousarray(X.indices[part])
            samples.place_rows(first - 1, counts, aligned(minor) if minor.dtype == np.int32 else _wide(minor), values)
        else:
            samples.place(_wide(X.indices[part]), np.repeat(np.arange(first - 1, last), counts), values)
    return samples.finish()


def _wide(numbers: np.ndarray) -> np.ndarray:
    """Returns whole numbers as an array of int64."""
    return aligned(np.ascontiguousarray(numbers, dtype=np.int64))


def _counts(X: Any) -> np.ndarray:
    """Returns the number of entries of every row of a sparse matrix."""
    if X.format == "csr":
        return np.diff(X.indptr).astype(np.int64)
    rows = (X.row if X.format == "coo" else X.indices)[: X.nnz]
    # Counting a part of the entries takes as long as a pass over the counts of all rows.
    step = max(_BLOCK_ENTRIES, X.shape[0])
    counts = np.zeros(X.shape[0], dtype=np.int64)
    for start in range(0, len(rows), step):
        counts += np.bincount(rows[start : start + step], minlength=len(counts))
    return counts
