"""The folder preregistration/: the plan to paste, to read and to check, and the result of `preregister`."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any, NamedTuple

from beholder.analysis.registry import names as analysis_names
from beholder.errors import Problem, StudyError, UserError, did_you_mean
from beholder.files import json_bytes, utf8, write_all
from beholder.formats import count, date, join_names, listed
from beholder.methods import find, load_study
from beholder.planning import plan_study
from beholder.planning.balance import ratings_range
from beholder.planning.counts import is_of_pairs
from beholder.planning.digest import study_digest
from beholder.planning.message_trials import load_stimuli
from beholder.planning.model import Plan
from beholder.preregistration.changes import (
    NOT_PLANNED,
    StudyChange,
    planned_study,
    stimuli_digest,
    study_changes,
    text_digests,
)
from beholder.preregistration.registration import (
    Registration,
    RegistrationState,
    read_state,
    record,
    record_place,
)
from beholder.preregistration.templates import (
    AS_PREDICTED,
    HEADINGS,
    OSF,
    blank_headings,
    template_answers,
    with_words,
)
from beholder.reporting.html import Child, contents, document, file_list, headings, panel, table, tag
from beholder.reporting.sheets import TextTable
from beholder.result_view import PagedResult, ResultView
from beholder.stimuli.catalogue import Catalogue
from beholder.study.markdown import plain_text
from beholder.study.model import Study
from beholder.study.serialization import resolved_yaml

_NEWEST = ("index.html", "osf.md", "aspredicted.md")
_DIGITS = 12
_ADDRESS = re.compile(r"https?://\S+|10\.\d{4,}/\S+")
"""A web address, or a DOI."""


@dataclass(frozen=True, repr=False)
class Preregistration(PagedResult):
    """A version of the plan as it was recorded."""

    version: int
    at: datetime
    digest: str
    is_late: bool
    """Whether a person had taken part when it was recorded."""
    is_new: bool
    """Whether this call recorded it; the plan is that of the last version otherwise."""
    people: int
    """How many had taken part by then."""
    changes: tuple[StudyChange, ...]
    """What differs from the version before."""
    blanks: tuple[str, ...]
    """Headings with something in brackets that only you know."""
    answers: Mapping[str, str] = field(repr=False)
    """The plan, by heading of the template."""
    page: Path
    folder: Path

    _page_call = "beholder.preregister()"

    @property
    def words(self) -> tuple[str, ...]:
        """What was recorded, and what is left to do, in sentences."""
        when = self.at.strftime("%Y-%m-%d %H:%M UTC")
        if not self.is_new:
            first = f"The plan is that of version {self.version}, recorded on {when}: nothing new."
        elif self.is_late:
            people = count(self.people, "person had", "people had")
            first = f"Recorded as version {self.version} on {when}. Late: {people} taken part."
        else:
            first = f"Recorded as version {self.version} on {when}, before the first person."
        lines = [first, f"Digest: {self.digest}"]
        if self.changes:
            keys = join_names([one.key for one in self.changes])
            lines.append(f"Changed since version {self.version - 1}: {keys}.")
        if self.blanks:
            lines.append(f"Left to you, in brackets: {join_names(list(self.blanks))}.")
        return tuple(lines)

    def _view(self) -> ResultView:
        return ResultView(self.words, page=self.page)


def preregister_study(
    study: str | Path | Study,
    *,
    words: Path | None,
    why: str,
    late: bool,
    registered: str | None,
    store: str | None,
    progress: Callable[[int, int], None] | None,
) -> Preregistration:
    """Record the plan, unless it is that of the last version, and write the folder."""
    loaded = study if isinstance(study, Study) else load_study(study)
    own = None if words is None else read_words(words)
    if registered is not None and not _ADDRESS.fullmatch(registered):
        raise UserError(
            Problem("--registered", f"is {registered}", "an address such as https://osf.io/abcde, or a DOI")
        )
    method, url = find(loaded.method), store or str(loaded.folder / "store")
    state = read_state(url, loaded.run)
    last = state.versions[-1] if state.versions else None
    plan = registered_plan(loaded, load_stimuli(loaded, method, progress))
    written = own if own is not None else dict(last.words) if last is not None else {}
    is_new = last is None or (last.plan, last.words) != (plan, written)
    if is_new:
        _refuse_late(state, late=late, why=why)
        answers = with_words(template_answers(loaded, method, plan, state.taken_part.people), written)
        last = record(url, loaded.run, state, plan, written, answers, why)
        state = read_state(url, loaded.run)
    assert last is not None
    if registered is not None:
        last = record_place(url, loaded.run, last, registered)
    versions = (*state.versions[:-1], last)
    folder = loaded.folder / "preregistration"
    _write(folder, loaded, versions, state.taken_part.first_at)
    return Preregistration(
        version=last.version,
        at=datetime.fromisoformat(last.at),
        digest=last.digest,
        is_late=last.is_late(state.taken_part.first_at),
        is_new=is_new,
        people=last.people,
        changes=tuple(_since(versions, loaded)),
        blanks=tuple(blank_headings(last.answers)),
        answers=last.answers,
        page=folder / "index.html",
        folder=folder,
    )


def _refuse_late(state: RegistrationState, *, late: bool, why: str) -> None:
    people = state.taken_part.people
    if not people:
        return
    came = f"{count(people, 'person has', 'people have')} taken part in this run already"
    if not late:
        fix = "With --late and --why it is recorded all the same, and called late wherever it stands."
        raise StudyError(Problem("preregister", f"comes too late: {came}", "a plan before the first person", fix))
    if not why:
        raise StudyError(Problem("--why", f"is missing, and {came}", "why the plan is recorded or changed now"))


def _since(versions: Sequence[Registration], study: Study) -> list[StudyChange]:
    """Return what the last version changed."""
    if len(versions) < 2:
        return []
    before, after = (planned_study(one.plan, study) for one in versions[-2:])
    return [] if before is None or after is None else study_changes(before, after)


# What is recorded of a study


def registered_plan(study: Study, catalogue: Catalogue) -> dict[str, Any]:
    """Return the plan of a study as JSON: the same for the same study, stimuli and power analysis.

    `plan/` is written as `beholder plan` does: what is recorded is what will be served.
    """
    plan = plan_study(study, catalogue=catalogue)
    least, most = ratings_range(plan)
    return {
        "study": study.name,
        "title": plain_text(study.title),
        "run": study.run,
        "study_digest": study_digest(study, catalogue),
        "plan_digest": plan.plan_digest,
        "yaml": resolved_yaml(_as_planned(study)),
        "texts": text_digests(study),
        "stimuli": {
            "digest": stimuli_digest({one.id: one.sha256 for one in (*catalogue.stimuli, *catalogue.examples)}),
            "rated": len(catalogue.by_cell),
            "conditions": list(catalogue.conditions),
            "contents": list(catalogue.contents),
        },
        "lists": _lists(study, plan),
        "participants": -(-_lists(study, plan) // study.design.sessions_per_participant),
        "trials": sorted({len(one.rated) for one in plan.lists}),
        "ratings": [least, most],
        "is_compared": is_of_pairs(plan),
        "analyses": list(analysis_names()),
        "power": _power(study),
    }


def _as_planned(study: Study) -> Study:
    """Return the study without what may always change: where it is served, and what is said of its publication."""
    return study.model_copy(update={name: Study.model_fields[name].get_default() for name in NOT_PLANNED})


def _lists(study: Study, plan: Plan) -> int:
    """Return how many lists are to be finished."""
    return study.design.dealt_lists or len(plan.lists)


def _power(study: Study) -> dict[str, Any] | None:
    """Return what the last power analysis in the folder found, and of how many studies; None without one."""
    try:
        notes = json.loads((study.folder / "power" / "notes.json").read_text(encoding="utf-8"))
        return {name: notes[name] for name in ("words", "repetitions", "seed", "contents")}
    except (OSError, ValueError, LookupError, TypeError):
        return None


# Words of one's own


def read_words(path: Path) -> dict[str, str]:
    """Return the texts of a Markdown file by the headings of the template; raise UserError with every problem."""
    try:
        lines = path.read_text("utf-8-sig").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        what = "cannot be read" if isinstance(error, OSError) else "is not UTF-8"
        raise UserError(Problem(str(path), what, "a Markdown file with headings of the template")) from None
    known = {heading.casefold(): heading for heading in HEADINGS}
    found: dict[str, list[str]] = {}
    problems: list[Problem] = []
    heading = ""
    for number, line in enumerate(lines, 1):
        title = re.match(r"#{1,6}\s+(.*?)\s*#*\s*$", line)
        if title is None:
            if heading:
                found[heading].append(line)
            elif line.strip():
                problems.append(Problem(f"{path}:{number}", "stands below no heading", "text below headings"))
                heading = HEADINGS[0]
                found.setdefault(heading, [])
            continue
        name = known.get(title[1].casefold())
        if name is None:
            problems.append(
                Problem(f"{path}:{number}", f"{title[1]!r} is no heading of the template", listed(HEADINGS),
                        did_you_mean(title[1], HEADINGS))
            )  # fmt: skip
        elif name in found:
            problems.append(Problem(f"{path}:{number}", f"has {name} a second time", "each heading once"))
        heading = name or HEADINGS[0]
        found.setdefault(heading, [])
    if problems:
        raise UserError(problems)
    return {heading: text for heading, some in found.items() if (text := "\n".join(some).strip())}


# Files


class _Template(NamedTuple):
    name: str
    sections: Sequence[tuple[str, Sequence[tuple[str, str]]]]
    """Each with its title, and heading and text of each of its answers."""


def _templates(answers: Mapping[str, str]) -> tuple[_Template, _Template]:
    osf = [(title, [(heading, answers[heading]) for heading in names]) for title, names in OSF.items()]
    asked = [(question, "\n\n".join(answers[heading] for heading in names)) for question, names in AS_PREDICTED.items()]
    return _Template("OSF Preregistration", osf), _Template("AsPredicted", [("", asked)])


def _write(folder: Path, study: Study, versions: Sequence[Registration], first_at: str) -> None:
    last = versions[-1]
    osf, asked = _templates(last.answers)
    documents = {f"version-{one.version}.json": json_bytes(one.json()) for one in versions}
    files = {
        "osf.md": utf8(_markdown(osf, study, last, first_at)),
        "aspredicted.md": utf8(_markdown(asked, study, last, first_at)),
        **documents,
    }
    page = _page((osf, asked), study, versions, first_at, list(files))
    stale = [path.name for path in folder.glob("version-*.json")]
    write_all(folder, {**files, "index.html": utf8(page)}, [*_NEWEST, *stale])


def _recorded(one: Registration, first_at: str) -> str:
    when = datetime.fromisoformat(one.at)
    late = one.is_late(first_at)
    how = f"late, when {count(one.people, 'person', 'people')} had taken part" if late else "before the first person"
    return f"Version {one.version}, recorded on {date(when)} at {when:%H:%M} UTC, {how}; digest {one.digest}"


def _markdown(template: _Template, study: Study, one: Registration, first_at: str) -> str:
    lines = [f"# {one.plan['title']}: {template.name}", "", f"{_recorded(one, first_at)}.", ""]
    for title, answers in template.sections:
        lines += [f"## {title}", ""] if title else []
        for heading, text in answers:
            lines += [f"{'###' if title else '##'} {heading}", "", text, ""]
    return "\n".join(lines)


def _page(
    templates: Sequence[_Template], study: Study, versions: Sequence[Registration], first_at: str, files: list[str]
) -> str:
    last = versions[-1]
    rows = [
        (f"{one.version}", f"{datetime.fromisoformat(one.at):%Y-%m-%d %H:%M}", one.digest[:_DIGITS],
         f"late: {one.people:,} had taken part" if one.is_late(first_at) else "in time", one.why or "–",
         ", ".join(place for _, place in one.places) or "–")
        for one in versions
    ]  # fmt: skip
    heads = ("Version", "Recorded (UTC)", "Digest", "When", "Why", "Registered at")
    sections: list[Child] = [
        panel("versions", "Versions", table("Versions of the plan", TextTable(heads, rows, names=6)), is_wide=True,
              foot="Nobody can change the entries behind these. A digest that stands elsewhere, as in a registry or an "
              "e-mail, proves to strangers that the plan was there by then."),
    ]  # fmt: skip
    for template in templates:
        for title, answers in template.sections:
            pasted = [
                [
                    tag("h3", heading),
                    tag("div", [tag("p", part) for part in text.split("\n")], class_="paste", tabindex="0"),
                ]
                for heading, text in answers
            ]
            name = f"{template.name}: {title}" if title else template.name
            anchor = re.sub(r"[^a-z]+", "-", name.casefold())
            sections.append(panel(anchor, name, tag("div", pasted), is_wide=True))
    sections.append(panel("files", "Files beside this page", file_list(files), is_wide=True))
    late = (
        tag("p", tag("b", "▲ Late. "), "People had taken part before this was recorded.", class_="notice")
        if last.is_late(first_at)
        else None
    )
    head = tag(
        "header", tag("p", "Preregistration", class_="paper__kind"), tag("h1", str(last.plan["title"])),
        tag("p", f"{_recorded(last, first_at)}."), late, class_="paper__head",
    )  # fmt: skip
    listed_sections = contents([[heading] for heading in headings(sections)])
    paper = tag("main", head, listed_sections, sections, class_="paper")
    return document(f"{study.title}: preregistration", paper, ["copy.js"])
