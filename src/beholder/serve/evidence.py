"""An answer to a trial is taken only with the evidence that its stimuli were watched."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

from beholder.errors import Refused
from beholder.methods.contract import Method, Trial
from beholder.serve.playback import as_json, is_watched, watch_log
from beholder.serve.submission import Submission
from beholder.stimuli.catalogue import Catalogue
from beholder.types import Json

_CLOCK_SLACK, _CLOCK_SLACK_MS = 0.05, 250
"""How much longer than the server's clock allows a trial may have been watched: clocks are not that exact."""


def read_trial_answer(
    method: Method,
    trial: Trial,
    catalogue: Catalogue,
    rule: Literal["whole", "start", "none"],
    submission: Submission,
    elapsed_ms: float | None,
    words: Mapping[str, str],
) -> tuple[Json, dict[str, Json]]:
    """Return the normalised answer and the playback evidence, or raise Refused.

    `elapsed_ms` is how long the step can have been open by the server's clock; None trusts the log.
    """
    answer = method.read(trial, submission.answer)
    lengths = {slot.id: catalogue.by_id[slot.stimulus].probe.duration_ms for slot in trial.slots}
    seen = watch_log(submission.events, lengths)
    missing = answer.get("missing", {}) if isinstance(answer, Mapping) else {}
    assert isinstance(missing, Mapping)
    for slot, watched in seen.items():
        if slot in missing:
            if watched.errors == 0:
                raise Refused(words["not_missing"], where=f"answer.missing.{slot}", code="not_missing")
        elif not is_watched(watched, lengths[slot], rule):
            raise Refused(words["not_watched"], where=slot, allowed=f"watch: {rule}", code="not_watched")
    watched_ms = sum(watched.watched_ms for watched in seen.values())
    if elapsed_ms is not None and watched_ms * (1 - _CLOCK_SLACK) - _CLOCK_SLACK_MS > elapsed_ms:
        raise Refused(
            words["not_watched"], where="events", allowed="no more than the time that passed", code="not_watched"
        )
    return answer, as_json(seen)
