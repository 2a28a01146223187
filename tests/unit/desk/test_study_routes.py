"""Routes about studies: stimuli without names, the report only unblinded, and acts with names."""

from __future__ import annotations

import re

from support.commands import command
from support.desk_browsers import open_desk, problem_of
from support.taken_study import TakenStudy


async def test_a_stimulus_comes_whole_or_in_parts_and_tells_no_name(taken: TakenStudy) -> None:
    folder, _ = taken
    async with open_desk(folder.parent, folder) as bench:
        owner = await bench.logged_in()
        (key,) = bench.desk.studies.places
        study = await bench.desk.studies.find(key)
        assert study is not None
        first = (await bench.desk.studies.stimuli(study))[0]
        address = study.media_address(first.id)
        whole = await owner.get(address)
        assert whole.content == first.served.read_bytes()
        part = await owner.get(address, headers={"range": "bytes=10-19"})
        assert (part.status_code, part.content) == (206, whole.content[10:20])
        assert not any(first.condition in text for text in (address, *whole.headers.values()))
        assert (await owner.get(f"/api/studies/{key}/media/{'0' * 32}")).status_code == 404


async def test_the_report_opens_when_the_study_is_unblinded_in_a_place_of_its_own(taken: TakenStudy) -> None:
    folder, _ = taken
    (folder / "report").mkdir()
    (folder / "report" / "index.html").write_text("<script>alert(1)</script>natural")
    async with open_desk(folder.parent, folder) as bench:
        owner = await bench.logged_in()
        (key,) = bench.desk.studies.places
        address = f"/api/studies/{key}/report/index.html"
        refused = await owner.get(address)
        assert (refused.status_code, problem_of(refused)["fix"]) == (403, "It opens here when the study is unblinded.")
        assert "natural" not in refused.text
        done = await owner.post(f"/api/studies/{key}/acts", json={"kind": "unblind", "reason": "everybody has come"})
        assert done.status_code == 200
        shown = await owner.get(address)
        assert "natural" in shown.text
        assert shown.headers["content-security-policy"].startswith("sandbox allow-scripts")
        assert "allow-same-origin" not in shown.headers["content-security-policy"]


async def test_while_blinded_no_reply_holds_the_name_of_a_condition(taken: TakenStudy) -> None:
    folder, people = taken
    names = ("natural", "smooth", "jerky", "frozen", "Full", "motion")
    for verb in ("clean", "analyse"):
        command(verb, cwd=folder)
    async with open_desk(folder.parent, folder) as bench:
        owner = await bench.logged_in()
        (key,) = bench.desk.studies.places
        person = (await owner.get(f"/api/studies/{key}/people/{people['done']}")).json()
        session = person["session_ids"][0]
        base = f"/api/studies/{key}"
        paths = [f"{base}/{name}" for name in ("now", "people", "decisions", "results", "study", "shares")]
        paths += ["/api/studies", f"{base}/people/{people['done']}", f"{base}/people/{people['open']}"]
        replay = f"{base}/people/{people['done']}/sessions/{session}/replay"
        pages = (await owner.get(replay)).json()["pages"]
        paths += [replay, *(f"{replay}?page={page['key']}" for page in pages)]
        seen = {}
        for path in paths:
            reply = await owner.get(path)
            assert reply.status_code == 200, (path, reply.text)
            text = "\n".join((reply.text, *reply.headers.values()))
            assert not [name for name in names if re.search(rf"\b{name}\b", text)], path
            seen[path] = text
        assert "Condition A" in seen[f"{base}/now"]
        await owner.post(f"{base}/acts", json={"kind": "unblind", "reason": "everybody has come"})
        assert "smooth" in (await owner.get(f"{base}/now")).text, "the test would see a name"
        listed = (await owner.get("/api/studies")).json()["studies"]
        assert [one["key"] for one in listed] == [key]
