"""An answer to a trial is taken only with the evidence that its stimuli were watched."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

from beholder.errors import Refused
from beholder.methods.contract import Method, Trial
from beholder.serve.playback import as_json, is_watched, watch_log
from beholder.serve.submission import Submission
from beholder.stimuli.catalogue import Catalogue
from beholder.study.model import Playback
from beholder.types import Json

_CLOCK_SLACK, _CLOCK_SLACK_MS = 0.05, 250
"""How much longer than the server's clock allows a trial may have been watched: clocks are not that exact."""


def read_trial_answer(
    method: Method,
    trial: Trial,
    catalogue: Catalogue,
    playback: Playback,
    submission: Submission,
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
    return answer, _watched(trial, catalogue, rule, missing, submission, elapsed_ms, words)


def read_page_answer(
    trial: Trial,
    catalogue: Catalogue,
    playback: Playback,
    submission: Submission,
    elapsed_ms: float | None,
    words: Mapping[str, str],
) -> tuple[Json, dict[str, Json]]:
    """Return the answer to a page with examples, which only says what would not play, and the playback evidence."""
    answer = submission.answer
    missing = answer.get("missing", {}) if isinstance(answer, Mapping) else None
    slots = [slot.id for slot in trial.slots]
    if not isinstance(answer, Mapping) or set(answer) - {"missing"} or not isinstance(missing, Mapping):
        raise Refused("This page takes no answer", where="answer", allowed="{}, or what would not play")
    if any(slot not in slots or why != "media_error" for slot, why in missing.items()):
        raise Refused("Something is missing that was not shown", where="answer.missing", allowed=", ".join(slots))
    read: Json = {"missing": dict(missing)} if missing else {}
    return read, _watched(trial, catalogue, playback.watch, missing, submission, elapsed_ms, words)


def _watched(
    trial: Trial,
    catalogue: Catalogue,
    rule: Literal["whole", "start", "none"],
    missing: Mapping[str, Json],
    submission: Submission,
    elapsed_ms: float | None,
    words: Mapping[str, str],
) -> dict[str, Json]:
    """Return the evidence that every slot was watched by the rule or would not play, or raise Refused."""
    lengths = {slot.id: catalogue.by_id[slot.stimulus].probe.duration_ms for slot in trial.slots}
    evidence = watch_log(submission.events, lengths, together=trial.together)
    for slot, watched in evidence.slots.items():
        if slot in missing:
            if watched.errors == 0:
                raise Refused(words["not_missing"], where=f"answer.missing.{slot}", code="not_missing")
        elif not is_watched(watched, lengths[slot], rule):
            raise Refused(words["not_watched"], where=slot, allowed=f"watch: {rule}", code="not_watched")
    times = [watched.watched_ms for watched in evidence.slots.values()]
    watched_ms = max(times, default=0) if trial.together else sum(times)
    if elapsed_ms is not None and watched_ms * (1 - _CLOCK_SLACK) - _CLOCK_SLACK_MS > elapsed_ms:
        raise Refused(
            words["not_watched"], where="events", allowed="no more than the time that passed", code="not_watched"
        )
    return as_json(evidence)
