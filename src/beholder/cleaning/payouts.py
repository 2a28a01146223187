"""What `clean` proposes: whom to pay and how much more, and what to open again. Nothing of it happens by itself."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import Any

from beholder.checks.agreement import Agreement, Vote, VotesOfOthers, spearman, vote_subject
from beholder.checks.registry import message_role
from beholder.cleaning import columns as c
from beholder.cleaning.decisions import reason_words
from beholder.cleaning.facts import Facts, position_of
from beholder.cleaning.sessions import JudgedSession
from beholder.cleaning.shortfall import EXTEND, VOTES, is_compared, shortfall
from beholder.columns import Column, names_of
from beholder.files import table_bytes
from beholder.formats import plain_count
from beholder.methods.contract import Method
from beholder.planning.known_answers import message_label, message_text
from beholder.study.cleaning import Bonus, Quality, Quantity
from beholder.study.model import Study
from beholder.study.recruitment import Sum, money
from beholder.words import check_words, read_words


@dataclass(frozen=True)
class Proposals:
    """The lists as files, and what is in them in numbers."""

    files: Mapping[str, bytes]
    counts: Mapping[str, int]
    """short_votes, planned_votes, missing_sessions, bonuses"""
    bonus: str
    """What all bonuses come to; empty where there are none."""


def propose(study: Study, method: Method, facts: Facts, judged: Sequence[JudgedSession]) -> Proposals:
    """Return the lists that follow from all decisions."""
    in_pairs = is_compared(facts.planned.values(), method)
    missing = (
        shortfall(facts.planned, judged, votes=study.design.votes, in_pairs=in_pairs)
        if study.design.active is None
        # What is compared follows from the answers: nothing was promised so many votes.
        else shortfall({}, ())
    )
    bonuses = bonus_rows(judged, study.clean.bonus)
    return Proposals(
        files={
            "accept.csv": table_bytes(names_of(ACCEPT), accept_rows(judged)),
            "reject.csv": table_bytes(names_of(REJECT), reject_rows(judged, study, method)),
            "look.csv": table_bytes(names_of(LOOK), look_rows(judged)),
            "bonus.csv": table_bytes(names_of(BONUSES), bonuses),
            "votes.csv": table_bytes(names_of(VOTES), missing.vote_rows()),
            "extend.csv": table_bytes(names_of(EXTEND), missing.extend_rows()),
        },
        counts={
            "short_votes": missing.short,
            "planned_votes": len(missing.planned),
            "missing_sessions": sum(missing.extra().values()),
            "bonuses": len({row["participant"] for row in bonuses}),
        },
        bonus=str(total(bonuses) or ""),
    )


# Proposals: whom to pay, whom not, and whom to look at


ACCEPT = (c.SESSION, c.PARTICIPANT, c.MODE, c.OUTCOME, c.MINUTES, c.REASONS)
REJECT = (
    *ACCEPT,
    Column(
        "message",
        "text",
        "For the participant, in the language of the study: which pages asked for what, and whom to write to.",
    ),
)
LOOK = (*ACCEPT, Column("words", "text", "The reasons in words."))


def accept_rows(judged: Iterable[JudgedSession]) -> Iterator[dict[str, Any]]:
    """Yield a row for each session that is to be paid."""
    return (_list_row(one) for one in judged if one.decision.accept is True)


def look_rows(judged: Iterable[JudgedSession]) -> Iterator[dict[str, Any]]:
    """Yield a row for each session about whose pay a person decides."""
    for one in judged:
        if one.decision.accept is None:
            yield {**_list_row(one), "words": "; ".join(map(reason_words, one.decision.reasons))}


def reject_rows(judged: Iterable[JudgedSession], study: Study, method: Method) -> Iterator[dict[str, Any]]:
    """Yield a row for each session for which not to pay is proposed, with a message for the participant."""
    for one in judged:
        if one.decision.accept is False:
            yield {**_list_row(one), "message": rejection_message(one, study, method)}


def _list_row(one: JudgedSession) -> dict[str, Any]:
    return {
        "session": one.visit.session,
        "participant": one.visit.participant,
        "mode": one.visit.mode,
        "outcome": one.visit.outcome,
        "minutes": one.visit.minutes,
        "reasons": "; ".join(one.decision.reasons),
    }


def rejection_message(one: JudgedSession, study: Study, method: Method) -> str:
    """Return which stimuli asked for what, and whom to write to, in the language of the study."""
    words, own = read_words(study.language), check_words(study.language)
    sentences: dict[str, None] = {}
    for looked in one.looked:
        name = looked.verdict.check
        if message_role(name) is None or looked.verdict.verdict != "fail":
            continue
        sentences.setdefault(own.get(name, {}).get("out") or words["out"])
        for seen, verdict in looked.trials:
            off = verdict.measured if verdict.verdict == "fail" else None
            for where in off if isinstance(off, Mapping) else ():
                label = message_label(method, seen.trial, where)
                line = words.say(
                    "rating_page_of" if label else "rating_page",
                    page=position_of(seen.key),
                    label=label,
                    said=message_text(method, seen.trial, where, words),
                )
                sentences.setdefault(line)
    contact = [words.say("out_contact", contact=study.contact)] if study.contact else []
    return " ".join([*sentences, *contact])


# Bonuses for quantity and quality (P.910)


BONUSES = (
    c.PARTICIPANT,
    Column("rule", "text", "What the bonus is for.", ("quantity", "quality")),
    Column("sessions", "integer", "For how many accepted sessions."),
    Column("amount", "number", "How much, in the currency's usual unit."),
    Column("currency", "text", "Of the amount."),
    Column("agreement", "number", "Rank correlation with the others."),
    Column("session", "text", "The last accepted session, for platforms that pay a bonus on one."),
    Column("reason", "text", "Why it is due."),
)


def bonus_rows(judged: Sequence[JudgedSession], bonus: Bonus | None) -> list[dict[str, Any]]:
    """Return a row for each bonus that is due, by rule and in order of arrival; proposals, as everything about pay."""
    if bonus is None:
        return []
    accepted: dict[str, list[JudgedSession]] = defaultdict(list)
    for one in judged:
        if one.decision.accept is True and one.visit.outcome == "completed":
            accepted[one.visit.participant].append(one)
    rows = []
    if bonus.quantity is not None:
        rows += _quantity_rows(bonus.quantity, accepted)
    if bonus.quality is not None:
        least = bonus.quality.sessions or (bonus.quantity.sessions if bonus.quantity else 1)
        rows += _quality_rows(bonus.quality, least, accepted, judged)
    return rows


def total(rows: Sequence[Mapping[str, Any]]) -> Sum | None:
    """Return what all bonuses come to; None where there are none."""
    sums = [money(f"{row['amount']} {row['currency']}") for row in rows]
    return Sum(sum(one.minor for one in sums), sums[0].currency) if sums else None


def _quantity_rows(rule: Quantity, accepted: Mapping[str, Sequence[JudgedSession]]) -> list[dict[str, Any]]:
    return [
        _bonus_row(theirs, "quantity", rule.each, _quantity_reason(len(theirs), rule.sessions))
        for theirs in accepted.values()
        if len(theirs) >= rule.sessions
    ]


def _quantity_reason(accepted: int, least: int) -> str:
    return f"{plain_count(accepted, 'accepted session')}, of {least} or more"


def _quality_rows(
    rule: Quality, least: int, accepted: Mapping[str, Sequence[JudgedSession]], judged: Sequence[JudgedSession]
) -> list[dict[str, Any]]:
    """Return the rows of the best: a share of those with enough sessions, whether or not their agreement is known."""
    enough = {person: theirs for person, theirs in accepted.items() if len(theirs) >= least}
    agreements = _agreements(enough, judged)
    places = int(rule.best * len(enough) / 100 + 1e-9)
    ranked = sorted(agreements.values(), reverse=True)[:places]
    # Whoever does as well as the last one gets it too.
    limit = max(ranked[-1], rule.min_agreement) if ranked else 2.0
    reason = f"among the best {rule.best:g} % of {len(enough)} by agreement with the others"
    return [
        _bonus_row(theirs, "quality", rule.each, reason, agreements[person])
        for person, theirs in enough.items()
        if agreements.get(person, -2.0) >= limit
    ]


def _agreements(people: Mapping[str, Sequence[JudgedSession]], judged: Sequence[JudgedSession]) -> dict[str, float]:
    """Return the rank correlation of each person's used votes with the mean of all others, where it is known."""
    votes = VotesOfOthers(row for one in judged for row in one.ratings if row.use)
    agreements = {}
    for person, theirs in people.items():
        own: dict[Vote, list[float]] = defaultdict(list)
        for row in (row for one in theirs for row in one.ratings if row.use):
            name = vote_subject(row.kind, row.stimulus, row.other_stimulus)
            if name is not None and row.value is not None:
                own[name, row.question].append(row.value)
        others = {vote: mean for one in theirs for vote, mean in votes.others(person, one.ratings).items()}
        shared = [vote for vote in own if vote in others]
        if len({stimulus for stimulus, _ in shared}) < Agreement.Options().stimuli:
            continue
        r = spearman([fmean(own[vote]) for vote in shared], [others[vote] for vote in shared])
        if r is not None:
            agreements[person] = r
    return agreements


def _bonus_row(
    sessions: Sequence[JudgedSession], rule: str, each: str, reason: str, agreement: float | None = None
) -> dict[str, Any]:
    paid = money(each)
    due = Sum(paid.minor * len(sessions), paid.currency)
    return {
        "participant": sessions[-1].visit.participant,
        "rule": rule,
        "sessions": len(sessions),
        "amount": due.amount,
        "currency": due.currency,
        "agreement": None if agreement is None else round(agreement, 4),
        "session": sessions[-1].visit.session,
        "reason": reason,
    }
