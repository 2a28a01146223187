"""The wallet of the fake Prolific is honest: bonuses, costs, faults before and after the money moved."""

from __future__ import annotations

import contextlib
from typing import Any

import httpx
import pytest
from hypothesis import given
from hypothesis import strategies as st

from beholder.recruiting.fake import FakeProlific
from beholder.recruiting.fake.http import FAULT_KINDS, FAULTS_WITHOUT_REPLY, FakeCall, FaultKind, Refusal
from beholder.recruiting.fake.state import price
from support.prolific_researcher import BODY, LIST, PAY, Researcher, detail, make


async def test_paying_a_bonus_twice_pays_it_twice(researcher: Researcher) -> None:
    fake = researcher.fake
    study = await researcher.publish()
    one, two = fake.people.finish(study, 2)
    rows = f"{one.submission.id},1.5\n{two.submission.person.id},30\n"
    bulk = (await researcher.set_up(study, rows)).json()
    assert (bulk["amount"], bulk["fees"], bulk["vat"], bulk["total_amount"]) == (3150, 1040, 208, 4398)
    before = fake.balance
    fake.advance(minutes=5)
    assert fake.payments == []
    for calls in (1, 2):
        assert (await researcher.send("POST", f"/bulk-bonus-payments/{bulk['id']}/pay/")).status_code == 202
        assert len(fake.payments) == 2 * (calls - 1)
        fake.advance(minutes=2)
        assert [moved.amount for moved in fake.payments] == [150, 3000] * calls
        assert (await researcher.get(f"/submissions/{one.submission.id}/"))["bonus_payments"] == [150] * calls
    assert before - fake.balance == 2 * (price(150).total + price(3000).total)
    assert fake.bonuses.calls == [bulk["id"]] * 2


@pytest.mark.parametrize(
    ("rows", "words"),
    [
        ("{one},1.505", ["This is no id and amount: {one},1.505"]),
        ("{one};1.50", ["This is no id and amount: {one};1.50"]),
        ("stranger,1.50", ["stranger has not taken part in the study"]),
        ("{one},0.00", "Amounts must be above 0."),
        ("{one},0.01\n" * 201, "There may be 200 rows at most."),
        ("", {"csv_bonuses": ["This field is required."]}),
    ],
)
async def test_bonuses_that_are_wrong_are_refused(researcher: Researcher, rows: str, words: Any) -> None:
    study = await researcher.publish()
    one = researcher.fake.people.finish(study)[0].submission.id
    response = await researcher.set_up(study, rows.format(one=one))
    said = [word.format(one=one) for word in words] if isinstance(words, list) else words
    assert (response.status_code, detail(response)) == (400, said)


async def test_nothing_is_bought_without_funds() -> None:
    researcher = Researcher(make(balance=921))
    fake = researcher.fake
    draft = (await researcher.send("POST", "/studies/", BODY)).json()
    assert draft["is_ready_to_publish"]
    assert detail(await researcher.move(draft["id"], "PUBLISH")).startswith("Not enough funds: ")
    fake.wallet.balance = 922  # three places and two screen-outs, with fees and tax
    assert (await researcher.move(draft["id"], "PUBLISH")).status_code == 200
    balance = await researcher.get(f"/workspaces/{fake.workspace}/balance/")
    assert (balance["total_balance"], balance["available_balance"], balance["currency_code"]) == (922, 0, "GBP")
    more = await researcher.send("PATCH", f"/studies/{draft['id']}/", {"total_available_places": 4})
    assert more.status_code == 400
    assert (await researcher.get(f"/studies/{draft['id']}/"))["total_available_places"] == 3
    one = fake.people.finish(draft["id"])[0].submission
    bulk = (await researcher.set_up(draft["id"], f"{one.id},1.00")).json()["id"]
    assert (await researcher.send("POST", f"/bulk-bonus-payments/{bulk}/pay/")).status_code == 400
    fake.advance(days=1)
    assert fake.payments == []


async def test_what_a_study_costs_is_told_before_and_after(researcher: Researcher) -> None:
    body = {"reward": 200, "total_available_places": 3}
    asked = (await researcher.send("POST", "/study-cost-calculator/", body)).json()
    assert asked == {"total_cost": 600 + 198 + 40}
    study = await researcher.publish()
    planned = await researcher.get(f"/studies/{study}/cost/", is_projected="true")
    assert {name: one["amount"] for name, one in planned["rewards"].items()} == {"rewards": 600, "fees": 198, "tax": 40}
    researcher.fake.people.take(study).start().finish("AUTO")
    so_far = await researcher.get(f"/studies/{study}/cost/")
    assert so_far["rewards"]["rewards"] == {"amount": 200, "currency": "GBP"}


async def test_lists_are_paged_to_their_end(researcher: Researcher) -> None:
    study = await researcher.publish(total_available_places=25)
    researcher.fake.people.finish(study, 23)
    pages = [(await researcher.get("/submissions/", study=study, page=str(page)))["results"] for page in (1, 2, 3)]
    assert [len(page) for page in pages] == [20, 3, 0]
    researcher.fake.faults.next(LIST, "duplicate", "reordered")
    doubled = (await researcher.get("/submissions/", study=study))["results"]
    assert len(doubled) == 21
    assert len({one["id"] for one in doubled}) == 20
    assert (await researcher.get("/submissions/", study=study))["results"] == pages[0][::-1]


async def test_a_study_may_look_busy(researcher: Researcher) -> None:
    study = await researcher.publish()
    researcher.fake.faults.next("GET /api/v1/studies/{id}/", "processing")
    assert await researcher.status(study) == "PROCESSING"
    assert await researcher.status(study) == "ACTIVE"


ERRORS: dict[FaultKind, type[Exception]] = {
    "refused": httpx.ConnectError, "cut_before": httpx.RemoteProtocolError, "cut_after": httpx.RemoteProtocolError,
    "slow_before": httpx.ReadTimeout, "slow_after": httpx.ReadTimeout,
}  # fmt: skip


@pytest.mark.parametrize("kind", [kind for kind in FAULT_KINDS if kind not in ("duplicate", "reordered", "processing")])
async def test_a_fault_strikes_before_or_after_the_money_moved(researcher: Researcher, kind: FaultKind) -> None:
    fake = researcher.fake
    study = await researcher.publish()
    one = fake.people.finish(study)[0].submission
    bulk = (await researcher.set_up(study, f"{one.id},1.00")).json()["id"]
    fake.faults.next(PAY, kind)
    if kind in FAULTS_WITHOUT_REPLY:
        with pytest.raises(ERRORS[kind]):
            await researcher.send("POST", f"/bulk-bonus-payments/{bulk}/pay/")
    else:
        response = await researcher.send("POST", f"/bulk-bonus-payments/{bulk}/pay/")
        assert response.status_code in (200, 408, 429, 500, 502, 504)
    fake.advance(minutes=5)
    assert len(fake.payments) == kind.endswith("_after")
    assert fake.faults.happened == [(PAY, kind)]


async def test_faults_by_chance_are_the_same_ones_each_time() -> None:
    def struck() -> list[bool]:
        fake = make()
        fake.faults.every("*", "500", share=0.3, seed=5)
        return [fake.faults.take("GET /x") is not None for _ in range(200)]

    first = struck()
    assert first == struck()
    assert 30 < sum(first) < 90


@given(
    st.lists(
        st.sampled_from(
            ["take", "start", "finish", "out", "return", "approve", "pause", "start_study", "places", "wait"]
        ),
        max_size=40,
    )
)
def test_money_and_places_add_up_whatever_happens(acts: list[str]) -> None:
    """Wallet and places after any order of events: nobody is paid twice, nothing is spent that was not there."""
    fake = FakeProlific(balance=100_000)
    study_id = _published(fake)
    study = fake.studies.all[study_id]
    for act in acts:
        with contextlib.suppress(Refusal):
            _do(fake, study_id, act)
        inside = fake.submissions.of(study_id)
        placed = sum(one.status in ("RESERVED", "ACTIVE", "AWAITING REVIEW", "APPROVED") for one in inside)
        assert placed <= study.places
        rewarded = [one.submission for one in fake.payments if one.kind == "reward"]
        assert len(rewarded) == len(set(rewarded))
        assert {one.id for one in inside if one.status == "APPROVED"} == set(rewarded)
        assert fake.balance == 100_000 - sum(price(one.amount).total for one in fake.payments)
        assert sum(one.status == "SCREENED OUT" for one in inside) <= 2


def _published(fake: FakeProlific) -> str:
    study = fake.studies.create(FakeCall((), {}, BODY)).body["id"]
    fake.studies.move(FakeCall((study,), {}, {"action": "PUBLISH"}))
    return str(study)


def _do(fake: FakeProlific, study: str, act: str) -> None:
    submissions = fake.submissions
    latest = submissions.of(study)[-1] if submissions.of(study) else None
    match act:
        case "take":
            fake.people.take(study)
        case "pause" | "start_study":
            fake.studies.move(FakeCall((study,), {}, {"action": "PAUSE" if act == "pause" else "START"}))
        case "places":
            fake.studies.change(FakeCall((study,), {}, {"total_available_places": fake.studies.all[study].places + 1}))
        case "wait":
            fake.advance(minutes=15)
        case _ if latest is None:
            return
        case "start":
            submissions.start(latest)
        case "finish" | "out":
            submissions.complete(latest, "DONE" if act == "finish" else "OUT")
        case "return":
            submissions.return_place(latest)
        case "approve":
            fake.reviews.move(FakeCall((latest.id,), {}, {"action": "APPROVE"}))
