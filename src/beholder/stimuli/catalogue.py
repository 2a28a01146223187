"""Stimuli, the catalogue that holds them, and the MIME types of their served files."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path

from beholder.errors import Problem
from beholder.stimuli.blinding import class_size
from beholder.stimuli.known_answers import KnownAnswer
from beholder.stimuli.media_formats import served_by_suffix
from beholder.stimuli.relations import EVERYBODY
from beholder.types import Medium, Role


@dataclass(frozen=True)
class Probe:
    """What a file holds, as measured."""

    bytes: int
    container: str
    duration_ms: int
    """How long it plays; in a catalogue, how long an image or a text has to be in view."""
    width: int
    height: int
    fps: float
    codec: str
    audio_codec: str
    channels: int
    sample_rate: int = 0
    words: int = 0
    loudness: float | None = None
    """Integrated loudness of its sound in LUFS (ITU-R BS.1770); None of silence and of less than 0.4 s."""
    silence_before_ms: int = 0
    silence_after_ms: int = 0
    """How long its sound is below -50 dB at the start and at the end."""
    dead_channels: int = 0
    """How many of its channels hold nothing that could be heard."""

    @property
    def is_silent(self) -> bool:
        """Whether it has a sound track and nothing is to be heard on it."""
        shortest = min(400, 0.95 * self.duration_ms)
        return self.loudness is None and self.silence_before_ms > 0 and self.silence_before_ms >= shortest


@dataclass(frozen=True)
class Stimulus:
    """One thing to see or hear: a content under a condition."""

    id: str
    content: str
    condition: str
    role: Role
    medium: Medium
    file: str
    """As the researcher wrote it; never shown to a participant."""
    sha256: str
    """Of that file; of the recipe where we made it."""
    probe: Probe
    served: Path
    """The stripped copy in media/ that participants get."""
    factors: Mapping[str, str] = field(default_factory=dict)
    served_bytes: int = 0
    """How large that copy is, before any filler."""
    encoders: tuple[str, ...] = ()
    """Names of encoders that still stand in that copy, inside streams that are copied as they are."""
    layout: tuple[str, ...] = ()
    """How that copy of a video is encoded and put together, as somebody who looks into the file reads it."""
    caption: str = ""
    """What participants read below an example."""
    known_answer: KnownAnswer | None = None
    """The answer that is expected of a training, gold, trap or attention stimulus."""
    derived_from: str = ""
    """The id of the stimulus that we made this one of, so that it asks for an answer."""
    companion: str = ""
    """The text that is read with it, of methods that ask whether the two fit."""
    donor: str = ""
    """The content of its foreign companion, where it is mismatched."""
    relations: Mapping[str, str] = field(default_factory=dict, repr=False)
    """What it is to each person or group that it is for, by their names; empty where it is for everybody."""


@dataclass(frozen=True)
class Catalogue:
    """Every stimulus of a study, its conditions in the order of the study, its contents by code point."""

    stimuli: tuple[Stimulus, ...]
    conditions: tuple[str, ...]
    contents: tuple[str, ...]
    warnings: tuple[Problem, ...] = ()
    examples: tuple[Stimulus, ...] = ()
    """What the instructions show: never planned, never rated. Those of the manifest have captions of their own."""

    @cached_property
    def by_id(self) -> Mapping[str, Stimulus]:
        """Everything that is served."""
        return {stimulus.id: stimulus for stimulus in (*self.stimuli, *self.examples)}

    @cached_property
    def by_cell(self) -> Mapping[tuple[str, str], Stimulus]:
        """Stimuli that may be rated, by (content, condition)."""
        return {(s.content, s.condition): s for s in self.stimuli if s.role in ("test", "reference", "anchor")}

    @cached_property
    def references(self) -> Mapping[str, Stimulus]:
        """The reference of each content that has one."""
        return {s.content: s for s in self.stimuli if s.role == "reference"}

    @property
    def is_bound(self) -> bool:
        """Whether some stimuli are for some people."""
        return any(stimulus.relations for stimulus in self.stimuli)

    @cached_property
    def common(self) -> Catalogue:
        """The stimuli that are for everybody, and the conditions and contents that these have."""
        if not self.is_bound:
            return self
        left_out = {one.id for one in self.stimuli if one.relations and EVERYBODY not in one.relations}
        kept = [one for one in self.stimuli if one.id not in left_out and one.derived_from not in left_out]
        return self.holding([replace(one, relations={}) if one.relations else one for one in kept])

    def holding(self, stimuli: Sequence[Stimulus]) -> Catalogue:
        """Return a catalogue of some of these stimuli, with the conditions and contents that they have."""
        rated = [one for one in stimuli if one.role in ("test", "reference", "anchor")]
        conditions, contents = {one.condition for one in rated}, {one.content for one in rated}
        return replace(
            self,
            stimuli=tuple(stimuli),
            conditions=tuple(name for name in self.conditions if name in conditions),
            contents=tuple(name for name in self.contents if name in contents),
        )

    def of_role(self, role: Role) -> tuple[Stimulus, ...]:
        """Return the stimuli of a role, in the order of the catalogue."""
        return tuple(stimulus for stimulus in self.stimuli if stimulus.role == role)

    @cached_property
    def training(self) -> tuple[Stimulus, ...]:
        """What people practise on, in the order of the manifest."""
        taught = [
            (s.known_answer.number, s) for s in self.stimuli if s.role == "training" and s.known_answer is not None
        ]
        return tuple(stimulus for _, stimulus in sorted(taught, key=lambda one: one[0]))

    @cached_property
    def class_sizes(self) -> Mapping[str, int]:
        """The size up to which each stimulus is filled, by id: that of the largest of its content, if it can be."""
        largest: dict[str, int] = {}
        for stimulus in self.stimuli:
            largest[stimulus.content] = max(stimulus.served_bytes, largest.get(stimulus.content, 0))
        sizes = {s.id: class_size(s.served_bytes, largest[s.content]) for s in self.stimuli}
        # Examples carry their captions: there is nothing to hide.
        return sizes | {s.id: s.served_bytes for s in self.examples}

    def missing(self) -> tuple[tuple[str, str], ...]:
        """Return every (content, condition) that has no file."""
        return tuple((t, c) for t in self.contents for c in self.conditions if (t, c) not in self.by_cell)


# MIME types with codecs (RFC 6381)

_HEAD_BYTES = 1 << 18
"""So much of a file holds its set-up: copies in MP4 are written with it in front."""
_COMMON_CODECS = {
    "h264": "avc1.4D401E", "hevc": "hvc1.1.6.L93.B0", "av1": "av01.0.05M.08", "vp8": "vp8", "vp9": "vp9",
    "aac": "mp4a.40.2", "mp3": "mp3", "opus": "opus", "vorbis": "vorbis", "flac": "flac",
}  # fmt: skip
"""Where the set-up cannot be read: the profiles that nearly everything has."""


def mime_type(served: Path, probe: Probe, medium: Medium) -> str:
    """Return what `canPlayType` takes for a served file; nothing for a text."""
    if medium == "text":
        return ""
    if medium == "audio":
        return 'audio/wav; codecs="1"'
    kind = served_by_suffix(served.suffix).content_type
    if medium == "image":
        return kind
    head = _read_head(served)
    codecs = [_video_codec(head, probe.codec, kind), _COMMON_CODECS.get(probe.audio_codec, probe.audio_codec)]
    return f'{kind}; codecs="{", ".join(codec for codec in codecs if codec)}"'


def _read_head(path: Path) -> bytes:
    try:
        with path.open("rb") as file:
            return file.read(_HEAD_BYTES)
    except OSError:
        return b""


def _video_codec(head: bytes, codec: str, kind: str) -> str:
    """Return the codec of the picture with profile and level, as far as the file tells them."""
    plain = _COMMON_CODECS.get(codec, codec)
    if codec == "h264" and len(box := _box(head, b"avcC")) >= 4:
        # ISO/IEC 14496-15, 5.3.3.1: version, profile, compatibility, level.
        return f"avc1.{box[1:4].hex().upper()}"
    if codec == "vp9" and kind == "video/mp4" and len(box := _box(head, b"vpcC")) >= 7:
        # VP codec ISO media file format binding: version and flags, profile, level, depth in the upper half.
        return f"vp09.{box[4]:02d}.{box[5]:02d}.{box[6] >> 4:02d}"
    if codec == "av1" and len(box := _box(head, b"av1C") or _codec_private(head)) >= 3 and box[0] == 0x81:
        # AV1 codec ISO media file format binding, 2.3.3; Matroska keeps the same bytes as its CodecPrivate.
        tier = "H" if box[2] & 0x80 else "M"
        depth = 8 if not box[2] & 0x40 else 12 if box[2] & 0x20 else 10
        return f"av01.{box[1] >> 5}.{box[1] & 0x1F:02d}{tier}.{depth:02d}"
    return plain


def _box(head: bytes, name: bytes) -> bytes:
    """Return what follows the name of a box, up to the longest set-up that is read here."""
    place = head.find(name)
    return head[place + 4 : place + 16] if place >= 0 else b""


def _codec_private(head: bytes) -> bytes:
    """Return the CodecPrivate of a WebM file: its identifier, one byte of length, the bytes."""
    place = head.find(b"\x63\xa2")
    return head[place + 3 : place + 15] if place >= 0 else b""
