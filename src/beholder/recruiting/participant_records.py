"""Participant records: everybody who came, by pseudonym, with sessions, verdicts, acts and payments."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Any, NamedTuple

from beholder.cleaning.decisions import reason_words
from beholder.cleaning.facts import TABLES, position_of
from beholder.cleaning.screening import JudgedPopulation, judge_tables
from beholder.cleaning.sessions import JudgedSession
from beholder.formats import count
from beholder.recruiting.context import RecruitContext
from beholder.recruiting.ledger import MONEY, replay
from beholder.result_view import ResultView, ShownResult
from beholder.server.moderation import Moderation
from beholder.store.contract import LedgerEntry
from beholder.store.open import read_rows
from beholder.study.recruitment import SOURCES, Mode, Sum, is_person, is_robot
from beholder.types import Outcome

if TYPE_CHECKING:
    from pandas import DataFrame


class AnsweredPage(NamedTuple):
    """One answered page."""

    key: str
    at: datetime
    seconds: float
    """How long it was shown."""


class RuleVerdict(NamedTuple):
    """The verdict of one rule about a session."""

    check: str
    verdict: str
    """pass, fail or unknown"""
    reason: str
    words: str
    """Empty where it is not failed."""


class RecordedAct(NamedTuple):
    """An act about a participant, and why."""

    kind: str
    at: datetime
    session: str
    reason: str
    by: str = ""
    """Who did it; empty where nobody was named."""


@dataclass(frozen=True)
class ParticipantSession:
    """One session of a participant."""

    session: str
    run: int
    began: datetime
    ended: datetime | None
    outcome: Outcome | None
    """None while it has not ended."""
    at: str
    """The current position, in words."""
    list: int | None
    accept: bool | None
    """None where a person has to look, or where it was not judged."""
    use: bool
    reasons: tuple[str, ...]
    """As `check:reason`."""
    is_erased: bool = False
    steps: tuple[AnsweredPage, ...] = ()
    rules: tuple[RuleVerdict, ...] = ()

    @property
    def minutes(self) -> float | None:
        """The duration, to its end or else to its last answer."""
        last = self.ended or max((step.at for step in self.steps), default=None)
        return round((last - self.began).total_seconds() / 60, 1) if last else None


@dataclass(frozen=True, repr=False)
class ParticipantRecord(ShownResult):
    """A participant: sessions, acts and payments."""

    participant: str
    """The pseudonym."""
    mode: Mode
    sessions: tuple[ParticipantSession, ...]
    """Oldest first."""
    acts: tuple[RecordedAct, ...] = ()
    paid: Sum | None = None
    """What has arrived; None where nothing has."""
    is_shut_out: bool = False
    is_verified: bool | None = None
    """Whether the platform has listed a visit of theirs; None where there is no platform to ask."""

    def _view(self) -> ResultView:
        n = len(self.sessions)
        paid = f", paid {self.paid}" if self.paid is not None else ""
        shut = ", shut out" if self.is_shut_out else ""
        words = f"{self.participant} ({self.mode}): {count(n, 'session')}{paid}{shut}."
        acts = [f"{act.at:%Y-%m-%d %H:%M} {act.kind.replace('_', ' ')}: {act.reason}" for act in self.acts]
        pages = [{"session": one.session, **page._asdict()} for one in self.sessions for page in one.steps]
        rules = [{"session": one.session, **rule._asdict()} for one in self.sessions for rule in one.rules]
        more = {"steps": _frame(pages), "rules": _frame(rules)}
        return ResultView([words, *acts], _frame([_session_row(one) for one in self.sessions]), more)


class ParticipantRecords(tuple[ParticipantRecord, ...], ShownResult):
    """Everybody who came, in the order of arrival: a tuple that shows itself as a table."""

    def _view(self) -> ResultView:
        rows = [
            {"participant": one.participant, "mode": one.mode, "paid": "" if one.paid is None else str(one.paid),
             **_session_row(session)}
            for one in self
            for session in one.sessions
        ]  # fmt: skip
        return ResultView([f"{count(len(self), 'participant')}."], _frame(rows))

    __repr__ = ShownResult.__repr__


def _session_row(one: ParticipantSession) -> dict[str, object]:
    """Return a session as a row to read."""
    accept = {True: "yes", False: "no", None: "look"}[one.accept]
    return {
        "session": one.session, "run": one.run, "began": f"{one.began:%Y-%m-%d %H:%M}", "at": one.at,
        "list": "" if one.list is None else one.list, "accept": accept, "use": "yes" if one.use else "no",
        "reasons": ", ".join(one.reasons),
    }  # fmt: skip


def _frame(rows: Sequence[Mapping[str, Any]]) -> DataFrame:
    import pandas as pd

    return pd.DataFrame(list(rows))


_ASKED_MODES = frozenset(source.mode for source in SOURCES if source.is_platform)
"""Modes whose platform can be asked about a visit."""
_ACTS = ("release", "reset", "let_in", "shut_out", "leave_out", "take_in", "resume_link", "forget")
"""Ledger kinds of acts about a participant."""

_Tables = Mapping[str, Sequence[Mapping[str, Any]]]


async def participant_records(context: RecruitContext) -> ParticipantRecords:
    """Return all participants, in the order of arrival; without robots and previews."""
    tables: dict[str, list[dict[str, Any]]] = {table: await read_rows(context.store, table) for table in TABLES}
    moderation = Moderation(context.store.ledger)
    entries = await moderation.refresh()
    has_come = any(is_person(row["mode"]) and row["run"] == context.study.run for row in tables["sessions"])
    judging = judge_tables(context.study, tables) if has_come else None
    return make_records(tables, entries, moderation, judging)


def make_records(
    tables: _Tables,
    entries: Sequence[LedgerEntry],
    moderation: Moderation,
    judging: JudgedPopulation | None,
    *,
    robots: bool = False,
) -> ParticipantRecords:
    """Return all participants, or all robots, of these tables; `judging` is what the rules say of the study's run."""
    is_one = is_robot if robots else is_person
    sessions = sorted(
        (row for row in tables["sessions"] if is_one(row["mode"])), key=lambda row: (row["at"], str(row["session"]))
    )
    judged = {one.visit.session: one for one in judging.judged} if judging is not None else {}
    facts = _RecordFacts(tables)
    by_participant: dict[str, list[ParticipantSession]] = defaultdict(list)
    for row in sessions:
        by_participant[str(row["participant"])].append(_session_record(row, facts, judged.get(str(row["session"]))))
    modes = {str(row["participant"]): row["mode"] for row in reversed(sessions)}
    owner = {one.session: name for name, own in by_participant.items() for one in own}
    acts, paid = _acts(entries, owner), _paid(entries)
    return ParticipantRecords(
        ParticipantRecord(
            name,
            modes[name],
            tuple(own),
            tuple(acts[name]),
            paid.get(name),
            moderation.is_blocked(name),
            any(one.session in moderation.verified for one in own) if modes[name] in _ASKED_MODES else None,
        )
        for name, own in by_participant.items()
    )


class _RecordFacts:
    """The tables, by session."""

    def __init__(self, tables: _Tables) -> None:
        self.ends = {str(row["session"]): row for row in tables["ends"]}
        self.lists = {str(row["session"]): row["list"] for row in tables["claims"]}
        self.erased = {str(row["session"]) for row in tables["erasures"]}
        self.steps = _steps(tables)


def _session_record(row: Mapping[str, Any], facts: _RecordFacts, judged: JudgedSession | None) -> ParticipantSession:
    session = str(row["session"])
    end = facts.ends.get(session, {})
    steps = tuple(facts.steps.get(session, ()))
    return ParticipantSession(
        session=session,
        run=row["run"],
        began=row["at"],
        ended=end.get("at"),
        outcome=end.get("outcome"),
        at=_place(end.get("outcome"), steps, judged),
        list=facts.lists.get(session),
        accept=_accept(judged, end.get("outcome"), is_erased=session in facts.erased),
        use=judged is not None and judged.decision.use,
        reasons=judged.decision.reasons if judged is not None else (),
        is_erased=session in facts.erased,
        steps=steps,
        rules=tuple(_rule_verdicts(judged)) if judged is not None else (),
    )


def _accept(judged: JudgedSession | None, outcome: Outcome | None, *, is_erased: bool) -> bool | None:
    """Return whether a session is paid, as `decide` judges it; None where a person has to look."""
    if outcome in ("no_consent", "withdrawn"):
        return False
    if is_erased and outcome is not None:  # erased participants are still paid
        return True
    return judged.decision.accept if judged is not None else None


def _steps(tables: _Tables) -> dict[str, list[AnsweredPage]]:
    by_session: dict[str, list[AnsweredPage]] = defaultdict(list)
    for row in tables["answers"]:
        seconds = round((row["sent_ms"] - row["shown_ms"]) / 1000, 1)
        by_session[str(row["session"])].append(AnsweredPage(str(row["key"]), row["at"], seconds))
    for pages in by_session.values():
        pages.sort(key=lambda step: step.at)
    return by_session


def _place(outcome: str | None, steps: Sequence[AnsweredPage], judged: JudgedSession | None) -> str:
    """Return the position of a session: how it ended, else what was answered last."""
    if outcome is not None:
        return outcome.replace("_", " ")
    if not steps:
        return "at the first page"
    key = steps[-1].key
    if position := position_of(key):
        return f"after trial {position} of {len(judged.visit.trials)}" if judged is not None else f"after {key}"
    return f"after {key.replace(':', ' ')}"


def _rule_verdicts(judged: JudgedSession) -> list[RuleVerdict]:
    return [
        RuleVerdict(
            one.check,
            one.verdict,
            one.reason,
            reason_words(f"{one.check}:{one.reason}") if one.verdict == "fail" else "",
        )
        for one in judged.verdicts
    ]


def _acts(entries: Sequence[LedgerEntry], owner: Mapping[str, str]) -> defaultdict[str, list[RecordedAct]]:
    """Return the acts about each participant, or about a session of theirs."""
    acts: defaultdict[str, list[RecordedAct]] = defaultdict(list)
    for one in entries:
        if one.kind in _ACTS and one.event == "done":
            for participant in {one.participant, owner.get(one.session, "")}:
                by = str(one.evidence.get("by") or "") if isinstance(one.evidence, Mapping) else ""
                acts[participant].append(RecordedAct(one.kind, one.at, one.session, one.reason_text, by))
    return acts


def _paid(entries: Sequence[LedgerEntry]) -> dict[str, Sum]:
    """Return what has arrived for each participant."""
    totals: dict[str, Sum] = {}
    for debt in replay(entries).settled():
        if debt.kind in MONEY and debt.amount.minor:
            before = totals.get(debt.participant, Sum(0, debt.amount.currency))
            totals[debt.participant] = Sum(before.minor + debt.amount.minor, debt.amount.currency)
    return totals
