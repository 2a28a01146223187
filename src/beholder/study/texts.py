"""Texts for participants: the Markdown of the researcher, from the study or its files, and safe HTML of it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Literal, get_args

from beholder.errors import StudyError
from beholder.study.model import Study
from beholder.study.parts import Fault, path_fault
from beholder.study.questions import Page

Which = Literal["consent", "instructions", "pause", "thanks"]

_TAGS = frozenset((
    "p", "h1", "h2", "h3", "h4", "h5", "h6", "ul", "ol", "li", "table", "thead", "tbody", "tr", "th", "td", "em",
    "strong", "s", "code", "pre", "blockquote", "a", "br", "hr",
))  # fmt: skip
_SCHEMES = {"http", "https", "mailto"}


def study_text(study: Study, which: Which | str) -> str | None:
    """Return a text of the study as Markdown, from its file where it names one; None without a text."""
    if which not in get_args(Which):
        raise KeyError(which)
    if which == "instructions":
        return "\n\n".join(page.text for page in instruction_pages(study)) or None
    text: str | None = getattr(study.texts, which)
    return None if text is None else _read(study, f"texts.{which}", text)


def instruction_pages(study: Study) -> tuple[Page, ...]:
    """Return the pages of the instructions as Markdown; none where the study has no instructions."""
    pages = study.texts.pages
    keys = [f"texts.instructions.{place}.text" for place in range(len(pages))]
    if len(pages) == 1:
        keys = ["texts.instructions"]
    return tuple(
        page.model_copy(update={"text": _read(study, key, page.text)}) for key, page in zip(keys, pages, strict=True)
    )


def _read(study: Study, key: str, text: str) -> str:
    """Return a text as Markdown, from its file where it names one."""
    if not is_file_name(text):
        return text
    fault = text_fault(study.folder, text)
    if fault is not None:
        raise StudyError(study.problem(key, fault.what, fault.allowed, fault.fix))
    return (study.folder / text).read_text("utf-8-sig")


def is_file_name(text: str) -> bool:
    """Return whether a text of the study is the name of a file."""
    return text.endswith(".md") and "\n" not in text


def text_fault(folder: Path, text: str) -> Fault | None:
    """Return the fault of a text that names a file, if any."""
    if not is_file_name(text):
        return None
    fault = path_fault(text)
    if fault is not None:
        return fault
    file = folder / text
    try:
        content = file.read_text("utf-8-sig")
    except UnicodeDecodeError:
        return Fault(f"is {text}, which is not UTF-8", "UTF-8", "Save the file as UTF-8.")
    except (OSError, ValueError):
        allowed = "Markdown, or the name of a file that ends in .md"
        return Fault(f"is {text}, and there is no such file", allowed, f"Write it to {text} in the study folder.")
    if not content.strip():
        return Fault(f"is {text}, which is empty", "a file that says something")
    return None


def markdown(text: str) -> str:
    """Return safe HTML of a Markdown text: no raw HTML, no images, only links to the web and to mail."""
    import nh3
    from markdown_it import MarkdownIt

    reader = MarkdownIt("commonmark", {"html": True}).enable("table").enable("strikethrough")
    reader.add_render_rule("html_inline", _nothing)
    reader.add_render_rule("html_block", _words_only)
    reader.add_render_rule("image", _nothing)
    return nh3.clean(
        reader.render(text),
        tags=set(_TAGS),
        attributes={"a": {"href", "title"}, "ol": {"start"}},
        attribute_filter=_keep,
        url_schemes=_SCHEMES,
        link_rel="noopener noreferrer",
        set_tag_attribute_values={"a": {"target": "_blank"}},
    ).strip()


def _keep(tag: str, attribute: str, value: str) -> str | None:
    """Return an attribute to keep; None for a link into our own server."""
    if attribute == "href" and value.split(":", 1)[0].lower() not in _SCHEMES:
        return None
    return value


def _nothing(renderer: Any, tokens: Sequence[Any], index: int, options: Any, env: Mapping[str, Any]) -> str:
    return ""


def _words_only(renderer: Any, tokens: Sequence[Any], index: int, options: Any, env: Mapping[str, Any]) -> str:
    import nh3

    words = nh3.clean(tokens[index].content, tags=set()).strip()
    return f"<p>{words}</p>" if words else ""
