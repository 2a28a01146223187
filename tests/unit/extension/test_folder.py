"""The verb `extend`: a study of texts in its folder, its store, and servers that go on with what was added."""

from __future__ import annotations

import shutil
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

import beholder
from beholder.errors import Refused, UserError
from beholder.methods import load_study
from beholder.server import ServerStatus
from beholder.server.process import load_served, run_server
from beholder.server.requests import SubmittedAnswer
from beholder.server.service import StudyService
from beholder.store.open import open_store, read_tables
from beholder.store.rules import record_of
from support.extended_folders import CONDITIONS, TRAPS, begin, finish, lists_of, plan_json, write_texts


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
        "`beholder extend`; else undo the change, start a new folder, or write `run: 2` to repeat the study with "
        "other people."
    )
    with pytest.raises(UserError) as unsaid:
        beholder.extend(study, store=store)
    assert str(unsaid.value) == (
        "--participants  is left out, 4 stimuli are new, and nothing says how many people rate them. Allowed: 1 or "
        "more. `beholder extend --participants 6` would give each as many ratings as the others were to have."
    )
    extension = beholder.extend(study, store=store, participants=6)
    assert extension.words[1] == "  6 with 4 stimuli that are new in the study"
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


async def arrive(host: StudyService, token: str = "") -> tuple[str, dict[str, Any]]:
    """Return the token of somebody who comes late, and where they are."""
    _, came = await host.arrive({"participant": "late"}, {}, token)
    answer: dict[str, Any] = dict(came)
    return answer["token"], answer["step"]


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


@pytest.mark.variant
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
        _, step = await arrive(anew, token)
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
