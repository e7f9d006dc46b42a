"""Columns of raw tables, with words and missing values, as the library encodes them."""

from __future__ import annotations

import itertools
from decimal import Decimal
from numbers import Real
from typing import Any

import numpy as np
from sklearn.utils.validation import validate_data

from ._inputs import cut, is_frame, one_value_per_row
from ._values import BLOCK_ROWS, array_of, is_gap, unmasked

# The magnitude below which float64 holds all whole numbers.
_MOST_EXACT = 2.0**53


def checked_table(estimator: Any, X: Any, *, reset: bool) -> Any:
    """Returns a frame as it is, or else an array; the encoding finds the columns of frames by their names."""
    X = unmasked(X)
    if not is_frame(X):
        return validate_data(estimator, X, reset=reset, dtype=None, ensure_all_finite=False)
    if reset:
        validate_data(estimator, X, reset=True, skip_check_array=True)
    return X


def encode_options(encode: Any, X: Any) -> Any:
    """Returns the options of the encoding, with every column of a categorical dtype listed as categorical."""
    options = encode if isinstance(encode, dict) else {}
    asked, dropped = options.get("categorical", []), left_out(encode)
    if encode is not True and not isinstance(encode, dict) or not isinstance(asked, (list, tuple)) or not is_frame(X):
        return encode
    coded = [name for name, column in _columns(X, None) if _is_categories(column) and name not in (*asked, *dropped)]
    return options | {"categorical": [*asked, *coded]}


def left_out(encode: Any) -> Any:
    """Returns the columns that a setting leaves out."""
    dropped = encode.get("drop", ()) if isinstance(encode, dict) else ()
    return dropped if isinstance(dropped, (list, tuple)) else ()


def columns_of(X: Any, names: Any = None, dropped: Any = ()) -> list[dict[str, Any]]:
    """Returns the columns for the native module; the cells of dropped columns are not read.

    The columns of an array have the names given, or else x0, x1 and so on.
    """
    rows = X.shape[0]
    columns = ((name, None if name in dropped else column) for name, column in _columns(X, names))
    return [{"name": name, "cells": [None] * rows if column is None else _cells(name, column)} for name, column in columns]


def _columns(X: Any, names: Any) -> list[tuple[str, Any]]:
    if hasattr(X, "column_names"):
        return list(zip(X.column_names, X.columns))
    if hasattr(X, "iloc"):
        return [(str(name), X.iloc[:, k]) for k, name in enumerate(X.columns)]
    if is_frame(X):
        return [(name, X[name]) for name in X.columns]
    names = [f"x{k}" for k in range(X.shape[1])] if names is None else names
    return [(name, X[:, k]) for k, name in enumerate(names)]


def _is_categories(column: Any) -> bool:
    """Recognises columns of categories: of pandas, of polars, dictionaries of pyarrow."""
    return _type_of(column).startswith(("category", "categorical", "enum", "dictionary"))


def _cells(name: str, column: Any) -> Any:
    """Returns the cells of a column: numbers in which NaN is a missing value, or texts and None.

    Whole numbers that no float64 holds are texts: they may be levels.
    """
    if hasattr(column, "iloc") and column.dtype.kind in "iuf":
        cells = column.to_numpy(dtype=np.float64, na_value=np.nan)
    else:
        parts = [_part(name, column, start) for start in range(0, max(1, len(column)), BLOCK_ROWS)]
        if not isinstance(parts[0], np.ndarray):
            return list(itertools.chain.from_iterable(parts))
        cells = np.concatenate(parts)
    if not _type_of(column).startswith(("float", "double")) and (np.abs(cells) >= _MOST_EXACT).any():
        values = column.to_pylist() if hasattr(column, "to_pylist") else column.to_list() if hasattr(column, "to_list") else column.tolist()
        return [_text(name, row, cell) for row, cell in enumerate(values)]
    return cells


def _type_of(column: Any) -> str:
    """Returns the name of the type of a column, in lower case."""
    return str(getattr(column, "type", getattr(column, "dtype", ""))).lower()


def _part(name: str, column: Any, start: int) -> Any:
    """Returns some cells of a column from a row on; Ctrl-C is heard between one part and the next."""
    part = cut(column, start, start + BLOCK_ROWS)
    values = one_value_per_row(array_of(part), name)
    if values.dtype.kind in "iuf":
        return values.astype(np.float64, copy=False)
    return [_text(name, start + row, cell) for row, cell in enumerate(values)]


def _text(name: str, row: int, cell: Any) -> str | None:
    """Returns the text of a cell, None for a gap."""
    if is_gap(cell):
        return None
    if isinstance(cell, (str, Real, Decimal, np.bool_)) and not isinstance(cell, np.timedelta64):
        return str(cell)
    raise TypeError(
        f"Column '{name}' has {cell!r} in row {row}, which is neither a number nor a word: "
        "convert it, or drop the column with encode={'drop': [...]}."
    )
