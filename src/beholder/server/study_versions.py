"""Versions of a study: whoever has begun goes on with the texts with which they began, at every server.

While servers are replaced by ones with other texts, one person meets both, in any order. The store has every text that
was ever served, so that either can show what the session began with, also after all were replaced.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime, timedelta

from beholder.checks.known_answers import TrapItem
from beholder.checks.page_registry import check_texts
from beholder.errors import Refused
from beholder.methods.contract import Method, all_questions
from beholder.planning.digest import plan_digest
from beholder.planning.growth import earlier_study
from beholder.planning.statements import bank_of
from beholder.server.context import Context
from beholder.server.page_checks import PageChecks
from beholder.server.rendering import RenderedTexts
from beholder.server.script import Rewording
from beholder.server.session_language import settled_language
from beholder.server.trial_rules import TrialRules
from beholder.store.contract import Store
from beholder.store.open import read_rows
from beholder.study.design import Training
from beholder.study.model import Study
from beholder.words import read_words

_log = logging.getLogger("beholder.server")
_SHOWN = (
    "title", "language", "languages", "texts", "questions", "before", "during", "after", "ending", "playback", "checks",
    "training", "options",
)  # fmt: skip
"""What a session keeps. Everything else, such as when the study closes and who may go on, is as it is now."""
_AGAIN = timedelta(seconds=5)
"""After so long, a server that could not read a text looks whether it is still the older one."""


class StudyVersions:
    """The contexts in which sessions are served, each with the texts with which they began."""

    def __init__(self, ctx: Context) -> None:
        self._ctx = ctx
        self._contexts = {ctx.served.digest: ctx}
        self._spoken: dict[tuple[str, str], Context] = {}
        self._behind: dict[str, datetime] = {}

    async def context_of(self, session: str, language: str = "") -> tuple[Context, bool] | None:
        """Return the context of a session, and whether its language is settled; None for one that is not known.

        `language`: that of the request, until somebody has agreed in one.

        Raises Refused, with a status that lets the page try again, where only a newer server can read its texts.
        """
        facts = await self._ctx.store.session_facts(session)
        if facts is None:
            return None
        ctx = self._contexts.get(facts.session.digest) or await self._load(facts.session.digest)
        if len(ctx.served.study.all_languages) == 1:
            return ctx, True
        settled = settled_language(ctx.served.study, facts)
        return self.in_language(ctx, settled or language), settled is not None

    def in_language(self, ctx: Context, language: str) -> Context:
        """Return a context with its texts in a language of the study; as it is in any other."""
        study = ctx.served.study
        if language == study.language or language not in study.all_languages:
            return ctx
        key = (ctx.served.digest, language)
        if key not in self._spoken:
            self._spoken[key] = context_for(self._ctx, study.in_language(language), ctx.served.digest)
        return self._spoken[key]

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
    shown._in_languages = {
        code: now.in_language(code).model_copy(
            update={name: getattr(other.in_language(code), name) for name in _SHOWN}
            | {"design": now.design.model_copy(update={"between": other.in_language(code).design.between})}
        )
        for code in other.languages[1:]
    }
    is_same_plan = plan_digest(shown, ctx.served.catalogue) == plan_digest(now, ctx.served.catalogue)
    return shown if is_same_plan else None


def context_for(ctx: Context, study: Study, digest: str) -> Context:
    """Return the context that shows another text of a study, with everything else shared."""
    served = ctx.served.with_text(study, digest, rewording_of(ctx.served.study, study, ctx.served.method))
    words, check_words = read_words(study.language), check_texts(study.language)
    return replace(
        ctx,
        served=served,
        words=words,
        check_words=check_words,
        entrance=ctx.entrance.in_language(study),
        texts=RenderedTexts(served, words),
        page_checks=PageChecks(served.needs, ctx.store.secret, check_words),
        trial_rules=TrialRules(served, check_words, words),
    )


def rewording_of(now: Study, study: Study, method: Method) -> Rewording:
    """Return how another text of a study, or one in another language, says what the lists say."""
    asked_now, asked_then = ({one.id: one for one in all_questions(each, method)} for each in (now, study))
    both = [(one, asked_then[name]) for name, one in asked_now.items() if name in asked_then]
    questions = {(one.id, one.text): (other.text, other.ticks) for one, other in both}
    rules = [each.checks.of(TrapItem.Options) for each in (now, study)]
    if all(isinstance(rule, TrapItem.Options) for rule in rules):
        banks = [bank_of(rule, each.language) for rule, each in zip(rules, (now, study), strict=True) if rule]
        questions |= {(one.name, one.text): (other.text, ()) for one, other in zip(*banks, strict=False)}
    return Rewording(
        questions=questions,
        scales={one.id: (one.scale, other.scale) for one, other in both if one.scale != other.scale},
        sentences=_training_words(now, study),
        is_in_language=now.language != study.language,
    )


def _training_words(now: Study, study: Study) -> dict[str, str]:
    """Return what is told about training trials in other words, by the words of now."""
    said: dict[str, str] = {}
    lessons = [each.training.items if isinstance(each.training, Training) else () for each in (now, study)]
    for one, other in zip(*lessons, strict=False):
        for text, words in ((one.message, other.message), (one.anchor, other.anchor)):
            if isinstance(text, str) and isinstance(words, str):
                said[text] = words
            elif isinstance(text, Mapping) and isinstance(words, Mapping):
                said |= {text[name]: words[name] for name in text if name in words}
    return said


async def is_behind(store: Store, digest: str) -> bool:
    """Return whether another text has begun since that of this server."""
    current = await store.current()
    return current is not None and current.digest != digest


def _behind() -> Refused:
    return Refused.because("store_away", code="server_behind", status=503)
