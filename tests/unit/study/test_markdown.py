"""Participants get the researcher's Markdown as safe HTML or as a tree of marks, tables get it as plain text."""

from __future__ import annotations

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from beholder.study.markdown import markdown, marked, plain_page, plain_text, plain_words
from beholder.study.questionnaire import QUESTION_TYPES, Ask
from beholder.study.questions import SCALES, Scale
from beholder.types import Json

LINK = '<a href="https://a.b/c?d=1&amp;e=2" target="_blank" rel="noopener noreferrer">here</a>'


@pytest.mark.parametrize(
    ("text", "html"),
    [
        ("# Hello\n\nYou *may* **stop**.", "<h1>Hello</h1>\n<p>You <em>may</em> <strong>stop</strong>.</p>"),
        ("- a\n- b", "<ul>\n<li>a</li>\n<li>b</li>\n</ul>"),
        ("3. a\n4. b", '<ol start="3">\n<li>a</li>\n<li>b</li>\n</ol>'),
        ("[here](https://a.b/c?d=1&e=2)", f"<p>{LINK}</p>"),
        ("<me@example.org>", '<p><a href="mailto:me@example.org" target="_blank" rel="noopener noreferrer">'
                             "me@example.org</a></p>"),
        ("[x](/api/step)", '<p><a rel="noopener noreferrer" target="_blank">x</a></p>'),
        ("a ![picture](https://a.b/c.png) b", "<p>a  b</p>"),
        ("a <b onclick='x()'>bold</b> b", "<p>a bold b</p>"),
        ("<!-- a note -->", ""),
        ("<script>\nalert(1)\n</script>", ""),
        ("<div style='x'>Please *read*</div>", "<p>Please *read*</p>"),
        ("1 < 2 & 3", "<p>1 &lt; 2 &amp; 3</p>"),
    ],
)  # fmt: skip
def test_markdown_becomes_safe_html(text: str, html: str) -> None:
    assert markdown(text) == html


def test_a_table_stays_without_inline_styles() -> None:
    html = markdown("|a|b|\n|-|-:|\n|1|2|")
    assert "<td>2</td>" in html
    assert "style" not in html


@pytest.mark.parametrize(
    "address", ["javascript:alert(1)", "data:text/html,x", "file:///etc/passwd", "//a.b", "vbscript:x"]
)
def test_a_link_leads_to_the_web_or_to_mail_only(address: str) -> None:
    assert "href" not in markdown(f"[x]({address}) <{address}>")


PIECES = [
    "<script>", "<img src=x onerror=y>", "[a](javascript:b)", "![", "](", "<a href=", "x", "`", "\n\n", "<", ">", '"',
    "&lt;script&gt;",
]  # fmt: skip


@settings(max_examples=60, deadline=None)
@given(st.lists(st.sampled_from(PIECES)))
def test_no_text_brings_a_script_or_an_image(parts: list[str]) -> None:
    html = markdown("".join(parts))
    assert "<script" not in html
    assert "<img" not in html
    assert 'href="javascript' not in html


def test_the_plain_text_of_a_page_has_the_words_of_its_links_and_nothing_else() -> None:
    text = "How **often** do you\n\n- watch [films](https://a.b) & series?"
    assert plain_page(text) == "How often do you watch films & series?"


# Words


def bold(*words: Json) -> Json:
    return {"mark": "strong", "words": list(words)}


def italic(*words: Json) -> Json:
    return {"mark": "em", "words": list(words)}


@pytest.mark.parametrize(
    ("text", "tree", "plain"),
    [
        ("How **natural** is it?", ["How ", bold("natural"), " is it?"], "How natural is it?"),
        ("*a* _b_ __c__", [italic("a"), " ", italic("b"), " ", bold("c")], "a b c"),
        ("**very *very* good**", [bold("very ", italic("very"), " good")], "very very good"),
        ("press `a*b`", ["press ", {"mark": "code", "words": ["a*b"]}], "press a*b"),
        ("**clip**s", [bold("clip"), "s"], "clips"),
        ("這是**很好**嗎", ["這是", bold("很好"), "嗎"], "這是很好嗎"),
        (r"\\**a**", ["\\", bold("a")], r"\a"),
    ],
)
def test_marked_words_become_a_tree_and_plain_text(text: str, tree: Json, plain: str) -> None:
    assert marked(text) == tree
    assert plain_text(text) == plain_words(tree) == plain


@pytest.mark.parametrize(
    "text",
    [
        "Fair", "5 * 3 * 2", "2*3*4", "* required", "sh*t and f*ck", "Price* and tax**", "snake_case_name", "**",
        "` alone", r"C:\new\(old)", "<b>a</b> &amp; b", "[a](https://a.b)", "![a](b.png)", "a\nb", " a  ", "Q_1 of __",
    ],
)  # fmt: skip
def test_characters_that_mark_nothing_stay_as_they_are(text: str) -> None:
    assert marked(text) == text
    assert plain_text(text) == text


@pytest.mark.parametrize(("text", "shown"), [(r"\*a\*", "*a*"), (r"\_a\_ \`b\`", "_a_ `b`"), (r"a\\b", r"a\b")])
def test_a_backslash_makes_a_mark_an_ordinary_character(text: str, shown: str) -> None:
    assert marked(text) == plain_text(text) == shown


@settings(max_examples=60, deadline=None)
@given(st.text(alphabet="*_`\\ ab2<é漢\n", max_size=24))
def test_whatever_is_written_loses_marks_only(text: str) -> None:
    plain = plain_text(text)
    rest = iter(
        "".join(text.split())
    )  # between backticks, Markdown takes a space at each end and turns lines into spaces
    assert all(character in rest for character in "".join(plain.split())), "nothing is added"
    marks = dict.fromkeys(map(ord, "*_`\\ \n"))
    assert plain.translate(marks) == text.translate(marks)
    assert plain_words(json.loads(json.dumps(marked(text)))) == plain


# Where words are compared and counted


def test_answers_are_compared_without_marks() -> None:
    ask = Ask(id="a", text="Which?", type="single", options=("**Yes**, always", r"1\*"), correct=("Yes, always",))
    kind = QUESTION_TYPES[ask.type]
    assert ask.choices == ("Yes, always", "1*")
    assert kind.accepts(ask, "Yes, always")
    assert not kind.accepts(ask, "**Yes**, always")
    assert kind.is_correct(ask, "Yes, always")
    assert [row.value for row in kind.tabulate(ask, "1*")] == [2]
    assert kind.robot_answer({"options": [marked(option) for option in ask.options]}) == "1*"


def test_two_options_that_read_alike_are_one_too_many() -> None:
    with pytest.raises(ValueError, match=r"is \*\*Yes\*\* a second time"):
        Ask(id="a", text="Which?", type="single", options=("Yes", "**Yes**"))


def test_a_scale_without_marks_is_itself() -> None:
    assert SCALES["acr5"].plain is SCALES["acr5"]
    scale = Scale(min=1, max=2, labels=((1, "*bad*"), (2, "good")), look="radio")
    assert scale.plain.labels == ((1, "bad"), (2, "good"))
