"""Submissions of the fake: who takes a place, what a code does, and what happens by itself in time."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING, Any

from beholder.recruit.fake.answers import Refusal
from beholder.recruit.fake.filters import lets_in
from beholder.recruit.fake.state import LIVE, PLACED, Moved, Payment, Person, Study, Submission

if TYPE_CHECKING:
    from beholder.recruit.fake.platform import FakeProlific

RESERVATION = timedelta(minutes=10)
AUTO_APPROVAL = timedelta(days=21)


class Submissions:
    """All visits of all people."""

    def __init__(self, fake: FakeProlific) -> None:
        self._fake = fake
        self.all: dict[str, Submission] = {}

    def of(self, study: str) -> list[Submission]:
        return [one for one in self.all.values() if one.study == study]

    def screened_out(self, study: str) -> int:
        return sum(one.status == "SCREENED OUT" for one in self.of(study))

    def taken(self, study: str) -> int:
        """Return how many places of a study are taken."""
        return sum(one.status in PLACED for one in self.of(study))

    def find(self, id_: str) -> Submission:
        if id_ not in self.all:
            raise Refusal("There is no such submission.", 404)
        return self.all[id_]

    def take(self, study: Study, person: Person, *, again: bool = False) -> Submission:
        """Return the place that somebody takes, or raise Refusal. `again` lets in who has been there before."""
        self._check_open(study, person, again=again)
        one = Submission(self._fake.new_id(), study.id, person, self._fake.now)
        self.all[one.id] = one
        self._fake.later(self._fake.now + RESERVATION, lambda: self._lapse(one))
        self.changed(one)
        return one

    def start(self, one: Submission) -> None:
        """Open the study: from now on time runs."""
        if one.status != "RESERVED":
            raise Refusal(f"A submission that is {one.status} cannot be started.")
        one.status, one.started_at = "ACTIVE", self._fake.now
        self._fake.later(self._fake.now + self._fake.studies.find(one.study).limit, lambda: self._time_out(one))
        self.changed(one)

    def complete(self, one: Submission, code: str) -> None:
        """Hand in with a code, and do what the study says that this code does."""
        if one.status == "TIMED-OUT":
            one.code = code
            return
        if one.status != "ACTIVE":
            raise Refusal(f"A submission that is {one.status} cannot be completed.")
        study = self._fake.studies.find(one.study)
        one.code, one.completed_at, one.status = code, self._fake.now, "AWAITING REVIEW"
        self._fake.later(self._fake.now + AUTO_APPROVAL, lambda: self.approve(one))
        entry = study.code(code)
        for act in entry["actions"] if entry and entry.get("actor", "participant") == "participant" else []:
            self.act(study, one, act)
        self.changed(one)

    def give_back(self, one: Submission) -> None:
        """Return a place, or what was handed in and not looked at yet."""
        if one.status not in (*LIVE, "AWAITING REVIEW", "TIMED-OUT"):
            raise Refusal(f"A submission that is {one.status} cannot be returned.")
        one.status = "RETURNED"
        self.changed(one)

    def _check_open(self, study: Study, person: Person, *, again: bool) -> None:
        inside = self.of(study.id)
        own = [one for one in inside if one.person.id == person.id]
        config = study.body.get("submissions_config") or {}
        most, at_once = config.get("max_submissions_per_participant", 1), config.get("max_concurrent_submissions") or -1
        if study.status != "ACTIVE":
            raise Refusal(f"The study is {study.status}.")
        if self.taken(study.id) >= study.places:
            raise Refusal("The study is full.")
        if 0 < at_once <= sum(one.status in LIVE for one in inside):
            raise Refusal("Too many people are in the study at this moment.")
        if not lets_in(study.body.get("filters") or [], person, self._fake.memberships()):
            raise Refusal("The study is not for this participant.")
        if any(one.status in LIVE for one in own) or (most is not None and 0 < most <= len(own) and not again):
            raise Refusal("The participant has been in this study before.")

    def act(self, study: Study, one: Submission, act: dict[str, Any]) -> None:
        """Carry out what a code of a study does."""
        match act["action"]:
            case "AUTOMATICALLY_APPROVE":
                self.approve(one)
            case "ADD_TO_PARTICIPANT_GROUP":
                self._fake.groups.add(act["participant_group"], [one.person.id])
            case "REMOVE_FROM_PARTICIPANT_GROUP":
                self._fake.groups.remove(act["participant_group"], [one.person.id])
            case "REQUEST_RETURN":
                self.ask_back(one, [act["return_reason"]])
            case "FIXED_SCREEN_OUT_PAYMENT" if self.screened_out(study.id) < act["slots"]:
                one.status = "SCREENED OUT"
                self.pay("screen_out", one, act["fixed_screen_out_reward"])
                self._fake.studies.pause_when_used_up(study)

    def ask_back(self, one: Submission, reasons: list[str]) -> None:
        """Write to somebody that they should return what they handed in."""
        one.return_requested = self._fake.now
        self._fake.messages.append((one.person.id, "; ".join(reasons)))

    def approve(self, one: Submission) -> None:
        """Approve and pay, once; what cannot be approved stays as it is."""
        if one.status == "AWAITING REVIEW" or (one.status == "TIMED-OUT" and self._fake.approves_timed_out):
            one.status = "APPROVED"
            self.pay("reward", one, self._fake.studies.find(one.study).reward)
            self.changed(one)

    def pay(self, kind: Payment, one: Submission, amount: int) -> None:
        """Move money to somebody."""
        self._fake.wallet.move(Moved(self._fake.now, kind, one.id, one.person.id, amount))

    def _lapse(self, one: Submission) -> None:
        if one.status == "RESERVED":
            self.give_back(one)

    def _time_out(self, one: Submission) -> None:
        if one.status == "ACTIVE":
            one.status = "TIMED-OUT"
            self.changed(one)

    def changed(self, one: Submission) -> None:
        """Let the study know that somebody's status is another one."""
        self._fake.studies.refresh(self._fake.studies.find(one.study))
