"""Sentences of the methods text on participants, apparatus and quality control."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from statistics import mean, median, stdev
from typing import Any

import pandas as pd

from beholder.checks.page_registry import page_checks
from beholder.checks.registry import rules_over_ratings
from beholder.formats import FEW, count, date, join_names, number, plural, typical
from beholder.reporting.material import Material
from beholder.reporting.methods_text import Sentence
from beholder.study.questionnaire import Ask
from beholder.study.recruitment import money

_AGE = re.compile(r"\bage\b|\bold\b|\bborn\b", re.IGNORECASE)
_GENDER = re.compile(r"\bgender\b|\bsex\b", re.IGNORECASE)
_STEPS = {"agreed": "agreed to take part", "qualified": "qualified", "rated": "began to rate",
          "finished": "finished"}  # fmt: skip


def participant_sentences(material: Material) -> list[Sentence]:
    """Return the sentences on the participants."""
    numbers = material.account["counts"]
    one, many = ("robot", "robots") if material.is_simulated else ("person", "people")
    came = count(numbers["participants"], one, many)
    sentences = [Sentence(f"{came} {_recruitment(material)}{_dates(material)}"), *_flow(material)]
    sentences += [*_excluded_sessions(material), *_excluded_ratings(material)]
    used = count(numbers["used_ratings"], "rating")
    people = count(numbers["used_participants"], *(("robot", "robots") if material.is_simulated else ("participant",)))
    sentences.append(Sentence(f"{people} with {used} {plural(numbers['used_participants'], 'is', 'are')} analysed"))
    sentences += _duration(material)
    if material.is_simulated:
        return sentences
    sentences += _demographics(material)
    return [*sentences, *_payment(material), Sentence("[Consent and ethics approval]")]


def _recruitment(material: Material) -> str:
    if material.is_simulated:
        return "took the place of participants"
    recruit = material.study.recruit
    return recruit.source.methods_words(recruit)


def _dates(material: Material) -> str:
    times = pd.to_datetime(material.results.ratings["answered_at"], utc=True, format="ISO8601").dropna()
    if times.empty:
        return ""
    first, last = date(times.min()), date(times.max())
    return f" on {first}" if first == last else f" from {first} to {last}"


def _flow(material: Material) -> list[Sentence]:
    """Return how many participants reached each step."""
    steps: Sequence[Mapping[str, Any]] = material.account.get("flow") or ()
    counts = [f"{step['people']:,} {_STEPS[step['step']]}" for step in steps if step["step"] in _STEPS]
    if not counts:
        finished = material.account["counts"]["completed_participants"]
        return [Sentence(f"Of these, {finished:,} finished")]
    return [Sentence(f"Of these, {join_names(counts)}")]


def _excluded_sessions(material: Material) -> list[Sentence]:
    """Return how many sessions are not used, with the reasons."""
    numbers = material.account["counts"]
    lost = numbers["sessions"] - numbers["used_sessions"]
    if not lost:
        return [Sentence("No session was left out")]
    costly = [one for one in material.account["lost"] if one["costs"]]
    reasons = "; ".join(f"{_lower(one['words'])} ({one['sessions']:,})" for one in costly)
    whole = f"{count(lost, 'session was', 'sessions were')} left out"
    several = sum(one["sessions"] for one in costly) > lost
    return [Sentence(f"{whole}: {reasons}{' (some for several reasons)' if several else ''}" if reasons else whole)]


def _excluded_ratings(material: Material) -> list[Sentence]:
    """Return how many ratings of used sessions are not used, with the reasons."""
    ratings = material.results.ratings
    kept = ratings[ratings["session"].isin(set(ratings.loc[ratings["use"], "session"])) & ~ratings["use"]]
    if kept.empty:
        return []
    why = [_lower(one["words"]) for one in material.account["lost"] if one["ratings"] and not one["costs"]]
    reasons = f" ({join_names(why)})" if why else ""
    left = count(len(kept), "rating was", "ratings were")
    return [Sentence(f"Of the sessions that are used, {left} left out singly{reasons}")]


def _lower(words: str) -> str:
    """Return words as they stand within a sentence, and within a list with semicolons."""
    return f"{words[0].lower()}{words[1:]}".replace("; ", ", ")


def _duration(material: Material) -> list[Sentence]:
    took = _minutes(material)
    if not took or material.is_simulated:
        return []
    who = "A session" if len(took) > FEW else plural(len(took), "The session", "Sessions")
    return [Sentence(f"{who} took {typical(took, 1, 'minutes')}")]


def _minutes(material: Material) -> list[float]:
    sessions = material.clean("sessions")
    if sessions.empty or "minutes" not in sessions:
        return []
    took = pd.to_numeric(sessions.loc[sessions["use"] == "true", "minutes"], errors="coerce").dropna()
    return [float(minutes) for minutes in took]


def _demographics(material: Material) -> list[Sentence]:
    """Return age and gender of the used participants, if the questionnaires ask for them."""
    table, asks = material.clean("participants"), (*material.study.before, *material.study.after)
    used = table[table["use"] == "true"] if "use" in table else table
    known = [ask for ask in asks if f"answer_{ask.id}" in used]
    age = next((ask for ask in known if ask.kind.is_number and _is_about(ask, _AGE)), None)
    gender = next((ask for ask in known if ask.kind.is_choice and _is_about(ask, _GENDER)), None)
    ages = pd.to_numeric(used[f"answer_{age.id}"], errors="coerce").dropna().tolist() if age else []
    genders = Counter(cell for cell in used[f"answer_{gender.id}"] if cell) if gender else Counter()
    sentences = []
    if ages:
        spread = f", SD {number(stdev(ages), 1)}" if len(ages) > 1 else ""
        summary = f"{number(mean(ages), 1)} years{spread}, {min(ages):g} to {max(ages):g}, n = {len(ages):,}"
        sentences.append(Sentence(f"Mean age {summary}"))
    if genders:
        sentences.append(Sentence(f"Gender: {join_names([f'{name} {n:,}' for name, n in genders.most_common()])}"))
    blanks = [*([] if ages else ["age"]), *([] if genders else ["gender"]), "experience"]
    return [*sentences, Sentence(f"[{join_names(blanks).capitalize()} of participants, if known]")]


def _is_about(ask: Ask, topic: re.Pattern[str]) -> bool:
    return bool(topic.search(ask.id.replace("_", " ").replace("-", " ")) or topic.search(ask.title))


def _payment(material: Material) -> list[Sentence]:
    bonus = material.study.clean.bonus
    sentences = [_reward(material)]
    if bonus is not None and bonus.quantity is not None:
        enough, each = count(bonus.quantity.sessions, "accepted session"), bonus.quantity.each
        sentences.append(Sentence(f"From {enough} on there was a bonus of {each} for each of them"))
    if bonus is not None and bonus.quality is not None:
        best, each = f"The {bonus.quality.best:g} % who agreed best with the others", bonus.quality.each
        sentences.append(Sentence(f"{best} had a bonus of {each} for each accepted session"))
    return sentences


def _reward(material: Material) -> Sentence:
    """Return the payment of a session, and per hour at the median duration."""
    reward, minutes = material.study.recruit.reward, _minutes(material)
    took = median(minutes) if minutes else None
    if reward is None:
        return Sentence("[Payment of a participant, and what that is in an hour]")
    earned = money(reward)
    hourly = f", {earned._replace(minor=round(earned.minor * 60 / took))} an hour at the median time" if took else ""
    return Sentence(f"A session earned {earned}{hourly}")


# Apparatus and quality control


_MAX_BROWSERS = 4
"""Browsers that are listed; the rest is added up."""


def apparatus_sentences(material: Material) -> list[Sentence]:
    """Return the sentences on devices and on the checks before the first rating."""
    if material.is_simulated:
        return [Sentence("Robots answered the server directly, without a device")]
    sentences = [Sentence("Participants used their own devices and a web browser"), *_devices(material)]
    funnel = material.account.get("qualification")
    checks = [check for check in funnel["checks"] if check["check"] != "training"] if funnel else []
    groups = {
        words: [_check_words(material, check) for check in checks if (check["action"] == "gate") is is_gate]
        for words, is_gate in (("Before rating they had to pass", True), ("Also looked at", False))
    }
    sentences += [Sentence(f"{words}: {join_names(names)}") for words, names in groups.items() if names]
    if not checks:
        sentences.append(Sentence("Devices, eyes, ears and surroundings were not checked"))
    if funnel and any(check["check"] == "training" for check in funnel["checks"]):
        sentences.append(Sentence("Practice trials, which are not analysed, came first"))
    return [*sentences, Sentence("[Viewing or listening conditions that were asked for]")]


def _screen_words(widths: Sequence[float], heights: Sequence[float]) -> str:
    """Return the screens of one to three sessions, or the median screen of more."""
    if len(widths) > FEW:
        return f"The median screen had {median(widths):.0f} by {median(heights):.0f} device pixels"
    screens = [f"{width:.0f} by {height:.0f}" for width, height in zip(widths, heights, strict=False)]
    return f"{plural(len(screens), 'The screen', 'The screens')} had {join_names(screens)} device pixels"


def _devices(material: Material) -> list[Sentence]:
    table = material.clean("devices")
    if table.empty:
        return []
    used = table[table["use"] == "true"]
    kinds = Counter(kind for kind in used["kind"] if kind)
    browsers = Counter(name for name in used["browser"] if name)
    heights = pd.to_numeric(used["screen_height"], errors="coerce").dropna().tolist()
    widths = pd.to_numeric(used["screen_width"], errors="coerce").dropna().tolist()
    sentences = []
    is_apart = material.study.stage == "separate"  # then these are the devices on which people answered
    if kinds:
        which = " on which they answered" if is_apart else ""
        sentences.append(Sentence(f"Kinds of device{which}, by session: {_counts(kinds)}"))
    if widths and heights and not is_apart:
        sentences.append(Sentence(_screen_words(widths, heights)))
    if browsers:
        sentences.append(Sentence(f"Browsers: {_counts(browsers)}"))
    return sentences


def _counts(counter: Counter[str]) -> str:
    shown = [f"{name} {n:,}" for name, n in counter.most_common(_MAX_BROWSERS)]
    rest = sum(counter.values()) - sum(n for _, n in counter.most_common(_MAX_BROWSERS))
    return join_names([*shown, *([f"others {rest:,}"] if rest else [])])


def _check_words(material: Material, check: Mapping[str, Any]) -> str:
    """Return a check with its requirement and the number of participants turned away."""
    wants = next((one.requirement() for one in page_checks(material.study) if one.name == check["check"]), "")
    title = _lowered(check["title"])
    away = f"{check['turned_away']:,} turned away" if check["turned_away"] else ""
    notes = ", ".join(one for one in (wants, away) if one)
    return f"{title} ({notes})" if notes else title


def quality_control_sentences(material: Material) -> list[Sentence]:
    """Return the rules over sessions with their thresholds and how many sessions failed."""
    rules: Sequence[Mapping[str, Any]] = material.account.get("trust") or ()
    sentences = [
        Sentence(f"{rule['title']}: {_lowered(rule['words'].rstrip('.'))} ({_failed_words(rule)})")
        for rule in rules
        if rule["action"] != "record"
    ]
    judged = [Sentence("Sessions were judged by rules set in the study"), *sentences] if sentences else []
    return [
        *(judged or [Sentence("There were no rules over what participants did while they rated")]),
        *_rules_over_ratings(rules),
    ]


def _rules_over_ratings(rules: Sequence[Mapping[str, Any]]) -> list[Sentence]:
    """Return which rules depend on the ratings themselves, and whether they left anybody out."""
    own = [rule for rule in rules if rule["check"] in rules_over_ratings() and rule["met"]]
    costly = [rule["title"] for rule in own if rule["action"] != "record"]
    sentences = [
        Sentence(f"{rule['title']} was recorded and left nobody out ({_failed_words(rule)})")
        for rule in own
        if rule["action"] == "record"
    ]
    if costly:
        verb = plural(len(costly), "depends", "depend")
        without = f"scores without {plural(len(costly), 'it', 'them')} are reported too"
        sentences.append(Sentence(f"{join_names(costly)} {verb} on the ratings of the stimuli under test; {without}"))
    return sentences


def _failed_words(rule: Mapping[str, Any]) -> str:
    return f"{rule['failed']:,} of {rule['met']:,} sessions failed"


def _lowered(text: str) -> str:
    return text[:1].lower() + text[1:]
