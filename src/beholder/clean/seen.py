"""Every answered trial of a session, as the rules look at it."""

from __future__ import annotations

from collections.abc import Mapping

from beholder.checks.trust import Seen
from beholder.clean.facts import Given, Shown, Visit
from beholder.methods.contract import Method

_STILL = ("image", "text")


def seen_trials(visit: Visit, method: Method, stimuli: Mapping[tuple[str, str], Shown]) -> tuple[Seen, ...]:
    """Return the trials in the order of the list, each as it was answered last."""
    found = []
    for position, given in trial_answers(visit):
        trial = visit.trials[position - 1]
        found.append(
            Seen(
                key=given.key,
                trial=trial,
                answer=given.answer,
                judgements=method.judgements(trial, given.answer),
                playback=given.playback,
                lengths_ms={slot.id: stimuli[visit.digest, slot.stimulus].length_ms for slot in trial.slots},
                shown_ms=given.shown_ms,
                sent_ms=given.sent_ms,
                stills=frozenset(
                    slot.id for slot in trial.slots if stimuli[visit.digest, slot.stimulus].medium in _STILL
                ),
            )
        )
    return tuple(found)


def trial_answers(visit: Visit) -> list[tuple[int, Given]]:
    """Return (position, answer) of every trial that was answered, in the order of the plan; the last answer counts."""
    last: dict[int, Given] = {}
    for given in sorted(visit.answers.values(), key=lambda given: given.at):
        position = position_of(given.key)
        if 0 < position <= len(visit.trials):
            last[position] = given
    return sorted(last.items())


def position_of(key: str) -> int:
    """Return the position of the trial that a key belongs to, `trial:7` or `trial:7:2`; 0 of any other step."""
    kind, _, rest = key.partition(":")
    return int(rest.partition(":")[0]) if kind == "trial" else 0
