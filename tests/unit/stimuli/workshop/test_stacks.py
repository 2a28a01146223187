"""The workshop: anchors and stacks from files of one's own, made once, in step, with clear words when they cannot."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from beholder.errors import StimuliError
from beholder.stimuli.ffmpeg import file_argument, run_ffmpeg
from beholder.stimuli.probe import measure
from beholder.stimuli.workshop import WorkshopResult, make_stacks
from beholder.stimuli.workshop.clips import Clip, exact_rate
from beholder.stimuli.workshop.stacks import StackLayout
from support.variants import variant
from support.workshop_files import H264, counter, film, refused


def greys(path: Path) -> NDArray[np.float64]:
    """Return every frame of a video: frames x lines x columns."""
    probe = measure(path, path.name).probe
    ran = run_ffmpeg(["-i", file_argument(path), "-f", "rawvideo", "-pix_fmt", "gray", "pipe:1"])
    return np.frombuffer(ran.out, dtype=np.uint8).reshape(-1, probe.height, probe.width).astype(float)


# Stacks


@pytest.mark.parametrize("rate", ["30000/1001", *map(variant, ("25", "50"))])
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


@pytest.mark.parametrize(("side", "hertz"), [variant("left", 500), ("right", 1500)])
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


def test_lengths_are_cut_to_the_shorter_told_and_beyond_half_a_second_refused(tmp_path: Path) -> None:
    short = film(tmp_path / "short.mp4", counter(20))
    near = film(tmp_path / "near.mp4", counter(24))
    long = film(tmp_path / "long.mp4", counter(40))
    result = make_stacks(short, near, tmp_path / "near-both.mp4", sound="none")
    assert result.notes == (f"{short} and {near}: 160 ms apart in length, cut to 0.80 s.",)
    assert len(greys(tmp_path / "near-both.mp4")) == 20
    with pytest.raises(StimuliError) as caught:
        make_stacks(long, short, tmp_path / "both.mp4", sound="none")
    assert str(caught.value) == (
        f"{long} and {short}  are 1.60 s and 0.80 s long. Allowed: lengths within 0.5 s. "
        "Cut one of them, or add --shortest."
    )
    make_stacks(long, short, tmp_path / "both.mp4", sound="none", shortest=True)
    assert len(greys(tmp_path / "both.mp4")) == 20


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


# Anchors


def test_the_text_of_a_layout_in_recipes_stays() -> None:
    """Files that were made earlier are known by a hash of this text."""
    clip = Clip(Path("one.mp4"), 640, 360, Fraction(25), 2.0, True, "bt709", False)
    assert StackLayout.of(clip, clip, "left").recipe_text() == (
        "Sheet(lines=360, widths=(640, 640), gap=8, rate=Fraction(25, 1), frames=50, sound='left', "
        "matrix='bt709', full_range=False)"
    )
