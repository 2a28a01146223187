"""How the ratings came together: looks at results on the way, what changed the size, and contrasts named in time."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from beholder.cleaning.collection import ChainShare, Collection, Look, SizeChange
from beholder.formats import count, date, join_names, percent_half_up, plural, precise_percent
from beholder.reporting.html import Markup, render, table, tag
from beholder.reporting.material import Material
from beholder.reporting.methods_text import Sentence
from beholder.reporting.section import Section
from beholder.reporting.sheets import TextTable
from beholder.stats.sequential import ALPHA, OFF_PLAN

_TIMES = {1: "once", 2: "twice"}


def collection_of(material: Material) -> Collection | None:
    """Return how people's ratings came together; None of robots."""
    noted = material.results.notes.get("collection")
    return None if noted is None else Collection.read(noted)


def look_sentences(material: Material) -> list[Sentence]:
    """Return the sentences on looks, on the size of the study, and on what intervals and p-values make of both."""
    collected = collection_of(material)
    if collected is None:
        return _planned_looks(material)
    people = int(material.account["counts"]["used_participants"])
    return [
        *_interim(collected, people),
        *_looks(collected),
        *_unblindings(collected),
        *_size(collected, people),
        *_correction(material, collected),
    ]


def _interim(collected: Collection, people: int) -> list[Sentence]:
    if not collected.is_open:
        return []
    planned = count(collected.participants, "planned participant")
    return [Sentence(f"These are interim results, of {people:,} of {planned}: others may still come")]


def _looks(collected: Collection) -> list[Sentence]:
    """Return how often results were looked at before the last ratings came."""
    if not collected.looks:
        return [Sentence("[How often results were looked at before: this could not be recorded]")]
    earlier = distinct_looks(collected.earlier_looks)
    if not earlier:
        when = "for the first time now" if collected.is_open else "only after the last ratings had come"
        return [Sentence(f"Results were looked at {when}")]
    times = _TIMES.get(len(earlier), f"{len(earlier)} times")
    numbers = join_names([f"{look.participants:,}" for look in earlier])
    return [Sentence(f"Results were looked at {times} while ratings were still coming, with {numbers} participants")]


def _unblindings(collected: Collection) -> list[Sentence]:
    """Return who was shown the names of conditions where they had been code names, and when."""
    return [
        Sentence(f"{one.by} unblinded the conditions on {_date_and_time(one.at)} UTC ({one.reason.rstrip('.')})")
        for one in collected.unblindings
    ]


def _date_and_time(at: str) -> str:
    time = datetime.fromisoformat(at)
    return f"{date(time)} at {time:%H:%M}"


def distinct_looks(looks: Sequence[Look]) -> list[Look]:
    """Return the first look at each number of finished lists: other rules of cleaning make no new people."""
    return list({look.finished: look for look in reversed(looks)}.values())[::-1]


def _size(collected: Collection, people: int) -> list[Sentence]:
    """Return what changed the number of people, and whether results were known by then."""
    after = collected.changes_after_look
    sentences = [Sentence(_change_words(change, is_known=change in after)) for change in collected.changes]
    planned = count(collected.participants, "planned participant")
    if collected.ended == "stopped":
        known = "after" if collected.is_stopped_after_look else "before"
        when = date(datetime.fromisoformat(collected.ended_at))
        sentences.append(
            Sentence(
                f"Recruiting was stopped on {when}, with {people:,} of {planned} analysed, {known} results were "
                "looked at"
            )
        )
    elif collected.ended == "date":
        sentences.append(Sentence(f"Recruiting ended at its date, with {people:,} of {planned} analysed"))
    return sentences


def _change_words(change: SizeChange, *, is_known: bool) -> str:
    """Return `10 lists were added on 17 November 2026 (more participants), after results were looked at`."""
    lists = count(abs(change.lists), "list was", "lists were")
    done = "added" if change.lists > 0 else "given up"
    when, known = date(datetime.fromisoformat(change.at)), "after" if is_known else "before"
    return f"{lists} {done} on {when} ({change.why}), {known} results were looked at"


def _correction(material: Material, collected: Collection) -> list[Sentence]:
    """Return for which looks intervals and p-values hold."""
    look = material.results.notes.get("look")
    if look is not None and look["kind"] == "anytime":
        holds = "Intervals and p-values of means and differences hold whenever one looks and stops: they are those of "
        others = "" if collected.is_open else "; those of other models are for a fixed number of people"
        return [Sentence(f"{holds}an asymptotic confidence sequence over participants{others}", ("waudbysmith2024",))]
    stayed = "The number of participants was not changed by that, and stayed as set before the first answer"
    if look is not None and look["kind"] == "fixed":
        own, others = (precise_percent(ALPHA * share) for share in (1 - OFF_PLAN, OFF_PLAN))
        shared = f"of an error rate of {precise_percent(ALPHA)}, {own} are for results at that number and {others} for"
        level = f"intervals of means and differences are those of {precise_percent(look['level'])}"
        return [Sentence(stayed), Sentence(f"As no looks were planned, {shared} those before it: {level}")]
    if look is not None:
        return _planned_looks(material)
    if not collected.looks or not collected.earlier_looks:
        return []
    return [Sentence(stayed)]


def _planned_looks(material: Material) -> list[Sentence]:
    """Return the plan of looks, when the study was to stop, and how far it went."""
    look = material.results.notes.get("look")
    if look is None or look["kind"] != "planned":
        return []
    planned = join_names([f"{number:,}" for number in material.study.design.looks])
    holds = "their intervals and p-values hold for all of them together, by the spending function of O'Brien and "
    text = f"Looks were planned at {planned} participants; {holds}Fleming's boundaries"
    sentences = [Sentence(text, ("lan1983", "jennison1989"))]
    if look["rule"]:
        sentences.append(Sentence(f"The study was to stop at a look where {look['rule']}"))
    if look["reason"] == "last":
        return [*sentences, Sentence("It went to its last look")]
    does, people = "It stopped at" if look["stops"] else "These are the results of", look["participants"]
    which = f"look {look['number']} of {look['looks']}"
    return [*sentences, Sentence(f"{does} {which}, with {count(people, 'participant')}")]


def chain_sentences(material: Material) -> list[Sentence]:
    """Return the share of a study in the error rate of its chain, and whose open pairs it asks."""
    noted = (material.account.get("collection") or {}).get("chain")
    if noted is None:
        return []
    chain = ChainShare(**noted)
    pairs = f"It asks only the pairs of conditions that the study {chain.after} left open" if chain.after else ""
    if chain.share == 1:
        own = "; each of the two studies has an error rate of its own"
        return [Sentence(f"{pairs}{own}")] if pairs else []
    share = percent_half_up(chain.share)
    text = f"The study is one of {chain.studies} of the chain {chain.chain}, which have the error rate of one together"
    return [
        Sentence(f"{text}: its share is {share}, by which corrected p-values are divided"),
        *([Sentence(pairs)] if pairs else []),
    ]


# Contrasts


def contrast_sentences(material: Material) -> list[Sentence]:
    """Return the contrasts that the study names, and which of them it named before the first answer."""
    named = material.study.analyse.contrasts
    collected = collection_of(material)
    before = () if collected is None else collected.named
    names = {pair: _contrast_name(pair, material.names) for pair in (*named, *before)}
    sentences = []
    if named:
        listed = join_names([names[pair] for pair in named])
        sentences.append(Sentence(f"The study names {count(len(named), 'contrast')}: {listed}"))
        if collected is None:
            return [*sentences, Sentence("[Whether they were named before the first answer]")]
        early = {frozenset(pair) for pair in before}
        sentences.append(Sentence(_named_words([(names[pair], frozenset(pair) in early) for pair in named])))
    kept = {frozenset(pair) for pair in named}
    dropped = [names[pair] for pair in before if frozenset(pair) not in kept]
    if dropped:
        was = plural(len(dropped), "was", "were")
        sentences.append(Sentence(f"{join_names(dropped)} {was} named before the first answer, and no longer"))
    return sentences


def _contrast_name(pair: tuple[str, str], names: Mapping[str, str]) -> str:
    return " minus ".join(names.get(one, one) for one in pair)


def _named_words(contrasts: Sequence[tuple[str, bool]]) -> str:
    """Return which contrasts were named before the first answer."""
    early, late = ([name for name, is_early in contrasts if is_early is wanted] for wanted in (True, False))
    if not late or not early:
        when = "before" if early else "after"
        all_ = plural(len(contrasts), "It was", "All of them were")
        return f"{all_} named {when} the first answer"
    was = [plural(len(some), "was", "were") for some in (early, late)]
    first = f"{join_names(early)} {was[0]} named before the first answer"
    return f"{first}, {join_names(late)} {was[1]} named after it"


# The section


def looks_section(material: Material) -> Markup | None:
    """Return all looks and changes of the size in their order; None where nothing but the last look happened."""
    collected = collection_of(material)
    if collected is None or not (collected.earlier_looks or collected.changes or collected.may_depend_on_results):
        return None
    words = " ".join(f"{one.text}." for one in look_sentences(material))
    return render([tag("p", words), table("Looks at results, and changes of the size", _event_sheet(collected))])


LOOKS = Section(
    "looks",
    "Looks at results",
    looks_section,
    foot=(
        "Every analysis of people's ratings is recorded. Where the number of people depends on what was seen, a fixed "
        "95 % interval would be too narrow."
    ),
)


def _event_sheet(collected: Collection) -> TextTable:
    """Return a row for each look and each change, in the order of time."""
    events: list[tuple[str, tuple[str, ...]]] = [
        (look.at, (f"Look ({look.command})", f"{look.participants:,}", f"{look.finished:,} of {look.lists:,}"))
        for look in collected.looks
    ]
    for change in collected.changes:
        signed = f"{change.lists:+d}".replace("-", "−")
        events.append((change.at, (change.why.capitalize(), "", f"{signed} lists")))
    if collected.ended == "stopped":
        events.append((collected.ended_at, ("Recruiting was stopped", "", f"{collected.finished:,} finished")))
    rows = [(_minute(at), *cells) for at, cells in sorted(events)]
    return TextTable(("When (UTC)", "What", "Participants", "Lists finished"), rows, names=2)


def _minute(at: str) -> str:
    return datetime.fromisoformat(at).strftime("%Y-%m-%d %H:%M")


def population_words(material: Material) -> list[Any]:
    """Return the first line of a report of people: that they answered, and whether others may still come."""
    collected = collection_of(material)
    if collected is None or not collected.is_open:
        return ["People answered this study."]
    people = int(material.account["counts"]["used_participants"])
    return [
        tag("b", "Interim."),
        f" {people:,} of {count(collected.participants, 'planned participant')} are analysed, and others may still "
        "come. Intervals and p-values hold whenever one looks; tables that have others are left out until the end.",
    ]
