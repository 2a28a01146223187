"""checklists.md: what data sheets, Recommendations and venues ask of a study with people, filled from what is known.

HEDS 3.0 (the Human Evaluation Datasheet), the sections on human subjects of NeurIPS, ARR (ACL) and Interspeech, and
what Recommendations of ITU want reported. The wording is ours throughout, and so is the reading: where an official form
has to be handed in, copy the answers there. An answer is a fact of the study or the words of its researcher; anything
else is a blank with the key of study.yaml that fills it.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple, TypeAlias

from beholder.checks.page_registry import page_checks
from beholder.checks.registry import rule_sentence, study_rules
from beholder.exporting.dataset import Blank, Dataset
from beholder.formats import count, join_names, plural
from beholder.stimuli.si_ti import known_si_ti
from beholder.study.markdown import plain_text
from beholder.study.texts import study_text

CHECKLISTS = "checklists.md"
Answer: TypeAlias = Callable[[Dataset], str]
"""Returns what is known; empty where nothing is."""


class ChecklistItem(NamedTuple):
    """One thing that is asked for."""

    id: str
    asks: str
    """In our words."""
    answer: Answer


class Checklist(NamedTuple):
    """The items of one standard."""

    title: str
    note: str
    """What it is, and how far our reading goes."""
    items: tuple[ChecklistItem, ...]


# What is known


def _nothing(data: Dataset) -> str:
    return ""


def _key(name: str) -> Answer:
    """Return the answer that stands under a key of `publication`."""

    def answer(data: Dataset) -> str:
        value = getattr(data.publication, name)
        return "; ".join(value) if isinstance(value, tuple) else str(value or "")

    return answer


def _fact(name: str) -> Answer:
    """Return one of the properties for responsible AI, which are facts of the export."""

    def answer(data: Dataset) -> str:
        value = data.responsible_ai.get(name, "")
        return value if isinstance(value, str) else "; ".join(value)

    return answer


def _contacts(data: Dataset) -> str:
    return "; ".join(
        ", ".join(filter(None, (one.reading_order, one.affiliation, one.email))) for one in data.publication.authors
    )


def _where(data: Dataset) -> str:
    return data.publication.address or ""


def _sample(data: Dataset) -> str:
    shown = {name: one for (_, name), one in data.source.judging.facts.stimuli.items()}
    rated = {rating.stimulus for some in data.source.ratings.values() for rating in some}
    kept = [one for name, one in shown.items() if name in rated]
    contents, conditions = ({getattr(one, name) for one in kept} for name in ("content", "condition"))
    return (
        f"{count(len(kept), 'stimulus', 'stimuli')} were rated: {count(len(contents), 'content')} under "
        f"{count(len(conditions), 'condition')} ({join_names(sorted(conditions))})."
    )


def _evaluators(data: Dataset) -> str:
    used = {one.visit.participant for one in data.source.judging.judged if one.decision.use}
    came = {row["participant"] for row in data.source.sessions.values()}
    who = ("robot", "robots") if data.is_simulated else ("person", "people")
    return f"{count(len(used), *who)} {plural(len(used), 'is', 'are')} used, of {len(came):,} who came."


def _recruited(data: Dataset) -> str:
    if data.is_simulated:
        return "Simulated: nobody was recruited."
    recruit = data.study.recruit
    paid = f" Paid for a session: {recruit.reward}." if recruit.reward else ""
    takes = f" It was said to take {recruit.minutes:g} minutes." if recruit.minutes else ""
    return f"People took part {recruit.source.summary_words}.{paid}{takes}"


def _payment(data: Dataset) -> str:
    reward = data.study.recruit.reward
    return f"{reward} for a session." if reward else ""


def _trained(data: Dataset) -> str:
    lessons = sorted({len(one.visit.lessons) for one in data.source.judging.judged if one.visit.lessons})
    if not lessons:
        return "There was no training within the study."
    return f"{' or '.join(map(str, lessons))} training examples before the first rating, with feedback."


def _registered(data: Dataset) -> str:
    if data.publication.registration:
        return data.publication.registration
    versions = [row for row in data.source.tables["ledger"] if row["kind"] == "preregistration"]
    if not versions:
        return "No plan was recorded in the store before the first person."
    last = versions[-1]
    return f"Recorded in the store on {last['at'].date()} (SHA-256 {last['provider_ref']})."


def _controls(data: Dataset) -> str:
    rules = [f"{rule.title}: {rule_sentence(rule)}" for rule in study_rules(data.study)]
    checks = [f"{check.title} before the first rating." for check in page_checks(data.study)]
    return " ".join([*checks, *rules]) or "None beyond what the server enforces."


def _instructions(data: Dataset) -> str:
    text = study_text(data.study, "instructions")
    return f"“{plain_text(text)}”" if text else ""


def _consent(data: Dataset) -> str:
    text = study_text(data.study, "consent")
    return f"Everybody read and agreed to this before anything else: “{plain_text(text)}”" if text else ""


def _free(data: Dataset) -> str:
    return (
        "Anybody could stop at any time, come back by the same link, and withdraw; who withdrew, or asked for it with "
        "the receipt, has no answers here."
    )


def _conditions(data: Dataset) -> str:
    source = data.study.recruit.source
    where = "in a laboratory, on its devices" if source.is_on_site else "where they liked, on devices of their own"
    return f"People rated {where}, in a web browser. Table sessions has screen, system and browser of each."


def _device_checks(data: Dataset) -> str:
    checks = [check.title for check in page_checks(data.study)]
    return f"Checked before the first rating: {join_names(checks)}." if checks else "Nothing was checked."


def _order(data: Dataset) -> str:
    seed = data.study.design.seed
    return f"Balanced lists were planned before the first person, with the seed {seed}; places on a page are permuted."


def _analysis(data: Dataset) -> dict[str, Any]:
    """Return the notes of the last analysis in the folder of the study; nothing where there is none."""
    try:
        notes = json.loads((data.study.outputs / "analyse" / "notes.json").read_text("utf-8"))
    except (OSError, ValueError):
        return {}
    return notes if isinstance(notes, dict) else {}


def _aggregated(data: Dataset) -> str:
    intervals = _analysis(data).get("intervals") or {}
    named = join_names(list(dict.fromkeys(map(str, intervals.values()))))
    return f"Means with 95 % intervals: {named}. Nothing is imputed." if named else ""


def _note_of(table: str) -> Answer:
    """Return how a table of the analysis was computed; empty where there is none."""

    def answer(data: Dataset) -> str:
        return str(((_analysis(data).get("analyses") or {}).get(table) or {}).get("note") or "")

    return answer


def _played(data: Dataset) -> str:
    playback = data.study.playback
    return f"As `playback` of study.yaml says: watch {playback.watch}, size {playback.size}."


def _power(data: Dataset) -> str:
    return "" if not (data.study.folder / "power" / "notes.json").is_file() else "power/ of the study: by simulation."


def _si_ti(data: Dataset) -> str:
    known = known_si_ti(data.study.folder)
    shown = [one for one in data.source.judging.facts.stimuli.values() if one.sha256 in known]
    if not shown:
        return ""
    return f"SI and TI of {count(len(shown), 'stimulus', 'stimuli')} are in the table stimuli."


def _method(data: Dataset) -> str:
    return _fact("dataCollection")(data)


def _languages(data: Dataset) -> str:
    return f"The study was in the language {data.study.language}."


# The standards


_I = ChecklistItem
_HEDS = Checklist(
    "HEDS 3.0: Human Evaluation Datasheet",
    "Belz and Thomson (2024), arXiv:2412.07940; the form is at nlp-heds.github.io. Numbers follow its sections, and "
    "within them our reading of versions 2.0 and 3.0: hold them against the form.",
    (
        _I("heds-1.1", "the paper that reports it", _key("paper")),
        _I("heds-1.2", "where data, outputs and tools are", _where),
        _I("heds-1.3", "who is to be asked", _contacts),
        _I("heds-2.1", "what the systems take as input", _nothing),
        _I("heds-2.2", "what they give", lambda data: f"{join_names(list(data.media))}." if data.media else ""),
        _I("heds-2.3", "which task they do", _nothing),
        _I("heds-2.4", "the language of the input", _nothing),
        _I("heds-2.5", "the language of the output", _nothing),
        _I("heds-3.1.1", "how many outputs were evaluated", _sample),
        _I("heds-3.1.2", "how they were chosen", _nothing),
        _I("heds-3.1.3", "the statistical power of the sample", _power),
        _I("heds-3.2.1", "how many people evaluated", _evaluators),
        _I("heds-3.2.2", "what kind of people: experts, paid, known to the authors", _nothing),
        _I("heds-3.2.3", "how they were recruited", _recruited),
        _I("heds-3.2.4", "how they were trained", _trained),
        _I("heds-3.2.5", "what else is known about them", _fact("annotatorDemographics")),
        _I("heds-3.3.1", "whether it was registered before", _registered),
        _I("heds-3.3.2", "how answers were collected", _method),
        _I("heds-3.3.3", "how quality was assured", _controls),
        _I("heds-3.3.4", "what people saw", _instructions),
        _I("heds-3.3.5", "how free they were in when and how fast", _free),
        _I("heds-3.3.6", "whom they could ask", lambda data: data.study.contact or ""),
        _I("heds-3.3.7", "under which conditions they answered", _conditions),
        _I("heds-3.3.8", "how these were controlled", _device_checks),
        _I("heds-4.1", "which kind of correctness, goodness or feature each question is about", _nothing),
        _I("heds-4.2", "absolute or relative, intrinsic or extrinsic, objective or subjective", _nothing),
        _I("heds-4.3.1", "each question, its scale and its values, in the words that people read",
           _fact("dataAnnotationProtocol")),
        _I("heds-4.3.9", "how answers are aggregated", _aggregated),
        _I("heds-4.3.10", "how effects and significance are computed", _note_of("pairs")),
        _I("heds-4.3.11", "agreement between and within people", _note_of("reliability")),
        _I("heds-5.1", "who approved it", _key("ethics")),
        _I("heds-5.2", "which personal data there are", _fact("personalSensitiveInformation")),
        _I("heds-5.3", "which of them are of special categories", _nothing),
        _I("heds-5.4", "which assessments of impact were made", _nothing),
    ),
)  # fmt: skip
_NEURIPS = Checklist(
    "NeurIPS paper checklist: human subjects",
    "The items on crowdsourcing and on review boards (14 and 15 in the checklists of 2024 and 2025). The answer there "
    "is yes, no or not applicable, with the section of the paper; what follows is what that section has to hold.",
    (
        _I("neurips-14a", "the full text of instructions, and screenshots", _instructions),
        _I("neurips-14b", "what people were paid", _payment),
        _I("neurips-15a", "risks, and how people were told of them", _consent),
        _I("neurips-15b", "approval by a review board, or the equivalent", _key("ethics")),
    ),
)
_ARR = Checklist(
    "ARR responsible NLP checklist: human annotators",
    "Section D of the checklist of ACL Rolling Review (aclrollingreview.org/responsibleNLPresearch).",
    (
        _I("arr-d1", "the full text of the instructions", _instructions),
        _I("arr-d2", "how people were recruited and paid, and whether that is adequate where they live", _recruited),
        _I("arr-d3", "whether and how they consented", _consent),
        _I("arr-d4", "approval by a review board, or why none was needed", _key("ethics")),
        _I("arr-d5", "demographics and where people live", _fact("annotatorDemographics")),
    ),
)
_INTERSPEECH = Checklist(
    "Interspeech: subjective evaluation",
    "No template could be had: these are the things that reviewers of listening tests ask for, by our own reading.",
    (
        _I("interspeech-1", "how many listeners, who they are and what they speak", _evaluators),
        _I("interspeech-2", "how they were recruited and paid", _recruited),
        _I("interspeech-3", "what they heard, and how the samples were chosen", _sample),
        _I("interspeech-4", "the question and the scale, word by word", _fact("dataAnnotationProtocol")),
        _I("interspeech-5", "ratings of each stimulus", _fact("annotationsPerItem")),
        _I("interspeech-6", "how devices and attention were checked", _controls),
        _I("interspeech-7", "intervals and tests", _note_of("pairs")),
        _I("interspeech-8", "approval and consent", _key("ethics")),
    ),
)


def _itu(title: str, prefix: str, of_medium: tuple[ChecklistItem, ...]) -> Checklist:
    """Return what a Recommendation wants reported: what all of them do, and what this one adds."""
    common = (
        _I(f"{prefix}-method", "the test method and the scale", _method),
        _I(f"{prefix}-question", "questions, scales and labels, word by word", _fact("dataAnnotationProtocol")),
        _I(f"{prefix}-conditions", "contents and conditions", _sample),
        _I(f"{prefix}-people", "how many participants, before and after screening", _evaluators),
        _I(f"{prefix}-expertise", "experts or not, and how eyes or ears were tested", _device_checks),
        _I(f"{prefix}-instructions", "the instructions", _instructions),
        _I(f"{prefix}-training", "the training", _trained),
        _I(f"{prefix}-order", "how order was randomised", _order),
        _I(f"{prefix}-votes", "votes of each stimulus", _fact("annotationsPerItem")),
        _I(f"{prefix}-screening", "how participants were screened", _controls),
        _I(f"{prefix}-statistics", "means, intervals and tests", _aggregated),
        _I(f"{prefix}-environment", "the environment: laboratory or crowd", _conditions),
    )
    note = "No template could be had: by our own reading of what the Recommendation asks a report to hold."
    return Checklist(title, note, (*common, *of_medium))


_SEEN = (
    _itu(
        "ITU-T P.910 (10/2023), into which P.911 and P.913 were merged", "p910",
        (
            _I("p910-si-ti", "spatial and temporal information of the sources", _si_ti),
            _I("p910-distance", "viewing distance, display, luminance", _nothing),
            _I("p910-playback", "how clips were played, scaled and watched", _played),
        ),
    ),
    _itu("ITU-R BT.500", "bt500", (_I("bt500-display", "display, room and viewing distance", _nothing),)),
)  # fmt: skip
_HEARD = (
    _itu("ITU-T P.808", "p808", (_I("p808-room", "surroundings, devices, and how they were tested", _device_checks),)),
    _itu("ITU-R BS.1534", "bs-1534", (
        _I("bs-1534-anchors", "references and anchors, and how they were made", _nothing),
        _I("bs-1534-level", "loudspeakers or headphones, room and level", _nothing),
    )),
    _itu("ITU-R BS.1116", "bs-1116", (_I("bs-1116-level", "loudspeakers or headphones, room and level", _nothing),)),
)  # fmt: skip
_OF_MEDIUM = {"video": _SEEN, "image": _SEEN, "audio": _HEARD}


def checklists_of(data: Dataset) -> tuple[Checklist, ...]:
    """Return the checklists that fit the media of a study."""
    of_media = dict.fromkeys(one for medium in data.media for one in _OF_MEDIUM.get(medium, ()))
    return (*of_media, _HEDS, _ARR, _NEURIPS, _INTERSPEECH)


# The document


def checklist_text(data: Dataset) -> str:
    """Return checklists.md."""
    lines = [
        f"# {plain_text(data.study.title)}: what standards of reporting ask for",
        "",
        *(["**Simulated: robots answered in place of people. A rehearsal, not a result.**", ""] * data.is_simulated),
        "Filled from the study and its facts, in our words. An answer of yours comes first: write it under "
        "`publication.answers` in study.yaml, by the name in the first column. What nobody has said yet is named with "
        "the key where it can be.",
        "",
    ]
    for one in checklists_of(data):
        lines += [f"## {one.title}", "", one.note, "", "| item | asks for | answer |", "|---|---|---|"]
        lines += [f"| {item.id} | {item.asks} | {_cell(data, item)} |" for item in one.items]
        blanks = len(blank_items(data, one.items))
        lines += ["", f"{len(one.items) - blanks} of {len(one.items)} are answered.", ""]
    return "\n".join(lines)


def blank_items(data: Dataset, items: Sequence[ChecklistItem]) -> list[Blank]:
    """Return the items that nobody has answered, each with its key."""
    return [Blank(item.asks, f"publication.answers.{item.id}") for item in items if not _answered(data, item)]


def _answered(data: Dataset, item: ChecklistItem) -> str:
    return data.publication.answers.get(item.id) or item.answer(data)


def _cell(data: Dataset, item: ChecklistItem) -> str:
    text = _answered(data, item)
    shown = text if text else f"**blank**: `publication.answers.{item.id}`"
    return " ".join(shown.split()).replace("|", "\\|")


def checklist_rows(data: Dataset) -> Iterator[tuple[str, str, str]]:
    """Yield checklist, item and answer, empty where there is none."""
    for one in checklists_of(data):
        for item in one.items:
            yield one.title, item.id, _answered(data, item)
