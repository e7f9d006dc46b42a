"""Inputs of every kind, brought to the library with one copy."""

from __future__ import annotations

import os
import re
import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from decimal import Decimal
from numbers import Real
from typing import Any

import numpy as np
import sklearn
from scipy import sparse
from sklearn.utils import check_random_state
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import _num_samples, assert_all_finite, column_or_1d, validate_data

from ._native import DenseRows, Samples, SparseRows

_BLOCK_BYTES = 1 << 25
# The number of rows whose labels or cells are processed between two checks for signals.
BLOCK_ROWS = 1 << 16
_BLOCK_ENTRIES = 1 << 16
# The most things that a setting counts.
_MOST = 10**9
# The largest number of values of C to ask for by their number.
_MOST_CS = 10_000
# The default number of values of C.
_DEFAULT_COUNT = 33
# How numbers are written: "01" and "1_0" are codes, and "inf" and "nan" are words.
_WHOLE = re.compile(r"[+-]?(0|[1-9][0-9]*)")
_NUMBER = re.compile(r"[+-]?((0|[1-9][0-9]*)(\.[0-9]*)?|\.[0-9]+)([eE][+-]?[0-9]+)?")


def caller_level() -> int:
    """Returns the stack level of a warning that belongs to the caller of this package."""
    level, frame = 1, sys._getframe(1)
    while frame.f_back is not None and frame.f_code.co_filename.startswith((os.path.dirname(__file__), os.path.dirname(sklearn.__file__))):
        level, frame = level + 1, frame.f_back
    return level


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
        raise TypeError("X is a lazy frame, whose rows are not there yet: collect() it first.")
    numbers = sparse.issparse(X) or isinstance(X, np.ndarray) and X.dtype.kind in "biuf"
    if isinstance(X, np.ndarray) and _is_time(X):
        raise _of_times(X, "X")
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
        raise ValueError(f"X has a whole number that no float64 holds: {error}.") from error


def unmasked(values: Any) -> Any:
    """Returns an array in which masked values are NaN or None, and of StringDType one of objects; anything else as it is."""
    if not isinstance(values, np.ndarray):
        return values
    gaps, values = np.ma.getmask(values), values.data if isinstance(values, np.ma.MaskedArray) else values
    if values.dtype.kind == "T":
        # scikit-learn does not know texts of this type.
        missing, values = getattr(values.dtype, "na_object", None), values.astype(object)
        gaps = gaps | np.array([value is missing for value in values.flat], dtype=bool).reshape(values.shape)
    if not np.any(gaps):
        return values
    is_number = values.dtype.kind in "biuf"
    filled = values.astype((values.dtype if values.dtype.kind == "f" else np.float64) if is_number else object)
    filled[gaps] = np.nan if is_number else None
    return filled


def _refuse_contradictions(X: Any) -> None:
    """Refuses a matrix whose indices lead out of it: scipy would read past its arrays to convert it."""
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
        raise ValueError(f"X is a sparse matrix that contradicts itself: {contradiction}") from None


def _is_time(values: np.ndarray) -> bool:
    """Recognises times, of which the nanoseconds since 1970 would be the feature."""
    return values.dtype.kind in "mM"


def _of_times(values: np.ndarray, name: str) -> TypeError:
    """Returns the refusal of times."""
    return TypeError(f"{name} has the dtype {values.dtype}, but times are no numbers: subtract one of them and divide by a unit.")


def samples_of(X: Any) -> Samples:
    """Returns checked X in the memory of the library."""
    if sparse.issparse(X):
        return _of_sparse(X)
    table = DenseRows(*X.shape)
    for block in blocks(X):
        table.append(_numbers(block))
    return table.finish()


def blocks(X: Any, results: int = 1) -> Iterator[Any]:
    """Cuts checked X into blocks of rows of some megabytes each, as are so many results a row; a sparse matrix for the results alone."""
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


def is_frame(X: Any) -> bool:
    """Recognises frames of pandas and polars and tables of pyarrow, without importing any of them."""
    return hasattr(X, "shape") and (hasattr(X, "columns") or hasattr(X, "column_names")) and not sparse.issparse(X)


def columns_named(frame: Any) -> list[Any]:
    """Returns the names of the columns of a frame or table."""
    return list(frame.column_names if hasattr(frame, "column_names") else frame.columns)


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
    column = _decoded(column)
    if hasattr(column, "dtype"):
        refuse_complex(column, f"Column '{name}'")
    try:
        if hasattr(column, "iloc") and getattr(column.dtype, "kind", "O") not in "mM":
            return column.to_numpy(dtype=np.float64, na_value=np.nan)
        values = array_of(column)
        if values.ndim == 1 and not _is_time(values):
            return values.astype(np.float64, copy=False)
    except (TypeError, ValueError, OverflowError) as error:
        reason = str(error).rstrip(".")
        raise ValueError(f"Column '{name}' does not consist of numbers: {reason}. MarginClassifier(encode=True) takes words and missing values.") from error
    raise _of_times(one_value_a_row(values, name), f"Column '{name}'")


def one_value_a_row(values: np.ndarray, name: str) -> np.ndarray:
    """Returns the values of a column, and refuses one that holds several a row, as a column of structs does."""
    if values.ndim != 1:
        raise TypeError(f"Column '{name}' has {values.shape[1]} values a row: make a column of each, or leave it out.")
    return values


def aligned(array: np.ndarray) -> np.ndarray:
    """Returns an array that begins where its type may, as the library needs it; a view of a buffer may not."""
    return array if array.flags.aligned else array.copy()


def _of_sparse(X: Any) -> Samples:
    """Returns a sparse matrix of rows, columns or triplets in the memory of the library, some entries at a time."""
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
    # A part of the entries costs as much as all rows do.
    step = max(_BLOCK_ENTRIES, X.shape[0])
    counts = np.zeros(X.shape[0], dtype=np.int64)
    for start in range(0, len(rows), step):
        counts += np.bincount(rows[start : start + step], minlength=len(counts))
    return counts


def targets_of(y: Any) -> tuple[np.ndarray, np.ndarray]:
    """Returns the classes in order, and the index of that of every sample."""
    if y is None:
        raise ValueError("This estimator requires y to be passed, but the target y is None.")
    y = column_or_1d(array_of(y), warn=True)
    classes = distinct(y)
    # The distinct labels show whether they are measurements, unless most samples have labels of their own.
    check_classification_targets(y if 2 * len(classes) > len(y) else np.repeat(classes, 2))
    if len(classes) < 2:
        found = f"one class, {classes.tolist()[0]!r}" if len(classes) else "no labels"
        raise ValueError(f"y has {found}, but a classifier needs samples of two classes.")
    if len(classes) == len(y) > 2:
        warnings.warn(f"Each of the {len(y)} samples has a class of its own: is y the names of the samples?", stacklevel=caller_level())
    return classes, _indices(classes, y)


def distinct(y: np.ndarray) -> np.ndarray:
    """Returns the labels that differ, in order, and refuses missing labels and labels without an order.

    It takes some labels at a time, so that Ctrl-C is heard between them.
    """
    try:
        return _distinct(y)
    except TypeError as error:
        kinds = sorted({type(label).__name__ for label in y})
        raise TypeError(f"y has labels of the types {', '.join(kinds)}, which have no order: make all of them text or numbers.") from error


def _distinct(y: np.ndarray) -> np.ndarray:
    parts = []
    for start in range(0, len(y), BLOCK_ROWS):
        part = y[start : start + BLOCK_ROWS]
        refuse_gaps(part, "y", start)
        assert_all_finite(part, input_name="y")
        parts.append(np.unique(_once(part) if y.dtype == object else part))
    return np.unique(np.concatenate(parts)) if parts else y


def _once(labels: np.ndarray) -> np.ndarray:
    """Returns objects once each, where they can be counted; to put them in order compares them one by one."""
    try:
        differing = set(labels.tolist())
    except TypeError:
        return labels
    return np.fromiter(differing, dtype=object, count=len(differing))


def is_gap(value: Any) -> bool:
    """Returns true if a value stands for a missing one: None, NaN, NaT, NA of pandas or a masked value of numpy."""
    if value is None or value is np.ma.masked or type(value).__name__ in ("NAType", "NaTType"):
        return True
    return isinstance(value, (float, complex, np.generic)) and bool(value != value) or isinstance(value, Decimal) and value.is_nan()


def refuse_gaps(values: np.ndarray, name: str, first: int = 0) -> None:
    """Raises a ValueError if a value of an array that `array_of` returned is missing, with its row, counted from the first."""
    if values.dtype == object and any(map(is_gap, _once(values))):
        gaps = np.fromiter(map(is_gap, values), dtype=bool, count=len(values))
    elif values.dtype.kind in "fcmM":
        gaps = values != values
    else:
        return
    if gaps.any():
        raise ValueError(f"{name} has no value in row {first + int(gaps.argmax())}. Leave out such rows.")


def array_of(values: Any) -> np.ndarray:
    """Returns values as an array, a table of pyarrow with one column as that column; of its missing values `is_gap` is true."""
    if hasattr(values, "column_names") and len(values.column_names) == 1:
        values = values.column(0)
    if isinstance(values, (list, tuple)) and len(values) > 0 and hasattr(values[0], "as_py"):
        # Scalars of pyarrow are objects to numpy, missing values as well.
        values = [value.as_py() for value in values]
    values = _decoded(values)
    array = np.asarray(without_gaps(unmasked(values)))
    if array.dtype.kind in "US" and isinstance(values, (list, tuple)):
        # Among texts numpy makes the text 'nan' of a gap.
        objects = np.array(values, dtype=object)
        array = objects if any(map(is_gap, _once(objects.ravel()))) else array
    if array.dtype == np.float64 and isinstance(values, (list, tuple)) and all(isinstance(value, int) for value in values):
        # Of whole numbers up to 2^64 numpy makes float64, which does not hold their digits.
        with suppress(OverflowError):
            return np.array(values, dtype=np.uint64)
    return array


def _decoded(column: Any) -> Any:
    """Returns a column of pyarrow, or of pandas that holds one, without dictionaries; anything else as it is.

    Of several chunks numpy takes a missing value among the codes for the last category.
    """
    kind = getattr(getattr(column, "dtype", None), "pyarrow_dtype", getattr(column, "type", None))
    nested = [kind]
    while str(kind).startswith(("dictionary", "run_end_encoded", "extension")):
        kind = getattr(kind, "storage_type", None) or kind.value_type
        nested.append(kind)
    if not any(str(each).startswith("dictionary") for each in nested):
        return column
    if hasattr(column, "dtype"):
        column = getattr(column, "array", column).__arrow_array__()
    try:
        return column.cast(kind)
    except (NotImplementedError, ValueError):
        # pyarrow has no cast for a dictionary of string views, nor for a dictionary inside another type.
        import pyarrow

        return pyarrow.array(column.to_pylist(), kind)


def without_gaps(y: Any) -> Any:
    """Returns nullable integers or booleans of pandas as those of numpy, if none is missing: scikit-learn makes numbers with a point of them."""
    plain = getattr(getattr(y, "dtype", None), "numpy_dtype", None)
    return y if plain is None or y.isna().any() else y.to_numpy(dtype=plain)


def _indices(classes: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Returns the index of the class of every sample, with nothing larger on the way."""
    indices = np.empty(len(y), dtype=np.uint8 if len(classes) <= 256 else np.uint32)
    for start in range(0, len(y), BLOCK_ROWS):
        stop = start + BLOCK_ROWS
        indices[start:stop] = np.searchsorted(classes, y[start:stop])
    return indices


def names_of(classes: np.ndarray) -> list[str]:
    """Returns the names of classes in files: times as numpy writes them, durations as numbers of their unit."""
    if classes.dtype.kind == "M":
        return np.datetime_as_string(classes).tolist()
    return [str(label) for label in (classes.astype(np.int64) if classes.dtype.kind == "m" else classes).tolist()]


def label_type_of(classes: np.ndarray) -> str | None:
    """Returns the dtype of classes as files name it; None of objects that are not all texts."""
    return classes.dtype.str if classes.dtype != object or all(isinstance(label, str) for label in classes) else None


def classes_named(names: list[str], label_type: str | None = None) -> np.ndarray:
    """Returns the classes of a file by their names, of the dtype in the file.

    Without one they are whole numbers or numbers if all names are written as such, else the names.
    """
    if label_type is None:
        return _classes_like(names)
    try:
        dtype = np.dtype(label_type)
        if dtype.kind not in "biufUOMm":
            raise TypeError(f"{dtype} is not the dtype of labels")
        if dtype.kind == "m":
            return np.array(names, dtype=np.int64).astype(dtype)
        return np.array([name == "True" for name in names] if dtype.kind == "b" else names, dtype=dtype)
    except (TypeError, OverflowError) as error:
        raise ValueError(str(error)) from error


def _classes_like(names: list[str]) -> np.ndarray:
    """Returns the classes of the type that their names look like."""
    if not all(_WHOLE.fullmatch(name) for name in names):
        return np.array(names, dtype=float if all(_NUMBER.fullmatch(name) for name in names) else str)
    numbers = [int(name) for name in names]
    for dtype in (np.int64, np.uint64):
        with suppress(OverflowError):
            return np.array(numbers, dtype=dtype)
    return np.array(numbers, dtype=object)


def refuse_complex(values: Any, name: str) -> None:
    """Refuses complex numbers, of which numpy, scipy and pandas drop the imaginary part."""
    if getattr(values.dtype, "kind", "O") == "c":
        raise TypeError(f"{name} has the dtype {values.dtype}, but must consist of real numbers.")


def floats_of(values: Any, name: str) -> np.ndarray:
    """Returns numbers as an array of float64, and refuses complex ones and times."""
    with _naming(name):
        array = array_of(values)
    refuse_complex(array, name)
    if _is_time(array):
        raise _of_times(array, name)
    with _naming(name):
        return array.astype(np.float64, copy=False)


@contextmanager
def _naming(name: str) -> Iterator[None]:
    """Gives the refusal of what makes no array of numbers the name of the argument."""
    try:
        yield
    except (TypeError, ValueError, OverflowError) as error:
        kind = TypeError if isinstance(error, TypeError) else ValueError
        raise kind(f"{name} does not consist of numbers: {str(error).rstrip('.')}.") from error


def number_of(value: Any, name: str) -> float:
    """Returns a value as a float; raises `TypeError` if it is not a number."""
    if not isinstance(value, (str, bytes)) and np.ndim(value) == 0:
        with suppress(TypeError, ValueError, OverflowError):
            return float(value)
    raise TypeError(f"{name} is {value!r}, but must be a number.")


def text_of(value: Any, name: str) -> str:
    """Returns a text; raises `TypeError` for any other type."""
    if not isinstance(value, str):
        raise TypeError(f"{name} is {value!r}, but must be a text.")
    return value


def weights_of(sample_weight: Any, X: Any, *, zeros: bool = False) -> np.ndarray | None:
    """Returns the weights of the samples, of which the library refuses those below 0.

    Weights that are all zero are refused too, unless X is a part of the samples, which may have such weights.
    """
    if sample_weight is None:
        return None
    weights = floats_of(sample_weight, "sample_weight")
    rows = _num_samples(X)
    if weights.ndim == 0:
        return np.full(rows, float(weights))
    if weights.shape != (rows,):
        raise ValueError(f"sample_weight has the shape {weights.shape}, but must have the shape ({rows},).")
    if not zeros and not weights.any():
        raise ValueError("All weights in sample_weight are zero: at least one sample of each class must count.")
    return aligned(np.ascontiguousarray(weights))


def fold_names(folds: np.ndarray, name: str) -> list[str]:
    """Returns the names of the folds of all rows, and refuses missing names and what is neither a text nor a whole number of at least 0."""
    if folds.ndim == 1:
        refuse_gaps(folds, name)
    if folds.ndim != 1 or folds.dtype.kind not in "OU":
        return [str(fold) for fold in whole_folds(folds, name)]
    names = []
    for row, fold in enumerate(folds.tolist()):
        is_number = isinstance(fold, Real) and fold >= 0 and fold % 1 == 0
        if not (is_number or isinstance(fold, str) and fold.strip()):
            raise ValueError(f"{name} has {fold!r} in row {row}, but must have whole numbers of at least 0 or texts.")
        names.append(str(int(fold)) if is_number else fold)
    return names


def whole_folds(folds: np.ndarray, name: str) -> list[int]:
    """Returns the numbers of folds, and refuses what is no whole number of at least 0."""
    if folds.ndim != 1 or folds.dtype.kind not in "biuf":
        raise ValueError(f"{name} has the shape {folds.shape} and the dtype {folds.dtype}, but must have the name or number of a fold for every row.")
    strange = np.flatnonzero(~(np.isfinite(folds) & (folds >= 0) & (folds == np.floor(folds))))
    if len(strange):
        raise ValueError(f"{name} has {folds[strange[0]].item()!r} in row {strange[0]}, but must have whole numbers of at least 0 or texts.")
    return [int(fold) for fold in folds.tolist()]


def seed_of(random_state: Any) -> int:
    """Returns a seed: 1 for None, so that fits are reproducible by default."""
    if random_state is None:
        return 1
    if isinstance(random_state, (int, np.integer)):
        return int(random_state)
    return int(check_random_state(random_state).randint(np.iinfo(np.int32).max))


def numbers_of(values: Any, name: str) -> list[float] | None:
    """Returns the numbers of an array as a list. One number alone might be a value or a count, and is refused."""
    if values is None:
        return None
    if np.ndim(values) == 0:
        raise ValueError(f"{name} is {values!r}, but must be an array of numbers, such as [{values}].")
    numbers = floats_of(values, name).ravel().tolist()
    if not numbers:
        raise ValueError(f"{name} is {values!r}, but must have at least one number.")
    return numbers


def count_of(value: Any, name: str, least: int = 1, most: int = _MOST) -> int:
    """Returns a number of things, and refuses fewer or more than there can be."""
    if not isinstance(value, (int, np.integer)) or not least <= value <= most:
        raise ValueError(f"{name} is {value!r}, but must be a whole number from {least} to {most}.")
    return int(value)


def Cs_given(Cs: Any) -> list[float] | None:
    """Returns the values of C of a setting, which may be their number, as in LogisticRegressionCV of scikit-learn."""
    if isinstance(Cs, (int, np.integer)) and not isinstance(Cs, bool):
        if not 1 <= Cs <= _MOST_CS:
            raise ValueError(f"Cs is {Cs}, but must be at least one value of C, or a number of them from 1 to {_MOST_CS}.")
        return np.logspace(-4, 4, Cs).tolist()
    return numbers_of(Cs, "Cs")


def Cs_of(lambdas: Any, rows: int, given: Any) -> np.ndarray:
    """Returns the value of C for every lambda, as it was given where rounding alone has changed it."""
    Cs = 1 / (2 * rows * np.asarray(lambdas, dtype=np.float64))
    known = np.asarray(Cs_given(_DEFAULT_COUNT if given is None else given))
    nearest = known[np.abs(known - Cs[..., None]).argmin(axis=-1)]
    return np.where(np.isclose(nearest, Cs, rtol=1e-14, atol=0), nearest, Cs)
