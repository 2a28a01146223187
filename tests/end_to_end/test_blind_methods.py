"""Blinding under every method and medium: no byte that a participant receives names what is shown."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, cast

import httpx
import pytest

from beholder.methods import find, load_study, names
from beholder.methods.contract import Trial
from beholder.server.process import RunningServer, run_server
from beholder.server.tokens import robot_signature
from beholder.simulation.oracle import Oracle
from beholder.simulation.raters import abilities_of
from beholder.simulation.robot import Robot
from beholder.simulation.truth import truth_of
from beholder.stimuli.ingestion import load_catalogue
from beholder.types import Json
from support.small_media import write_stimulus
from support.variants import variant

SUFFIXES = {"video": "mp4", "audio": "wav", "image": "png", "text": "txt"}
MARK = "zqmark"
"""In the name of every condition, label, content and factor, and in no other word."""
OPTIONS: Mapping[str, Mapping[str, Any]] = {
    "abx": {"options": {"mode": "identify"}, "conditions": ["zqmarkworse", "zqmarkworst"]},
    "acr-hr": {"design": {"participants": 2, "trials": 4, "seed": 1}},
    "ab": {"conditions": ["zqmarkworse", "zqmarkworst"]},
    "p835": {"questions": []},
    "av": {"questions": []},
    "samviq": {"playback": {"watch": "whole"}},
    "transcribe": {"options": {"transcripts": "kept"}, "playback": {"watch": "none", "max_plays": 2}},
    "mushra": {"options": {"anchors": ["zqmarkworse", "zqmarkworst"]}},
    "likert": {"questions": [{"id": f"q{n}", "text": f"It is {word}."} for n, word in enumerate(("good", "odd"), 1)]},
}
PAIRS = [(method, medium) for method in names() for medium in SUFFIXES if medium in find(method).media]


def study_of(method: str, medium: str) -> dict[str, Any]:
    options = OPTIONS.get(method, {})
    if method == "mismatch" and medium != "video":
        options = {"options": {"texts": "transcripts", "tolerance": 1}}
    labels = {"zqmarkoriginal": "Zqmarkbest", "zqmarkworse": "Zqmarkmiddle", "zqmarkworst": "Zqmarklow"}
    return {
        "beholder": 1, "name": "tiny", "title": "Tiny", "method": method,
        "stimuli": {"folder": "stimuli", "accept": ["loudness", "file_size"]},
        "conditions": [
            {"name": name, "label": label, **({"role": "reference"} if name == "zqmarkoriginal" else {})}
            for name, label in labels.items()
        ],
        "questions": [{"id": "q1", "text": "Quality?"}], "playback": {"watch": "none"},
        "design": {"participants": 2, "trials": 2, "seed": 1}, "contact": "name@example.org", **options,
    }  # fmt: skip


@pytest.fixture(scope="module")
def media(tmp_path_factory: pytest.TempPathFactory) -> Mapping[str, Path]:
    """A folder for each medium with its stimuli, measured once."""
    folders = {}
    for medium, suffix in SUFFIXES.items():
        folder = folders[medium] = tmp_path_factory.mktemp(medium)
        # The words of `transcripts` are shown; those of `kept` are what people are to understand.
        for name, text in (("transcripts", "The small boat reached the {}."), ("kept", "Zqmarkone zqmarktwo.")):
            (folder / name).mkdir()
            for content, word in (("zqmarksea", "harbour"), ("zqmarkwood", "orchard")):
                (folder / name / f"{content}.txt").write_text(text.format(word), "utf-8")
        for strength, condition in enumerate(("zqmarkoriginal", "zqmarkworse", "zqmarkworst"), 1):
            for place, content in enumerate(("zqmarksea", "zqmarkwood")):
                file = folder / "stimuli" / condition / f"{content}.{suffix}"
                write_stimulus(file, strength + 3 * place, has_sound=True)
        (folder / "study.yaml").write_text(json.dumps(study_of("acr", medium)), "utf-8")
        load_catalogue(load_study(folder))
    return folders


ACR5 = [{"id": "q1", "text": "How good?", "scale": "acr5"}]
STATEMENTS = OPTIONS["likert"]["questions"]
TWO = ["zqmarkworse", "zqmarkworst"]
LINE = {"playback": {"watch": "whole", "loop": "region", "waveform": True, "switching": "keep"}}
BETWEEN = [
    {
        "id": "like",
        "text": "Like this?",
        "type": "likert",
        "every": "trial",
        "file": "stimuli/zqmarkworst/zqmarksea.{}",
    },
    {"id": "known", "text": "Known?", "type": "single", "options": ["yes", "no"], "every": "content"},
]
PAGES: Mapping[str, tuple[str, str, Mapping[str, Any]]] = {
    "a mark while it plays": ("acr", "video", {"questions": ACR5, "options": {"marks": {"labels": ["blur"]}}}),
    "marks beside statements": ("likert", "video", {"questions": STATEMENTS, "options": {"marks": True}}),
    "marks on a board": ("parallel", "audio", {"options": {"marks": True}}),
    "views of images": ("pair", "image", {"options": {"view": ["wipe", "flip", "side-by-side"], "magnifier": True}}),
    "views of videos": ("ccr", "video", {"options": {"view": "flip"}}),
    "a drawn view": ("ab", "video", {"conditions": TWO, "options": {"view": {"within": ["flip", "wipe"]}}}),
    "a separate stage": ("acr", "video", {"questions": ACR5, "stage": "separate"}),
    "two on a separate stage": ("ccr", "audio", {"stage": "separate"}),
    "the waveform of a reference": ("mushra", "audio", {**OPTIONS["mushra"], **LINE}),
    "a waveform of all": ("abx", "audio", {**OPTIONS["abx"], **LINE}),
    "grades over a waveform": ("bs1116", "audio", LINE),
    "questions between, and the last page": (
        "parallel", "image", {"during": BETWEEN, "ending": {"agreement": True, "crowd": True}}
    ),
    "active pairs": ("pair", "text", {"design": {"participants": 2, "trials": 3, "pairs": "active"}}),
    "an arena of orders": ("rank", "text", {"design": {"trials": 2, "per_trial": 2, "arena": {"per_day": 3}}}),
}  # fmt: skip
"""Pages and designs beside the plain one of a method: what study.yaml has, by what it is."""


class Reader(Robot):
    """A participant who opens every medium that a step names, before it is answered wrongly and well."""

    shown_on_stage: int = 0
    """How many media the second device was given."""

    async def _send(self, method: str, path: str, body: Json, token: str = "") -> httpx.Response:
        if path == "/api/stage/report":
            # The device that shows asks first what there is, and opens it.
            asked = await super()._send(method, path, {**cast("dict[str, Json]", body), "events": []}, token)
            found = addresses(asked.raise_for_status().json())
            self.shown_on_stage += len(found)
            for address in sorted(found):
                assert (await self.client.get(address)).status_code == 200, address
        return await super()._send(method, path, body, token)

    async def answer_step(self) -> None:
        for address in sorted(addresses(self.step)):
            response = await self.client.get(address)
            assert response.status_code == 200, address
        await self.put(self.step["key"], {"nonsense": True}, [])
        await super().answer_step()


def addresses(step: object) -> set[str]:
    """Return all addresses of media in a step, wherever they stand."""
    if isinstance(step, str):
        return {step} if step.startswith("/media/") else set()
    inner = step.values() if isinstance(step, Mapping) else step if isinstance(step, list) else ()
    return {found for one in inner for found in addresses(one)}


async def crawl(server: RunningServer) -> tuple[Reader, list[tuple[str, bytes]]]:
    """Take the whole study; return the participant, and every byte that came, with the headers."""
    received: list[tuple[str, bytes]] = []

    async def keep(response: httpx.Response) -> None:
        body = await response.aread()
        head = repr(response.headers.multi_items()).encode()
        received.append((f"{response.request.method} {response.request.url.path}", head + body))

    served, secret = server.service.served, server.store.secret
    oracle = Oracle(served, secret, truth_of(served.study, served.catalogue, served.method, 1), 1)
    params = {"robot": "p", "signature": robot_signature(secret, "p")}
    responder = oracle.responder("honest", "p", abilities_of("honest"))
    async with httpx.AsyncClient(base_url=server.address, timeout=60, event_hooks={"response": [keep]}) as client:
        reader = Reader("p", served.study.name, params, client, responder)
        await client.get("/s/tiny")
        await client.get("/openapi.json")
        await reader.arrive()
        await reader.consent()
        oracle.claims |= {row["session"]: row["list"] async for row in server.store.rows("claims")}
        await reader.take()
    return reader, received


@pytest.mark.long
async def test_nothing_that_a_participant_receives_names_what_is_shown(
    tmp_path: Path, media: Mapping[str, Path], whole: bool
) -> None:
    """Every method with one medium, each medium with several methods; whole: every pair of the two."""
    by_method = {name: [medium for method, medium in PAIRS if method == name] for name in names()}
    turns = [(name, media[place % len(media)]) for place, (name, media) in enumerate(by_method.items())]
    chosen = PAIRS if whole else turns
    assert {method for method, _ in chosen} == set(names())
    assert {medium for _, medium in chosen} == set(SUFFIXES)
    for method, medium in chosen:
        folder = tmp_path / f"{method}-{medium}"
        shutil.copytree(media[medium], folder)
        (folder / "study.yaml").write_text(json.dumps(study_of(method, medium)), "utf-8")
        async with run_server(load_study(folder), port=0) as server:
            reader, received = await crawl(server)
            secret = server.store.secret
        assert reader.has_completed, (method, medium, reader.refusal)
        media_received = [what for what, _ in received if what.startswith("GET /media/")]
        assert len(set(media_received)) >= 2, (method, medium)
        code = str(reader.step["code"]).encode()
        for what, data in received:
            assert MARK.encode() not in data.lower(), (method, medium, what)
            assert secret.hex().encode() not in data, (method, medium, what)
        assert not [what for what, data in received[:-1] if code in data], (method, medium)
        shutil.rmtree(folder)


@pytest.mark.long
async def test_no_page_beyond_the_plain_one_names_what_is_shown(
    tmp_path: Path, media: Mapping[str, Path], whole: bool
) -> None:
    """Marks, views, a second device, waveforms, questions between, the last page, active pairs; whole: all of them."""
    few = ("a separate stage", "questions between, and the last page", "active pairs")
    for name in PAGES if whole else few:
        method, medium, keys = PAGES[name]
        folder = tmp_path / name.replace(" ", "-").replace(",", "")
        shutil.copytree(media[medium], folder)
        written = json.dumps({**study_of(method, medium), **keys}).replace(".{}", f".{SUFFIXES[medium]}")
        (folder / "study.yaml").write_text(written, "utf-8")
        async with run_server(load_study(folder), port=0) as server:
            reader, received = await crawl(server)
            secret = server.store.secret
        assert reader.has_completed, (name, reader.refusal)
        assert (reader.shown_on_stage > 0) == ("stage" in keys), name
        seen = [what for what, _ in received if what.startswith("GET /media/")]
        assert len(set(seen)) >= 2, name
        for what, data in received:
            assert MARK.encode() not in data.lower(), (name, what)
            assert secret.hex().encode() not in data, (name, what)
            assert b"draw_probability" not in data, (name, what)
        shutil.rmtree(folder)


@pytest.mark.parametrize(("medium", "swap"), [("video", "stimulus"), variant("audio", "companion")])
async def test_nothing_tells_which_of_the_two_is_mismatched(
    tmp_path: Path, media: Mapping[str, Path], medium: str, swap: str
) -> None:
    """Neither words nor sizes, lengths or types; and either stands first equally often."""
    folder = tmp_path / "study"
    shutil.copytree(media[medium], folder)
    written = study_of("mismatch", medium)
    written["options"] = {**written.get("options", {}), "swap": swap, "tolerance": 1}
    written["design"] = {"participants": 4, "trials": 2, "seed": 1}
    (folder / "study.yaml").write_text(json.dumps(written), "utf-8")
    async with run_server(load_study(folder), port=0) as server:
        lists, catalogue = server.service.served.lists, server.service.served.catalogue
        first = [entry.slots[0].role for entries in lists for entry in entries if isinstance(entry, Trial)]
        reader, received = await crawl(server)
    assert reader.has_completed, reader.refusal
    # What is served is filled up to the same size, and by a drawn length beyond it.
    for stimulus in catalogue.by_cell.values():
        assert catalogue.class_sizes[stimulus.id] == catalogue.class_sizes[f"mismatched:{stimulus.id}"]
    assert first.count("matched") == first.count("mismatched") == 4
    for what, data in received:
        for word in (b"matched", b"donor", b"judged", b"foreign"):
            assert word not in data.lower(), (what, word)
    pages = [json.loads(body) for what, body in reader_pages(received)]
    for slots in [page["trial"]["slots"] for page in pages]:
        one, other = (
            {name: value for name, value in slot["media"].items() if name not in ("url", "bytes")} for slot in slots
        )
        assert one == other
    assert len(pages) >= 2


def reader_pages(received: Iterable[tuple[str, bytes]]) -> list[tuple[str, bytes]]:
    """Return the rating pages among what came, without their headers."""
    found = []
    for what, data in received:
        text = data.partition(b'{"')[1] + data.partition(b'{"')[2]
        if what.startswith(("GET /api/step", "PUT /api/answers")) and b'"slots"' in text:
            document = json.loads(text)
            found.append((what, json.dumps(document.get("step", document)).encode()))
    return found
