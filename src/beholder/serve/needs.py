"""What a study asks of a device, from its stimuli and its playback."""

from __future__ import annotations

from collections.abc import Sequence

from beholder.checks.contract import Needs, Sample
from beholder.methods.contract import Break, Trial
from beholder.stimuli.catalogue import Catalogue, Stimulus
from beholder.stimuli.codecs import mime_type
from beholder.study.between import groups_in, study_of
from beholder.study.model import Study

_LARGEST = (1920, 1080)
_FASTEST = 60.0
"""What a sample is at most: who plays this plays more."""


def needs_of(study: Study, catalogue: Catalogue, lists: Sequence[Sequence[Trial | Break]]) -> Needs:
    """Return what a device has to be able to do: the same for all, whatever groups there are.

    Otherwise one group would lose people that another one keeps.
    """
    stimuli = catalogue.stimuli
    ways = [study_of(study, levels).playback for levels in groups_in(study.design.between)]
    first = next((entry for entry in lists[0] if isinstance(entry, Trial)), None) if lists else None
    is_seen = any(stimulus.medium != "audio" for stimulus in stimuli)
    is_heard = any(stimulus.medium == "audio" or stimulus.probe.audio_codec for stimulus in stimuli)
    has_media = study.qualification.rule("media") is not None
    return Needs(
        codecs=_codecs(stimuli) if has_media else (),
        medium=stimuli[0].medium if stimuli else "video",
        fps=max((stimulus.probe.fps for stimulus in stimuli), default=0),
        size=_largest(stimuli) if any(way.size == "native" for way in ways) else None,
        fullscreen=any(way.fullscreen for way in ways) and is_seen,
        sound=any(way.sound == "on" for way in ways) and is_heard,
        first_bytes=sum(catalogue.class_sizes[slot.stimulus] for slot in first.slots) if first else 0,
        sample=_sample(stimuli) if has_media else None,
    )


def _codecs(stimuli: Sequence[Stimulus]) -> tuple[str, ...]:
    """Return the MIME types of all that is shown, each once."""
    types = (mime_type(stimulus.served, stimulus.probe, stimulus.medium) for stimulus in stimuli)
    return tuple(sorted({one for one in types if one}))


def _largest(stimuli: Sequence[Stimulus]) -> tuple[int, int] | None:
    sizes = [(stimulus.probe.width, stimulus.probe.height) for stimulus in stimuli if stimulus.probe.width]
    return (max(width for width, _ in sizes), max(height for _, height in sizes)) if sizes else None


def _sample(stimuli: Sequence[Stimulus]) -> Sample | None:
    """Return how a sample is made that is as hard to decode as the hardest clip."""
    clips = [stimulus for stimulus in stimuli if stimulus.medium == "video"]
    if not clips:
        return None
    hardest = max(clips, key=lambda stimulus: stimulus.probe.width * stimulus.probe.height * stimulus.probe.fps)
    probe = hardest.probe
    share = min(1.0, _LARGEST[0] / max(probe.width, probe.height), _LARGEST[1] / min(probe.width, probe.height))
    # Even numbers: half of them is what the colours have.
    width, height = (max(16, 2 * round(side * share / 2)) for side in (probe.width, probe.height))
    fps = min(_FASTEST, probe.fps) or 30.0
    return Sample(probe.codec, hardest.served.suffix.removeprefix("."), width, height, fps)
