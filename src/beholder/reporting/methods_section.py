"""The methods of a study: how it was done as a list of facts, and the methods paragraphs for the page and as files,
with what they cite.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from beholder.formats import count, join_names
from beholder.reporting.html import Child, Markup, folded, render, tag
from beholder.reporting.material import Material
from beholder.reporting.methods_analysis import analysis_sentences, availability_sentences, beholder_version
from beholder.reporting.methods_design import design_sentences, paper_of, table_sentences
from beholder.reporting.methods_people import apparatus_sentences, participant_sentences, quality_control_sentences
from beholder.reporting.methods_text import Paragraph, Sentence, cited_keys, latex_methods, markdown_methods
from beholder.reporting.references import bibtex, cited_sources, full_reference
from beholder.reporting.section import Section
from beholder.reporting.views import view_words
from beholder.study.groups import common_options, varied_keys

_SIMULATED = Sentence(
    "All ratings are simulated: robots answered in place of participants, and nothing here is a result"
)


def methods(material: Material) -> list[Paragraph]:
    """Return the methods of a study in paragraphs; of a table, what is known."""
    if material.table is not None:
        return [Paragraph("Data", table_sentences(material)), Paragraph("Analysis", analysis_sentences(material))]
    simulated = [_SIMULATED] if material.is_simulated else []
    return [
        Paragraph("Design", [*simulated, *design_sentences(material)]),
        Paragraph("Participants", participant_sentences(material)),
        Paragraph("Apparatus", apparatus_sentences(material)),
        Paragraph("Quality control", quality_control_sentences(material)),
        Paragraph("Analysis", analysis_sentences(material)),
        Paragraph("Data", availability_sentences(material)),
    ]


def methods_section(material: Material, paragraphs: Sequence[Paragraph]) -> Markup:
    """Return the paragraphs, selected as a whole by a click and copied by a button, and the sources."""
    text = [tag("p", tag("b", f"{one.title}."), " ", one.text, dir="auto") for one in paragraphs]
    paste = tag("div", text, class_="paste", tabindex="0", role="group", aria_label="Methods, to be copied")
    sources = cited_sources(material, cited_keys(paragraphs))
    listed = tag("ul", [tag("li", full_reference(source)) for source in sources], class_="references")
    return render([paste, folded(count(len(sources), "source"), listed) if sources else None])


METHODS = Section(
    "paste",
    "Methods, ready to paste",
    lambda material: methods_section(material, methods(material)),
    foot=(
        "Every number is of this study. Words in brackets are for you to fill in. methods.tex and methods.md beside "
        "this page hold the same with citations, sources.bib what they cite."
    ),
)


def methods_files(material: Material, paragraphs: Sequence[Paragraph]) -> Mapping[str, str]:
    """Return the text of the methods files by name."""
    return {
        "methods.md": markdown_methods(paragraphs),
        "methods.tex": latex_methods(paragraphs),
        "sources.bib": bibtex(cited_sources(material, cited_keys(paragraphs))),
    }


# How it was done


_WATCH = {
    "whole": (
        "A rating counts when at least 97 % of the stimulus, and its end, were played at normal speed; "
        "of an image or a text, when it was in view for as long as the study asks."
    ),
    "start": "A rating counts when the stimulus had been started.",
    "none": "Stimuli did not have to be watched before rating.",
}
_PRESENTATION = {
    "sequential": "One after the other",
    "side-by-side": "Side by side, at the same time",
    "free": "Behind buttons, in any order and as often as wanted",
    None: "Texts side by side, everything else one after the other",
}


def procedure_section(material: Material) -> Markup:
    """Return how the study was run and analysed, with what is needed to repeat it."""
    study, results = material.study, material.results
    analyses = results.notes["analyses"]
    trials = material.used.groupby("session")["position"].nunique()
    per_session = "none" if trials.empty else _range(int(trials.min()), int(trials.max()))
    software = ", ".join(f"{name} {version}" for name, version in results.notes["software"].items())
    entries: list[tuple[str, Child]] = [
        ("Rating method", tag("code", study.method)),
        *_presentation_entries(material),
        ("Answered by", "robots (simulated)" if material.is_simulated else "people"),
        ("Trials per session", per_session),
        ("Watching", _watch_rule(material)),
        ("Numbers", _metrics(material)),
        ("Scores", analyses["conditions"]["note"]),
        ("Differences", analyses["pairs"]["note"]),
        *_clear_difference(material),
        ("Sources", _sources(analysis["citation"] for analysis in analyses.values())),
        ("Software", f"Beholder {beholder_version()}, {software}"),
        ("Study text", [tag("code", digest) for digest in material.account["digests"]]),
        ("Seed of the plan", f"{study.design.seed}{f', run {material.run}' if material.run > 1 else ''}"),
    ]
    first = next(place for place, (name, _) in enumerate(entries) if name == "Numbers")
    further = folded("Numbers, tests, sources and software", _entries(entries[first:]))
    return render([_entries(entries[:first]), further])


def _entries(entries: Sequence[tuple[str, Child]]) -> Markup:
    return tag("dl", [tag("div", tag("dt", name), tag("dd", value)) for name, value in entries], class_="method")


PROCEDURE = Section("method", "How it was done", procedure_section)


def _clear_difference(material: Material) -> list[tuple[str, Child]]:
    """Return the definition of a clear difference, if any was tested."""
    if not any(part.tested for part in material.parts):
        return []
    return [("Clear difference", f"Holm-corrected p below {material.results.notes['alpha']:g}.")]


def _presentation_entries(material: Material) -> list[tuple[str, Child]]:
    """Return how the method showed its stimuli, as far as the study can choose."""
    options, roles = common_options(material.study), material.account.get("roles", {})
    # The reference of some methods is rated by nobody, so that no table has a label for it.
    labels = {one.name: one.label or one.name for one in material.study.conditions} | dict(material.names)
    entries: list[tuple[str, Child]] = []
    if (looked := view_words(material.study)) is not None:
        entries.append(("Presentation", f"{looked}."))
    elif "presentation" in options:
        is_gapped = options["presentation"] in ("sequential", None)
        gap = f", {options['gap']:g} s of grey between them" if is_gapped else ""
        entries.append(("Presentation", f"{_PRESENTATION[options['presentation']]}{gap if 'gap' in options else ''}."))
    for role, title in (("reference", "Reference"), ("anchor", "Anchors")):
        names = [name for name, own in roles.items() if own == role]
        if names:
            entries.append((title, join_names([labels.get(name, name) for name in names])))
    if (known := paper_of(material)) is not None:
        entries += [(one.title, one.entry) for one in known.options(options)]
    if material.study.playback.sound == "off" and "playback.sound" not in varied_keys(material.study):
        entries.append(("Sound", "off"))
    return entries


def _metrics(material: Material) -> list[Child]:
    """Return each measure with its meaning."""
    meanings = dict.fromkeys((part.metric, part.meaning) for part in material.parts if part.meaning)
    return [
        [tag("br") if place else None, tag("b", name), f": {meaning}"] for place, (name, meaning) in enumerate(meanings)
    ]


def _sources(citations: Iterable[str]) -> list[Child]:
    """Return every source once, each on its line."""
    sources = dict.fromkeys(source for citation in citations for source in citation.split("; ") if source)
    return [[tag("br") if place else None, source] for place, source in enumerate(sources)]


def _watch_rule(material: Material) -> str:
    """Return how much had to be watched; if that changed, each rule with its number of sessions."""
    sessions: dict[str, int] = {}
    for text in material.texts:
        sessions[text["watch"]] = sessions.get(text["watch"], 0) + text["used_sessions"]
    if "playback.watch" in varied_keys(material.study):
        return "Not the same for all participants: it is a factor between them."
    if len(sessions) == 1:
        return _WATCH[material.texts[0]["watch"]]
    return " ".join(f"{count(n, 'session')}: {_WATCH[rule]}" for rule, n in sessions.items())


def _range(low: int, high: int) -> str:
    return str(low) if low == high else f"{low} to {high}"
