"""Preflight: the server, the pay and the budget are checked before participants come."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import httpx
import pytest

from beholder.errors import RecruitError
from beholder.methods import load_study
from beholder.recruiting.contract import Quote
from beholder.recruiting.fake import FakeProlific
from beholder.recruiting.fake.filters import BLOCKED_STUDIES
from beholder.recruiting.postings import change_posting
from beholder.recruiting.preflight import cost_of_runs
from beholder.store.contract import LedgerEntry
from beholder.study.recruitment import Sum
from support.recruit_context import ON_PROLIFIC, URL, launch_problems, launch_setup, problems_of


def answers(status: int, **options: Any) -> httpx.MockTransport:
    """Another server than ours."""
    return httpx.MockTransport(lambda _: httpx.Response(status, **options))


async def test_another_server_is_told_from_ours(tmp_path: Path, tiny: Path) -> None:
    result = {
        "serves the study other, not tiny.": answers(200, json={"study": "other", "store": "ready"}),
        "serves this study, and cannot write its store.": answers(503, json={"study": "tiny", "store": "away"}),
        "answers, and is no server of Beholder.": answers(200, text="<html>"),
        "answers, and is no server of": answers(404, json=["not found"]),
    }
    async with launch_setup(tmp_path, tiny, recruit=ON_PROLIFIC) as setup:
        for words, answer in result.items():
            (problem,) = await launch_problems(setup, transport=answer)
            assert problem.startswith(f"{URL}  {words}")


async def test_a_rehearsal_may_be_launched_on_this_machine(
    tmp_path: Path, tiny: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("BEHOLDER_PROLIFIC_URL", "http://127.0.0.1:9")
    async with launch_setup(tmp_path, tiny, recruit=ON_PROLIFIC) as setup:
        result = await setup.launch(public_url=None)
        assert (result.posting.state, result.link) == ("draft", "http://127.0.0.1:8000/s/tiny")


async def test_low_pay_and_an_empty_balance_are_told_before_anybody_publishes(tmp_path: Path, tiny: Path) -> None:
    fake = FakeProlific(balance=500)
    recruit = ON_PROLIFIC | {"reward": "1.20 GBP"}
    async with launch_setup(tmp_path, tiny, fake=fake, recruit=recruit, texts={}) as setup:
        result = await setup.launch()
        due = str(result.due)
        short = f"the balance on Prolific  is 5.00 GBP, and {due} are due. Top it up by"
        problems_of = [str(one) for one in result.warnings]
        assert problems_of[0] == (
            "study.yaml:23  recruit.reward is 1.20 GBP for about 10 minutes, which is 7.20 GBP an hour. "
            "Allowed: 9.00 GBP an hour is advised. Pay 1.50 GBP to keep to it."
        )
        assert problems_of[1] == (
            "study.yaml:19  texts.consent is not written, so that people read ours. "
            "Say who you are, what is kept and for how long; most ethics boards ask for it."
        )
        assert problems_of[-1].startswith(short)
        (problem,) = await launch_problems(setup, publish=due)
        assert problem.startswith(short)
        assert "publish planned" not in await setup.kinds()


async def test_a_changed_study_that_the_server_does_not_have_is_refused(tmp_path: Path, tiny: Path) -> None:
    async with launch_setup(tmp_path, tiny, recruit=ON_PROLIFIC) as setup:
        changed = setup.study.model_copy(update={"title": "Another title"})
        other = replace(setup, context=replace(setup.context, study=changed))
        with pytest.raises(RecruitError) as error:
            await other.launch()
        assert str(error.value) == (
            "the store  has not served study.yaml as it is now. Stop `beholder serve` if it runs, and start it again."
        )


def test_pay_is_judged_by_the_study_and_the_platform(tmp_path: Path, tiny: Path) -> None:
    from beholder.recruiting.preflight import advised_pay_warnings, floor_problems, hourly_floor
    from beholder.testing import write_study

    keys = {"mode": "link", "reward": "1.00 GBP", "hourly_minimum": "10.00 GBP"}
    study = load_study(write_study(tmp_path / "s", tiny, recruit=keys))

    def quote(reward: int, floor: int | None, advice: int | None = None) -> Quote:
        def pounds(minor: int) -> Sum:
            return Sum(minor, "GBP")

        return Quote(
            places=1, minutes=10, reward=pounds(reward), rewards=pounds(reward), fees=pounds(0), screen_outs=pounds(0),
            bonuses=pounds(0), total=pounds(reward), balance=None, hourly=pounds(reward * 6),
            floor=pounds(floor) if floor else None, advice=pounds(advice) if advice else None,
        )  # fmt: skip

    assert hourly_floor(study, quote(100, 600)) == Sum(1000, "GBP")
    assert hourly_floor(study, quote(100, 1200)) == Sum(1200, "GBP")
    (problem,) = floor_problems(study, quote(100, 1200))
    assert problem.fix == "Pay 2.00 GBP or more, or make a session of 5 minutes."
    assert list(floor_problems(study, quote(200, 1200))) == []
    assert list(advised_pay_warnings(study, quote(100, 600, 900))) == []  # it is below the floor, which is reported
    assert [one.fix for one in advised_pay_warnings(study, quote(200, 600, 1500))] == ["Pay 2.50 GBP to keep to it."]


async def test_a_place_that_led_to_nothing_may_be_asked_for_again(tmp_path: Path, tiny: Path) -> None:
    async with launch_setup(tmp_path, tiny, recruit=ON_PROLIFIC | {"places": 6}) as setup:
        await setup.launch(publish=str((await setup.launch()).due))
        posting = next(iter(setup.fake.studies.all))
        assert await launch_problems(setup, places=7) == [
            "--places  is 7, and the plan is for 6. Allowed: 1 to 6. "
            "`beholder extend --participants 1` adds lists for the others."
        ]
        setup.fake.people.finish(posting, 2)  # nobody of them came to us: all six lists are open
        result = await setup.launch(places=8, dry_run=True)
        assert result.job.places == 8
        assert await launch_problems(setup, places=9) == [
            "--places  is 9, and the plan is for 8. Allowed: 1 to 8. "
            "`beholder extend --participants 1` adds lists for the others."
        ]


async def test_after_a_purge_of_who_is_who_nobody_is_let_in_for_money(folder: Path, tiny: Path) -> None:
    async with launch_setup(folder, tiny, recruit=ON_PROLIFIC) as setup:
        posting = await setup.open()
        await setup.context.store.ledger.append([LedgerEntry("purge", "done", setup.fake.now, reason_code="identity")])
        assert (await change_posting(setup.context, "pause")).posting.state == "paused"
        day = f"{setup.fake.now:%Y-%m-%d}"
        for work in (setup.launch(), setup.launch(places=6, dry_run=True), change_posting(setup.context, "resume")):
            assert await problems_of(work) == [
                f"tiny  who is who was erased on {day}, so whoever came now could be neither matched nor paid. "
                "Put the new run in a new folder."
            ]
        assert setup.fake.studies.find(posting).status == "PAUSED"


async def test_the_budget_is_one_cap_over_all_runs(folder: Path, tiny: Path) -> None:
    async with launch_setup(folder, tiny, recruit=ON_PROLIFIC, budget="20 GBP") as setup:
        first = await setup.open()
        fake = setup.fake
    text = (folder / "study.yaml").read_text("utf-8")
    (folder / "study.yaml").write_text(f"{text}run: 2\n", "utf-8")
    async with launch_setup(folder, tiny, fake=fake) as setup:
        (dear,) = await problems_of(setup.launch())
        assert dear.partition("  ")[2] == (
            "budget is 20.00 GBP, and 4 people may cost 22.34 GBP, with 11.17 GBP for other runs. Allowed: 22.34 GBP "
            "or more. Up to 3 would fit: recruit.places: 3."
        )
        assert list(fake.studies.all) == [first]
        await setup.launch(places=3, publish=str((await setup.launch(places=3)).due))
        assert str(cost_of_runs(setup.study, await setup.entries(), "GBP")) == "19.55 GBP"
        second = list(fake.studies.all)[-1]
        blocked = [one for one in fake.studies.find(second).body["filters"] if one["filter_id"] == BLOCKED_STUDIES]
        assert [one["selected_values"] for one in blocked] == [[first]], "its people come to one run only"
