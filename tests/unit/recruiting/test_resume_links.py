"""Resume links: a researcher gives somebody the way back, and is told plainly where there is none."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from urllib.parse import parse_qsl, urlsplit

import pytest
from click.testing import CliRunner

import beholder.recruiting
from beholder.cli import cli
from beholder.errors import RecruitError
from beholder.methods import load_study
from beholder.planning.serialization import lists_to_json
from beholder.recruiting.context import RecruitContext, open_context
from beholder.recruiting.resume_links import resume_link
from beholder.server.process import load_served
from beholder.server.service import StudyService
from beholder.store.contract import LedgerEntry
from beholder.store.open import open_store
from beholder.store.rules import record_of
from beholder.types import Json
from support.clock_service import Clock
from support.message_studies import write_asking
from support.platform_visitors import act, come

URL = "https://lab.example.org"
SECRET = "Whoever has this link has the session: send it to this person alone."


@asynccontextmanager
async def hosted(folder: Path) -> AsyncIterator[tuple[StudyService, Clock]]:
    """Yield the service of a study of texts in a store of its own, as a server begins it, and its clock."""
    served, plan = load_served(load_study(write_asking(folder, checks={}, recruit={"mode": "link"})), URL)
    clock = Clock()
    async with open_store(folder / "store") as store:
        lists = list(lists_to_json(plan))
        await store.begin(record_of(served.study, served.catalogue, plan.plan_digest, lists, clock()), 1)
        yield StudyService(served, store, now=clock), clock


async def problem(context: RecruitContext, who: str, url: str | None = URL) -> str:
    with pytest.raises(RecruitError) as caught:
        await resume_link(context, who, public_url=url)
    return str(caught.value)


async def test_the_link_leads_back_to_the_session_on_another_device(tmp_path: Path) -> None:
    async with hosted(tmp_path) as (host, clock):
        ada = await come(host, clock, participant="ada")
        await ada.until("trial:2")
        pseudonym = (await ada.facts()).session.participant
        async with open_context(host.served.study, str(tmp_path / "store")) as context:
            for who in ("ada", pseudonym, pseudonym[:6], ada.session):
                found = await resume_link(context, who, public_url=f"{URL}/")
                assert (found.participant, found.session, found.is_over) == (pseudonym, ada.session, False)
            assert found.link.startswith(f"{URL}/s/{host.served.study.name}?resume=")
            assert found.words.startswith(f"{pseudonym}: session {ada.session} goes on where it is: after trial 1 of ")
            assert found.words.endswith(f". {SECRET}")
            elsewhere = await come(host, clock, **dict(parse_qsl(urlsplit(found.link).query)))
            assert (elsewhere.session, elsewhere.key) == (ada.session, "trial:2")
            await act(host, "reset", ada, clock)
            found = await resume_link(context, "ada", public_url=URL)
            assert f"session {ada.session} begins anew, as you have allowed. {SECRET}" in found.words
            anew = await come(host, clock, **dict(parse_qsl(urlsplit(found.link).query)))
            assert anew.session != ada.session
            await anew.until("end")
            for who in ("ada", ada.session):
                over = await resume_link(context, who, public_url=URL)
            assert (over.session, over.is_over) == (anew.session, True)
            assert "is over (completed), and the link shows its last page once more" in over.words


async def test_where_no_link_would_lead_back_that_is_said(tmp_path: Path) -> None:
    async with hosted(tmp_path) as (host, clock):
        people = {name: await come(host, clock, participant=name) for name in ("shut", "gone", "ada")}
        pseudonyms = {name: (await one.facts()).session.participant for name, one in people.items()}
        for one in people.values():
            await one.until("trial:1")
        await act(host, "shut_out", people["shut"], clock)
        await host.withdraw(people["gone"].token)
        async with open_context(host.served.study, str(tmp_path / "store")) as context:
            assert await problem(context, "nobody") == (
                "nobody  is nobody who came. Allowed: a pseudonym, a session, or its beginning; a submission in "
                "decide/decisions.csv. `beholder participants` lists everybody."
            )
            assert await problem(context, "shut") == (
                f"{pseudonyms['shut']}  is shut out, and would be turned away. `beholder participants let-in` comes "
                "first."
            )
            assert await problem(context, pseudonyms["gone"]) == (
                f"{pseudonyms['gone']}  was erased, and there is nothing to go back to."
            )
            assert "is nobody who came" in await problem(context, "gone"), "the link to who it is went with the answers"
            assert await problem(context, "ada", None) == (
                "--public-url  is left out, and the study was never launched. Allowed: an address that begins with "
                "https:// or http://. Write --public-url with the address under which participants reach the server."
            )
            assert await problem(context, "ada", "lab.example.org") == (
                "--public-url  is lab.example.org. Allowed: an address that begins with https:// or http://."
            )
            namesake = (await (await come(host, clock, PROLIFIC_PID="ada")).facts()).session.participant
            both = ", ".join(sorted([f"{pseudonyms['ada']} (link)", f"{namesake} (prolific)"]))
            assert await problem(context, "ada") == (
                f"ada  is the id of 2 people, who came by different ways. Allowed: {both}. Find out which of them "
                "wrote, and write the pseudonym."
            )


async def test_nothing_is_given_for_an_identity_that_was_purged(tmp_path: Path) -> None:
    async with hosted(tmp_path) as (host, clock):
        ada = await come(host, clock, participant="ada")
        await ada.until("trial:1")
        pseudonym = (await ada.facts()).session.participant
        await host.store.purge_identity()
        clock.wait(days=1)
        await host.store.ledger.append([LedgerEntry("purge", "done", clock(), reason_code="identity")])
        async with open_context(host.served.study, str(tmp_path / "store")) as context:
            for who in (pseudonym, ada.session):
                assert await problem(context, who) == (
                    f"{pseudonym}  came before who is who was erased, on 2026-05-05: nobody can tell whose session it "
                    "is. No link is given."
                )
            assert "is nobody who came" in await problem(context, "ada")


async def test_the_command_prints_the_link_with_the_address_of_the_launch(tmp_path: Path) -> None:
    async with hosted(tmp_path) as (host, clock):
        ada = await come(host, clock, participant="ada")
        await ada.until("trial:1")
        evidence: Json = {"public_url": URL, "run": 1}
        entry = LedgerEntry("draft", "done", clock(), provider_ref="walk", evidence=evidence)
        await host.store.ledger.append([entry])
        study = str(host.served.study.folder / "study.yaml")
        printed = CliRunner().invoke(cli, ["participants", "resume-link", "ada", study])
        assert printed.exit_code == 0, printed.output
        link, words = printed.output.splitlines()
        assert link == f"{URL}/s/{host.served.study.name}?resume={ada.token}"
        assert words.endswith(SECRET)
        shown = CliRunner().invoke(cli, ["participants", "resume-link", "ada", study, "--json"])
        assert json.loads(shown.output)["link"] == link
        noted = [one for one in await host.store.ledger.entries() if one.kind == "resume_link"]
        assert [(one.session, one.reason_text) for one in noted] == [(ada.session, "")] * 2
        person = CliRunner().invoke(cli, ["participants", "show", ada.session, study])
        assert person.output.count("resume link") == 2
        assert beholder.recruiting.resume_link("ada", study).link == link
        wrong = CliRunner().invoke(cli, ["participants", "resume-link", "bob", study])
        assert isinstance(wrong.exception, RecruitError)
        assert "is nobody who came" in str(wrong.exception)
