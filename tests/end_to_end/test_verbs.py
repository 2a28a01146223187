"""The verbs as functions and as commands: the whole way, twice, in a notebook, and with bad input."""

from __future__ import annotations

import asyncio
import json
import re
import subprocess
import sys
from pathlib import Path

import httpx
import pytest
import yaml

import beholder
from beholder.checks.page_registry import page_checks
from beholder.errors import UserError
from beholder.methods import load_study
from beholder.server import ServerStatus
from beholder.server.process import run_server
from beholder.simulation.robot import watch_events
from beholder.store.open import read_tables
from beholder.testing import write_study
from support.data import ROOT


def command(*arguments: str, cwd: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "beholder", *arguments], cwd=cwd, capture_output=True, text=True, encoding="utf-8"
    )


@pytest.fixture
def study(tmp_path: Path, tiny: Path) -> Path:
    return write_study(tmp_path / "study", tiny)


def test_run_with_robots_takes_a_study_from_its_file_to_a_report(study: Path) -> None:
    results = beholder.run(study, simulate=True, participants=8)
    best_first = list(results.conditions.sort_values("mean", ascending=False)["condition"])
    assert best_first == ["natural", "smooth", "jerky", "frozen"]
    assert len(results.ratings) == 8 * 3 * 4
    assert set(results.ratings["mode"]) == {"robot"}
    assert len(results.pairs) == 6
    assert results.report is not None
    assert "robots" in results.report.read_text("utf-8").lower()
    for file in ("plan/plan.json", "plan/balance.csv", "clean/ratings.csv", "analyse/scores.csv", "report/ratings.csv"):
        assert (study.parent / file).is_file()


def test_the_same_seed_gives_the_same_answers(study: Path, tmp_path: Path, tiny: Path) -> None:
    other = write_study(tmp_path / "other", tiny)
    columns = ["condition", "content", "question", "value"]
    first = beholder.run(study, simulate=True, participants=3).ratings[columns]
    second = beholder.run(other, simulate=True, participants=3).ratings[columns]
    order = columns[:3]
    assert first.sort_values([*order, "value"]).to_csv(index=False) == second.sort_values([*order, "value"]).to_csv(
        index=False
    )


def test_every_verb_can_be_called_twice(study: Path) -> None:
    for _ in range(2):
        assert beholder.check(study).participants == 6
        assert len(beholder.plan(study).lists) == 6
        assert len(beholder.simulate(study, participants=4).robots) == 4
        assert beholder.clean(study).counts["sessions"] == 4
        assert len(beholder.analyse(study).conditions) == 4
        assert beholder.report(study).is_file()
        assert beholder.export(study).rows["sessions"] == 4
        assert beholder.run(study, simulate=True, participants=4).report is not None
        assert beholder.schema()["title"]
    assert len(read_tables(study.parent / "store", ["sessions"])["sessions"]) == 4


def test_outputs_are_the_same_byte_for_byte_when_made_again(study: Path) -> None:
    beholder.run(study, simulate=True, participants=4)
    outputs = [p for part in ("clean", "analyse") for p in sorted((study.parent / part).rglob("*")) if p.is_file()]
    before = {path: path.read_bytes() for path in outputs}
    beholder.clean(study)
    beholder.analyse(study)
    assert {path: path.read_bytes() for path in outputs} == before


async def test_the_verbs_work_inside_a_running_loop_as_in_a_notebook(study: Path) -> None:
    results = beholder.run(study, simulate=True, participants=3)
    assert len(results.participants) == 3


async def take_as_a_person(link: str, name: str) -> None:
    """Take a study of one trial; who has not had the time to watch is asked to play again, and does."""
    async with httpx.AsyncClient(base_url=link.partition("/s/")[0], timeout=60) as client:
        body = {"study": "tiny", "params": {"participant": name}, "device": {}}
        arrival = (await client.post("/api/arrive", json=body)).json()
        client.headers["authorization"] = f"Bearer {arrival['token']}"
        step = arrival["step"]
        while step["kind"] != "end":
            answer: dict[str, object] = {"agree": True} if step["kind"] == "consent" else {}
            events: list[object] = []
            if step["kind"] == "trial":
                slots = [slot["id"] for slot in step["trial"]["slots"]]
                answer = {"scores": {"q1": {slot: 10 + 30 * place for place, slot in enumerate(slots)}}}
                events = watch_events(step["trial"])
            said = await client.put(f"/api/answers/{step['key']}", json={"answer": answer, "events": events})
            if said.status_code == 429 or (said.status_code == 422 and said.json()["error"]["code"] == "not_watched"):
                continue
            step = said.raise_for_status().json()["step"]


async def test_run_serves_until_enough_people_have_finished(tmp_path: Path, tiny: Path) -> None:
    study = write_study(tmp_path / "study", tiny, design={"participants": 2, "trials": 1, "per_trial": 2})
    links: asyncio.Queue[str] = asyncio.Queue()
    loop = asyncio.get_running_loop()
    told: list[ServerStatus] = []

    def tell(live: ServerStatus) -> None:
        told.append(live)
        if len(told) == 1:
            loop.call_soon_threadsafe(links.put_nowait, live.link)

    running_study = asyncio.create_task(asyncio.to_thread(beholder.run, study, participants=2, port=0, tell=tell))
    link = await links.get()
    await asyncio.gather(*(take_as_a_person(link, name) for name in ("ada", "bob")))
    results = await running_study
    assert set(results.ratings["mode"]) == {"link"}
    assert len(results.ratings) == 4
    assert told[-1].counts["completed"] == 2


def test_texts_may_change_after_somebody_has_started_but_the_design_may_not(study: Path) -> None:
    async def arrive() -> None:
        async with (
            run_server(load_study(study), port=0) as server,
            httpx.AsyncClient(base_url=server.address, timeout=60) as client,
        ):
            body = {"study": "tiny", "params": {"participant": "ada"}, "device": {}}
            token = (await client.post("/api/arrive", json=body)).json()["token"]
            headers = {"authorization": f"Bearer {token}"}
            await client.put("/api/answers/consent", json={"answer": {"agree": True}}, headers=headers)

    asyncio.run(arrive())
    written = yaml.safe_load(study.read_text("utf-8"))
    written["title"] = "Another title"
    written["questions"][0]["text"] = "How good is it really?"
    study.write_text(yaml.safe_dump(written), "utf-8")

    async def come_back() -> dict[str, object]:
        async with (
            run_server(load_study(study), port=0) as server,
            httpx.AsyncClient(base_url=server.address, timeout=60) as client,
        ):
            body = {"study": "tiny", "params": {"participant": "ada"}, "device": {}}
            response = await client.post("/api/arrive", json=body)
            assert response.status_code == 200
            arrival = response.json()
            headers = {"authorization": f"Bearer {arrival['token']}"}
            said = await client.put("/api/answers/text:instructions", json={"answer": {}}, headers=headers)
            return {**arrival, "trial": said.json()["step"]["trial"]}

    arrival = asyncio.run(come_back())
    assert arrival["study"]["title"] == "Another title"  # type: ignore[index]
    assert arrival["trial"]["asked"][0]["text"] == "How good is it really?"  # type: ignore[index]

    written["design"]["trials"] = 2
    study.write_text(yaml.safe_dump(written), "utf-8")

    async def again() -> None:
        async with run_server(load_study(study), port=0):
            pass

    with pytest.raises(UserError, match="Texts may change, the design may not"):
        asyncio.run(again())


def test_check_prints_what_a_participant_goes_through(study: Path) -> None:
    said = command("check", cwd=study.parent)
    assert said.returncode == 0, said.stderr
    for part in ("A tiny study", "3 trials", "min", "16 stimuli", "4 to 5 ratings", "No problems found"):
        assert part in said.stdout
    resolved = command("check", "--resolved", cwd=study.parent)
    assert yaml.safe_load(resolved.stdout)["playback"]["watch"] == "whole"


def test_check_counts_its_warnings_at_the_end(study: Path) -> None:
    written = yaml.safe_load(study.read_text("utf-8"))
    written["conditions"] = ["natural", "smooth", "jerky"]
    written["recruit"] = {"reward": "1.50 GBP"}
    study.write_text(yaml.safe_dump(written), "utf-8")
    said = command("check", cwd=study.parent)
    assert said.returncode == 0, said.stderr
    assert "\n6 sessions at 1.50 GBP earn 9.00 GBP, 45.00 GBP an hour at about 2 minutes; fees of a" in said.stdout
    assert said.stderr == ("Warning: condition frozen  is not listed in conditions, so its 4 stimuli are left out.\n")
    assert said.stdout.endswith("\nNo errors, 1 warning.\n")


def test_schema_prints_json(tmp_path: Path) -> None:
    assert "properties" in json.loads(command("schema", cwd=tmp_path).stdout)


BAD = {
    "broken YAML": ("questions: [", "study.yaml:"),
    "an unknown key": ("colour: red", "study.yaml:"),
    "a duplicate key": ("title: Once more", "study.yaml:"),
    "zero participants": ("design: {participants: 0}", "participants"),
    "more trials than contents": ("design: {trials: 9}", "contents"),
}


@pytest.mark.parametrize("what", BAD)
def test_bad_input_gets_a_clear_error_and_exit_code_2(what: str, study: Path) -> None:
    line, expected = BAD[what]
    key = line.partition(":")[0]
    text = study.read_text("utf-8")
    if what != "a duplicate key" and f"\n{key}:" in text:
        written = yaml.safe_load(text)
        written.pop(key)
        text = yaml.safe_dump(written)
    study.write_text(f"{text}\n{line}\n", "utf-8")
    said = command("check", cwd=study.parent)
    assert said.returncode == 2, said.stdout
    assert expected in said.stderr
    assert "Traceback" not in said.stderr
    for verb in (beholder.plan, beholder.serve, beholder.run):
        with pytest.raises(UserError, match=expected):
            verb(study)


def test_a_text_file_named_mp4_and_an_empty_folder_are_explained(study: Path, tmp_path: Path, tiny: Path) -> None:
    (study.parent / "stimuli" / "jerky" / "greeting.mp4").write_text("no video", "utf-8")
    said = command("check", cwd=study.parent)
    assert said.returncode == 2
    assert "greeting.mp4" in said.stderr
    empty = write_study(tmp_path / "empty", tiny)
    for file in (empty.parent / "stimuli").rglob("*.mp4"):
        file.unlink()
    said = command("check", cwd=empty.parent)
    assert said.returncode == 2
    assert "Traceback" not in said.stderr


def test_without_a_study_file_the_message_says_how_to_begin(tmp_path: Path) -> None:
    said = command("check", cwd=tmp_path)
    assert said.returncode == 2
    assert "beholder new" in said.stderr


def test_check_tells_the_stages_in_the_order_of_a_visit(tmp_path: Path, tiny: Path) -> None:
    before = [{"id": "field", "text": "Your field", "type": "text"}]
    after = [{"id": "age", "text": "Your age", "type": "number"}, {"id": "remarks", "text": "Remarks", "type": "text"}]
    found = beholder.check(write_study(tmp_path / "study", tiny, before=before, after=after))
    names = [stage.name.partition(" (")[0] for stage in found.stages]
    assert names == ["consent and instructions", "1 question before", "rating", "2 questions after"]


def test_check_tells_how_long_and_how_many_screens_it_takes_to_the_first_rating(tmp_path: Path, tiny: Path) -> None:
    study = write_study(tmp_path / "study", tiny, method="acr", qualification={"colour": True, "brightness": True})
    found = beholder.check(study)
    names = [stage.name.partition(" (")[0] for stage in found.stages]
    assert names == ["consent and instructions", "qualification, 1 check", "set-up, 2 checks", "rating"]
    checks = page_checks(found.study)
    minutes = [stage.minutes for stage in found.stages]
    assert minutes[1] + minutes[2] == pytest.approx(sum(check.seconds for check in checks) / 60)
    assert found.minutes_before == pytest.approx(sum(minutes[:3]))
    assert found.screens_before == 2 + sum(check.screens for check in checks)
    said = command("check", cwd=study.parent)
    assert re.search(r"^About \d min( [1-5]0 s)? and 7 screens before the first rating\.$", said.stdout, re.MULTILINE)


def test_a_first_visit_by_p910_takes_under_five_minutes_before_training(tmp_path: Path, tiny: Path) -> None:
    """By the times that the checks say they take, and 238 words a minute of our own instructions."""
    found = beholder.check(write_study(tmp_path / "study", tiny, method="acr", preset="p910", training=False))
    assert [stage.name.partition(",")[0] for stage in found.stages] == [
        "consent and instructions", "device", "qualification", "set-up", "rating (acr)",
    ]  # fmt: skip
    assert found.minutes_before < 5
    docs = (ROOT / "docs" / "qualification.md").read_text("utf-8")
    seconds = 10 * round(6 * found.minutes_before)
    assert f"has {found.screens_before} screens up to the training" in docs
    assert f"take about {seconds // 60} min {seconds % 60} s" in " ".join(docs.split())


def test_the_demo_shows_the_planted_truth_beside_the_result(tmp_path: Path) -> None:
    said = command("demo", "acr", "--folder", "shown", "--exit", "--port", "0", cwd=tmp_path)
    assert said.returncode == 0, said.stderr
    assert "planted" in said.stdout
    assert "  MOS(ACR)  " in said.stdout
    assert "/s/" in said.stdout
    assert (tmp_path / "shown" / "report" / "index.html").is_file()


def test_simulate_on_a_store_that_is_in_use_says_so(study: Path) -> None:
    async def while_serving() -> subprocess.CompletedProcess[str]:
        async with run_server(load_study(study), port=0):
            return await asyncio.to_thread(command, "simulate", "--participants", "2", cwd=study.parent)

    said = asyncio.run(while_serving())
    assert said.returncode == 2
    assert "in use" in said.stderr
