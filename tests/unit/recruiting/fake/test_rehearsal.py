"""Simulated participants of the fake platform, by behaviour."""

from __future__ import annotations

from collections.abc import AsyncIterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from beholder.methods import load_study
from beholder.recruiting.fake import FakeProlific
from beholder.recruiting.fake.http import FakeCall
from beholder.recruiting.fake.rehearsal import (
    ALL_WELL,
    BEHAVIOURS,
    Behaviour,
    PlatformRehearsal,
    RehearsedVisit,
    draw_behaviours,
    visit_study,
)
from beholder.server.entrances import shared_codes
from beholder.server.process import RunningServer, run_server
from beholder.simulation.crowd import SimulatedVisitors
from beholder.store.contract import LedgerEntry
from beholder.testing import write_study

ACTIONS: dict[str, dict[str, str]] = {
    "COMPLETED": {"action": "MANUALLY_REVIEW"},
    "NO_CONSENT": {"action": "REQUEST_RETURN", "return_reason": "Withdrew consent"},
    "OTHER": {"action": "MANUALLY_REVIEW"},
    "SCREENED_OUT": {"action": "REQUEST_RETURN", "return_reason": "Does not fit"},
}
EYES = {"id": "eyes", "text": "Do you see well?", "type": "single", "options": ["yes", "no"], "correct": ["yes"]}


class Site(NamedTuple):
    """A server of ours, the fake with our study on it, and who may come."""

    server: RunningServer
    fake: FakeProlific
    visitors: SimulatedVisitors
    posting: str
    codes: dict[str, str]


@pytest.fixture
async def site(tmp_path: Path, tiny: Path) -> AsyncIterator[Site]:
    study = load_study(
        write_study(
            tmp_path / "study",
            tiny,
            recruit={"mode": "prolific", "reward": "2.00 GBP"},
            playback={"watch": "none"},
            design={"participants": 24, "trials": 2, "seed": 3},
            before=[EYES],
        )
    )
    async with run_server(study, port=0) as server:
        shared = shared_codes(study, server.store.secret)
        codes = {
            "COMPLETED": shared["completed"], "NO_CONSENT": shared["no_consent"], "OTHER": shared["technical"],
            "SCREENED_OUT": shared["screened_out"],
        }  # fmt: skip
        fake = FakeProlific()
        posting = _posted(fake, server.link, codes)
        launched = LedgerEntry(
            "draft", "done", datetime.now(UTC), provider_ref=posting, evidence={"key": "k", "run": 1}
        )
        await server.store.ledger.append([launched])
        visitors = SimulatedVisitors(server.service.served, server.store, waits=False)
        yield Site(server, fake, visitors, posting, codes)


def _posted(fake: FakeProlific, link: str, codes: dict[str, str]) -> str:
    ids = "PROLIFIC_PID={{%PROLIFIC_PID%}}&STUDY_ID={{%STUDY_ID%}}&SESSION_ID={{%SESSION_ID%}}"
    body: dict[str, Any] = {
        "name": "Tiny", "description": "<p>Look.</p>", "external_study_url": f"{link}?{ids}",
        "prolific_id_option": "url_parameters", "total_available_places": 24, "estimated_completion_time": 5,
        "reward": 200,
        "completion_codes": [{"code": code, "code_type": kind, "actions": [ACTIONS[kind]]}
                             for kind, code in codes.items()],
    }  # fmt: skip
    posting = str(fake.studies.create(FakeCall((), {}, body)).body["id"])
    fake.studies.move(FakeCall((posting,), {}, {"action": "PUBLISH"}))
    return posting


LEFT: dict[Behaviour, tuple[str, str, str]] = {
    "finish": ("AWAITING REVIEW", "COMPLETED", "completed"),
    "careless": ("AWAITING REVIEW", "COMPLETED", "completed"),
    "drop_out": ("ACTIVE", "", ""),
    "return": ("RETURNED", "", ""),
    "return_after": ("RETURNED", "COMPLETED", "completed"),
    "late": ("TIMED-OUT", "COMPLETED", "completed"),
    "no_code": ("AWAITING REVIEW", "NOCODE", "completed"),
    "wrong_code": ("AWAITING REVIEW", "WRONG1", "completed"),
    "leaked_code": ("AWAITING REVIEW", "COMPLETED", ""),
    "twice": ("AWAITING REVIEW", "COMPLETED", "completed"),
    "elsewhere": ("RETURNED", "", ""),
    "withdraw": ("RETURNED", "NO_CONSENT", "withdrawn"),
    "decline": ("RETURNED", "NO_CONSENT", "no_consent"),
    "unfit": ("RETURNED", "SCREENED_OUT", "screened_out"),
    "gives_up": ("AWAITING REVIEW", "NOCODE", ""),
}
"""How a submission stands, which code was handed in, and how our session ended."""


async def test_everybody_leaves_what_they_do_and_gets_the_code_of_their_end(site: Site) -> None:
    assert set(LEFT) == set(BEHAVIOURS)
    endings = {}
    for behaviour in BEHAVIOURS:
        visits, outcome = await visit_study(site.fake, site.visitors, site.posting, behaviour)
        code = visits[-1].submission.code or ""
        kind = {value: name for name, value in site.codes.items()}.get(code, code)
        endings[behaviour] = (visits[-1].submission.status, kind, outcome.outcome)
        assert outcome.refused == ("other_posting" if behaviour == "elsewhere" else "")
    assert endings == LEFT
    rows = [row async for row in site.server.store.rows("sessions")]
    assert {row["mode"] for row in rows} == {"prolific"}
    people = set(site.fake.people.all)
    assert not any(person in str(row) for row in rows for person in people)


async def test_people_of_a_rehearsal_come_by_themselves(site: Site) -> None:
    visits: list[RehearsedVisit] = []
    people: list[Behaviour] = ["finish", "drop_out", *draw_behaviours(2, ALL_WELL)]
    await PlatformRehearsal(site.fake, site.visitors, people, visits.append).run(every_s=0.01)
    assert sorted(visits) == [
        (1, "finish", "completed, AWAITING REVIEW"),
        (2, "drop_out", "left, ACTIVE"),
        (3, "finish", "completed, AWAITING REVIEW"),
        (4, "finish", "completed, AWAITING REVIEW"),
    ]
    assert site.fake.submissions.taken(site.posting) == 4
