"""Sounds, pictures and texts: measured, copied for participants, and told apart from what only looks like them."""

from __future__ import annotations

import io
import json
import shutil
import wave
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image, ImageCms

from beholder.errors import StimuliError
from beholder.stimuli.catalogue import Catalogue
from beholder.stimuli.ffmpeg import run_ffmpeg
from beholder.stimuli.ingest import load_catalogue
from beholder.stimuli.probe import measure
from beholder.stimuli.prose import words_in
from beholder.study.document import read_document
from beholder.study.load import build_study
from beholder.study.model import Study

AGAIN = "Export or copy it again, or take it out."
MARKS = ("-metadata", "title=MARKTITLE", "-metadata", "comment=MARKCOMMENT", "-metadata", "encoder=MARKENCODER")
ODD_NAMES = ("no", "NA", "01", "Größe 2", "-", "MiXed")

Make = Callable[..., Path]


@pytest.fixture(scope="session")
def sound(tmp_path_factory: pytest.TempPathFactory) -> Make:
    """Return a maker of short sounds: stereo, 44.1 kHz, 0.5 s unless told otherwise."""
    folder = tmp_path_factory.mktemp("sounds")

    def make(name: str, *options: str, seconds: float = 0.5, channels: int = 2, rate: int = 44100) -> Path:
        path = folder / name
        if not path.exists():
            tone = ("-f", "lavfi", "-i", f"sine=d={seconds}:r={rate}")
            ran = run_ffmpeg(["-v", "error", *tone, "-ac", str(channels), *MARKS, *options, str(path)])
            assert ran.code == 0, ran.log
        return path

    return make


def write(folder: Path, files: Mapping[str, bytes | str | Path | Image.Image]) -> None:
    for name, data in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        if isinstance(data, Path):
            shutil.copy(data, path)
        elif isinstance(data, Image.Image):
            data.save(path)
        else:
            path.write_bytes(data if isinstance(data, bytes) else data.encode())


def study_in(folder: Path, conditions: Sequence[object] = (), **more: object) -> Study:
    keys: dict[str, object] = {"beholder": 1, "name": "tiny", "title": "Tiny", "method": "acr", "stimuli": "stimuli"}
    if conditions:
        keys["conditions"] = conditions
    (folder / "study.yaml").write_text(json.dumps({**keys, **more}))
    return build_study(read_document(folder), None)


def load(folder: Path, conditions: Sequence[object] = (), **more: object) -> Catalogue:
    return load_catalogue(study_in(folder, conditions, **more))


def problems(folder: Path, conditions: Sequence[object] = (), **more: object) -> list[str]:
    with pytest.raises(StimuliError) as caught:
        load(folder, conditions, **more)
    return [str(problem) for problem in caught.value.problems]


def samples_in(path: Path) -> bytes:
    ran = run_ffmpeg(["-v", "error", "-i", str(path), "-map", "0:a", "-f", "f64le", "pipe:1"])
    assert (ran.code, ran.log) == (0, "")
    return ran.out


def noise(mode: str = "RGB", size: tuple[int, int] = (24, 16)) -> Image.Image:
    bands = len(Image.new(mode, (1, 1)).getbands())
    values = np.random.default_rng(3).integers(0, 256, (size[1], size[0], bands), dtype=np.uint8)
    return Image.frombytes(mode, size, values.tobytes())


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


def cut(whole: bytes) -> bytes:
    return whole[: len(whole) * 6 // 10]


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


def test_what_a_lossy_codec_decodes_to_is_not_called_shallow(sound: Make, tmp_path: Path) -> None:
    write(
        tmp_path,
        {
            "stimuli/a/x.wav": sound("deep.wav", "-c:a", "pcm_s24le"),
            "stimuli/b/x.flac": sound("flat.flac", "-sample_fmt", "s16"),
            "stimuli/a/y.wav": sound("deep.wav", "-c:a", "pcm_s24le"),
            "stimuli/b/y.ogg": sound("lossy.ogg", "-c:a", "libvorbis"),
        },
    )
    assert [str(warning) for warning in load(tmp_path).warnings if "depths" in str(warning)] == [
        "content x  has different depths: 16 bits under b, 24 bits under a: a participant who looks into the files "
        "could tell these apart. Export all in the same depth, or accept it.",
    ]


def test_a_catalogue_warns_of_sounds_that_differ_in_length_rate_channels_and_depth(sound: Make, tmp_path: Path) -> None:
    write(
        tmp_path,
        {
            "stimuli/a/long.wav": sound("a.wav"),
            "stimuli/b/long.wav": sound("longer.wav", seconds=0.56),
            "stimuli/a/rate.wav": sound("a.wav"),
            "stimuli/b/rate.wav": sound("rate.wav", rate=48000),
            "stimuli/a/voice.wav": sound("a.wav"),
            "stimuli/b/voice.wav": sound("mono.wav", channels=1),
            "stimuli/a/deep.wav": sound("deep.wav", "-c:a", "pcm_s24le"),
            "stimuli/b/deep.wav": sound("a.wav"),
            "stimuli/a/wide.wav": sound("six.wav", channels=6),
            "stimuli/b/wide.wav": sound("six.wav", channels=6),
        },
    )
    assert [str(warning) for warning in load(tmp_path).warnings] == [
        "content deep  has different depths: 16 bits under b, 24 bits under a: a participant who looks into the files "
        "could tell these apart. Export all in the same depth, or accept it.",
        "content long  lasts 0.50 s under a and 0.56 s under b. Allowed: 0.05 s apart at most.",
        "content rate  has different sample rates: 44100 Hz under a, 48000 Hz under b.",
        "content voice  has different numbers of channels: 1 under b, 2 under a.",
        "content wide  has 6 channels, and most people listen to two. Allowed: 1 or 2.",
    ]


def test_lengths_have_to_be_close_where_switching_keeps_the_position(sound: Make, tmp_path: Path) -> None:
    write(tmp_path, {"stimuli/a/x.wav": sound("a.wav"), "stimuli/b/x.wav": sound("longer.wav", seconds=0.56)})
    (warning,) = load(tmp_path, playback={"switching": "keep"}).warnings
    assert str(warning) == (
        "content x  lasts 0.50 s under a and 0.56 s under b, and switching keeps the position. "
        "Allowed: 0.05 s apart at most."
    )


@pytest.mark.parametrize("suffix", [".png", ".webp", ".tif", ".bmp", ".gif", ".jpg", ".avif"])
def test_every_picture_is_served_as_lossless_webp_of_the_same_pixels(tmp_path: Path, suffix: str) -> None:
    options: dict[str, Any] = {"lossless": True} if suffix == ".webp" else {}
    path = tmp_path / "stimuli" / "a" / f"x{suffix}"
    path.parent.mkdir(parents=True)
    noise().save(path, **options)
    with Image.open(path) as source:
        pixels = source.convert("RGB").tobytes()
    (stimulus,) = load(tmp_path).stimuli
    assert (stimulus.medium, stimulus.served.suffix) == ("image", ".webp")
    assert (stimulus.probe.width, stimulus.probe.height) == (24, 16)
    assert stimulus.served.read_bytes()[12:16] == b"VP8X"
    with Image.open(stimulus.served) as copy:
        assert (copy.format, copy.mode, copy.convert("RGB").tobytes()) == ("WEBP", "RGB", pixels)


@pytest.mark.parametrize("mode", ["1", "L", "LA", "P", "RGBA", "CMYK"])
def test_pictures_of_every_kind_keep_their_pixels_and_their_transparency(tmp_path: Path, mode: str) -> None:
    picture = noise("RGBA" if mode == "P" else mode) if mode not in ("1", "P") else noise("RGB").convert(mode)
    write(tmp_path, {f"stimuli/a/x.{'tif' if mode == 'CMYK' else 'png'}": picture})
    (stimulus,) = load(tmp_path).stimuli
    wanted = "RGBA" if mode in ("LA", "RGBA") else "RGB"
    with Image.open(stimulus.served) as copy:
        assert copy.mode == wanted
        assert copy.tobytes() == picture.convert(wanted).tobytes()


def test_a_picture_of_16_bits_keeps_its_brightness(tmp_path: Path) -> None:
    values = np.array([[0, 256, 32768, 65535]], dtype=np.uint16)
    write(tmp_path, {"stimuli/a/x.png": Image.fromarray(values)})
    (stimulus,) = load(tmp_path).stimuli
    with Image.open(stimulus.served) as copy:
        assert list(copy.convert("L").tobytes()) == [0, 1, 128, 255]


def test_a_picture_is_turned_upright_and_loses_what_the_camera_wrote(tmp_path: Path) -> None:
    exif = Image.Exif()
    exif[0x0112] = 6
    exif[0x010E] = "MARKDESCRIPTION"
    path = tmp_path / "stimuli" / "a" / "x.png"
    path.parent.mkdir(parents=True)
    noise().save(path, exif=exif)
    assert b"MARKDESCRIPTION" in path.read_bytes()
    (stimulus,) = load(tmp_path).stimuli
    assert (stimulus.probe.width, stimulus.probe.height) == (16, 24)
    assert b"MARK" not in stimulus.served.read_bytes()
    with Image.open(stimulus.served) as copy:
        assert copy.tobytes() == noise().transpose(Image.Transpose.ROTATE_270).tobytes()


def test_colours_of_a_profile_become_those_of_srgb(tmp_path: Path) -> None:
    profile = ImageCms.ImageCmsProfile(ImageCms.createProfile("LAB"))
    lab = ImageCms.profileToProfile(
        Image.new("RGB", (4, 4), (200, 40, 90)), ImageCms.createProfile("sRGB"), profile, outputMode="LAB"
    )
    assert lab is not None
    file = io.BytesIO()
    lab.save(file, "TIFF", icc_profile=profile.tobytes())
    broken = io.BytesIO()
    noise().save(broken, "PNG", icc_profile=b"this is no profile")
    write(tmp_path, {"stimuli/a/x.tif": file.getvalue(), "stimuli/a/y.png": broken.getvalue()})
    one, other = load(tmp_path).stimuli
    with Image.open(one.served) as copy:
        colour = np.frombuffer(copy.tobytes(), dtype=np.uint8)[:3].astype(int)
        assert np.abs(colour - (200, 40, 90)).max() <= 3
        assert "icc_profile" not in copy.info
    with Image.open(other.served) as copy:
        assert copy.tobytes() == noise().tobytes()


def animated(kind: str) -> bytes:
    file = io.BytesIO()
    frames = [Image.new("RGB", (8, 8), (shade, 0, 0)) for shade in (0, 90, 180)]
    frames[0].save(file, kind, save_all=True, append_images=frames[1:])
    return file.getvalue()


def png(picture: Image.Image) -> bytes:
    file = io.BytesIO()
    picture.save(file, "PNG")
    return file.getvalue()


STILL = "Allowed: still images. Save it as a video, or save one frame."
VECTOR = (
    "is SVG, a drawing that has no size in pixels. Allowed: PNG, JPEG, WebP, AVIF, TIFF, BMP. "
    "Export it as PNG in the size that people should see."
)


@pytest.mark.parametrize(
    ("name", "data", "message"),
    [
        ("a.gif", animated("GIF"), f"is animated: 3 frames. {STILL}"),
        ("a.webp", animated("WEBP"), f"is animated: 3 frames. {STILL}"),
        ("a.tif", animated("TIFF"),
         "has 3 pages. Allowed: one picture a file. Save each page as a picture of its own."),
        ("a.svg", b"<svg xmlns='http://www.w3.org/2000/svg'/>", VECTOR),
        ("b.png", b"<?xml version='1.0'?>\n<svg/>", VECTOR),
        ("c.png", b"", f"cannot be read as image: the file is empty. {AGAIN}"),
        ("d.png", b"hello", f"cannot be read as image: it is no png, jpeg, webp, avif, gif, tiff or bmp. {AGAIN}"),
        ("g.png", b"%!PS-Adobe-3.0 EPSF-3.0\n%%BoundingBox: 0 0 9 9\n",
         f"cannot be read as image: it is no png, jpeg, webp, avif, gif, tiff or bmp. {AGAIN}"),
        ("e.png", cut(png(noise())), f"cannot be read as image: it is cut off or damaged. {AGAIN}"),
        ("f.png", png(Image.new("1", (16384, 1))),
         "has 16384 x 1 pixels. Allowed: 16383 a side at most. Scale it down, or cut out the part that matters."),
    ],
)  # fmt: skip
def test_a_file_that_is_no_still_picture_is_named(tmp_path: Path, name: str, data: bytes, message: str) -> None:
    write(tmp_path, {f"stimuli/a/{name}": data})
    assert problems(tmp_path) == [f"stimuli/a/{name}  {message}"]


def test_a_picture_of_unknown_brightness_is_named(tmp_path: Path) -> None:
    write(tmp_path, {"stimuli/a/x.tif": Image.fromarray(np.ones((2, 2), dtype=np.float32))})
    assert problems(tmp_path) == [
        "stimuli/a/x.tif  has 32 bits for each pixel, and how bright they are meant to be is not known. "
        "Allowed: 8 or 16 bits. Export it again as PNG."
    ]


def test_pictures_of_different_sizes_are_warned_of_and_last_as_long_as_the_study_says(tmp_path: Path) -> None:
    write(tmp_path, {"stimuli/a/x.png": noise(), "stimuli/b/x.png": noise(size=(12, 8))})
    catalogue = load(tmp_path, playback={"look_seconds": 3.5})
    assert [str(warning) for warning in catalogue.warnings] == [
        "content x  has different sizes: 12x8 under b, 24x16 under a."
    ]
    assert [stimulus.probe.duration_ms for stimulus in catalogue.stimuli] == [3500, 3500]


def served_text(folder: Path, name: str, text: str | bytes) -> str:
    shutil.rmtree(folder / "stimuli", ignore_errors=True)
    write(folder, {f"stimuli/a/{name}": text})
    (stimulus,) = load(folder).stimuli
    assert (stimulus.medium, stimulus.served.suffix) == ("text", ".txt")
    return stimulus.served.read_bytes().decode()


def test_a_plain_text_keeps_its_lines_and_paragraphs(tmp_path: Path) -> None:
    text = "\ufeffOne <b>two</b> & three\r\nline two\r\n \r\n\r\nSecond\n"
    assert served_text(tmp_path, "x.txt", text) == (
        "<p>One &lt;b&gt;two&lt;/b&gt; &amp; three<br>line two</p><p>Second</p>"
    )


def test_a_text_in_markdown_leads_nowhere(tmp_path: Path) -> None:
    text = "# Head\n\nSome *text*, [a link](https://example.org) and ![a picture](https://example.org/x.png)\n\n- a\n"
    assert served_text(tmp_path, "x.md", text) == (
        "<h1>Head</h1>\n<p>Some <em>text</em>, a link and </p>\n<ul>\n<li>a</li>\n</ul>"
    )


def test_a_text_in_html_keeps_its_words_and_nothing_that_runs_or_leads_out(tmp_path: Path) -> None:
    text = (
        "<!doctype html><html><head><title>MARK</title><style>p{}</style></head><body>"
        "<p title='MARK' onclick='MARK()' style='color:red'>Hi <a href='https://MARK'>there</a><img src='MARK'></p>"
        "<script>MARK()</script><iframe src='MARK'></iframe><!-- MARK --><ol start='3'><li>one</li></ol></body></html>"
    )
    assert served_text(tmp_path, "x.html", text) == '<p>Hi there</p><ol start="3"><li>one</li></ol>'


def test_the_same_words_as_plain_text_and_as_markdown_are_two_copies(tmp_path: Path) -> None:
    write(tmp_path, {"stimuli/a/x.txt": "*one*", "stimuli/b/x.md": "*one*"})
    plain, marked = load(tmp_path).stimuli
    assert plain.sha256 == marked.sha256
    assert plain.served.read_text() == "<p>*one*</p>"
    assert marked.served.read_text() == "<p><em>one</em></p>"


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (b"", f"the file is empty. {AGAIN}"),
        (b" \n\t\n", "there is nothing to read in it. Write the text, or take it out."),
        ("\u200b\u00a0\u2060".encode(), "there is nothing to read in it. Write the text, or take it out."),
        ("Größe".encode("latin-1"), "it is not UTF-8. Save it as UTF-8."),
        ("hello".encode("utf-16"), "it is not UTF-8. Save it as UTF-8."),
        (b"PK\0\0", f"it holds bytes that are no text. {AGAIN}"),
    ],
)
def test_a_file_that_is_no_text_is_named(tmp_path: Path, data: bytes, reason: str) -> None:
    write(tmp_path, {"stimuli/a/x.txt": data})
    assert problems(tmp_path) == [f"stimuli/a/x.txt  cannot be read as text: {reason}"]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("One two, three - four.", 4),
        ("It's a well-known fact: 3.5 kHz!", 6),
        ("Größe ist nicht alles", 4),
        ("हिन्दी में पाठ", 3),
        ("한국어 글은 띄어 쓴다", 4),
        ("今日は良い天気です。", 5),
        ("我们用 Python 写程序", 4),
        ("สวัสดีครับ", 4),
        ("👍", 1),
    ],
)
def test_words_are_counted_in_every_script(text: str, words: int) -> None:
    assert words_in(text) == words


def test_a_text_lasts_as_long_as_reading_takes_and_one_second_at_least(tmp_path: Path) -> None:
    write(tmp_path, {"stimuli/a/x.txt": "word " * 60, "stimuli/b/x.md": "**Short** one."})
    catalogue = load(tmp_path, playback={"words_per_second": 5})
    assert [(s.probe.words, s.probe.duration_ms) for s in catalogue.stimuli] == [(60, 12000), (2, 1000)]
    assert catalogue.warnings == (), "texts differ in length by nature"


@pytest.mark.parametrize("suffix", [".wav", ".png", ".txt"])
def test_odd_names_stay_as_they_are_in_every_medium(sound: Make, tmp_path: Path, suffix: str) -> None:
    data: Mapping[str, Path | Image.Image | str] = {".wav": sound("a.wav"), ".png": noise(), ".txt": "words"}
    write(tmp_path, {f"stimuli/{name}/Café no{suffix}": data[suffix] for name in ODD_NAMES})
    catalogue = load(tmp_path, [*ODD_NAMES])
    assert catalogue.conditions == ODD_NAMES
    assert [stimulus.id for stimulus in catalogue.stimuli] == [f"{name}/Café no" for name in ODD_NAMES]
    assert catalogue.warnings == ()


def test_a_second_load_measures_nothing_and_another_duration_needs_no_new_copy(sound: Make, tmp_path: Path) -> None:
    write(tmp_path, {"stimuli/a/x.png": noise(), "stimuli/b/x.png": noise()})
    seen: list[int] = []
    first = load_catalogue(study_in(tmp_path), lambda done, total: seen.append(done))
    assert seen == [1, 2]
    again = load_catalogue(study_in(tmp_path, playback={"look_seconds": 9}), lambda done, total: seen.append(done))
    assert seen == [1, 2]
    assert [s.served for s in again.stimuli] == [s.served for s in first.stimuli]
    assert [s.probe.duration_ms for s in again.stimuli] == [9000, 9000]
