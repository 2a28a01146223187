"""Crashes at every point of `pay`, with faults and restarts.

Everybody is paid exactly once, or `pay` stops and names the unknown payments.
"""

from __future__ import annotations

import asyncio
import itertools
import shutil
from collections.abc import Iterator

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from support.crashing_payments import PaymentHistory, Template, prepare
from support.payable_study import PAY, in_memory

PEOPLE = 2
FAULTS = ("", "cut_before", "cut_after", "408_after", "429", "504_after")
EVERY = (
    "408_after", "429", "429_wait", "500", "502", "504", "504_after", "html_after", "cut_before", "cut_after",
    "slow_after",
)  # fmt: skip


@pytest.fixture(scope="module")
def template(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Template]:
    for folder in in_memory(tmp_path_factory.mktemp("proof")):
        yield asyncio.run(prepare(folder / "template", PEOPLE))


_NUMBERS = itertools.count()


def new_history(template: Template) -> PaymentHistory:
    return PaymentHistory(template, template.folder.parent.parent / f"history-{next(_NUMBERS)}")


@pytest.mark.long
async def test_whatever_is_the_last_thing_that_happens_everybody_is_paid_once(template: Template, whole: bool) -> None:
    _, ticks = await new_history(template).pay(send=True)
    assert ticks > 20, "appends and requests, before and after each"
    for place, fault in enumerate(FAULTS):
        every = 1 if whole else 2 * len(FAULTS) if fault else 2
        for crash in (*range(1 + place % every, ticks + 1, every), None):
            one = new_history(template)
            if fault:
                one.fake.faults.next(PAY, fault)  # type: ignore[arg-type]
            await one.pay(crash, send=True)
            await one.check()
            await one.finish()
            shutil.rmtree(one.folder)


@pytest.mark.variant
@pytest.mark.long
def test_processes_that_die_again_and_again_on_a_bad_line(template: Template, whole: bool) -> None:
    @settings(
        max_examples=600 if whole else 12, deadline=None, suppress_health_check=list(HealthCheck), derandomize=True
    )
    @given(
        st.lists(st.tuples(st.integers(1, 45), st.sampled_from([0, 1, 30, 60 * 25])), max_size=6),
        st.lists(st.sampled_from(EVERY), max_size=4),
        st.integers(0, 10**6),
    )
    def proof(crashes: list[tuple[int, int]], faults: list[str], seed: int) -> None:
        async def history() -> None:
            one = new_history(template)
            one.fake.faults.next(PAY, *faults)  # type: ignore[arg-type]
            one.fake.faults.every("*", *EVERY, share=0.1, seed=seed)  # type: ignore[arg-type]
            for crash, minutes in crashes:
                await one.pay(crash, send=True)
                await one.check()
                one.fake.advance(minutes=minutes)
            await one.finish()
            shutil.rmtree(one.folder)

        asyncio.run(history())

    proof()
