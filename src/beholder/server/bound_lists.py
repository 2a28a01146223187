"""Lists that are for one person, with stimuli of their own: who may have which, and who has shown who they are."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property

from beholder.server import tokens
from beholder.server.participants import LAB, Identity
from beholder.server.script import ServedStudy
from beholder.store.contract import Session
from beholder.study.model import Study
from beholder.study.recruitment import is_person


def pseudonym_of(study: Study, secret: bytes, name: str) -> str:
    """Return the pseudonym of somebody whom the column `for` of a manifest names: an id of the list, or a seat."""
    recruit = study.recruit
    return tokens.pseudonym(secret, LAB if recruit.source.is_on_site else recruit.mode, name)


class BoundLists:
    """Tells which lists a participant may have, by their pseudonym: whose stimuli are theirs is stored nowhere."""

    def __init__(self, served: ServedStudy, secret: bytes) -> None:
        self._served, self._secret = served, secret
        self._is_open = not served.study.recruit.source.is_by_invitation

    @cached_property
    def _lists(self) -> Mapping[str, int]:
        """The list of each person with stimuli of their own, by pseudonym."""
        study, bound = self._served.study, self._served.bound.items()
        return {pseudonym_of(study, self._secret, person.name): number for number, person in bound}

    def refuses(self, identity: Identity) -> bool:
        """Return whether somebody may not come by this address, as it does not show that it is them.

        Under an open link no readable id is taken at all: else trying names would tell who has stimuli of their own.
        """
        if not self._served.bound or identity.is_proven or not is_person(identity.mode) or identity.session is not None:
            return False
        return bool(identity.platform_id) if self._is_open else identity.participant in self._lists

    def barred(self, session: Session) -> frozenset[int]:
        """Return the lists that a participant may not have: those of others, and for whoever has some all but these."""
        if not self._served.bound or not is_person(session.mode):
            return frozenset()
        own = self._lists.get(session.participant)
        if own is None:
            return frozenset(self._served.bound)
        return frozenset(range(1, len(self._served.lists) + 1)) - {own}

    def likely(self, session: Session) -> int:
        """Return the list by whose steps a session is described before it has one."""
        return self._lists.get(session.participant, 1) if self._served.bound else 1
