"""Merging what waits: while one batch is under way, the next one gathers."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from typing import Generic, TypeVar

Q = TypeVar("Q")
R = TypeVar("R")
_LARGEST = 256


class Batcher(Generic[Q, R]):
    """Turns single requests into batches, a few of them at a time.

    `run` answers every request of a batch with a result or an exception of its own; raising fails the whole batch.
    """

    def __init__(self, run: Callable[[Sequence[Q]], Awaitable[Sequence[R | Exception]]], *, at_once: int = 1) -> None:
        self._run, self._at_once = run, at_once
        self._waiting: list[tuple[Q, asyncio.Future[R]]] = []
        self._tasks: set[asyncio.Task[None]] = set()

    async def ask(self, request: Q) -> R:
        """Return the answer to one request."""
        future: asyncio.Future[R] = asyncio.get_running_loop().create_future()
        self._waiting.append((request, future))
        if len(self._tasks) < self._at_once:
            # A task of its own: whoever asks may go away while others wait for the same batch.
            self._tasks.add(asyncio.create_task(self._work()))
        return await future

    async def close(self) -> None:
        """Finish what waits."""
        await asyncio.gather(*self._tasks)

    async def _work(self) -> None:
        while self._waiting:
            batch, self._waiting = self._waiting[:_LARGEST], self._waiting[_LARGEST:]
            try:
                answers: Sequence[R | Exception] = await self._run([request for request, _ in batch])
            except Exception as error:
                answers = [error] * len(batch)
            for (_, future), answer in zip(batch, answers, strict=True):
                if future.done():
                    continue
                if isinstance(answer, Exception):
                    future.set_exception(answer)
                else:
                    future.set_result(answer)
        # Here and not in a callback: a callback comes a turn later, and who asks in between would wait for nobody.
        task = asyncio.current_task()
        assert task is not None
        self._tasks.discard(task)
