"""Messages to be read: the middle asks for an answer, and everything else stays as it was."""

from __future__ import annotations

import re
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray
from PIL import Image

from beholder.errors import StimuliError
from beholder.stimuli.ffmpeg import file_argument, run_ffmpeg
from beholder.stimuli.messages.card import draw_card
from beholder.stimuli.messages.message import Message, insert_message, message_suffix
from beholder.stimuli.messages.overlay import message_frames
from beholder.stimuli.probe import measure
from beholder.stimuli.streams import encoders_in
from beholder.stimuli.text import copy_text, words_in

WORDS = "Attention check: please set this slider to 37."
ASK = Message(WORDS)
WIDTH, HEIGHT, RATE, FRAMES = 192, 108, 25, 40
Planes = NDArray[np.float64]

CODECS = {
    "h264": (
        "clip.mp4", "-c:v", "libx264", "-crf", "23", "-pix_fmt", "yuv420p", "-colorspace", "bt709", "-color_primaries",
        "bt709", "-color_trc", "bt709", "-color_range", "tv", "-c:a", "aac",
    ),
    "vp9": ("clip.webm", "-c:v", "libvpx-vp9", "-crf", "34", "-b:v", "0", "-cpu-used", "8", "-c:a", "libopus"),
    "vp8": ("old.webm", "-c:v", "libvpx", "-b:v", "400k", "-cpu-used", "8", "-c:a", "libvorbis"),
    "av1": ("new.mp4", "-c:v", "libaom-av1", "-crf", "36", "-usage", "realtime", "-cpu-used", "8", "-c:a", "aac"),
}  # fmt: skip


def film(path: Path, *arguments: str, size: str = f"{WIDTH}x{HEIGHT}", frames: int = FRAMES, tone: bool = True) -> Path:
    """Write a clip of ffmpeg's moving test picture, with a tone and a title that gives its maker away."""
    sound = ["-f", "lavfi", "-i", f"sine=frequency=440:sample_rate=48000:duration={frames / RATE}"] if tone else []
    ran = run_ffmpeg(
        [
            "-v", "error", "-y", "-f", "lavfi", "-i", f"testsrc2=s={size}:r={RATE}", *sound, "-frames:v", str(frames),
            *(("-pix_fmt", "yuv420p") if "-pix_fmt" not in arguments else ()), *arguments,
            "-metadata", "title=Ada of the lab", file_argument(path),
        ]
    )  # fmt: skip
    assert ran.code == 0, ran.log
    return path


def planes(path: Path, pixels: str = "yuv420p") -> Planes:
    """Return every frame of a video as it is stored, luma above chroma: frames x lines x columns."""
    told = run_ffmpeg(["-i", file_argument(path), "-fps_mode", "passthrough", "-f", "framecrc", "pipe:1"]).out.decode()
    size = re.search(r"#dimensions 0: (\d+)x(\d+)", told)
    assert size is not None
    ran = run_ffmpeg(
        ["-i", file_argument(path), "-fps_mode", "passthrough", "-f", "rawvideo", "-pix_fmt", pixels, "pipe:1"]
    )
    return np.frombuffer(ran.out, dtype=np.uint8).reshape(-1, int(size[2]) * 3 // 2, int(size[1])).astype(float)


def psnr(error: Planes) -> float:
    return float(10 * np.log10(255**2 / max(1e-6, (error**2).mean())))


def during(frames: int = FRAMES) -> range:
    return message_frames([Fraction(place, RATE) for place in range(frames + 1)], words_in(WORDS))


@pytest.fixture(scope="module", params=CODECS)
def pair(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """A clip of each codec, and its copy with a message."""
    folder = tmp_path_factory.mktemp(request.param)
    name, *arguments = CODECS[request.param]
    clip = film(folder / name, *arguments)
    target = folder / f"made{message_suffix(clip)}"
    insert_message(clip, target, "video", ASK)
    return clip, target


def test_outside_the_message_every_frame_is_what_it_was(pair: tuple[Path, Path]) -> None:
    before, after = (planes(path) for path in pair)
    assert before.shape == after.shape == (FRAMES, HEIGHT * 3 // 2, WIDTH)
    card = draw_card(WORDS, WIDTH, HEIGHT, "")
    outside = np.ones((HEIGHT * 3 // 2, WIDTH), dtype=bool)
    outside[card.top : card.top + card.height, card.left : card.left + card.width] = False
    outside[HEIGHT:] = False  # the chroma planes lie folded below
    error = after - before
    for place in range(FRAMES):
        apart = error[place][outside] if place in during() else error[place]
        assert psnr(apart) > 40, f"frame {place}"
    box = np.abs(error[during().start : during().stop, card.top : card.top + card.height, card.left : card.left + 200])
    assert (box.mean(axis=(1, 2)) > 15).all(), "each of these frames shows the card"


def test_the_card_can_be_read_in_every_frame_that_shows_it(pair: tuple[Path, Path]) -> None:
    card = draw_card(WORDS, WIDTH, HEIGHT, "")
    wanted = 16 + np.asarray(card.image.convert("L"), dtype=float) * 219 / 255
    solid = np.asarray(card.image.getchannel("A")) == 255
    luma = planes(pair[1])[:, card.top : card.top + card.height, card.left : card.left + card.width]
    for place in during():
        assert np.abs(luma[place] - wanted)[solid].mean() < 4, f"frame {place}"


def test_size_rate_codec_and_length_stay(pair: tuple[Path, Path]) -> None:
    before, after = (measure(path, "") for path in pair)
    for name in ("container", "width", "height", "fps", "codec", "audio_codec", "channels", "duration_ms"):
        assert getattr(before.probe, name) == getattr(after.probe, name), name
    assert (before.frames, before.pixels) == (after.frames, after.pixels) == (FRAMES, "yuv420p")
    assert after.probe.bytes < 2 * before.probe.bytes


def test_the_sound_is_copied(pair: tuple[Path, Path]) -> None:
    sounds = [
        run_ffmpeg(["-i", file_argument(path), "-map", "0:a:0", "-c", "copy", "-f", "md5", "pipe:1"]).out
        for path in pair
    ]
    assert sounds[0] == sounds[1] != b""


def test_nothing_tells_who_made_it(pair: tuple[Path, Path]) -> None:
    clip, made = pair
    assert b"Ada of the lab" in clip.read_bytes()
    assert b"Ada of the lab" not in made.read_bytes()
    assert "x264" not in " ".join(encoders_in(made))
    assert [path.name for path in made.parent.iterdir() if path.name.startswith(".")] == []


def test_colour_tags_stay(tmp_path: Path) -> None:
    clip = film(tmp_path / "a.mp4", *CODECS["h264"][1:], frames=10)
    insert_message(clip, tmp_path / "b.mp4", "video", ASK)
    told = [run_ffmpeg(["-i", file_argument(tmp_path / name)]).log for name in ("a.mp4", "b.mp4")]
    assert all("yuv420p(tv, bt709, progressive)" in log for log in told)


@pytest.mark.parametrize(
    ("name", "size", "arguments"),
    [
        ("full.mp4", "96x54", ("-c:v", "libx264", "-pix_fmt", "yuvj420p", "-color_range", "pc")),
        ("wide.mov", "48x54", ("-c:v", "libx264", "-vf", "setsar=2")),
        ("deep.webm", "96x54", ("-c:v", "libvpx-vp9", "-b:v", "0", "-crf", "30", "-pix_fmt", "yuv420p10le")),
        ("uneven.mkv", "96x54", ("-c:v", "libx264", "-vf", "select='not(eq(mod(n,5),2))'", "-fps_mode", "vfr")),
    ],
)
def test_unusual_videos_stay_as_unusual(tmp_path: Path, name: str, size: str, arguments: tuple[str, ...]) -> None:
    clip = film(tmp_path / name, *arguments, size=size, frames=20, tone=False)
    made = tmp_path / f"made{message_suffix(clip)}"
    insert_message(clip, made, "video", ASK)
    before, after = (measure(path, "") for path in (clip, made))
    assert (before.pixels, before.frames, before.probe.width) == (after.pixels, after.frames, after.probe.width)
    pixels = "yuvj420p" if name == "full.mp4" else "yuv420p"
    error = planes(made, pixels) - planes(clip, pixels)
    quarter = before.frames // 4
    assert psnr(error[:quarter]) > 40
    assert psnr(error[-quarter:]) > 40
    assert np.abs(error[before.frames // 2]).mean() > 10
    assert shown_at(clip) == pytest.approx(shown_at(made), abs=0.0011)


def shown_at(path: Path) -> list[float]:
    """Return when each frame of a video is shown."""
    told = run_ffmpeg(
        ["-i", file_argument(path), "-fps_mode", "passthrough", "-enc_time_base", "demux", "-f", "framecrc", "pipe:1"]
    ).out.decode()
    base = re.search(r"#tb 0: (\d+/\d+)", told)
    assert base is not None
    times = [int(line.split(",")[2]) * Fraction(base[1]) for line in told.splitlines() if line[0] != "#"]
    return [float(time - times[0]) for time in times]


@pytest.mark.parametrize("rate", [Fraction(10), Fraction(30000, 1001), Fraction(60)])
@pytest.mark.parametrize("seconds", [0.4, 1, 3, 4, 8, 60])
@pytest.mark.parametrize("words", [3, 9, 40])
def test_a_clip_begins_and_ends_with_its_own_material(seconds: float, rate: Fraction, words: int) -> None:
    frames = round(seconds * rate)
    shown = message_frames([place / rate for place in range(frames + 1)], words)
    assert shown.start >= frames / 4 - 0.5
    assert frames - shown.stop >= frames / 4 - 0.5
    assert abs(shown.start - (frames - shown.stop)) <= 1, "in the middle"
    assert len(shown) / rate >= min(2, seconds / 2) - 1 / rate
    assert len(shown) / rate >= min(words / 4, seconds / 2) - 1 / rate, "long enough to read it"


@pytest.mark.parametrize(("width", "height"), [(320, 180), (1920, 1080), (360, 640), (96, 54), (1920, 400), (161, 91)])
@pytest.mark.parametrize("words", [WORDS, "Choose “Mäßig”.", "Выберите «Плохо».", "Choose this one. " * 4])
def test_a_card_is_dark_with_white_words_in_the_middle_of_any_picture(width: int, height: int, words: str) -> None:
    card = draw_card(words, width, height, "")
    assert (card.left % 2, card.top % 2, card.width % 2, card.height % 2) == (0, 0, 0, 0)
    assert abs(2 * card.left + card.width - width) <= 4
    assert abs(2 * card.top + card.height - height) <= 4
    assert 0 <= card.left <= card.left + card.width <= width
    if min(width, height) >= 180:
        assert 0.1 < card.height / height < 0.5
    levels, solid = (np.asarray(card.image.getchannel(band), dtype=int) for band in ("G", "A"))
    assert (solid[0, 0], solid[card.height // 2, card.width // 2]) == (0, 255), "round corners, nothing shines through"
    white = levels > 128
    assert 0.03 < white.mean() < 0.4
    assert np.median(levels) < 40
    margin = max(1, card.height // 30)
    assert not white[:margin].any()
    assert not white[-margin:].any()
    assert not white[:, :margin].any()
    assert not white[:, -margin:].any()


def test_white_is_dimmed_where_the_brightest_is_too_bright() -> None:
    card = draw_card(WORDS, 320, 180, "", brightness=0.58)
    assert np.asarray(card.image.getchannel("G")).max() == 148


def test_a_picture_has_the_card_in_its_middle_and_its_own_pixels_around(tmp_path: Path) -> None:
    colours = np.random.default_rng(1).integers(0, 256, (120, 200, 3), dtype=np.uint8)
    Image.fromarray(colours).save(tmp_path / "a.png")
    insert_message(tmp_path / "a.png", tmp_path / "b.png", "image", ASK)
    with Image.open(tmp_path / "b.png") as made:
        assert (made.format, made.mode, made.info) == ("PNG", "RGB", {})
        after = np.asarray(made)
    card = draw_card(WORDS, 200, 120, "")
    box = (slice(card.top, card.top + card.height), slice(card.left, card.left + card.width))
    assert (after[box] != colours[box]).mean() > 0.8
    after = after.copy()
    after[box] = colours[box]
    assert np.array_equal(after, colours)


def test_a_picture_of_a_camera_is_turned_and_transparency_stays(tmp_path: Path) -> None:
    turned = Image.Exif()
    turned[0x0112] = 6
    Image.new("RGB", (160, 90), "teal").save(tmp_path / "a.jpg", exif=turned)
    insert_message(tmp_path / "a.jpg", tmp_path / "a.png", "image", ASK)
    Image.new("RGBA", (160, 90), (0, 0, 0, 0)).save(tmp_path / "b.webp", lossless=True)
    insert_message(tmp_path / "b.webp", tmp_path / "b.png", "image", ASK)
    with Image.open(tmp_path / "a.png") as upright, Image.open(tmp_path / "b.png") as clear:
        assert upright.size == (90, 160)
        assert clear.getpixel((0, 0)) == (0, 0, 0, 0)
        assert clear.convert("RGBA").getpixel((80, 45))[3] == 255  # type: ignore[index]


SAYS = "Please choose “A < B”."


@pytest.mark.parametrize(
    ("name", "text", "read"),
    [
        (
            "a.txt",
            "It rained all day. Dr. Hill came at 3. He sat down. Then he left. It was late.",
            f"<p>It rained all day. Dr. Hill came at 3. He sat down. {SAYS} Then he left. It was late.</p>",
        ),
        ("a.txt", "one\n\ntwo\n\nthree", f"<p>one</p><p>{SAYS}</p><p>two</p><p>three</p>"),
        ("a.txt", "no more than one sentence", f"<p>no more than ({SAYS}) one sentence</p>"),
        ("a.txt", "雨が降った。彼は来た。遅かった。", f"<p>雨が降った。{SAYS} 彼は来た。遅かった。</p>"),
        (
            "a.md",
            "# Big News. Today\n\nRain *fell* here. It was wet.\n\n```\nif Cat. Dog\n```\n",
            f"<h1>Big News. Today</h1>\n<p>Rain <em>fell</em> here. {SAYS} It was wet.</p>\n"
            "<pre><code>if Cat. Dog\n</code></pre>",
        ),
        (
            "a.html",
            "<title>Rain. News</title><h1>Rain. News</h1><p>It <b>rained. He</b> came.</p>",
            f"<h1>Rain. News</h1><p>It <b>rained. {SAYS} He</b> came.</p>",
        ),
        ("a.htm", "<p>one</p> <p>two</p>", f"<p>one</p> <p>{SAYS}</p>\n<p>two</p>"),
    ],
)
def test_a_text_has_one_sentence_more_between_two_of_its_own(tmp_path: Path, name: str, text: str, read: str) -> None:
    source, made = tmp_path / name, tmp_path / f"made{message_suffix(Path(name))}"
    source.write_text(text, "utf-8")
    insert_message(source, made, "text", Message(SAYS))
    copy_text(made, tmp_path / "read", measure(made, ""), "")
    assert (tmp_path / "read").read_text("utf-8") == read.replace("A < B", "A &lt; B")


def test_the_suffix_of_the_target_tells_how_a_text_is_written(tmp_path: Path) -> None:
    (tmp_path / "served.txt").write_text("<p>It rained. He came.</p>", "utf-8")
    insert_message(tmp_path / "served.txt", tmp_path / "made.html", "text", Message(SAYS))
    assert (tmp_path / "made.html").read_text("utf-8") == "<p>It rained. Please choose “A &lt; B”. He came.</p>"


def test_what_is_made_has_the_suffix_that_fits(tmp_path: Path, pair: tuple[Path, Path]) -> None:
    assert message_suffix(pair[0]) == pair[0].suffix
    names = {"a.flac": ".wav", "a.mp3": ".wav", "a.jpg": ".png", "a.webp": ".png", "a.md": ".md", "a.htm": ".htm"}
    assert {name: message_suffix(Path(name)) for name in names} == names


def refused(source: Path, medium: object, message: Message) -> str:
    target = source.with_name(f"made{source.suffix}")
    with pytest.raises(StimuliError) as error:
        insert_message(source, target, medium, message, "clip")  # type: ignore[arg-type]
    assert not [path for path in source.parent.iterdir() if path != source], "whole or not at all"
    return str(error.value)


def test_what_cannot_say_it_is_told(tmp_path: Path) -> None:
    source = tmp_path / "source"
    assert refused(source, "audio", ASK) == "clip  is a sound, on which no text can be read. Allowed: voice."
    spoken = Message(WORDS, "voice")
    assert refused(source, "image", spoken) == "clip  is a picture, which cannot be heard. Allowed: text."
    assert refused(source, "text", spoken) == "clip  is a text, which cannot be heard. Allowed: text."
    source.write_bytes(b"\0" * 100)
    assert refused(source, "video", ASK) == (
        "clip  cannot be read as video: it is no mp4, mov, webm or mkv, or it is cut off. "
        "Export or copy it again, or take it out."
    )
    (tmp_path / "source").unlink()
    short = film(tmp_path / "short.mp4", "-c:v", "libx264", frames=2, tone=False)
    assert refused(short, "video", ASK) == (
        "clip  has 2 frames, too few for a message between others. Allowed: 3 frames or more."
    )
    short.unlink()
    word = tmp_path / "word.txt"
    word.write_text("Stop", "utf-8")
    assert refused(word, "text", ASK) == (
        "clip  has no two words that a message could stand between. Allowed: a text of two sentences or more."
    )


def test_words_that_cannot_be_drawn_are_told(tmp_path: Path) -> None:
    picture = tmp_path / "a.png"
    Image.new("RGB", (160, 90)).save(picture)
    assert refused(picture, "image", Message(" ")) == "clip  is to say nothing. Allowed: some words."
    assert refused(picture, "image", Message("Poor \x07")) == (
        "clip  is to say 'Poor \\x07', and no font here has \\x07. "
        "Install a font that has it, as one of the Noto fonts, or use other words."
    )
