"""The methods paragraph in the page, to be copied, with what it cites; and the same in the formats of papers."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

from beholder.analysis.result import records
from beholder.formats import count, join_names
from beholder.reporting.cleaning import beholder_version
from beholder.reporting.html import Markup, render, tag
from beholder.reporting.material import Material
from beholder.reporting.methods_people import apparatus_sentences, participant_sentences, quality_control_sentences
from beholder.reporting.methods_text import (
    Paragraph,
    Sentence,
    cited_keys,
    design_sentences,
    latex_methods,
    markdown_methods,
)
from beholder.reporting.references import bibtex, cited_sources, full_reference
from beholder.reporting.sensitivity import sensitivity_sentence
from beholder.stats.intervals import is_share

_SIMULATED = Sentence(
    "All ratings are simulated: robots answered in place of participants, and nothing here is a result"
)
METHODS_FOOT = (
    "Every number is of this study. Words in brackets are for you to fill in. methods.tex and methods.md beside this "
    "page hold the same with citations, sources.bib what they cite."
)


def methods(material: Material) -> list[Paragraph]:
    """Return the methods of a study in paragraphs."""
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
    """Return the paragraphs, marked as a whole by a click and copied by a button, and the sources."""
    text = [tag("p", tag("b", f"{one.title}."), " ", one.text, dir="auto") for one in paragraphs]
    paste = tag("div", text, class_="paste", tabindex="0", role="group", aria_label="Methods, to be copied")
    sources = cited_sources(material, cited_keys(paragraphs))
    listed = tag("ul", [tag("li", full_reference(source)) for source in sources], class_="references")
    title = tag("h3", "Sources")
    return render([paste, [title, listed] if sources else None])


def methods_files(material: Material, paragraphs: Sequence[Paragraph]) -> Mapping[str, str]:
    """Return the files beside the page by name."""
    return {
        "methods.md": markdown_methods(paragraphs),
        "methods.tex": latex_methods(paragraphs),
        "sources.bib": bibtex(cited_sources(material, cited_keys(paragraphs))),
    }


# --- How the ratings were analysed, and where they are, for the methods paragraph ---


_OVER = {
    "both": "clustered by participant and by content",
    "one": "over participants, as there is one content",
}
_COMPARED = {
    "paired": "on the same pages (one participant and one content)",
    "unpaired": "by the difference of their means, where few rated both on the same content",
    "direct": "by the votes in which they met",
}


def analysis_sentences(material: Material) -> list[Sentence]:
    """Return the sentences on intervals, tests, correction and software."""
    parts = [part for part in material.parts if part.order]
    if not parts:
        return [Sentence("There was nothing to analyse"), *_software(material)]
    metrics = dict.fromkeys(part.metric for part in parts)
    said = [
        Sentence(
            f"The measure is {join_names(list(metrics))}: the mean of each condition, every content weighing the same"
        )
    ]
    over = _OVER["one" if material.used["content"].nunique() == 1 else "both"]
    if any(not part.is_share for part in parts):
        said.append(
            Sentence(f"Intervals are 95 % Student t intervals, the error {over}", ("student1908", "cameron2011"))
        )
    if any(is_share(part.kind) for part in parts):
        exact = "Intervals of shares and preferences are Korn and Graubard's 95 % intervals"
        said.append(Sentence(f"{exact}, the error {over}", ("korn1998", "clopper1934", "cameron2011")))
    return [*said, *_method_measures(material), *_tests(material, over), *_sensitivity(material), *_software(material)]


def _method_measures(material: Material) -> list[Sentence]:
    """Return what only some methods have."""
    also, said = material.results.also, []
    if "dmos" in also:
        said.append(
            Sentence(
                "DMOS is the mean of each participant's vote minus their vote on the hidden reference of that content, "
                "plus the highest vote of the scale",
                ("itu-p910",),
            )
        )
    if "medians" in also:
        exact = "with the exact 95 % interval between order statistics"
        said.append(
            Sentence(f"Medians are over each participant's own median, {exact}", ("itu-bs1534", "thompson1936"))
        )
    if "strengths" in also:
        ties = bool((also["preferences"]["ties"] > 0).any()) if "preferences" in also else False
        model = "Strengths are Bradley-Terry estimates" + (" with ties by Davidson" if ties else "")
        cites = ("bradley1952", *(("davidson1970",) if ties else ()), "liang1986")
        said.append(Sentence(f"{model}, their errors clustered by participant", cites))
    return said


def _tests(material: Material, over: str) -> list[Sentence]:
    notes = material.results.notes
    if not any(part.tested for part in material.parts):
        if any(part.kind == "correct" for part in material.parts):
            return [Sentence("Correct answers are held against chance, one half, by their interval")]
        return [Sentence("No two conditions could be tested against each other")]
    family = str(notes["correction"]["family"]).rstrip(".")
    return [
        Sentence(
            f"Two conditions were compared {_comparison_words(material)}, by two-sided t tests with the error {over}, and "
            "as many degrees of freedom as the smaller number of clusters minus one",
            ("cameron2011",),
        ),
        Sentence(f"Tests are at the {100 * notes['alpha']:g} % level, with {family}", ("holm1979",)),
        *_contrasts(material),
        Sentence(
            "Effect sizes are mean differences in standard deviations of the participants' own differences (dz), with "
            "noncentral t intervals",
            ("cumming2001",),
        ),
        Sentence(
            "Paired t tests, Wilcoxon signed-rank tests and sign tests over pages are given beside them for comparison "
            "with other studies",
            ("jonell2021", "wilcoxon1945", "pratt1959"),
        ),
    ]


def _contrasts(material: Material) -> list[Sentence]:
    """Return which contrasts the study names; no file knows whether it did so beforehand."""
    named = [f"{material.names[one]} minus {material.names[other]}" for one, other in material.study.analyse.contrasts]
    if not named:
        return []
    when = Sentence("[Whether they were named before the first answer]")
    return [Sentence(f"The study names {count(len(named), 'contrast')}: {join_names(named)}"), when]


def _comparison_words(material: Material) -> str:
    """Return how conditions were held against each other, with the number of pairs where that differs."""
    kinds = Counter(
        str(row["comparison"])
        for part in material.parts
        for row in records(part.inner_pairs)
        if (row["condition"], row["other_condition"]) in part.tested
    )
    told = [(words, kinds[kind]) for kind, words in _COMPARED.items() if kinds[kind]]
    return told[0][0] if len(told) == 1 else " or ".join(f"{words} ({count(n, 'pair')})" for words, n in told)


def _sensitivity(material: Material) -> list[Sentence]:
    choices = material.results.also.get("sensitivity")
    if choices is None or choices.empty:
        return []
    return [Sentence(sensitivity_sentence(choices).rstrip("."))]


def _software(material: Material) -> list[Sentence]:
    notes = material.results.notes
    versions = ", ".join(f"{name} {version}" for name, version in notes["software"].items())
    drawn = (f"{name.replace('_', ' ')} {seed}" for name, seed in notes["seeds"].items())
    seeds = [f"plan {material.study.design.seed}", *drawn]
    return [Sentence(f"Software: Beholder {beholder_version()} with {versions}; seeds: {join_names(seeds)}")]


def availability_sentences(material: Material) -> list[Sentence]:
    """Return where everything is, as far as it is known."""
    digests = [digest[:12] for digest in material.account["digests"]]
    said = [
        Sentence("[Where ratings, study file and stimuli can be had]"),
        Sentence("[Preregistration, if there is one]"),
    ]
    told = f"The study text has the digest {join_names(digests)}" if digests else ""
    return [*([Sentence(told)] if told else []), *said]
