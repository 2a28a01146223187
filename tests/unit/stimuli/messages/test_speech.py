"""Spoken messages: understood, as loud as before, and nothing else of the clip changed."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from scipy import signal

from beholder.errors import StimuliError
from beholder.stimuli.ffmpeg import file_argument, run_ffmpeg
from beholder.stimuli.media_formats import medium_of
from beholder.stimuli.messages.message import Message, unambiguous_values
from beholder.stimuli.messages.mixing import mix_speech
from beholder.stimuli.messages.speech import insert_speech, speak, voice_problem
from beholder.stimuli.pcm import read_sound, write_wav
from beholder.stimuli.probe import measure
from support.spoken_messages import SHORT, Samples, lufs, noise, voiced
from support.variants import cases

ONES = (
    "zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve",
    "thirteen", "fourteen", "fifteen", "sixteen", "seventeen", "eighteen", "nineteen",
)  # fmt: skip
TENS = ("twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety")


def in_words(number: int) -> str:
    tens, ones = divmod(number, 10)
    return ONES[number] if number < 20 else TENS[tens - 2] + (f" {ONES[ones]}" if ones else "")


@pytest.mark.long
def test_a_recogniser_understands_the_spoken_number(tmp_path: Path, whole: bool) -> None:
    pocketsphinx = pytest.importorskip("pocketsphinx", reason="needs pocketsphinx, a recogniser for development")
    rate = 16_000
    decoder = pocketsphinx.Decoder(samprate=rate, lm=None, loglevel="FATAL")
    numbers = " | ".join(in_words(number) for number in range(5, 96))
    sentence = f"attention check please set this slider to ( {numbers} )"
    decoder.add_jsgf_string("numbers", f"#JSGF V1.0;\ngrammar numbers;\npublic <message> = {sentence};\n")
    decoder.activate_search("numbers")
    drawn = np.random.default_rng(7).choice(unambiguous_values(5, 95, 1, "en"), 20, replace=False)
    bed = noise(6.5, rate)
    heard = []
    for target in (int(value) for value in drawn[: None if whole else 10]):
        message = Message(f"Attention check. Please set this slider to {target}.", "voice")
        samples = read_sound(voiced(tmp_path, bed, rate, message), "").samples[:, 0]
        changed = np.flatnonzero(samples != read_sound(tmp_path / "before.wav", "").samples[:, 0])
        middle = samples[changed[0] : changed[-1]]
        decoder.start_utt()
        decoder.process_raw((middle / np.abs(middle).max() * 2**14).astype("<i2").tobytes(), full_utt=True)
        decoder.end_utt()
        said = decoder.hyp()
        heard.append(said is not None and said.hypstr.endswith(f"to {in_words(target)}"))
    # By chance it would be one in 91. The voice flutters: of twenty, this recogniser hears seventeen or eighteen.
    assert sum(heard) >= (0.7 if whole else 0.6) * len(heard), heard


def test_the_message_has_the_spectrum_of_a_voice() -> None:
    rate = 24_000
    time = np.arange(4 * rate) / rate
    bed = (0.2 * np.sin(2 * np.pi * 60 * time) + 0.05 * np.sin(2 * np.pi * 8000 * time))[:, None]
    mixed = mix_speech(bed, rate, speak(SHORT.words, "en"), "")
    voices = signal.butter(4, [200, 4000], "bandpass", fs=rate, output="sos")
    power = signal.sosfiltfilt(voices, mixed.samples[:, 0]) ** 2
    margin = rate // 4
    outside = np.concatenate((power[margin : mixed.start - margin], power[mixed.end + margin : -margin]))
    assert 10 * np.log10(power[mixed.start : mixed.end].mean() / outside.mean()) > 20


FILMS = {"clip.mp4": ("libx264", "aac"), "clip.webm": ("libvpx-vp9", "libopus")}


@pytest.fixture(scope="module", params=cases(FILMS, ["clip.mp4"]))
def film(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A clip of four seconds, beside which is the same one that speaks."""
    name: str = request.param
    video, audio = FILMS[name]
    path = tmp_path_factory.mktemp("films") / name
    tones = "sine=f=330:r=48000:d=4[a];sine=f=5000:r=48000:d=4[b];[a][b]join=inputs=2"
    ran = run_ffmpeg(
        [
            "-v", "error", "-f", "lavfi", "-i", "testsrc2=s=96x64:r=25:d=4", "-filter_complex", tones,
            "-c:v", video, "-b:v", "100k", "-cpu-used", "8", "-c:a", audio, "-strict", "-2", file_argument(path),
        ]
    )  # fmt: skip
    assert ran.code == 0, ran.log
    insert_speech(path, speaking(path), "video", SHORT)
    return path


def speaking(film: Path) -> Path:
    return film.with_name(f"voiced-{film.name}")


def pictures(path: Path) -> list[list[str]]:
    """Return time, length, size and hash of every packet of the picture."""
    ran = run_ffmpeg(["-copyts", "-i", file_argument(path), "-map", "0:v:0", "-c", "copy", "-f", "framemd5", "pipe:1"])
    return [line.split(",") for line in ran.out.decode().splitlines() if not line.startswith("#")]


def track(path: Path) -> Samples:
    ran = run_ffmpeg(["-i", file_argument(path), "-map", "0:a:0", "-f", "f64le", "pipe:1"])
    return np.frombuffer(ran.out, dtype="<f8").reshape(-1, 2)


def test_pictures_of_a_video_are_copied_bit_for_bit(film: Path) -> None:
    before, after = (measure(path, path.name) for path in (film, speaking(film)))
    assert pictures(speaking(film)) == pictures(film)
    assert after.frames == before.frames == 100
    for what in ("container", "duration_ms", "width", "height", "fps", "codec", "audio_codec", "channels"):
        assert getattr(after.probe, what) == getattr(before.probe, what), what


def test_the_sound_of_a_video_speaks_and_is_otherwise_as_it_was(film: Path) -> None:
    before, after = track(film), track(speaking(film))
    quarter = slice(4800, 30_000)
    error = min(((np.roll(after, lag, axis=0) - before)[quarter] ** 2).mean() for lag in range(-48, 49))
    assert 10 * np.log10((before[quarter] ** 2).mean() / error) > 30
    middle = slice(80_000, 110_000)
    assert ((after - before)[middle] ** 2).mean() > 0.1 * (before[middle] ** 2).mean()
    assert abs(lufs(speaking(film)) - lufs(film)) < 0.5
    assert [path.name for path in film.parent.iterdir() if path.suffix == ".part"] == []


@pytest.mark.variant
def test_a_message_is_spoken_faster_where_a_clip_is_short(tmp_path: Path) -> None:
    spans = []
    for seconds in (4.0, 2.6):
        after = read_sound(voiced(tmp_path, noise(seconds, 16_000), 16_000), "").samples
        changed = np.flatnonzero(after != read_sound(tmp_path / "before.wav", "").samples)
        spans.append(changed[-1] - changed[0])
    assert spans[1] < 0.9 * spans[0]


def refused(folder: Path, name: str, words: str = SHORT.words, language: str = "en") -> str:
    medium = medium_of(name)
    assert medium is not None
    with pytest.raises(StimuliError) as caught:
        insert_speech(folder / name, folder / "made", medium, Message(words, "voice", language), name)
    assert not (folder / "made").exists()
    return str(caught.value)


def test_what_cannot_be_spoken_is_explained(tmp_path: Path) -> None:
    write_wav(tmp_path / "short.wav", noise(1, 16_000), 16_000)
    write_wav(tmp_path / "long.wav", noise(4, 16_000), 16_000)
    square = np.where(np.arange(64_000) // 4 % 2, 0.99, -0.99)[:, None]
    write_wav(tmp_path / "square.wav", square, 16_000)
    silent = ["-f", "lavfi", "-i", "testsrc2=s=64x64:r=25:d=1", file_argument(tmp_path / "mute.mp4")]
    assert run_ffmpeg(silent).code == 0
    seconds = speak(SHORT.words, "en", words_per_minute=220).seconds
    assert refused(tmp_path, "short.wav") == (
        f"short.wav  lasts 1.0 s, too short for a message that takes {seconds:.1f} s to say. "
        f"Allowed: {np.ceil(10 * seconds / 0.7) / 10:.1f} s or more. Choose a longer clip or fewer words."
    )
    assert refused(tmp_path, "mute.mp4") == (
        "mute.mp4  has no sound to speak over. Show the message as text, or add a sound track."
    )
    assert refused(tmp_path, "long.wav", language="tlh") == (
        "long.wav  asks for a voice that speaks tlh, and there is none. "
        "Allowed: en, de, fr, es, it, nl, pl, pt, sv, tr, zh and other codes of languages."
    )
    assert refused(tmp_path, "long.wav", words="...") == (
        "long.wav  has no words that can be spoken. Allowed: letters or digits."
    )
    message = refused(tmp_path, "square.wav")
    assert message.startswith("square.wav  cannot be given a voice: with any that is clear, the whole would be ")
    assert message.endswith(
        " dB louder or softer. Allowed: less than 0.5 dB. "
        "Choose another clip, or make it less loud (beholder media prepare --loudness -23)."
    )


def test_without_the_extra_it_is_said_what_to_install() -> None:
    script = (
        "import sys; sys.modules['espeakng_loader'] = None\n"
        "from beholder.stimuli.messages.speech import voice_problem\n"
        "sys.stdout.write(str(voice_problem('en', 'checks.attention.say')))"
    )
    ran = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert ran.stdout == (
        "checks.attention.say  asks for a voice, and no speech synthesis is installed. "
        "Run pip install 'beholder[voice]', or show the words as text."
    )


def test_languages_have_voices_of_their_own_also_by_country() -> None:
    assert [voice_problem(language) for language in ("en", "en-GB", "de-AT", "pt_BR", "zh", "no")] == [None] * 6
    english, german = (speak("37", language).seconds for language in ("en", "de"))
    assert abs(english - german) > 0.1
