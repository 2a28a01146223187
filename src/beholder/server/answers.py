"""Answers: each is read and judged, stored once and durably, and leads to the next step."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Literal, cast

from beholder.errors import Refused
from beholder.methods.contract import Method, Trial
from beholder.methods.time_marks import check_marks
from beholder.methods.views import offered_views
from beholder.server.admission import check_moderation, claim_list, load_session
from beholder.server.context import Context
from beholder.server.endings import verified_end
from beholder.server.flow import Ending, answers_of, as_asked, read_step_answer
from beholder.server.limits import count_events
from beholder.server.playback import evidence_to_json, is_watched, operation_to_json, playback_evidence
from beholder.server.public_steps import page_playback
from beholder.server.rendering import advance, current_page, reached_step, script_or_first, session_script, step_page
from beholder.server.requests import SubmittedAnswer
from beholder.server.script import CONSENT, PlannedStep, Script
from beholder.server.separate_stage import with_interruptions, with_stage_evidence
from beholder.server.views import is_uncovered
from beholder.stimuli.catalogue import Catalogue
from beholder.store.contract import DRAFT, Answer, Events, Fact, SessionFacts, StoredVerdict
from beholder.store.tables import EncodedJson, EncodedList, encode_finite
from beholder.study.model import Playback
from beholder.study.recruitment import is_person
from beholder.types import Json


async def take_answer(ctx: Context, session: str, key: str, submission: SubmittedAnswer) -> dict[str, Json]:
    """Store an answer, and return when it was stored, the feedback on it and the next step."""
    now = ctx.now()
    facts = await load_session(ctx, session)
    if key in facts.answers:
        return await _repeat(ctx, facts, key, submission, now)
    if facts.end is not None:
        raise _ended(ctx)
    await check_moderation(ctx, facts)
    script = session_script(ctx, facts)
    step = reached_step(ctx, facts, script, key, now)
    is_apart = ctx.served.study.stage == "separate"
    judged = await with_stage_evidence(ctx, facts, step, submission) if is_apart else submission
    read = read_answer(ctx, facts, step, script, judged, now)
    playback = with_interruptions(read.playback, judged) if is_apart else read.playback
    verdicts = [read.verdict] if read.verdict else []
    if _gives_consent(step, read.answer):
        facts, script, verdicts = await claim_list(ctx, facts, now)
    answer = Answer(
        session, key, read.answer, EncodedJson(encode_finite(playback or _operation(step, submission))),
        submission.shown_ms, submission.sent_ms, submission.input, submission.tab, now,
    )  # fmt: skip
    here, new_facts, after = advance(ctx, script, _with_answer(facts, answer, verdicts), now)
    batch: list[Fact] = [answer, *verdicts, *new_facts, *_new_events(answer, submission)]
    if isinstance(here, Ending):
        batch.append(await verified_end(ctx, session, here, now))
    if not (await ctx.store.append(batch)).is_new:  # another tab was first
        return await _repeat(ctx, await load_session(ctx, session), key, submission, now)
    await _settle(ctx, session, here, now)
    if isinstance(here, Ending):
        page = await current_page(ctx, await load_session(ctx, session), now)
    else:
        assert script is not None, "a session with consent has a list"
        page = step_page(ctx, after, here, script)
    return {"stored_at": now.isoformat(), "feedback": read.feedback, "step": page}


def _ended(ctx: Context) -> Refused:
    return Refused(ctx.words["ended"], code="ended", status=410)


def _gives_consent(step: PlannedStep, answer: Json) -> bool:
    """Return whether this answer gives consent."""
    return step is CONSENT and isinstance(answer, Mapping) and bool(answer["agree"])


def _operation(step: PlannedStep, submission: SubmittedAnswer) -> dict[str, Json]:
    """Return how a page without stimuli was operated; nothing of what happened before somebody agreed."""
    return {} if step is CONSENT else operation_to_json(submission.events)


def _with_answer(facts: SessionFacts, answer: Answer, verdicts: list[StoredVerdict]) -> SessionFacts:
    """Return the facts as they are after an answer."""
    return replace(
        facts,
        answers={**facts.answers, answer.key: answer},
        verdicts={**facts.verdicts, **{one.key: one for one in verdicts}},
    )


def _new_events(answer: Answer, submission: SubmittedAnswer) -> list[Events]:
    """Return the events of an answer that were not stored before."""
    new = submission.events[submission.first :] if submission.first else submission.events
    if not new:
        return []
    events = EncodedList(encode_finite(new))
    return [Events(answer.session, answer.key, submission.tab, submission.first, events, answer.at)]


async def _settle(ctx: Context, session: str, here: PlannedStep | Ending, now: datetime) -> None:
    """Renew the lease of a session that goes on; release the list of one that ended early."""
    if not isinstance(here, Ending):
        await ctx.leases.renew(session, now)
    elif here.outcome == "no_consent":
        await ctx.store.erase(session, now)
    elif here.outcome != "completed":
        await ctx.store.release(session)


async def _repeat(
    ctx: Context, facts: SessionFacts, key: str, submission: SubmittedAnswer, now: datetime
) -> dict[str, Json]:
    """Return the reply of the first commit to the same answer sent again; a different answer is refused."""
    stored = facts.answers.get(key)
    if stored is None:
        raise _ended(ctx)
    script = script_or_first(ctx, facts)
    step = script.find(key)
    if step is not None:  # the items that were asked then: what was answered since is of later pages
        step = as_asked(script, step, answers_of(facts)) or step
    if ctx.served.study.stage == "separate":
        submission = await with_stage_evidence(ctx, facts, step, submission)
    try:
        same = step is not None and _read_repeated(ctx, facts, step, script, submission) == stored.answer
    except Refused:
        same = False
    if step is None or not same:
        raise Refused(ctx.words["already_answered"], where=key, code="already_answered", status=409)
    feedback = _repeated_feedback(ctx, facts, step, script)
    return {"stored_at": stored.at.isoformat(), "feedback": feedback, "step": await current_page(ctx, facts, now)}


def _read_repeated(
    ctx: Context, facts: SessionFacts, step: PlannedStep, script: Script, submission: SubmittedAnswer
) -> Json:
    """Return an answer that was sent again, validated as the first time."""
    if step.check is not None:
        return ctx.page_checks.read(facts, step, submission.answer)
    return _read(ctx, step, script, submission, None)[0]


def _repeated_feedback(ctx: Context, facts: SessionFacts, step: PlannedStep, script: Script) -> Json:
    """Return the feedback that was shown after a stored answer."""
    if step.key not in facts.verdicts:
        return None
    if step.check is not None:
        return ctx.page_checks.feedback_after(step, script, facts.verdicts)
    if step.is_training:
        return ctx.trial_rules.training.feedback(step, script, facts.verdicts)
    return ctx.trial_rules.feedback(script, facts.verdicts[step.key]) if step.is_rated else None


# Events between two answers


async def take_events(ctx: Context, session: str, batch: SubmittedAnswer, key: str) -> None:
    """Store a batch of the event log, and renew the lease."""
    now = ctx.now()
    facts = await load_session(ctx, session)
    if facts.end is not None or facts.erased:
        raise _ended(ctx)
    await check_moderation(ctx, facts)
    if key not in facts.answers:
        reached_step(ctx, facts, session_script(ctx, facts), key, now)
    # The draft goes first: it may be new where the events are sent once more.
    new: list[Fact] = [] if batch.draft is None or key in facts.answers else [_draft_fact(session, key, batch, now)]
    events = EncodedList(encode_finite(batch.events))
    if batch.events or not new:
        new.append(Events(session, key, batch.tab, batch.first, events, now))
    size = len(events.text) + len(str(batch.draft))
    count_events(ctx.event_sizes, session, size, has_list=facts.list is not None)
    await ctx.store.append(new)
    if facts.list is not None and session not in ctx.moderation.released:
        await ctx.leases.renew(session, now)


# Drafts: what is half done on a page, in the event log, so that it is there on another device and erased with the rest


def _draft_fact(session: str, key: str, batch: SubmittedAnswer, now: datetime) -> Events:
    """Return the draft of a page as a batch of its own, which is stored once for each revision."""
    assert batch.draft is not None
    revision, shown_ms, values = batch.draft
    data: Json = {"tab": batch.tab, "shown_ms": shown_ms, "values": dict(values)}
    return Events(session, key, f"{DRAFT}:{batch.tab}", revision, [[0, DRAFT, None, data]], now)


async def last_draft(ctx: Context, session: str, key: str) -> dict[str, Json] | None:
    """Return what was last half done on the page of a step, with the events of its tab; None without a draft."""
    batches = await ctx.store.step_events(session, key)
    revision, last = -1, None
    for batch in batches:
        draft = _draft_data(batch)
        if draft is not None and batch.first >= revision:
            revision, last = batch.first, draft
    if last is None:
        return None
    events: list[Json] = []
    for batch in sorted((one for one in batches if one.tab == last["tab"]), key=lambda one: one.first):
        if batch.first <= len(events):  # after a gap, nobody knows how much was watched
            events += batch.events[len(events) - batch.first :]
    return {"key": key, "revision": revision, "shown_ms": last["shown_ms"], "values": last["values"], "events": events}


def _draft_data(batch: Events) -> Mapping[str, Json] | None:
    match batch.events:
        case [[_, kind, _, dict(data)]] if kind == DRAFT:
            return data
    return None


# Reading: an answer as it is stored, with the playback evidence, the verdict on it and the feedback


@dataclass(frozen=True)
class StepReading:
    """An answer as it is stored, with the verdict of a check, training or rule, and the feedback on it."""

    answer: Json
    playback: Mapping[str, Json] = field(default_factory=dict)
    verdict: StoredVerdict | None = None
    feedback: Json = None


def read_answer(
    ctx: Context,
    facts: SessionFacts,
    step: PlannedStep,
    script: Script | None,
    submission: SubmittedAnswer,
    now: datetime,
) -> StepReading:
    """Return an answer to any kind of step, validated and judged, or raise Refused."""
    if step.check is not None:
        assert script is not None, step.key
        judged = ctx.page_checks.judge(facts, step, script, submission.answer, now)
        return StepReading(judged.answer, verdict=judged.verdict, feedback=judged.feedback)
    answer, playback = _read(ctx, step, script, submission, _elapsed_ms(facts, now))
    if step.is_training and script is not None:
        return StepReading(answer, playback, *ctx.trial_rules.training.judge(facts, step, script, answer, now))
    if script is not None and script.rules and step.is_rated:
        noted = ctx.trial_rules.judge(facts, step, script, answer, playback, submission, now)
        return StepReading(answer, playback, *noted)
    return StepReading(answer, playback)


def _read(
    ctx: Context, step: PlannedStep, script: Script | None, submission: SubmittedAnswer, elapsed_ms: float | None
) -> tuple[Json, dict[str, Json]]:
    """Return the answer to a step other than a check, and the playback evidence."""
    served = ctx.served
    if step.trial is None or script is None:
        return read_step_answer(step, submission.answer), {}
    if step.kind == "questions":
        return _read_shown_answer(step, step.trial, served.catalogue, submission, elapsed_ms, ctx.words)
    if step.page is not None:
        playback = page_playback(script.playback, step.page)
        return _read_page_answer(step.trial, served.catalogue, playback, submission, elapsed_ms, ctx.words)
    return _read_trial_answer(
        served.method, step.trial, served.catalogue, script.playback, submission, elapsed_ms, ctx.words
    )


def _elapsed_ms(facts: SessionFacts, now: datetime) -> float | None:
    """Return the time since the last answer by the server's clock; None where that is unknown.

    Robots and previews run on another clock, and a clock that was set back proves nothing.
    """
    if not is_person(facts.session.mode):
        return None
    last = max((answer.at for answer in facts.answers.values()), default=facts.session.at)
    return (now - last).total_seconds() * 1000 if now >= last else None


# Answers to trials need evidence that the stimuli were watched

_CLOCK_SLACK, _CLOCK_SLACK_MS = 0.05, 250
"""Tolerance between the watched time and the server's clock."""


def _read_trial_answer(
    method: Method,
    trial: Trial,
    catalogue: Catalogue,
    playback: Playback,
    submission: SubmittedAnswer,
    elapsed_ms: float | None,
    words: Mapping[str, str],
) -> tuple[Json, dict[str, Json]]:
    """Return the normalised answer and the playback evidence, or raise Refused.

    `elapsed_ms` is how long the step can have been open by the server's clock; None trusts the log.
    """
    answer = method.read(trial, submission.answer)
    missing = answer.get("missing", {}) if isinstance(answer, Mapping) else {}
    assert isinstance(missing, Mapping)
    if missing and not playback.skip:
        raise Refused(words["cannot_skip"], where="answer.missing", allowed="an answer", code="cannot_skip")
    is_rated = not missing or any(one.value is not None for one in method.judgements(trial, answer))
    # Where one of two will not play there is nothing to compare, so the other need not be watched.
    rule = playback.watch if is_rated else "none"
    return answer, _playback_evidence(trial, catalogue, rule, missing, submission, elapsed_ms, words, answer=answer)


def _read_page_answer(
    trial: Trial,
    catalogue: Catalogue,
    playback: Playback,
    submission: SubmittedAnswer,
    elapsed_ms: float | None,
    words: Mapping[str, str],
) -> tuple[Json, dict[str, Json]]:
    """Return the answer to a page with examples, which only lists media that failed, and the playback evidence."""
    answer = submission.answer
    missing = answer.get("missing", {}) if isinstance(answer, Mapping) else None
    slots = [slot.id for slot in trial.slots]
    if not isinstance(answer, Mapping) or set(answer) - {"missing"} or not isinstance(missing, Mapping):
        raise Refused.because("page_without_answer", where="answer", allowed="{}, or what would not play")
    if any(slot not in slots or why != "media_error" for slot, why in missing.items()):
        raise Refused.because("missing_not_shown", where="answer.missing", allowed=", ".join(slots))
    read: Json = {"missing": dict(missing)} if missing else {}
    return read, _playback_evidence(trial, catalogue, playback.watch, missing, submission, elapsed_ms, words)


def _read_shown_answer(
    step: PlannedStep,
    trial: Trial,
    catalogue: Catalogue,
    submission: SubmittedAnswer,
    elapsed_ms: float | None,
    words: Mapping[str, str],
) -> tuple[Json, dict[str, Json]]:
    """Return the answer to a questionnaire that shows files, and the playback evidence.

    A file has to be played where its item says so and was answered; one that would not play holds nobody up.
    """
    answer = read_step_answer(step, submission.answer)
    given = cast("Mapping[str, Mapping[str, Json]]", answer)["answers"]
    lengths = {slot.id: catalogue.by_id[slot.stimulus].probe.duration_ms for slot in trial.slots}
    seen = playback_evidence(submission.events, lengths).slots
    failed = {slot: "media_error" for slot, playback in seen.items() if playback.errors}
    due = {step.files[item.id] for item in step.items if item.play and item.id in given}
    return answer, _playback_evidence(trial, catalogue, "whole", failed, submission, elapsed_ms, words, due=due)


def _playback_evidence(
    trial: Trial,
    catalogue: Catalogue,
    rule: Literal["whole", "start", "none"],
    missing: Mapping[str, Json],
    submission: SubmittedAnswer,
    elapsed_ms: float | None,
    words: Mapping[str, str],
    *,
    due: Collection[str] | None = None,
    answer: Json = None,
) -> dict[str, Json]:
    """Return the playback evidence if every slot was watched as the rule says or failed to play, else raise Refused.

    Only the slots that are `due` have to be watched; all of them when it is left out. Marks in an answer have to lie
    where it was played.
    """
    lengths = {slot.id: catalogue.by_id[slot.stimulus].probe.duration_ms for slot in trial.slots}
    evidence = playback_evidence(submission.events, lengths, together=trial.together)
    for slot, watched in evidence.slots.items():
        if slot in missing:
            if watched.errors == 0:
                raise Refused(words["not_missing"], where=f"answer.missing.{slot}", code="not_missing")
        elif (due is None or slot in due) and not is_watched(watched, lengths[slot], rule, trial.passes):
            raise Refused(words["not_watched"], where=slot, allowed=f"watch: {rule}", code="not_watched")
    views = offered_views(trial)
    if views and rule != "none" and not missing and not is_uncovered(evidence.page.views, views, lengths):
        raise Refused(
            words["not_watched"], where="events", allowed=f"both uncovered: {', '.join(views)}", code="not_watched"
        )
    times = [watched.watched_ms for watched in evidence.slots.values()]
    watched_ms = max(times, default=0) if trial.together else sum(times)
    if elapsed_ms is not None and watched_ms * (1 - _CLOCK_SLACK) - _CLOCK_SLACK_MS > elapsed_ms:
        raise Refused(
            words["not_watched"], where="events", allowed="no more than the time that passed", code="not_watched"
        )
    check_marks(trial, answer, lengths, evidence.played)
    return evidence_to_json(evidence)
