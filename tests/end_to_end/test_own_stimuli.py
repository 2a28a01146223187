"""Two people with stimuli of their own over HTTP, whoever wants to see these, and a whole study with its results."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import httpx
import pandas as pd
import pytest

from beholder.methods import load_study
from beholder.server import tokens
from beholder.server.process import run_server
from beholder.store.open import read_rows
from support.bound_studies import PEOPLE, write_bound
from support.commands import command
from support.visitor import Site, Visitor

NAMES = [line.split(",")[0] for line in PEOPLE.splitlines()[1:]]
OWN = {"face-21": "ann; bob=colleague", "face-22": "bob; ann=colleague"}


@pytest.fixture
async def site(tmp_path: Path) -> AsyncIterator[Site]:
    study = load_study(write_bound(tmp_path / "study", OWN, playback={"watch": "none"}))
    async with (
        run_server(study, port=0) as server,
        httpx.AsyncClient(base_url=server.address, timeout=60) as client,
    ):
        yield Site(server.service, server.store, server.address, client)


def invited(site: Site, name: str) -> Visitor:
    return Visitor(site, invited=tokens.invitation(site.store.secret, name))


async def take(visitor: Visitor) -> dict[str, str]:
    """Take a whole session; return the text behind each address that was handed out, and all that was read."""
    (await visitor.arrive()).raise_for_status()
    texts: dict[str, str] = {}
    read: list[str] = [json.dumps(visitor.step)]
    while visitor.step["kind"] != "end":
        answer: dict[str, Any] = {"agree": True} if visitor.step["kind"] == "consent" else {}
        if visitor.step["kind"] == "trial":
            for slot in visitor.step["trial"]["slots"]:
                reply = await visitor.client.get(slot["media"]["url"])
                texts[slot["media"]["url"]] = reply.text
            answer = visitor.scores(3)
        (await visitor.answer(answer)).raise_for_status()
        read.append(json.dumps(visitor.step))
    assert not any(name in part for name in NAMES for part in read)
    assert not any(word in part for word in ("colleague", '"own"', "face-", "relation") for part in read)
    return texts


def own_texts(texts: dict[str, str]) -> set[str]:
    return {content for content in OWN for text in texts.values() if f"The text of {content}," in text}


async def test_two_people_see_what_is_theirs_and_strangers_nothing_of_it(site: Site) -> None:
    seen = {name: await take(invited(site, name)) for name in ("ann", "bob", "carl")}
    assert [own_texts(seen[name]) for name in ("ann", "bob", "carl")] == [set(OWN), set(OWN), set()]
    assert [len(seen[name]) for name in ("ann", "bob", "carl")] == [8, 8, 4]
    strangers = [await take(Visitor(site)) for _ in range(3)]
    assert [own_texts(texts) for texts in strangers] == [set()] * 3
    ended = [row for row in await read_rows(site.store, "ends") if row["outcome"] == "completed"]
    assert len(ended) == 6


async def test_whoever_wants_what_is_anothers_gets_nothing(site: Site) -> None:
    ann, carl = invited(site, "ann"), invited(site, "carl")
    for visitor in (ann, carl):
        await visitor.arrive()
        while visitor.step["kind"] != "trial":
            (await visitor.answer({"agree": True} if visitor.step["kind"] == "consent" else {})).raise_for_status()
    theirs = ann.step["trial"]["slots"][0]["media"]["url"].removeprefix("/media/")
    mine = carl.token.split(".")[1]
    # An address of another's session under one's own, made-up ones, and steps that the own list does not have.
    for address in (
        f"{mine}-{theirs.partition('-')[2]}",
        f"{mine}-{'0' * 32}",
        f"{theirs.partition('-')[0]}-{theirs.partition('-')[2][::-1]}",
        f"{theirs}/..",
        mine,
    ):
        assert (await carl.client.get(f"/media/{address}")).status_code == 404
    longest = len([row for row in site.service.served.lists[4] if hasattr(row, "slots")])
    for key in (f"trial:{longest}", f"trial:{longest}:1", "trial:0", "trial:99"):
        reply = await carl.answer({"scores": {"q1": {"s1": 3}}}, key=key)
        assert reply.status_code in (404, 409, 422), key
    for params in ({"participant": "ann"}, {"invited": "ann"}, {"invited": f"ann.{tokens.url_text(b'0' * 16)}"},
                   {"robot": "ann", "signature": "0"}, {"preview": "0", "list": "5"}):  # fmt: skip
        assert (await Visitor(site, **params).arrive()).status_code in (401, 403), params
    # With the token of one person and the link of another it is the link that counts, and nobody's session changes.
    both = invited(site, "bob")
    both.token = ann.token
    await both.arrive()
    assert both.token.split(".")[1] not in (ann.token.split(".")[1], mine)
    claims = {row["session"]: row["list"] for row in await read_rows(site.store, "claims")}
    assert claims == {ann.token.split(".")[1]: 5, mine: 1}


def test_a_study_runs_from_its_check_to_its_report(tmp_path: Path) -> None:
    folder = write_bound(tmp_path / "study", OWN).parent
    checked = command("check", cwd=folder)
    assert (checked.returncode, "No problems found." in checked.stdout) == (0, True), checked.stderr
    bound = "2 lists are for one person each (5, 6), with 4 trials of their own stimuli beside those of everybody."
    assert bound in checked.stdout
    planned = command("plan", cwd=folder)
    assert f"{bound} These trials are not in the counts below." in planned.stdout
    assert command("simulate", "--participants", "6", cwd=folder).returncode == 0
    for verb in ("clean", "analyse", "report", "export"):
        done = command(verb, cwd=folder)
        assert done.returncode == 0, done.stderr
    ratings = pd.read_csv(folder / "clean" / "ratings.csv")
    assert ratings.groupby("relation").size().to_dict() == {"common": 24, "own": 4, "colleague": 4}
    exported = pd.read_csv(folder / "export" / "ratings.csv")
    assert exported.groupby("relation").size().to_dict() == {"common": 24, "own": 4, "colleague": 4}
    assert "| relation |" in (folder / "export" / "README.md").read_text("utf-8") or "relation" in exported
    matrix = pd.read_csv(folder / "export" / "matrix.csv")
    assert not any("face-21" in name for name in matrix.columns)
    conditions = pd.read_csv(folder / "analyse" / "conditions.csv")
    assert set(conditions["n"]) == {12}
    page = (folder / "report" / "index.html").read_text("utf-8")
    assert "Kept apart from all other scores: 4 ratings by 2 participants (own) and 4 ratings by 2 participants" in page
    assert "own minus colleague" in page
    methods = (folder / "report" / "methods.md").read_text("utf-8")
    assert "Some stimuli were shown to certain participants only" in methods
    # What may be shown to others names nobody.
    for part in ("plan", "clean", "analyse", "report", "export"):
        for file in (folder / part).rglob("*"):
            if file.suffix in (".json", ".jsonl", ".csv", ".html", ".md", ".tex"):
                text = file.read_text("utf-8")
                assert not any(f'"{name}"' in text or f",{name}," in text or f">{name}<" in text for name in NAMES), (
                    file
                )


def test_the_export_of_a_study_without_relations_has_no_column_for_them(tmp_path: Path) -> None:
    folder = write_bound(tmp_path / "study", {}).parent
    for arguments in (("simulate", "--participants", "3"), ("clean",), ("export",)):
        assert command(*arguments, cwd=folder).returncode == 0
    for part in ("clean", "export"):
        assert "relation" not in (folder / part / "ratings.csv").read_text("utf-8").splitlines()[0]
    assert "relations" not in (folder / "plan" / "lists.jsonl").read_text("utf-8")
