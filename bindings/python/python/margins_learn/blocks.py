"""Block files: rows in fixed partitions, with checksums and an index, for data larger than memory.

The command `margins` and the estimators of `margins_learn.dask` accept such a file instead of text.
"""

from __future__ import annotations

from os import PathLike, fspath
from types import TracebackType
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.utils.validation import check_consistent_length, column_or_1d

from . import _native
from ._base import _Rows
from ._inputs import columns_named, is_frame, samples_of
from ._labels import fold_names, weights_of
from ._settings import count_of
from ._values import array_of, floats_of, refuse_complex, refuse_gaps, unmasked

__all__ = ["Writer", "describe", "write"]


class Writer:
    """Writes a block file, some rows at a time.

    Parameters
    ----------
    path : str or path
        The file. It appears, or is replaced, when the `with` block ends without an exception.
    rows : int or None, default=None
        The rows of a block; None takes as many as fill 4 MiB.
    dtype : "float32", "float64" or None, default=None
        The type of the values in the file; None takes that of the first rows.

    Examples
    --------
    >>> import tempfile
    >>> from margins_learn import blocks
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     with blocks.Writer(folder + "/rows.blocks") as writer:
    ...         for label in ["ham", "spam", "ham"]:
    ...             writer.append([[0.0, 1.0], [2.0, 3.0]], [label, label])
    ...     blocks.describe(folder + "/rows.blocks")["classes"]
    ['ham', 'spam']
    """

    def __init__(self, path: str | PathLike[str], *, rows: int | None = None, dtype: Any = None) -> None:
        self._path, self._rows = fspath(path), None if rows is None else count_of(rows, "rows")
        self._dtype = None if dtype is None else np.dtype(dtype)
        if self._dtype not in (None, np.float32, np.float64):
            raise ValueError(f"dtype is {dtype!r}, but must be 'float32', 'float64' or None.")
        self._writer: _native.BlockWriter | None = None

    def append(self, X: Any, y: Any, sample_weight: Any = None, folds: Any = None) -> None:
        """Writes rows.

        Parameters
        ----------
        X : array, sparse matrix, data frame or table or batch of pyarrow of shape (n_rows, n_features)
            The samples.
        y : array of shape (n_rows,)
            Their classes.
        sample_weight : array of shape (n_rows,) or None, default=None
            Their weights, for all rows of the file or for none.
        folds : array of shape (n_rows,) or None, default=None
            The name of the fold of every row, a text or a whole number, for all rows of the file or for none.
        """
        names = None
        if is_frame(X):
            names = [str(name) for name in columns_named(X)]
        elif sparse.issparse(X):
            refuse_complex(X, "X")
            X = sparse.csr_array(X, dtype=np.float64)
        else:
            X = np.asarray(unmasked(X))
            X = X if X.dtype in (np.float32, np.float64) else floats_of(X, "X")
        if len(X.shape) != 2:
            raise ValueError(f"X has the shape {X.shape}, but must have two dimensions.")
        labels = column_or_1d(array_of(y))
        refuse_gaps(labels, "y")
        labels = labels.tolist()
        if labels and isinstance(labels[0], bytes):
            raise TypeError(f"y has labels of bytes, such as {labels[0]!r}: decode them first, as by np.char.decode(y).")
        check_consistent_length(_Rows(X), labels)
        if self._writer is None:
            single = _is_single(X) if self._dtype is None else self._dtype == np.float32
            self._writer = _native.BlockWriter(self._path, self._rows, single, names)
        weights = weights_of(sample_weight, _Rows(X))
        self._writer.append(
            samples_of(X),
            list(map(str, labels)),
            None if weights is None else weights.tolist(),
            None if folds is None else fold_names(array_of(folds), "folds"),
        )

    def __enter__(self) -> Writer:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        writer, self._writer = self._writer, None
        if kind is None:
            if writer is None:
                raise ValueError("No rows were written.")
            writer.finish()


def _is_single(X: Any) -> bool:
    """Returns true if all values of rows are float32."""
    if not is_frame(X):
        return X.dtype == np.float32
    types = X.schema.types if hasattr(X, "column_names") else X.dtypes
    return {str(kind).lower() for kind in types} <= {"float", "float32"}


def write(path: str | PathLike[str], X: Any, y: Any, sample_weight: Any = None, folds: Any = None, **settings: Any) -> None:
    """Writes samples as a block file.

    Parameters
    ----------
    path : str or path
        The file, which is replaced if it exists.
    X : array, sparse matrix, data frame or table of pyarrow of shape (n_samples, n_features)
        The samples.
    y : array of shape (n_samples,)
        Their classes.
    sample_weight : array of shape (n_samples,) or None, default=None
        Their weights.
    folds : array of shape (n_samples,) or None, default=None
        The name of the fold of every sample, a text or a whole number.
    **settings
        `rows` and `dtype` of `Writer`.

    Examples
    --------
    >>> import tempfile
    >>> from margins_learn import blocks
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     blocks.write(folder + "/rows.blocks", [[0.0, 1.0], [2.0, 3.0]], ["ham", "spam"])
    ...     blocks.describe(folder + "/rows.blocks")["features"]
    2
    """
    with Writer(path, **settings) as writer:
        writer.append(X, y, sample_weight, folds)


def describe(path: str | PathLike[str]) -> dict[str, Any]:
    """Returns the content of the index of a block file.

    Parameters
    ----------
    path : str or path
        The file.

    Returns
    -------
    index : dict
        The `classes`, the names of the `folds`, the number of `features` and their `names`, and the rows and bytes of each
        block.

    Examples
    --------
    See `write`.
    """
    return _native.block_file(fspath(path))
