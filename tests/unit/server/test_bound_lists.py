"""Lists that are for one person are claimed by that person alone, who has to show who they are."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from beholder.server import tokens
from beholder.server.participants import seat_token
from beholder.server.service import StudyService
from support.bound_studies import write_bound
from support.clock_service import Clock, Person
from support.message_studies import serving
from support.platform_visitors import come, refused


@asynccontextmanager
async def bound(
    folder: Path, own: Mapping[str, str] | None = None, **keys: Any
) -> AsyncIterator[tuple[StudyService, Clock]]:
    """Yield the service of a study of six lists, the last two of which are for Ann and Bob."""
    async with serving(write_bound(folder, own, **keys), folder / "store") as (host, clock):
        yield host, clock


def link(host: StudyService, name: str) -> dict[str, str]:
    return {"invited": tokens.invitation(host.store.secret, name)}


async def begin(person: Person) -> int | None:
    """Go on until the first trial, and return the list."""
    while person.step["kind"] != "trial":
        await person.answer()
    return (await person.facts()).list


async def test_everybody_gets_their_own_list_and_whoever_else_comes_none_of_them(tmp_path: Path) -> None:
    async with bound(tmp_path) as (host, clock):
        lists = {name: await begin(await come(host, clock, **link(host, name))) for name in ("bob", "carl", "ann")}
        assert lists == {"ann": 5, "bob": 6, "carl": 1}
        strangers = [await begin(await come(host, clock)) for _ in range(3)]
        assert strangers == [2, 3, 4]
        # Two lists are taken by their people, and four by others: there is none left.
        assert (await refused(host, clock)).code == "full"


async def test_a_list_of_somebody_who_does_not_come_stays_theirs(tmp_path: Path) -> None:
    async with bound(tmp_path) as (host, clock):
        assert [await begin(await come(host, clock)) for _ in range(4)] == [1, 2, 3, 4]
        assert (await refused(host, clock)).code == "full"
        assert (await refused(host, clock, **link(host, "carl"))).code == "full"
        clock.wait(days=30)  # leases of the four have run out; that nobody has come for 5 and 6 changes nothing
        assert await begin(await come(host, clock)) in (1, 2, 3, 4)
        assert await begin(await come(host, clock, **link(host, "ann"))) == 5


async def test_a_name_that_anybody_can_write_lets_in_nobody_and_tells_of_nobody(tmp_path: Path) -> None:
    async with bound(tmp_path) as (host, clock):
        refusals = [await refused(host, clock, participant=name) for name in ("ann", "bob", "carl", "nobody")]
        refusals += [await refused(host, clock, PROLIFIC_PID=name) for name in ("ann", "nobody")]
        refusals += [await refused(host, clock, invited=text) for text in ("ann", f"ann.{'0' * 16}")]
        assert {(one.code, one.what) for one in refusals} == {("no_id", host.words["no_id"])}
        assert await begin(await come(host, clock, **link(host, "ann"))) == 5


async def test_in_a_panel_an_id_of_the_platform_is_no_proof_for_those_who_have_something_of_their_own(
    tmp_path: Path,
) -> None:
    panel = {"mode": "panel", "people": "people.csv", "id_parameter": "pid"}
    async with bound(tmp_path, recruit=panel) as (host, clock):
        assert (await refused(host, clock, pid="ann")).code == "no_id"
        assert await begin(await come(host, clock, pid="carl")) == 1
        assert await begin(await come(host, clock, **link(host, "ann"))) == 5


async def test_in_a_laboratory_a_seat_is_the_person_of_its_number(tmp_path: Path) -> None:
    async with bound(tmp_path, {"face-9": "4"}, recruit={"mode": "lab"}) as (host, clock):
        lists = [await begin(await come(host, clock, seat=seat_token(host.store.secret, n))) for n in (1, 4, 2)]
        assert lists == [1, 6, 2]


async def test_who_withdraws_leaves_the_files_which_is_told(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    async with bound(tmp_path) as (host, clock):
        ann, carl = await come(host, clock, **link(host, "ann")), await come(host, clock)
        await begin(carl), await begin(ann)
        await host.withdraw(carl.token)
        assert "stimuli of their own" not in caplog.text
        await host.withdraw(ann.token)
        assert "somebody with stimuli of their own has withdrawn: the files of list 5 stay" in caplog.text
        assert "ann" not in caplog.text
