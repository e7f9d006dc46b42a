"""The partitions of collections of Dask: a delayed block each, cut where those of another collection are cut."""

from __future__ import annotations

from typing import Any

import dask
import numpy as np
from dask.delayed import Delayed


def has_unknown_rows(part: Any) -> bool:
    """Returns whether the rows of a dask array are unknown, as they are when it comes from a frame."""
    return hasattr(part, "chunks") and bool(np.isnan(part.chunks[0]).any())


def cut(parts: list[Any], rows: list[int], like: list[int]) -> list[Delayed]:
    """Returns partitions with the numbers of rows `like`, from partitions with the numbers of rows `rows`."""
    stops, wanted = np.cumsum(rows), np.cumsum(like)
    made = []
    for start, stop in zip(wanted - like, wanted):
        some = [k for k in range(len(parts)) if stops[k] > start and stops[k] - rows[k] < stop] or [0]
        before = stops[some[0]] - rows[some[0]]
        made.append(dask.delayed(_joined, pure=False)([parts[k] for k in some], int(start - before), int(stop - before)))
    return made


def _joined(blocks: list[np.ndarray], start: int, stop: int) -> np.ndarray:
    """Returns some rows of blocks that follow each other."""
    return np.concatenate(blocks)[start:stop]


def delayed_parts(name: str, part: Any) -> list[Any] | None:
    """Returns the partitions of a collection by rows."""
    if part is None:
        return None
    if isinstance(part, (list, tuple)):
        return list(part)
    if hasattr(part, "to_delayed"):
        if getattr(part, "ndim", 1) == 2 and hasattr(part, "numblocks") and part.numblocks[1] > 1:
            part = part.rechunk({1: -1})
        return list(part.to_delayed().ravel()) if hasattr(part, "chunks") else list(part.to_delayed())
    raise TypeError(f"{name} is a {type(part).__name__}, but must be a dask array or frame, or a list of delayed blocks.")


def predictions_of(part: Any, local: Any, method: str, of_none: np.ndarray) -> Any:
    """Returns the predictions for a partition: an array for an array, a frame or series for a frame, without rows for an empty one."""
    result = getattr(local, method)(part) if part.shape[0] else of_none
    if not hasattr(part, "index"):
        return result
    import pandas as pd

    return pd.Series(result, part.index) if result.ndim == 1 else pd.DataFrame(result, part.index, local.classes_)
