"""Over HTTP, the shown reference and the hidden one are two files, whatever the medium."""

from __future__ import annotations

import io
import json
from pathlib import Path
from typing import Any

import httpx
import pytest
from PIL import Image

from beholder.methods import load_study
from beholder.server.process import RunningServer, run_server
from beholder.server.tokens import robot_signature
from support.small_media import write_stimulus

CONDITIONS = ("zqoriginal", "zqone", "zqtwo")
TYPES = {"wav": "audio/wav", "png": "image/webp", "txt": "text/plain; charset=utf-8", "mp4": "video/mp4"}
BOARD = {"method": "parallel", "options": {"reference": "both"}}


def write_study(folder: Path, suffix: str) -> Path:
    for strength, condition in enumerate(CONDITIONS, start=1):
        for content in ("zqsea", "zqwood"):
            write_stimulus(folder / "stimuli" / condition / f"{content}.{suffix}", strength)
    study = {
        "beholder": 1, "name": "tiny", "title": "Tiny", **BOARD, "stimuli": "stimuli",
        "conditions": [{"name": "zqoriginal", "role": "reference"}, "zqone", "zqtwo"],
        "questions": [{"id": "q1", "text": "Quality?", "scale": "cont100"}],
        "design": {"participants": 2, "trials": 2, "seed": 1}, "contact": "name@example.org",
    }  # fmt: skip
    (folder / "study.yaml").write_text(json.dumps(study))
    return folder / "study.yaml"


async def trial_of(server: RunningServer, client: httpx.AsyncClient) -> dict[str, Any]:
    """Return the first trial that a participant gets."""
    params = {"robot": "p", "signature": robot_signature(server.store.secret, "p")}
    arrival = (await client.post("/api/arrive", json={"study": "tiny", "params": params, "device": {}})).json()
    client.headers["authorization"] = f"Bearer {arrival['token']}"
    step: dict[str, Any] = arrival["step"]
    while step["kind"] != "trial":
        answer: dict[str, Any] = {"agree": True} if step["kind"] == "consent" else {}
        reply = await client.put(f"/api/answers/{step['key']}", json={"answer": answer, "events": []})
        assert reply.status_code == 200, reply.text
        step = reply.json()["step"]
    trial: dict[str, Any] = step["trial"]
    return trial


def decoded(kind: str, data: bytes) -> bytes:
    """Return the decoded pixels or samples of a file."""
    if kind == "png":
        return Image.open(io.BytesIO(data)).tobytes()
    if kind == "txt":
        return data.strip()
    if kind == "wav":
        return data[44 : 44 + int.from_bytes(data[40:44], "little")]
    return data[: data.rfind(b"free") - 4]


@pytest.mark.parametrize("kind", TYPES)
async def test_the_shown_and_the_hidden_reference_differ_in_address_tag_size_and_bytes(
    tmp_path: Path, kind: str
) -> None:
    async with (
        run_server(load_study(write_study(tmp_path, kind)), port=0) as server,
        httpx.AsyncClient(base_url=server.address, timeout=60) as client,
    ):
        trial = await trial_of(server, client)
        urls = [slot["media"]["url"] for slot in trial["slots"]]
        files = [await client.get(url) for url in urls]
    assert len(files) == 4
    assert {file.headers["content-type"] for file in files} == {TYPES[kind]}
    assert len(set(urls)) == 4
    assert len({file.headers["etag"] for file in files}) == 4
    assert len({len(file.content) for file in files}) == 4
    assert len({file.content for file in files}) == 4
    assert [slot["media"]["bytes"] for slot in trial["slots"]] == [len(file.content) for file in files]
    looks = [decoded(kind, file.content) for file in files]
    assert looks.count(looks[0]) == 2, "the reference is there twice, and only what people see says so"
    assert len(set(looks)) == 3
    names = [name.encode() for name in (*CONDITIONS, "zqsea", "zqwood")]
    assert not [name for file in files for name in names if name in file.content]
