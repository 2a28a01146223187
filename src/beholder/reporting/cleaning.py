"""How the data were cleaned: the account of sessions and ratings, the flow of participants, and what each check
before rating and each rule over a session led to.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from beholder.formats import NONE, count, join_names, nonzero_percent, number, percent, plural
from beholder.reporting.html import Child, Markup, render, scrolling, table, tag
from beholder.reporting.languages import language_table
from beholder.reporting.material import Material
from beholder.reporting.question_sections import has_narrow_matrix
from beholder.reporting.questionnaire import people_words
from beholder.reporting.section import Section, SectionGroup
from beholder.reporting.sheets import TextTable


def account_section(material: Material) -> Markup:
    """Return how many sessions and ratings there were, how many are used, and the reasons for the others."""
    numbers = material.account["counts"]
    _, many = people_words(material)
    lines = [
        _account_line(f"{many.capitalize()} who came", numbers["participants"]),
        _account_line("Sessions", numbers["sessions"]),
        _account_line("Finished", numbers["completed"]),
        _account_line("Used", numbers["used_sessions"]),
    ]
    costly = [lost for lost in material.account["lost"] if lost["costs"]]
    for lost in material.account["lost"]:
        # Reasons that cost single ratings follow below.
        if not lost["costs"] and not lost["ratings"] and lost["kept"]:
            lines.append(_account_line(lost["words"], lost["kept"], is_part=True))
    lines.append(_account_line("Not used", numbers["sessions"] - numbers["used_sessions"]))
    lines.extend(_account_line(lost["words"], lost["sessions"], is_part=True) for lost in costly)
    is_compared = bool(material.parts) and all(part.is_compared for part in material.parts)
    lines.append(_account_line("Comparisons" if is_compared else "Ratings", numbers["ratings"]))
    lines.append(_account_line("Used", numbers["used_ratings"], is_part=True))
    for lost in material.account["lost"]:
        if lost["ratings"]:
            lines.append(_account_line(lost["words"], lost["ratings"], is_part=True))
    unsure = int((material.results.ratings["missing"] == "skipped").sum())
    if numbers["missing_ratings"] - unsure:
        lines.append(
            _account_line("Without a value: would not play", numbers["missing_ratings"] - unsure, is_part=True)
        )
    if unsure:
        lines.append(_account_line("Without a value: not sure", unsure, is_part=True))
    agreement = material.results.participants["agreement"].dropna()
    if len(agreement):
        lines.append(_account_line("Agreement with the others, median", number(float(agreement.median()), 2)))
    notes = ["A session can be lost for several reasons and is then counted under each."]
    unknown = sum(verdict["unknown"] for verdict in material.account["verdicts"].values())
    if unknown:
        notes.append(f"{count(unknown, 'verdict')} unknown for lack of evidence; an unknown verdict costs nothing.")
    if numbers["other_plans"]:
        notes.append(f"{count(numbers['other_plans'], 'session')} under an earlier plan left out.")
    foot = tag("p", " ".join(notes), class_="panel__foot")
    return render([tag("dl", lines, class_="counted"), *_group_table(material), *language_table(material), foot])


def _group_table(material: Material) -> list[Child]:
    """Return a table of how many of each group of participants began, finished and are used, if there are groups."""
    groups = material.account.get("groups") or ()
    rows = [
        (*one["levels"].values(), f"{one['began']:,}", f"{one['finished']:,}", f"{one['used']:,}") for one in groups
    ]
    factors = tuple(groups[0]["levels"]) if groups else ()
    sheet = TextTable((*factors, "Began", "Finished", "Used"), rows, names=len(factors))
    return [table("Groups of participants", sheet)] if groups else []


def _account_line(name: str, value: int | str, *, is_part: bool = False) -> Markup:
    shown = f"{value:,}" if isinstance(value, int) else value
    return tag("div", tag("dt", name), tag("dd", shown), class_="is-part" if is_part else None)


# Flow of participants (CONSORT)


STEP_WORDS = {
    "came": "came", "agreed": "agreed to take part", "qualified": "qualified", "rated": "began to rate",
    "finished": "finished", "accepted": "accepted", "used": "used",
}  # fmt: skip


def flow_section(material: Material) -> Markup | None:
    """Return the flow diagram, a box for each step with the exclusions there; None without sessions."""
    steps: Sequence[Mapping[str, Any]] = material.account.get("flow") or ()
    if not steps or not steps[0]["sessions"]:
        return None
    came = steps[0]["people"]
    return tag("ol", [_flow_step(step, came, people_words(material)) for step in steps], class_="flow")


def flow_foot(material: Material) -> str:
    """Return how to read the flow diagram."""
    steps: Sequence[Mapping[str, Any]] = material.account["flow"]
    notes = ["Everybody who went no further is counted once, under the first reason."]
    if any(step["people"] != step["sessions"] for step in steps):
        notes.append("Of several sessions of one person the furthest counts.")
    if any(step["step"] == "accepted" for step in steps):
        notes.append("Accepted: is paid. Used: is analysed.")
    if any(lost["reason"] == "complete:withdrawn" for step in steps for lost in step["lost"]):
        notes.append("Of whoever withdrew nothing is kept that would tell how far they came.")
    return " ".join(notes)


FLOW = Section("flow", "Flow of participants", flow_section, foot=flow_foot, is_wide=has_narrow_matrix)
COUNTED = Section(
    "counted", "Who was counted", account_section,
    is_wide=lambda material: not has_narrow_matrix(material) and flow_section(material) is None,
)  # fmt: skip
ACCOUNT = SectionGroup(
    (FLOW, COUNTED),
    # A narrow matrix leaves half of its line to the account.
    lambda panels, material: panels[::-1] if has_narrow_matrix(material) else panels,
)


def _flow_step(step: Mapping[str, Any], came: int, words: tuple[str, str]) -> Markup:
    n, sessions = step["people"], step["sessions"]
    part = nonzero_percent(n / came) if came else None
    share = None if step["step"] == "came" else tag("span", part, class_="flow__share")
    more = tag("span", count(sessions, "session"), class_="flow__more") if sessions != n else None
    label = f" {plural(n, *words)} {STEP_WORDS[step['step']]} "
    return tag("li", tag("p", tag("b", f"{n:,}"), label, share, more, class_="flow__box"), _exclusions(step["lost"]))


def _exclusions(lost: Sequence[Mapping[str, Any]]) -> Markup | None:
    if not lost:
        return None
    whole = {kind: sum(one[kind] for one in lost) for kind in ("people", "sessions")}
    title = tag("p", "No further: ", tag("b", people_and_sessions(whole)))
    reasons = [tag("li", one["words"], " ", tag("b", people_and_sessions(one))) for one in lost]
    return tag("div", title, tag("ul", reasons), class_="flow__lost")


def people_and_sessions(one: Mapping[str, Any]) -> str:
    """Return the number of people, and that of sessions where it differs: a person may have several."""
    people, sessions = one["people"], count(one["sessions"], "session")
    return f"{people:,}" if people == one["sessions"] else f"{people:,} ({sessions})"


# Checks before rating


_WIDTH, _HEIGHT = 96, 14
_QUALIFICATION_HEADS = (
    "Sessions",
    "Passed at once",
    "Passed later",
    "Failed",
    "Unknown",
    "Turned away",
    "Attempts",
    "Seconds",
)


def qualification_section(material: Material) -> Markup | None:
    """Return how many sessions met, passed and failed each check; None if the study has no checks."""
    funnel = material.account.get("qualification")
    if not funnel:
        return None
    caption = "Sessions on their way to the first rating"
    head = tag("tr", tag("th", "Step", scope="col"), [tag("th", word, scope="col") for word in _QUALIFICATION_HEADS])
    rows = [
        _plain_row("Came", funnel["arrived"], funnel),
        _plain_row("Agreed", funnel["agreed"], funnel),
        *(_check_row(check, funnel) for check in funnel["checks"]),
        _plain_row("Began to rate", funnel["rated"], funnel),
    ]
    grid = tag(
        "table",
        tag("caption", caption, class_="unseen"),
        tag("thead", head),
        tag("tbody", rows),
        class_="table funnel",
    )
    return render([tag("p", " ".join(_qualification_sentences(funnel))), scrolling(caption, grid)])


QUALIFICATION = Section(
    "qualified",
    "Who could take part",
    qualification_section,
    foot=(
        "Bar: sessions that met the step; who passed a check in an earlier session does not meet it again. Passed, "
        "failed and unknown: judged again from the evidence, by the rules of the study as it is now. Unknown costs "
        "nobody anything. Attempts: mean. Seconds: median of one attempt."
    ),
)


def _qualification_sentences(funnel: Mapping[str, Any]) -> list[str]:
    """Return the most important numbers in sentences."""
    began = f"{count(funnel['rated'], 'session')} of {funnel['arrived']:,} began to rate."
    away = [(check["title"], check["turned_away"]) for check in funnel["checks"] if check["turned_away"]]
    if funnel["by_questions"]:
        away.insert(0, ("Questions before", funnel["by_questions"]))
    whole = sum(n for _, n in away)
    turned = f"{count(whole, 'was', 'were')} turned away at a check"
    refused = (
        f"{turned}: {join_names([f'{title} ({n:,})' for title, n in away])}." if away else "Nobody was turned away."
    )
    minutes = funnel["minutes_before_rating"]
    took = [] if minutes is None else [f"The pages before the first rating took {minutes:.1f} minutes (median)."]
    return [began, refused, *took]


def _plain_row(name: str, n: int, funnel: Mapping[str, Any]) -> Markup:
    return tag("tr", tag("th", name, scope="row"), _bar(n, funnel), [tag("td") for _ in _QUALIFICATION_HEADS[1:]])


def _check_row(check: Mapping[str, Any], funnel: Mapping[str, Any]) -> Markup:
    cells: list[Child] = [
        check["passed_at_once"], check["passed"] - check["passed_at_once"], check["failed"], check["unknown"],
        check["turned_away"], _number(check["attempts"], 1), _number(check["seconds"], 0),
    ]  # fmt: skip
    name = tag("th", check["title"], scope="row")
    return tag("tr", name, _bar(check["met"], funnel), [tag("td", cell) for cell in cells])


def _number(value: float | None, decimals: int) -> str:
    return NONE if value is None else number(value, decimals)


def _bar(n: int, funnel: Mapping[str, Any]) -> Markup:
    """Return a cell with the number of sessions and a bar as long as their share."""
    width = _WIDTH * n / max(1, funnel["arrived"])
    bar = tag(
        "svg",
        tag("rect", x="0", y="1", width=f"{width:.1f}", height=_HEIGHT - 2, rx="2"),
        class_="strip",
        viewBox=f"0 0 {_WIDTH} {_HEIGHT}",
        aria_hidden="true",
    )
    return tag("td", tag("span", bar, tag("b", f"{n:,}"), class_="funnel__cell"))


# Rules over sessions


_RULES_HEADS = ("Sessions", "Passed", "Failed", "Unknown", "Right", "Ratings left out", "Lost for this alone")


def rules_section(material: Material) -> Markup | None:
    """Return how many sessions passed and failed each rule; None if there are no rules."""
    rules: Sequence[Mapping[str, Any]] = material.account.get("trust") or ()
    if not rules:
        return None
    caption = "Rules over what people did while they rated"
    head = tag("tr", tag("th", "Rule", scope="col"), [tag("th", word, scope="col") for word in _RULES_HEADS])
    grid = tag(
        "table",
        tag("caption", caption, class_="unseen"),
        tag("thead", head),
        tag("tbody", [_rule_row(rule) for rule in rules]),
        class_="table rules",
    )
    return render([tag("p", " ".join(_rules_sentences(rules))), _agreement_notice(rules), scrolling(caption, grid)])


RULES = Section(
    "trusted",
    "Whom we trusted",
    rules_section,
    foot=(
        "Sessions: those that the rule looked at. Unknown: too little evidence to judge. Right: share of the answers "
        "that are known beforehand and were given. Ratings left out: also those of sessions that are lost as a whole. "
        "Lost for this alone: sessions that would be used without the rule. All is judged from the evidence, by the "
        "rules of the study as it is now; unknown costs nobody anything, and no rule refuses anybody their pay by "
        "itself."
    ),
)


def _rules_sentences(rules: Sequence[Mapping[str, Any]]) -> list[str]:
    """Return the most important numbers in sentences."""
    found = [rule["found"] for rule in rules if "found" in rule]
    costly = [(rule["title"].lower(), rule["alone"]) for rule in rules if rule["alone"]]
    whole = sum(n for _, n in costly)
    if not costly:
        return ["No session is lost for one of these rules alone.", *found]
    names = join_names([f"{title} ({n:,})" for title, n in costly])
    return [f"{count(whole, 'session is', 'sessions are')} lost for one of these rules alone: {names}.", *found]


def _agreement_notice(rules: Sequence[Mapping[str, Any]]) -> Markup | None:
    """Return a warning if the median agreement is below the limit of its rule."""
    for rule in rules:
        middle = rule.get("median")
        if middle is not None and middle < rule["warn"]:
            low = f"The median agreement with the others is {number(middle, 2)}, below {rule['warn']:g}."
            why = " Stimuli may be too much alike, the question unclear, or many people careless."
            return tag("p", tag("b", low), why, class_="notice")
    return None


def _rule_row(rule: Mapping[str, Any]) -> Markup:
    name = tag("th", rule["title"], tag("span", rule["words"]), scope="row")
    sessions = [f"{rule[key]:,}" for key in ("met", "passed", "failed", "unknown")]
    cells = [*sessions, _right(rule), *(f"{rule[key]:,}" for key in ("ratings", "alone"))]
    return tag("tr", name, [tag("td", cell) for cell in cells])


def _right(rule: Mapping[str, Any]) -> str:
    return percent(rule["right"] / rule["asked"]) if rule.get("asked") else NONE
