"""What was planned beside what was done: the preregistration of a study, and every deviation from it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any, NamedTuple

from beholder.cleaning.collection import Collection
from beholder.formats import NONE, count, date, join_names, plural
from beholder.preregistration.changes import PARTS, Part, StudyChange, planned_study, study_changes, text_digests
from beholder.preregistration.registration import Registration
from beholder.reporting.html import Child, Markup, render, table, tag
from beholder.reporting.looks import distinct_looks
from beholder.reporting.material import Material
from beholder.reporting.methods_text import Sentence
from beholder.reporting.section import Section
from beholder.reporting.sheets import TextTable
from beholder.study.model import Study

_DIGITS = 12
"""Of a digest in a sentence."""
_JUDGED_NOW: tuple[Part, ...] = ("exclusions", "hypotheses", "analyses")
"""Parts in which the study counts as it is now, as `clean` and `analyse` go by it."""
_ENDED = {"target": "as many as a run was asked for", "date": "at its date", "stopped": "by hand"}


class Deviation(NamedTuple):
    """One thing that was done otherwise than planned."""

    part: str
    planned: str
    done: str


class Preregistered(NamedTuple):
    """The preregistration of the run that is reported."""

    versions: tuple[Registration, ...]
    reference: Registration
    """The version that everything is held against."""
    first_at: str
    """When the first person took part; empty where nobody has."""
    noted: Mapping[str, Any]
    """What account.json says."""

    @property
    def is_late(self) -> bool:
        """Whether people had taken part when it was recorded."""
        return self.reference.is_late(self.first_at)


def preregistration_of(material: Material) -> Preregistered | None:
    """Return the preregistration of a study; None where there is none."""
    noted = material.account.get("preregistration")
    if noted is None:
        return None
    versions = tuple(map(Registration.read, noted["versions"]))
    reference = next(one for one in versions if one.version == noted["reference"])
    return Preregistered(versions, reference, str(noted["first_at"]), noted)


# Deviations


def deviations(material: Material, registered: Preregistered) -> list[Deviation]:
    """Return everything that was done otherwise than planned, as far as files can tell."""
    planned = planned_study(registered.reference.plan, material.study)
    found = [
        *_dates(registered),
        *_size(material, registered),
        *_looks(material, planned),
        *_keys(material, registered, planned),
        *_by_hand(registered),
        *_contrasts(material, planned),
        *_analyses(material, registered),
        *_other(material, registered, planned),
    ]
    order = ["Dates", *PARTS.values()]
    return sorted(found, key=lambda one: order.index(one.part))


def _dates(registered: Preregistered) -> Iterator[Deviation]:
    if registered.is_late:
        people = registered.reference.people
        came = f"after {count(people, 'person', 'people')} had taken part" if people else "after the first person"
        yield Deviation(
            "Dates", "recorded before the first person", f"recorded on {_day(registered.reference.at)}, {came}"
        )


def _size(material: Material, registered: Preregistered) -> Iterator[Deviation]:
    """Yield that other numbers finished than were planned, but where a planned look or missing ratings say so."""
    collected, plan = Collection.read(material.account["collection"]), registered.reference.plan
    part, lists = PARTS["size"], int(plan["lists"])
    for change in collected.changes:
        more = "added" if change.lists > 0 else "given up"
        yield Deviation(
            part, f"{count(lists, 'session')}", f"{abs(change.lists):,} {more} on {_day(change.at)}: {change.why}"
        )
    look = material.results.notes.get("look") or {}
    is_planned_stop = look.get("kind") == "planned" and bool(look.get("stops"))
    if not collected.is_open and not is_planned_stop and collected.finished < lists:
        how = _ENDED.get(str(collected.ended), "")
        done = f"{collected.finished:,} finished" + (f"; it ended {how}" if how else "")
        yield Deviation(part, f"{count(lists, 'session')}, of {count(int(plan['participants']), 'participant')}", done)


def _looks(material: Material, planned: Study | None) -> Iterator[Deviation]:
    """Yield looks at results that were not planned."""
    collected = Collection.read(material.account["collection"])
    taken = [look.participants for look in distinct_looks(collected.earlier_looks)]
    looks = planned.design.looks if planned is not None else ()
    if len(taken) > max(0, len(looks) - 1):
        wanted = (
            f"looks at {join_names([f'{one:,}' for one in looks])} participants" if looks else "no look before the end"
        )
        done = f"looked at with {join_names([f'{one:,}' for one in taken])} participants before the end"
        yield Deviation(PARTS["size"], wanted, done)


def _keys(material: Material, registered: Preregistered, planned: Study | None) -> Iterator[Deviation]:
    """Yield every key of the study file that was not as planned, for whom."""
    rows: dict[StudyChange, int] = {}
    served = [row for row in registered.noted["served"] if row["sessions"]]
    every = sum(row["sessions"] for row in served)
    for row in served:
        for change in (StudyChange(*one) for one in row["changes"] or ()):
            if change.part not in ("hypotheses", "analyses") and not change.key.startswith("clean"):
                rows[change] = rows.get(change, 0) + row["sessions"]
    if planned is not None:
        for change in study_changes(planned, material.study):
            if change.part in _JUDGED_NOW and change.key != "analyse.contrasts":
                rows.setdefault(change, every)
    for change, sessions in rows.items():
        some = "" if sessions >= every else f" ({sessions:,} of {count(every, 'session')})"
        yield Deviation(PARTS[change.part], f"{change.key}: {change.before}", f"{change.after}{some}")


def _by_hand(registered: Preregistered) -> Iterator[Deviation]:
    for key, words in (("left_out", "left out by hand"), ("taken_in", "taken in by hand, whatever the rules say")):
        if number := int(registered.noted[key]):
            yield Deviation(PARTS["exclusions"], "by the rules alone", f"{count(number, 'session')} {words}")


def _contrasts(material: Material, planned: Study | None) -> Iterator[Deviation]:
    """Yield contrasts that are tested and were not planned, and planned ones that are not."""
    if planned is None:
        return
    before, now = planned.analyse.contrasts, material.study.analyse.contrasts
    names = {pair: " minus ".join(material.names.get(one, one) for one in pair) for pair in (*before, *now)}
    known, kept = ({frozenset(pair) for pair in some} for some in (before, now))
    for pair in now:
        if frozenset(pair) not in known:
            yield Deviation(PARTS["hypotheses"], "not planned", f"{names[pair]} is tested: it is exploratory")
    for pair in before:
        if frozenset(pair) not in kept:
            yield Deviation(PARTS["hypotheses"], names[pair], "no longer named")


def _analyses(material: Material, registered: Preregistered) -> Iterator[Deviation]:
    """Yield tables of analyses that could not be meant, and models that were asked for on the way."""
    known, notes = set(registered.reference.plan["analyses"]), material.results.notes
    for name in notes["analyses"]:
        if name not in known:
            yield Deviation(PARTS["analyses"], "not planned", f"analysis {name} was added: it is exploratory")
    for name in notes.get("models", ()):
        yield Deviation(PARTS["analyses"], "not planned", f"quality by {name} was added: it is exploratory")


def _other(material: Material, registered: Preregistered, planned: Study | None) -> Iterator[Deviation]:
    """Yield other stimuli, texts in files, other plans, and what cannot be read any more."""
    plan, served = registered.reference.plan, [row for row in registered.noted["served"] if row["sessions"]]
    if any(not row["has_same_stimuli"] for row in served):
        yield Deviation(
            PARTS["design"], f"stimuli with the digest {plan['stimuli']['digest'][:_DIGITS]}", "other files"
        )
    if any(not row["is_same"] and row["has_same_stimuli"] and row["changes"] == [] for row in served):
        now = text_digests(material.study)
        changed = [name for name in {**plan["texts"], **now} if plan["texts"].get(name) != now.get(name)]
        what = f"texts.{', texts.'.join(changed)}" if changed else "a text in a file"
        yield Deviation(PARTS["texts"], f"{what}: as recorded", "other words")
    if other := int(material.account["counts"]["other_plans"]):
        yield Deviation(PARTS["design"], "one plan", f"{count(other, 'session')} of another plan, not analysed")
    if planned is None or any(row["changes"] is None for row in served):
        yield Deviation(PARTS["design"], "the study as recorded", "cannot be read by this version: compare it by hand")


# Sentences for the methods text


def preregistration_sentences(material: Material) -> list[Sentence]:
    """Return when and where the study was preregistered, and how many deviations there are."""
    registered = preregistration_of(material)
    if registered is None:
        said = material.study.publication.registration
        return [Sentence(f"Registration: {said}" if said else "[Preregistration, if there is one]")]
    found = deviations(material, registered)
    told = "nothing was done otherwise than planned"
    if found:
        told = f"{count(len(found), 'deviation')} from it {plural(len(found), 'is', 'are')} listed in the report"
    return [Sentence(f"{_recorded(registered)}; {told}"), *_exploratory(material, registered)]


def _recorded(registered: Preregistered) -> str:
    one = registered.reference
    where = f" at {join_names([place for _, place in one.places])}" if one.places else ""
    version = f", version {one.version} of {len(registered.versions)}" if len(registered.versions) > 1 else ""
    when = f"The plan was recorded{where} on {_day(one.at)}{version}, {_before(registered)}"
    return f"{when} (digest {one.digest[:_DIGITS]})"


def _before(registered: Preregistered) -> str:
    people = registered.reference.people
    if not registered.is_late:
        return "before the first person took part"
    return f"when {count(people, 'person', 'people')} had taken part" if people else "after the first person took part"


def _exploratory(material: Material, registered: Preregistered) -> list[Sentence]:
    planned = planned_study(registered.reference.plan, material.study)
    if planned is None or planned.analyse.contrasts:
        return []
    return [Sentence("No hypothesis was planned: every difference is exploratory")]


# The section


def deviations_section(material: Material) -> Markup | None:
    """Return the preregistration, its versions, and what was done otherwise; None without one."""
    registered = preregistration_of(material)
    if registered is None:
        return None
    found = deviations(material, registered)
    content: list[Child] = [tag("p", f"{_recorded(registered)}.")]
    if not all(one.is_intact for one in registered.versions):
        content.append(
            _notice("Changed", "The record does not have the digest that the ledger keeps: do not trust it.")
        )
    if registered.is_late:
        content.append(_notice("Late", "People had taken part before the plan was recorded: it is no preregistration."))
    if len(registered.versions) > 1:
        content.append(table("Versions of the plan", _version_sheet(registered)))
    if found:
        content.append(table("Planned, and done", deviation_sheet(found)))
    else:
        content.append(tag("p", tag("b", "Nothing was done otherwise than planned.")))
    content += [tag("p", f"{one.text}.") for one in _exploratory(material, registered)]
    if registered.reference.words:
        own = join_names(list(registered.reference.words))
        content.append(tag("p", f"In words of your own, which no program can check: {own}."))
    return render(content)


def _notice(name: str, words: str) -> Markup:
    return tag("p", tag("b", f"▲ {name}. "), words, class_="notice")


PLANNED = Section(
    "planned",
    "Planned and done",
    deviations_section,
    foot=(
        "Held against the last version that was recorded in time: the study as people met it, the rules and contrasts "
        "as they are now, and what the ledger knows. A deviation is no mistake: say why."
    ),
)


def planned_sheet(material: Material) -> TextTable | None:
    """Return a row for each deviation; None without a preregistration, and without a deviation."""
    registered = preregistration_of(material)
    found = deviations(material, registered) if registered is not None else []
    return deviation_sheet(found) if found else None


def deviation_sheet(found: Sequence[Deviation]) -> TextTable:
    """Return a row for each deviation."""
    return TextTable(("About", "Planned", "Done"), [tuple(one) for one in found], names=3)


def _version_sheet(registered: Preregistered) -> TextTable:
    rows = [
        (
            f"{one.version}", _minute(one.at), one.digest[:_DIGITS],
            f"late: {one.people:,} had taken part" if one.is_late(registered.first_at) else "in time",
            f"{one.looks:,}", one.why or NONE,
        )
        for one in registered.versions
    ]  # fmt: skip
    return TextTable(("Version", "Recorded (UTC)", "Digest", "When", "Looks by then", "Why"), rows, names=6)


def _day(at: str) -> str:
    return date(datetime.fromisoformat(at))


def _minute(at: str) -> str:
    return datetime.fromisoformat(at).strftime("%Y-%m-%d %H:%M")
