"""Pages of other tools become Markdown: their words and structure, and nothing that runs."""

from __future__ import annotations

from beholder.importing.html_text import page_text
from beholder.study.markdown import markdown


def test_words_marks_lists_and_links_survive() -> None:
    page = page_text(
        "<h2>Hello</h2><p>Listen <b>well</b> &amp; <i>often</i>.<br>Two:</p><ul><li>one<li>two</ul>"
        "<a href='https://example.org'>more</a> 3 * 4_5"
    )
    assert page.text == (
        "## Hello\n\nListen **well** & *often*.\nTwo:\n\n- one\n- two\n\n[more](https://example.org) 3 \\* 4\\_5"
    )
    assert "<strong>well</strong>" in markdown(page.text)


def test_what_runs_is_left_out_with_all_that_is_in_it_and_told() -> None:
    page = page_text(
        "a<script>alert('<b>1</b>')</script><form><button>Go</button>in</form>b<a href='javascript:x'>c</a>"
    )
    assert (page.text, page.dropped) == ("abc", ("script", "form", "button"))


def test_media_are_named() -> None:
    page = page_text("<audio controls><source src='a.wav'></audio><img src=b.png>words")
    assert (page.text, page.media) == ("words", ("a.wav", "b.png"))
