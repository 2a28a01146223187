"""Running coroutines from blocking code."""

from __future__ import annotations

import asyncio
import threading

import pytest

from beholder.aio import block_on


async def name_of_thread() -> str:
    await asyncio.sleep(0)
    return threading.current_thread().name


def test_without_a_loop_a_coroutine_runs_in_this_thread() -> None:
    assert block_on(name_of_thread()) == threading.current_thread().name


async def test_where_a_loop_is_running_it_runs_in_another_thread() -> None:
    assert block_on(name_of_thread()) == "beholder"


async def test_an_error_of_the_coroutine_is_raised_to_the_caller() -> None:
    async def fail() -> None:
        raise ValueError("broken")

    with pytest.raises(ValueError, match="broken"):
        block_on(fail())
