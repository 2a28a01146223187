"""Files made ready for browsers, and what `beholder media probe` says of them."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray
from PIL import Image

from beholder.errors import StimuliError
from beholder.stimuli.ffmpeg import file_argument, run_ffmpeg
from beholder.stimuli.pcm import read_sound, write_wav
from beholder.stimuli.probe import measure, playback_problem
from beholder.stimuli.workshop import make_prepared
from beholder.stimuli.workshop.preparation import EncodingTarget
from support.prepared_files import MARKS, RAW, X264, film, noise, refused, run

TRACES = (b"MARK", b"x264", b"libvpx", b"Lavf61", b"Lavc", b"crf=")
FRAMES = {"a/old": 25, "a/older": 25, "a/full": 25, "a/deep": 25, "b/odd": 25, "b/fields": 25, "b/below/uneven": 25}


def greys(path: Path) -> NDArray[np.float64]:
    """Return every frame of a video: frames x lines x columns."""
    ran = run_ffmpeg(["-i", file_argument(path), "-f", "rawvideo", "-pix_fmt", "gray", "pipe:1"])
    return np.frombuffer(ran.out, dtype=np.uint8).reshape(-1, 72, 128).astype(float)


def psnr(one: NDArray[np.float64], other: NDArray[np.float64]) -> float:
    return float(10 * np.log10(255**2 / max(float(((one - other) ** 2).mean()), 1e-6)))


@pytest.mark.parametrize("name", RAW)
def test_every_video_becomes_one_that_browsers_play(raw: Path, stimuli: Path, name: str) -> None:
    before, after = raw / name, (stimuli / name).with_suffix(".mp4")
    made = measure(after, "")
    assert playback_problem(made, "") is None
    assert (made.probe.codec, made.pixels, made.probe.fps) == ("h264", "yuv420p", 25)
    assert made.frames == FRAMES[name.rpartition(".")[0]]
    assert (made.probe.width, made.probe.height) == ((96, 54) if "odd" in name else (128, 72))
    assert made.probe.audio_codec == ("" if "-an" in RAW[name] else "aac")
    assert made.probe.duration_ms == pytest.approx(1000, abs=45)
    assert [mark for mark in TRACES if mark in after.read_bytes()] == []
    if name.startswith("a/"):
        assert psnr(greys(before), greys(after)) > 38


def test_key_frames_come_every_second(tmp_path: Path) -> None:
    clip = film(tmp_path / "clip.mp4", *X264, "-pix_fmt", "yuv420p", seconds=2.2)
    (made,) = make_prepared([clip], tmp_path / "out").written
    shown = ["-map", "0:V:0", "-vf", "showinfo", "-f", "null", "-"]
    log = run_ffmpeg(["-i", file_argument(made), *shown]).log
    frames = [line for line in log.splitlines() if " pts_time:" in line]
    assert [n for n, line in enumerate(frames) if "iskey:1" in line] == [0, 25, 50]


def test_a_second_run_writes_nothing(raw: Path, stimuli: Path) -> None:
    before = {path: path.stat().st_mtime_ns for path in stimuli.rglob("*")}
    again = run("prepare", raw, "--out", stimuli)
    assert (again.output, again.exit_code) == (f"Made 0 files. {len(RAW)} already there.\n", 0)
    assert {path: path.stat().st_mtime_ns for path in stimuli.rglob("*")} == before


def test_what_nobody_knows_in_a_folder_is_left_out_with_a_note(tmp_path: Path) -> None:
    (tmp_path / "raw").mkdir()
    noise(tmp_path / "raw" / "a.wav", 0.5)
    (tmp_path / "raw" / "b.xyz").write_bytes(b"?")
    (tmp_path / "raw" / ".hidden").write_bytes(b"?")
    made = make_prepared([tmp_path / "raw"], tmp_path / "raw" / "out")
    assert [path.name for path in made.written] == ["a.wav"]
    assert made.notes == (f"{tmp_path / 'raw' / 'b.xyz'}: left out, .xyz is an unknown kind of file",)


def test_another_setting_makes_a_file_again(tmp_path: Path) -> None:
    clip, out = film(tmp_path / "clip.mp4", *X264, "-pix_fmt", "yuv420p"), tmp_path / "out"
    sizes = []
    for crf in (17, 40):
        (made,) = make_prepared([clip], out, crf=crf).written
        sizes.append(made.stat().st_size)
    assert sizes[1] < 0.6 * sizes[0]
    assert make_prepared([clip], out, crf=40).written == ()


def test_size_rate_and_codec_can_be_chosen(tmp_path: Path) -> None:
    clip = film(tmp_path / "clip.mp4", *X264, "-pix_fmt", "yuv420p", "-c:a", "aac")
    arguments = ["--codec", "vp9", "--crf", 30, "--height", 36, "--fps", 12.5]
    result = run("prepare", clip, *arguments, "--out", tmp_path / "out")
    assert result.output == (
        f"Note: {clip}: 25 frames a second, now 12.5.\nNote: {clip}: scaled from 72 to 36 lines.\nMade 1 file.\n"
    )
    made = measure(tmp_path / "out" / "clip.webm", "")
    assert (made.probe.container, made.probe.codec, made.probe.audio_codec) == ("webm", "vp9", "opus")
    assert (made.probe.width, made.probe.height, made.probe.fps, made.frames) == (64, 36, 12.5, 13)
    assert [mark for mark in TRACES if mark in (tmp_path / "out" / "clip.webm").read_bytes()] == []


@pytest.mark.parametrize("source", ["rgb", "full range", "bt709"])
def test_a_colour_stays_what_it_is(tmp_path: Path, source: str) -> None:
    clip = tmp_path / "clip.mov"
    plain = ["-f", "lavfi", "-i", "color=c=0xc04020:size=64x48:rate=5:duration=0.4,format=rgb24"]
    ways = {
        "rgb": ["-c:v", "png"],
        "full range": [*X264, "-vf", "scale=out_range=pc,format=yuvj420p", "-color_range", "pc"],
        "bt709": [*X264, "-vf", "scale=out_color_matrix=bt709,format=yuv420p", "-colorspace", "bt709"],
    }
    assert run_ffmpeg([*plain, *ways[source], file_argument(clip)]).code == 0
    (made,) = make_prepared([clip], tmp_path / "out").written
    matrix = "bt709" if source == "bt709" else "smpte170m"
    shown = ["-vf", f"scale=in_color_matrix={matrix}:in_range=tv,format=rgb24", "-f", "rawvideo", "pipe:1"]
    ran = run_ffmpeg(["-i", file_argument(made), *shown])
    assert f"yuv420p(tv, {matrix}" in ran.log
    picture = np.frombuffer(ran.out, dtype=np.uint8).reshape(-1, 3).mean(axis=0)
    np.testing.assert_allclose(picture, (192, 64, 32), atol=5)


def test_hdr_and_broken_files_are_named_and_the_others_made(tmp_path: Path) -> None:
    film(tmp_path / "in" / "good.mp4", *X264, "-pix_fmt", "yuv420p", seconds=0.4)
    tags = ("-color_trc", "arib-std-b67", "-color_primaries", "bt2020", "-colorspace", "bt2020nc")
    bright = film(tmp_path / "in" / "bright.mp4", *X264, "-pix_fmt", "yuv420p10le", *tags, seconds=0.4)
    broken, rare = tmp_path / "in" / "bad.mp4", tmp_path / "in" / "bad.avi"
    empty, sound = tmp_path / "in" / "empty.txt", tmp_path / "in" / "bad.wav"
    rare.write_bytes(b"RIFF")
    for path in (broken, sound):
        path.write_bytes(b"nothing")
    empty.write_bytes(b" \n")
    messages = refused("prepare", tmp_path / "in", "--out", tmp_path / "out")
    again = "Export or copy it again, or take it out."
    assert messages == [
        f"{broken}  would become {tmp_path / 'out' / 'bad.mp4'}, as {rare} would. Allowed: names that differ. "
        "Rename one, or give the folder above them."
    ]
    rare = rare.rename(rare.with_name("rare.avi"))
    messages = refused("prepare", tmp_path / "in", "--out", tmp_path / "out")
    assert messages[:4] == [
        f"{broken}  cannot be read as video: it is no mp4, mov, webm or mkv, or it is cut off. {again}",
        f"{sound}  cannot be read as audio: it is no wav, mp3, flac, ogg, opus, m4a, aac or aiff, or it is cut off. "
        f"{again}",
        f"{bright}  is HDR video, which cannot be prepared. Allowed: standard dynamic range. "
        "Convert it to BT.709 first.",
        f"{empty}  cannot be read as text: there is nothing to read in it. Write the text, or take it out.",
    ]
    assert messages[4].startswith(f"{rare}  cannot be read as video: ffmpeg says ")
    assert [path.name for path in (tmp_path / "out").rglob("*.*") if not path.name.startswith(".")] == ["good.mp4"]


def test_what_cannot_be_asked_for_is_told_at_once(tmp_path: Path) -> None:
    sound, other = tmp_path / "in" / "tone.wav", tmp_path / "in" / "data.bin"
    write_wav(sound, np.zeros(4800), 48_000)
    other.write_bytes(b"data")
    (tmp_path / "bare").mkdir()
    options = ["--crf", 0, "--height", 71, "--fps", 0, "--loudness", 3, "--rate", 30, "--channels", 5]
    messages = refused("prepare", other, tmp_path / "gone.mp4", tmp_path / "bare", *options, "--out", sound)
    assert messages[:6] == [
        "--crf  is 0. Allowed: 1 to 51; less is finer, as 17.",
        "--height  is 71. Allowed: an even number of lines from 16 to 4320, as 1080.",
        "--fps  is 0. Allowed: 1 to 240 frames a second, as 30.",
        "--loudness  is 3. Allowed: -60 to -5 LUFS, as -23.",
        "--rate  is 30. Allowed: 8000 to 192000 samples a second, as 48000. Frames a second are --fps.",
        "--channels  is 5. Allowed: 1 or 2.",
    ]
    assert messages[6].startswith(f"{other}  is an unknown kind of file: .bin. Allowed: .mp4, .m4v, ")
    assert messages[7:] == [
        f"{tmp_path / 'gone.mp4'}  does not exist. Look for a slip in the name.",
        f"{tmp_path / 'bare'}  has no media in it. Allowed: a folder with videos, sounds, pictures or texts.",
        f"--out  is {sound}, which is a file. Allowed: a folder.",
    ]
    assert refused("prepare", tmp_path / "in", "--codec", "vp9", "--crf", 70, "--out", tmp_path / "in") == [
        "--crf  is 70. Allowed: 1 to 63; less is finer, as 18.",
        f"--out  is {tmp_path / 'in'}, which is read from. Allowed: another folder.",
    ]
    with pytest.raises(StimuliError, match=r"^FILES  names nothing\. Allowed: files, or folders of them\.$"):
        make_prepared([], tmp_path / "out")


def test_what_lies_in_out_is_not_prepared_once_more(tmp_path: Path) -> None:
    write_wav(tmp_path / "raw" / "a" / "tone.wav", np.zeros(4800), 48_000)
    out = tmp_path / "raw" / "ready"
    for written in (1, 0):
        assert len(make_prepared([tmp_path / "raw"], out).written) == written
    assert [path.name for path in out.rglob("*.wav")] == ["tone.wav"]


# Sounds, pictures, texts


def test_sounds_become_wav_of_the_same_samples(tmp_path: Path) -> None:
    for name, bits, codec in (("flat.flac", 16, "flac"), ("deep.aiff", 24, "pcm_s24be")):
        source = noise(tmp_path / "source.wav", 1, bits=bits)
        coded = ["-i", file_argument(source), *MARKS[:4], "-c:a", codec, file_argument(tmp_path / "in" / name)]
        (tmp_path / "in").mkdir(exist_ok=True)
        assert run_ffmpeg(coded).code == 0
    make_prepared([tmp_path / "in"], tmp_path / "out")
    for name, bits in (("flat", 16), ("deep", 24)):
        heard = read_sound(tmp_path / "out" / f"{name}.wav", "")
        assert (heard.rate, heard.bits) == (48_000, bits)
        source = noise(tmp_path / "source.wav", 1, bits=bits)
        np.testing.assert_array_equal(heard.samples, read_sound(source, "").samples)
        assert b"MARK" not in (tmp_path / "out" / f"{name}.wav").read_bytes()


def test_pictures_become_what_a_study_serves(tmp_path: Path) -> None:
    picture = Image.fromarray(np.random.default_rng(1).integers(0, 255, (9, 7, 3)).astype(np.uint8))
    (tmp_path / "in" / "x").mkdir(parents=True)
    picture.save(tmp_path / "in" / "x" / "one.tiff", description="MARKTITLE")
    (made,) = make_prepared([tmp_path / "in"], tmp_path / "out").written
    assert made == tmp_path / "out" / "x" / "one.webp"
    with Image.open(made) as again:
        np.testing.assert_array_equal(np.asarray(again.convert("RGB")), np.asarray(picture))
    assert b"MARK" not in made.read_bytes()


@pytest.mark.parametrize(
    ("data", "note"),
    [
        ("\ufeffGröße\r\nund Maß\r".encode(), ""),
        ("Größe\r\nund Maß\r".encode("utf-16"), ""),
        ("Größe\r\nund Maß\r".encode("cp1252"), "not UTF-8, read as Windows-1252; look whether its letters are right."),
    ],
)
def test_texts_become_utf_8_with_line_feeds(tmp_path: Path, data: bytes, note: str) -> None:
    source = tmp_path / "text.TXT"
    source.write_bytes(data)
    made = make_prepared([source], tmp_path / "out")
    assert made.written == (tmp_path / "out" / "text.txt",)
    assert made.written[0].read_bytes() == "Größe\nund Maß\n".encode()
    assert made.notes == ((f"{source}: {note}",) if note else ())


def test_a_text_in_no_known_letters_is_refused(tmp_path: Path) -> None:
    (tmp_path / "text.txt").write_bytes(b"\x81\x8d\xff")
    assert refused("prepare", tmp_path / "text.txt", "--out", tmp_path / "out") == [
        f"{tmp_path / 'text.txt'}  cannot be read as text: it is not UTF-8. Save it as UTF-8."
    ]


# Probe


def test_the_text_of_an_encoding_in_recipes_stays() -> None:
    """Files that were made earlier are known by a hash of this text."""
    encoding = EncodingTarget("vp9", 18, None, Fraction(30000, 1001), -23.0)
    assert encoding.recipe_text() == (
        "Wanted(codec='vp9', crf=18, height=None, rate=Fraction(30000, 1001), loudness=-23.0)"
    )


def test_videos_of_one_name_are_cut_to_the_shortest_and_their_sound_is_converted(tmp_path: Path) -> None:
    for folder, seconds in (("a", 1.0), ("b", 0.6)):
        film(tmp_path / "in" / folder / "city.mp4", *X264, "-pix_fmt", "yuv420p", "-c:a", "aac", seconds=seconds)
    made = make_prepared([tmp_path / "in"], tmp_path / "out", rate=16000, channels=1, shortest=True).written
    probes = [measure(path, "").probe for path in made]
    assert [(probe.sample_rate, probe.channels) for probe in probes] == [(16000, 1)] * 2
    assert [probe.duration_ms for probe in probes] == pytest.approx([600, 600], abs=70)


def test_pictures_are_scaled_to_a_height(tmp_path: Path) -> None:
    Image.new("RGB", (40, 20), (200, 30, 30)).save(tmp_path / "red.png")
    result = make_prepared([tmp_path / "red.png"], tmp_path / "out", height=16)
    with Image.open(tmp_path / "out" / "red.webp") as image:
        assert (image.size, image.getpixel((3, 3))) == ((32, 16), (200, 30, 30))
    assert result.notes == (f"{tmp_path / 'red.png'}: scaled from 40x20 to 32x16.",)
    assert make_prepared([tmp_path / "red.png"], tmp_path / "out", height=16).written == ()
