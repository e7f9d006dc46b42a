"""The partitions of collections of Dask: a delayed block each, cut where those of another collection are cut."""

from __future__ import annotations

from typing import Any

import dask
import numpy as np
from dask.delayed import Delayed

from ._values import array_of


def has_known_rows(part: Any) -> bool:
    """Returns whether the rows of partitions are known, as those of a dask array are unless it comes from a frame."""
    return not isinstance(part, Delayed) and hasattr(part, "chunks") and not np.isnan(part.chunks[0]).any()


def rows_of(block: Any) -> int:
    """Returns the number of rows of a block."""
    return block.shape[0] if hasattr(block, "shape") else len(block)


def cut(parts: list[Any], rows: list[int], like: list[int]) -> list[Delayed]:
    """Returns partitions of a column with the numbers of rows `like`, from partitions with the numbers of rows `rows`."""
    stops, wanted = np.cumsum(rows), np.cumsum(like)
    made = []
    for start, stop in zip(wanted - like, wanted):
        some = [k for k in range(len(parts)) if stops[k] > start and stops[k] - rows[k] < stop] or [0]
        before = stops[some[0]] - rows[some[0]]
        made.append(dask.delayed(_joined, pure=False)([parts[k] for k in some], int(start - before), int(stop - before)))
    return made


def _joined(blocks: list[Any], start: int, stop: int) -> np.ndarray:
    """Returns some rows of blocks of a column that follow each other."""
    arrays = [array_of(block).ravel() for block in blocks]
    if len({array.dtype.kind in "US" for array in arrays}) > 1:
        # Among texts numpy would make texts of numbers.
        arrays = [array.astype(object) for array in arrays]
    return np.concatenate(arrays)[start:stop]


def delayed_parts(name: str, part: Any) -> list[Any]:
    """Returns the partitions of a collection by rows."""
    if isinstance(part, Delayed):
        return [part]
    if isinstance(part, (list, tuple)):
        return list(part)
    if not hasattr(part, "to_delayed"):
        raise TypeError(f"{name} is a {type(part).__name__}, but must be a dask array or frame, or a list of delayed blocks.")
    if getattr(part, "ndim", 1) == 2 and hasattr(part, "numblocks") and part.numblocks[1] > 1:
        part = part.rechunk({1: -1})
    return list(part.to_delayed().ravel()) if hasattr(part, "chunks") else list(part.to_delayed())


def predictions_of(part: Any, local: Any, method: str, of_none: np.ndarray) -> Any:
    """Returns the predictions for a partition: an array for an array, a frame or series for a frame, without rows for an empty one."""
    result = getattr(local, method)(part) if rows_of(part) else of_none
    if not hasattr(part, "iloc"):
        return result
    import pandas as pd

    return pd.Series(result, part.index) if result.ndim == 1 else pd.DataFrame(result, part.index, local.classes_)
