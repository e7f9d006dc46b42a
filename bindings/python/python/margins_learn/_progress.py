"""The functions that are called during a fit: the user's, a bar, printed lines and the callbacks of scikit-learn."""

from __future__ import annotations

import functools
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, TypeVar

try:
    from sklearn.callback import CallbackSupportMixin as SupportsCallbacks
    from sklearn.callback import with_callbacks
except ImportError:

    class SupportsCallbacks:  # type: ignore[no-redef]
        """Nothing: scikit-learn has callbacks from version 1.9 on."""

    def with_callbacks(method: Any) -> Any:
        """Returns the method as it is."""
        return method


Method = TypeVar("Method", bound=Callable[..., Any])
Watcher = Callable[[dict[str, Any]], Any]


def announced(fit: Method) -> Method:
    """Lets the callbacks of scikit-learn see the beginning, every iteration and the end of a fit."""

    @functools.wraps(fit)
    def announcing(self: Any, X: Any, y: Any = None, *rest: Any, **named: Any) -> Any:
        if not getattr(self, "_skl_callbacks", None):
            return fit(self, X, y, *rest, **named)
        metadata = {"sample_weight": rest[0] if rest else named.get("sample_weight")}
        context = self._init_callback_context(max_subtasks=None)
        context.call_on_fit_task_begin(estimator=self, X=X, y=y, metadata=metadata)
        fitted = fit(self, X, y, *rest, **named)
        context.call_on_fit_task_end(estimator=self, X=X, y=y, metadata=metadata, reconstruction_attributes=dict)
        return fitted

    return with_callbacks(announcing)


@contextmanager
def watchers(estimator: Any) -> Iterator[dict[str, Any]]:
    """Yields the functions that see the fit of an estimator, for the native module."""
    if estimator.callback is not None and not callable(estimator.callback):
        raise TypeError(f"callback is {estimator.callback!r}, but must be a function or None.")
    seeing = [estimator.callback, _printer(estimator) if estimator.verbose else None, _announcer(estimator)]
    callback = _together([watcher for watcher in seeing if watcher is not None])
    if not getattr(estimator, "progress", False):
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


def _together(seeing: list[Watcher]) -> Watcher | None:
    """Returns one function that calls all of them; it returns True if one of them does."""
    if len(seeing) < 2:
        return seeing[0] if seeing else None
    return lambda iteration: any([watcher(iteration) is True for watcher in seeing])


def _printer(estimator: Any) -> Watcher:
    """Returns the function that prints what is known of an iteration."""
    name = type(estimator).__name__

    def show(iteration: dict[str, Any]) -> None:
        facts = ", ".join(f"{fact.replace('_', ' ')} {value:.6g}" for fact, value in iteration.items() if value is not None)
        print(f"[{name}] {facts}")

    return show


def _announcer(estimator: Any) -> Watcher | None:
    """Returns the function by which callbacks of scikit-learn see an iteration; None without callbacks."""
    if not getattr(estimator, "_skl_callbacks", None):
        return None
    context = estimator._callback_fit_ctx
    # Binary problems of several classes may run on several threads.
    lock = threading.Lock()

    def announce(iteration: dict[str, Any]) -> bool:
        with lock:
            task = context.subcontext(task_name="iteration")
            task.call_on_fit_task_begin(estimator=estimator, metadata=iteration)
            return bool(task.call_on_fit_task_end(estimator=estimator, metadata=iteration))

    return announce
