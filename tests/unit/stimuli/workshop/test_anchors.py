"""Anchors of sounds and videos: worse by one property, the reference in every other."""

from __future__ import annotations

import json
import re
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner, Result

from beholder.cli import cli
from beholder.errors import StimuliError, UserError
from beholder.stimuli.ffmpeg import file_argument, run_ffmpeg
from beholder.stimuli.pcm import read_sound, write_wav
from beholder.stimuli.probe import measure
from beholder.stimuli.workshop import WorkshopResult, make_anchors
from support.variants import variant
from support.video_anchors import H264, NAMES, film, greys, psnr
from support.workshop_files import refused, tones


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


def sound_packets(path: Path) -> bytes:
    copy = ["-map", "0:a:0", "-c", "copy", "-f", "streamhash", "-hash", "md5", "pipe:1"]
    return run_ffmpeg(["-i", file_argument(path), *copy]).out


def refused_anchors(*arguments: object) -> list[str]:
    """Return the lines of the error that `beholder media anchor` ends with."""
    with pytest.raises(UserError) as caught:
        cli(["media", "anchor", *(str(argument) for argument in arguments)], standalone_mode=False)
    return str(caught.value).splitlines()


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a reference and all its anchors."""
    folder = tmp_path_factory.mktemp("anchors")
    clip = film(folder / "clip.mp4")
    options = [word for name in NAMES for word in (f"--{name.split('-')[0]}", name.split("-")[1])]
    result = CliRunner().invoke(cli, ["media", "anchor", str(clip), *options, "--out", str(folder / "out")])
    assert result.output == "Made 8 files.\n"
    return folder


@pytest.mark.parametrize("name", NAMES)
def test_an_anchor_has_the_size_rate_frames_and_sound_of_its_reference(made: Path, name: str) -> None:
    before, after = measure(made / "clip.mp4", ""), measure(made / "out" / name / "clip.mp4", "")
    assert (after.probe.width, after.probe.height, after.probe.fps) == (192, 108, 25)
    assert (after.frames, after.probe.duration_ms) == (before.frames, before.probe.duration_ms) == (25, 1000)
    assert (after.probe.container, after.probe.codec, after.pixels) == ("mp4", "h264", "yuv420p")
    assert sound_packets(made / "out" / name / "clip.mp4") == sound_packets(made / "clip.mp4")


def test_an_anchor_tells_nothing_of_who_made_it(made: Path) -> None:
    assert b"MARKTITLE" in (made / "clip.mp4").read_bytes()
    for name in NAMES:
        data = (made / "out" / name / "clip.mp4").read_bytes()
        assert [mark for mark in (b"MARK", b"x264", b"Lavf") if mark in data] == []


@pytest.mark.parametrize(("worse", "better"), list(zip(NAMES[::2], NAMES[1::2], strict=True)))
def test_an_anchor_is_worse_the_further_it_goes(made: Path, worse: str, better: str) -> None:
    clip = greys(made / "clip.mp4")
    low, high = (psnr(clip, greys(made / "out" / name / "clip.mp4")) for name in (worse, better))
    assert 8 < low < high - 1
    assert high < 45


@pytest.mark.parametrize(("name", "bits"), [("bitrate-30k", 30_000), ("bitrate-200k", 200_000)])
def test_an_anchor_has_the_bits_it_was_given(made: Path, name: str, bits: int) -> None:
    copy = ["-map", "0:v:0", "-c", "copy", "-f", "h264", "pipe:1"]
    ran = run_ffmpeg(["-i", file_argument(made / "out" / name / "clip.mp4"), *copy])
    assert 8 * len(ran.out) == pytest.approx(bits, rel=0.35)


@pytest.mark.parametrize(
    ("rate", "fps", "shown"),
    [
        ("25", "10", [0, 0, 0, 3, 3, 5, 5, 5, 8, 8, 10, 10, 10]),
        variant("25", "7.5", [0, 0, 0, 0, 4, 4, 4, 7, 7, 7, 10, 10, 10]),
        ("30000/1001", "7.5", [0, 0, 0, 0, 4, 4, 4, 4, 8, 8, 8, 8, 12]),
    ],
)
def test_each_frame_that_is_due_is_shown_and_held(tmp_path: Path, rate: str, fps: str, shown: list[int]) -> None:
    clip = film(tmp_path / "clip.mp4", rate=rate, tone=False)
    make_anchors([clip], [], tmp_path, rates=[fps])
    before, after = greys(clip), greys(tmp_path / f"fps-{fps}" / "clip.mp4")
    assert len(before) == len(after)
    nearest = [int(np.argmin(((before - picture) ** 2).mean(axis=(1, 2)))) for picture in after]
    assert nearest[: len(shown)] == shown
    assert nearest == sorted(nearest)


@pytest.mark.variant
def test_a_late_picture_stays_as_late(tmp_path: Path) -> None:
    clip = film(tmp_path / "clip.mp4")
    late = tmp_path / "late.mkv"
    both = ["-itsoffset", "0.2", "-i", file_argument(clip), "-i", file_argument(clip)]
    assert run_ffmpeg([*both, "-map", "0:v:0", "-map", "1:a:0", "-c", "copy", file_argument(late)]).code == 0
    make_anchors([late], [], tmp_path, rates=["10"], blurs=["8"])
    anchors = [tmp_path / name / "late.mp4" for name in ("fps-10", "blur-8")]
    for anchor in anchors:
        assert measure(anchor, "").frames == 25
        assert first_shown(anchor) == pytest.approx(first_shown(late), abs=0.02)
    assert first_shown(late) == pytest.approx(0.2, abs=0.03)


def first_shown(path: Path) -> float:
    """Return when the first frame of a video is shown, in seconds."""
    shown = ["-map", "0:V:0", "-frames:v", "1", "-vf", "showinfo", "-f", "null", "-"]
    match = re.search(r"pts_time:([0-9.]+)", run_ffmpeg(["-i", file_argument(path), *shown]).log)
    assert match is not None
    return float(match[1])


@pytest.mark.parametrize(
    ("name", "options", "sound"),
    [
        ("a.webm", ("-c:v", "libvpx-vp9", "-deadline", "realtime", "-cpu-used", "8", "-c:a", "libopus"), "opus"),
        variant("b.mov", (*H264, "-c:a", "pcm_s16le"), "aac"),
    ],
)
def test_other_containers_give_mp4(tmp_path: Path, name: str, options: tuple[str, ...], sound: str) -> None:
    clip = film(tmp_path / name, *options)
    (anchor,) = make_anchors([clip], [], tmp_path / "out", resolutions=[54]).written
    assert anchor == tmp_path / "out" / "resolution-54" / f"{clip.stem}.mp4"
    assert measure(anchor, "").probe.audio_codec == sound
    assert measure(anchor, "").frames == measure(clip, "").frames


def test_a_blur_is_as_wide_at_any_height(tmp_path: Path) -> None:
    widths = []
    for size in ("96x54", "384x216"):
        edge = f"color=black:size={size}:rate=5:duration=0.4,drawbox=x=iw/2:w=iw/2:h=ih:c=white:t=fill"
        clip = tmp_path / f"{size}.mp4"
        assert run_ffmpeg(["-f", "lavfi", "-i", edge, *H264, file_argument(clip)]).code == 0
        (anchor,) = make_anchors([clip], [], tmp_path, blurs=["40"]).written
        line = greys(anchor)[0][10]
        widths.append(float(((line > 40) & (line < 215)).mean()))
    assert widths[0] == pytest.approx(widths[1], rel=0.25)
    assert widths[0] > 0.04


def test_what_is_there_is_not_made_again(made: Path) -> None:
    paths = list((made / "out").rglob("*.mp4"))
    before = {path: path.stat().st_mtime_ns for path in paths}
    again = make_anchors([made / "clip.mp4"], [], made / "out", rates=["5", 5.0], blurs=[8], bitrates=["30k", "0.03M"])
    kept = tuple(made / "out" / name / "clip.mp4" for name in ("bitrate-30k", "fps-5", "blur-8"))
    assert again == WorkshopResult((), kept)
    assert {path: path.stat().st_mtime_ns for path in paths} == before


def test_sounds_and_videos_get_their_own_anchors(tmp_path: Path) -> None:
    film(tmp_path / "in" / "clip.mp4", seconds=0.4)
    write_wav(tmp_path / "in" / "clip.wav", np.zeros(4800), 48_000)
    arguments = ["--cutoff", "3500", "--blur", "4", "--out", str(tmp_path / "out")]
    result = CliRunner().invoke(cli, ["media", "anchor", str(tmp_path / "in"), *arguments])
    assert result.output == "Made 2 files.\n"
    assert sorted(path.relative_to(tmp_path / "out").as_posix() for path in (tmp_path / "out").rglob("*.[mw]*")) == [
        "blur-4/clip.mp4", "lowpass-3500/clip.wav",
    ]  # fmt: skip


def test_options_and_files_that_do_not_fit_are_told_at_once(tmp_path: Path) -> None:
    clip = film(tmp_path / "clip.mp4", seconds=0.4)
    sound, note = tmp_path / "tone.wav", tmp_path / "note.txt"
    write_wav(sound, np.zeros(4800), 48_000)
    note.write_text("words", "utf-8")
    (tmp_path / "bare").mkdir()
    video = "--bitrate, --resolution, --fps, --blur"
    assert refused_anchors(clip, sound, note, "--cutoff", 3500, "--out", tmp_path) == [
        f"{clip}  is a video, and --cutoff is for sounds. Allowed: {video}.",
        f"{note}  is neither a sound nor a video. Allowed: sound files, videos, or folders of them.",
    ]
    assert refused_anchors(clip, sound, tmp_path / "bare", "--fps", 5, "--blur", 4, "--out", tmp_path) == [
        f"{tmp_path / 'bare'}  has no video in it. Allowed: a folder with videos.",
        f"{sound}  is a sound, and --fps, --blur are for videos. Allowed: --cutoff.",
    ]
    assert refused_anchors(clip, "--cutoff", 3500, "--blur", 4, "--out", tmp_path) == [
        "--cutoff  is for sounds, and none is among the files. Allowed: sound files, or folders of them.",
    ]
    assert refused_anchors(tmp_path / "bare", "--cutoff", 3500, "--blur", 4, "--out", tmp_path) == [
        f"{tmp_path / 'bare'}  has no sound and no video in it. Allowed: a folder with sound files or videos.",
    ]
    assert refused_anchors(clip, sound, "--out", tmp_path) == [
        f"{video}  are missing. Allowed: one of them or more, as --resolution 180.",
        "--cutoff  is missing. Allowed: one or more frequencies in Hz, as --cutoff 3500.",
    ]
    values = ["--bitrate", "200", "--bitrate", "1k", "--resolution", "18.5", "--fps", "0", "--blur", "much"]
    assert refused_anchors(clip, *values, "--out", clip) == [
        "--bitrate  is 200. Allowed: bits a second from 10k to 100M, as 200k.",
        "--bitrate  is 1k. Allowed: bits a second from 10k to 100M, as 200k.",
        "--resolution  is 18.5. Allowed: 16 to 4320 lines, as 180.",
        "--fps  is 0. Allowed: 0.5 to 240 frames a second, as 7.5.",
        "--blur  is much. Allowed: 0.1 to 100 pixels at 1080 lines, as 4.",
        f"--out  is {clip}, which is a file. Allowed: a folder.",
    ]
    with pytest.raises(StimuliError) as caught:
        make_anchors([], [], tmp_path, blurs=["4"])
    assert str(caught.value) == "FILES  holds no video. Allowed: videos, or folders with some in them."


@pytest.mark.variant
def test_a_video_that_cannot_be_made_worse_keeps_no_other_from_it(tmp_path: Path) -> None:
    folder, out = tmp_path / "in", tmp_path / "out"
    film(folder / "good.mp4", seconds=0.4)
    bad, small = folder / "bad.mp4", film(folder / "small.mp4", size="64x36", rate="5", seconds=0.4)
    bad.write_bytes(b"no video")
    odd = film(folder / "odd.mp4", *H264[:-1], "yuv444p", "-vf", "scale=65:49,setsar=1,format=yuv444p", seconds=0.4)
    uneven = film(folder / "uneven.mp4", *H264, "-vf", "select='not(eq(mod(n,5),3))'", "-fps_mode", "vfr")
    tags = ("-color_trc", "smpte2084", "-color_primaries", "bt2020", "-colorspace", "bt2020nc")
    bright = film(folder / "bright.mp4", *H264, *tags, seconds=0.4)
    prepare = "Run beholder media prepare on it first."
    assert refused_anchors(folder, "--fps", 5, "--resolution", 36, "--out", out) == [
        line
        for path, words in {
            bad: ["cannot be read as video: it is no mp4, mov, webm or mkv, or it is cut off. "
                  "Export or copy it again, or take it out."] * 2,
            bright: ["is HDR video, which cannot be made worse. Allowed: standard dynamic range. "
                     "Convert it to BT.709 first."] * 2,
            odd: [f"is 65x49. Allowed: even numbers of pixels. {prepare}"] * 2,
            small: ["has 36 lines, so that 36 would not be worse. Allowed: less than 36 lines.",
                    "has 5 frames a second, so that 5 would not be worse. Allowed: less than 5 frames a second."],
            uneven: ["has frames of unequal length, so that no anchor would be in step with it. "
                     f"Allowed: a constant frame rate. {prepare}"] * 2,
        }.items()
        for line in (f"{path}  {word}" for word in words)
    ]  # fmt: skip
    assert sorted(path.parent.name for path in out.rglob("*.mp4")) == ["fps-5", "resolution-36"]
