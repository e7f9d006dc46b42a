"""Arrays of values as NumPy arrays: missing values, times, complex numbers and columns of other packages."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from decimal import Decimal
from typing import Any

import numpy as np

# The number of rows whose labels or cells are processed between two checks for signals.
BLOCK_ROWS = 1 << 16


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


def is_time(values: np.ndarray) -> bool:
    """Recognises times and durations, which NumPy would convert to whole numbers of their unit."""
    return values.dtype.kind in "mM"


def time_error(values: np.ndarray, name: str) -> TypeError:
    """Returns the error for times."""
    return TypeError(f"{name} has the dtype {values.dtype}, but times are not numbers: subtract a time and divide by a unit.")


def aligned(array: np.ndarray) -> np.ndarray:
    """Returns an array that begins where its type may, as the library needs it; a view of a buffer may not."""
    return array if array.flags.aligned else array.copy()


def array_of(values: Any) -> np.ndarray:
    """Returns values as an array, in which missing values satisfy `is_gap`; a pyarrow table with one column becomes that column."""
    if hasattr(values, "column_names") and len(values.column_names) == 1:
        values = values.column(0)
    if isinstance(values, (list, tuple)) and len(values) > 0 and hasattr(values[0], "as_py"):
        # Scalars of pyarrow are objects to numpy, missing values as well.
        values = [value.as_py() for value in values]
    values = decoded(values)
    array = np.asarray(without_gaps(unmasked(values)))
    if array.dtype.kind in "US" and isinstance(values, (list, tuple)):
        # Among texts numpy makes the text 'nan' of a gap.
        objects = np.array(values, dtype=object)
        array = objects if any(map(is_gap, once(objects.ravel()))) else array
    if array.dtype == np.float64 and isinstance(values, (list, tuple)) and all(isinstance(value, int) for value in values):
        # Of whole numbers up to 2^64 numpy makes float64, which does not hold their digits.
        with suppress(OverflowError):
            return np.array(values, dtype=np.uint64)
    return array


def decoded(column: Any) -> Any:
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


def is_gap(value: Any) -> bool:
    """Returns true if a value stands for a missing one: None, NaN, NaT, NA of pandas or a masked value of numpy."""
    if value is None or value is np.ma.masked or type(value).__name__ in ("NAType", "NaTType"):
        return True
    return isinstance(value, (float, complex, np.generic)) and bool(value != value) or isinstance(value, Decimal) and value.is_nan()


def refuse_gaps(values: np.ndarray, name: str, first: int = 0) -> None:
    """Raises a ValueError if a value of an array that `array_of` returned is missing, with its row, counted from the first."""
    if values.dtype == object and any(map(is_gap, once(values))):
        gaps = np.fromiter(map(is_gap, values), dtype=bool, count=len(values))
    elif values.dtype.kind in "fcmM":
        gaps = values != values
    else:
        return
    if gaps.any():
        raise ValueError(f"{name} has no value in row {first + int(gaps.argmax())}. Leave out such rows.")


def once(labels: np.ndarray) -> np.ndarray:
    """Returns objects once each, where they can be counted; to put them in order compares them one by one."""
    try:
        differing = set(labels.tolist())
    except TypeError:
        return labels
    return np.fromiter(differing, dtype=object, count=len(differing))


def refuse_complex(values: Any, name: str) -> None:
    """Refuses complex numbers, because NumPy, SciPy and pandas drop the imaginary part."""
    if getattr(values.dtype, "kind", "O") == "c":
        raise TypeError(f"{name} has the dtype {values.dtype}, but must consist of real numbers.")


def floats_of(values: Any, name: str) -> np.ndarray:
    """Returns numbers as an array of float64, and refuses complex ones and times."""
    with _naming(name):
        array = array_of(values)
    refuse_complex(array, name)
    if is_time(array):
        raise time_error(array, name)
    with _naming(name):
        return array.astype(np.float64, copy=False)


@contextmanager
def _naming(name: str) -> Iterator[None]:
    """Adds the name of the argument to the error for values that are not numbers."""
    try:
        yield
    except (TypeError, ValueError, OverflowError) as error:
        kind = TypeError if isinstance(error, TypeError) else ValueError
        raise kind(f"{name} does not consist of numbers: {str(error).rstrip('.')}.") from error
