"""The public half: what a browser may know of a step, built from an allow-list of fields."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import datetime

from beholder.methods.contract import Method, Slot, Trial
from beholder.serve.script import Planned, Script
from beholder.stimuli.catalogue import Stimulus
from beholder.study.model import Ask, Playback
from beholder.study.texts import markdown
from beholder.types import Json

Media = Callable[[str, Slot], Mapping[str, Json]]
"""From (step key, slot) to the media of that slot."""


def public_media(stimulus: Stimulus, url: str, size: int, *, is_heard: bool) -> dict[str, Json]:
    """Return all that a browser learns of a stimulus: where it is, how long, how large, and whether it is heard."""
    probe = stimulus.probe
    return {
        "url": url, "medium": stimulus.medium, "bytes": size,
        "sound": is_heard and (stimulus.medium == "audio" or probe.audio_codec != ""),
        "ms": probe.duration_ms, "width": probe.width, "height": probe.height,
    }  # fmt: skip


def public_step(
    step: Planned, script: Script, texts: Mapping[str, str], method: Method, playback: Playback, media: Media
) -> dict[str, Json]:
    """Return a step as the browser gets it."""
    place = max(0, script.place(step.key))
    shown: dict[str, Json] = {
        "key": step.key,
        "kind": step.kind,
        "progress": [place + 1, len(script.steps)],
        "prefetch": _prefetch(script, place, media),
    }
    if step.trial is not None:
        shown |= {"method": method.name, "trial": _public_trial(step, step.trial, method, playback, media)}
    elif step.items:
        shown["items"] = [_public_item(item) for item in step.items]
    elif step.text:
        shown["text"] = texts[step.text]
    return shown


def public_end(
    script: Script,
    outcome: str,
    text: str,
    *,
    code: str | None,
    receipt: str | None,
    answers: int = 0,
    seconds: float | None = None,
    ended_at: datetime | None = None,
) -> dict[str, Json]:
    """Return the last step, with the code that is due now."""
    total = len(script.steps)
    return {
        "key": "end", "kind": "end", "progress": [total, total], "prefetch": [], "outcome": outcome, "text": text,
        "code": code, "return_url": None, "receipt": receipt, "answers": answers, "seconds": seconds,
        "ended_at": ended_at.isoformat() if ended_at else None,
    }  # fmt: skip


def _prefetch(script: Script, place: int, media: Media) -> list[Json]:
    """Return the media of the next trial, so that they load while this step is read."""
    for step in script.steps[place + 1 :]:
        if step.trial is not None:
            return [media(step.key, slot) for slot in step.trial.slots]
    return []


def _public_trial(step: Planned, trial: Trial, method: Method, playback: Playback, media: Media) -> dict[str, Json]:
    return {
        "asked": [
            {
                "id": asked.id,
                "text": asked.text,
                "scale": {
                    "min": asked.scale.min, "max": asked.scale.max, "step": asked.scale.step,
                    "labels": [list(label) for label in asked.scale.labels], "look": asked.scale.look,
                },
                "ticks": list(asked.ticks),
            }
            for asked in trial.asked
        ],
        "slots": [
            {
                "id": slot.id, "label": slot.label, "colour": slot.colour, "rated": slot.rated,
                "media": media(step.key, slot),
            }
            for slot in trial.slots
        ],
        "playback": playback.model_dump(),
        "together": trial.together,
        "extra": dict(method.extra(trial)),
    }  # fmt: skip


def _public_item(item: Ask) -> dict[str, Json]:
    return {
        "id": item.id, "text": markdown(item.text), "type": item.type, "options": list(item.options),
        "required": item.required, "placeholder": item.placeholder, "min": item.min, "max": item.max,
    }  # fmt: skip
