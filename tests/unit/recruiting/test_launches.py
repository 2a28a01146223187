"""Launching: all problems at once, a draft without cost, and publication for a confirmed amount only."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import httpx
import pytest

import beholder
from beholder.methods import load_study
from beholder.recruiting.context import open_context, recruiter_of
from beholder.recruiting.ledger import evidence_of
from beholder.recruiting.preflight import rehearsal_problems
from beholder.testing import write_study
from support.recruit_context import ON_PROLIFIC, URL, launch_problems, launch_setup


async def test_a_launch_quotes_and_puts_up_a_draft_that_nobody_sees(tmp_path: Path, tiny: Path) -> None:
    async with launch_setup(tmp_path, tiny, recruit=ON_PROLIFIC) as setup:
        result = await setup.launch()
        assert result.posting.state == "draft"
        assert result.words == (
            "  4 × 2.00 GBP         8.00 GBP",
            "  fees and tax         3.17 GBP",
            "  in all, at most     11.17 GBP",
            "  balance left then  988.83 GBP",
            "  An hour pays 12.00 GBP at about 10 minutes; at least 6.00 GBP; 9.00 GBP are advised.",
            f"There is a draft that nobody sees: {result.posting.link}",
            'To publish it: beholder launch --publish "11.17 GBP"',
        )
        assert [str(one) for one in result.warnings] == [
            "study.yaml:2  no robot has finished the study as it is now. Run `beholder simulate --participants 20` "
            "before `beholder serve`, and look at the report."
        ]
        assert result.job.url == (
            f"{URL}/s/tiny?PROLIFIC_PID={{{{%PROLIFIC_PID%}}}}&STUDY_ID={{{{%STUDY_ID%}}}}&SESSION_ID={{{{%SESSION_ID%}}}}"
        )
        assert setup.fake.available == setup.fake.balance == 100_000


async def test_a_launch_that_is_repeated_finds_its_draft_and_its_address(tmp_path: Path, tiny: Path) -> None:
    async with launch_setup(tmp_path, tiny, recruit=ON_PROLIFIC) as setup:
        first = await setup.launch()
        again = await setup.launch(public_url=None)
        assert (again.posting.id, again.link, len(setup.fake.studies.all)) == (first.posting.id, f"{URL}/s/tiny", 1)
        assert await setup.kinds() == ["draft done"]


async def test_a_dry_run_puts_up_nothing(tmp_path: Path, tiny: Path) -> None:
    async with launch_setup(tmp_path, tiny, recruit=ON_PROLIFIC) as setup:
        result = await setup.launch(dry_run=True)
        assert result.words[-2:] == (
            "Nothing was put up, published or written.",
            'To publish it: beholder launch --publish "11.17 GBP"',
        )
        assert (len(setup.fake.studies.all), await setup.kinds()) == (0, [])


async def test_a_dry_run_without_a_server_says_what_is_still_to_do(tmp_path: Path, tiny: Path) -> None:
    async with launch_setup(tmp_path, tiny, recruit=ON_PROLIFIC) as setup:
        result = await setup.launch(dry_run=True, transport=httpx.MockTransport(_refuse))
        assert str(result.due) == "11.17 GBP"
        assert f"{URL}  does not answer. " in str(result.warnings[0])


def test_a_dry_run_quotes_before_there_is_a_store_and_leaves_none(tmp_path: Path, tiny: Path) -> None:
    recruit = {"mode": "panel", "id_parameter": "id", "reward": "2.00 GBP"}
    study = write_study(tmp_path, tiny, recruit=recruit, contact="lab@example.org")
    launched = beholder.launch(study, dry_run=True, public_url="http://127.0.0.1:1")
    assert launched.job.places == 6
    assert str(launched.quote.total) == "12.00 GBP"  # type: ignore[union-attr]
    assert "http://127.0.0.1:1  does not answer. Start `beholder serve" in "\n".join(map(str, launched.warnings))
    assert "Nothing was put up, published or written." in launched.words
    assert not (tmp_path / "store").exists()
    assert not (tmp_path / "launch").exists()


def test_everything_that_is_missing_is_named_at_once_in_the_order_in_which_to_do_it(
    tmp_path: Path, tiny: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("PROLIFIC_TOKEN", raising=False)
    study = write_study(tmp_path, tiny, recruit=ON_PROLIFIC, contact=None)
    with pytest.raises(beholder.UserError) as raised:
        beholder.launch(study)
    assert [problem.where.partition(":")[0] for problem in raised.value.problems] == [
        "study.yaml", "PROLIFIC_TOKEN", "Prolific", "--public-url", "the store",
    ]  # fmt: skip
    assert str(raised.value.problems[-1]) == (
        "the store  has served nothing yet. Start `beholder serve --public-url ADDRESS` and leave it running."
    )
    assert not (tmp_path / "store").exists()


async def test_only_the_quoted_amount_publishes(tmp_path: Path, tiny: Path) -> None:
    async with launch_setup(tmp_path, tiny, recruit=ON_PROLIFIC) as setup:
        allowed = 'Allowed: "11.17 GBP". Nothing was published. `beholder launch` shows what the amount is made of.'
        assert await launch_problems(setup, publish="11.00 GBP") == [
            f"--publish  is 11.00 GBP, and it costs 11.17 GBP now. {allowed}"
        ]
        assert await launch_problems(setup, publish="yes") == [
            '--publish  is "yes". Allowed: an amount and its currency, such as "11.17 GBP".'
        ]
        result = await setup.launch(publish="11.17 gbp")
        assert (result.posting.state, result.due) == ("active", None)
        assert result.words[-2:] == (
            f"It is open: 0 of 4 places are taken. {result.posting.link}",
            "`beholder monitor` shows how it goes.",
        )
        again = await setup.launch(publish="11.17 GBP")
        assert again.posting.state == "active"
        assert await setup.kinds() == ["draft done", "publish planned", "publish done"]


async def test_more_places_cost_the_difference_and_only_grow(tmp_path: Path, tiny: Path) -> None:
    async with launch_setup(tmp_path, tiny, recruit=ON_PROLIFIC) as setup:
        await setup.launch(publish="11.17 GBP")
        offered = await setup.launch(places=6)
        assert str(offered.due) == "5.58 GBP"
        assert offered.words[-1] == (
            '4 places are published. For 6 in all: beholder launch --places 6 --publish "5.58 GBP"'
        )
        assert (await setup.launch()).posting.places == 4
        grown = await setup.launch(places=6, publish="5.58 GBP")
        assert grown.posting.places == 6
        assert (await setup.launch()).posting.places == 6
        assert await launch_problems(setup, places=5) == [
            "--places  is 5, and 6 are published. Allowed: 6 or more. "
            "Places only grow. `beholder launch --pause` lets nobody begin for now."
        ]
        assert (await setup.kinds())[-2:] == ["places planned", "places done"]


async def test_everything_that_is_wrong_is_told_at_once(tmp_path: Path, tiny: Path) -> None:
    recruit = ON_PROLIFIC | {"reward": "0.50 GBP", "places": 7, "filters": {"countries": ["Germny"]}}
    async with launch_setup(tmp_path, tiny, recruit=recruit, family="walks", contact=None, budget="3 GBP") as setup:
        nobody = httpx.MockTransport(_refuse)
        messages = await launch_problems(setup, transport=nobody)
        dry = await launch_problems(setup, transport=nobody, dry_run=True)
        assert dry == [words for words in messages if not words.startswith(URL)], "a dry run needs no server"
        assert messages == [
            "study.yaml:1  contact is not written. Allowed: an e-mail or web address. "
            "People need somebody whom they can ask.",
            "study.yaml:24  recruit.places is 7, and the plan is for 6. Allowed: 1 to 6. "
            "`beholder extend --participants 1` adds lists for the others.",
            "study.yaml:23  recruit.reward is 0.50 GBP for about 10 minutes, which is 3.00 GBP an hour. "
            "Allowed: 6.00 GBP an hour or more. Pay 1.00 GBP or more, or make a session of 5 minutes.",
            "study.yaml:29  budget is 3.00 GBP, and 7 people may cost 4.89 GBP. Allowed: 4.89 GBP or more. "
            "Up to 4 would fit: recruit.places: 4.",
            "study.yaml:27  recruit.filters.countries.0 is Germny, which Prolific does not offer. "
            "Allowed: United Kingdom, United States, Austria, Canada, Germany, Ireland, France, Italy, Mexico, Poland, "
            "South Africa, Spain. Did you mean Germany?",
            f"{URL}  does not answer. Start `beholder serve --public-url {URL}` and leave it running, or name another "
            "address with --public-url.",
        ]
        assert (await setup.kinds(), setup.fake.groups.all) == ([], {})


async def test_what_nobody_can_check_without_a_token_is_told(
    tmp_path: Path, tiny: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("PROLIFIC_TOKEN", raising=False)
    async with launch_setup(tmp_path, tiny, recruit=ON_PROLIFIC) as setup:
        context = replace(setup.context, recruiter=await recruiter_of(setup.study, setup.context.store))
        messages = await launch_problems(replace(setup, context=context), dry_run=True)
        assert messages[0].startswith("PROLIFIC_TOKEN  is not set, and Prolific asks for a token.")
        assert messages[1:] == [
            "Prolific  was not asked what the study costs, nor whether it knows the filters, groups and projects of "
            "recruit. That is checked as soon as it answers."
        ]


def _refuse(request: httpx.Request) -> httpx.Response:
    raise httpx.ConnectError("refused")


async def test_prolific_needs_a_public_address(tmp_path: Path, tiny: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("BEHOLDER_PROLIFIC_URL", raising=False)
    result = {
        "http://lab.example.org": "is http://lab.example.org. Allowed: an address that begins with https://, as "
        "Prolific asks. Put the server behind a name with a certificate; docs/serving.md says how.",
        "https://127.0.0.1:8000": "is https://127.0.0.1:8000, which only this machine reaches. Allowed: a public "
        "address. Name the address under which participants reach the server.",
        "lab.example.org": "is lab.example.org. Allowed: an address that begins with https:// or http://.",
    }
    async with launch_setup(tmp_path, tiny, recruit=ON_PROLIFIC) as setup:
        for url, words in result.items():
            assert await launch_problems(setup, public_url=url) == [f"--public-url  {words}"]


async def test_people_are_not_paid_to_come_to_a_laptop_unless_somebody_says_why(
    tmp_path: Path, tiny: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with launch_setup(tmp_path, tiny, recruit=ON_PROLIFIC) as setup:
        drafted = await setup.launch()
        monkeypatch.setenv("BEHOLDER_TEMPORARY", "1")
        amount = str(drafted.due)
        assert await launch_problems(setup, publish=amount) == [
            f"--public-url  is {URL}, which leads to a machine that somebody may close: those inside would lose their "
            "places. Allowed: an address that stays. Deploy to a machine that stays on (`beholder deploy up --to "
            'user@host`); or say why it will: --temporary "the laptop stays on until Friday".'
        ]
        assert await launch_problems(setup, publish=amount, temporary="why") == [
            "--temporary  is 'why'. Allowed: why, in three words or more; they are kept."
        ]
        words = "it stays on until Friday"
        published = await setup.launch(publish=amount, temporary=words)
        assert published.posting.state == "active"
        entries = await setup.context.store.ledger.entries()
        (planned, _) = [entry for entry in entries if entry.kind == "publish"]
        assert evidence_of(planned)["temporary"] == words


async def test_a_link_opens_at_once_and_says_where_people_begin(tmp_path: Path, tiny: Path) -> None:
    async with launch_setup(tmp_path, tiny, recruit={"mode": "link", "opens": "2027-01-31"}) as setup:
        result = await setup.launch()
        assert (result.quote, result.due, result.posting.state) == (None, None, "active")
        assert result.words == (
            "Wrote launch/job.md: what to paste or send.",
            f"People begin here: {URL}/s/tiny",
            "Nobody can begin before 2027-01-31.",
        )
        assert (setup.study.folder / "launch" / "job.md").is_file()
        assert await launch_problems(setup, publish="1 GBP") == [
            "--publish  does not go with recruit.mode link. `beholder launch` alone says how people come."
        ]
        assert await setup.kinds() == ["draft done", "publish planned", "publish done"]


async def test_single_links_are_as_many_as_places_and_whom_nobody_can_leave_out_is_told(
    tmp_path: Path, tiny: Path
) -> None:
    (tmp_path / "first").mkdir()
    recruit = {"mode": "link", "single_use": True, "places": 3, "exclude": ["first"]}
    async with launch_setup(tmp_path, tiny, recruit=recruit) as setup:
        result = await setup.launch()
        assert result.words[-1] == "Everybody begins by their own link, in launch/links.csv."
        assert len((tmp_path / "launch" / "links.csv").read_text("utf-8-sig").splitlines()) == 4
        messages = [str(one).partition("  ")[2] for one in result.warnings]
        assert messages[0] == (
            "recruit.exclude leaves nobody out: a numbered link does not tell whose it is. "
            "Name people in recruit.people."
        )
        assert messages[-1] == (
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
    async with launch_setup(tmp_path, tiny, recruit=recruit) as setup:
        result = await setup.launch(public_url="http://127.0.0.1:8000")
        assert result.files == ("launch/job.md", "launch/links.csv")
        assert result.words[:3] == (
            "  2 × 2.00 EUR     4.00 EUR",
            "  in all, at most  4.00 EUR",
            "  An hour pays 12.00 EUR at about 10 minutes.",
        )
        assert str(result.warnings[0]) == (
            "--public-url  is http://127.0.0.1:8000, which only this machine reaches. "
            "Name the address under which participants reach the server with --public-url."
        )
