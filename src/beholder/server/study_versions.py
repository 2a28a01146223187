"""Versions of a study: whoever has begun goes on with the texts with which they began, at every server.

While servers are replaced by ones with other texts, one person meets both, in any order. The store has every text that
was ever served, so that either can show what the session began with, also after all were replaced.
"""

from __future__ import annotations

import logging
from dataclasses import replace
from datetime import datetime, timedelta

from beholder.checks.page_registry import check_texts
from beholder.errors import Refused
from beholder.methods.contract import all_questions
from beholder.planning.digest import plan_digest
from beholder.planning.growth import earlier_study
from beholder.server.context import Context
from beholder.server.page_checks import PageChecks
from beholder.server.rendering import RenderedTexts
from beholder.server.trial_rules import TrialRules
from beholder.store.contract import Store
from beholder.store.open import read_rows
from beholder.study.model import Study
from beholder.words import read_words

_log = logging.getLogger("beholder.server")
_SHOWN = (
    "title", "language", "texts", "questions", "before", "during", "after", "ending", "playback", "checks", "training",
    "options",
)  # fmt: skip
"""What a session keeps. Everything else, such as when the study closes and who may go on, is as it is now."""
_AGAIN = timedelta(seconds=5)
"""After so long, a server that could not read a text looks whether it is still the older one."""


class StudyVersions:
    """The contexts in which sessions are served, each with the texts with which they began."""

    def __init__(self, ctx: Context) -> None:
        self._ctx = ctx
        self._contexts = {ctx.served.digest: ctx}
        self._behind: dict[str, datetime] = {}

    async def context_of(self, session: str) -> Context | None:
        """Return the context of a session; None for a session that is not known.

        Raises Refused, with a status that lets the page try again, where only a newer server can read its texts.
        """
        facts = await self._ctx.store.session_facts(session)
        if facts is None:
            return None
        return self._contexts.get(facts.session.digest) or await self._load(facts.session.digest)

    async def _load(self, digest: str) -> Context:
        """Return the context of a text of the store; the current one where that text cannot be shown any more."""
        ctx = self._ctx
        if self._behind.get(digest, ctx.now()) > ctx.now():
            raise _behind()
        text = next(row["yaml"] for row in await read_rows(ctx.store, "studies") if row["digest"] == digest)
        study = study_as_shown(ctx, str(text))
        if study is None and await is_behind(ctx.store, ctx.served.digest):
            self._behind[digest] = ctx.now() + _AGAIN
            raise _behind()
        if study is None:
            _log.warning("sessions that began with other texts (%s) go on with these: those cannot be shown", digest)
        return self._contexts.setdefault(digest, context_for(ctx, study, digest) if study is not None else ctx)


def study_as_shown(ctx: Context, text: str) -> Study | None:
    """Return the study as it is now with what an earlier or later text of it shows; None where they do not fit."""
    now, method = ctx.served.study, ctx.served.method
    other = earlier_study(text, now, method)
    if other is None:
        return None
    # Instructions and playback of groups stand in the design, which is otherwise as it is now.
    design = now.design.model_copy(update={"between": other.design.between})
    shown = now.model_copy(update={**{name: getattr(other, name) for name in _SHOWN}, "design": design})
    is_same_plan = plan_digest(shown, ctx.served.catalogue) == plan_digest(now, ctx.served.catalogue)
    return shown if is_same_plan else None


def context_for(ctx: Context, study: Study, digest: str) -> Context:
    """Return the context that shows another text of a study, with everything else shared."""
    now, method = ctx.served.study, ctx.served.method
    asked_now, asked_then = ({one.id: one for one in all_questions(each, method)} for each in (now, study))
    rewording = {
        (name, one.text): (asked_then[name].text, asked_then[name].ticks)
        for name, one in asked_now.items()
        if name in asked_then
    }
    served = ctx.served.with_text(study, digest, rewording)
    words, check_words = read_words(study.language), check_texts(study.language)
    return replace(
        ctx,
        served=served,
        words=words,
        check_words=check_words,
        texts=RenderedTexts(served, words),
        page_checks=PageChecks(served.needs, ctx.store.secret, check_words),
        trial_rules=TrialRules(served, check_words, words),
    )


async def is_behind(store: Store, digest: str) -> bool:
    """Return whether another text has begun since that of this server."""
    current = await store.current()
    return current is not None and current.digest != digest


def _behind() -> Refused:
    return Refused.because("store_away", code="server_behind", status=503)
