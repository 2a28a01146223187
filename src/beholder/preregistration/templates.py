"""The plan in the words of the usual templates: what OSF Preregistration and AsPredicted ask, answered from the study.

Headings are those of the forms (OSF Preregistration, version 3; AsPredicted, nine questions); every answer is ours.
What no file of a study holds stands in brackets, for people to fill in: `words` of their own come below an answer.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from beholder.analysis.stopping_rules import CLAIM_WORDS
from beholder.analysis.tests import ALPHA
from beholder.checks.page_registry import page_checks
from beholder.checks.registry import rule_sentence, study_rules
from beholder.cleaning.screening import RATER_TITLE, rater_sentence
from beholder.formats import count, join_names, listed, plain, plain_count, precise_percent, span
from beholder.methods.contract import Method, Paper, Question, all_questions, scoring_of
from beholder.study.markdown import plain_text
from beholder.study.model import Study
from beholder.study.questionnaire import Ask
from beholder.study.questions import Scale

OSF: Mapping[str, tuple[str, ...]] = {
    "Study Information": ("Title", "Authors", "Description", "Hypotheses"),
    "Design Plan": ("Study type", "Blinding", "Additional blinding", "Study design", "Randomization"),
    "Sampling Plan": (
        "Existing data", "Explanation of existing data", "Data collection procedures", "Sample size",
        "Sample size rationale", "Stopping rule",
    ),
    "Variables": ("Manipulated variables", "Measured variables", "Indices"),
    "Analysis Plan": (
        "Statistical models", "Transformations", "Inference criteria", "Data exclusion", "Missing data",
        "Exploratory analysis",
    ),
    "Other": ("Other",),
}  # fmt: skip
"""The sections of the form with their headings, in its order."""
HEADINGS = tuple(heading for headings in OSF.values() for heading in headings)
AS_PREDICTED: Mapping[str, tuple[str, ...]] = {
    "1) Data collection": ("Existing data",),
    "2) Hypothesis": ("Hypotheses",),
    "3) Dependent variable": ("Measured variables",),
    "4) Conditions": ("Manipulated variables", "Study design"),
    "5) Analyses": ("Indices", "Statistical models", "Inference criteria"),
    "6) Outliers and exclusions": ("Data exclusion", "Missing data"),
    "7) Sample size": ("Sample size", "Stopping rule"),
    "8) Other": ("Exploratory analysis", "Other"),
    "9) Name": ("Title",),
    "Type of study": ("Study type",),
}
"""The questions of AsPredicted, each with the headings whose answers it takes."""
_BLANK = re.compile(r"\[[^\]]*\]")


def blank_headings(answers: Mapping[str, str]) -> list[str]:
    """Return the headings with a blank that nobody's words fill."""
    return [heading for heading, text in answers.items() if _BLANK.search(text)]


def with_words(answers: Mapping[str, str], words: Mapping[str, str]) -> dict[str, str]:
    """Return the answers with people's own words in the place of their blanks, below what the study says."""
    merged = {}
    for heading, text in answers.items():
        kept = _BLANK.sub("", text).strip() if heading in words else text
        merged[heading] = "\n\n".join(filter(None, [kept, words.get(heading, "")]))
    return merged


def template_answers(study: Study, method: Method, plan: Mapping[str, Any], people: int) -> dict[str, str]:
    """Return the answer to each heading; `plan` is what `registered_plan` returned, `people` who has taken part."""
    known = _Plan(study, method, plan, people)
    made = {
        "Title": plain_text(study.title),
        "Authors": "; ".join(one.reading_order for one in study.publication.authors) or "[Who is responsible]",
        "Description": study.publication.description or "[What the study is about, and why]",
        "Hypotheses": _lines(known.hypotheses()),
        "Study type": "Experiment",
        "Blinding": known.blinding(),
        "Additional blinding": "[Whether those who analyse the ratings know which condition is which]",
        "Study design": _sentences(known.design()),
        "Randomization": _sentences(known.randomization()),
        "Existing data": known.existing_data(),
        "Explanation of existing data": known.existing_data_words(),
        "Data collection procedures": _sentences(known.collection()),
        "Sample size": _sentences(known.size()),
        "Sample size rationale": known.rationale(),
        "Stopping rule": _sentences(known.stopping()),
        "Manipulated variables": _sentences(known.manipulated()),
        "Measured variables": _lines(known.measured()),
        "Indices": _sentences(known.indices()),
        "Statistical models": _sentences(known.models()),
        "Transformations": _sentences(known.transformations()),
        "Inference criteria": _sentences(known.inference()),
        "Data exclusion": _lines(known.exclusions()),
        "Missing data": known.missing(),
        "Exploratory analysis": _sentences(known.exploratory()),
        "Other": known.other(),
    }
    return {heading: made[heading] for heading in HEADINGS}


def _lines(lines: Iterator[str]) -> str:
    return "\n".join(f"- {line}" for line in lines)


def _sentences(sentences: Iterator[str]) -> str:
    return " ".join(sentences)


@dataclass(frozen=True)
class _Plan:
    """A study with its numbers, as the answers need it."""

    study: Study
    method: Method
    plan: Mapping[str, Any]
    people: int

    @cached_property
    def questions(self) -> tuple[Question, ...]:
        return all_questions(self.study, self.method)

    @property
    def paper(self) -> Paper | None:
        return getattr(self.method, "paper", None)

    @property
    def conditions(self) -> list[str]:
        """The rated conditions as reports call them, with the role of those that are not under test."""
        return [self.label(name) for name in self.plan["stimuli"]["conditions"]]

    def label(self, name: str) -> str:
        known = {one.name: one for one in self.study.conditions}
        one = known.get(name)
        label = one.label or name if one is not None else name
        return label if one is None or one.role == "test" else f"{label} ({one.role})"

    @property
    def is_compared(self) -> bool:
        return bool(self.plan["is_compared"])

    # Study information

    def hypotheses(self) -> Iterator[str]:
        analyse = self.study.analyse
        if not analyse.contrasts:
            yield "No hypothesis is tested: the study names no contrast, and all of it is exploratory."
            yield "Every two conditions are compared. What is found is a hypothesis for another study."
            return
        for number, (one, other) in enumerate(analyse.contrasts, 1):
            yield (
                f"H{number}: {self.label(one)} and {self.label(other)} differ ({self.label(one)} minus "
                f"{self.label(other)}, two-sided){self._each_question}."
            )
        for margin, names in self._margins():
            about = f" in {names}" if names else ""
            yield (
                f"Of each of them also{about}: that the difference is within ±{plain(margin)} (equivalence), and that "
                f"the first is not worse by {plain(margin)} or more (non-inferiority). [Why this margin]"
            )
        yield "[Which direction is expected, and why]"

    @property
    def _each_question(self) -> str:
        return "" if len(self.questions) < 2 else f", in each of {len(self.questions)} questions"

    def _margins(self) -> list[tuple[float, str]]:
        """Return each margin with the questions that it is for; with none named where it is for all."""
        margins = {one.id: self.study.analyse.margin_of(one.id) for one in self.questions}
        values = list(dict.fromkeys(value for value in margins.values() if value is not None))
        if len(values) == 1 and None not in margins.values():
            return [(values[0], "")]
        return [(value, join_names([name for name, own in margins.items() if own == value])) for value in values]

    # Design plan

    def blinding(self) -> str:
        is_named = (self.paper is not None and self.paper.names_reference) or self.study.options.get("reference") in (
            "shown", "both",
        )  # fmt: skip
        named = ", but for the reference, which is named." if is_named else "."
        return f"Participants do not know which condition they rate: no name of a condition or file reaches them{named}"

    def design(self) -> Iterator[str]:
        stimuli, trials = self.plan["stimuli"], self.plan["trials"]
        if self.paper is not None:
            yield f"Method: {self.paper.name}. In the words of the report to come: “{self.paper.task}.”"
        else:
            yield f"Method: {self.study.method}."
        shown = count(stimuli["rated"], "stimulus", "stimuli")
        contents = count(len(stimuli["contents"]), "content")
        yield f"{shown}: {contents} under {count(len(self.conditions), 'condition')}, within participants."
        each = span(trials[0], trials[-1]) if len(trials) > 1 else f"{trials[0]}"
        several = self.study.design.sessions_per_participant
        sessions = f", in up to {several} sessions" if several > 1 else ""
        yield f"A session has {each} rated {'trials' if each != '1' else 'trial'}{sessions}."
        if self.study.design.between:
            yield f"Between participants: {self._factors}."

    @property
    def _factors(self) -> str:
        between = self.study.design.between
        return join_names([f"{factor} ({listed(list(levels))})" for factor, levels in between.items()])

    def randomization(self) -> Iterator[str]:
        design = self.study.design
        if design.active is not None:
            yield (
                f"What is compared is drawn while answers come in, by what it is expected to tell, a share of "
                f"{precise_percent(design.active.uniform)} of it without regard to answers (seed {design.seed})."
            )
        elif design.plan is not None:
            yield f"Lists are those of {design.plan}."
        else:
            yield (
                f"Lists are drawn beforehand with seed {design.seed}: which stimuli, in which order ({design.order}) "
                "and place, balanced over participants."
            )
        yield "Who comes gets the list with the fewest finished and live sessions."

    # Sampling plan

    def existing_data(self) -> str:
        if not self.people:
            return "Registration prior to creation of data: no, no data have been collected for this study yet."
        people = count(self.people, "person has", "people have")
        return f"It is complicated: {people} taken part already. [Which of the choices of the form holds]"

    def existing_data_words(self) -> str:
        if not self.people:
            return (
                "Simulated participants may have tried the study; their answers are kept apart, and never analysed "
                "with those of people."
            )
        return "[What you have seen of the answers so far, and why this is a preregistration nevertheless]"

    def collection(self) -> Iterator[str]:
        recruit = self.study.recruit
        yield f"People {_future(recruit.source.methods_words(recruit))}."
        yield (f"A session earns {recruit.reward}." if recruit.reward is not None else "[Payment of a participant]")
        if recruit.closes is not None:
            yield f"Nobody can begin after {recruit.closes}."
        gates = [check for check in page_checks(self.study) if check.action == "gate"]
        if gates:
            yield f"Before rating people have to pass: {join_names([_check_words(one) for one in gates])}."
        asked = [ask for ask in self.study.before if ask.correct]
        for ask in asked:
            yield f"Only those go on who answer “{ask.title}” with {listed(list(ask.right_choices))}."
        yield "[When it begins and ends, and who can take part]"

    def size(self) -> Iterator[str]:
        lists, people = self.plan["lists"], self.plan["participants"]
        several = f" ({count(lists, 'session')})" if lists != people else ""
        yield f"{count(people, 'participant')} who finish{several}; whoever does not finish is replaced."
        least, most = self.plan["ratings"]
        each = plain(least) if least == most else span(least, most)
        unit = "comparisons" if self.is_compared else "ratings"
        yield f"That gives each stimulus {each} {unit} before exclusions."
        if self.study.design.votes is not None:
            votes = plain_count(self.study.design.votes, "rating")
            yield f"The number is what {votes} of each stimulus, or of each pair, take."
            yield "Lists that replace ratings left out by the rules below are added by their number alone."

    def rationale(self) -> str:
        power = self.plan["power"]
        if power is None:
            return "[Why so many: `beholder power` imagines the study many times, and its findings then stand here]"
        imagined = f"From {count(int(power['repetitions']), 'simulated study', 'simulated studies')} of each size"
        return f"{imagined} (contents {power['contents']}, seed {power['seed']}): {' '.join(power['words'])}"

    def stopping(self) -> Iterator[str]:
        design = self.study.design
        if design.arena is not None:
            yield "The study has no planned end: intervals hold whenever one looks."
            return
        if not design.looks:
            yield "Collection ends when all sessions are finished; no look at results is planned before."
            yield "Every look on the way is recorded, and widens intervals and p-values."
            return
        yield f"Results are looked at after {join_names([f'{number:,}' for number in design.looks])} participants."
        yield "All looks together have one error rate (O'Brien and Fleming's spending function)."
        rules = self._stopping_rules()
        yield f"The study stops at a look where {listed(rules)}." if rules else "It stops at the last one only."

    def _stopping_rules(self) -> list[str]:
        stop, where = self.study.design.stop, CLAIM_WORDS[self.study.analyse.claim]
        which = {"all": "all contrasts are", "any": "any contrast is"}
        rules = [f"{which[stop.decided]} clear {where}"] if stop.decided in which else []
        if stop.precision is not None:
            rules.append(f"no interval of a contrast reaches further than {plain(stop.precision)} to either side")
        if stop.futility is not None:
            rules.append(
                f"the chance that any further contrast will be clear is below {precise_percent(stop.futility)}"
            )
        if stop.budget is not None:
            rules.append(f"more people would cost more than {stop.budget}")
        return rules

    # Variables

    def manipulated(self) -> Iterator[str]:
        yield f"Condition, within participants: {join_names(self.conditions)}."
        if self.study.design.between:
            yield f"Between participants: {self._factors}."

    def measured(self) -> Iterator[str]:
        for one in self.questions:
            keyed = " It is reverse-scored." if one.keyed == "-" else ""
            yield f"“{plain_text(one.text)}” ({one.id}): {_answers(one)}.{keyed}"
        for when, asks in (
            ("before", self.study.before),
            ("between trials", self.study.during),
            ("after", self.study.after),
        ):
            if asks:
                yield f"Asked {when}: {join_names([_ask_words(ask) for ask in asks])}."

    def indices(self) -> Iterator[str]:
        metrics = scoring_of(self.method).metrics
        named = next((metrics[kind].name for kind in ("score", "diff", "choice") if kind in metrics), "")
        called = f", called {named}" if named else ""
        if self.is_compared:
            yield f"The preference for each condition{called}: the mean of its comparisons, contents weighing the same."
        else:
            yield f"The mean of each condition{called}, contents weighing the same."
        if self.study.analyse.dmos is not None:
            yield f"Also the DMOS of each condition against {self.label(self.study.analyse.dmos)}."

    # Analysis plan

    def models(self) -> Iterator[str]:
        if self.is_compared:
            yield "The difference of two conditions is the mean vote where they met, contents weighing the same."
        else:
            yield (
                "The difference of two conditions is that of additive least squares: every rating is the sum of a "
                "participant, a content and a condition."
            )
        yield (
            "Its error is clustered by participant and by content; t tests are two-sided, with Satterthwaite's degrees "
            "of freedom."
        )
        yield "Computed by `beholder analyse` (pairs.csv); docs/statistics.md of Beholder has methods and error rates."

    def transformations(self) -> Iterator[str]:
        turned = [one.id for one in self.questions if one.keyed == "-"]
        yield f"Answers to {join_names(turned)} are turned round." if turned else "None."
        if self.study.analyse.crush != "none":
            yield f"Differential scores above the scale are treated by `{self.study.analyse.crush}`."

    def inference(self) -> Iterator[str]:
        analyse = self.study.analyse
        over = "over the whole study" if analyse.family == "study" else "within each question"
        named = plain_count(len(analyse.contrasts), "named contrast")
        what = f"{named if analyse.contrasts else 'all pairs of conditions'}, {over}"
        yield f"A difference is clear where p < {ALPHA:g}, two-sided, after Holm's correction of {what}."
        yield f"Claimed is what is clear {CLAIM_WORDS[analyse.claim]}; both are reported."
        if self._margins():
            level = precise_percent(ALPHA)
            yield f"Equivalence and non-inferiority: two one-sided tests at {level}, corrected in the same way."

    def exclusions(self) -> Iterator[str]:
        yield "Sessions that are not finished, or in which what had to be watched was not, are not used."
        judged = self.study.model_copy(update={"checks": self.study.clean.rules(self.study.checks)})
        rules = study_rules(judged)
        for rule in rules:
            what = "" if rule.options.action == "record" else " A session that fails is not used."
            yield f"{rule.title}: {rule_sentence(rule)}{what}"
        if not rules:
            yield "There are no rules over what participants do while they rate."
        for check in page_checks(self.study):
            if check.action == "flag" and check.is_costly:
                yield f"{_check_words(check)}: a session that fails is not used."
        if judged.clean.raters is not None:
            yield f"{RATER_TITLE}: {rater_sentence(judged.clean.raters)}"
        if judged.clean.outliers:
            yield "Votes further than 1.5 quartile ranges outside the quartiles of a stimulus are left out."
        else:
            yield "No vote is left out for being far from the others."
        yield "Nobody is left out by hand."

    def missing(self) -> str:
        skipped = " A trial whose media will not play can be left without a rating." if self.study.playback.skip else ""
        return f"Ratings that are missing stay missing: nothing is filled in.{skipped}"

    def exploratory(self) -> Iterator[str]:
        named = "Differences that are not named above" if self.study.analyse.contrasts else "All differences"
        others = len(self.plan["analyses"]) - 1
        yield f"{named} are exploratory, and so is every other table of `beholder analyse` (there are {others})."

    def other(self) -> str:
        digests = (
            f"Digest of study and stimuli: {self.plan['study_digest']}. Digest of the plan: {self.plan['plan_digest']}."
        )
        return f"{digests} Seed of the plan: {self.study.design.seed}."


def _future(words: str) -> str:
    """Return how people were recruited as what will be."""
    for past, future in (("were ", "will be "), ("followed ", "will follow "), ("took part ", "will take part ")):
        if words.startswith(past):
            return future + words.removeprefix(past).replace("they were recruited", "they are recruited")
    return words


def _check_words(check: Any) -> str:
    wants = check.requirement()
    return f"{check.title} ({wants})" if wants else str(check.title)


def _ask_words(ask: Ask) -> str:
    return f"“{ask.title}”" + (f" ({', '.join(ask.choices)})" if ask.choices else "")


def _answers(question: Question) -> str:
    if question.ticks:
        return f"what can be ticked: {', '.join(map(plain_text, question.ticks))}"
    return _scale_words(question.scale.plain)


def _scale_words(scale: Scale) -> str:
    words = [f"{plain(place)} {word}" for place, word in scale.labels]
    ends = f"{span(scale.min, scale.max)}" + (f" in steps of {plain(scale.step)}" if scale.step != 1 else "")
    return f"{ends} ({', '.join(words)})" if words else ends
