"""Messages on pictures and in texts: a card in the middle, a sentence between two others."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from beholder.stimuli.messages.card import draw_card
from beholder.stimuli.messages.message import Message, insert_message, message_suffix
from beholder.stimuli.probe import measure
from beholder.stimuli.text import copy_text
from support.message_clips import ASK, WORDS, refused
from support.variants import variant


@pytest.mark.parametrize(
    ("width", "height"), [(360, 640), (96, 54), *map(variant, (320, 1920, 1920, 161), (180, 1080, 400, 91))]
)
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


def test_words_that_cannot_be_drawn_are_told(tmp_path: Path) -> None:
    picture = tmp_path / "a.png"
    Image.new("RGB", (160, 90)).save(picture)
    assert refused(picture, "image", Message(" ")) == "clip  is to say nothing. Allowed: some words."
    assert refused(picture, "image", Message("Poor \x07")) == (
        "clip  is to say 'Poor \\x07', and no font here has \\x07. "
        "Install a font that has it, as one of the Noto fonts, or use other words."
    )
