"""Whether somebody may begin: when the study is open, where they come from, and whom other studies have met."""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import get_args

from beholder.errors import Refused, StoreError
from beholder.serve import tokens
from beholder.serve.acts import Acts
from beholder.serve.guest import LAB, NUMBER, Guest
from beholder.serve.returning import codes_of, home, return_url
from beholder.store.contract import Coming, Link, SessionFacts, Store, StoreAway
from beholder.store.open import open_store
from beholder.study.model import Study
from beholder.study.recruiting import is_closed, moment
from beholder.types import Mode

_log = logging.getLogger("beholder.serve")


class Doors:
    """Opens to those who may come, and says kindly why where somebody may not."""

    def __init__(self, study: Study, store: Store, acts: Acts, words: Mapping[str, str]) -> None:
        self._study, self._store, self._acts, self._words = study, store, acts, words

    def welcome(self, guest: Guest) -> None:
        """Raise Refused where somebody was shut out, or comes from a posting that is not of this study."""
        if self._acts.is_shut(guest.participant):
            raise self.refusal("blocked")
        if guest.posting and not self._acts.is_posted(guest.posting, self._study.run):
            raise self.refusal("other_posting" if self._acts.postings else "not_launched")

    async def visit(self, guest: Guest) -> SessionFacts | None:
        """Return the session that this visit led to before, the last one where there are several.

        None where it never got a list: whether there is one is asked anew.
        """
        facts = await self._last(guest, await self._came_by(guest)) if guest.submission else None
        if facts is None:
            return None
        has_begun = facts.list is not None or facts.end is not None or facts.erased
        return facts if has_begun and not self._acts.gives_way(facts) else None

    async def check_new(self, guest: Guest, now: datetime) -> None:
        """Raise Refused where this person does not begin now; whoever has begun is not asked."""
        self.check_open(guest, now)
        if guest.platform not in ("", LAB, NUMBER) and await self._has_met(guest):
            raise self.refusal("excluded")

    def check_open(self, guest: Guest, now: datetime) -> None:
        """Raise Refused where nobody begins a session yet, or any more. Robots rehearse whenever they like."""
        recruit = self._study.recruit
        if guest.mode == "robot":
            return
        if recruit.opens is not None and now < moment(recruit.opens):
            raise self.refusal("not_open", moment(recruit.opens))
        if recruit.closes is not None and is_closed(recruit, now):
            raise self.refusal("closed", moment(recruit.closes), guest.platform_id)
        # A platform lets nobody begin by itself; whom it has sent already may come in.
        if self._acts.halts.of(self._study) is not None:
            raise self.refusal("halted")

    async def keep(self, guest: Guest, session: str) -> None:
        """Keep who somebody is on their platform, and which of its visits led to this session.

        Of two people who come by one visit the first has it, whichever servers they reach; the other is refused.
        """
        facts = await self._store.session_facts(session) if guest.platform else None
        if facts is None or facts.erased:  # who was erased and looks in once more stays unknown
            return
        link = Link(guest.participant, guest.platform, guest.platform_id)
        coming = Coming(session, guest.posting, guest.submission or guest.platform_id)
        seen: list[str] | None = [] if guest.submission else None
        while not await self._store.identify(link, coming, seen=seen):
            seen = await self._came_by(guest)
            await self._last(guest, seen)

    async def keep_round(self, earlier: str, participant: str, session: str) -> None:
        """Keep that a further session belongs to the visit that an earlier one came by."""
        coming = [one for one in await self._store.comings() if one.session == earlier]
        link = [one for one in await self._store.links() if one.participant == participant] if coming else []
        if link:
            await self._store.identify(link[0], coming[-1]._replace(session=session))

    async def _came_by(self, guest: Guest) -> list[str]:
        """Return the sessions that this visit led to, oldest first."""
        visit = (guest.posting, guest.submission)
        return [one.session for one in await self._store.comings() if (one.posting, one.submission) == visit]

    async def _last(self, guest: Guest, sessions: Sequence[str]) -> SessionFacts | None:
        """Return the last session of a visit, where it is of this run; another person's raises Refused."""
        facts = await self._store.session_facts(sessions[-1]) if sessions else None
        if facts is None or facts.session.run != self._study.run:
            return None
        if facts.session.participant != guest.participant:
            raise self.refusal("other_posting")
        return facts

    def refusal(self, code: str, at: datetime | None = None, platform_id: str | None = None) -> Refused:
        """Return why somebody cannot come in, with the way back to where they came from."""
        words = self._words[code]
        more = {}
        if at is not None:
            words = words.format(time=f"{at:%Y-%m-%d %H:%M} UTC{at:%z}".removesuffix("+0000"))
            more["at"] = at.isoformat()
        back = home(self._study)
        if code == "full" or (code == "closed" and platform_id):
            shared = codes_of(self._study, self._store.secret).get("technical")
            back = return_url(self._study, shared, "technical", platform_id) or back
        if back is not None:
            more["return_url"] = back
        return Refused(words, code=_CODES.get(code, code), status=403, more=more)

    async def _has_met(self, guest: Guest) -> bool:
        """Return whether somebody has begun one of the studies whose participants are left out."""
        for name in self._study.recruit.exclude:
            folder = self._study.folder / name / "store"
            try:
                async with open_store(folder, write=False) as other:
                    theirs = tokens.pseudonym(other.secret, guest.platform, guest.platform_id)
                    for mode in get_args(Mode):
                        if mode not in ("robot", "preview") and await other.runs_taken(theirs, mode):
                            return True
            except (StoreError, StoreAway, OSError) as error:
                _log.warning("recruit.exclude: %s leaves nobody out, as its store cannot be read: %s", name, error)
        return False


_CODES = {"not_launched": "other_posting", "nothing_left": "finished", "ended": "finished"}
"""What browsers are told where several sentences mean the same to them."""
