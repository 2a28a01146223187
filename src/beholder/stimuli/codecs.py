"""What browsers call the codecs of a served file: MIME types with codecs (RFC 6381), read from its own set-up."""

from __future__ import annotations

from pathlib import Path

from beholder.stimuli.catalogue import Probe
from beholder.stimuli.media import served_by_suffix
from beholder.types import Medium

_HEAD = 1 << 18
"""So much of a file holds its set-up: copies in MP4 are written with it in front."""
_PLAIN = {
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
    head = _head(served)
    codecs = [_picture(head, probe.codec, kind), _PLAIN.get(probe.audio_codec, probe.audio_codec)]
    return f'{kind}; codecs="{", ".join(codec for codec in codecs if codec)}"'


def _head(path: Path) -> bytes:
    try:
        with path.open("rb") as file:
            return file.read(_HEAD)
    except OSError:
        return b""


def _picture(head: bytes, codec: str, kind: str) -> str:
    """Return the codec of the picture with profile and level, as far as the file tells them."""
    plain = _PLAIN.get(codec, codec)
    if codec == "h264" and len(box := _box(head, b"avcC")) >= 4:
        # ISO/IEC 14496-15, 5.3.3.1: version, profile, compatibility, level.
        return f"avc1.{box[1:4].hex().upper()}"
    if codec == "vp9" and kind == "video/mp4" and len(box := _box(head, b"vpcC")) >= 7:
        # VP codec ISO media file format binding: version and flags, profile, level, depth in the upper half.
        return f"vp09.{box[4]:02d}.{box[5]:02d}.{box[6] >> 4:02d}"
    if codec == "av1" and len(box := _box(head, b"av1C") or _private(head)) >= 3 and box[0] == 0x81:
        # AV1 codec ISO media file format binding, 2.3.3; Matroska keeps the same bytes as its CodecPrivate.
        tier = "H" if box[2] & 0x80 else "M"
        depth = 8 if not box[2] & 0x40 else 12 if box[2] & 0x20 else 10
        return f"av01.{box[1] >> 5}.{box[1] & 0x1F:02d}{tier}.{depth:02d}"
    return plain


def _box(head: bytes, name: bytes) -> bytes:
    """Return what follows the name of a box, up to the longest set-up that is read here."""
    place = head.find(name)
    return head[place + 4 : place + 16] if place >= 0 else b""


def _private(head: bytes) -> bytes:
    """Return the CodecPrivate of a WebM file: its identifier, one byte of length, the bytes."""
    place = head.find(b"\x63\xa2")
    return head[place + 3 : place + 15] if place >= 0 else b""
