"""Runs the checks of a contract, each against what it opens by names of its own."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Collection, Mapping
from contextlib import AbstractAsyncContextManager
from typing import TypeAlias, TypeVar

T = TypeVar("T")
Opener: TypeAlias = Callable[[str], AbstractAsyncContextManager[T]]


async def run_checks(
    what: str,
    checks: Mapping[str, Callable[[Opener[T]], Awaitable[None]]],
    open_: Opener[T],
    only: Collection[str] | None,
) -> tuple[str, ...]:
    """Run checks of a `what` and return their names; the first that fails raises AssertionError with its sentence."""
    names = tuple(name for name in checks if only is None or name in only)
    for name in names:
        try:
            await checks[name](_opener_for(name, open_))
        except AssertionError as failure:
            raise AssertionError(f"not true of this {what}: {name.replace('_', ' ')}. {failure}") from failure
    return names


def _opener_for(check: str, open_: Opener[T]) -> Opener[T]:
    """Return what opens for one check alone: two checks that use the same name share nothing."""
    return lambda name: open_(f"{check}_{name}")
