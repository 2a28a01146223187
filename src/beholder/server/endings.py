"""How sessions end: the stored end, the last page, and the texts of sessions that a rule ended."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import replace
from datetime import datetime

from beholder.checks.contract import AnsweredTrial
from beholder.checks.known_answers import targets_of
from beholder.checks.registry import message_role
from beholder.methods.contract import Trial
from beholder.planning.known_answers import message_label, message_text
from beholder.server import tokens
from beholder.server.attempts import failures, rule_result
from beholder.server.context import Context
from beholder.server.entrances import WITHOUT_OWN_CODE, Entrance
from beholder.server.flow import Ending
from beholder.server.further_sessions import Offer
from beholder.server.public_steps import public_end
from beholder.server.script import PlannedStep, Script, base_key
from beholder.server.visits import visit_state
from beholder.store.contract import End, SessionFacts
from beholder.study.markdown import markdown
from beholder.study.parts import duration
from beholder.study.recruitment import has_visit_per_session
from beholder.types import Json


def end_fact(ctx: Context, session: str, ending: Ending, now: datetime) -> End:
    """Return the end of a session to store, with its receipt and, if due, its completion code."""
    code = ctx.entrance.code(session, ending.outcome) or ""
    return End(session, ending.outcome, ending.reason, code, tokens.receipt_code(ctx.store.secret, session), now)


async def verified_end(ctx: Context, session: str, ending: Ending, now: datetime) -> End:
    """Return the end of a session to store; without a code where it erases a visit that the platform does not list.

    After that nobody could ask the platform about it. All other ends keep their code, which is shown once it is listed.
    """
    end = end_fact(ctx, session, ending, now)
    is_unlisted = ending.outcome in WITHOUT_OWN_CODE and await visit_state(ctx, session) == "unlisted"
    return replace(end, code="") if is_unlisted else end


def erased_end(ctx: Context, session: str, now: datetime) -> End:
    """Return the end of a session that was erased while it was open. It is not stored, and has no receipt."""
    return replace(end_fact(ctx, session, Ending("withdrawn", "participant"), now), receipt="")


async def last_page(
    ctx: Context, facts: SessionFacts, end: End, script: Script, offer: Offer | None = None
) -> dict[str, Json]:
    """Return the last page, with the offer of another session if there is one."""
    # A session erased after its end keeps its stored outcome, but its page is that of a withdrawal.
    outcome = "withdrawn" if facts.erased and end.outcome != "no_consent" else end.outcome
    texts = ctx.texts.for_list(None)
    ours = texts.get("thanks" if outcome == "completed" else outcome, texts["screened_out"])
    has_code = outcome not in WITHOUT_OWN_CODE or ctx.entrance.has_platform
    is_unlisted = ctx.platform is not None and await visit_state(ctx, facts.session.session) == "unlisted"
    if is_unlisted:  # a code is for those whom the platform has sent
        ours, has_code = ours + markdown(ctx.words["unlisted_end"]), False
    return public_end(
        script,
        outcome,
        (_reason_text(ctx, facts, end, script) if outcome == end.outcome else "") or ours,
        code=end.code or None if has_code else None,
        return_url=ctx.entrance.home if is_unlisted else await _return_url(ctx, facts, end),
        receipt=end.receipt or None,
        answers=len({base_key(key) for key in facts.answers if key.startswith("trial:")}),
        seconds=(end.at - facts.session.at).total_seconds(),
        ended_at=end.at,
        again=None if offer is None else public_offer(offer, ctx.entrance, _next_session_url(ctx, facts)),
        **await _beside_thanks(ctx, facts, script, outcome, offer),
    )


async def _beside_thanks(
    ctx: Context, facts: SessionFacts, script: Script, outcome: str, offer: Offer | None
) -> dict[str, Json]:
    """Return what only who has answered everything is shown, and after how many seconds they go back by themselves.

    Nothing where another session can follow: its answers come before.
    """
    if outcome != "completed" or offer is not None:
        return {}
    study = ctx.served.study
    after = study.recruit.return_after
    return {
        "return_after": duration(after).total_seconds() if after else None,
        "result": await ctx.results.compared(facts, script, ctx.now()) if study.ending.is_compared else None,
    }


async def _return_url(ctx: Context, facts: SessionFacts, end: End) -> str | None:
    entrance, participant = ctx.entrance, facts.session.participant
    if entrance.needs_id and entrance.platform_id(participant) is None:
        entrance.remember({link.participant: link.platform_id for link in await ctx.store.platform_identities()})
    return entrance.return_url(end.code, end.outcome, entrance.platform_id(participant))


def _next_session_url(ctx: Context, facts: SessionFacts) -> str:
    name = ctx.served.study.name
    return f"/s/{name}?again={tokens.session_token(ctx.store.secret, name, facts.session.session)}"


def _reason_text(ctx: Context, facts: SessionFacts, end: End, script: Script) -> str:
    """Return the text on what ended this session early; empty where it came to its planned end."""
    if end.outcome == "completed":
        return ""
    if end.outcome == "failed_checks":
        return rule_ending(ctx, facts, end, script)
    return ctx.page_checks.refusal_text(end.reason)


def public_offer(offer: Offer, entrance: Entrance, url: str) -> Json:
    """Return the offer of another session for the last page; without an address where it is a separate visit."""
    return {
        "url": None if has_visit_per_session(entrance.study.recruit) else url, "minutes": offer.minutes,
        "number": offer.number, "of": offer.of, "earns": offer.earns,
        "bonus": None if offer.bonus is None else list(offer.bonus),
        "before_return": entrance.is_offered_before_return,
    }  # fmt: skip


# Sessions ended by a rule

_MARKS = re.compile(r"([!-/:-@\[-`{-~])")


def rule_ending(ctx: Context, facts: SessionFacts, end: End, script: Script) -> str:
    """Return the text of the last page of a session that a rule ended, as HTML."""
    name = end.reason.partition(":")[0]
    lines = []
    for stored in failures(facts.verdicts, name):
        step, off = script.find(stored.key), rule_result(stored, name).get("measured")
        if step is not None:
            lines += _lines(ctx, script, step, name, off if isinstance(off, Mapping) else ())
    return _page(ctx, name, lines)


def sample_rule_ending(ctx: Context, script: Script) -> str:
    """Return a sample of such a text for previews; empty where no rule ends a session."""
    for name, rule in script.rules.items():
        if rule.end_after is not None:
            trials = [step for step in script.steps if step.is_rated]
            matching = [step for step in trials if _stating(step, name)] or trials
            shown = matching[: rule.end_after]
            return _page(
                ctx, name, [line for one in shown for line in _lines(ctx, script, one, name, _stating(one, name))]
            )
    return ""


def _page(ctx: Context, name: str, lines: Iterable[str]) -> str:
    words, contact = ctx.words, ctx.served.study.contact
    parts = [ctx.check_words.get(name, {}).get("out") or words["out"], "\n".join(f"- {line}" for line in lines)]
    parts.append(words["out_end"])
    if contact:
        link = contact if contact.startswith("https:") else f"mailto:{contact}"
        parts.append(words.say("out_contact", contact=f"[{_plain(contact)}](<{link}>)"))
    return markdown("\n\n".join(part for part in parts if part))


def _lines(ctx: Context, script: Script, step: PlannedStep, name: str, off: Iterable[str]) -> list[str]:
    """Return a line for each stimulus that was not answered as it asked: its page, and what it asked."""
    trial, words, method = _trial(step), ctx.words, ctx.served.method
    page, _ = script.page(script.place(step.key))
    stating = _stating(step, name)
    lines = []
    for where in off:
        if where in stating:
            label = message_label(method, trial, where)
            said = _plain(message_text(method, trial, where, words))
            lines.append(words.say("out_page_of" if label else "out_page", page=page, label=label, said=said))
    return list(dict.fromkeys(lines)) or [words.say("out_only_page", page=page)]


def _stating(step: PlannedStep, name: str) -> list[str]:
    """Return where the stimuli of a trial state the answer, by question and slot. Other answers are never shown."""
    role = message_role(name)
    return [] if role is None else list(targets_of(AnsweredTrial(step.key, _trial(step), None, ()), role))


def _plain(text: str) -> str:
    """Return a text that Markdown leaves as it is."""
    return _MARKS.sub(r"\\\1", text)


def _trial(step: PlannedStep) -> Trial:
    assert step.trial is not None, step.key
    return step.trial
