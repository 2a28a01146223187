"""What beholder media probe says of files."""

from __future__ import annotations

import json
from pathlib import Path

from beholder.stimuli.loudness import measure_loudness
from beholder.stimuli.workshop import probe_media
from support.prepared_files import noise, refused, run


def test_a_probe_says_what_plays(stimuli: Path) -> None:
    result = run("probe", stimuli / "a" / "full.mp4", stimuli / "b")
    heads, _, *rows = result.output.splitlines()
    assert result.exit_code == 0
    assert heads.split() == [
        "file", "medium", "container", "codec", "pixels", "size", "fps", "frames", "duration", "sound", "loudness",
        "bytes", "plays",
    ]  # fmt: skip
    full = stimuli / "a" / "full.mp4"
    words = rows[0].split()
    assert words[:9] == [str(full), "video", "mp4", "h264", "yuv420p", "128x72", "25", "25", "1.000"]
    assert words[9:15] == ["s", "aac", "1", "ch", "48000", "Hz"]
    assert words[15:] == ["-21.8", "LUFS", str(full.stat().st_size), "yes"]
    assert [row.split()[0] for row in rows[1:]] == [
        str(stimuli / "b" / name) for name in ("fields.mp4", "odd.mp4", "below/uneven.mp4")
    ]


def test_a_probe_says_what_does_not_play_and_why(raw: Path, tmp_path: Path) -> None:
    files = [raw / "a" / "old.mov", raw / "a" / "older.avi", raw / "a" / "deep.mp4", tmp_path / "gone.mp4"]
    rows, problems = probe_media(files)
    prepare = "Re-encode it with beholder media prepare."
    assert [str(problem) for problem in problems] == [
        f"{files[3]}  does not exist. Look for a slip in the name.",
        f"{files[0]}  is MPEG-4 part 2, which browsers do not play. Allowed: H.264, VP8, VP9, AV1. {prepare}",
        f"{files[1]}  is .avi, which studies do not take. {prepare}",
        f"{files[2]}  is H.264 in yuv420p10le, which some browsers do not play. Allowed: yuv420p. {prepare}",
    ]
    assert [row.plays for row in rows] == [False] * 3
    assert rows[1].problem == f"is .avi, which studies do not take. {prepare}"
    assert refused("probe", *files) == [str(problem) for problem in problems]


def test_a_probe_is_json_for_programs(tmp_path: Path) -> None:
    sound, text, bad = noise(tmp_path / "noise.wav", 1), tmp_path / "words.txt", tmp_path / "z.png"
    text.write_text("three little words", "utf-8")
    bad.write_bytes(b"no picture")
    result = run("probe", tmp_path, "--json")
    assert result.exit_code == 2
    printed = json.loads(result.stdout)
    of_noise, of_words, of_bad = printed["files"]
    assert [problem["where"] for problem in printed["problems"]] == [str(bad)]
    lufs = measure_loudness(sound, "audio").lufs
    nothing = {
        "plays": True, "problem": None, "container": "", "codec": "", "pixels": "", "width": 0, "height": 0, "fps": 0.0,
        "frames": 0, "duration_ms": 0, "audio_codec": "", "channels": 0, "sample_rate": 0, "loudness": None, "words": 0,
    }  # fmt: skip
    assert of_noise == nothing | {
        "file": str(sound), "medium": "audio", "bytes": sound.stat().st_size, "container": "wav", "frames": 48_000,
        "duration_ms": 1000, "audio_codec": "pcm_s16le", "channels": 2, "sample_rate": 48_000, "loudness": lufs,
    }  # fmt: skip
    assert of_words == nothing | {"file": str(text), "medium": "text", "bytes": 18, "container": "txt", "words": 3}
    assert of_bad == nothing | {
        "file": str(bad), "medium": "image", "bytes": 10, "plays": False,
        "problem": "cannot be read as image: it is no png, jpeg, webp, avif, gif, tiff or bmp. "
        "Export or copy it again, or take it out.",
    }  # fmt: skip
