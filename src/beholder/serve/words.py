"""The texts of the steps: the study's own where it has one, else ours."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from beholder.stimuli.catalogue import Stimulus
from beholder.study.model import Study
from beholder.study.pages import Example, Page
from beholder.study.texts import instruction_pages, markdown, study_text


def step_texts(study: Study, words: Mapping[str, str], examples: Sequence[Stimulus] = ()) -> dict[str, str]:
    """Return the texts of the steps as safe HTML: the study's where it has one, else ours.

    The instructions are `instructions`, `instructions:2` and so on, a page each; `help` is all of them.
    """
    texts = {name: study_text(study, name) or words[f"text_{name}"] for name in ("consent", "pause", "thanks")}
    ours = ("screened_out", "wrong_device", "no_consent", "failed_checks", "withdrawn", "technical")
    texts |= {name: words[f"text_{name}"] for name in ours}
    own = "text_instructions_p910" if study.preset == "p910" else "text_instructions"
    pages = list(instruction_pages(study)) or [Page(text=_ours(study, words, own))]
    if captions := [Example(file=one.file, caption=one.caption) for one in examples if one.caption]:
        pages.append(Page(text=words["text_examples"], examples=tuple(captions)))
    for number, page in enumerate(pages, 1):
        texts["instructions" if number == 1 else f"instructions:{number}"] = page.text
    # Where they can no longer be played, the captions still say what to look for.
    texts["help"] = "\n\n".join(
        part for page in pages for part in (page.text, "\n".join(f"- {one.caption}" for one in page.examples)) if part
    )
    return {name: markdown(text) for name, text in texts.items()}


def _ours(study: Study, words: Mapping[str, str], name: str) -> str:
    """Return our own instructions; who is asked for a certain answer by what they see is told so beforehand."""
    is_asking = any(study.checks.rule(rule) for rule in ("attention", "trap"))
    return "\n\n".join((words[name], words["text_asking"])) if is_asking else words[name]
