"""The demonstration of a whole study on the fake platform."""

from __future__ import annotations

import asyncio
import shutil
from datetime import UTC, datetime
from pathlib import Path

import pytest

from beholder.errors import RecruitError
from beholder.methods import load_study
from beholder.recruiting.collection import RunProgress
from beholder.recruiting.fake.demo import run_on_play_money
from beholder.store.contract import LedgerEntry
from beholder.store.open import open_store
from beholder.testing import write_study
from beholder.testing.stores.facts import study_record
from beholder.workflow.demo import demo
from support.demo_command import run_demo


@pytest.fixture(scope="module")
def on_prolific(tmp_path_factory: pytest.TempPathFactory, tiny: Path) -> Path:
    """A small study that the demonstration goes on with, and that is over in a moment."""
    folder = tmp_path_factory.mktemp("prolific") / "shown"
    write_study(
        folder,
        tiny,
        recruit={"mode": "prolific", "reward": "2.00 GBP", "screen_out": "0.30 GBP", "minutes": 10},
        budget="60 GBP",
        playback={"watch": "none"},
        design={"participants": 8, "trials": 2, "seed": 3},
        before=[{"id": "eyes", "text": "Do you see well?", "type": "single", "options": ["yes", "no"],
                 "correct": ["yes"]}],
        clean={"bonus": {"quantity": {"sessions": 1, "each": "0.10 GBP"}}},
        contact="lab@example.org",
    )  # fmt: skip
    return folder


def test_a_study_goes_its_whole_way_on_a_prolific_of_play_money_and_ledger_and_wallet_agree(on_prolific: Path) -> None:
    result = run_demo(on_prolific)
    assert result.exit_code == 0, result.output
    for words in (
        "launch   Published for up to ",
        "people   Person 2 finished, and handed in without a code.\n",
        "people   Person 4 left half way, and returned the place.\n",
        "people   Person 10 did not fit, and was paid for coming.\n",
        "close    Closed. ",
        "\nNothing waits for a person.\n",
        " people who came to 8 places:\n",
        "approved                8    16.00 GBP\n"
        "did not fit             1     0.30 GBP\n"
        "bonuses                 8     0.80 GBP\n"
        "fees and tax                  6.76 GBP\n"
        "in all                       23.86 GBP\n",
        "Wallet: 1000.00 GBP before, 976.14 GBP after.\n",
        "Ledger and wallet agree: every payment is in both, once.\n",
    ):
        assert words in result.output, result.output
    again = run_demo(on_prolific)
    assert again.exit_code == 0, again.output
    assert "close    This study is closed already; close/summary.md says what was paid.\n" in again.output
    assert "Report: " in again.output
    assert "Wallet" not in again.output


def test_a_demonstration_that_was_interrupted_cannot_go_on(on_prolific: Path, tmp_path: Path) -> None:
    folder = shutil.copytree(on_prolific, tmp_path / "cut", ignore=shutil.ignore_patterns("store"))

    async def interrupt() -> None:
        async with open_store(folder / "store") as store:
            await store.begin(study_record())
            await store.ledger.append([LedgerEntry("draft", "planned", datetime.now(UTC))])

    asyncio.run(interrupt())
    with pytest.raises(RecruitError) as caught:
        demo(folder=folder, prolific=True)
    assert str(caught.value) == (
        f"{folder}  holds a run on play money that was interrupted, and its money is gone. "
        "Choose another folder with --folder, or delete it."
    )


async def test_a_run_that_nobody_fits_says_what_it_waits_for(tmp_path: Path, tiny: Path) -> None:
    recruit = {"mode": "prolific", "reward": "2.00 GBP", "minutes": 10, "filters": {"age": [90, 100]}}
    keys = {"recruit": recruit, "budget": "60 GBP", "playback": {"watch": "none"}}
    study = load_study(
        write_study(tmp_path / "study", tiny, design={"participants": 2, "trials": 1, "seed": 3}, **keys)
    )
    told: asyncio.Queue[str] = asyncio.Queue()

    def news(one: RunProgress) -> None:
        if one.stage == "people":
            told.put_nowait(one.words)

    running = asyncio.create_task(run_on_play_money(study, news=news))
    first = asyncio.create_task(told.get())
    await asyncio.wait([running, first], return_when=asyncio.FIRST_COMPLETED)
    running.cancel()
    await asyncio.gather(running, return_exceptions=True)
    assert await first == (
        "Nobody of the simulated people fits recruit.filters, so nobody comes. The run waits for them: change the "
        "filters and begin anew."
    )
