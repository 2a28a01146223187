"""The body of a draft: a job and its study as Prolific takes them."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from beholder.recruit.contract import Job
from beholder.store.contract import StudyRecord
from beholder.study.model import Study
from beholder.study.qualification import Device
from beholder.study.recruiting import longest_minutes
from beholder.types import Json

_TAGS = {"b", "i", "em", "strong", "s", "u", "h1", "h2", "ol", "ul", "li", "p"}
"""What survives in a description on Prolific."""
_DEVICES = {"desktop": "desktop", "tablet": "tablet", "phone": "mobile"}
_LABEL = "annotation"
_HEARD = ("headphones", "tones", "sides")


@dataclass(frozen=True)
class Needed:
    """What a draft needs that was looked up on Prolific, or in the store."""

    project: str
    codes: Sequence[Mapping[str, Any]]
    filters: Sequence[Mapping[str, Any]] = field(default_factory=tuple)
    record: StudyRecord | None = None


def draft_body(study: Study, job: Job, needed: Needed) -> dict[str, Any]:
    """Return the draft of a job, everything that crowd platforms leave to defaults written out."""
    record = needed.record
    several = study.recruit.further == "submissions"
    return {
        "name": job.title,
        "internal_name": internal_name(job),
        "description": plain_description(job.description),
        "project": needed.project,
        "external_study_url": job.url,
        "prolific_id_option": "url_parameters",
        "total_available_places": job.places,
        "estimated_completion_time": job.minutes,
        "maximum_allowed_time": job.time_limit_minutes or longest_minutes(job.minutes),
        "reward": job.reward.minor,
        "device_compatibility": _devices(study),
        "peripheral_requirements": ["audio"] if has_sound(study, record) else [],
        "completion_codes": list(needed.codes),
        "filters": list(needed.filters),
        "submissions_config": {
            "max_submissions_per_participant": study.design.sessions_per_participant if several else 1
        },
        "study_labels": [_LABEL],
        "metadata": json.dumps({"digest": record.digest if record else "", "launch": job.key}),
    }


def internal_name(job: Job) -> str:
    """Return what only the researcher sees, by whose last word a draft is found again."""
    return f"{job.title} {job.key}"


def is_of(listed: Mapping[str, Any], key: str) -> bool:
    """Return whether a study in Prolific's list is the one of this launch."""
    return str(listed.get("internal_name") or "").endswith(f" {key}")


def plain_description(html: str) -> str:
    """Return a description with the few marks that Prolific keeps; of links and tables the words."""
    import nh3

    html = re.sub(r"<(/?)h[3-6]\b[^>]*>", r"<\1h2>", html)
    html = re.sub(r"</t[dh]>", " ", html)
    html = re.sub(r"</?(?:table|thead|tbody|t[dh])\b[^>]*>", "", html)  # or their paragraphs would leave the table
    html = re.sub(r"<(/?)tr\b[^>]*>", r"<\1p>", html)
    return nh3.clean(re.sub(r"<br\s*/?>", " ", html), tags=_TAGS, attributes={}).strip()


def has_sound(study: Study, record: StudyRecord | None) -> bool:
    """Return whether people need to hear: something plays with sound, or their hearing is asked for."""
    if any(study.qualification.rule(name) is not None for name in _HEARD):
        return True
    if study.playback.sound == "off" or record is None:
        return False
    return any(row["medium"] == "audio" or _sounds(row.get("probe")) for row in record.stimuli)


def _sounds(probe: Json) -> bool:
    return isinstance(probe, Mapping) and bool(probe.get("audio_codec"))


def _devices(study: Study) -> list[str]:
    """Return which devices may be used; none means any."""
    rule = study.qualification.rule("device")
    return [_DEVICES[kind] for kind in rule.allow] if isinstance(rule, Device) and rule.action == "gate" else []
