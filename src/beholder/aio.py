"""Running coroutines from blocking code, also where a loop is running already (a notebook), and stopping them."""

from __future__ import annotations

import asyncio
import contextlib
import signal
import threading
from collections.abc import Coroutine, Iterator
from typing import Any, TypeVar

T = TypeVar("T")


def block_on(coroutine: Coroutine[Any, Any, T]) -> T:
    """Return the result of a coroutine, run in this thread, or in another thread where a loop is running here."""
    return _in_thread(coroutine) if _has_loop() else asyncio.run(coroutine)


def _has_loop() -> bool:
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return False
    return True


def _in_thread(coroutine: Coroutine[Any, Any, T]) -> T:
    loop = asyncio.new_event_loop()
    task = loop.create_task(coroutine)
    thread = threading.Thread(target=_run, args=(loop, task), name="beholder", daemon=True)
    thread.start()
    try:
        while thread.is_alive():
            thread.join(0.2)  # a join without a timeout would block Ctrl-C
    except KeyboardInterrupt:
        loop.call_soon_threadsafe(task.cancel)
        thread.join()
        raise
    finally:
        if not thread.is_alive():
            loop.close()
    return task.result()


def _run(loop: asyncio.AbstractEventLoop, task: asyncio.Task[Any]) -> None:
    asyncio.set_event_loop(loop)
    loop.run_until_complete(asyncio.wait([task]))
    loop.run_until_complete(loop.shutdown_asyncgens())


@contextlib.contextmanager
def stopped_by_signal(stop: asyncio.Event, number: signal.Signals = signal.SIGTERM) -> Iterator[None]:
    """Set `stop` on the first such signal, in the main thread; the next one does what it did before.

    By SIGTERM a service manager stops the server cleanly.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    loop = asyncio.get_running_loop()
    before = signal.getsignal(number)

    def stop_once(*_: object) -> None:
        signal.signal(number, before)
        loop.call_soon_threadsafe(stop.set)

    signal.signal(number, stop_once)
    try:
        yield
    finally:
        signal.signal(number, before)
