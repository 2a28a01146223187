"""The job text: what to paste where people are asked to take part, and what only the researcher needs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path

from beholder.recruit.contract import Job
from beholder.recruit.description import describe
from beholder.recruit.panel.invitations import LINKS, is_personal
from beholder.serve.returning import CODED, codes_of
from beholder.study.model import Study
from beholder.types import Outcome

JOB = "launch/job.md"
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
_SONA = "sona_id"
_CONNECT = "participantId"


def begin_address(study: Study, public_url: str) -> str:
    """Return where people begin, with placeholders for what a platform fills in."""
    recruit, address = study.recruit, f"{public_url.rstrip('/')}/s/{study.name}"
    if recruit.mode != "panel" or recruit.id_parameter is None:
        return address
    if recruit.id_parameter == _SONA:
        return f"{address}?{_SONA}=%SURVEY_CODE%"
    visit = f"&{recruit.visit_parameter}={{{{visit}}}}" if recruit.visit_parameter else ""
    return f"{address}?{recruit.id_parameter}={{{{id}}}}{visit}"


def write_job(study: Study, job: Job, secret: bytes) -> Path:
    """Return launch/job.md, written: an invitation for `link`, and for `panel` a job with its settings and codes."""
    path = study.folder / JOB
    path.parent.mkdir(parents=True, exist_ok=True)
    is_platform = study.recruit.mode == "panel" and study.recruit.id_parameter is not None
    parts = _job(study, job, secret) if is_platform else _invitation(study, job)
    path.write_text("\n\n".join(parts) + "\n", "utf-8", newline="\n")
    return path


def _invitation(study: Study, job: Job) -> Iterator[str]:
    yield f"# {study.title}"
    yield "You are invited to take part in a study."
    yield describe(study, job)
    if not is_personal(study):
        yield f"Begin here: {job.url}"
        return
    yield "Begin here, by your own link, which is for you alone: `LINK`"
    yield "---"
    if study.recruit.people is None:
        yield (
            f"For you, not for participants: `{LINKS}` has {job.places} numbered links, and each works for one person. "
            "Give everybody another one in place of `LINK`, and note who got which only where you need to know."
        )
        return
    yield (
        f"For you, not for participants: `{LINKS}` is your list with a column `link`. Send everybody their own, as a "
        "mail program does with a list, in place of `LINK`. It holds who was invited, and stays with you."
    )


def _job(study: Study, job: Job, secret: bytes) -> Iterator[str]:
    yield f"# {study.title}"
    yield "Paste the title above and the description. What stands below it is for you alone, the codes above all."
    yield "## Description"
    yield describe(study, job)
    yield _coming_back(study)
    yield "## Settings"
    yield _table(("what", "value"), _settings(study, job))
    yield from _placeholders(study)
    if study.recruit.people is not None:
        yield f"People in your own list have personal links beside this: `{LINKS}`. They need no platform."
    yield "## Codes"
    yield from _codes(study, job, secret)
    yield "## Afterwards"
    yield (
        "Download the platform's list of submissions as CSV, with people's ids and the codes they pasted. "
        "`beholder decide --submissions FILE` holds it against what is here, and `beholder pay` lists who is owed what."
    )


def _coming_back(study: Study) -> str:
    if study.recruit.return_to.completed:
        return "At the end a button brings you back here. Please press it: it tells that you have finished."
    return "At the end you are shown a code. Please paste it here: it tells that you have finished."


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
    if recruit.id_parameter == _SONA:
        yield (
            "SONA: this is the Study URL of an online external study; SONA writes the person's number in place of "
            "`%SURVEY_CODE%`. Its client-side completion address grants the credit: write it as "
            "`recruit.return_to.completed`, with `{id}` where it says `XXXX`."
        )
        return
    words = "In place of `{{id}}` write what your platform fills in for the person's id"
    words += ", and in place of `{{visit}}` for the id of the visit" if recruit.visit_parameter else ""
    yield f"{words}. Somebody who comes without it is told so, and nothing is stored."
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
    common, back = codes_of(study, secret), study.recruit.return_to
    has_addresses = any(getattr(back, outcome) for outcome in CODED)
    heads = ("code", "means", "earns", *(("goes back to",) if has_addresses else ()))
    rows = []
    for outcome in CODED:
        code = common.get(outcome)
        shown = f"`{code}`" if code else "none" if outcome == "no_consent" else "one for each session"
        address = getattr(back, outcome)
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
