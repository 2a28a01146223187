"""Whom to pay, whom not, and whom to look at: proposals, which a person takes or leaves."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from beholder.checks.policy import PAY_REASONS
from beholder.clean.decide import in_words
from beholder.clean.seen import position_of
from beholder.clean.sessions import Judged
from beholder.methods.contract import Method
from beholder.plan.teaching.asked import asked_words, asking_label
from beholder.study.model import Study
from beholder.study.words import check_words, read_words

ACCEPT = ("session", "participant", "mode", "outcome", "minutes", "reasons")
REJECT = (*ACCEPT, "message")
LOOK = (*ACCEPT, "words")


def accept_rows(judged: Iterable[Judged]) -> Iterator[dict[str, Any]]:
    """Yield a row for each session that is to be paid."""
    return (_row(one) for one in judged if one.decision.accept is True)


def look_rows(judged: Iterable[Judged]) -> Iterator[dict[str, Any]]:
    """Yield a row for each session about whose pay a person decides."""
    for one in judged:
        if one.decision.accept is None:
            yield {**_row(one), "words": "; ".join(map(in_words, one.decision.reasons))}


def reject_rows(judged: Iterable[Judged], study: Study, method: Method) -> Iterator[dict[str, Any]]:
    """Yield a row for each session for which not to pay is proposed, with what its participant could be told."""
    for one in judged:
        if one.decision.accept is False:
            yield {**_row(one), "message": rejection_message(one, study, method)}


def _row(one: Judged) -> dict[str, Any]:
    return {
        "session": one.visit.session,
        "participant": one.visit.participant,
        "mode": one.visit.mode,
        "outcome": one.visit.outcome,
        "minutes": one.visit.minutes,
        "reasons": "; ".join(one.decision.reasons),
    }


def rejection_message(one: Judged, study: Study, method: Method) -> str:
    """Return which stimuli asked for what, and whom to write to, in the language of the study."""
    words, own = read_words(study.language), check_words(study.language)
    told: dict[str, None] = {}
    for looked in one.looked:
        name = looked.verdict.check
        if name not in PAY_REASONS or looked.verdict.verdict != "fail":
            continue
        told.setdefault(own.get(name, {}).get("out") or words["out"])
        for seen, verdict in looked.trials:
            off = verdict.measured if verdict.verdict == "fail" else None
            for where in off if isinstance(off, Mapping) else ():
                label = asking_label(method, seen.trial, where)
                line = words["rating_page_of" if label else "rating_page"].format(
                    page=position_of(seen.key), label=label, said=asked_words(method, seen.trial, where, words)
                )
                told.setdefault(line)
    contact = [words["out_contact"].format(contact=study.contact)] if study.contact else []
    return " ".join([*told, *contact])
