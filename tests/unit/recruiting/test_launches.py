"""Launching: everything is checked and told at once, a draft costs nothing, and only a named amount publishes."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import httpx
import pytest

from beholder.methods import load_study
from beholder.recruiting.context import open_context, recruiter_of
from beholder.recruiting.preflight import rehearsal_problems
from support.recruit_context import ON_PROLIFIC, URL, launch_problems, launch_setup


async def test_a_launch_quotes_and_puts_up_a_draft_that_nobody_sees(tmp_path: Path, tiny: Path) -> None:
    async with launch_setup(tmp_path, tiny, recruit=ON_PROLIFIC) as room:
        found = await room.launch()
        assert found.posting.state == "draft"
        assert found.words == (
            "  4 × 2.00 GBP         8.00 GBP",
            "  fees and tax         3.17 GBP",
            "  in all, at most     11.17 GBP",
            "  balance left then  988.83 GBP",
            "  An hour pays 12.00 GBP at about 10 minutes; at least 6.00 GBP; 9.00 GBP are advised.",
            f"There is a draft that nobody sees: {found.posting.link}",
            'To publish it: beholder launch --publish "11.17 GBP"',
        )
        assert [str(one) for one in found.warnings] == [
            "study.yaml:2  no robot has finished the study as it is now. Run `beholder simulate --participants 20` "
            "before `beholder serve`, and look at the report."
        ]
        assert found.job.url == (
            f"{URL}/s/tiny?PROLIFIC_PID={{{{%PROLIFIC_PID%}}}}&STUDY_ID={{{{%STUDY_ID%}}}}&SESSION_ID={{{{%SESSION_ID%}}}}"
        )
        assert room.fake.available == room.fake.balance == 100_000


async def test_a_launch_that_is_repeated_finds_its_draft_and_its_address(tmp_path: Path, tiny: Path) -> None:
    async with launch_setup(tmp_path, tiny, recruit=ON_PROLIFIC) as room:
        first = await room.launch()
        again = await room.launch(public_url=None)
        assert (again.posting.id, again.link, len(room.fake.studies.all)) == (first.posting.id, f"{URL}/s/tiny", 1)
        assert await room.kinds() == ["draft done"]


async def test_a_dry_run_puts_up_nothing(tmp_path: Path, tiny: Path) -> None:
    async with launch_setup(tmp_path, tiny, recruit=ON_PROLIFIC) as room:
        found = await room.launch(dry_run=True)
        assert found.words[-2:] == (
            "Nothing was put up, published or written.",
            'To publish it: beholder launch --publish "11.17 GBP"',
        )
        assert (len(room.fake.studies.all), await room.kinds()) == (0, [])


async def test_only_the_quoted_amount_publishes(tmp_path: Path, tiny: Path) -> None:
    async with launch_setup(tmp_path, tiny, recruit=ON_PROLIFIC) as room:
        allowed = 'Allowed: "11.17 GBP". Nothing was published. `beholder launch` shows what the amount is made of.'
        assert await launch_problems(room, publish="11.00 GBP") == [
            f"--publish  is 11.00 GBP, and it costs 11.17 GBP now. {allowed}"
        ]
        assert await launch_problems(room, publish="yes") == [
            '--publish  is "yes". Allowed: an amount and its currency, such as "11.17 GBP".'
        ]
        found = await room.launch(publish="11.17 gbp")
        assert (found.posting.state, found.due) == ("active", None)
        assert found.words[-2:] == (
            f"It is open: 0 of 4 places are taken. {found.posting.link}",
            "`beholder monitor` shows how it goes.",
        )
        again = await room.launch(publish="11.17 GBP")
        assert again.posting.state == "active"
        assert await room.kinds() == ["draft done", "publish planned", "publish done"]


async def test_more_places_cost_the_difference_and_only_grow(tmp_path: Path, tiny: Path) -> None:
    async with launch_setup(tmp_path, tiny, recruit=ON_PROLIFIC) as room:
        await room.launch(publish="11.17 GBP")
        offered = await room.launch(places=6)
        assert str(offered.due) == "5.58 GBP"
        assert offered.words[-1] == (
            '4 places are published. For 6 in all: beholder launch --places 6 --publish "5.58 GBP"'
        )
        assert (await room.launch()).posting.places == 4
        grown = await room.launch(places=6, publish="5.58 GBP")
        assert grown.posting.places == 6
        assert (await room.launch()).posting.places == 6
        assert await launch_problems(room, places=5) == [
            "--places  is 5, and 6 are published. Allowed: 6 or more. "
            "Places only grow. `beholder launch --pause` lets nobody begin for now."
        ]
        assert (await room.kinds())[-2:] == ["places planned", "places done"]


async def test_everything_that_is_wrong_is_told_at_once(tmp_path: Path, tiny: Path) -> None:
    recruit = ON_PROLIFIC | {"reward": "0.50 GBP", "places": 7, "filters": {"countries": ["Germny"]}}
    async with launch_setup(tmp_path, tiny, recruit=recruit, family="walks", contact=None, budget="3 GBP") as room:
        nobody = httpx.MockTransport(_refuse)
        told = await launch_problems(room, transport=nobody, dry_run=True)
        assert await launch_problems(room, transport=nobody) == told
        assert told == [
            "study.yaml:1  contact is not written. Allowed: an e-mail or web address. "
            "People need somebody whom they can ask.",
            "study.yaml:24  recruit.places is 7, and the plan is for 6. Allowed: 1 to 6. "
            "`beholder extend --participants 1` adds lists for the others.",
            f"{URL}  does not answer. Start `beholder serve --public-url {URL}` and leave it running, or name another "
            "address with --public-url.",
            "study.yaml:23  recruit.reward is 0.50 GBP for about 10 minutes, which is 3.00 GBP an hour. "
            "Allowed: 6.00 GBP an hour or more. Pay 1.00 GBP or more, or make a session of 5 minutes.",
            "study.yaml:29  budget is 3.00 GBP, and 7 people may cost 4.89 GBP. Allowed: 4.89 GBP or more. "
            "Up to 4 would fit: recruit.places: 4.",
            "study.yaml:27  recruit.filters.countries.0 is Germny, which Prolific does not offer. "
            "Allowed: United Kingdom, United States, Austria, Canada, Germany, Ireland. Did you mean Germany?",
        ]
        assert (await room.kinds(), room.fake.groups.all) == ([], {})


async def test_what_nobody_can_check_without_a_token_is_told(
    tmp_path: Path, tiny: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("PROLIFIC_TOKEN", raising=False)
    async with launch_setup(tmp_path, tiny, recruit=ON_PROLIFIC) as room:
        context = replace(room.context, recruiter=await recruiter_of(room.study, room.context.store))
        told = await launch_problems(replace(room, context=context), dry_run=True)
        assert told[0].startswith("PROLIFIC_TOKEN  is not set, and Prolific asks for a token.")
        assert told[1:] == [
            "Prolific  was not asked what the study costs, nor whether it knows the filters, groups and projects of "
            "recruit. That is checked as soon as it answers."
        ]


def _refuse(request: httpx.Request) -> httpx.Response:
    raise httpx.ConnectError("refused")


async def test_prolific_needs_a_public_address(tmp_path: Path, tiny: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("BEHOLDER_PROLIFIC_URL", raising=False)
    found = {
        "http://lab.example.org": "is http://lab.example.org. Allowed: an address that begins with https://, as "
        "Prolific asks. Put the server behind a name with a certificate; docs/serving.md says how.",
        "https://127.0.0.1:8000": "is https://127.0.0.1:8000, which only this machine reaches. Allowed: a public "
        "address. Name the address under which participants reach the server.",
        "lab.example.org": "is lab.example.org. Allowed: an address that begins with https:// or http://.",
    }
    async with launch_setup(tmp_path, tiny, recruit=ON_PROLIFIC) as room:
        for url, words in found.items():
            assert await launch_problems(room, public_url=url) == [f"--public-url  {words}"]


async def test_a_link_opens_at_once_and_says_where_people_begin(tmp_path: Path, tiny: Path) -> None:
    async with launch_setup(tmp_path, tiny, recruit={"mode": "link", "opens": "2027-01-31"}) as room:
        found = await room.launch()
        assert (found.quote, found.due, found.posting.state) == (None, None, "active")
        assert found.words == (
            "Wrote launch/job.md: what to paste or send.",
            f"People begin here: {URL}/s/tiny",
            "Nobody can begin before 2027-01-31.",
        )
        assert (room.study.folder / "launch" / "job.md").is_file()
        assert await launch_problems(room, publish="1 GBP") == [
            "--publish  does not go with recruit.mode link. `beholder launch` alone says how people come."
        ]
        assert await room.kinds() == ["draft done", "publish planned", "publish done"]


async def test_single_links_are_as_many_as_places_and_whom_nobody_can_leave_out_is_told(
    tmp_path: Path, tiny: Path
) -> None:
    (tmp_path / "first").mkdir()
    recruit = {"mode": "link", "single_use": True, "places": 3, "exclude": ["first"]}
    async with launch_setup(tmp_path, tiny, recruit=recruit) as room:
        found = await room.launch()
        assert found.words[-1] == "Everybody begins by their own link, in launch/links.csv."
        assert len((tmp_path / "launch" / "links.csv").read_text("utf-8-sig").splitlines()) == 4
        told = [str(one).partition("  ")[2] for one in found.warnings]
        assert told[0] == (
            "recruit.exclude leaves nobody out: a numbered link does not tell whose it is. "
            "Name people in recruit.people."
        )
        assert told[-1] == (
            "recruit.exclude names first, whose store cannot be read, so that it leaves nobody out. "
            "Nothing to do where nobody has begun it. Its store has to be the folder store/ in it."
        )
        # A chain names the studies before it to its server only: a launch by hand leaves the same people out.
        path = tmp_path / "study.yaml"
        lines = path.read_text("utf-8").splitlines()
        path.write_text("\n".join(one for one in lines if one.strip() not in ("exclude:", "- first")), "utf-8")
        assert load_study(path).recruit.exclude == ()
        async with open_context(path) as context:
            assert context.study.recruit.exclude == ("first",)
            assert (await rehearsal_problems(context))[0] == []


async def test_a_panel_gets_its_links_and_what_it_costs(tmp_path: Path, tiny: Path) -> None:
    (tmp_path / "people.csv").write_text("id,name\nGröße 2,Ada\n01,Bo\n", "utf-8")
    recruit = {"mode": "panel", "people": "people.csv", "reward": "2.00 EUR", "minutes": 10, "places": 2}
    async with launch_setup(tmp_path, tiny, recruit=recruit) as room:
        found = await room.launch(public_url="http://127.0.0.1:8000")
        assert found.files == ("launch/job.md", "launch/links.csv")
        assert found.words[:3] == (
            "  2 × 2.00 EUR     4.00 EUR",
            "  in all, at most  4.00 EUR",
            "  An hour pays 12.00 EUR at about 10 minutes.",
        )
        assert str(found.warnings[0]) == (
            "--public-url  is http://127.0.0.1:8000, which only this machine reaches. "
            "Name the address under which participants reach the server with --public-url."
        )
