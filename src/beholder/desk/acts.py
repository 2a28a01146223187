"""Acts: what is done on the desk, by the same functions as the commands, with the name of who does it.

An act that is done twice, or from two browsers at once, is done once: acts about one study are done one after the
other, each looks at what there is before it writes, and a page that repeats an act by its `id` gets the first answer.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, get_args

from beholder.desk.desk_study import DeskStudy
from beholder.desk.unblinding import record_unblinding
from beholder.desk.viewer import Scope, Viewer
from beholder.errors import Problem, RecruitError, did_you_mean
from beholder.recent_entries import RecentEntries
from beholder.recruiting.closure import close_study
from beholder.recruiting.decisions import decide_study, digest_of, edit_decision
from beholder.recruiting.moderation import Act, record_act, require_reason
from beholder.recruiting.payments import pay_study
from beholder.recruiting.postings import change_posting
from beholder.recruiting.resume_links import resume_link
from beholder.recruiting.signatures import RUN_SIGNATURE
from beholder.store.contract import LedgerEntry
from beholder.types import Json

DESK = "desk"
"""The kind of an entry in the ledger that says who did on the desk what has no entry with a name of its own."""
_MODERATION: tuple[Act, ...] = get_args(Act)
_REMEMBERED = 1000


@dataclass(frozen=True)
class Done:
    """What was done, in words, and what else there is to show."""

    words: tuple[str, ...]
    more: Mapping[str, Json] = field(default_factory=dict)

    def to_json(self) -> dict[str, Json]:
        """Return it as the reply to the act."""
        return {"words": list(self.words), **self.more}


@dataclass(frozen=True)
class AskedAct:
    """An act as a page asks for it."""

    kind: str
    reason: str
    values: Mapping[str, Any]

    def text(self, name: str, allowed: str) -> str:
        """Return a value that has to be a text, or raise RecruitError."""
        value = self.values.get(name)
        if not isinstance(value, str) or not value.strip():
            raise RecruitError(Problem(name, "is missing", allowed))
        return value.strip()


class Acts:
    """Does what is asked for, one act after the other for each study."""

    def __init__(self) -> None:
        self._locks: dict[str, asyncio.Lock] = {}
        self._done: RecentEntries[tuple[str, str, str], Done] = RecentEntries(_REMEMBERED)

    async def perform(self, study: DeskStudy, viewer: Viewer, body: Json) -> Done:
        """Do an act and return what was done; raise RecruitError with what is wrong with it."""
        asked = _read(body)
        own_id = asked.values.get("id")
        key = (study.identity, viewer.name, own_id) if isinstance(own_id, str) and own_id else None
        async with self._locks.setdefault(study.identity, asyncio.Lock()):
            if key is not None and (before := self._done.get(key)) is not None:
                return before
            # A browser that leaves in the middle stops nothing: what has begun to be sent is sent.
            done = await asyncio.shield(asyncio.ensure_future(_KINDS[asked.kind][1](study, viewer, asked)))
            if key is not None:
                self._done[key] = done
            return done


def scope_of(body: Json) -> Scope:
    """Return what somebody has to be allowed for an act."""
    return _KINDS[_read(body).kind][0]


def _read(body: Json) -> AskedAct:
    if not isinstance(body, Mapping):
        raise RecruitError(Problem("act", "is no JSON object", '{"kind": "release", "who": "…", "reason": "…"}'))
    kind, reason = body.get("kind"), body.get("reason", "")
    problems = []
    if not isinstance(kind, str) or kind not in _KINDS:
        shown = kind if isinstance(kind, str) and kind else "missing"
        problems.append(Problem("kind", f"is {shown}", ", ".join(_KINDS), did_you_mean(str(kind), list(_KINDS))))
    if not isinstance(reason, str) or not reason.strip():
        problems.append(Problem("reason", "is empty", "a few words, which are kept"))
    if problems:
        raise RecruitError(problems)
    assert isinstance(kind, str)
    assert isinstance(reason, str)
    return AskedAct(kind, reason.strip(), body)


# About participants


async def _moderate(study: DeskStudy, viewer: Viewer, asked: AskedAct) -> Done:
    kind = next(one for one in _MODERATION if one == asked.kind)
    who = asked.text("who", "a pseudonym or a session")
    done = await record_act(study.context, kind, who, asked.reason, by=viewer.name)
    return Done((done.words,))


async def _resume_link(study: DeskStudy, viewer: Viewer, asked: AskedAct) -> Done:
    made = await resume_link(study.context, asked.text("who", "a pseudonym or a session"))
    await _note(study, viewer, asked, participant=made.participant, session=made.session)
    return Done((made.words,), {"link": made.link})


# Decisions and money


async def _decide(study: DeskStudy, viewer: Viewer, asked: AskedAct) -> Done:
    await require_reason(study.context, asked.reason)
    submission, pay = asked.text("submission", "that of a row"), asked.text("pay", "what `beholder decide` allows")
    use = asked.values.get("use")
    texts = {name: asked.values[name] for name in ("category", "message") if name in asked.values}
    problems = [] if isinstance(use, bool) else [Problem("use", "is neither true nor false", "true, false")]
    problems += [Problem(name, "is no text", "a text") for name, one in texts.items() if not isinstance(one, str)]
    if problems:
        raise RecruitError(problems)
    context = study.context
    before = {row.submission: row for row in (await decide_study(context, dry_run=True)).rows}.get(submission)
    decided = await edit_decision(context, submission, pay=pay, use=bool(use), **texts)
    row = next((row for row in decided.rows if row.submission == submission), None)
    if row is not None and row == before:
        return Done((f"{submission}: decided so already. Nothing is recorded.",))
    await _note(study, viewer, asked, submission=submission, pay=pay, use=bool(use))
    used = "used" if use else "not used"
    return Done((f"{submission}: {pay}, and the answers are {used}. Nothing is sent before it is signed.",))


async def _sign(study: DeskStudy, viewer: Viewer, asked: AskedAct) -> Done:
    if viewer.name.strip() == RUN_SIGNATURE:
        raise RecruitError(Problem("name", f"is {RUN_SIGNATURE}, as which only `beholder run` signs", "your name"))
    seen = asked.text("seen", "the digest of the decisions that were seen")
    now = await decide_study(study.context, dry_run=True)
    if digest_of(now.rows) != seen:
        what = "have changed since you looked"
        raise RecruitError(Problem("decisions", what, "", "Look at them once more, then sign."))
    await decide_study(study.context)  # the file has what was seen, as a person at the command line has it
    return Done((await decide_study(study.context, sign=viewer.name)).words)


async def _pay(study: DeskStudy, viewer: Viewer, asked: AskedAct) -> Done:
    typed = asked.text("amount", "the amount that is shown, such as 12.00 GBP")
    owed = (await pay_study(study.context)).total("owed")
    if owed is None:
        return Done(("Nothing is owed: it was sent before, or nobody has signed. Nothing was sent.",))
    if " ".join(typed.split()).upper() != str(owed).upper():
        raise RecruitError(Problem("amount", f"is {typed}, and {owed} is owed now", str(owed), "Look again."))
    await _note(study, viewer, asked, amount=str(owed))
    payment = await pay_study(study.context, send=True)
    problems: list[Json] = [str(problem) for problem in payment.problems]
    return Done(payment.words, {"problems": problems} if problems else {})


async def _paid(study: DeskStudy, viewer: Viewer, asked: AskedAct) -> Done:
    payment = await pay_study(study.context, paid=True)
    if not payment.problems:
        await _note(study, viewer, asked)
    return Done((*payment.words, *map(str, payment.problems)))


async def _close(study: DeskStudy, viewer: Viewer, asked: AskedAct) -> Done:
    closed = await close_study(study.context)
    await _note(study, viewer, asked)
    return Done(closed.words)


async def _pause(study: DeskStudy, viewer: Viewer, asked: AskedAct) -> Done:
    changed = await change_posting(study.context, "pause")
    await _note(study, viewer, asked)
    return Done(changed.words)


async def _unblind(study: DeskStudy, viewer: Viewer, asked: AskedAct) -> Done:
    return Done(await record_unblinding(study.context, viewer.name, asked.reason))


async def _note(
    study: DeskStudy, viewer: Viewer, asked: AskedAct, *, participant: str = "", session: str = "",
    submission: str = "", **more: Json,
) -> None:  # fmt: skip
    """Record who did this and why: what the functions record themselves names nobody."""
    entry = LedgerEntry(
        DESK, "done", study.context.now(), submission=submission, participant=participant, session=session,
        reason_code=asked.kind, reason_text=asked.reason, evidence={"by": viewer.name, **more},
    )  # fmt: skip
    await study.context.store.ledger.append([entry])


_Perform = Callable[[DeskStudy, Viewer, AskedAct], Awaitable[Done]]
_KINDS: Mapping[str, tuple[Scope, _Perform]] = {
    **dict.fromkeys(_MODERATION, ("moderate", _moderate)),
    "resume_link": ("moderate", _resume_link),
    "decide": ("decide", _decide),
    "sign": ("decide", _sign),
    "pay": ("pay", _pay),
    "paid": ("pay", _paid),
    "close": ("pay", _close),
    "pause": ("pay", _pause),
    "unblind": ("unblind", _unblind),
}
KINDS: tuple[str, ...] = tuple(_KINDS)
"""What can be done, by the names of the commands."""
