"""Who was counted, and how the numbers came about."""

from __future__ import annotations

from collections.abc import Iterable
from importlib import metadata

from beholder.clean.decide import costs_session
from beholder.report.asked import people_words
from beholder.report.markup import Child, Markup, render, tag
from beholder.report.material import Material
from beholder.report.words import count, number

_WATCH = {
    "whole": "A rating counts when at least 97 % of the stimulus, and its end, were played at normal speed.",
    "start": "A rating counts when the stimulus had been started.",
    "none": "Stimuli did not have to be watched before rating.",
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
    costly = [lost for lost in material.account["lost"] if costs_session(f"{lost['rule']}:{lost['reason']}")]
    for lost in material.account["lost"]:
        # What was not watched is told below, where it costs ratings.
        if lost not in costly and lost["rule"] != "watched" and lost["kept"]:
            lines.append(_line(lost["words"], lost["kept"], is_part=True))
    lines.append(_line("Not used", numbers["sessions"] - numbers["used_sessions"]))
    lines.extend(_line(lost["words"], lost["sessions"], is_part=True) for lost in costly)
    lines.append(_line("Ratings", numbers["ratings"]))
    lines.append(_line("Used", numbers["used_ratings"], is_part=True))
    for lost in material.account["lost"]:
        if lost["ratings"]:
            lines.append(_line(lost["words"], lost["ratings"], is_part=True))
    if numbers["missing_ratings"]:
        lines.append(_line("Without a value: would not play", numbers["missing_ratings"], is_part=True))
    agreement = material.results.participants["agreement"].dropna()
    if len(agreement):
        lines.append(_line("Agreement with the others, median", number(float(agreement.median()), 2)))
    notes = ["A session can be lost for several reasons and is then counted under each."]
    unknown = sum(verdict["unknown"] for verdict in material.account["verdicts"].values())
    if unknown:
        notes.append(f"{count(unknown, 'verdict')} unknown for lack of evidence; an unknown verdict costs nothing.")
    if numbers["other_plans"]:
        notes.append(f"{count(numbers['other_plans'], 'session')} under an earlier plan left out.")
    return render([tag("dl", lines, class_="counted"), tag("p", " ".join(notes), class_="panel__foot")])


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
        ("Answered by", "robots (simulated)" if material.is_simulated else "people"),
        ("Trials per session", per_session),
        ("Watching", _watching(material)),
        ("Scores", analyses["conditions"]["note"]),
        ("Differences", analyses["pairs"]["note"]),
        ("Clear difference", f"Holm-corrected p below {results.notes['alpha']:g}."),
        ("Sources", _sources(analysis["citation"] for analysis in analyses.values())),
        ("Software", f"Beholder {_version()}, {software}"),
        ("Study text", [tag("code", digest) for digest in material.account["digests"]]),
        ("Seed of the plan", str(study.design.seed)),
    ]
    return tag("dl", [tag("div", tag("dt", name), tag("dd", value)) for name, value in entries], class_="method")


def _sources(citations: Iterable[str]) -> list[Child]:
    """Return every source once, each on its line."""
    sources = dict.fromkeys(source for citation in citations for source in citation.split("; "))
    return [[tag("br") if place else None, source] for place, source in enumerate(sources)]


def _watching(material: Material) -> str:
    """Return what had to be watched; where that changed, each rule with the number of its sessions."""
    sessions: dict[str, int] = {}
    for text in material.texts:
        sessions[text["watch"]] = sessions.get(text["watch"], 0) + text["used_sessions"]
    if len(sessions) == 1:
        return _WATCH[material.texts[0]["watch"]]
    return " ".join(f"{count(n, 'session')}: {_WATCH[rule]}" for rule, n in sessions.items())


def _range(low: int, high: int) -> str:
    return str(low) if low == high else f"{low} to {high}"


def _version() -> str:
    try:
        return metadata.version("beholder")
    except metadata.PackageNotFoundError:
        return "(not installed)"
