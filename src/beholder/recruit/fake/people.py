"""People on the fake: who there is, and what they do there."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from beholder.recruit.fake.rules import PLACEHOLDERS
from beholder.recruit.fake.state import Person, Submission

if TYPE_CHECKING:
    from beholder.recruit.fake.platform import FakeProlific

NO_CODE = "NOCODE"
"""What Prolific keeps of somebody who says that there was no code."""


class Visit:
    """Somebody in a study, as they see it."""

    def __init__(self, fake: FakeProlific, submission: Submission) -> None:
        self._fake, self.submission = fake, submission

    @property
    def url(self) -> str:
        """Where the study begins for this person: our address, with their ids in it."""
        address = str(self._fake.studies.find(self.submission.study).body["external_study_url"])
        ids = (self.submission.person.id, self.submission.study, self.submission.id)
        for placeholder, id_ in zip(PLACEHOLDERS, ids, strict=True):
            address = address.replace(placeholder, quote(id_))
        return address

    def start(self) -> Visit:
        """Open the study."""
        self._fake.submissions.start(self.submission)
        return self

    def finish(self, code: str | None = None) -> Visit:
        """Hand in: with a code, or with that of those who have completed."""
        self._fake.submissions.complete(self.submission, self._completed() if code is None else code)
        return self

    def give_back(self) -> Visit:
        """Return the place, or what was handed in."""
        self._fake.submissions.give_back(self.submission)
        return self

    def _completed(self) -> str:
        codes = self._fake.studies.find(self.submission.study).body["completion_codes"]
        return str(next(one["code"] for one in codes if one["code_type"] == "COMPLETED"))


class People:
    """Everybody on the platform."""

    def __init__(self, fake: FakeProlific) -> None:
        self._fake = fake
        self.all: dict[str, Person] = {}

    def new(self, about: dict[str, Any] | None = None) -> Person:
        """Return somebody new, with what they say of themselves, by filter."""
        person = Person(self._fake.new_id(), about or {})
        self.all[person.id] = person
        return person

    def take(self, study: str, person: Person | None = None, *, again: bool = False) -> Visit:
        """Return the visit of somebody who takes a place in a study, somebody new where nobody is named.

        Raises Refusal where there is no place for them.
        """
        self._fake.advance()
        found = self._fake.submissions.take(self._fake.studies.find(study), person or self.new(), again=again)
        return Visit(self._fake, found)

    def finish(self, study: str, number: int = 1) -> list[Visit]:
        """Return the visits of new people who have come, and handed in with the right code."""
        return [self.take(study).start().finish() for _ in range(number)]
