"""Texts: copied without anything that runs or leads out, counted in words, and refused where they are no text."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from beholder.stimuli.text import words_in
from support.media_folders import AGAIN, load, problems, write


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


def test_a_paragraph_that_an_editor_wrapped_flows_and_verses_stay(tmp_path: Path) -> None:
    wrapped = (
        "The first line of this note was ended by an editor,\nwhich had no room for another word, and so was the\nnext"
    )
    verses = (
        "A line that is as long as any verse in this poem is,\nshort,\nand the last of them, longer than one before"
    )
    assert served_text(tmp_path, "x.txt", f"{wrapped}\n\n{verses}") == (
        f"<p>{wrapped.replace(chr(10), ' ')}</p><p>{verses.replace(chr(10), '<br>')}</p>"
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


def test_a_text_of_megabytes_is_no_stimulus(tmp_path: Path) -> None:
    write(tmp_path, {"stimuli/a/x.txt": "<" * 1_000_001})
    assert problems(tmp_path) == [
        "stimuli/a/x.txt  cannot be read as text: it has more than 1000000 bytes. Take a part of it."
    ]
