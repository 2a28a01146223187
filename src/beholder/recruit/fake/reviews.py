"""What the researcher sees of submissions and decides about them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from beholder.recruit.fake.answers import Answer, Call, Refusal
from beholder.recruit.fake.clock import stamp
from beholder.recruit.fake.pages import paged
from beholder.recruit.fake.state import Status, Submission

if TYPE_CHECKING:
    from beholder.recruit.fake.platform import FakeProlific

SHORTEST_MESSAGE = 100
_MOST = 1000
_COUNTED: tuple[Status, ...] = (
    "ACTIVE", "APPROVED", "AWAITING REVIEW", "REJECTED", "RESERVED", "RETURNED", "TIMED-OUT", "PARTIALLY APPROVED",
    "SCREENED OUT",
)  # fmt: skip


class Reviews:
    """Lists, looks and decisions."""

    def __init__(self, fake: FakeProlific) -> None:
        self._fake, self._all = fake, fake.submissions

    def index(self, call: Call) -> Answer:
        self._fake.studies.find(call.query["study"])
        found = self._all.of(call.query["study"])
        if "status" in call.query:
            wanted = _spelled(call.query["status"])
            found = [one for one in found if _spelled(one.status) == wanted]
        if call.query.get("ordering") == "-started_at":
            found = found[::-1]
        return Answer(200, {"results": [self._short(one) for one in paged(found, call)]})

    def of_study(self, call: Call) -> Answer:
        self._fake.studies.find(call.ids[0])
        return Answer(200, {"results": [self._short(one) for one in self._all.of(call.ids[0])]})

    def counts(self, call: Call) -> Answer:
        self._fake.studies.find(call.ids[0])
        found = Counter(one.status for one in self._all.of(call.ids[0]))
        return Answer(200, {**{status: found[status] for status in _COUNTED}, "TOTAL": found.total()})

    def show(self, call: Call) -> Answer:
        return Answer(200, self._all.find(call.ids[0]).detail())

    def move(self, call: Call) -> Answer:
        """Carry out a transition; the same one twice is ignored the second time."""
        one, body = self._all.find(call.ids[0]), call.body
        moves: dict[str, Callable[[Submission, dict[str, Any]], None]] = {
            "APPROVE": self._asked_to_approve, "REJECT": self._reject, "COMPLETE": self._completed_by_researcher,
        }  # fmt: skip
        if body["action"] not in moves:
            raise Refusal(f"The action {body['action']} is not available.")
        moves[body["action"]](one, body)
        return Answer(200, one.brief())

    def bulk_approve(self, call: Call) -> Answer:
        """Take note of approvals, which happen a little later; who cannot be approved is left as they are."""
        if "submission_ids" in call.body:
            chosen = [self._all.find(id_) for id_ in call.body["submission_ids"]]
        else:
            people = set(call.body["participant_ids"])
            chosen = [one for one in self._all.of(call.body["study_id"]) if one.person.id in people]
        if len(chosen) > _MOST:
            raise Refusal(f"There may be {_MOST} submissions at most.")

        def approve() -> None:
            for one in chosen:
                self._all.approve(one)

        self._fake.later(self._fake.now + self._fake.approving_takes, approve)
        return Answer(200, "The request to bulk approve has been made successfully.")

    def request_return(self, call: Call) -> Answer:
        one = self._all.find(call.ids[0])
        if not call.body["request_return_reasons"]:
            raise Refusal({"request_return_reasons": ["Give a reason."]})
        if one.status not in ("ACTIVE", "AWAITING REVIEW"):
            raise Refusal(f"A submission that is {one.status} cannot be returned.")
        # Not idempotent: each request writes to the person once more.
        self._all.ask_back(one, call.body["request_return_reasons"])
        return Answer(
            200,
            {
                "id": one.id,
                "status": one.status,
                "participant": one.person.id,
                "return_requested": stamp(one.return_requested),
            },
        )

    def _asked_to_approve(self, one: Submission, body: dict[str, Any]) -> None:
        if one.status not in ("AWAITING REVIEW", "APPROVED") and not (
            one.status == "TIMED-OUT" and self._fake.approves_timed_out
        ):
            raise Refusal(f"A submission that is {one.status} cannot be approved.")
        self._all.approve(one)

    def _reject(self, one: Submission, body: dict[str, Any]) -> None:
        if len(body.get("message", "")) < SHORTEST_MESSAGE:
            raise Refusal({"message": [f"This must have {SHORTEST_MESSAGE} characters at least."]})
        if not body.get("rejection_category"):
            raise Refusal({"rejection_category": ["This field is required."]})
        if one.status not in ("AWAITING REVIEW", "REJECTED"):
            raise Refusal(f"A submission that is {one.status} cannot be rejected.")
        one.status, one.rejection = "REJECTED", body["message"]
        self._all.changed(one)

    def _completed_by_researcher(self, one: Submission, body: dict[str, Any]) -> None:
        study = self._fake.studies.find(one.study)
        entry = study.code(body.get("completion_code"))
        if entry is None or entry.get("actor") != "researcher" or one.status not in ("ACTIVE", "AWAITING REVIEW"):
            raise Refusal({"completion_code": ["This code is not the researcher's to use."]})
        share = (body.get("completion_code_data") or {}).get("percentage_of_reward")
        if any(act["action"] == "DYNAMIC_PAYMENT" for act in entry["actions"]):
            if share is None or not 8 <= share <= 99:
                raise Refusal({"completion_code_data": ["percentage_of_reward must be from 8 to 99."]})
            one.status = "PARTIALLY APPROVED"
            self._all.pay("partial", one, int(study.reward * share) // 100)
        for act in entry["actions"]:
            self._all.act(study, one, act)
        self._all.changed(one)

    def _short(self, one: Submission) -> dict[str, Any]:
        siblings = sum(other.person.id == one.person.id for other in self._all.of(one.study))
        return one.short(has_siblings=siblings > 1)


def _spelled(status: str) -> str:
    return status.upper().replace("-", "_").replace(" ", "_")
