"""Every answered trial of a session, as the rules look at it."""

from __future__ import annotations

from collections.abc import Mapping

from beholder.checks.trust import Seen
from beholder.clean.facts import Given, Shown, Visit, position_of
from beholder.methods.contract import Method

__all__ = ["position_of", "seen_trials", "trial_answers"]
_STILL = ("image", "text")


def seen_trials(visit: Visit, method: Method, stimuli: Mapping[tuple[str, str], Shown]) -> tuple[Seen, ...]:
    """Return the trials in the order of the list, each as it was answered last."""
    found = []
    for position, given in trial_answers(visit):
        trial = visit.trials[position - 1]
        shown = {slot.id: stimuli[visit.digest, slot.stimulus] for slot in trial.slots}
        found.append(
            Seen(
                key=given.key,
                trial=trial,
                answer=given.answer,
                judgements=method.judgements(trial, given.answer),
                playback=given.playback,
                lengths_ms={slot: one.length_ms for slot, one in shown.items()},
                shown_ms=given.shown_ms,
                sent_ms=given.sent_ms,
                stills=frozenset([slot for slot, one in shown.items() if one.medium in _STILL]),
            )
        )
    return tuple(found)


def trial_answers(visit: Visit) -> tuple[tuple[int, Given], ...]:
    """Return (position, answer) of every trial that was answered, in the order of the plan; the last answer counts."""
    return visit.by_position
