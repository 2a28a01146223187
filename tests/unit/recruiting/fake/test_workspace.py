"""The account on the fake platform: bonuses, funds, costs and signed addresses."""

from __future__ import annotations

from typing import Any

import pytest
from joserfc import jwt
from joserfc.jwk import KeySet

from beholder.recruiting.fake.state import price
from support.prolific_researcher import BODY, Researcher, detail, make


async def test_the_addresses_of_a_study_are_signed_where_it_says_so(researcher: Researcher) -> None:
    fake = researcher.fake
    assert "prolific_token" not in fake.people.take(await researcher.publish()).url
    study = await researcher.publish(is_external_study_url_secure=True)
    visit = fake.people.take(study)
    address, _, token = visit.url.partition("&prolific_token=")
    published = (await researcher.client.get("/.well-known/study/jwks.json")).json()["keys"]
    read = jwt.decode(token, KeySet.import_key_set({"keys": published}), algorithms=["RS256"])
    assert read.header == {"alg": "RS256", "kid": published[0]["kid"], "typ": "JWT"}
    ids = {"PROLIFIC_PID": visit.submission.person.id, "STUDY_ID": study, "SESSION_ID": visit.submission.id}
    now = int(fake.now.timestamp())
    assert read.claims == {
        "iss": "https://www.prolific.com",
        "iat": now,
        "exp": now + 120,
        "aud": address,
        "sub": visit.submission.id,
        "prolific": ids | {"workspace_id": fake.workspace},
    }


async def test_some_workspaces_sign_no_addresses() -> None:
    poor = Researcher(make(features=frozenset()))
    refused = await poor.send("POST", "/studies/", {**BODY, "is_external_study_url_secure": True})
    assert detail(refused)["is_external_study_url_secure"] == ["This is not available in your workspace."]
    await poor.client.aclose()


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
    expected = [word.format(one=one) for word in words] if isinstance(words, list) else words
    assert (response.status_code, detail(response)) == (400, expected)


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
