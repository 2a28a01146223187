"""Languages in the report: in which people took part, the labels that they read, and where our texts come from."""

from __future__ import annotations

from collections.abc import Sequence

from beholder.formats import count, join_names
from beholder.reporting.html import Child, table
from beholder.reporting.material import Material
from beholder.reporting.methods_text import Sentence
from beholder.reporting.sheets import TextTable
from beholder.study.markdown import plain_text
from beholder.study.model import Study
from beholder.study.scale_labels import label_set_of, label_source, shown_set
from beholder.words import english_name, provenance


def is_told(study: Study) -> bool:
    """Return whether anybody could take part in another language than English."""
    return study.all_languages != ("en",)


def language_sentences(material: Material) -> list[Sentence]:
    """Return in which languages people took part, who wrote our texts in them, and which labels the scales had."""
    study = material.study
    if not is_told(study):
        return []
    return [Sentence(text) for text in (*_who(material), *_ours(study), *_labels(material))]


def _who(material: Material) -> list[str]:
    codes, rows = material.study.all_languages, material.account.get("languages") or ()
    if len(codes) == 1:
        return [f"All texts were in {english_name(codes[0])}"]
    used = {row["language"]: row["used"] for row in rows}
    people = join_names([f"{english_name(code)} ({used.get(code, 0):,})" for code in codes])
    return [
        f"The study was in {count(len(codes), 'language')}: {people}, in brackets the people analysed. Each began in "
        "the language of their link, of the recruiter's filter or of their browser, and could choose another before "
        "they agreed"
    ]


def _ours(study: Study) -> list[str]:
    """Return who wrote our words on the pages in the languages that are not English."""
    told: dict[str, list[str]] = {}
    for code in study.all_languages:
        if code != "en":
            told.setdefault(provenance(code), []).append(english_name(code))
    return [f"What Beholder itself says on the pages was in {join_names(names)}: {by}" for by, names in told.items()]


def _labels(material: Material) -> list[str]:
    """Return the labels of each scale in each language, with where they come from."""
    sentences = []
    written: dict[tuple[str, ...], None] = dict.fromkeys(
        tuple(text for _, text in part.scale.labels) for part in material.parts if part.scale.labels
    )
    for labels in written:
        name = label_set_of(labels)
        if name is None:
            sentences += _own_labels(material, labels)
            continue
        texts = [
            f"{', '.join(f'“{text}”' for text in shown_set(name, code))} in {english_name(code)} "
            f"({label_source(name, code)})"
            for code in material.study.all_languages
        ]
        sentences.append(f"The scale was labelled {'; '.join(texts)}")
    return sentences


def _own_labels(material: Material, labels: Sequence[str]) -> list[str]:
    """Return labels that the study has of its own, in each language."""
    study = material.study
    places = [
        place
        for place, question in enumerate(study.questions)
        if tuple(plain_text(text) for _, text in question.scale.labels) == tuple(labels)
    ]
    if not places:
        return []
    texts = []
    for code in study.all_languages:
        own = study.in_language(code).questions[places[0]].scale.plain.labels
        texts.append(f"{', '.join(f'“{text}”' for _, text in own)} in {english_name(code)}")
    return [f"The scale was labelled {'; '.join(texts)} (labels of the study's own)"]


def language_table(material: Material) -> list[Child]:
    """Return a table of how many took part in each language, and of who wrote our texts; none where there is one."""
    rows = material.account.get("languages") or ()
    if not rows:
        return []
    cells = [
        (
            english_name(row["language"]), f"{row['began']:,}", f"{row['finished']:,}", f"{row['used']:,}",
            "the source" if row["language"] == "en" else provenance(row["language"]),
        )
        for row in rows
    ]  # fmt: skip
    sheet = TextTable(("Language", "Began", "Finished", "Used", "Our texts"), cells, names=1)
    return [table("Languages", sheet)]
