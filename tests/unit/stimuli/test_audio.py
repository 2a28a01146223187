"""Sounds: measured, copied for participants, and distinguished from what only looks like them."""

from __future__ import annotations

import io
import wave
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest
from PIL import Image

from beholder.stimuli.ffmpeg import run_ffmpeg
from beholder.stimuli.probe import measure
from support.media_folders import AGAIN, cut, load, noise, problems, write
from support.sound_files import Make

ODD_NAMES = ("no", "NA", "01", "Größe 2", "-", "MiXed")


def samples_in(path: Path) -> bytes:
    ran = run_ffmpeg(["-v", "error", "-i", str(path), "-map", "0:a", "-f", "f64le", "pipe:1"])
    assert (ran.code, ran.log) == (0, "")
    return ran.out


@pytest.mark.parametrize(
    ("name", "options", "container", "codec"),
    [
        ("a.wav", (), "wav", "pcm_s16le"),
        ("a.mp3", (), "mp3", "mp3"),
        ("a.flac", (), "flac", "flac"),
        ("a.ogg", (), "ogg", "vorbis"),
        ("a.opus", ("-ar", "48000"), "ogg", "opus"),
        ("a.m4a", (), "mp4", "aac"),
        ("a.aac", (), "aac", "aac"),
        ("a.aiff", (), "aiff", "pcm_s16be"),
    ],
)
def test_every_sound_is_served_as_wav_without_a_trace_of_its_origin(
    sound: Make, tmp_path: Path, name: str, options: tuple[str, ...], container: str, codec: str
) -> None:
    source = sound(name, *options)
    write(tmp_path, {f"stimuli/MARKCONDITION/{name}": source})
    (stimulus,) = load(tmp_path).stimuli
    probe = stimulus.probe
    assert (stimulus.medium, probe.container, probe.codec, probe.audio_codec) == ("audio", container, codec, codec)
    assert (probe.channels, probe.sample_rate) == (2, 48000 if "48000" in options else 44100)
    assert 495 <= probe.duration_ms <= 545, "codecs pad and trim what they code"
    data = stimulus.served.read_bytes()
    assert stimulus.served.suffix == ".wav"
    assert data[:4] + data[8:16] + data[36:40] == b"RIFFWAVEfmt data"
    assert [mark for mark in (b"MARK", b"Lavf", b"LIST", b"LAME") if mark in data] == []
    assert len(samples_in(stimulus.served)) == len(samples_in(source))
    assert probe.duration_ms == round(1000 * len(samples_in(source)) / 16 / probe.sample_rate)


@pytest.mark.parametrize(
    ("name", "options", "codec"),
    [
        ("deep.wav", ("-c:a", "pcm_s24le"), "pcm_s24le"),
        ("deep.flac", ("-sample_fmt", "s32"), "pcm_s24le"),
        ("float.wav", ("-c:a", "pcm_f32le"), "pcm_s24le"),
        ("shallow.wav", ("-c:a", "pcm_u8"), "pcm_s16le"),
        ("cd.flac", ("-sample_fmt", "s16"), "pcm_s16le"),
    ],
)
def test_a_sound_keeps_its_depth_up_to_24_bits(
    sound: Make, tmp_path: Path, name: str, options: tuple[str, ...], codec: str
) -> None:
    source = sound(name, *options)
    write(tmp_path, {f"stimuli/a/{name}": source})
    (stimulus,) = load(tmp_path).stimuli
    assert measure(stimulus.served, "copy").probe.codec == codec
    if "float" not in name:
        assert samples_in(stimulus.served) == samples_in(source), "not one bit is lost"


def one_sample(whole: bytes) -> bytes:
    with io.BytesIO() as file:
        with wave.open(file, "wb") as sound:
            sound.setparams((1, 2, 16000, 1, "NONE", ""))
            sound.writeframes(bytes(2))
        return file.getvalue()


FEW = "it is no wav, mp3, flac, ogg, opus, m4a, aac or aiff, or it is cut off"


@pytest.mark.parametrize(
    ("name", "change", "reason"),
    [
        ("a.wav", cut, "it is cut off or damaged"),
        ("a.flac", cut, "it is cut off or damaged"),
        ("a.mp3", cut, "it is cut off or damaged"),
        ("a.aiff", cut, "it is cut off or damaged"),
        ("a.aac", cut, "it is cut off or damaged"),
        ("long.ogg", cut, "it is cut off or damaged"),
        ("a.m4a", cut, FEW),
        ("b.wav", lambda whole: b"", "the file is empty"),
        ("c.wav", lambda whole: b"hello", FEW),
        ("d.wav", lambda whole: whole[:44], FEW),
        ("f.wav", one_sample, "it is shorter than a millisecond"),
        ("e.mp3", lambda whole: b"ffconcat version 1.0\nfile a.mp3\n", FEW),
    ],
)
def test_a_file_that_is_no_whole_sound_is_named(
    sound: Make, tmp_path: Path, name: str, change: Callable[[bytes], bytes], reason: str
) -> None:
    whole = sound(name, seconds=4.0 if "long" in name else 0.5)
    write(tmp_path, {f"stimuli/a/{name}": change(whole.read_bytes())})
    assert problems(tmp_path) == [f"stimuli/a/{name}  cannot be read as audio: {reason}. {AGAIN}"]


def test_a_film_without_sound_is_no_sound(tmp_path: Path) -> None:
    path = tmp_path / "stimuli" / "a" / "x.m4a"
    path.parent.mkdir(parents=True)
    picture = ("-f", "lavfi", "-i", "testsrc2=s=64x48:d=0.2:r=25", "-c:v", "libx264", "-f", "mp4")
    assert run_ffmpeg([*picture, str(path)]).code == 0
    assert problems(tmp_path) == [
        f"stimuli/a/x.m4a  cannot be read as audio: it has no sound, or it is cut off. {AGAIN}"
    ]


@pytest.mark.parametrize("suffix", [".wav", ".png", ".txt"])
def test_odd_names_stay_as_they_are_in_every_medium(sound: Make, tmp_path: Path, suffix: str) -> None:
    data: Mapping[str, Path | Image.Image | str] = {".wav": sound("a.wav"), ".png": noise(), ".txt": "words"}
    write(tmp_path, {f"stimuli/{name}/Café no{suffix}": data[suffix] for name in ODD_NAMES})
    catalogue = load(tmp_path, [*ODD_NAMES], stimuli={"folder": "stimuli", "accept": ["identical"]})
    assert catalogue.conditions == ODD_NAMES
    assert [stimulus.id for stimulus in catalogue.stimuli] == [f"{name}/Café no" for name in ODD_NAMES]
    assert catalogue.warnings == ()
