"""Submissions of the fake platform: places, completion codes, time limits, the researcher's decisions, and people."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from datetime import timedelta
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from beholder.recruiting.fake.filters import PROFILES, lets_in
from beholder.recruiting.fake.http import FakeCall, FakeReply, Refusal, page_of
from beholder.recruiting.fake.state import (
    LIVE_STATUSES,
    PLACE_STATUSES,
    PLACEHOLDERS,
    SIGNED,
    FakePerson,
    FakeStudy,
    FakeSubmission,
    PaymentKind,
    Status,
    WalletPayment,
    stamp,
)

if TYPE_CHECKING:
    from beholder.recruiting.fake.platform import FakeProlific


_RESERVATION = timedelta(minutes=10)
_AUTO_APPROVAL = timedelta(days=21)


class FakeSubmissions:
    """All submissions."""

    def __init__(self, fake: FakeProlific) -> None:
        self._fake = fake
        self.all: dict[str, FakeSubmission] = {}

    def of(self, study: str) -> list[FakeSubmission]:
        return [one for one in self.all.values() if one.study == study]

    def screened_out(self, study: str) -> int:
        return sum(one.status == "SCREENED OUT" for one in self.of(study))

    def taken(self, study: str) -> int:
        """Return the number of taken places of a study."""
        return sum(one.status in PLACE_STATUSES for one in self.of(study))

    def find(self, id_: str) -> FakeSubmission:
        if id_ not in self.all:
            raise Refusal("There is no such submission.", 404)
        return self.all[id_]

    def take(self, study: FakeStudy, person: FakePerson, *, again: bool = False) -> FakeSubmission:
        """Return the submission of a person who takes a place, or raise Refusal. `again` admits repeats."""
        self._check_open(study, person, again=again)
        one = FakeSubmission(self._fake.new_id(), study.id, person, self._fake.now)
        self.all[one.id] = one
        self._fake.schedule(self._fake.now + _RESERVATION, lambda: self._lapse(one))
        self.changed(one)
        return one

    def start(self, one: FakeSubmission) -> None:
        """Start the study and its time limit."""
        if one.status != "RESERVED":
            raise Refusal(f"A submission that is {one.status} cannot be started.")
        one.status, one.started_at = "ACTIVE", self._fake.now
        self._fake.schedule(self._fake.now + self._fake.studies.find(one.study).limit, lambda: self._time_out(one))
        self.changed(one)

    def complete(self, one: FakeSubmission, code: str) -> None:
        """Submit a code and carry out its actions."""
        if one.status == "TIMED-OUT":
            one.code = code
            return
        if one.status != "ACTIVE":
            raise Refusal(f"A submission that is {one.status} cannot be completed.")
        study = self._fake.studies.find(one.study)
        one.code, one.completed_at, one.status = code, self._fake.now, "AWAITING REVIEW"
        self._fake.schedule(self._fake.now + _AUTO_APPROVAL, lambda: self.approve(one))
        entry = study.code(code)
        for act in entry["actions"] if entry and entry.get("actor", "participant") == "participant" else []:
            self.act(study, one, act)
        self.changed(one)

    def return_place(self, one: FakeSubmission) -> None:
        """Return a place, or a submission that awaits review."""
        if one.status not in (*LIVE_STATUSES, "AWAITING REVIEW", "TIMED-OUT"):
            raise Refusal(f"A submission that is {one.status} cannot be returned.")
        one.status = "RETURNED"
        self.changed(one)

    def _check_open(self, study: FakeStudy, person: FakePerson, *, again: bool) -> None:
        inside = self.of(study.id)
        own = [one for one in inside if one.person.id == person.id]
        config = study.body.get("submissions_config") or {}
        most, at_once = config.get("max_submissions_per_participant", 1), config.get("max_concurrent_submissions") or -1
        if study.status != "ACTIVE":
            raise Refusal(f"The study is {study.status}.")
        if self.taken(study.id) >= study.places:
            raise Refusal("The study is full.")
        if 0 < at_once <= sum(one.status in LIVE_STATUSES for one in inside):
            raise Refusal("Too many people are in the study at this moment.")
        if not lets_in(study.body.get("filters") or [], person, self._fake.memberships()):
            raise Refusal("The study is not for this participant.")
        if any(one.status in LIVE_STATUSES for one in own) or (most is not None and 0 < most <= len(own) and not again):
            raise Refusal("The participant has been in this study before.")

    def act(self, study: FakeStudy, one: FakeSubmission, act: dict[str, Any]) -> None:
        """Carry out an action of a completion code."""
        match act["action"]:
            case "AUTOMATICALLY_APPROVE":
                self.approve(one)
            case "ADD_TO_PARTICIPANT_GROUP":
                self._fake.groups.add(act["participant_group"], [one.person.id])
            case "REMOVE_FROM_PARTICIPANT_GROUP":
                self._fake.groups.remove(act["participant_group"], [one.person.id])
            case "REQUEST_RETURN":
                self.request_return(one, [act["return_reason"]])
            case "FIXED_SCREEN_OUT_PAYMENT" if self.screened_out(study.id) < act["slots"]:
                one.status = "SCREENED OUT"
                self.pay("screen_out", one, act["fixed_screen_out_reward"])
                self._fake.studies.pause_when_used_up(study)

    def request_return(self, one: FakeSubmission, reasons: list[str]) -> None:
        """Ask a participant to return a submission."""
        one.return_requested = self._fake.now
        self._fake.messages.append((one.person.id, "; ".join(reasons)))

    def approve(self, one: FakeSubmission) -> None:
        """Approve and pay, once; ignore what cannot be approved."""
        if one.status == "AWAITING REVIEW" or (one.status == "TIMED-OUT" and self._fake.approves_timed_out):
            one.status = "APPROVED"
            self.pay("reward", one, self._fake.studies.find(one.study).reward)
            self.changed(one)

    def pay(self, kind: PaymentKind, one: FakeSubmission, amount: int) -> None:
        """Pay a participant."""
        self._fake.wallet.pay(WalletPayment(self._fake.now, kind, one.id, one.person.id, amount))

    def _lapse(self, one: FakeSubmission) -> None:
        if one.status == "RESERVED":
            self.return_place(one)

    def _time_out(self, one: FakeSubmission) -> None:
        if one.status == "ACTIVE":
            one.status = "TIMED-OUT"
            self.changed(one)

    def changed(self, one: FakeSubmission) -> None:
        """Update the study after a change of status."""
        self._fake.studies.refresh(self._fake.studies.find(one.study))


# The researcher's side


_SHORTEST_MESSAGE = 100
_MOST = 1000
_COUNTED: tuple[Status, ...] = (
    "ACTIVE", "APPROVED", "AWAITING REVIEW", "REJECTED", "RESERVED", "RETURNED", "TIMED-OUT", "PARTIALLY APPROVED",
    "SCREENED OUT",
)  # fmt: skip


class FakeReviews:
    """Lists, details and decisions."""

    def __init__(self, fake: FakeProlific) -> None:
        self._fake, self._all = fake, fake.submissions

    def index(self, call: FakeCall) -> FakeReply:
        self._fake.studies.find(call.query["study"])
        submissions = self._all.of(call.query["study"])
        if "status" in call.query:
            status = _normalise(call.query["status"])
            submissions = [one for one in submissions if _normalise(one.status) == status]
        if call.query.get("ordering") == "-started_at":
            submissions = submissions[::-1]
        return FakeReply(200, {"results": [self._short(one) for one in page_of(submissions, call)]})

    def of_study(self, call: FakeCall) -> FakeReply:
        self._fake.studies.find(call.ids[0])
        return FakeReply(200, {"results": [self._short(one) for one in self._all.of(call.ids[0])]})

    def counts(self, call: FakeCall) -> FakeReply:
        self._fake.studies.find(call.ids[0])
        counts = Counter(one.status for one in self._all.of(call.ids[0]))
        return FakeReply(200, {**{status: counts[status] for status in _COUNTED}, "TOTAL": counts.total()})

    def show(self, call: FakeCall) -> FakeReply:
        return FakeReply(200, self._all.find(call.ids[0]).detail())

    def move(self, call: FakeCall) -> FakeReply:
        """Carry out a transition; a repeated one is ignored."""
        one, body = self._all.find(call.ids[0]), call.body
        moves: dict[str, Callable[[FakeSubmission, dict[str, Any]], None]] = {
            "APPROVE": self._asked_to_approve, "REJECT": self._reject, "COMPLETE": self._completed_by_researcher,
        }  # fmt: skip
        if body["action"] not in moves:
            raise Refusal(f"The action {body['action']} is not available.")
        moves[body["action"]](one, body)
        return FakeReply(200, one.brief())

    def bulk_approve(self, call: FakeCall) -> FakeReply:
        """Schedule approvals; ignore what cannot be approved."""
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

        self._fake.schedule(self._fake.now + self._fake.approving_takes, approve)
        return FakeReply(200, "The request to bulk approve has been made successfully.")

    def request_return(self, call: FakeCall) -> FakeReply:
        one = self._all.find(call.ids[0])
        if not call.body["request_return_reasons"]:
            raise Refusal({"request_return_reasons": ["Give a reason."]})
        if one.status not in ("ACTIVE", "AWAITING REVIEW"):
            raise Refusal(f"A submission that is {one.status} cannot be returned.")
        # Not idempotent: each request sends another message.
        self._all.request_return(one, call.body["request_return_reasons"])
        return FakeReply(
            200,
            {
                "id": one.id,
                "status": one.status,
                "participant": one.person.id,
                "return_requested": stamp(one.return_requested),
            },
        )

    def _asked_to_approve(self, one: FakeSubmission, body: dict[str, Any]) -> None:
        if one.status not in ("AWAITING REVIEW", "APPROVED") and not (
            one.status == "TIMED-OUT" and self._fake.approves_timed_out
        ):
            raise Refusal(f"A submission that is {one.status} cannot be approved.")
        self._all.approve(one)

    def _reject(self, one: FakeSubmission, body: dict[str, Any]) -> None:
        if len(body.get("message", "")) < _SHORTEST_MESSAGE:
            raise Refusal({"message": [f"This must have {_SHORTEST_MESSAGE} characters at least."]})
        if not body.get("rejection_category"):
            raise Refusal({"rejection_category": ["This field is required."]})
        if one.status not in ("AWAITING REVIEW", "REJECTED"):
            raise Refusal(f"A submission that is {one.status} cannot be rejected.")
        one.status, one.rejection = "REJECTED", body["message"]
        self._all.changed(one)

    def _completed_by_researcher(self, one: FakeSubmission, body: dict[str, Any]) -> None:
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

    def _short(self, one: FakeSubmission) -> dict[str, Any]:
        siblings = sum(other.person.id == one.person.id for other in self._all.of(one.study))
        return one.short(has_siblings=siblings > 1)


def _normalise(status: str) -> str:
    return status.upper().replace("-", "_").replace(" ", "_")


# People


NO_CODE = "NOCODE"
"""What Prolific records for a participant who reports that there was no code."""
NOBODY_FITS = "Nobody of the simulated people fits recruit.filters, so nobody comes."


class FakeVisit:
    """A submission from the participant's side."""

    def __init__(self, fake: FakeProlific, submission: FakeSubmission) -> None:
        self._fake, self.submission = fake, submission

    @property
    def url(self) -> str:
        """The study's address with the ids of this participant and submission, signed now where the study says so."""
        body = self._fake.studies.find(self.submission.study).body
        address = str(body["external_study_url"])
        ids = (self.submission.person.id, self.submission.study, self.submission.id)
        for placeholder, id_ in zip(PLACEHOLDERS, ids, strict=True):
            address = address.replace(placeholder, quote(id_))
        return self._fake.account.signed(address, self.submission.id) if body.get(SIGNED) else address

    def start(self) -> FakeVisit:
        """Open the study."""
        self._fake.submissions.start(self.submission)
        return self

    def finish(self, code: str | None = None) -> FakeVisit:
        """Submit a code; by default the code for completed sessions."""
        self._fake.submissions.complete(self.submission, self._completed() if code is None else code)
        return self

    def return_place(self) -> FakeVisit:
        """Return the place or the submission."""
        self._fake.submissions.return_place(self.submission)
        return self

    def _completed(self) -> str:
        codes = self._fake.studies.find(self.submission.study).body["completion_codes"]
        return str(next(one["code"] for one in codes if one["code_type"] == "COMPLETED"))


class FakePeople:
    """All people on the platform."""

    def __init__(self, fake: FakeProlific) -> None:
        self._fake = fake
        self.all: dict[str, FakePerson] = {}

    def new(self, about: dict[str, Any] | None = None) -> FakePerson:
        """Return a new person with profile answers, by filter."""
        person = FakePerson(self._fake.new_id(), about or {})
        self.all[person.id] = person
        return person

    def draw(self, study: str) -> FakePerson:
        """Return a new person from anywhere whom the filters of a study admit; raise Refusal if nobody fits them."""
        filters, known = self._fake.studies.find(study).body.get("filters") or [], self._fake.memberships()
        id_, first = self._fake.new_id(), len(self.all)
        for place in range(len(PROFILES)):
            person = FakePerson(id_, PROFILES[(first + place) % len(PROFILES)])
            if lets_in(filters, person, known):
                self.all[id_] = person
                return person
        raise Refusal(NOBODY_FITS)

    def take(self, study: str, person: FakePerson | None = None, *, again: bool = False) -> FakeVisit:
        """Return the visit of a person, by default a new one, who takes a place in a study.

        Raise Refusal if there is no place.
        """
        self._fake.advance()
        submission = self._fake.submissions.take(self._fake.studies.find(study), person or self.new(), again=again)
        return FakeVisit(self._fake, submission)

    def finish(self, study: str, number: int = 1) -> list[FakeVisit]:
        """Return the visits of new people who finished with the right code."""
        return [self.take(study).start().finish() for _ in range(number)]
