"""Sentences of the methods text on the analysis of the ratings of a study, and on where the data are."""

from __future__ import annotations

from collections import Counter
from importlib import metadata

from beholder.analysis.means import EXACT_INTERVAL
from beholder.analysis.result import records
from beholder.analysis.tests import TESTS
from beholder.formats import count, join_names, number, plural, precise_percent
from beholder.reporting.deviations import preregistration_sentences
from beholder.reporting.looks import chain_sentences, contrast_sentences, look_sentences
from beholder.reporting.material import Material
from beholder.reporting.methods_text import Sentence
from beholder.reporting.sensitivity import sensitivity_sentence

_CLUSTERED = ("cameron2011", "mackinnon2021")
_OVER = {
    "both": "clustered by participant and by content",
    "one": "over participants, as there is one content",
}
_COMPARED = {
    "within": "on all ratings, by additive least squares of participant, content and condition",
    "between": "on all ratings with contents held equal, as different people rated the two",
    "direct": "by the votes in which they met",
}


def analysis_sentences(material: Material) -> list[Sentence]:
    """Return the sentences on intervals, tests, correction and software."""
    parts = [part for part in material.parts if part.order]
    if not parts:
        return [Sentence("There was nothing to analyse"), *_software(material)]
    metrics = dict.fromkeys(part.metric for part in parts)
    sentences = [
        Sentence(
            f"The measure is {join_names(list(metrics))}: the mean of each condition, every content weighing the same"
        )
    ]
    over = _OVER["both" if material.used["content"].nunique() != 1 else "one"]
    if any(not part.is_share and not part.has_pair_intervals for part in parts):
        sentences.append(
            Sentence(
                f"Intervals of scores are 95 % Student t intervals, the error {over}", ("student1908", *_CLUSTERED)
            )
        )
    if any(part.conditions["interval"].str.startswith(EXACT_INTERVAL).any() for part in parts):
        exact = "Intervals of each condition's share or preference are Korn and Graubard's 95 % intervals"
        sentences.append(Sentence(f"{exact}, the error {over}", ("korn1998", "clopper1934", *_CLUSTERED)))
    if any(part.has_pair_intervals for part in parts):
        sentences.append(
            Sentence("Intervals of conditions that were compared with one other only are those of the differences")
        )
    return [
        *sentences,
        *_method_measures(material, over),
        *_tests(material, over),
        *look_sentences(material),
        *_sensitivity(material),
        *_software(material),
    ]


def _method_measures(material: Material, over: str) -> list[Sentence]:
    """Return the sentences on measures that only some methods have."""
    also, sentences = material.results.also, []
    if "dmos" in also:
        by_condition = also["dmos"][also["dmos"]["level"] == "condition"]
        original = material.study.analyse.dmos
        against = "hidden reference" if original is None else f"original ({material.labels.get(original, original)})"
        own = f"the mean of each participant's vote minus their vote on the {against} of that content"
        if set(by_condition["pairing"]) != {"paired"}:
            own = f"the difference from the {against} on all ratings, with people and contents held equal"
        sentences.append(Sentence(f"DMOS is {own}, plus the highest vote of the scale", ("itu-p910",)))
    if "medians" in also:
        exact = "with the exact 95 % interval between order statistics"
        sentences.append(
            Sentence(f"Medians are over each participant's own median, {exact}", ("itu-bs1534", "thompson1936"))
        )
    if "strengths" in also:
        ties = bool((also["preferences"]["ties"] > 0).any()) if "preferences" in also else False
        model = "Strengths are Bradley-Terry estimates" + (" with ties by Davidson" if ties else "")
        cites = ("bradley1952", *(("davidson1970",) if ties else ()), "liang1986", "cameron2011")
        sentences.append(Sentence(f"{model}, their errors {over}", cites))
    if "plackett_luce" in also:
        model = "Worths are Plackett-Luce estimates from the order of each page, those with the same place in any order"
        cites = ("plackett1975", "luce1959", "liang1986", "cameron2011")
        sentences.append(Sentence(f"{model}, their errors {over}", cites))
    return sentences


def _tests(material: Material, over: str) -> list[Sentence]:
    notes = material.results.notes
    if not any(part.tested for part in material.parts):
        if any(part.kind == "correct" for part in material.parts):
            return [Sentence("Correct answers are held against chance, one half, by their interval")]
        return [Sentence("No two conditions could be tested against each other")]
    family = str(notes["correction"]["family"]).rstrip(".")
    # One pair alone has no others to learn from.
    is_moderated = any(len(part.tested) > 2 for part in material.parts)
    return [
        Sentence(
            f"Two conditions were compared {_comparison_words(material)}; intervals and p values of differences are "
            f"from two-sided t tests with the error {over}, {'moderated over the pairs and ' if is_moderated else ''}"
            f"never below that of single pages, and with Satterthwaite's degrees of freedom{_df_words(material)}",
            (*_CLUSTERED, *(("smyth2004",) if is_moderated else ()), "satterthwaite1946"),
        ),
        *_verdict_sentences(material),
        Sentence(f"Tests are at the {precise_percent(notes['alpha'])} level, with {family}", ("holm1979",)),
        *contrast_sentences(material),
        *_margin(material),
        *chain_sentences(material),
        *_beside(material),
    ]


def _beside(material: Material) -> list[Sentence]:
    """Return what stands beside the tests, as far as there is any: neither exists where nobody rated both of a pair."""
    sentences = []
    if any(part.inner_pairs["effect"].notna().any() for part in material.parts if part.tested):
        text = (
            "Effect sizes (dz) are of people with these contents: the mean of the participants' own differences in "
            "standard deviations of these, with noncentral t intervals; they say nothing about other contents, and are "
            "not adjusted for who rated which"
        )
        sentences.append(Sentence(text, ("cumming2001",)))
    tests = material.results.also.get("tests")
    if tests is not None and tests[tests["test"] != TESTS[0]]["p"].notna().any():
        text = (
            "A t test over pages with both conditions, clustered but not moderated, and paired t tests, Wilcoxon "
            "signed-rank tests and sign tests over these pages are given beside them for comparison with other studies"
        )
        sentences.append(Sentence(text, ("jonell2021", "wilcoxon1945", "pratt1959")))
    return sentences


def _margin(material: Material) -> list[Sentence]:
    """Return the margin of equivalence, if the study names one; no file says whether it did so beforehand."""
    found = material.results.also.get("equivalence")
    if found is None or found.empty:
        return []
    margins = {str(question): f"±{own.iloc[0]:g}" for question, own in found.groupby("question")["margin"]}
    same = len(set(margins.values())) == 1
    words = next(iter(margins.values())) if same else join_names([f"{one} ({name})" for name, one in margins.items()])
    text = f"Equivalence and non-inferiority within {words} were tested by two one-sided tests at 5 %"
    when = Sentence("[Why this margin, and whether it was chosen before the first answer]")
    return [Sentence(text, ("schuirmann1987",)), when]


def _df_words(material: Material) -> str:
    """Return the range of the degrees of freedom, in brackets."""
    df = [
        float(row["df"])
        for part in material.parts
        for row in records(part.inner_pairs)
        if (row["condition"], row["other_condition"]) in part.tested and row["df"] == row["df"]
    ]
    if not df:
        return ""
    low, high = number(min(df), 1), number(max(df), 1)
    return f" ({low})" if low == high else f" ({low} to {high})"


def _verdict_sentences(material: Material) -> list[Sentence]:
    """Return the sentences on the two populations, which of them is claimed, and how many pairs are clear."""
    parts = [part for part in material.parts if part.tested]
    contents = {part.contents_words for part in parts}
    if contents == {"this one content"}:
        return [Sentence("With one content, nothing is said of others")]
    these = contents.pop() if len(contents) == 1 else "these contents"
    tested = sum(len(part.tested) for part in parts) // 2
    on_these = sum(len(part.clear_on_these) for part in parts) // 2
    beyond = on_these - sum(len(part.only_on_these) for part in parts) // 2
    claims = f"Called clear is what is clear {'beyond' if parts[0].claim == 'beyond' else 'on'} {these}"
    pairs = count(tested, "pair")
    found = f"{on_these} of {pairs} {plural(on_these, 'is', 'are')} clear on {these}, {beyond or 'none'} of them also "
    found = f"{found}beyond" if on_these else f"none of {pairs} is"
    both = "for people and contents like these, and for people like these with these contents"
    return [
        Sentence(f"Every difference was tested {both}, each with a correction of its own"),
        Sentence(f"{claims}: {found}"),
    ]


def _comparison_words(material: Material) -> str:
    """Return how conditions were compared, with the number of pairs where that differs."""
    kinds = Counter(
        str(row["comparison"])
        for part in material.parts
        for row in records(part.inner_pairs)
        if (row["condition"], row["other_condition"]) in part.tested
    )
    used = [(words, kinds[kind]) for kind, words in _COMPARED.items() if kinds[kind]]
    return used[0][0] if len(used) == 1 else " or ".join(f"{words} ({count(n, 'pair')})" for words, n in used)


def _sensitivity(material: Material) -> list[Sentence]:
    choices = material.results.also.get("sensitivity")
    if choices is None or choices.empty:
        return []
    return [Sentence(sensitivity_sentence(choices).rstrip("."))]


def _software(material: Material) -> list[Sentence]:
    notes = material.results.notes
    versions = ", ".join(f"{name} {version}" for name, version in notes["software"].items())
    drawn = (f"{name.replace('_', ' ')} {seed}" for name, seed in notes["seeds"].items())
    seeds = [*([f"plan {material.study.design.seed}"] if material.table is None else []), *drawn]
    return [Sentence(f"Software: Beholder {beholder_version()} with {versions}; seeds: {join_names(seeds)}")]


def availability_sentences(material: Material) -> list[Sentence]:
    """Return where the data are, as far as it is known."""
    digests = [digest[:12] for digest in material.account["digests"]]
    sentences = [
        Sentence("[Where ratings, study file and stimuli can be had]"),
        *preregistration_sentences(material),
    ]
    text = f"The study text has the digest {join_names(digests)}" if digests else ""
    return [*([Sentence(text)] if text else []), *sentences]


def beholder_version() -> str:
    try:
        return metadata.version("beholder")
    except metadata.PackageNotFoundError:
        return "(not installed)"
