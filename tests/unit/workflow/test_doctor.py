"""`doctor`: what it looks at, what it finds, and how that is mended."""

from __future__ import annotations

import asyncio
import json
import os
import sys
from datetime import UTC, datetime, timedelta
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

import beholder
from beholder.cli import main
from beholder.recruiting.fake import FakeProlific
from beholder.recruiting.fake.http import serve_fake
from beholder.store.open import open_store
from beholder.testing import write_study
from beholder.testing.stores.facts import NOON, answer, arrive, study_record
from beholder.workflow.doctor import Diagnosis, HealthFinding, doctor
from support.prolific_rehearsal import study_in


@pytest.fixture
def study(tmp_path: Path, tiny: Path) -> Path:
    return write_study(tmp_path / "study", tiny)


def look(study: Path, **options: Any) -> Diagnosis:
    return doctor(study, now=lambda: datetime.now(UTC), **options)


def of(diagnosis: Diagnosis, part: str, *states: str) -> list[HealthFinding]:
    wanted = states or ("warning", "wrong")
    return [one for one in diagnosis.findings if one.part == part and one.state in wanted]


async def serve_once(folder: Path) -> str:
    async with open_store(folder / "store") as store:
        await store.begin(study_record())
        session = await arrive(store, "ann")
        await store.append([answer(session)])
    return session


def test_a_study_that_is_well(study: Path) -> None:
    asyncio.run(serve_once(study.parent))
    diagnosis = look(study)
    assert diagnosis.is_well
    assert [one.part for one in diagnosis.findings if one.part != "versions"] == [
        "study", "store", "media", "clock", "disk", "descriptors", "platform",
    ]  # fmt: skip
    (store,) = of(diagnosis, "store", "fine")
    assert store.words == f"{study.parent / 'store'} can be read, and holds the study walk"
    assert beholder.doctor is doctor
    assert "fault" in diagnosis.summary()


def test_a_study_before_its_first_visitor_is_well_and_nothing_is_made(study: Path) -> None:
    before = sorted(study.parent.rglob("*"))
    assert look(study).is_well
    assert sorted(study.parent.rglob("*")) == before


def test_a_study_file_that_cannot_be_read_is_told_and_the_rest_is_looked_at(study: Path) -> None:
    study.write_text(study.read_text("utf-8").replace("method:", "metod:"), "utf-8")
    diagnosis = look(study)
    assert not diagnosis.is_well
    assert any("metod is not a known key" in one.line for one in of(diagnosis, "study"))
    assert of(diagnosis, "store", "fine")


def test_a_damaged_store_is_told_with_what_to_do(study: Path) -> None:
    asyncio.run(serve_once(study.parent))
    facts = study.parent / "store" / "facts.sqlite"
    facts.write_bytes(facts.read_bytes()[:8192])
    (found,) = of(look(study), "store")
    assert found.line.startswith(
        f"store        wrong    {facts}  is damaged (database disk image is malformed). Stop every"
    )
    assert "put a backup in its place" in found.fix


def test_rows_whose_session_is_gone_are_told(study: Path) -> None:
    import sqlite3

    asyncio.run(serve_once(study.parent))
    with sqlite3.connect(study.parent / "store" / "facts.sqlite") as connection:
        connection.execute("INSERT INTO ends VALUES ('nobody', 'completed', '', '', '', 'now')")
    connection.close()
    (found,) = of(look(study), "store")
    assert found.words.endswith("is damaged (a row of ends belongs to nothing in sessions)")


@pytest.mark.skipif(os.name == "nt", reason="Windows has no such modes")
def test_what_others_may_read_what_is_missing_and_what_is_unfinished_are_warnings(study: Path) -> None:
    async def leave_unfinished() -> None:
        async with open_store(study.parent / "store") as store:
            await store.erase(session, NOON)

    session = asyncio.run(serve_once(study.parent))
    asyncio.run(leave_unfinished())
    folder = study.parent / "store"
    (folder / "facts.sqlite").chmod(0o644)
    (folder / "identity.sqlite").unlink()
    (folder / "writer.json").write_text("{}")
    diagnosis = look(study)
    assert diagnosis.is_well
    said = [one.words for one in of(diagnosis, "store", "warning")]
    assert said == [
        f"{folder / 'identity.sqlite'} is missing: who is who is not known",
        "the last server was killed, and facts.sqlite-wal, which held its last answers, is gone",
        "others than their owner may read facts.sqlite and writer.json",
        f"{folder}: bytes of erased answers may still be in its files",
    ]


def test_media_that_are_missing_or_other_than_people_saw_are_told(study: Path) -> None:
    from beholder.methods import load_study
    from beholder.stimuli.ingestion import load_catalogue
    from beholder.store.rules import record_of

    loaded = load_study(study)
    catalogue = load_catalogue(loaded)

    async def begin() -> None:
        async with open_store(loaded.folder / "store") as store:
            await store.begin(record_of(loaded, catalogue, "p1", [], NOON))

    asyncio.run(begin())
    (fine,) = of(look(study), "media", "fine")
    assert fine.words.endswith("as they were served")
    file = loaded.folder / catalogue.stimuli[0].file
    file.write_bytes(file.read_bytes() + b" ")
    (found,) = of(look(study), "media")
    assert found.words == f"1 file ({catalogue.stimuli[0].file}) changed since people were served"
    assert not look(study).is_well


def test_a_clock_that_is_behind_what_was_stored_is_wrong(study: Path) -> None:
    asyncio.run(serve_once(study.parent))
    (found,) = of(doctor(study, now=lambda: NOON - timedelta(days=2)), "clock")
    assert (found.state, found.words) == (
        "wrong",
        "it is 2026-05-02 12:00 UTC here, and the last fact was stored at 2026-05-04 12:00 UTC",
    )


def test_a_file_from_the_future_is_a_warning(study: Path) -> None:
    os.utime(study, (4e9, 4e9))
    (found,) = of(look(study), "clock")
    assert found.state == "warning"
    assert "a file of the study is from 2096-10-02" in found.words


@pytest.mark.parametrize(("free", "state"), [(1e8, "wrong"), (1e9, "warning"), (1e11, "fine")])
def test_the_room_on_the_disk_is_told(study: Path, monkeypatch: pytest.MonkeyPatch, free: float, state: str) -> None:
    monkeypatch.setattr("shutil.disk_usage", lambda place: SimpleNamespace(free=free))
    (found,) = of(look(study), "disk", "fine", "warning", "wrong")
    assert (found.state, found.words) == (state, f"{free / 1e9:.1f} GB free at {study.parent}")


@pytest.mark.skipif(sys.platform == "win32", reason="Windows does not limit them")
@pytest.mark.parametrize(("hard", "state"), [(100, "wrong"), (1024, "warning"), (65536, "fine")])
def test_the_limit_of_descriptors_is_told(study: Path, monkeypatch: pytest.MonkeyPatch, hard: int, state: str) -> None:
    monkeypatch.setattr("resource.getrlimit", lambda kind: (64, hard))
    (found,) = of(look(study), "descriptors", "fine", "warning", "wrong")
    assert (found.state, found.words) == (state, f"{hard:,} may be open (this shell begins with 64)")
    assert ("LimitNOFILE" in found.fix) == (state != "fine")


def test_dependencies_that_are_too_old_and_a_missing_browser_are_told(
    study: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("importlib.metadata.requires", lambda name: ["click>=99.1", "nowhere>=1", "x>=1; extra == 'y'"])
    monkeypatch.setenv("BEHOLDER_CHROMIUM", str(study.parent / "none"))
    found = of(look(study), "versions")
    assert [(one.state, one.words.partition(" (needs")[0].partition(" 8.")[0]) for one in found] == [
        ("wrong", "too old: click"),
        ("warning", "no Chromium was found"),
    ]
    assert "nowhere (missing)" in found[0].words


def test_a_store_of_postgresql_is_looked_at_and_one_that_is_away_is_told(study: Path, postgresql_url: str) -> None:
    async def begin() -> None:
        async with open_store(postgresql_url) as store:
            await store.begin(study_record())
            session = await arrive(store, "ann")
            await store.erase(session, NOON)

    asyncio.run(begin())
    diagnosis = look(study, store=postgresql_url)
    assert diagnosis.is_well
    assert [one.state for one in of(diagnosis, "store", "warning", "fine")] == ["warning", "fine"]
    (found,) = of(look(study, store="postgresql://ann:hush@127.0.0.1:1/x"), "store")
    assert found.state == "wrong"
    assert "hush" not in json.dumps([vars(one) for one in diagnosis.findings]) + found.words


def test_the_token_of_a_platform_is_looked_for_and_tried_only_when_asked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    study = study_in(tmp_path).folder / "study.yaml"
    monkeypatch.delenv("PROLIFIC_TOKEN", raising=False)
    (found,) = of(look(study, platform=True), "platform", "fine", "warning", "wrong")
    assert (found.state, found.words) == ("warning", "PROLIFIC_TOKEN is not set")
    monkeypatch.setenv("PROLIFIC_TOKEN", "planted-token")
    (found,) = of(look(study), "platform", "fine", "warning", "wrong")
    assert found.words == "PROLIFIC_TOKEN is set; `beholder doctor --platform` tries it"
    monkeypatch.setenv("BEHOLDER_PROLIFIC_URL", "http://127.0.0.1:1")
    (found,) = of(look(study, platform=True), "platform", "fine", "warning", "wrong")
    assert (found.state, found.where, found.words) == ("wrong", "http://127.0.0.1:1", "does not answer (ConnectError)")
    assert "planted-token" not in repr(found)


async def test_a_platform_is_asked_whether_it_knows_the_token(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    study = study_in(tmp_path).folder / "study.yaml"
    platform = FakeProlific()
    async with serve_fake(platform) as address:
        monkeypatch.setenv("BEHOLDER_PROLIFIC_URL", address)
        monkeypatch.setenv("PROLIFIC_TOKEN", "rehearsal")
        (found,) = of(await asyncio.to_thread(look, study, platform=True), "platform", "fine", "warning", "wrong")
        assert (found.state, found.words) == ("fine", f"{address} answers and knows the token")
        monkeypatch.setenv("PROLIFIC_TOKEN", "Grüße")
        (found,) = of(await asyncio.to_thread(look, study, platform=True), "platform", "fine", "warning", "wrong")
        assert (found.state, found.where, found.words) == ("wrong", address, "does not answer (UnicodeEncodeError)")


def test_the_command_prints_a_line_for_each_part_and_ends_with_2_where_something_is_wrong(
    study: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sys.argv", ["beholder", "doctor", str(study)])
    main()
    assert capsys.readouterr().out.startswith("study        fine     tiny can be read (")
    monkeypatch.setattr("sys.argv", ["beholder", "doctor", str(study), "--store", "mysql://x/y", "--json"])
    with pytest.raises(SystemExit) as ended:
        main()
    assert ended.value.code == 2
    document = json.loads(capsys.readouterr().out)
    assert document["is_well"] is False
    (problem,) = document["problems"]
    assert (problem["where"], problem["what"]) == ("mysql://", "is not the address of a store")
    assert [one["state"] for one in document["findings"] if one["part"] == "store"] == ["wrong"]
