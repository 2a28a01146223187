"""Bonus payments of the fake: set up once, and paid each time that somebody says pay."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from beholder.recruit.fake.answers import Answer, Call, Refusal
from beholder.recruit.fake.state import BulkBonus, Moved
from beholder.recruit.fake.wallet import price

if TYPE_CHECKING:
    from beholder.recruit.fake.platform import FakeProlific

_MOST = 200
_ROW = re.compile(r"([0-9A-Za-z_-]+),([0-9]+)(?:\.([0-9]{1,2}))?")


class Bonuses:
    """All bonus payments that were set up, and how often each was paid."""

    def __init__(self, fake: FakeProlific) -> None:
        self._fake = fake
        self.all: dict[str, BulkBonus] = {}
        self.calls: list[str] = []
        """Each call of pay that had an effect, by the id of what it paid."""

    def set_up(self, call: Call) -> Answer:
        """Take note of who gets how much; no money moves."""
        missing = [key for key in ("study_id", "csv_bonuses") if not call.body.get(key)]
        if missing:
            raise Refusal({key: ["This field is required."] for key in missing})
        study = self._fake.studies.find(call.body["study_id"])
        lines = [line.strip() for line in call.body["csv_bonuses"].splitlines() if line.strip()]
        if len(lines) > _MOST:
            raise Refusal(f"There may be {_MOST} rows at most.")
        read = [(line, _ROW.fullmatch(line)) for line in lines]
        if wrong := [line for line, found in read if found is None]:
            raise Refusal([f"This is no id and amount: {line}" for line in wrong])
        rows = [(found[1], 100 * int(found[2]) + int((found[3] or "").ljust(2, "0"))) for _, found in read if found]
        known = {one.id: one.id for one in self._fake.submissions.of(study.id)}
        known |= {one.person.id: one.id for one in self._fake.submissions.of(study.id)}
        if strangers := [id_ for id_, _ in rows if id_ not in known]:
            raise Refusal([f"{id_} has not taken part in the study" for id_ in strangers])
        if any(amount <= 0 for _, amount in rows):
            raise Refusal("Amounts must be above 0.")
        bulk = BulkBonus(self._fake.new_id(), study.id, tuple((known[id_], amount) for id_, amount in rows))
        self.all[bulk.id] = bulk
        cost = price(sum(amount for _, amount in bulk.rows))
        return Answer(
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

    def pay(self, call: Call) -> Answer:
        """Pay what was set up, a little later. Whoever calls twice pays twice."""
        if call.ids[0] not in self.all:
            raise Refusal("There is no such bonus payment.", 404)
        bulk = self.all[call.ids[0]]
        self._fake.check_funds(price(sum(amount for _, amount in bulk.rows)).total)
        self.calls.append(bulk.id)
        self._fake.later(self._fake.now + self._fake.paying_takes, lambda: self._settle(bulk))
        return Answer(202, "The bonuses will be paid in the following minutes.")

    def _settle(self, bulk: BulkBonus) -> None:
        for id_, amount in bulk.rows:
            one = self._fake.submissions.find(id_)
            one.bonuses.append(amount)
            self._fake.wallet.move(Moved(self._fake.now, "bonus", one.id, one.person.id, amount, bulk.id))
