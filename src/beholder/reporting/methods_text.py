"""The methods paragraph, ready to paste, and the sources that it cites."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import pandas as pd

from beholder.formats import count, join_names, number
from beholder.methods.contract import Paper
from beholder.reporting.material import Material
from beholder.reporting.question_results import QuestionResults
from beholder.reporting.questionnaire import answers_words, has_tie
from beholder.reporting.references import SOURCES
from beholder.reporting.sheets import latex_text, markdown_text
from beholder.study.groups import common_options, varied_keys
from beholder.study.model import Playback

# --- The methods paragraph, ready to paste: numbers from the data, and a blank in brackets for what nobody told us ---


class Sentence(NamedTuple):
    """One sentence without its full stop, and the keys of what it cites."""

    text: str
    cites: tuple[str, ...] = ()


class Paragraph(NamedTuple):
    """Sentences under a title."""

    title: str
    said: Sequence[Sentence]

    @property
    def text(self) -> str:
        """The sentences as plain text, sources by name and year."""
        return " ".join(_sentence(one.text, _citations(one.cites)) for one in self.said)


def plain_text(paragraphs: Sequence[Paragraph]) -> str:
    """Return the paragraphs as plain text."""
    return "\n\n".join(f"{one.title}. {one.text}" for one in paragraphs) + "\n"


def markdown_methods(paragraphs: Sequence[Paragraph]) -> str:
    """Return the paragraphs in Markdown, sources by their keys in sources.bib as pandoc and Quarto read them."""
    lines = ["---", "bibliography: sources.bib", "---"]
    for paragraph in paragraphs:
        cited = [(markdown_text(one.text), "; ".join(f"@{key}" for key in one.cites)) for one in paragraph.said]
        told = " ".join(_sentence(text, f" [{keys}]" if keys else "") for text, keys in cited)
        lines.append(f"\n**{paragraph.title}.** {told}")
    return "\n".join(lines) + "\n"


def latex_methods(paragraphs: Sequence[Paragraph]) -> str:
    """Return the paragraphs in LaTeX, sources by their keys in sources.bib."""
    lines = ["% Sources: \\bibliography{sources}. Words in brackets are for you to fill in.", ""]
    for paragraph in paragraphs:
        told = " ".join(
            _sentence(latex_text(one.text), f"~\\cite{{{','.join(one.cites)}}}" if one.cites else "")
            for one in paragraph.said
        )
        lines.append(f"\\paragraph{{{latex_text(paragraph.title)}.}} {told}\n")
    return "\n".join(lines)


def cited_keys(paragraphs: Sequence[Paragraph]) -> list[str]:
    """Return the keys of all sources that the paragraphs cite."""
    return list(dict.fromkeys(key for paragraph in paragraphs for one in paragraph.said for key in one.cites))


def _sentence(text: str, cited: str) -> str:
    """Return a sentence with its sources before the full stop; what ends in a mark of its own gets none."""
    return f"{text}{cited}{'' if not cited and text.endswith(('.', '?', '!')) else '.'}"


def _citations(cites: Sequence[str]) -> str:
    return f" ({'; '.join(SOURCES[key].short for key in cites)})" if cites else ""


# --- How the study was made, for the methods paragraph: method, questions, stimuli, order, playing ---


_MOST_QUESTIONS = 5
_TASKS = {
    "closest": "They said which of the two is closer to X, the reference",
    "identify": "They said of which of the two X is a copy",
}
_PRESENTATIONS = {
    "sequential": "The two were shown one after the other",
    "side-by-side": "The two were shown side by side, at the same time",
    "free": "The two stood behind buttons, in any order and as often as wanted",
}
_WATCH = {
    "whole": "A stimulus had to be played to its end, or be in view for a set time, before it could be rated",
    "start": "A stimulus had to be started before it could be rated",
    "none": "Stimuli did not have to be played before rating",
}


def design_sentences(material: Material) -> list[Sentence]:
    """Return the sentences on the design."""
    return [
        *_method(material),
        *_run(material),
        *_groups(material),
        *_questions(material),
        *_stimuli(material),
        *_trials(material),
        *_playback(material),
    ]


def _method(material: Material) -> list[Sentence]:
    study = material.study
    known = _paper(material)
    if known is None:
        return [Sentence(f"Stimuli were rated by the method {study.method}")]
    options = common_options(study)
    items = options.get("items")
    cites = (
        *(key for key in known.cites if key in SOURCES),
        *(("cutler2024",) if str(items).startswith("avatar") else ()),
    )
    said = [Sentence(f"The study used {known.name}", cites), Sentence(known.task)]
    task = _TASKS.get(str(options.get("mode")))
    said += [Sentence(task)] if task else []
    shown = _PRESENTATIONS.get(str(options.get("presentation")))
    if shown is not None:
        gap = options.get("gap")
        is_gapped = options["presentation"] == "sequential" and gap
        said.append(Sentence(shown + (f", with {gap:g} s of grey between them" if is_gapped else "")))
    return [*said, *([Sentence(f"The statements were the set {items}")] if items else [])]


def _run(material: Material) -> list[Sentence]:
    """Return that the study was run before, where it was."""
    if material.run == 1:
        return []
    return [Sentence(f"This was run {material.run}, with a plan of its own and nobody who took part in another run")]


def _groups(material: Material) -> list[Sentence]:
    """Return in which groups participants were, and how many of each are analysed."""
    between, found = material.study.design.between, material.account.get("groups") or ()
    if not found:
        return []
    split = join_names([f"{factor} ({' or '.join(levels)})" for factor, levels in between.items()])
    used = sorted(one["used"] for one in found)
    each = f"{used[0]:,}" if used[0] == used[-1] else f"{used[0]:,} to {used[-1]:,}"
    by = f"by every combination of {split}" if len(between) > 1 else f"by {split}"
    told = f"Participants were in {len(found)} groups, {by}, with {each} of each group analysed"
    return [Sentence(told), Sentence("[What the groups were told and shown]")]


def _paper(material: Material) -> Paper | None:
    """Return how papers tell of the method, where it says so itself."""
    from beholder.methods import find

    return getattr(find(material.study.method), "paper", None)


def _questions(material: Material) -> list[Sentence]:
    """Return the wording of the questions with their scales; of many the first ones."""
    parts = list(material.parts)
    shown = parts if len(parts) <= _MOST_QUESTIONS else parts[: _MOST_QUESTIONS - 2]
    said = [f"{' or '.join(f'“{one.text}”' for one in part.wordings)} ({_answers(part, material)})" for part in shown]
    if len(shown) < len(parts):
        said.append(f"{len(parts) - len(shown)} more [the wording of all of them]")
    if not said:
        return []
    asked = "Participants were asked" if len(parts) == 1 else f"Participants were asked {len(parts)} questions:"
    return [Sentence(f"{asked} {'; '.join(said)}")]


def _answers(part: QuestionResults, material: Material) -> str:
    """Return what could be answered, as people met it."""
    if part.kind == "choice":
        return "one of the two, or no difference" if has_tie(part, material) else "one of the two"
    return "A or B" if part.kind == "correct" else answers_words(part, material)


def _stimuli(material: Material) -> list[Sentence]:
    """Return what was rated, and how often."""
    used, roles = material.used, material.account.get("roles", {})
    if used.empty:
        return [Sentence("No rating could be used")]
    labels = {one.name: one.label or one.name for one in material.study.conditions}
    rated = dict.fromkeys([*used["condition"], *used["other_condition"]])
    told = [name for name in [*labels, *rated] if name in rated and name]
    names = [
        labels.get(name, name) + (f" ({roles[name]})" if roles.get(name) in ("reference", "anchor") else "")
        for name in dict.fromkeys(told)
    ]
    stimuli = len({*used["stimulus"], *used["other_stimulus"]} - {""})
    contents = count(used["content"].nunique(), "content")
    under = f"under {count(len(names), 'condition')}: {join_names(names)}"
    return [
        Sentence(f"There were {count(stimuli, 'stimulus', 'stimuli')}, {contents} {under}"),
        _ratings_per_stimulus(material, used),
        Sentence("[How contents were chosen and how stimuli were made]"),
    ]


def _ratings_per_stimulus(material: Material, used: pd.DataFrame) -> Sentence:
    """Return how many ratings each stimulus, or each pair, has."""
    is_compared = bool(material.parts) and all(part.is_compared or part.kind == "correct" for part in material.parts)
    if is_compared:
        both = [frozenset(pair) for pair in zip(used["stimulus"], used["other_stimulus"], strict=True)]
        sizes = pd.Series(both).groupby([used["question"].to_numpy(), pd.Series(both)]).size()
    else:
        sizes = used.groupby(["question", "stimulus"])["participant"].nunique()
    least, most = int(sizes.min()), int(sizes.max())
    what = "Each pair of stimuli was compared" if is_compared else "Each stimulus was rated by"
    unit = "times" if is_compared else "participants"
    if least == most:
        return Sentence(
            f"{what} {least:,} {unit}" if least != 1 else f"{what} {'once' if is_compared else 'one participant'}"
        )
    return Sentence(f"{what} {least:,} to {most:,} {unit} (median {number(float(sizes.median()), 0)})")


def _trials(material: Material) -> list[Sentence]:
    """Return how long a session was, and how order and places were drawn."""
    study = material.study
    per_session = material.used.groupby("session")["position"].nunique()
    said = []
    if len(per_session):
        low, high = int(per_session.min()), int(per_session.max())
        said.append(Sentence(f"A session had {low if low == high else f'{low} to {high}'} trials that are analysed"))
    said.append(
        Sentence(
            "The order of trials and the places of stimuli on a page were drawn beforehand and balanced over "
            f"participants (seed {study.design.seed}{f', run {material.run}' if material.run > 1 else ''})"
        )
    )
    if any(part.is_compared for part in material.parts):
        orders = "equally often in both orders" if study.design.both_orders else "always in the same order"
        said.append(Sentence(f"Each pair came {orders}"))
    known = _paper(material)
    is_named = (known is not None and known.names_reference) or study.options.get("reference") in ("shown", "both")
    named = " but for the reference, which was named" if is_named else ""
    return [
        *said,
        Sentence(f"Participants were blind to conditions{named}: they saw the names of neither conditions nor files"),
    ]


def _playback(material: Material) -> list[Sentence]:
    playback, theirs = material.study.playback, varied_keys(material.study)
    playback = playback.model_copy(
        update={name: field.default for name, field in Playback.model_fields.items() if f"playback.{name}" in theirs}
    )
    rules = dict.fromkeys(str(text["watch"]) for text in material.texts)
    said = [Sentence(_WATCH[next(iter(rules))])] if len(rules) == 1 and "playback.watch" not in theirs else []
    said += [Sentence("Stimuli were shown in full screen")] if playback.fullscreen else []
    if playback.size != "fit":
        size = "their own size" if playback.size == "native" else f"{playback.size.rstrip('%')} % of their own size"
        said.append(Sentence(f"They were shown at {size}"))
    said += [Sentence("They were played without sound")] if playback.sound == "off" else []
    if playback.max_plays is not None:
        said.append(Sentence(f"Each could be played {count(playback.max_plays, 'time')}"))
    return said
