"""Messages: which medium can carry them, in which file, and which numbers are not spoken."""

from __future__ import annotations

from pathlib import Path

from beholder.stimuli.messages.message import Message, confusable_numbers, message_suffix, unambiguous_values
from support.message_clips import ASK, WORDS, film, refused


def test_what_is_made_has_the_suffix_that_fits(tmp_path: Path, pair: tuple[Path, Path]) -> None:
    assert message_suffix(pair[0]) == pair[0].suffix
    names = {"a.flac": ".wav", "a.mp3": ".wav", "a.jpg": ".png", "a.webp": ".png", "a.md": ".md", "a.htm": ".htm"}
    assert {name: message_suffix(Path(name)) for name in names} == names


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


def test_numbers_that_sound_alike_are_known_and_not_drawn() -> None:
    assert [confusable_numbers(value, "en") for value in (13, 30, 90, 37)] == [(30,), (13,), (19,), ()]
    assert confusable_numbers(14, "de-AT") == (40,)
    assert (confusable_numbers(2, "de"), confusable_numbers(66, "fr"), confusable_numbers(60, "es")) == (
        (3,),
        (70, 76),
        (70,),
    )
    assert confusable_numbers(15, "nl") == (50,)
    clear = unambiguous_values(5, 95, 1, "en")
    assert len(clear) == 91 - 14
    assert {13, 30, 19, 90}.isdisjoint(clear)
    assert {5, 20, 37, 95} <= set(clear)


def test_a_number_whose_like_is_not_on_the_scale_is_clear() -> None:
    assert unambiguous_values(1, 5, 1, "en") == (1, 2, 3, 4, 5)
    assert unambiguous_values(1, 5, 1, "de") == (1, 4, 5)
    assert 13 in unambiguous_values(0, 20, 1, "en")
    assert unambiguous_values(0, 1, 0.1, "en") == (0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1)
