"""account.md: one page on who is used, who is not, and why."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from beholder.cleaning import ExclusionCount
from beholder.formats import plain_count
from beholder.study.model import Study

_USUAL = "71 to 79 % is usual in crowdsourced video tests by P.910"
_MAX_COMBINED = 8
_OUTLIERS = "Votes: at most 1.5 quartile ranges outside the quartiles of a stimulus that has 6 votes or more."


def account_page(account: Mapping[str, Any], study: Study) -> str:
    """Return the account of a study in Markdown."""
    parts = [
        f"# Who is counted: {_plain(study.title)}{_which(account['run'])}",
        _summary(account),
        _exclusions(account),
        _combined(account["together"]),
        _raters(account["counts"]),
        _votes(account["counts"]),
        _bonus(account),
        _foreign(account.get("foreign", {})),
        _rules(account["trust"], study),
    ]
    return "\n\n".join(part for part in parts if part) + "\n"


def _which(run: int) -> str:
    return f", run {run}" if run > 1 else ""


def _summary(account: Mapping[str, Any]) -> str:
    counts = account["counts"]
    is_real = account["population"] == "people"
    rows = [
        ("came", counts["sessions"], counts["participants"]),
        ("finished", counts["completed"], counts["completed_participants"]),
        ("used", counts["used_sessions"], counts["used_participants"]),
    ]
    paragraphs = [_table(("", "sessions", "people" if is_real else "robots"), rows)]
    if counts["completed"]:
        share = 100 * counts["used_sessions"] / counts["completed"]
        usual = f" ({_USUAL})" if is_real else ""
        paragraphs.append(
            f"Of the sessions that were finished {share:.0f} % are used{usual}: {counts['used_ratings']} of "
            f"{counts['ratings']} ratings."
        )
    paragraphs.append(
        f"To be paid: {plain_count(counts['accepted_sessions'], 'session')}. Not to be paid, as a proposal: "
        f"{counts['rejected_sessions']}. For a person to look at: {counts['look_sessions']}."
    )
    if counts["taken_in_sessions"]:
        paragraphs.append(
            f"Taken in by hand, whatever the rules say: {plain_count(counts['taken_in_sessions'], 'session')}."
        )
    if counts["other_plans"]:
        paragraphs.append(f"Under an earlier plan, and not looked at: {plain_count(counts['other_plans'], 'session')}.")
    return "\n\n".join(paragraphs)


def _foreign(decisions: Mapping[str, Mapping[str, int]]) -> str:
    """Return how often the tool that the sessions come from decided as we do."""
    if not decisions:
        return ""
    rows = [(_DECIDED.get(name, name), one["of"], one["passed"], one["same"]) for name, one in decisions.items()]
    note = "Each session is in foreign.csv, with both decisions and their reasons."
    heads = ("decided elsewhere", "sessions", "yes", "the same here")
    return f"## What the other tool decided\n\n{_table(heads, rows)}\n\n{note}"


_DECIDED = {"accept": "to be paid", "use": "used"}


def _exclusions(account: Mapping[str, Any]) -> str:
    rows = [
        (lost.label, lost.sessions, lost.only, lost.ratings)
        for lost in (ExclusionCount(**row) for row in account["lost"])
    ]
    if not rows:
        return "## What was lost at which rule\n\nNothing."
    heads = ("rule", "sessions", "only for this", "ratings")
    note = "A session can be lost for several reasons and is then counted under each."
    return f"## What was lost at which rule\n\n{_table(heads, rows)}\n\n{note}"


def _combined(combinations: Sequence[Mapping[str, Any]]) -> str:
    if not combinations:
        return ""
    rows = [(" and ".join(one["words"]), one["sessions"]) for one in combinations[:_MAX_COMBINED]]
    left = sum(one["sessions"] for one in combinations[_MAX_COMBINED:])
    if left:
        rows.append(("other reasons together", left))
    return f"## Lost for several reasons\n\n{_table(('rules', 'sessions'), rows)}"


def _raters(counts: Mapping[str, int]) -> str:
    few, hardly = counts["few_used_raters"], counts["mostly_unused_raters"]
    sentences = []
    if few:
        sentences.append(
            f"{plain_count(few, 'person has', 'people have')} too few sessions in use, and none of theirs is used."
        )
    if hardly:
        sentences.append(
            f"{plain_count(hardly, 'person has', 'people have')} hardly any session in use by the other rules."
        )
    return f"## Whole people\n\n{' '.join(sentences)}" if sentences else ""


def _votes(counts: Mapping[str, int]) -> str:
    short, planned = counts["short_votes"], counts["planned_votes"]
    if not planned:
        return ""
    if not short:
        return "## Votes\n\nEvery stimulus has as many used votes as were planned."
    return (
        f"## Votes\n\n{short} of {planned} stimuli and questions have fewer used votes than were planned (votes.csv). "
        f"{plain_count(counts['missing_sessions'], 'more session')} would bring them there: `beholder extend` adds "
        "lists for what is missing and not under way."
    )


def _bonus(account: Mapping[str, Any]) -> str:
    number = account["counts"]["bonuses"]
    if not number:
        return ""
    return f"## Bonus\n\n{plain_count(number, 'person', 'people')}, {account['bonus']} in all (bonus.csv)."


def _rules(rules: Sequence[Mapping[str, Any]], study: Study) -> str:
    lines = [
        "A session is finished.",
        *(() if "watched" in study.clean.without else ("What is rated was watched as the study asks.",)),
        *(f"{rule['title']}: {rule['words']}" for rule in rules),
        *((_OUTLIERS,) if study.clean.outliers else ()),
    ]
    return "## Rules in force\n\n" + "\n".join(f"- {line}" for line in lines)


def _table(heads: Sequence[str], rows: Sequence[Sequence[Any]]) -> str:
    lines = [heads, ["---", *["---:"] * (len(heads) - 1)], *rows]
    return "\n".join(f"| {' | '.join(_plain(str(cell)) for cell in line)} |" for line in lines)


def _plain(text: str) -> str:
    """Return a text that stays on its line and in its cell."""
    return " ".join(text.split()).replace("|", "\\|")
