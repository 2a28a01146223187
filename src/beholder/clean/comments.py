"""What participants wrote in their own words: reasons for an answer, and comments."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from beholder.clean.facts import Visit
from beholder.clean.seen import trial_answers
from beholder.clean.tables import as_text

COLUMNS = ("session", "participant", "position", "trial", "content", "question", "kind", "text")


def comment_rows(visits: Sequence[Visit]) -> Iterator[dict[str, Any]]:
    """Yield one row for each reason and each comment, in the order of the trials; a comment belongs to no question."""
    for visit in visits:
        for position, given in trial_answers(visit):
            trial = visit.trials[position - 1]
            if not isinstance(given.answer, Mapping):
                continue
            questions = {asked.id: asked.question for asked in trial.asked}
            reasons = given.answer.get("reasons") or {}
            told = [(questions.get(asked), "reason", text) for asked, texts in reasons.items() for text in texts]
            if given.answer.get("comment"):
                told.append((None, "comment", given.answer["comment"]))
            for question, kind, text in told:
                yield {
                    "session": visit.session,
                    "participant": visit.participant,
                    "position": position,
                    "trial": trial.id,
                    "content": trial.content,
                    "question": question,
                    "kind": kind,
                    "text": as_text(text),
                }
