"""Invitations: personal links in launch/links.csv, and the text of the job in launch/job.md."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import NamedTuple
from urllib.parse import urlencode

from beholder.checks.page_contract import Needs
from beholder.checks.page_registry import check_texts
from beholder.errors import Problem, StudyError
from beholder.files import csv_lines, write_private
from beholder.methods import find
from beholder.recruiting.contract import Job
from beholder.server import tokens
from beholder.server.entrances import CODED, SONA, shared_codes
from beholder.server.page_checks import PageChecks
from beholder.server.public_steps import minutes_line, stage_needs
from beholder.server.script import make_script
from beholder.study.csv_files import CsvTable, read_table
from beholder.study.model import Study
from beholder.study.recruitment import PANEL_KEY, hourly, money
from beholder.types import Outcome
from beholder.words import LanguageWords, read_words

_LINKS = "launch/links.csv"
_ID, _LINK = "id", "link"
_LONGEST = 200
"""Characters of an id: a longer one does not fit into the links of every mail program."""


class _InvitationList(NamedTuple):
    """The invited participants: columns without earlier links, and each row with its id."""

    heads: tuple[str, ...]
    people: tuple[tuple[str, tuple[str, ...]], ...]
    """Id, and all cells of the row."""
    delimiter: str


def write_invitations(study: Study, secret: bytes, public_url: str, places: int = 0) -> Path | None:
    """Write launch/links.csv with a link for everybody in `recruit.people`, and return its path; None if not needed.

    Without a list, single-use links are numbered, as many as there are places, and different in each run. The links
    follow from the id and the store, so writing again gives the same ones. Only the owner can read the file.
    """
    if not has_personal_links(study):
        return None
    invited = _read_invitations(study) if study.recruit.people is not None else _numbered(places, study.run)
    rows = ((*cells, _personal_link(study, secret, public_url, id_)) for id_, cells in invited.people)
    text = csv_lines(((*invited.heads, _LINK), *rows), invited.delimiter)
    path = study.folder / _LINKS
    # With a mark, without which spreadsheets take UTF-8 for something else.
    write_private(path, text.encode("utf-8-sig"), "# Who was invited: not for a repository.\nlinks.csv\n")
    return path


def has_personal_links(study: Study) -> bool:
    """Return whether each link is for one participant."""
    return study.recruit.people is not None or study.recruit.single_use


def _numbered(places: int, run: int) -> _InvitationList:
    """Return numbered ids; in a later run as 1-2, as nobody with a link of one run begins in another."""
    names = [str(one) if run == 1 else f"{one}-{run}" for one in range(1, places + 1)]
    return _InvitationList((_ID,), tuple((name, (name,)) for name in names), ",")


def _personal_link(study: Study, secret: bytes, public_url: str, invited: str) -> str:
    """Return the link for one invited participant, which nobody can forge without the store."""
    query = urlencode({"invited": tokens.invitation(secret, invited)})
    return f"{public_url.rstrip('/')}/s/{study.name}?{query}"


def _read_invitations(study: Study) -> _InvitationList:
    """Return the participants in `recruit.people`, in its order, or raise StudyError with all problems."""
    name = study.recruit.people
    assert name is not None
    problems: list[Problem] = []
    sheet = read_table(study.folder, name, [_ID], problems)
    if sheet is None:
        raise StudyError(problems)
    heads = [head.lower() for head in sheet.heads]
    if heads.count(_ID) != 1:
        what = "column id is there twice" if _ID in heads else "has no column id"
        fix = "" if _ID in heads else "Write id above the column by which you know people."
        raise StudyError(Problem(f"{name}:1", what, "one column id, and any others", fix))
    rows = _read_people(name, sheet, heads.index(_ID), problems)
    if not rows and not problems:
        problems.append(Problem(name, "invites nobody", "a line for each person", "Write somebody's id below id."))
    if problems:
        raise StudyError(problems)
    kept = [place for place, head in enumerate(heads) if head != _LINK]
    return _InvitationList(
        tuple(sheet.heads[place] for place in kept),
        tuple((id_, tuple(cells[place] for place in kept)) for id_, cells in rows),
        sheet.delimiter,
    )


def _read_people(name: str, sheet: CsvTable, place: int, problems: list[Problem]) -> list[tuple[str, list[str]]]:
    """Return each row by its id, all of one length."""
    width, line_numbers, rows = len(sheet.heads), dict[str, int](), []
    for number, cells in sheet.rows:
        if not any(cells):
            continue
        where, cells = f"{name}:{number}", cells + [""] * (width - len(cells))
        id_ = cells[place]
        if any(cells[width:]):
            problems.append(Problem(where, f"has {len(cells)} cells, the first line has {width}"))
        elif not id_:
            problems.append(Problem(where, "id is empty", "an id in every line"))
        elif len(id_) > _LONGEST:
            problems.append(Problem(where, f"id has {len(id_)} characters", f"up to {_LONGEST}"))
        elif id_ in line_numbers:
            problems.append(Problem(where, f"id is {id_}, as in line {line_numbers[id_]}", "every id once"))
        else:
            line_numbers[id_] = number
            rows.append((id_, cells[:width]))
    return rows


# launch/job.md: the text to paste or send, and the settings for the researcher


_JOB = "launch/job.md"
_ENDS: Mapping[Outcome, str] = {
    "completed": "everything was answered",
    "screened_out": "did not fit at a qualification",
    "wrong_device": "the device did not fit; the same link works on another one",
    "no_consent": "did not agree, or withdrew",
    "failed_checks": "ended by failed attention checks; `beholder decide` proposes what to pay",
    "technical": "ended by a fault of ours; `beholder decide` proposes what to pay",
}
_OWN_CODES = (
    "Where each session has a code of its own, such as `K7QM-4XPD`, one that was passed on is seen. Let the platform "
    "take any code; if it wants to know the code beforehand, write it as `recruit.codes.completed`. "
)
_CONNECT = "participantId"


def write_job(study: Study, job: Job, secret: bytes) -> Path:
    """Write launch/job.md and return its path: an invitation for `link`, a job with settings and codes for `panel`."""
    path = study.folder / _JOB
    path.parent.mkdir(parents=True, exist_ok=True)
    is_invitation = study.recruit.id_parameter is None
    parts = _invitation(study, job) if is_invitation else _job(study, job, secret)
    path.write_text("\n\n".join(parts) + "\n", "utf-8", newline="\n")
    return path


def _invitation(study: Study, job: Job) -> Iterator[str]:
    yield f"# {study.title}"
    words = read_words(study.language)
    yield words["job.invited"]
    yield describe_job(study, job)
    if not has_personal_links(study):
        yield words.say("job.begin", url=job.url)
        return
    yield words["job.begin_own"]
    yield "---"
    if study.recruit.people is None:
        yield (
            f"For you, not for participants: `{_LINKS}` has {job.places} numbered links, and each works for one person."
            " Give everybody another one in place of `LINK`, and note who got which only where you need to know."
        )
        return
    yield (
        f"For you, not for participants: `{_LINKS}` is your list with a column `link`. Send everybody their own, as a "
        "mail program does with a list, in place of `LINK`. It holds who was invited, and stays with you."
    )


def _job(study: Study, job: Job, secret: bytes) -> Iterator[str]:
    yield f"# {study.title}"
    yield "Paste the title above and the description. What stands below it is for you alone, the codes above all."
    yield "## Description"
    yield describe_job(study, job)
    yield _completion(study)
    yield "## Settings"
    yield _table(("what", "value"), _settings(study, job))
    yield from _placeholders(study)
    if study.recruit.people is not None:
        yield f"People in your own list have personal links beside this: `{_LINKS}`. They need no platform."
    yield "## Codes"
    yield from _codes(study, job, secret)
    yield "## Afterwards"
    yield (
        "Download the platform's list of submissions as CSV, with people's ids and the codes they pasted. "
        "`beholder decide --submissions FILE` holds it against what is here, and `beholder pay` lists who is owed what."
    )


def _completion(study: Study) -> str:
    return read_words(study.language)["job.button" if study.recruit.return_to.completed else "job.code"]


def _settings(study: Study, job: Job) -> Iterator[tuple[str, str]]:
    recruit = study.recruit
    yield "address", f"`{job.url}`"
    yield "places", str(job.places)
    yield "minutes", str(job.minutes)
    if job.reward.minor:
        yield "reward", str(job.reward)
    if job.screen_out:
        yield "for whoever does not fit", str(job.screen_out)
    yield "time limit", recruit.time_limit or "60 min"
    for key, value in (("opens", recruit.opens), ("closes", recruit.closes)):
        if value:
            yield key, value


def _placeholders(study: Study) -> Iterator[str]:
    recruit = study.recruit
    if recruit.id_parameter == SONA:
        yield (
            "SONA: this is the Study URL of an online external study; SONA writes the person's number in place of "
            "`%SURVEY_CODE%`. Its client-side completion address grants the credit: write it as "
            "`recruit.return_to.completed`, with `{id}` where it says `XXXX`."
        )
        return
    words = "In place of `{{id}}` write what your platform fills in for the person's id"
    words += ", and in place of `{{visit}}` for the id of the visit" if recruit.visit_parameter else ""
    yield (
        f"{words}. `{PANEL_KEY}` is the same for everybody and a secret of the study: leave it in, and do not publish "
        "the address. Somebody who comes without one of them is told so, and nothing is stored."
    )
    if recruit.id_parameter == _CONNECT:
        yield (
            "CloudResearch Connect passes `participantId`, `assignmentId` and `projectId` under these names. Where its "
            "set-up says that it adds them by itself, leave them out of the address. Its completion redirect is for "
            "those who finish; whoever does not fit needs its partial redirect."
        )
    else:
        yield (
            "On SONA it is `%SURVEY_CODE%`, with `id_parameter: sona_id`; on CloudResearch Connect the name is "
            "`id_parameter: participantId`."
        )


def _codes(study: Study, job: Job, secret: bytes) -> Iterator[str]:
    common, addresses = shared_codes(study, secret), study.recruit.return_to
    has_addresses = any(getattr(addresses, outcome) for outcome in CODED)
    heads = ("code", "means", "earns", *(("goes back to",) if has_addresses else ()))
    rows = []
    for outcome in CODED:
        code = common.get(outcome)
        shown = f"`{code}`" if code else "none" if outcome == "no_consent" else "one for each session"
        address = getattr(addresses, outcome)
        cells = (shown, f"{outcome}: {_ENDS[outcome]}", _earns(job, outcome))
        rows.append((*cells, *((f"`{address}`" if address else "–",) if has_addresses else ())))
    yield _table(heads, rows)
    own = "" if "completed" in common else _OWN_CODES
    yield f"{own}No code leaves the server before the session has ended so. A wrong code with whole data is paid."


def _earns(job: Job, outcome: Outcome) -> str:
    if outcome == "completed" and job.reward.minor:
        return str(job.reward)
    if outcome == "screened_out" and job.screen_out:
        return str(job.screen_out)
    return "to be decided" if outcome in ("failed_checks", "technical") and job.reward.minor else "–"


def _table(heads: tuple[str, ...], rows: Iterator[tuple[str, ...]] | list[tuple[str, ...]]) -> str:
    lines = [heads, ("---",) * len(heads), *rows]
    return "\n".join(f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in line)} |" for line in lines)


# The description of the study for participants


_SHOWN = 3
"""How many questions are quoted."""


def describe_job(study: Study, job: Job) -> str:
    """Return the description of a job, as Markdown to paste where participants are recruited."""
    parts = [read_words(study.language)["job.task"], _question_line(study)]
    return "\n\n".join([*parts, "\n".join(f"- {line}" for line in _lines(study, job))])


def _requirements(study: Study) -> list[str]:
    """Return what participants need, in the words that they read before they consent."""
    return PageChecks(Needs(), b"", check_texts(study.language)).requirements(make_script(study, ()))


def _question_line(study: Study) -> str:
    texts = [" ".join(question.text.split()) for question in find(study.method).questions(study)]
    words = read_words(study.language)
    shown = " ".join(f"“{text}”" for text in texts[:_SHOWN])
    if len(texts) > _SHOWN:
        shown = words.say("job.more_questions", texts=shown, n=len(texts) - _SHOWN)
    return words.say("job.questions", n=len(texts), texts=shown)


def _lines(study: Study, job: Job) -> Iterator[str]:
    sessions, words = study.design.sessions_per_participant, read_words(study.language)
    several = "_a_session" if sessions > 1 else ""
    yield minutes_line(words, job.minutes, is_of_several=sessions > 1)
    if job.reward.minor:
        yield words.say(f"job.earn{several}", reward=job.reward, hourly=hourly(job.reward, job.minutes))
    if sessions > 1:
        yield words.say("job.sessions", sessions=sessions)
    yield from _bonus(study, words)
    needs, devices = _requirements(study), stage_needs(study, words)
    if needs or devices:
        yield "\n  - ".join([words["job.needs"], *devices, *needs])
    if needs:
        yield words.say("job.first_paid", amount=job.screen_out) if job.screen_out else words["job.first"]
    yield words.say("job.stop", limit=study.recruit.time_limit or "60 min")
    if study.contact:
        yield words.say("job.contact", contact=study.contact)


def _bonus(study: Study, words: LanguageWords) -> Iterator[str]:
    bonus = study.clean.bonus
    if bonus is not None and bonus.quantity is not None:
        yield words.say("job.bonus_quantity", n=bonus.quantity.sessions, each=money(bonus.quantity.each))
    if bonus is not None and bonus.quality is not None:
        yield words.say("job.bonus_quality", best=bonus.quality.best, each=money(bonus.quality.each))
