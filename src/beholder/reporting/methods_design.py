"""Sentences of the methods text on the design of a study, and on a table that has none."""

from __future__ import annotations

import pandas as pd

from beholder.analysis.ratings import rating_count
from beholder.formats import count, join_names, number, percent, span
from beholder.methods.contract import Paper
from beholder.methods.time_marks import marks_of
from beholder.reporting.languages import language_sentences
from beholder.reporting.material import Material
from beholder.reporting.methods_text import Sentence
from beholder.reporting.question_results import QuestionResults
from beholder.reporting.questionnaire import answers_words, has_tie
from beholder.reporting.references import SOURCES
from beholder.reporting.relations import relation_sentences
from beholder.reporting.views import view_words, views_sentence
from beholder.study.groups import common_options, varied_keys
from beholder.study.model import Playback

_MOST_QUESTIONS = 5
_PRESENTATIONS = {
    "sequential": "The two were shown one after the other",
    "side-by-side": "The two were shown side by side, at the same time",
    "free": "The two stood behind buttons, in any order and as often as wanted",
    None: "Two texts were shown side by side, everything else one after the other",
}
_WATCHED = ("be played to its end", "be in view for a set time")
"""Whole viewing of what plays, and of what stands still."""
_WATCH = {
    "whole": "A stimulus had to {watched} before it could be rated",
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
        *_between(material),
        *language_sentences(material),
        *_marked(material),
        *_stimuli(material),
        *relation_sentences(material),
        *_trials(material),
        *_playback(material),
    ]


def _method(material: Material) -> list[Sentence]:
    study = material.study
    known = paper_of(material)
    if known is None:
        return [Sentence(f"Stimuli were rated by the method {study.method}")]
    options = common_options(study)
    told = tuple(known.options(options))
    cites = [key for key in (*known.cites, *(key for one in told for key in one.cites)) if key in SOURCES]
    sentences = [Sentence(f"The study used {known.name}", tuple(cites)), Sentence(known.task)]
    sentences += [Sentence(one.sentence) for one in told if one.sentence]
    shown = _PRESENTATIONS.get(options["presentation"]) if "presentation" in options else None
    if (looked := view_words(study)) is not None:
        sentences += [Sentence(text) for text in (looked, views_sentence(material)) if text]
    elif shown is not None:
        gap = options.get("gap")
        is_gapped = options["presentation"] in ("sequential", None) and gap
        sentences.append(Sentence(shown + (f", with {gap:g} s of grey between them" if is_gapped else "")))
    return sentences


def _run(material: Material) -> list[Sentence]:
    """Return the run of the study, if it is not the first."""
    if material.run == 1:
        return []
    return [Sentence(f"This was run {material.run}, with a plan of its own and nobody who took part in another run")]


def _groups(material: Material) -> list[Sentence]:
    """Return the groups of participants and how many of each are analysed."""
    between, groups = material.study.design.between, material.account.get("groups") or ()
    if not groups:
        return []
    split = join_names([f"{factor} ({' or '.join(levels)})" for factor, levels in between.items()])
    used = sorted(one["used"] for one in groups)
    each = f"{used[0]:,}" if used[0] == used[-1] else f"{used[0]:,} to {used[-1]:,}"
    by = f"by every combination of {split}" if len(between) > 1 else f"by {split}"
    text = f"Participants were in {len(groups)} groups, {by}, with {each} of each group analysed"
    return [Sentence(text), Sentence("[What the groups were told and shown]")]


def paper_of(material: Material) -> Paper | None:
    """Return how papers describe the method, if it defines that."""
    from beholder.methods import find

    return getattr(find(material.study.method), "paper", None)


def _questions(material: Material) -> list[Sentence]:
    """Return the wording of the questions with their scales; of many the first ones."""
    parts = list(material.parts)
    shown = parts if len(parts) <= _MOST_QUESTIONS else parts[: _MOST_QUESTIONS - 2]
    texts = [f"{' or '.join(f'“{one.text}”' for one in part.wordings)} ({_answers(part, material)})" for part in shown]
    if len(shown) < len(parts):
        texts.append(f"{len(parts) - len(shown)} more [the wording of all of them]")
    if not texts:
        return []
    intro = "Participants were asked" if len(parts) == 1 else f"Participants were asked {len(parts)} questions:"
    turned = [f"“{one.text}” (as “{part.caption}”)" for part in parts if part.is_turned for one in part.wordings]
    if not turned:
        return [Sentence(f"{intro} {'; '.join(texts)}")]
    return [
        Sentence(f"{intro} {'; '.join(texts)}"),
        Sentence(f"Answers to {join_names(turned)} were reverse-scored before analysis"),
    ]


def _between(material: Material) -> list[Sentence]:
    """Return what was asked between trials, and when."""
    when = {
        "trial": "after every trial",
        "break": "before every break",
        "content": "after the last trial of each content",
    }
    asked: dict[str, list[str]] = {}
    for ask in material.study.during:
        moment = when[ask.every] if isinstance(ask.every, str) else f"after every {count(ask.every, 'trial')}"
        asked.setdefault(moment, []).append(f"“{ask.title}”")
    return [Sentence(f"They were asked {join_names(texts)} {moment}") for moment, texts in asked.items()]


def _marked(material: Material) -> list[Sentence]:
    """Return that people could mark what played, and with which labels."""
    marks = marks_of(material.study)
    if marks is None:
        return []
    labels = f" ({join_names([f'“{label}”' for label in marks.labels])})" if marks.labels else ""
    return [Sentence(f"While a stimulus played they could mark where something was wrong{labels}")]


def _answers(part: QuestionResults, material: Material) -> str:
    """Return the possible answers as participants saw them."""
    if part.kind == "choice":
        return "one of the two, or no difference" if has_tie(part, material) else "one of the two"
    return "A or B" if part.kind == "correct" else answers_words(part, material)


def _stimuli(material: Material) -> list[Sentence]:
    """Return the stimuli and the ratings of each."""
    used, roles = material.used, material.account.get("roles", {})
    if used.empty:
        return [Sentence("No rating could be used")]
    labels = {one.name: one.label or one.name for one in material.study.conditions}
    rated = dict.fromkeys([*used["condition"], *used["other_condition"]])
    ordered = [name for name in [*labels, *rated] if name in rated and name]
    names = [
        labels.get(name, name) + (f" ({roles[name]})" if roles.get(name) in ("reference", "anchor") else "")
        for name in dict.fromkeys(ordered)
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
    sentences = []
    if len(per_session):
        low, high = int(per_session.min()), int(per_session.max())
        sentences.append(
            Sentence(f"A session had {low if low == high else f'{low} to {high}'} trials that are analysed")
        )
    several = material.used.groupby(["session", "position"])["stimulus"].nunique().max() > 1
    drawn = "The order of trials and the places of stimuli on a page were" if several else "The order of trials was"
    seed = f"seed {study.design.seed}{f', run {material.run}' if material.run > 1 else ''}"
    if study.design.active is not None:
        return [*sentences, *_active(material, seed), _blind(material)]
    sentences.append(Sentence(f"{drawn} drawn beforehand and balanced over participants ({seed})"))
    if any(part.is_compared for part in material.parts):
        orders = "equally often in both orders" if study.design.both_orders else "always in the same order"
        sentences.append(Sentence(f"Each pair came {orders}"))
    return [*sentences, _blind(material)]


def _active(material: Material, seed: str) -> list[Sentence]:
    """Return how comparisons were chosen while answers came in."""
    active = material.study.design.active
    assert active is not None
    several = material.used.groupby(["session", "position"])["stimulus"].nunique().max() > 1
    what = "The conditions on a page" if several else "Pairs"
    how = "drawn in proportion to powers of the information that they are expected to give about the strengths of a "
    how += "Bradley-Terry model, after all answers until then"
    if not several:
        how += ", in batches that are spanning trees over all conditions"
    sentences = [
        Sentence(f"{what} were chosen while answers came in: {how} ({seed})", ("mikhailiuk2020",)),
        Sentence(f"A share of {percent(active.uniform)} was drawn without regard to answers"),
        Sentence("The probability of every draw is in the data"),
    ]
    if active.cap is not None:
        sentences.append(Sentence(f"No two conditions were dealt together more than {count(active.cap, 'time')}"))
    if material.study.design.arena is not None:
        sentences.append(Sentence("The study has no planned end: conditions joined and retired while it went on"))
    return sentences


def _blind(material: Material) -> Sentence:
    """Return what participants did not know."""
    study = material.study
    known = paper_of(material)
    is_named = (known is not None and known.names_reference) or study.options.get("reference") in ("shown", "both")
    named = " but for the reference, which was named" if is_named else ""
    return Sentence(f"Participants were blind to conditions{named}: they saw the names of neither conditions nor files")


def _playback(material: Material) -> list[Sentence]:
    playback, varied = material.study.playback, varied_keys(material.study)
    playback = playback.model_copy(
        update={name: field.default for name, field in Playback.model_fields.items() if f"playback.{name}" in varied}
    )
    rules = dict.fromkeys(str(text["watch"]) for text in material.texts)
    is_same = len(rules) == 1 and "playback.watch" not in varied
    sentences = [Sentence(_WATCH[next(iter(rules))].format(watched=_watched(material)))] if is_same else []
    if material.study.stage == "separate":
        where = "Stimuli were shown on a separate device, which each participant coupled with the one that asked"
        sentences += [Sentence(where), *_stage_facts(material)]
    sentences += [Sentence("Stimuli were shown in full screen")] if playback.fullscreen else []
    if playback.size != "fit":
        size = "their own size" if playback.size == "native" else f"{playback.size.rstrip('%')} % of their own size"
        sentences.append(Sentence(f"They were shown at {size}"))
    sentences += [Sentence("They were played without sound")] if playback.sound == "off" else []
    if playback.max_plays is not None:
        sentences.append(Sentence(f"Each could be played {count(playback.max_plays, 'time')}"))
    return [*sentences, *_heard(material, playback)]


def _heard(material: Material, playback: Playback) -> list[Sentence]:
    """Return what was drawn of the sounds, and how parts of them were looped, where people did so."""
    drawn = {True: "A waveform was drawn over the line of time", False: "No waveform was drawn"}
    sentences = [] if playback.waveform is None else [Sentence(drawn[playback.waveform])]
    looped = material.account.get("loops")
    if looped:
        used = f"Participants looped a part on {looped['pages']:,} of {count(looped['of'], 'page')}"
        sentences.append(Sentence(f"{used} (median length {number(looped['median_ms'] / 1000, 1)} s)"))
    return sentences


def _stage_facts(material: Material) -> list[Sentence]:
    """Return on which screens a separate stage showed, and how often it was interrupted."""
    table = material.clean("playback")
    if table.empty:
        return []
    pages = table[table["session"].isin(set(material.used["session"]))].drop_duplicates(["session", "position"])
    values = {name: pd.to_numeric(pages[name], errors="coerce") for name in ("screen_width", "screen_height", "dpr")}
    known = pd.DataFrame(values).assign(session=pages["session"]).dropna().drop_duplicates("session")
    sentences = []
    if len(known):
        width, height = (float((known[name] * known["dpr"]).median()) for name in ("screen_width", "screen_height"))
        sides = f"{width:.0f} by {height:.0f} device pixels, {known['dpr'].median():g} per CSS pixel"
        sentences.append(Sentence(f"The screen of that device had {sides}{' in the median' if len(known) > 1 else ''}"))
    lost = pd.to_numeric(pages["interrupted"], errors="coerce").fillna(0)
    total, again = int(lost.sum()), "What was interrupted on it was shown once more"
    if total:
        share = f"{count(int((lost > 0).sum()), 'page')} of {len(lost):,}"
        sentences.append(Sentence(f"{again}: {count(total, 'time')}, on {share}"))
    return sentences


def _watched(material: Material) -> str:
    """Return what had to be done with a stimulus, as far as the playback tells whether stimuli move."""
    plays = (
        pd.to_numeric(material.used["plays"], errors="coerce") if "plays" in material.used else pd.Series(dtype=float)
    )
    if plays.empty or plays.isna().any() or 0 < (plays > 0).mean() < 1:
        return ", or ".join(_WATCHED) + ","
    return _WATCHED[0 if (plays > 0).all() else 1]


# A table without a study


def table_sentences(material: Material) -> list[Sentence]:
    """Return the sentences on ratings that came in a table: what it says, and what the author has to."""
    used = material.used
    people, conditions, contents = (used[name].nunique() for name in ("participant", "condition", "content"))
    scales = {span(part.scale.min, part.scale.max) for part in material.parts}
    is_compared = all(part.is_compared for part in material.parts)
    if is_compared:
        conditions = len({*used["condition"], *used["other_condition"]} - {""})
    ratings = (
        f"{count(rating_count(used), 'comparison' if is_compared else 'rating')} of {count(conditions, 'condition')}"
    )
    over = f" and {count(contents, 'content')}" if contents > 1 else ""
    on = (
        "" if all(part.kind == "choice" for part in material.parts) else f", on a scale of {join_names(sorted(scales))}"
    )
    own = f"{ratings}{over} by {count(people, 'participant')}{on}"
    missing = "[Who rated, what they were asked, how stimuli were shown, and who was left out]"
    return [Sentence(f"The data are {own}"), Sentence(missing)]
