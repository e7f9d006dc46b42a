"""The functions that see a fit on its way."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any


@contextmanager
def watchers(callback: Callable[[dict[str, Any]], Any] | None, progress: bool) -> Iterator[dict[str, Any]]:
    """Yields the callback and, if asked for, a bar of the fits made, for the native module."""
    if callback is not None and not callable(callback):
        raise TypeError(f"callback is {callback!r}, but must be a function or None.")
    if not progress:
        yield {"callback": callback, "progress": None}
        return
    try:
        from tqdm.auto import tqdm
    except ImportError as error:
        raise ImportError("progress=True needs the package tqdm: pip install tqdm") from error

    with tqdm(unit="fit") as bar:

        def move(done: int, total: int) -> None:
            bar.total = total
            bar.update(done - bar.n)

        yield {"callback": callback, "progress": move}
