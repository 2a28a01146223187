"""`run`: a whole study."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

import beholder
from beholder.server import ServerStatus
from beholder.testing import write_study
from support.link_visitors import take_as_a_person


def test_run_with_robots_takes_a_study_from_its_file_to_a_report_and_stops_at_the_look_at_which_all_is_said(
    tmp_path: Path, tiny: Path
) -> None:
    design = {"looks": [8, 12], "stop": {"decided": "none", "precision": 200}, "trials": 3}
    study, messages = write_study(tmp_path / "study", tiny, design=design), list[str]()
    results = beholder.run(
        study, simulate=True, source="ideal", news=lambda one: messages.append(f"{one.stage}: {one.words}")
    )
    best_first = list(results.conditions.sort_values("mean", ascending=False)["condition"])
    assert best_first == ["natural", "smooth", "jerky", "frozen"]
    assert len(results.ratings) == 8 * 3 * 4
    assert set(results.ratings["mode"]) == {"robot"}
    assert len(results.pairs) == 6
    assert results.report is not None
    assert "robots" in results.report.read_text("utf-8").lower()
    for file in ("plan/plan.json", "plan/balance.csv", "clean/ratings.csv", "analyse/scores.csv", "report/ratings.csv"):
        assert (study.parent / file).is_file()
    look = results.notes["look"]
    assert (look["number"], look["looks"], look["reason"]) == (1, 2, "precise")
    planted = "natural is best (0.90 of 1) down to frozen (0.12); people and contents differ as in an ideal crowd."
    assert messages == [f"rehearsal: Planted by the simulation: {planted}", f"look: {look['words']}"]
    assert "to either side, and 200 is asked for" in messages[1]


@pytest.mark.variant
def test_a_rehearsal_stops_at_the_look_after_which_people_would_cost_too_much(tmp_path: Path, tiny: Path) -> None:
    design = {"looks": [2, 4], "stop": {"decided": "none", "budget": "3 GBP"}, "trials": 1}
    study = write_study(tmp_path / "study", tiny, design=design, recruit={"reward": "1 GBP"})
    messages = list[str]()
    results = beholder.run(study, simulate=True, news=lambda one: messages.append(one.words))
    assert messages[-1] == "It stops, as 4 people may cost 4.00 GBP, above design.stop.budget 3 GBP."
    assert results.ratings["participant"].nunique() == 2


async def test_run_serves_until_enough_people_have_finished(tmp_path: Path, tiny: Path) -> None:
    study = write_study(tmp_path / "study", tiny, design={"participants": 2, "trials": 1, "per_trial": 2})
    links: asyncio.Queue[str] = asyncio.Queue()
    loop = asyncio.get_running_loop()
    statuses: list[ServerStatus] = []

    def tell(live: ServerStatus) -> None:
        statuses.append(live)
        if len(statuses) == 1:
            loop.call_soon_threadsafe(links.put_nowait, live.link)

    running_study = asyncio.create_task(asyncio.to_thread(beholder.run, study, participants=2, port=0, tell=tell))
    link = await links.get()
    await asyncio.gather(*(take_as_a_person(link, name) for name in ("ada", "bob")))
    results = await running_study
    assert set(results.ratings["mode"]) == {"link"}
    assert len(results.ratings) == 4
    assert statuses[-1].counts["completed"] == 2


@pytest.mark.variant
async def test_once_a_person_has_come_robots_are_reported_apart_and_overwrite_nothing(
    tmp_path: Path, tiny: Path
) -> None:
    study = write_study(tmp_path / "study", tiny, design={"participants": 2, "trials": 1, "per_trial": 2})
    links: asyncio.Queue[str] = asyncio.Queue()
    loop = asyncio.get_running_loop()

    def tell(live: ServerStatus) -> None:
        loop.call_soon_threadsafe(links.put_nowait, live.link)

    running_study = asyncio.create_task(
        asyncio.to_thread(beholder.run, study, participants=1, port=0, draw=False, tell=tell)
    )
    await take_as_a_person(await links.get(), "ada")
    await running_study
    kept = {path: path.read_bytes() for name in ("clean", "analyse") for path in (study.parent / name).iterdir()}
    rehearsed = await asyncio.to_thread(beholder.run, study, simulate=True, participants=1)
    assert set(rehearsed.ratings["mode"]) == {"robot"}
    assert rehearsed.report == study.parent / "rehearsal" / "report" / "index.html"
    assert all(path.read_bytes() == content for path, content in kept.items())
    again = await asyncio.to_thread(beholder.analyse, study, robots=True)
    assert set(again.ratings["mode"]) == {"robot"}
    assert beholder.report(study, robots=True) == rehearsed.report
    assert set(beholder.analyse(study).ratings["mode"]) == {"link"}
