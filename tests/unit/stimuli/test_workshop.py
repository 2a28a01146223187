"""The workshop: anchors and stacks from files of one's own, made once, in step, with clear words when they cannot."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Sequence
from fractions import Fraction
from pathlib import Path

import click
import numpy as np
import pytest
from click.testing import CliRunner, Result
from numpy.typing import NDArray

from beholder.cli import cli
from beholder.errors import StimuliError, UserError
from beholder.stimuli.ffmpeg import feed_ffmpeg, file_argument, run_ffmpeg
from beholder.stimuli.pcm import read_sound, write_wav
from beholder.stimuli.probe import measure
from beholder.stimuli.workshop import WorkshopResult, make_anchors, make_stacks
from beholder.stimuli.workshop.clips import exact_rate
from beholder.stimuli.workshop.jobs import RecipeLedger

H264 = ("-c:v", "libx264", "-preset", "ultrafast", "-crf", "10")


def film(
    path: Path,
    levels: Sequence[int],
    *,
    size: tuple[int, int] = (64, 48),
    rate: str = "25",
    tone: float = 0,
    codec: Sequence[str] = H264,
) -> Path:
    """Write a video whose frames are plain greys, with a tone where one is asked for."""
    path.parent.mkdir(parents=True, exist_ok=True)
    sound = [] if not tone else ["-f", "lavfi", "-i", f"sine=frequency={tone}:sample_rate=48000", "-shortest"]
    ran = feed_ffmpeg(
        [
            "-v", "error", "-y", "-f", "rawvideo", "-pix_fmt", "gray", "-s", f"{size[0]}x{size[1]}", "-r", rate,
            "-i", "pipe:0", *sound, *codec, "-pix_fmt", "yuv420p", file_argument(path),
        ],
        (bytes([level]) * (size[0] * size[1]) for level in levels),
    )  # fmt: skip
    assert ran.code == 0, ran.log
    return path


def greys(path: Path) -> NDArray[np.float64]:
    """Return every frame of a video: frames x lines x columns."""
    probe = measure(path, path.name).probe
    ran = run_ffmpeg(["-i", file_argument(path), "-f", "rawvideo", "-pix_fmt", "gray", "pipe:1"])
    return np.frombuffer(ran.out, dtype=np.uint8).reshape(-1, probe.height, probe.width).astype(float)


def counter(frames: int) -> list[int]:
    """Return a grey for each frame that its neighbours do not have."""
    return [40 + 37 * number % 170 for number in range(frames)]


# Stacks


@pytest.mark.parametrize("rate", ["25", "30000/1001", "50"])
def test_left_and_right_of_a_stack_are_the_same_frame(tmp_path: Path, rate: str) -> None:
    left = film(tmp_path / "left.mp4", counter(40), rate=rate)
    right = film(tmp_path / "right.mov", counter(40), rate=rate, codec=(*H264, "-bf", "3", "-g", "12"))
    made = make_stacks(left, right, tmp_path / "both.mp4", sound="none")
    assert made == WorkshopResult((tmp_path / "both.mp4",), ())
    pictures = greys(tmp_path / "both.mp4")
    assert pictures.shape == (40, 48, 64 + 4 + 64)
    halves = pictures[:, 8:-8, 8:56].mean(axis=(1, 2)), pictures[:, 8:-8, -56:-8].mean(axis=(1, 2))
    np.testing.assert_allclose(halves[0], counter(40), atol=4)
    np.testing.assert_allclose(halves[0], halves[1], atol=2)
    np.testing.assert_allclose(pictures[:, 8:-8, 65:67].mean(), 130, atol=20)
    assert exact_rate(measure(tmp_path / "both.mp4", "").probe.fps) == Fraction(rate)


def test_another_rate_and_height_are_brought_to_those_of_the_left_and_told(tmp_path: Path) -> None:
    left = film(tmp_path / "left.mp4", counter(25), size=(64, 48), rate="25")
    right = film(
        tmp_path / "right.webm", [grey for grey in counter(25) for _ in range(2)], size=(121, 91), rate="50",
        codec=("-c:v", "libvpx-vp9", "-deadline", "realtime", "-cpu-used", "8", "-crf", "10", "-b:v", "0"),
    )  # fmt: skip
    made = make_stacks(left, right, tmp_path / "out", sound="none")
    assert made.notes == (
        f"{right}: scaled from 91 to 48 lines.",
        f"{right}: 50 frames a second, shown at 25.",
    )
    pictures = greys(tmp_path / "out" / "left.mp4")
    assert pictures.shape == (25, 48, 64 + 4 + 64)
    halves = pictures[:, 8:-8, 8:56].mean(axis=(1, 2)), pictures[:, 8:-8, -56:-8].mean(axis=(1, 2))
    np.testing.assert_allclose(halves[0], halves[1], atol=4)


def test_an_odd_height_keeps_every_line(tmp_path: Path) -> None:
    paths = [film(tmp_path / f"{name}.webm", [200] * 3, size=(31, 33), codec=("-c:v", "libvpx")) for name in "ab"]
    make_stacks(paths[0], paths[1], tmp_path / "both.mp4", sound="none")
    picture = greys(tmp_path / "both.mp4")[0]
    assert picture.shape == (34, 32 + 4 + 32)
    assert float(picture[:32, :28].min()) > 190
    assert float(picture[33, :28].mean()) < 180


@pytest.mark.parametrize(("side", "hertz"), [("left", 500), ("right", 1500)])
def test_one_sound_track_is_kept(tmp_path: Path, side: str, hertz: int) -> None:
    left = film(tmp_path / "left.mp4", counter(25), tone=500)
    right = film(tmp_path / "right.mp4", counter(25), tone=1500)
    make_stacks(left, right, tmp_path / "both.mp4", sound="right" if side == "right" else "left")
    probe = measure(tmp_path / "both.mp4", "").probe
    assert (probe.codec, probe.audio_codec) == ("h264", "aac")
    assert abs(probe.duration_ms - 1000) <= 40
    ran = run_ffmpeg(["-i", file_argument(tmp_path / "both.mp4"), "-f", "f32le", "-ac", "1", "pipe:1"])
    heard = np.abs(np.fft.rfft(np.frombuffer(ran.out, dtype="<f4")[:48_000]))
    assert int(np.argmax(heard)) == pytest.approx(hertz, abs=2)


def test_a_stack_tells_nothing_of_where_it_comes_from(tmp_path: Path) -> None:
    left = film(tmp_path / "system-a.mp4", counter(5), tone=440)
    right = film(tmp_path / "system-b.mp4", counter(5), codec=(*H264, "-metadata", "title=system-b"))
    make_stacks(left, right, tmp_path / "out")
    data = (tmp_path / "out" / "system-a.mp4").read_bytes()
    for word in (b"system", b"x264", b"Lavf", b"Lavc"):
        assert word not in data
    assert data.index(b"moov") < data.index(b"mdat")


def test_folders_are_matched_by_name(tmp_path: Path) -> None:
    for name in ("one", "two"):
        film(tmp_path / "left" / f"{name}.mp4", counter(4))
        film(tmp_path / "right" / f"{name}.webm", counter(4), codec=("-c:v", "libvpx"))
    (tmp_path / "left" / "notes.txt").write_text("no video", "utf-8")
    seen: list[tuple[int, int]] = []
    made = make_stacks(
        tmp_path / "left", tmp_path / "right", tmp_path / "out", sound="none",
        progress=lambda done, total: seen.append((done, total)),
    )  # fmt: skip
    assert [path.name for path in made.written] == ["one.mp4", "two.mp4"]
    assert seen == [(1, 2), (2, 2)]


def test_a_second_run_makes_nothing_and_a_changed_file_is_made_again(tmp_path: Path) -> None:
    for side in ("left", "right"):
        for name in ("one", "two"):
            film(tmp_path / side / f"{name}.mp4", counter(4))
    out = tmp_path / "out"
    make_stacks(tmp_path / "left", tmp_path / "right", out, sound="none")
    before = {path.name: path.read_bytes() for path in out.iterdir()}
    assert sorted(before) == [".beholder-made.json", "one.mp4", "two.mp4"]
    again = make_stacks(tmp_path / "left", tmp_path / "right", out, sound="none")
    assert (again.written, [path.name for path in again.kept]) == ((), ["one.mp4", "two.mp4"])
    assert {path.name: path.read_bytes() for path in out.iterdir()} == before
    film(tmp_path / "right" / "two.mp4", counter(5)[1:])
    third = make_stacks(tmp_path / "left", tmp_path / "right", out, sound="none")
    assert ([path.name for path in third.written], [path.name for path in third.kept]) == (["two.mp4"], ["one.mp4"])


def test_lengths_are_cut_to_the_shorter_told_and_beyond_half_a_second_refused(tmp_path: Path) -> None:
    short = film(tmp_path / "short.mp4", counter(20))
    near = film(tmp_path / "near.mp4", counter(24))
    long = film(tmp_path / "long.mp4", counter(40))
    told = make_stacks(short, near, tmp_path / "near-both.mp4", sound="none")
    assert told.notes == (f"{short} and {near}: 160 ms apart in length, cut to 0.80 s.",)
    assert len(greys(tmp_path / "near-both.mp4")) == 20
    with pytest.raises(StimuliError) as caught:
        make_stacks(long, short, tmp_path / "both.mp4", sound="none")
    assert str(caught.value) == (
        f"{long} and {short}  are 1.60 s and 0.80 s long. Allowed: lengths within 0.5 s. "
        "Cut one of them, or add --shortest."
    )
    make_stacks(long, short, tmp_path / "both.mp4", sound="none", shortest=True)
    assert len(greys(tmp_path / "both.mp4")) == 20


def refused(*arguments: object) -> list[str]:
    """Return the lines of the error that a command of `beholder media` ends with."""
    with pytest.raises(UserError) as caught:
        cli(["media", *(str(argument) for argument in arguments)], standalone_mode=False)
    return str(caught.value).splitlines()


def test_what_cannot_be_stacked_is_told_at_once(tmp_path: Path) -> None:
    left, right, out = tmp_path / "left", tmp_path / "right", tmp_path / "out"
    film(left / "one.mp4", counter(4))
    film(left / "two.mp4", counter(4))
    film(right / "two.mp4", counter(4))
    film(right / "three.mp4", counter(4))
    film(left / "two.webm", counter(4), codec=("-c:v", "libvpx"))
    assert refused("stack", left, right, "--out", out) == [
        f"{left / 'two.webm'}  has the name of two.mp4. Allowed: each name once. Rename one.",
        f"{left / 'one.mp4'}  has no partner in {right}. Allowed: {right / 'one'}.*. Add it, or take this one out.",
        f"{right / 'three.mp4'}  has no partner in {left}. Allowed: {left / 'three'}.*. Add it, or take this one out.",
    ]
    assert refused("stack", left / "gone.mp4", tmp_path / "nowhere", "--out", out) == [
        f"{left / 'gone.mp4'}  does not exist. Look for a slip in the name.",
        f"{tmp_path / 'nowhere'}  does not exist. Look for a slip in the name.",
    ]
    assert refused("stack", left, right / "two.mp4", "--out", out) == [
        f"{right / 'two.mp4'}  is a file, and {left} is a folder. Allowed: two videos, or two folders of them."
    ]
    (tmp_path / "bare").mkdir()
    assert refused("stack", tmp_path / "bare", tmp_path / "bare", "--out", out) == [
        f"{tmp_path / 'bare'}  has no video in it. Allowed: a folder with videos."
    ]
    assert refused("stack", left / "one.mp4", right / "two.mp4", "--out", tmp_path / "both.webm") == [
        f"--out  is {tmp_path / 'both.webm'}. Allowed: a folder, or a name that ends in .mp4."
    ]
    assert refused("stack", right, right, "--out", left / "one.mp4") == [
        f"--out  is {left / 'one.mp4'}, which is a file. Allowed: a folder."
    ]
    assert refused("stack", left / "one.mp4", right / "two.mp4", "--out", out) == [
        f"{left / 'one.mp4'}  has no sound. Take the other's with --sound, or none."
    ]
    (right / "two.mp4").write_bytes(b"cut off")
    (left / "one.mp4").write_bytes(b"")
    broken = refused("stack", left / "one.mp4", right / "two.mp4", "--out", out, "--sound", "none")
    again = "Export or copy it again, or take it out."
    assert broken == [
        f"{left / 'one.mp4'}  cannot be read as video: the file is empty. {again}",
        f"{right / 'two.mp4'}  cannot be read as video: it is no mp4, mov, webm or mkv, or it is cut off. {again}",
    ]
    assert not out.exists()


def test_a_colour_stays_what_it_is_where_the_two_sides_are_coded_differently(tmp_path: Path) -> None:
    red = (192, 64, 32)
    paths = []
    for matrix, tags in (("bt709", ("-colorspace", "bt709", "-color_trc", "bt709")), ("smpte170m", ())):
        paths.append(tmp_path / f"{matrix}.mp4")
        source = ["-f", "lavfi", "-i", "color=c=0xc04020:size=64x48:rate=25:duration=0.2"]
        convert = ["-vf", f"scale=out_color_matrix={matrix},format=yuv420p"]
        assert run_ffmpeg([*source, *convert, *H264, *tags, file_argument(paths[-1])]).code == 0
    make_stacks(paths[0], paths[1], tmp_path / "both.mp4", sound="none")
    shown = ["-vf", "scale=in_color_matrix=bt709,format=rgb24", "-frames:v", "1", "-f", "rawvideo", "pipe:1"]
    ran = run_ffmpeg(["-i", file_argument(tmp_path / "both.mp4"), *shown])
    assert "yuv420p(tv, bt709" in ran.log
    picture = np.frombuffer(ran.out, dtype=np.uint8).reshape(48, 132, 3).astype(float)
    np.testing.assert_allclose(picture[8:-8, 8:56].mean(axis=(0, 1)), red, atol=5)
    np.testing.assert_allclose(picture[8:-8, -56:-8].mean(axis=(0, 1)), red, atol=5)


def test_hdr_is_not_stacked(tmp_path: Path) -> None:
    tags = ("-color_trc", "smpte2084", "-color_primaries", "bt2020", "-colorspace", "bt2020nc")
    bright = film(tmp_path / "bright.mp4", counter(3), codec=(*H264, *tags))
    plain = film(tmp_path / "plain.mp4", counter(3))
    assert refused("stack", plain, bright, "--out", tmp_path / "out", "--sound", "none") == [
        f"{bright}  is HDR video, which cannot be stacked. Allowed: standard dynamic range. Convert it to BT.709 first."
    ]


# Anchors


def tones(folder: Path, *names: str) -> list[Path]:
    """Write sounds of a low and a high tone."""
    time = np.arange(9600) / 48_000
    for name in names:
        write_wav(folder / name, 0.3 * np.sin(2 * np.pi * 500 * time) + 0.3 * np.sin(2 * np.pi * 9000 * time), 48_000)
    return [folder / name for name in names]


def run(*arguments: object) -> Result:
    return CliRunner().invoke(cli, ["media", *(str(argument) for argument in arguments)], catch_exceptions=False)


def test_anchors_are_made_once_for_each_cut_off(tmp_path: Path) -> None:
    one, two = tones(tmp_path / "sounds", "one.wav", "two.wav")
    out = tmp_path / "anchors"
    assert run("anchor", one, two, "--cutoff", 3500, "--cutoff", 7000, "--out", out).output == "Made 4 files.\n"
    files = sorted(path.relative_to(out).as_posix() for path in out.rglob("*.wav"))
    assert files == ["lowpass-3500/one.wav", "lowpass-3500/two.wav", "lowpass-7000/one.wav", "lowpass-7000/two.wav"]
    heard = read_sound(out / "lowpass-3500" / "one.wav", "").samples
    assert float(np.sqrt(np.mean(heard[2000:-2000] ** 2))) == pytest.approx(0.3 / np.sqrt(2), rel=0.01)
    ledger = json.loads((out / ".beholder-made.json").read_text("utf-8"))
    assert sorted(ledger["made"]) == files
    again = run("anchor", tmp_path / "sounds", "--cutoff", 3500, "--cutoff", 7000, "--out", out)
    assert again.output == "Made 0 files. 4 already there.\n"
    tones(tmp_path / "sounds", "three.wav")
    more = run("anchor", tmp_path / "sounds", "--cutoff", 3500, "--out", out)
    assert more.output == "Made 1 file. 2 already there.\n"


def test_what_cannot_be_made_an_anchor_is_told_at_once(tmp_path: Path) -> None:
    one, *_ = tones(tmp_path / "a", "one.wav", "bad.wav")
    (twin,) = tones(tmp_path / "b", "one.wav")
    (tmp_path / "bare").mkdir()
    assert refused("anchor", one, twin, tmp_path / "gone.wav", tmp_path / "bare", "--cutoff", 5, "--out", tmp_path) == [
        f"{tmp_path / 'gone.wav'}  does not exist. Look for a slip in the name.",
        f"{tmp_path / 'bare'}  has no sound in it. Allowed: a folder with sound files.",
        "--cutoff  is 5. Allowed: a frequency in Hz from 20 on, as 3500.",
        f"{twin}  has the name of {one}, so that one anchor would replace the other. Allowed: names that differ. "
        "Rename one, or make them in two runs with two --out.",
    ]
    (tmp_path / "a" / "bad.wav").write_bytes(b"RIFF")
    write_wav(tmp_path / "a" / "low.wav", np.zeros(800), 8000)
    out = tmp_path / "out"
    assert refused("anchor", tmp_path / "a", "--cutoff", 3700, "--out", out) == [
        f"{tmp_path / 'a' / 'bad.wav'}  cannot be read as audio: it is no wav, mp3, flac, ogg, opus, m4a, aac or aiff, "
        "or it is cut off. Export or copy it again, or take it out.",
        f"{tmp_path / 'a' / 'low.wav'}  has 8000 samples a second, so that no low-pass at 3700 Hz can be made. "
        "Allowed: 20 to 3600 Hz.",
    ]
    assert [path.name for path in out.rglob("*.wav")] == ["one.wav"]


def test_no_cut_off_and_no_file_are_refused_from_python_too(tmp_path: Path) -> None:
    with pytest.raises(StimuliError) as caught:
        make_anchors([], [], tmp_path)
    assert str(caught.value).splitlines() == [
        "FILES  holds no sound. Allowed: sound files, or folders with some in them.",
        "--cutoff  is missing. Allowed: one or more frequencies in Hz, as --cutoff 3500.",
    ]


def test_a_file_of_somebody_else_is_never_replaced(tmp_path: Path) -> None:
    (one,) = tones(tmp_path / "sounds", "one.wav")
    (theirs,) = tones(tmp_path / "out" / "lowpass-3500", "one.wav")
    before = theirs.read_bytes()
    words = [f"{theirs}  is there, and is not what this command made. Choose another --out, or move it away."]
    assert refused("anchor", one, "--cutoff", 3500, "--out", tmp_path / "out") == words
    assert theirs.read_bytes() == before
    theirs.unlink()
    make_anchors([one], [3500], tmp_path / "out")
    theirs.write_bytes(before)
    assert refused("anchor", one, "--cutoff", 3500, "--out", tmp_path / "out") == words


def test_what_a_killed_run_left_behind_is_made_again_and_what_failed_is_nobodys(tmp_path: Path) -> None:
    (one,) = tones(tmp_path / "sounds", "one.wav")
    out = tmp_path / "out"
    (target,) = make_anchors([one], [3500], out).written
    made, ledger = target.read_bytes(), RecipeLedger(out)
    target.write_bytes(b"half of another run")
    ledger.begin([target])
    assert make_anchors([one], [3500], out) == WorkshopResult((target,), ())
    assert target.read_bytes() == made
    one.write_bytes(b"RIFF")
    for _ in range(2):
        with pytest.raises(StimuliError):
            make_anchors([one], [3500], out)
    assert target.read_bytes() == made
    target.write_bytes(b"theirs")
    assert "is not what this command made" in refused("anchor", one, "--cutoff", 3500, "--out", out)[0]


def test_a_folder_that_is_a_file_is_refused(tmp_path: Path) -> None:
    (one,) = tones(tmp_path / "sounds", "one.wav")
    assert refused("anchor", one, "--cutoff", 3500, "--out", one) == [
        f"--out  is {one}, which is a file. Allowed: a folder."
    ]
    (said,) = refused("anchor", one, "--cutoff", 3500, "--out", one / "below")
    assert said.startswith(f"--out  is {one / 'below'}, which cannot be written to: ")
    assert said.endswith(". Allowed: a folder, there or to be made.")


def test_a_ledger_that_is_none_is_explained(tmp_path: Path) -> None:
    (one,) = tones(tmp_path / "sounds", "one.wav")
    ledger = tmp_path / "out" / ".beholder-made.json"
    ledger.parent.mkdir()
    for text in ("", "[]", '{"made": {"x": 3}}'):
        ledger.write_text(text, "utf-8")
        assert refused("anchor", one, "--cutoff", 3500, "--out", tmp_path / "out") == [
            f"{ledger}  is not what this command wrote. Delete it and what was made there, and run the command again."
        ]


def test_the_command_line_ends_with_2_and_no_traceback(tmp_path: Path) -> None:
    line = [sys.executable, "-m", "beholder", "media", "anchor", "gone.wav", "--cutoff", "3500", "--out", "out"]
    ended = subprocess.run(line, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert (ended.returncode, ended.stdout) == (2, "")
    assert ended.stderr == "gone.wav  does not exist. Look for a slip in the name.\n"


def test_the_media_commands_are_these() -> None:
    group = cli.commands["media"]
    assert isinstance(group, click.Group)
    assert list(group.commands) == ["anchor", "stack", "impair", "attention", "trap", "prepare", "probe"]
