"""A run without a platform: links are launched and served, and payments are left to a person."""

from __future__ import annotations

import asyncio
from functools import partial
from pathlib import Path
from typing import Any

import httpx
import pytest

import beholder
from beholder.errors import RecruitError
from beholder.methods import load_study
from beholder.recruiting.collection import LookOutcome, RunProgress
from beholder.recruiting.unattended_run import run_by_hand
from beholder.server import ServerStatus
from beholder.store.open import open_store
from beholder.testing import write_study
from support.link_visitors import arrived, take_as_a_person

TEXTS = {"consent": "We keep what you answer for two years. Do you agree?"}
WAITS = ("Decide and pay: `beholder decide`, then `beholder pay`, then `beholder close`.",)


async def ran(folder: Path, tiny: Path, **keys: Any) -> tuple[tuple[str, ...], list[str], str]:
    """Return what a run leaves to a person, its messages, and where participants begin."""
    messages: list[str] = []
    lives: list[ServerStatus] = []
    study = load_study(write_study(folder, tiny, **{"texts": TEXTS} | keys))
    waiting = await run_by_hand(study, 0, port=0, news=lambda one: messages.append(one.words), tell=lives.append)
    return waiting, messages, lives[0].link.partition("/s/")[2]


async def test_invited_people_get_their_links_and_whoever_runs_it_hears_of_the_money(
    tmp_path: Path, tiny: Path
) -> None:
    tmp_path.joinpath("people.csv").write_text("id\nada\nbob\n", "utf-8")
    recruit = {"mode": "panel", "people": "people.csv", "reward": "2.00 GBP", "minutes": 10, "places": 2}
    waiting, messages, _ = await ran(tmp_path, tiny, recruit=recruit)
    assert waiting == WAITS
    assert messages[-6:] == [
        "  2 × 2.00 GBP     4.00 GBP",
        "  in all, at most  4.00 GBP",
        "  An hour pays 12.00 GBP at about 10 minutes.",
        "Wrote launch/job.md: what to paste or send.",
        "Wrote launch/links.csv: a link for each person; it says who was invited, so keep it to yourself.",
        "Everybody begins by their own link, in launch/links.csv.",
    ]
    assert "/s/tiny?invited=" in (tmp_path / "launch" / "links.csv").read_text("utf-8-sig")


async def test_a_panel_is_told_the_address_with_its_ids_and_needs_a_contact(tmp_path: Path, tiny: Path) -> None:
    recruit = {"mode": "panel", "id_parameter": "participantId"}
    waiting, messages, link = await ran(tmp_path / "free", tiny, recruit=recruit)
    start, _, ids = link.partition("&")
    assert (waiting, ids) == ((), "participantId={{id}}")
    assert start.startswith("tiny?key=")
    assert messages[-1].endswith("&participantId={{id}}")
    with pytest.raises(RecruitError) as error:
        await ran(tmp_path / "alone", tiny, recruit=recruit, contact=None)
    assert str(error.value).partition("  ")[2] == (
        "contact is not written. Allowed: an e-mail or web address. People need somebody whom they can ask."
    )


async def test_an_open_link_needs_no_launch(tmp_path: Path, tiny: Path) -> None:
    waiting, messages, link = await ran(tmp_path, tiny, recruit={"mode": "link", "reward": "2.00 GBP"})
    assert (waiting, messages, link) == (WAITS, [], "tiny")
    assert not (tmp_path / "launch").exists()
    await asyncio.to_thread(beholder.close, tmp_path)
    lives: list[ServerStatus] = []
    await run_by_hand(load_study(tmp_path), 0, port=0, news=print, tell=lives.append)
    when, _, rest = lives[0].shut.partition(": ")
    assert (when[:10], rest) == ("Closed on ", "nobody can begin. `beholder launch --resume` opens it.")


@pytest.mark.variant
async def test_people_with_a_link_go_on_until_a_look_says_stop(tmp_path: Path, tiny: Path) -> None:
    design = {"looks": [2, 3], "trials": 1, "per_trial": 2}
    keys = {"recruit": {"mode": "link", "reward": "2.00 GBP"}, "playback": {"watch": "none"}, "texts": TEXTS}
    study = load_study(write_study(tmp_path, tiny, design=design, **keys))
    link: asyncio.Future[str] = asyncio.get_running_loop().create_future()
    messages: list[str] = []

    def tell(live: ServerStatus) -> None:
        if not link.done():
            link.set_result(live.link)

    running = asyncio.create_task(
        run_by_hand(
            study, None, port=0, news=lambda one: messages.append(one.words), tell=tell,
            take_look=lambda: LookOutcome(True, "A look."),
        )
    )  # fmt: skip
    for name in ("ada", "bob"):
        await take_as_a_person(await link, name)
    assert await running == WAITS
    assert messages == ["A look."]
    async with open_store(tmp_path / "store", write=False) as store:
        entries = [entry.kind for entry in await store.ledger.entries()]
    assert entries == ["stop"], "nobody else can begin"


@pytest.mark.variant
async def test_who_is_in_the_middle_when_enough_have_finished_finishes_too(tmp_path: Path, tiny: Path) -> None:
    design, keys = {"participants": 3, "trials": 1, "per_trial": 2}, {"playback": {"watch": "none"}, "texts": TEXTS}
    study = load_study(write_study(tmp_path, tiny, design=design, **keys))
    link: asyncio.Future[str] = asyncio.get_running_loop().create_future()
    messages: asyncio.Queue[RunProgress] = asyncio.Queue()

    def tell(live: ServerStatus) -> None:
        if not link.done():
            link.set_result(live.link)

    running = asyncio.create_task(run_by_hand(study, 1, port=0, news=messages.put_nowait, tell=tell))
    async with arrived(await link, "bob") as bob:
        await bob.answer({"agree": True})
        await take_as_a_person(await link, "ada")
        inside = await messages.get()
        assert (inside.stage, "1 person is inside and can finish" in inside.words) == ("close", True)
        with pytest.raises(httpx.HTTPStatusError, match="403"):
            await take_as_a_person(await link, "cy")
        await bob.finish()
    await running
    async with open_store(tmp_path / "store", write=False) as store:
        assert [row["outcome"] async for row in store.rows("ends")] == ["completed", "completed"]


async def test_of_two_runs_one_takes_the_study_to_its_end_and_the_other_goes_on_where_it_stops(
    tmp_path: Path, tiny: Path, postgresql_url: str
) -> None:
    study = load_study(write_study(tmp_path / "study", tiny, texts=TEXTS))
    messages: dict[str, list[str]] = {"first": [], "second": []}
    heard = asyncio.Event()

    def tell(name: str, progress: RunProgress) -> None:
        messages[name].append(progress.words)
        heard.set()

    def run(name: str, lists: int) -> asyncio.Task[tuple[str, ...]]:
        news = partial(tell, name)
        return asyncio.create_task(run_by_hand(study, lists, port=0, store=postgresql_url, news=news))

    first = run("first", 3)
    async with open_store(postgresql_url) as store:
        while await store.lead("running"):  # until it has begun
            await store.resign()
            await asyncio.sleep(0.02)
    second = run("second", 0)
    while not messages["second"]:
        heard.clear()
        await heard.wait()
    waits = "Another run takes this study to its end. This one serves, and goes on if it stops."
    assert (messages["second"], second.done()) == ([waits], False)
    first.cancel()
    assert await second == ()
    assert messages["second"][1] == "The other run has stopped: this one goes on."
    with pytest.raises(asyncio.CancelledError):
        await first
