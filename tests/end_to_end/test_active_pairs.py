"""Active pairs over HTTP: batches are dealt while robots answer, on one server and on several, and through kills."""

from __future__ import annotations

import asyncio
import random
import shutil
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pandas as pd
import pytest

import beholder
from beholder.clock import utc_now
from beholder.methods import load_study
from beholder.planning.growth import BatchPlanner
from beholder.planning.model import Addition
from beholder.planning.serialization import later_lists_to_json, lists_from_json
from beholder.server.batch_dealer import VoteReader
from beholder.server.process import load_served, run_server
from beholder.simulation.crowd import send_robots
from beholder.simulation.robot import Robot
from beholder.store.open import open_store
from beholder.testing.stores.facts import NOON, arrive, claim, rows, study_record
from support.active_studies import batches_of, compared_in, conditions_in, write_active_study
from support.server_process import Service, free_port
from support.variants import variant


def test_robots_are_dealt_batch_after_batch_by_what_they_answered(tmp_path: Path) -> None:
    study = write_active_study(tmp_path)
    crowd = beholder.simulate(study)
    assert len(crowd.robots) == 12
    assert all(robot.has_completed for robot in crowd.robots)

    async def stored() -> list[dict[str, object]]:
        async with open_store(str(tmp_path / "store"), write=False) as store:
            return await rows(store, "lists")

    batches = batches_of(asyncio.run(stored()))
    assert sorted(batches) == [(1, ""), *((number, "robot") for number in range(2, 7))]
    assert sum(map(len, batches.values())) == 12, "as many lists as participants, and no more"
    for lists in batches.values():
        assert len(set(compared_in(lists))) == len(compared_in(lists)), "nothing comes twice in a batch"
    assert len(set(conditions_in(batches[1, ""]))) == 8, "a tree over eight conditions is seven pairs, and one more"
    later = batches[6, "robot"][0].batch
    assert later is not None
    assert later.votes > 0
    beholder.clean(study, robots=True)
    ratings = pd.read_csv(tmp_path / "clean" / "ratings.csv")
    assert len(ratings) == 48
    assert ratings["draw_probability"].between(0, 1, inclusive="right").all()
    planned = {trial.draw_probability for lists in batches.values() for one in lists for trial in one.rated}
    assert set(ratings["draw_probability"]) == planned
    missing = (tmp_path / "clean" / "votes.csv").read_text("utf-8").splitlines()
    assert len(missing) == 1, "nothing was promised, so nothing is missing"


@pytest.mark.parametrize(
    ("method", "conditions", "several"),
    [
        variant("ab", "ab", False), variant("ccr", "abcdef", False), variant("rank", "abcdef", True),
        ("best-worst", "abcdef", True),
    ],
)  # fmt: skip
def test_every_method_that_compares_goes_from_active_pairs_to_ratings_and_a_board(
    tmp_path: Path, method: str, conditions: str, several: bool
) -> None:
    design = {"participants": 10, "trials": 4, **({"per_trial": 3} if several else {})}
    study = write_active_study(tmp_path, conditions=conditions, contents=8, method=method, design=design)
    assert all(robot.has_completed for robot in beholder.simulate(study).robots)

    async def stored() -> list[dict[str, object]]:
        async with open_store(str(tmp_path / "store"), write=False) as store:
            return await rows(store, "lists")

    batches = batches_of(asyncio.run(stored()))
    assert max(number for number, _ in batches) > 2, "dealt while robots answered"
    for lists in batches.values():
        assert len(set(compared_in(lists))) == len(compared_in(lists)), "nothing comes twice in a batch"
    made = beholder.board(study, minimum=5)
    ratings = pd.read_csv(tmp_path / "clean" / "ratings.csv")
    assert ratings["draw_probability"].between(0, 1, inclusive="right").all()
    assert made.votes["draw_probability"].between(0, 1, inclusive="right").all(), "every vote with its draw"
    assert sorted(made.conditions["condition"]) == list(conditions)
    assert made.conditions["strength"].notna().all()


async def test_a_batch_follows_from_the_seed_and_the_answers_that_it_names(tmp_path: Path) -> None:
    design = {"participants": 8, "pairs": {"active": {"batch": 4}}}
    study = load_study(write_active_study(tmp_path, design=design))
    async with run_server(study, port=0) as server:
        served = server.service.served
        await send_robots(served, server.store, server.address, 2)  # who take less than half of the first batch
        tally = await VoteReader(served, server.store).tally("robot")
        assert await server.service.context.dealer.deal("robot")
        stored = await rows(server.store, "lists")
    first, *_ = batches_of(stored)[2, "robot"]
    assert first.batch is not None
    assert first.added is not None
    assert (first.batch.votes, first.batch.votes_digest) == (8, tally.digest)
    fresh, plan = load_served(study, "http://localhost")
    planner = BatchPlanner(fresh.study, fresh.catalogue, fresh.method)
    for planned in plan.lists[:4]:
        planner.take_note(planned)
    again = planner.make(tally, first.batch, 4, Addition(*first.added), 4)
    assert list(lists_from_json(later_lists_to_json(again))) == list(
        lists_from_json([row["trials"] for row in stored[4:]])
    )


async def test_several_servers_deal_at_once_and_no_pair_comes_twice_in_a_batch(
    tmp_path: Path, postgresql_url: str
) -> None:
    study = write_active_study(tmp_path / "one", design={"participants": 24, "trials": 4})
    folders = [study.parent, tmp_path / "two"]
    shutil.copytree(folders[0], folders[1])
    async with (
        run_server(load_study(folders[0]), store=postgresql_url, port=0) as first,
        run_server(load_study(folders[1]), store=postgresql_url, port=0) as second,
    ):
        crowds = await asyncio.gather(
            *(
                send_robots(server.service.served, server.store, server.address, 12, seed=seed)
                for seed, server in enumerate((first, second), 1)
            )
        )
        stored, claims = await rows(first.store, "lists"), await rows(first.store, "claims")
    assert all(robot.has_completed for crowd in crowds for robot in crowd.robots)
    assert max(Counter(row["list"] for row in claims).values()) == 1, "a list was given twice"
    batches = batches_of(stored)
    assert sum(map(len, batches.values())) == 24
    assert [number for number, _ in sorted(batches)] == list(range(1, 13)), "each batch was made once"
    for lists in batches.values():
        assert len(set(compared_in(lists))) == len(compared_in(lists)) == 8
    assert [row["list"] for row in stored] == list(range(1, 25))


GROW = """
import asyncio, sys
from beholder.store.open import open_store

async def grow_forever(url):
    async with open_store(url) as store:
        held = len((await store.current()).lists)
        while True:
            if await store.grow("p1", held, [{"list": held + n, "trials": []} for n in range(1, 9)], "people"):
                held += 8
                sys.stdout.write(f"{held}\\n")
                sys.stdout.flush()

asyncio.run(grow_forever(sys.argv[1]))
"""


@pytest.mark.long
@pytest.mark.parametrize("kind", ["sqlite", "postgresql"])
async def test_kill_9_in_the_middle_of_a_batch_leaves_all_of_it_or_nothing(
    kind: str, tmp_path: Path, request: pytest.FixtureRequest, whole: bool
) -> None:
    kills = 60 if whole else 2
    moments = random.Random(kills)
    url = str(tmp_path / "store") if kind == "sqlite" else request.getfixturevalue("postgresql_url")
    async with open_store(url) as store:
        await store.begin(study_record(lists=4))
    acknowledged = 4
    for _ in range(kills):
        with subprocess.Popen([sys.executable, "-c", GROW, url], stdout=subprocess.PIPE, text=True) as process:
            assert process.stdout is not None
            lines = [process.stdout.readline() for _ in range(moments.randint(1, 12))]
            process.kill()
            lines += process.stdout.readlines()
        acknowledged = int([line for line in lines if line.endswith("\n")][-1])
    async with open_store(url) as store:
        lists = [row["list"] for row in await rows(store, "lists")]
        assert lists == list(range(1, len(lists) + 1))
        assert len(lists) % 8 == 4, "a batch is there in part"
        assert len(lists) >= acknowledged, "a batch that was acknowledged is lost"
        session = await arrive(store, "ann")
        barred = range(1, len(lists))
        given = await claim(store, session, now=NOON, until=NOON, per_list=1, barred=barred)
        assert given == len(lists), "what is there can be claimed"


@pytest.mark.long
@pytest.mark.variant
async def test_a_server_that_is_killed_while_it_deals_loses_no_answer_and_deals_no_batch_twice(
    tmp_path: Path, whole: bool
) -> None:
    robots, kills = (60, 30) if whole else (8, 1)
    study = write_active_study(tmp_path / "study", design={"participants": robots, "trials": 4})
    store, port = str(tmp_path / "store"), free_port()
    service = Service(study, store, port)
    await service.until_ready()
    served, _ = load_served(load_study(study), service.address)
    sent: list[Robot] = []
    steps = robots * 6  # consent, instructions, four trials
    async with open_store(store, write=False) as reader:
        sending = asyncio.create_task(send_robots(served, reader, service.address, robots, patience_s=120, robots=sent))
        for strike in range(1, kills + 1):
            while sum(len(robot.acknowledged) for robot in sent) < steps * strike / (kills + 1) and not sending.done():
                await asyncio.sleep(0.005)
            await service.kill()
            service = Service(study, store, port)
        await sending
        stored, claims = await rows(reader, "lists"), await rows(reader, "claims")
        answers = Counter([(row["session"], row["key"]) for row in await rows(reader, "answers")])
    await service.kill()
    assert all(robot.has_completed for robot in sent)
    assert set(answers) == {(answer.session, answer.key) for robot in sent for answer in robot.acknowledged}
    assert max(answers.values()) == max(Counter(row["list"] for row in claims).values()) == 1
    batches = batches_of(stored)
    assert sorted(number for number, _ in batches) == list(range(1, len(batches) + 1))
    assert {len(lists) for lists in batches.values()} == {2}, "a batch is there in part"
    for lists in batches.values():
        assert len(set(compared_in(lists))) == len(compared_in(lists))


async def test_people_never_get_a_list_that_was_made_of_what_robots_answered(tmp_path: Path) -> None:
    study = load_study(write_active_study(tmp_path, design={"participants": 6}))
    async with run_server(study, port=0) as server:
        await send_robots(server.service.served, server.store, server.address, 6)
        dealer = server.service.context.dealer
        robots = dealer.barred("people")
        assert robots, "robots were dealt lists of their own"
        assert not await server.store.has_free_list(utc_now(), [*robots, 1, 2]), "people have the first batch alone"
        assert await dealer.deal("people")
        stored = await rows(server.store, "lists")
        assert {batch: len(lists) for batch, lists in batches_of(stored).items() if batch[1] == "people"} == {
            (2, "people"): 2
        }
        people = batches_of(stored)[2, "people"][0].batch
        assert people is not None
        assert people.votes == 0, "no robot's answer is known to what people get"
