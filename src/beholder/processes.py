"""Work beside this process: a copy of it takes a part, where that is possible and worth it.

A copy begins with all that is in memory, so that nothing has to be sent to it; what it finds comes back by a pipe.
Where there can be none (Windows, macOS, a single core, other threads) the same work is done here, to the same end.
"""

from __future__ import annotations

import multiprocessing
import os
import signal
import sys
import threading
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from multiprocessing.connection import Connection


def spare_cores() -> int:
    """Return how many copies of this process could work beside it; none where it cannot be copied safely."""
    # Libraries of macOS do not survive it, and a lock that another thread holds would never come free in a copy.
    if not sys.platform.startswith("linux") or threading.active_count() > 1 or _is_copy():
        return 0
    return len(os.sched_getaffinity(0)) - 1


def _is_copy() -> bool:
    return multiprocessing.parent_process() is not None


@contextmanager
def beside(work: Callable[[Connection], None]) -> Iterator[Connection]:
    """Yield one end of a pipe while a copy of this process works with the other one; after that it is gone.

    Where the copy fails, or is killed, this end says so by EOFError: who waits for it does its work.
    """
    context = multiprocessing.get_context("fork")
    here, there = context.Pipe()
    copy = context.Process(target=_work, args=(work, here, there), daemon=True)
    with warnings.catch_warnings():
        # Threads of numerical libraries are idle now, and begin anew in a copy.
        warnings.simplefilter("ignore", DeprecationWarning)
        copy.start()
    there.close()
    try:
        yield here
    finally:
        here.close()
        copy.join(_PATIENCE_S)
        if copy.is_alive():
            copy.kill()
            copy.join()


_PATIENCE_S = 1.0
"""One that has done its work ends at once; one whose work is not wanted any more is not waited for."""


def _work(work: Callable[[Connection], None], here: Connection, there: Connection) -> None:
    here.close()
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the one that waits, which ends this one
    with there:
        try:
            work(there)
        except Exception:
            return  # told by the end of the pipe; the same work will fail there, where somebody reads why


class Turns:
    """Numbers from 0 that processes take one after the other, each once."""

    def __init__(self, count: int) -> None:
        self._read, write = os.pipe()
        os.write(write, bytes(range(count)))
        os.close(write)

    def __iter__(self) -> Iterator[int]:
        while number := os.read(self._read, 1):
            yield number[0]

    def close(self) -> None:
        """Give no more numbers to this process."""
        os.close(self._read)
