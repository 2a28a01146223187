"""The verb `extend`: a study of texts in its folder, its store, and servers that go on with what was added."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Collection
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import yaml
from click.testing import CliRunner

import beholder
from beholder.aio import block_on
from beholder.cli import cli
from beholder.errors import Refused, UserError
from beholder.methods import find, load_study
from beholder.planning.serialization import list_from_json
from beholder.server import ServerStatus
from beholder.server.process import load_served, run_server
from beholder.server.requests import SubmittedAnswer
from beholder.server.service import StudyService
from beholder.store.contract import Answer, End, Session
from beholder.store.open import open_store, read_tables
from beholder.store.rules import record_of
from support.answered_trials import PLAYED

CONDITIONS = ("plain", "ornate")


def write_texts(folder: Path, conditions: Collection[str] = CONDITIONS, **keys: Any) -> Path:
    """Write a study of four texts under some conditions."""
    for condition in conditions:
        (folder / "stimuli" / condition).mkdir(parents=True, exist_ok=True)
        for content in ("dawn", "noon", "dusk", "night"):
            file = folder / "stimuli" / condition / f"{content}.txt"
            file.write_text(f"The {condition} words of {content}, some of them long.", "utf-8")
    study: dict[str, Any] = {
        "beholder": 1, "name": "texts", "title": "Texts", "method": "acr", "stimuli": "stimuli",
        "questions": [{"id": "quality", "text": "How good is it?", "scale": "acr5"}],
        "playback": {"watch": "none"}, "design": {"participants": 4, "trials": 4, "seed": 3},
        "checks": {"variance": False}, **keys,
    }  # fmt: skip
    (folder / "study.yaml").write_text(yaml.safe_dump(study, sort_keys=False), "utf-8")
    return folder / "study.yaml"


async def begin(path: Path, url: str) -> None:
    """Let a study begin in a store, as a server does."""
    async with run_server(load_study(path), store=url, port=0):
        pass


async def finish(path: Path, url: str, names: str, *, lost: str = "", mode: Any = "link") -> list[int]:
    """Let people with these names each finish a list; of those who are lost every answer is missing its words."""
    study = load_study(path)
    method = find(study.method)
    claimed = []
    async with open_store(url) as store:
        record = await store.current()
        assert record is not None
        for name in names:
            now = datetime.now(UTC)
            asked = Session(f"s-{name}", f"p-{name}", record.digest, study.run, mode, 1, {}, now)
            session, _ = await store.arrive(asked)
            number = await store.claim(session.session, now=now, until=now, per_list=1)
            assert number is not None, f"no list is left for {name}"
            claimed.append(number)
            rng = np.random.default_rng(number)
            for trial in list_from_json(record.lists[number - 1]).trials:
                percept = {f"{one.id}.{slot.id}": float(rng.random()) for one in trial.asked for slot in trial.slots}
                for where, target in trial.targets.items():
                    percept[where] = 0.0 if name in lost else (target.value - 1) / 4
                answer = method.respond(trial, percept, rng)
                played = {slot.id: dict(PLAYED) for slot in trial.slots}
                await store.append([Answer(session.session, trial.id, answer, played, 0, 9000, "mouse", "t", now)])
            await store.append([End(session.session, "completed", "", "", f"r-{name}", now)])
    return claimed


TRAPS = {"trap": {"per_session": 1, "clips": 3}, "variance": False}
"""Texts that ask for an answer; who gives another is not used."""


@pytest.fixture
def study(tmp_path: Path) -> Path:
    return write_texts(tmp_path / "texts", checks=TRAPS, clean={"use": {"trap": {"max_failed": 0}}})


@pytest.fixture(params=["sqlite", "postgresql"])
def store(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    if request.param == "sqlite":
        return str(tmp_path / "facts")
    make: Callable[[], str] = request.getfixturevalue("postgresql_databases")
    return make()


def plan_json(path: Path) -> dict[str, Any]:
    return dict(json.loads((path.parent / "plan" / "plan.json").read_bytes()))


def lists_of(path: Path) -> list[bytes]:
    return (path.parent / "plan" / "lists.jsonl").read_bytes().splitlines()


async def test_what_was_lost_is_added_once_and_finished(study: Path, store: str) -> None:
    await begin(study, store)
    before = lists_of(study)
    await finish(study, store, "abcd", lost="b")
    found = beholder.extend(study, store=store)
    shared = store.startswith("postgresql")
    assert found.words == (
        "Added 1 list, 5:",
        "  1 again, of which nothing is used although somebody finished",
        "4 votes were missing.",
        "Running servers hand them out from now on."
        if shared
        else "`beholder serve` or `beholder run` goes on until they are finished, too.",
    )
    assert lists_of(study)[:4] == before, "what is there stays, byte for byte"
    again = beholder.extend(study, store=store)
    assert again.words == (
        "Nothing to add: every stimulus has its votes when 1 list is finished that nobody has finished yet.",
    )
    assert await finish(study, store, "e") == [5]
    assert beholder.extend(study, store=store).words == ("Nothing to add: every stimulus has its votes.",)
    cleaned = beholder.clean(study, store=store)
    assert (cleaned.counts["short_votes"], cleaned.counts["missing_sessions"]) == (0, 0)
    (written,) = plan_json(study)["extensions"]
    assert (written["first"], written["last"], written["why"]) == (5, 5, "makes up")
    tables = read_tables(store, ("lists",))
    assert [row["list"] for row in tables["lists"]] == [1, 2, 3, 4, 5]


async def test_more_participants_follow_and_a_dry_run_writes_nothing(study: Path) -> None:
    store = str(study.parent / "store")
    await begin(study, store)
    await finish(study, store, "abcd")
    looked = beholder.extend(study, store=store, participants=3, dry_run=True)
    assert looked.words == (
        "Would add 3 lists, 5 to 7:", "  3 for more participants, by the same design", "Nothing was written.",
    )  # fmt: skip
    assert len(lists_of(study)) == 4
    added = beholder.extend(study, store=store, participants=3)
    assert (added.more, added.added, added.is_written) == (3, 3, True)
    assert added.balance == looked.balance, "the same draw"
    assert await finish(study, store, "efg") == [5, 6, 7]
    assert len(beholder.plan(study).lists) == 7, "planning again keeps what was added"
    assert len(lists_of(study)) == 7


async def test_a_plan_that_was_deleted_comes_back_from_the_store(study: Path) -> None:
    store = str(study.parent / "store")
    await begin(study, store)
    await finish(study, store, "abcd", lost="ac")
    beholder.extend(study, store=store)
    before, kept = lists_of(study), plan_json(study)
    shutil.rmtree(study.parent / "plan")
    async with run_server(load_study(study), store=store, port=0) as server:
        assert len(server.service.served.lists) == 6
    assert lists_of(study) == before
    assert plan_json(study) == kept


async def test_conditions_that_were_added_are_rated_beside_the_others(study: Path, store: str) -> None:
    await begin(study, store)
    await finish(study, store, "abc")
    before = lists_of(study)
    write_texts(study.parent, (*CONDITIONS, "odd"), checks=TRAPS, clean={"use": {"trap": {"max_failed": 0}}})
    with pytest.raises(UserError) as refused:
        await begin(study, store)
    assert str(refused.value).endswith(
        "3 people have already claimed lists of the plan before this change. Texts may change, the design may not: "
        "plan, stimuli, scales and questionnaires stay. For more participants, or where stimuli were only added, run "
        "`beholder extend`; else undo the change, or start a new folder."
    )
    with pytest.raises(UserError) as unsaid:
        beholder.extend(study, store=store)
    assert str(unsaid.value) == (
        "--participants  is left out, 4 stimuli are new, and nothing says how many people rate them. Allowed: 1 or "
        "more. `beholder extend --participants 6` would give each as many ratings as the others were to have."
    )
    found = beholder.extend(study, store=store, participants=6)
    assert found.words[1] == "  6 with 4 stimuli that are new in the study"
    assert lists_of(study)[:4] == before
    written = plan_json(study)
    assert len(written["covers"]) == 2
    assert [len(some) for some in written["before"]] == [8]
    await begin(study, store)
    assert await finish(study, store, "d") == [4], "the last list of before is still open"
    assert await finish(study, store, "efghij") == [5, 6, 7, 8, 9, 10]
    assert len(beholder.plan(study).lists) == 10
    cleaned = beholder.clean(study, store=store)
    assert (cleaned.counts["used_sessions"], cleaned.counts["short_votes"]) == (10, 0)
    shutil.rmtree(study.parent / "plan")
    await begin(study, store)
    assert plan_json(study) == written
    assert beholder.extend(study, store=store).words == ("Nothing to add: every stimulus has its votes.",)


async def test_votes_say_how_many_lists_new_conditions_need(tmp_path: Path) -> None:
    design = {"votes": 3, "trials": 4, "seed": 3}
    study, store = write_texts(tmp_path, design=design), str(tmp_path / "store")
    await begin(study, store)
    number = len(lists_of(study))
    write_texts(tmp_path, (*CONDITIONS, "odd"), design=design)
    found = beholder.extend(study)
    assert (found.more, found.again, found.dealt) == (3, 0, 0)
    await begin(study, store)
    await finish(study, store, "abcdefghijklmnop"[: number + 3])
    assert beholder.extend(study).words == ("Nothing to add: every stimulus has its votes.",)


async def arrive(host: StudyService) -> tuple[str, dict[str, Any]]:
    """Return the token of somebody who comes late, and where they are."""
    _, came = await host.arrive({"participant": "late"}, {})
    found: dict[str, Any] = dict(came)
    return found["token"], found["step"]


async def test_servers_that_run_hand_out_what_was_added(study: Path, postgresql_url: str) -> None:
    await begin(study, postgresql_url)
    async with open_store(postgresql_url) as one, open_store(postgresql_url) as two:
        hosts = [StudyService(load_served(load_study(study), "http://x")[0], store) for store in (one, two)]
        await finish(study, postgresql_url, "abcd", lost="ab")
        with pytest.raises(Refused):
            await hosts[0].arrive({"participant": "late"}, {})
        beholder.extend(study, store=postgresql_url)
        token, _ = await arrive(hosts[0])
        agreed = await hosts[0].answer(token, "consent", SubmittedAnswer({"agree": True}))
        assert (len(hosts[0].served.lists), len(hosts[1].served.lists)) == (6, 4)
        # The next request goes to the other server, which has never heard of that list.
        assert await hosts[1].step(token) == agreed["step"]
        assert len(hosts[1].served.lists) == 6


async def test_a_server_without_the_stimuli_sends_people_away_until_it_is_started_anew(
    study: Path, postgresql_url: str
) -> None:
    await begin(study, postgresql_url)
    async with open_store(postgresql_url) as store:
        host = StudyService(load_served(load_study(study), "http://x")[0], store)
        await finish(study, postgresql_url, "abcd")
        write_texts(study.parent, (*CONDITIONS, "odd"), checks=TRAPS, clean={"use": {"trap": {"max_failed": 0}}})
        beholder.extend(study, store=postgresql_url, participants=6)
        token, _ = await arrive(host)
        with pytest.raises(Refused, match=r"The study has changed since you came. Please open your link again."):
            await host.answer(token, "consent", SubmittedAnswer({"agree": True}))
        anew = StudyService(load_served(load_study(study), "http://x")[0], store)
        _, step = await arrive(anew)
        assert step["key"] == "consent"


# What cannot be


async def test_a_server_that_runs_on_an_embedded_store_is_in_the_way(study: Path, tmp_path: Path) -> None:
    store = str(tmp_path / "facts")
    await begin(study, store)
    await finish(study, store, "abcd", lost="a")
    async with open_store(store):
        with pytest.raises(UserError) as refused:
            beholder.extend(study, store=store)
    said = str(refused.value)
    assert "is in use by another server (process " in said
    assert said.endswith(
        "Stop the server, run `beholder extend` again, then `beholder serve`: it goes on with all lists."
    )
    assert len(lists_of(study)) == 4


def test_a_study_that_nobody_has_begun_is_explained(study: Path) -> None:
    with pytest.raises(UserError) as refused:
        beholder.extend(study)
    assert str(refused.value) == (
        f"{study.parent / 'store'}  is not there. Run `beholder serve` or `beholder simulate` first, or name a store "
        "with --store."
    )
    with pytest.raises(UserError, match=r"^participants  is 0. Allowed: 1 or more.$"):
        beholder.extend(study, participants=0)
    block_on(begin(study, str(study.parent / "store")))
    with pytest.raises(UserError, match=r"^store/  holds no sessions yet. Let people in"):
        beholder.extend(study)


async def test_another_run_has_a_plan_of_its_own(study: Path) -> None:
    await begin(study, str(study.parent / "store"))
    study.write_text(study.read_text("utf-8") + "run: 2\n", "utf-8")
    with pytest.raises(UserError) as refused:
        beholder.extend(study, participants=2)
    assert str(refused.value) == (
        "store/  holds run 1, and study.yaml is about run 2. Begin run 2 with `beholder serve`, then extend it."
    )


async def test_a_stimulus_that_went_or_changed_is_refused(study: Path) -> None:
    await begin(study, str(study.parent / "store"))
    (study.parent / "stimuli" / "plain" / "dawn.txt").write_text("Other words altogether.", "utf-8")
    with pytest.raises(UserError) as refused:
        beholder.extend(study, participants=2)
    assert str(refused.value) == (
        "stimuli  plain/dawn is not what it was when people rated it. Put the earlier files back, and give changed "
        "ones a condition of their own."
    )


async def test_a_rehearsal_is_judged_and_adds_nothing_where_people_came(study: Path) -> None:
    store = str(study.parent / "store")
    await begin(study, store)
    await finish(study, store, "abcd", lost="a", mode="robot")
    await finish(study, store, "xy")
    looked = beholder.extend(study, robots=True)
    assert (looked.again, looked.is_written) == (1, False)
    assert looked.words[-1] == "Nothing was written."


async def test_the_command_line_says_what_was_added_and_how_even_it_is(study: Path) -> None:
    store = str(study.parent / "store")
    await begin(study, store)
    await finish(study, store, "abcd", lost="a")
    ran = CliRunner().invoke(cli, ["extend", str(study)])
    assert ran.exit_code == 0, ran.output
    assert ran.output.startswith("Added 1 list, 5:\n  1 again, of which nothing is used although somebody finished\n")
    assert "condition totals" in ran.output
    again = CliRunner().invoke(cli, ["extend", str(study)])
    assert again.output.startswith("Nothing to add: every stimulus has its votes when 1 list is finished")


def test_a_record_is_what_a_server_begins_with(study: Path) -> None:
    served, plan = load_served(load_study(study), "http://x")
    record = record_of(served.study, served.catalogue, plan.plan_digest, [], datetime.now(UTC))
    assert (record.digest, record.study) == (served.digest, "texts")
    assert len(record.stimuli) == len(served.catalogue.stimuli)


async def test_a_run_goes_on_for_the_lists_that_were_added(study: Path) -> None:
    store = str(study.parent / "store")
    await begin(study, store)
    await finish(study, store, "abcd", lost="a")
    beholder.extend(study)

    class StoppedError(Exception):
        pass

    def tell(live: ServerStatus) -> None:
        assert (live.counts["finished"], live.counts["lists"]) == (4, 5)
        raise StoppedError

    with pytest.raises(StoppedError):
        beholder.run(study, port=0, tell=tell)


def test_robots_that_nobody_counted_finish_what_is_open_and_no_more(tmp_path: Path) -> None:
    path = write_texts(tmp_path)
    assert len(beholder.simulate(path, seed=2).robots) == 4
    beholder.extend(path, participants=2, robots=True)
    beholder.simulate(path)
    claims = read_tables(tmp_path / "store", ("claims",))["claims"]
    assert sorted(row["list"] for row in claims) == [1, 2, 3, 4, 5, 6]
