"""The researcher's account on the fake: workspace, project, balance, prices, recommended pay, messages."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from beholder.recruit.fake.answers import Answer, Call, Refusal
from beholder.recruit.fake.filters import catalogue, count
from beholder.recruit.fake.rules import is_whole
from beholder.recruit.fake.wallet import Price, price

if TYPE_CHECKING:
    from beholder.recruit.fake.platform import FakeProlific

_HOURLY = {"GBP": (600, 900), "USD": (800, 1200)}
"""The least and the recommended pay for an hour, in hundredths."""


class Account:
    """What is asked about the researcher and not about a study."""

    def __init__(self, fake: FakeProlific) -> None:
        self._fake = fake

    def me(self, call: Call) -> Answer:
        return Answer(200, {"id": self._fake.researcher, "email": "researcher@example.org"})

    def workspaces(self, call: Call) -> Answer:
        return Answer(200, {"results": [{"id": self._fake.workspace, "title": "Rehearsals"}]})

    def projects(self, call: Call) -> Answer:
        self._check_workspace(call.ids[0])
        return Answer(200, {"results": [{"id": self._fake.project, "title": "Rehearsal", "type": "PRIVATE"}]})

    def balance(self, call: Call) -> Answer:
        self._check_workspace(call.ids[0])
        wallet = self._fake.wallet
        return Answer(
            200,
            {
                "currency_code": wallet.currency,
                "total_balance": wallet.balance,
                "balance_breakdown": {},
                "available_balance": self._fake.available,
                "available_balance_breakdown": {},
            },
        )

    def calculate(self, call: Call) -> Answer:
        reward, places = call.body["reward"], call.body["total_available_places"]
        if not (is_whole(reward) and is_whole(places) and reward > 0 and places > 0):
            raise Refusal("Reward and places must be positive integers.")
        return Answer(200, {"total_cost": price(int(reward) * int(places)).total})

    def cost(self, call: Call) -> Answer:
        """Tell what a study has cost so far, or will have cost in the end."""
        study = self._fake.studies.find(call.ids[0])
        paid = [one for one in self._fake.wallet.moved if self._fake.submissions.all[one.submission].study == study.id]
        bonuses = sum(one.amount for one in paid if one.kind == "bonus")
        rewards = sum(one.amount for one in paid if one.kind != "bonus")
        if call.query.get("is_projected") == "true":
            rewards = study.reward * study.places
        return Answer(200, {"rewards": self._priced(price(rewards)), "bonuses": self._priced(price(bonuses))})

    def recommend(self, call: Call) -> Answer:
        self._check_workspace(call.query["workspace_id"])
        currency = call.query["currency"]
        if currency not in _HOURLY:
            raise Refusal({"currency": ["This is not supported."]})
        least, advice = _HOURLY[currency]
        return Answer(
            200, [{"currency": currency, "min_reward_per_hour": least, "recommended_reward_per_hour": advice}]
        )

    def filters(self, call: Call) -> Answer:
        return Answer(200, {"results": catalogue()})

    def eligible(self, call: Call) -> Answer:
        fake = self._fake
        return Answer(200, {"count": count(call.body["filters"], list(fake.people.all.values()), fake.memberships())})

    def message(self, call: Call) -> Answer:
        self._fake.messages.append((call.body["recipient_id"], call.body["body"]))
        return Answer(204)

    def messages(self, call: Call) -> Answer:
        self._fake.messages += [(one, call.body["body"]) for one in call.body["ids"]]
        return Answer(204)

    def _check_workspace(self, id_: str) -> None:
        if id_ != self._fake.workspace:
            raise Refusal("There is no such workspace.", 404)

    def _priced(self, cost: Price) -> dict[str, Any]:
        names = {"rewards": cost.pay, "fees": cost.fees, "tax": cost.vat}
        return {name: {"amount": amount, "currency": self._fake.wallet.currency} for name, amount in names.items()}
