"""A study out of what either toolkit has written: configurations, tables of clips, answers, or all of them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from beholder.errors import Problem, UserError
from beholder.importing.contract import ImportedSession, ImportedStimulus, ImportedStudy
from beholder.importing.p910.clip_addresses import REFERENCE, Clips
from beholder.importing.p910.platform_claims import Claims, read_claims, read_verdicts
from beholder.importing.p910.toolkit_batch import ToolkitBatch
from beholder.importing.p910.toolkit_sessions import QUALITY, RatingForm, ToolkitSessionReader
from beholder.importing.p910.toolkit_settings import ToolkitSettings, bonus_keys, read_settings
from beholder.importing.p910.toolkit_tables import InputTable, TableKind, find_tables
from beholder.importing.source_folder import SourceFolder, number_in
from beholder.importing.study_folder import content_rule, slug
from beholder.methods.likert.items import ITEM_SETS
from beholder.types import Medium


@dataclass(frozen=True)
class ToolkitKind:
    """What differs between the two toolkits."""

    name: str
    medium: Medium
    suffix: str
    title: str
    question: str
    """What is asked about one clip: the page of the toolkit has the words, and no table of it."""


_ASPECTS: Mapping[str, str] = {"sig": "signal", "bak": "background", "ovrl": "overall"}
"""The questions of P.835 by what the toolkit calls them."""
_WORDS: Mapping[str, str] = {
    "noise": "How disturbing is the background noise?", "col": "How coloured does the voice sound?",
    "disc": "How discontinuous is the speech?", "loud": "How well chosen is the loudness?",
    "reverb": "How reverberant is the speech?", "sig": "How good is the voice?", "ovrl": "How good is the whole?",
    "bak": "How good is the background?",
}  # fmt: skip
_COMPARED = {
    "dcr": "How do you find the second one, compared with the reference?",
    "ccr": "How is the second one, compared with the first?",
}


def read_study(source: SourceFolder, kind: ToolkitKind) -> list[ImportedStudy]:
    """Return the one study of a source; raise UserError where it names no clip."""
    tables = find_tables(source)
    settings = read_settings(source)
    clips = Clips()
    _read_inputs(source, tables, clips)
    batch = ToolkitBatch(source, [*tables.get("page", ()), *tables.get("batch", ())], clips)
    batch.look()
    claims = Claims(read_claims(source, tables.get("platform", ())), batch.visits)
    verdicts = read_verdicts(source, tables.get("verdicts", ()))
    _settle_outputs(source, tables)
    if not clips.rated:
        found = "configurations alone" if settings.is_read and not tables else "no clip that is rated"
        fix = "Put the tables of clips (pvs, rating_clips), the published batch or the answers beside it."
        raise UserError(Problem(source.address, f"names {found}", "a table with the addresses of clips", fix))
    form = _form(batch, settings, kind, source)
    _leave_out_impossible(source, clips, form)
    stimuli = clips.named(source, settings.pattern, settings.tolerance, kind.suffix)
    if form.method in ("dcr", "ccr", "acr-hr"):
        stimuli = _with_references(source, stimuli, clips, form.method)
    keys = _keys(source, batch, settings, kind, form, stimuli, claims)
    people = {claim.worker if (claim := claims.of(one.session)) else one.browser for one in batch.visits}
    keys["design"]["participants"] = len(people) or 20
    if not people:
        source.provenance.assume("design.participants", 20, "there are no answers that would tell how many took part")
    items = _item_options(batch)
    reader = ToolkitSessionReader(batch, form, claims, verdicts, settings.tolerance, settings.is_hidden, items)
    sessions: Iterable[ImportedSession] = reader.sessions() if batch.names else ()
    return [ImportedStudy(keys, stimuli, sessions)]


# Tables of clips


def _read_inputs(source: SourceFolder, tables: Mapping[TableKind, list[str]], clips: Clips) -> None:
    for kind, role in (("rating", "test"), ("gold", "gold"), ("trapping", "trap"), ("training", "training")):
        for name in tables.get(kind, ()):  # type: ignore[call-overload]
            _read_clips(source, name, role, clips)
    for name in tables.get("sessions", ()):
        _read_sessions(source, name, clips)
    for kind, why in (
        ("matrices", "our check brightness draws pictures of its own"),
        ("plates", "our check colour draws plates of its own; own ones go into qualification.colour.images"),
    ):
        for name in tables.get(kind, ()):  # type: ignore[call-overload]
            table = source.table(name)
            for column in table.columns:
                table.unsupported_column(column, why)
            for row in table.rows():
                row.unsupported(why)


_PARTS: Mapping[str, tuple[tuple[str, ...], str]] = {
    "url": (
        ("pvs", "rating_clips", "gold_clips_pvs", "gold_clips", "gold_url", "trapping_pvs", "trapping_clips",
         "training_pvs", "training_clips"), "stimulus",
    ),
    "reference": (
        ("src", "references", "gold_clips_src", "trapping_src", "training_src", "training_references"), "reference",
    ),
    "answer": (("gold_clips_ans", "trapping_ans"), "expected answer"),
}  # fmt: skip


def _read_clips(source: SourceFolder, name: str, role: str, clips: Clips) -> None:
    table = InputTable(source, name, _PARTS)
    items = [one.removesuffix("_ans") for one in table.table.columns if one.endswith("_ans") and one not in _ANSWERS]
    for item in items:
        table.table.column(f"{item}_ans", f"expected answer of {item}")
        if table.table.has(f"{item}_msg"):
            table.table.column(f"{item}_msg", "message after another answer")
        if table.table.has(f"{item}_var"):
            table.table.unsupported_column(f"{item}_var", "the tolerance is that of the configuration")
    for column in table.table.columns:
        if column.startswith("#"):
            table.table.column(column, "nothing: the column has no name")
    seen: set[str] = set()
    for row in table.table.rows():
        url = table.cell(row, "url")
        if not url:
            row.broken("names no clip", "left out")
            continue
        if url in seen:
            row.broken("names a clip that an earlier row has", "the first row counts")
            continue
        seen.add(url)
        row.mapped("stimulus")
        clips.add(url, role, table.cell(row, "reference"))  # type: ignore[arg-type]
        if (value := number_in(table.cell(row, "answer"))) is not None:
            clips.expect(url, value)
        elif role in ("gold", "trap") and not items:
            row.broken("has no right answer that is a number", "nobody is judged by it")
        for item in items:
            if (value := number_in(row[f"{item}_ans"])) is not None:
                clips.expect(url, value, _ASPECTS.get(item, item))
            if (words := row[f"{item}_msg"]) and words.lower() != "nan":
                clips.messages.setdefault(url, words)


_ANSWERS = ("gold_clips_ans", "trapping_ans")


def _read_sessions(source: SourceFolder, name: str, clips: Clips) -> None:
    """Read the sessions that were put online: what they show, not in which order they were dealt."""
    table = source.table(name)
    why = "who gets which clips is dealt out anew, evenly"
    for column in table.columns:
        table.column(column, "stimuli and their right answers")
    is_told = False
    for row in table.rows():
        row.mapped("stimuli")
        is_told = True
        for place in range(len(table.columns)):
            plain, compared = row[f"q{place}"], row[f"q{place}_p"]
            clips.add(plain or compared, "test", row[f"q{place}_r"])
            if plain:
                clips.add(row[f"q{place}_r"])
        for role, prefixes in (("trap", ("tp_clip", "tp")), ("gold", ("gold_clip", "gold_clips"))):
            url = next((row[one] for one in prefixes if row[one]), "")
            value = number_in(row[f"{prefixes[0].partition('_')[0]}_ans"] or row[f"{prefixes[1]}_ans"])
            clips.add(url, role, row[f"{prefixes[0].partition('_')[0]}_ref"])  # type: ignore[arg-type]
            if url and value is not None:
                clips.expect(url, value)
    if is_told:
        source.provenance.assume("the plan", "ours", why)


def _settle_outputs(source: SourceFolder, tables: Mapping[TableKind, list[str]]) -> None:
    for name in tables.get("outputs", ()):
        source.settle(
            name, "unsupported", "made of the answers by the parser of the toolkit; ours are made of them anew"
        )


# The method, its questions and its scale


def _form(batch: ToolkitBatch, settings: ToolkitSettings, kind: ToolkitKind, source: SourceFolder) -> RatingForm:
    """Return how votes become answers, by the columns that are there."""
    items = batch.items
    if items:
        if kind.medium == "audio" and set(items) <= set(_ASPECTS):
            return RatingForm("p835", {item: _ASPECTS[item] for item in items}, 1, 5)
        high = 5 if batch.highest <= 5 else 9
        return RatingForm("likert", {item: slug(item) for item in items}, 1, high, is_survey=True)
    pairs, is_compared = batch.pairs, batch.lowest < 0 or batch.has_order
    has_references = bool(batch.clips.references)
    if pairs == "hidden":
        method = "acr-hr"
    elif pairs == "compared" or (has_references and batch.names and is_compared):
        method = "ccr" if is_compared or settings.scale in (4, 7) else "dcr"
    elif has_references and not batch.names:
        method = "ccr" if settings.scale in (4, 7) else "acr-hr"
        why = "clips have references, and without answers nobody knows how they were shown: acr-hr, dcr or ccr"
        source.provenance.assume("method", method, why)
    else:
        method = "acr"
    if method == "ccr":
        if settings.scale == 4:
            why = "the scale of four steps of the toolkit has the other sign, and is held on seven points here"
            source.provenance.assume("questions.scale", "ccr7", why)
        return RatingForm(method, {"": QUALITY}, -3, 3, is_turned=settings.scale == 4)
    scale = settings.scale if settings.scale in (5, 9) else 9 if batch.highest > 5 else 5
    if settings.scale is None:
        why = f"the highest vote is {batch.highest:g}" if batch.names else "no configuration says which scale it is"
        source.provenance.assume("questions.scale", f"{scale} points", why)
    return RatingForm(method, {"": QUALITY}, 1, float(scale))


def _leave_out_impossible(source: SourceFolder, clips: Clips, form: RatingForm) -> None:
    """Leave out right answers that nobody can give on the scale, and tell of those in its middle."""
    middle = (form.low + form.high) / 2
    for url, answers in clips.expected.items():
        name = url.partition("?")[0].rpartition("/")[2]
        for question, value in list(answers.items()):
            if not form.low <= value <= form.high or value != int(value):
                words = (
                    f"{value:g}, which is not on the scale from {form.low:g} to {form.high:g}: nobody is judged by it"
                )
                source.provenance.warn(f"The right answer to {name} is {words}.")
                del answers[question]
            elif clips.roles.get(url) == "gold" and form.low >= 0 and abs(value - middle) <= 1 and form.high > 5:
                words = f"{value:g}, in the middle of the scale: nearly everybody is right"
                source.provenance.warn(f"The right answer to {name} is {words}.")


def _questions(
    form: RatingForm, kind: ToolkitKind, source: SourceFolder
) -> tuple[list[dict[str, Any]], dict[str, Any]]:
    """Return the questions of the study, and the options of its method."""
    if form.method == "p835":
        return [], {}
    if form.is_survey:
        ids = list(form.questions.values())
        for name in ("avatar-a", "avatar-b"):
            items = ITEM_SETS[name]
            if {one.id for one in items.items} <= set(ids) <= {one.id for one in (*items.items, *items.extras)}:
                extra = [one.id for one in items.extras if one.id in ids]
                why = "the page of the toolkit has the words, and no table of it; bring them as options.wording"
                source.provenance.assume("the words of the statements", "ours", why)
                return [], {"items": name, **({"extra": extra} if extra else {})}
        why = "the page of the toolkit has the words, and no table of it"
        source.provenance.assume("questions", "words of ours", why)
        scale = {"min": 1, "max": int(form.high), "look": "radio"}
        texts = {slug(item): words for item, words in _WORDS.items()}
        return [{"id": one, "text": texts.get(one, one), "scale": scale} for one in ids], {}
    text = _COMPARED.get(form.method, kind.question)
    source.provenance.assume("questions", text, "the page of the toolkit has the words, and no table of it")
    name = {"dcr": "dcr", "ccr": "ccr"}.get(form.method, "acr")
    points = 7 if form.method == "ccr" else int(form.high)
    return [{"id": QUALITY, "text": text, "scale": f"{name}{points}"}], {}


def _with_references(
    source: SourceFolder, stimuli: list[ImportedStimulus], clips: Clips, method: str
) -> list[ImportedStimulus]:
    """Return the stimuli of contents with a reference; others cannot be compared, and that is told."""
    contents = {one.content for one in stimuli if one.role == REFERENCE}
    left = [one for one in stimuli if one.content not in contents and (method != "acr-hr" or one.role == "test")]
    for one in left:
        source.provenance.warn(f"{one.named} has no reference, and is left out: everything is shown with one here.")
    gone = {one.id for one in left}
    for url in [url for url, id in clips.ids.items() if id in gone]:
        del clips.ids[url]
    return [one for one in stimuli if one not in left]


# The keys of the study


def _keys(
    source: SourceFolder, batch: ToolkitBatch, settings: ToolkitSettings, kind: ToolkitKind, form: RatingForm,
    stimuli: list[ImportedStimulus], claims: Claims,
) -> dict[str, Any]:  # fmt: skip
    questions, options = _questions(form, kind, source)
    rated = [one for one in stimuli if one.role == "test"]
    conditions: dict[str, Any] = {one.condition: one.condition for one in rated}
    if any(one.role == REFERENCE for one in stimuli):
        conditions = {REFERENCE: {"name": REFERENCE, "role": REFERENCE}, **conditions}
    trials = max(1, min(settings.trials or batch.trials or 10, len(rated)))
    known = {role: [one for one in stimuli if one.role == role and one.cells] for role in ("trap", "gold")}
    checks: dict[str, Any] = {
        role: {"per_session": count}
        for role, count in (("trap", settings.traps), ("gold", settings.golds))
        if known[role] and count
    }
    qualification = dict(settings.qualification)
    if batch.has_plates:
        qualification["colour"] = True
    if batch.has_matrices:
        qualification["brightness"] = True
    clean = dict(settings.clean)
    if "trap" in checks or "gold" in checks:
        clean = {"preset": "p910", **clean}
    if "trap" not in checks:
        clean.pop("accept", None)
    use = clean.get("use", {})
    if form.method in ("ccr", "dcr") and "ratio" in use:
        del use["ratio"]
    if bonus := dict(bonus_keys(settings)):
        clean["bonus"] = bonus
    allowed = settings.sessions or _most_sessions(batch)
    sessions = max(1, min(allowed, len(rated) // trials))
    if sessions < allowed:
        why = f"{allowed} were allowed, and here nobody meets the same clip in two sessions"
        source.provenance.assume("design.sessions_per_participant", sessions, why)
        checks["quota"] = {"sessions": allowed}
    title = batch.title or claims.title or kind.title
    recruit = _recruit(source, settings, claims.rewards or batch.reward)
    keys: dict[str, Any] = {
        "name": slug(source.root.name if not source.given else source.given.rpartition(".")[0], kind.name),
        "title": title,
        "method": form.method,
        "options": options,
        "conditions": list(conditions.values()),
        "questions": questions,
        "playback": {"watch": "whole", **settings.playback, **({"fullscreen": True} if kind.medium == "video" else {})},
        "design": {
            "participants": 20, "trials": trials,
            **({"sessions_per_participant": sessions} if sessions > 1 else {}),
            **content_rule(stimuli, trials), "seed": 1,
        },
        "before": _items(batch),
        "qualification": qualification,
        "checks": checks,
        "clean": {key: value for key, value in clean.items() if value not in ({}, [])},
        "recruit": recruit,
    }  # fmt: skip
    if form.is_survey:
        keys["playback"]["loop"] = "after-first"
    return {name: value for name, value in keys.items() if value not in ({}, [])}


def _most_sessions(batch: ToolkitBatch) -> int:
    counts: dict[str, int] = {}
    for one in batch.visits:
        counts[one.browser] = counts.get(one.browser, 0) + 1
    return max(1, min(max(counts.values(), default=1), 50))


def _recruit(source: SourceFolder, settings: ToolkitSettings, paid: str) -> dict[str, Any]:
    """Return a draft for Prolific, as Mechanical Turk has closed; nothing where nothing is known of a payment."""
    amount = number_in(paid.lstrip("$")) if paid else None
    reward = settings.recruit.get("reward") or (f"{amount:.2f} USD" if amount and amount >= 0.01 else "")
    if not reward:
        return {}
    source.provenance.assume("recruit.mode", "prolific", "Mechanical Turk has closed; this is a draft")
    return {"mode": "prolific", "reward": reward}


_TEXTS: Mapping[str, str] = {
    "gender": "What is your gender?", "working_area": "Do you work on quality of media?",
    "video_test": "When did you last take part in a test of videos?",
    "audio_test": "When did you last take part in a listening test?", "device": "Which device do you use?",
    "hearing": "Is your hearing normal?", "mother_tongue": "What is your first language?",
    "environment": "Where are you?", "ld": "Which loudspeakers or headphones do you use?",
}  # fmt: skip


def _items(batch: ToolkitBatch) -> list[dict[str, Any]]:
    """Return the questions about the person as a questionnaire: those that were answered, with these answers."""
    items: list[dict[str, Any]] = []
    for name, answers in sorted(batch.options.items()):
        if not answers:
            continue
        one: dict[str, Any] = {"id": slug(name), "text": _TEXTS.get(name, name), "required": False}
        if 1 < len(answers) <= 12:
            items.append({**one, "type": "single", "options": sorted(answers)})
        else:
            items.append({**one, "type": "text"})
    if items:
        why = "the page of the toolkit has the words, and no table of it; options are what was answered"
        batch.source.provenance.assume("before", "words of ours", why)
    return items


def _item_options(batch: ToolkitBatch) -> dict[str, dict[str, str]]:
    return {name: {answer: answer for answer in answers} for name, answers in batch.options.items() if answers}
