"""The researcher's account on the fake platform: workspace, balance, prices, messages, bonuses, groups."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qsl, urlencode, urlsplit

from beholder.recruiting.fake.filters import catalogue, count_eligible
from beholder.recruiting.fake.http import FakeCall, FakeReply, Refusal
from beholder.recruiting.fake.state import BulkBonus, FakeGroup, Price, WalletPayment, is_whole, price, stamp

if TYPE_CHECKING:
    from joserfc.jwk import RSAKey

    from beholder.recruiting.fake.platform import FakeProlific


_HOURLY = {"GBP": (600, 900), "USD": (800, 1200)}
"""The least and the recommended hourly pay, in hundredths."""
_SIGNATURE_SECONDS = 120


class FakeWorkspace:
    """Operations about the researcher's account."""

    def __init__(self, fake: FakeProlific) -> None:
        self._fake = fake

    @cached_property
    def key(self) -> RSAKey:
        """The key that signs addresses."""
        from joserfc.jwk import RSAKey

        about: Any = {"kid": self._fake.new_id(), "alg": "RS256", "use": "sig"}
        return RSAKey.generate_key(2048, about)

    def keys(self, call: FakeCall) -> FakeReply:
        public = self.key.as_dict(private=False)
        return FakeReply(200, {"keys": [{**public, "key_ops": ["verify"]}]})

    def signed(self, address: str, submission: str) -> str:
        """Return an address with the signature on its parameters, which is good for two minutes."""
        return f"{address}&{urlencode({'prolific_token': self.sign(address, submission)})}"

    def sign(self, address: str, submission: str, **changed: Any) -> str:
        """Return the signature on the parameters of an address; `changed` are claims that differ from Prolific's."""
        from joserfc import jwt

        now = int(self._fake.now.timestamp())
        parameters = {**dict(parse_qsl(urlsplit(address).query)), "workspace_id": self._fake.workspace}
        claims = {
            "iss": "https://www.prolific.com", "iat": now, "exp": now + _SIGNATURE_SECONDS, "aud": address,
            "sub": submission, "prolific": parameters,
        }  # fmt: skip
        return jwt.encode({"alg": "RS256", "kid": self.key.kid, "typ": "JWT"}, claims | changed, self.key)

    def me(self, call: FakeCall) -> FakeReply:
        return FakeReply(200, {"id": self._fake.researcher, "email": "researcher@example.org"})

    def workspaces(self, call: FakeCall) -> FakeReply:
        return FakeReply(200, {"results": [{"id": self._fake.workspace, "title": "Rehearsals"}]})

    def projects(self, call: FakeCall) -> FakeReply:
        self._check_workspace(call.ids[0])
        return FakeReply(200, {"results": [{"id": self._fake.project, "title": "Rehearsal", "type": "PRIVATE"}]})

    def balance(self, call: FakeCall) -> FakeReply:
        self._check_workspace(call.ids[0])
        wallet = self._fake.wallet
        return FakeReply(
            200,
            {
                "currency_code": wallet.currency,
                "total_balance": wallet.balance,
                "balance_breakdown": {},
                "available_balance": self._fake.available,
                "available_balance_breakdown": {},
            },
        )

    def calculate(self, call: FakeCall) -> FakeReply:
        reward, places = call.body["reward"], call.body["total_available_places"]
        if not (is_whole(reward) and is_whole(places) and reward > 0 and places > 0):
            raise Refusal("Reward and places must be positive integers.")
        return FakeReply(200, {"total_cost": price(int(reward) * int(places)).total})

    def cost(self, call: FakeCall) -> FakeReply:
        """Return what a study has cost so far, or its projected cost."""
        study = self._fake.studies.find(call.ids[0])
        paid = [
            one for one in self._fake.wallet.payments if self._fake.submissions.all[one.submission].study == study.id
        ]
        bonuses = sum(one.amount for one in paid if one.kind == "bonus")
        rewards = sum(one.amount for one in paid if one.kind != "bonus")
        if call.query.get("is_projected") == "true":
            rewards = study.reward * study.places
        return FakeReply(200, {"rewards": self._priced(price(rewards)), "bonuses": self._priced(price(bonuses))})

    def recommend(self, call: FakeCall) -> FakeReply:
        self._check_workspace(call.query["workspace_id"])
        currency = call.query["currency"]
        if currency not in _HOURLY:
            raise Refusal({"currency": ["This is not supported."]})
        least, advice = _HOURLY[currency]
        return FakeReply(
            200, [{"currency": currency, "min_reward_per_hour": least, "recommended_reward_per_hour": advice}]
        )

    def filters(self, call: FakeCall) -> FakeReply:
        return FakeReply(200, {"results": catalogue()})

    def eligible(self, call: FakeCall) -> FakeReply:
        fake = self._fake
        return FakeReply(
            200, {"count": count_eligible(call.body["filters"], list(fake.people.all.values()), fake.memberships())}
        )

    def message(self, call: FakeCall) -> FakeReply:
        self._fake.messages.append((call.body["recipient_id"], call.body["body"]))
        return FakeReply(204)

    def messages(self, call: FakeCall) -> FakeReply:
        self._fake.messages += [(one, call.body["body"]) for one in call.body["ids"]]
        return FakeReply(204)

    def _check_workspace(self, id_: str) -> None:
        if id_ != self._fake.workspace:
            raise Refusal("There is no such workspace.", 404)

    def _priced(self, cost: Price) -> dict[str, Any]:
        names = {"rewards": cost.pay, "fees": cost.fees, "tax": cost.vat}
        return {name: {"amount": amount, "currency": self._fake.wallet.currency} for name, amount in names.items()}


# Bonuses


_MOST = 200
_ROW = re.compile(r"([0-9A-Za-z_-]+),([0-9]+)(?:\.([0-9]{1,2}))?")


class FakeBonuses:
    """Bonus payments: set up once, and paid each time that `pay` is called."""

    def __init__(self, fake: FakeProlific) -> None:
        self._fake = fake
        self.all: dict[str, BulkBonus] = {}
        self.calls: list[str] = []
        """The id of the bonus payment for each successful call of `pay`."""

    def set_up(self, call: FakeCall) -> FakeReply:
        """Store a bonus payment; no money moves."""
        missing = [key for key in ("study_id", "csv_bonuses") if not call.body.get(key)]
        if missing:
            raise Refusal({key: ["This field is required."] for key in missing})
        study = self._fake.studies.find(call.body["study_id"])
        lines = [line.strip() for line in call.body["csv_bonuses"].splitlines() if line.strip()]
        if len(lines) > _MOST:
            raise Refusal(f"There may be {_MOST} rows at most.")
        matches = [(line, _ROW.fullmatch(line)) for line in lines]
        if wrong := [line for line, match in matches if match is None]:
            raise Refusal([f"This is no id and amount: {line}" for line in wrong])
        rows = [(match[1], 100 * int(match[2]) + int((match[3] or "").ljust(2, "0"))) for _, match in matches if match]
        submissions = {one.id: one.id for one in self._fake.submissions.of(study.id)}
        submissions |= {one.person.id: one.id for one in self._fake.submissions.of(study.id)}
        if unknown := [id_ for id_, _ in rows if id_ not in submissions]:
            raise Refusal([f"{id_} has not taken part in the study" for id_ in unknown])
        if any(amount <= 0 for _, amount in rows):
            raise Refusal("Amounts must be above 0.")
        bulk = BulkBonus(self._fake.new_id(), study.id, tuple((submissions[id_], amount) for id_, amount in rows))
        self.all[bulk.id] = bulk
        cost = price(sum(amount for _, amount in bulk.rows))
        return FakeReply(
            201,
            {
                "id": bulk.id,
                "study": study.id,
                "amount": cost.pay,
                "fees": cost.fees,
                "vat": cost.vat,
                "total_amount": cost.total,
            },
        )

    def pay(self, call: FakeCall) -> FakeReply:
        """Pay a bonus payment, a little later. Calling twice pays twice."""
        if call.ids[0] not in self.all:
            raise Refusal("There is no such bonus payment.", 404)
        bulk = self.all[call.ids[0]]
        self._fake.check_funds(price(sum(amount for _, amount in bulk.rows)).total)
        self.calls.append(bulk.id)
        self._fake.schedule(self._fake.now + self._fake.paying_takes, lambda: self._settle(bulk))
        return FakeReply(202, "The bonuses will be paid in the following minutes.")

    def _settle(self, bulk: BulkBonus) -> None:
        for id_, amount in bulk.rows:
            one = self._fake.submissions.find(id_)
            one.bonuses.append(amount)
            self._fake.wallet.pay(WalletPayment(self._fake.now, "bonus", one.id, one.person.id, amount, bulk.id))


# Participant groups


class FakeGroups:
    """The participant groups of the workspace. Membership also applies to studies that are already published."""

    def __init__(self, fake: FakeProlific) -> None:
        self._fake = fake
        self.all: dict[str, FakeGroup] = {}

    def index(self, call: FakeCall) -> FakeReply:
        if not {"workspace_id", "project_id"} & set(call.query):
            raise Refusal({"workspace_id": ["Give workspace_id or project_id."]})
        return FakeReply(200, {"results": [_group_json(one) for one in self.all.values() if not one.is_deleted]})

    def create(self, call: FakeCall) -> FakeReply:
        if call.body.get("workspace_id") != self._fake.workspace:
            raise Refusal({"workspace_id": ["There is no such workspace."]})
        group = FakeGroup(self._fake.new_id(), call.body["name"], self._fake.workspace, call.body.get("description"))
        self.all[group.id] = group
        self.add(group.id, call.body.get("participant_ids", []))
        return FakeReply(201, _group_json(group))

    def show(self, call: FakeCall) -> FakeReply:
        return FakeReply(200, _group_json(self.find(call.ids[0])))

    def delete(self, call: FakeCall) -> FakeReply:
        self.find(call.ids[0]).is_deleted = True
        return FakeReply(204)

    def members(self, call: FakeCall) -> FakeReply:
        return FakeReply(200, {"results": _members_json(self.find(call.ids[0]))})

    def add_members(self, call: FakeCall) -> FakeReply:
        self.add(call.ids[0], call.body.get("participant_ids", []))
        return self.members(call)

    def remove_members(self, call: FakeCall) -> FakeReply:
        self.remove(call.ids[0], call.body.get("participant_ids", []))
        return self.members(call)

    def find(self, id_: str) -> FakeGroup:
        if id_ not in self.all or self.all[id_].is_deleted:
            raise Refusal("There is no such participant group.", 404)
        return self.all[id_]

    def add(self, id_: str, people: Sequence[str]) -> None:
        """Add people to a group; members keep their date."""
        members = self.find(id_).members
        for person in people:
            members.setdefault(person, self._fake.now)

    def remove(self, id_: str, people: Sequence[str]) -> None:
        for person in people:
            self.find(id_).members.pop(person, None)


def _group_json(group: FakeGroup) -> dict[str, Any]:
    return {
        "id": group.id, "name": group.name, "project_id": None, "workspace_id": group.workspace,
        "organisation_id": None, "description": group.description, "participant_count": len(group.members),
        "is_deleted": group.is_deleted, "feeder_studies": [],
    }  # fmt: skip


def _members_json(group: FakeGroup) -> list[dict[str, Any]]:
    return [{"participant_id": person, "datetime_created": stamp(at)} for person, at in group.members.items()]
