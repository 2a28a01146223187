"""Hostile answers to methods of fixed questions, of two scores or of a hidden reference: each is refused with a reason,
nothing is stored, and the page tells nothing of which one is the reference."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

import httpx
import pytest

from beholder.methods import load_study
from beholder.server.process import run_server
from support.small_media import write_stimulus
from support.variants import variant
from support.visitor import Site, Visitor, facts_of, robot

Scores = dict[str, dict[str, Any]]
GOOD: dict[str, tuple[str, Scores]] = {
    "bs1116": ("wav", {"q1": {"s2": 5, "s3": 3.6}}),
    "dscqs": ("png", {"q1": {"s1": 70, "s2": 40}}),
    "samviq": ("png", {"q1": {"s2": 70, "s3": 40, "s4": 10}}),
    "p835": ("wav", {"q1": {"s1": 3}, "q2": {"s1": 4}, "q3": {"s1": 2}}),
    "av": ("mp4", {"q1": {"s1": 3}, "q2": {"s1": 4}, "q3": {"s1": 2}}),
}
OFF_SCALE = {"bs1116": (5.05, 7, 0.9), "dscqs": (100.5, 101, -1), "samviq": (0.5, 1000, -1)}
"""Between two steps, above the scale and below it; categories have 2.5, 6 and 0."""


def write(folder: Path, method: str) -> Path:
    """Write a study of one method, and return its study.yaml."""
    suffix = GOOD[method][0]
    for strength, condition in enumerate(("source", "near", "far"), 1):
        for place, content in enumerate(("sea", "wood")):
            file = folder / "stimuli" / condition / f"{content}.{suffix}"
            write_stimulus(file, strength + 3 * place, has_sound=True)
    study: dict[str, Any] = {
        "beholder": 1, "name": "tiny", "title": "Tiny", "method": method, "contact": "name@example.org",
        "stimuli": {"folder": "stimuli", "accept": ["loudness", "file_size"]},
        "conditions": [{"name": "source", "role": "reference"}, "near", "far"],
        "playback": {"volume": False}, "design": {"participants": 2, "trials": 2, "seed": 1},
    }  # fmt: skip
    if method not in ("p835", "av"):
        study["questions"] = [{"id": "quality", "text": "?"}]
    (folder / "study.yaml").write_text(json.dumps(study), "utf-8")
    return folder / "study.yaml"


def hostile(method: str) -> list[dict[str, Any]]:
    """Return answers that no server may take."""
    good = GOOD[method][1]
    slot = next(iter(good["q1"]))
    answers: list[dict[str, Any]] = [{}, {"scores": {}}, {"scores": [good]}, {"scores": {**good, "q9": good["q1"]}}]
    for wrong in (*OFF_SCALE.get(method, (2.5, 6, 0)), "5", None, True, [5], {"value": 5}, 10**400):
        answers.append({"scores": {**good, "q1": {**good["q1"], slot: wrong}}})
    short = {name: score for name, score in good["q1"].items() if name != slot}
    for scores in (short, {**good["q1"], "s9": 5}, {**good["q1"], "source/sea": 5}):
        answers.append({"scores": {**good, "q1": scores}})
    answers.append({"scores": good, "choices": {"q1": {"better": slot}}})
    # A slot that played cannot be missing, nor can an answer go without it.
    answers.append({"scores": {**good, "q1": short}, "missing": {slot: "media_error"}})
    if method == "bs1116":
        answers += [{"scores": {"q1": {"s2": one, "s3": two}}} for one, two in ((4.9, 4.9), (1, 4), (4.9, 5.0001))]
        answers.append({"scores": {"q1": {"s1": 5, "s2": 5, "s3": 3}}})
    return answers


@pytest.mark.parametrize("method", ["bs1116", *map(variant, ("p835", "dscqs", "samviq", "av"))])
async def test_hostile_answers_are_refused_and_change_nothing(method: str, tmp_path: Path) -> None:
    async with (
        run_server(load_study(write(tmp_path, method)), port=0) as server,
        httpx.AsyncClient(base_url=server.address, timeout=60) as client,
    ):
        site = Site(server.service, server.store, server.address, client)
        visitor = robot(site)
        await visitor.arrive()
        for answer in ({"agree": True}, {}):
            (await visitor.answer(answer)).raise_for_status()
        before, key = await facts_of(site, visitor), visitor.step["key"]
        for bad in hostile(method):
            refused = await visitor.answer(bad, visitor.watched())
            assert refused.status_code in (400, 422), bad
            assert refused.json()["error"]["message"], bad
        ahead = await visitor.answer({"scores": GOOD[method][1]}, visitor.watched(), key="trial:2")
        assert ahead.status_code == 409
        unwatched = await visitor.answer({"scores": GOOD[method][1]})
        assert unwatched.status_code == 422
        assert await facts_of(site, visitor) == before
        if method == "bs1116":
            await assert_alike(visitor)
        (await visitor.answer({"scores": GOOD[method][1]}, visitor.watched())).raise_for_status()
        assert visitor.step["key"] != key


async def assert_alike(visitor: Visitor) -> None:
    """Assert that neither addresses nor bytes tell which of two is the reference again."""
    slots = visitor.step["trial"]["slots"]
    assert [(slot["id"], slot["label"], slot["rated"]) for slot in slots] == [
        ("s1", "reference", False), ("s2", "A", True), ("s3", "B", True),
    ]  # fmt: skip
    assert set(slots[1]) == set(slots[2])
    media = [await visitor.client.get(slot["media"]["url"]) for slot in slots]
    assert len({hashlib.sha256(one.content).hexdigest() for one in media}) == 3
    assert len({len(one.content) for one in media}) == 3
    assert len({slot["media"]["ms"] for slot in slots}) == 1
