"""Who was counted, and how the numbers came about."""

from __future__ import annotations

from collections.abc import Iterable
from importlib import metadata

from beholder.report.asked import people_words
from beholder.report.markup import Child, Markup, render, tag
from beholder.report.material import Material
from beholder.report.sheets import Sheet
from beholder.report.tables import table
from beholder.report.words import count, listed, number
from beholder.study.between import common_options, varied

_WATCH = {
    "whole": (
        "A rating counts when at least 97 % of the stimulus, and its end, were played at normal speed; "
        "of an image or a text, when it was in view for as long as the study asks."
    ),
    "start": "A rating counts when the stimulus had been started.",
    "none": "Stimuli did not have to be watched before rating.",
}

_PRESENTATION = {
    "sequential": "One after the other",
    "side-by-side": "Side by side, at the same time",
    "free": "Behind buttons, in any order and as often as wanted",
}
_TASKS = {
    "closest": "Which of two is closer to the reference.",
    "identify": "Of which of two the third is a copy.",
}


def counted(material: Material) -> Markup:
    """Return the account: arrived, finished, used, and what was lost for which reason."""
    numbers = material.account["counts"]
    _, many = people_words(material)
    lines = [
        _line(f"{many.capitalize()} who came", numbers["participants"]),
        _line("Sessions", numbers["sessions"]),
        _line("Finished", numbers["completed"]),
        _line("Used", numbers["used_sessions"]),
    ]
    costly = [lost for lost in material.account["lost"] if lost["costs"]]
    for lost in material.account["lost"]:
        # What costs single ratings is told below, among them.
        if not lost["costs"] and not lost["ratings"] and lost["kept"]:
            lines.append(_line(lost["words"], lost["kept"], is_part=True))
    lines.append(_line("Not used", numbers["sessions"] - numbers["used_sessions"]))
    lines.extend(_line(lost["words"], lost["sessions"], is_part=True) for lost in costly)
    is_compared = bool(material.parts) and all(part.is_compared for part in material.parts)
    lines.append(_line("Comparisons" if is_compared else "Ratings", numbers["ratings"]))
    lines.append(_line("Used", numbers["used_ratings"], is_part=True))
    for lost in material.account["lost"]:
        if lost["ratings"]:
            lines.append(_line(lost["words"], lost["ratings"], is_part=True))
    unsure = int((material.results.ratings["missing"] == "skipped").sum())
    if numbers["missing_ratings"] - unsure:
        lines.append(_line("Without a value: would not play", numbers["missing_ratings"] - unsure, is_part=True))
    if unsure:
        lines.append(_line("Without a value: not sure", unsure, is_part=True))
    agreement = material.results.participants["agreement"].dropna()
    if len(agreement):
        lines.append(_line("Agreement with the others, median", number(float(agreement.median()), 2)))
    notes = ["A session can be lost for several reasons and is then counted under each."]
    unknown = sum(verdict["unknown"] for verdict in material.account["verdicts"].values())
    if unknown:
        notes.append(f"{count(unknown, 'verdict')} unknown for lack of evidence; an unknown verdict costs nothing.")
    if numbers["other_plans"]:
        notes.append(f"{count(numbers['other_plans'], 'session')} under an earlier plan left out.")
    foot = tag("p", " ".join(notes), class_="panel__foot")
    return render([tag("dl", lines, class_="counted"), *_groups(material), foot])


def _groups(material: Material) -> list[Child]:
    """Return how many of each group of participants began, finished and are used, where there are groups."""
    found = material.account.get("groups") or ()
    rows = [(*one["levels"].values(), f"{one['began']:,}", f"{one['finished']:,}", f"{one['used']:,}") for one in found]
    factors = tuple(found[0]["levels"]) if found else ()
    sheet = Sheet((*factors, "Began", "Finished", "Used"), rows, names=len(factors))
    return [table("Groups of participants", sheet)] if found else []


def _line(name: str, value: int | str, *, is_part: bool = False) -> Markup:
    shown = f"{value:,}" if isinstance(value, int) else value
    return tag("div", tag("dt", name), tag("dd", shown), class_="is-part" if is_part else None)


def method_section(material: Material) -> Markup:
    """Return how the study was run and analysed, with what somebody else needs to repeat it."""
    study, results = material.study, material.results
    analyses = results.notes["analyses"]
    trials = material.used.groupby("session")["position"].nunique()
    per_session = "none" if trials.empty else _range(int(trials.min()), int(trials.max()))
    software = ", ".join(f"{name} {version}" for name, version in results.notes["software"].items())
    entries: list[tuple[str, Child]] = [
        ("Rating method", tag("code", study.method)),
        *_shown(material),
        ("Answered by", "robots (simulated)" if material.is_simulated else "people"),
        ("Trials per session", per_session),
        ("Watching", _watching(material)),
        ("Numbers", _metrics(material)),
        ("Scores", analyses["conditions"]["note"]),
        ("Differences", analyses["pairs"]["note"]),
        *_clear(material),
        ("Sources", _sources(analysis["citation"] for analysis in analyses.values())),
        ("Software", f"Beholder {beholder_version()}, {software}"),
        ("Study text", [tag("code", digest) for digest in material.account["digests"]]),
        ("Seed of the plan", f"{study.design.seed}{f', run {material.run}' if material.run > 1 else ''}"),
    ]
    return tag("dl", [tag("div", tag("dt", name), tag("dd", value)) for name, value in entries], class_="method")


def _clear(material: Material) -> list[tuple[str, Child]]:
    """Return what a clear difference is, where any could be tested."""
    if not any(part.tested for part in material.parts):
        return []
    return [("Clear difference", f"Holm-corrected p below {material.results.notes['alpha']:g}.")]


def _shown(material: Material) -> list[tuple[str, Child]]:
    """Return how the method showed its stimuli, as far as the study could choose."""
    options, roles = common_options(material.study), material.account.get("roles", {})
    # The reference of some methods is rated by nobody, so that no table has a label for it.
    labels = {one.name: one.label or one.name for one in material.study.conditions} | dict(material.names)
    entries: list[tuple[str, Child]] = []
    if "presentation" in options:
        gap = f", {options['gap']:g} s of grey between them" if options["presentation"] == "sequential" else ""
        entries.append(("Presentation", f"{_PRESENTATION[options['presentation']]}{gap if 'gap' in options else ''}."))
    for role, title in (("reference", "Reference"), ("anchor", "Anchors")):
        names = [name for name, own in roles.items() if own == role]
        if names:
            entries.append((title, listed([labels.get(name, name) for name in names])))
    if options.get("mode"):
        entries.append(("Task", _TASKS.get(options["mode"], str(options["mode"]))))
    if options.get("items"):
        entries.append(("Item set", tag("code", str(options["items"]))))
    if options.get("scenario"):
        entries.append(("Scenario", tag("q", str(options["scenario"]))))
    if material.study.playback.sound == "off" and "playback.sound" not in varied(material.study):
        entries.append(("Sound", "off"))
    return entries


def _metrics(material: Material) -> list[Child]:
    """Return what the numbers are called and say, each once."""
    meanings = dict.fromkeys((part.metric, part.meaning) for part in material.parts if part.meaning)
    return [
        [tag("br") if place else None, tag("b", name), f": {meaning}"] for place, (name, meaning) in enumerate(meanings)
    ]


def _sources(citations: Iterable[str]) -> list[Child]:
    """Return every source once, each on its line."""
    sources = dict.fromkeys(source for citation in citations for source in citation.split("; ") if source)
    return [[tag("br") if place else None, source] for place, source in enumerate(sources)]


def _watching(material: Material) -> str:
    """Return what had to be watched; where that changed, each rule with the number of its sessions."""
    sessions: dict[str, int] = {}
    for text in material.texts:
        sessions[text["watch"]] = sessions.get(text["watch"], 0) + text["used_sessions"]
    if "playback.watch" in varied(material.study):
        return "Not the same for all participants: it is a factor between them."
    if len(sessions) == 1:
        return _WATCH[material.texts[0]["watch"]]
    return " ".join(f"{count(n, 'session')}: {_WATCH[rule]}" for rule, n in sessions.items())


def _range(low: int, high: int) -> str:
    return str(low) if low == high else f"{low} to {high}"


def beholder_version() -> str:
    try:
        return metadata.version("beholder")
    except metadata.PackageNotFoundError:
        return "(not installed)"
