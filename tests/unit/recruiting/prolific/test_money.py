"""Money on Prolific: bonuses, quotes and the account."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from beholder.errors import RecruitError
from beholder.recruiting.contract import BonusRow, PlatformRefused
from beholder.recruiting.fake import FakeProlific
from beholder.recruiting.prolific.client import PROLIFIC, ProlificClient
from beholder.recruiting.prolific.money import ProlificAccount, bonus_csv, rates_of
from beholder.study.recruitment import Sum
from support.prolific_problems import launch_problems
from support.prolific_rehearsal import JOB, RECRUIT, prolific, study_in


async def test_a_project_that_is_not_there_is_told_with_those_that_are(tmp_path: Path) -> None:
    fake = FakeProlific()
    (line,) = await launch_problems(tmp_path, fake, recruit=RECRUIT | {"project": "mine"})
    assert line.split("  ", 1)[1] == (
        f"recruit.project is mine, which this token does not reach. Allowed: {fake.project} (Rehearsal). Write the id "
        "of one of them."
    )


async def test_a_currency_that_the_workspace_does_not_have_is_told(tmp_path: Path) -> None:
    lines = await launch_problems(tmp_path, FakeProlific(currency="USD"), budget="100 GBP")
    assert [line.split("  ", 1)[1] for line in lines] == [
        "recruit.reward is 2.00 GBP, and the workspace on Prolific pays in USD. Allowed: USD.",
        "budget is 100 GBP, and the workspace on Prolific pays in USD. Allowed: USD.",
    ]


async def test_a_draft_without_a_reward_is_told(tmp_path: Path) -> None:
    async with prolific(study_in(tmp_path), FakeProlific()) as recruiter:
        with pytest.raises(RecruitError) as error:
            await recruiter.quote(replace(JOB, reward=Sum(0, "GBP")))
    assert str(error.value).split("  ", 1)[1] == (
        "recruit.reward is left out, and on Prolific everybody is paid. Allowed: such as 2.00 GBP."
    )


REFUSED = {
    "no rows": ([], "these bonuses have 0 rows, where 1 to 200 are taken at once"),
    "a row twice": (
        [BonusRow("a", Sum(5, "GBP"))] * 2,
        "these bonuses have a submission twice, and nobody could tell its two amounts apart afterwards",
    ),
    "nothing, in another currency": (
        [BonusRow("a", Sum(0, "GBP")), BonusRow("b", Sum(5, "USD"))],
        "these bonuses have an amount of nothing or less; amounts in USD, where the workspace pays in GBP",
    ),
}


@pytest.mark.parametrize("what", REFUSED)
async def test_bonuses_that_nobody_could_settle_are_not_set_up(what: str, tmp_path: Path) -> None:
    rows, words = REFUSED[what]
    fake = FakeProlific()
    async with prolific(study_in(tmp_path), fake) as recruiter:
        with pytest.raises(PlatformRefused) as error:
            await recruiter.setup_bonus("study", rows)
    assert str(error.value) == words
    assert not any("bonus" in request for request in fake.requests)


async def test_a_quote_holds_everything_that_may_come(tmp_path: Path) -> None:
    fake = FakeProlific()
    study = study_in(
        tmp_path,
        design={"sessions_per_participant": 3},
        clean={"bonus": {"quantity": {"sessions": 2, "each": "0.10 GBP"}, "quality": {"best": 20, "each": "0.15 GBP"}}},
        recruit=RECRUIT | {"screen_out": "0.30 GBP"},
    )
    async with prolific(study, fake) as recruiter:
        quote = await recruiter.quote(replace(JOB, places=2, screen_out=Sum(30, "GBP")))
    # The store has 3 lists, so that of two people one may take a second session.
    assert quote.rewards == Sum(400, "GBP")
    assert quote.fees == Sum(158, "GBP")
    assert quote.screen_outs == Sum(42, "GBP")  # one of 0.30 with the fee of the calculator, 558 for 400
    assert quote.bonuses == Sum(342, "GBP")  # 2.00 + 3 times 0.10 + once 0.15, likewise
    assert quote.total == Sum(942, "GBP")
    assert quote.balance == Sum(100_000, "GBP")
    assert (quote.hourly, quote.floor, quote.advice) == (Sum(1200, "GBP"), Sum(600, "GBP"), Sum(900, "GBP"))


async def test_the_rates_of_the_help_pages_stand_in_for_those_that_are_refused() -> None:
    client = ProlificClient(PROLIFIC, "rehearsal", transport=FakeProlific().transport())
    for currency, floor, advice in (("GBP", 600, 900), ("USD", 800, 1200)):
        rates = await rates_of(ProlificAccount("unknown to the fake", "", currency), client)
        assert rates == (Sum(floor, currency), Sum(advice, currency))
    assert await rates_of(ProlificAccount("", "", "EUR"), client) == (None, None)
    await client.close()


def test_amounts_are_written_with_a_point_and_two_digits() -> None:
    rows = [BonusRow(name, Sum(minor, "GBP")) for name, minor in (("a", 150), ("b", 5), ("c", 3000), ("d", 100007))]
    assert bonus_csv(rows) == "a,1.50\nb,0.05\nc,30.00\nd,1000.07"
