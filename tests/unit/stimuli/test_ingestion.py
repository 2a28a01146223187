"""From a study to its catalogue: files are measured and copied once, addresses are fetched once."""

from __future__ import annotations

import hashlib
import json
import shutil
from pathlib import Path

import httpx
import pytest

from beholder.errors import StimuliError
from beholder.stimuli.ingestion import load_catalogue
from support import media_folders, source_studies
from support.video_studies import Make, problems_of, put, study_in


def test_a_second_load_measures_nothing_and_another_duration_needs_no_new_copy(tmp_path: Path) -> None:
    media_folders.write(tmp_path, {"stimuli/a/x.png": media_folders.noise(), "stimuli/b/x.png": media_folders.noise()})
    seen: list[int] = []
    first = load_catalogue(media_folders.study_in(tmp_path), lambda done, total: seen.append(done))
    assert seen == [1, 2]
    again = load_catalogue(
        media_folders.study_in(tmp_path, playback={"look_seconds": 9}), lambda done, total: seen.append(done)
    )
    assert seen == [1, 2]
    assert [s.served for s in again.stimuli] == [s.served for s in first.stimuli]
    assert [s.probe.duration_ms for s in again.stimuli] == [9000, 9000]


def test_a_moved_file_keeps_its_copy_and_another_suffix_makes_another(tmp_path: Path) -> None:
    media_folders.write(tmp_path, {"stimuli/a/x.txt": b"Two *words*"})
    (first,) = load_catalogue(media_folders.study_in(tmp_path)).stimuli
    before = first.served.stat()
    (tmp_path / "stimuli" / "a" / "x.txt").rename(tmp_path / "stimuli" / "a" / "y.txt")
    (moved,) = load_catalogue(media_folders.study_in(tmp_path)).stimuli
    assert (moved.id, moved.sha256, moved.probe, moved.served) == ("a/y", first.sha256, first.probe, first.served)
    assert (moved.served.stat().st_ino, moved.served.stat().st_mtime_ns) == (before.st_ino, before.st_mtime_ns)
    (tmp_path / "stimuli" / "a" / "y.txt").rename(tmp_path / "stimuli" / "a" / "y.md")
    (marked,) = load_catalogue(media_folders.study_in(tmp_path)).stimuli
    assert marked.sha256 == first.sha256
    assert marked.served != first.served
    assert b"<em>" in marked.served.read_bytes()


def test_listed_conditions_restrict_and_misspelt_ones_are_problems(make: Make, tmp_path: Path) -> None:
    for condition in ("natural", "noisy"):
        put(make("a.mp4"), tmp_path / "stimuli" / condition / "a.mp4")
    catalogue = load_catalogue(study_in(tmp_path, conditions=["natural"]))
    assert [s.id for s in catalogue.stimuli] == ["natural/a"]
    assert [str(warning) for warning in catalogue.warnings] == [
        "condition noisy  is not listed in conditions, so its 1 stimulus is left out."
    ]
    assert problems_of(study_in(tmp_path, conditions=["natural", "nosy"])) == [
        "study.yaml:1  conditions.1 is nosy, which has no stimuli. Allowed: natural, noisy. Did you mean noisy?"
    ]


def test_a_second_load_touches_nothing_and_a_deleted_or_changed_file_is_made_again(make: Make, tmp_path: Path) -> None:
    for content in ("a", "b"):
        put(make("a.mp4"), tmp_path / "stimuli" / "x" / f"{content}.mp4")
    put(make("big.mp4", size="128x96"), tmp_path / "stimuli" / "x" / "c.mp4")
    seen: list[tuple[int, int]] = []

    def load() -> int:
        seen.clear()
        catalogue = load_catalogue(study_in(tmp_path), lambda done, total: seen.append((done, total)))
        assert all(stimulus.served.is_file() for stimulus in catalogue.stimuli)
        return len(seen)

    assert load() == 3
    assert seen == [(1, 3), (2, 3), (3, 3)]
    assert load() == 0
    load_catalogue(study_in(tmp_path)).by_id["x/c"].served.unlink()
    assert load() == 1
    put(make("longer.mp4", seconds=0.8), tmp_path / "stimuli" / "x" / "a.mp4")
    assert load() == 1
    (tmp_path / "media" / "catalogue.json").write_text("{")
    assert load() == 3
    shutil.rmtree(tmp_path / "media")
    assert load() == 3
    assert [path.name for path in (tmp_path / "media").iterdir() if path.name.endswith(".part")] == []


def test_one_bad_file_does_not_cost_the_work_on_the_others(make: Make, tmp_path: Path) -> None:
    put(make("a.mp4"), tmp_path / "stimuli" / "x" / "a.mp4")
    (tmp_path / "stimuli" / "x" / "b.mp4").write_text("no video")
    assert len(problems_of(study_in(tmp_path))) == 1
    (tmp_path / "stimuli" / "x" / "b.mp4").unlink()
    seen: list[int] = []
    load_catalogue(study_in(tmp_path), lambda done, total: seen.append(done))
    assert seen == []


def test_addresses_are_fetched_once_and_their_hash_is_kept(tmp_path: Path, video: bytes) -> None:
    asked: list[str] = []

    def answer(request: httpx.Request) -> httpx.Response:
        asked.append(str(request.url))
        if request.url.path == "/old.mp4":
            return httpx.Response(302, headers={"location": "https://example.org/new.mp4"})
        return httpx.Response(200, content=video)

    address = "https://example.org/old.mp4?key=1"
    source_studies.write(tmp_path, {"list.csv": f"file,content,condition\n{address},city,a\n"})
    study = source_studies.study_in(tmp_path, {"manifest": "list.csv"})
    (stimulus,) = load_catalogue(study, transport=httpx.MockTransport(answer)).stimuli
    assert asked == [address, "https://example.org/new.mp4"]
    assert (stimulus.file, stimulus.sha256) == (address, hashlib.sha256(video).hexdigest())
    (record,) = (tmp_path / "media" / "cache").glob("*.json")
    assert json.loads(record.read_text()) == {"address": address, "sha256": stimulus.sha256, "bytes": len(video)}
    assert load_catalogue(study, transport=httpx.MockTransport(answer)).stimuli == (stimulus,)
    assert len(asked) == 2


def test_addresses_that_fail_are_problems_and_leave_nothing_behind(tmp_path: Path) -> None:
    def answer(request: httpx.Request) -> httpx.Response:
        if request.url.path == "/plain.mp4":
            return httpx.Response(302, headers={"location": "http://example.org/x.mp4"})
        if request.url.path == "/gone.mp4":
            return httpx.Response(404)
        raise httpx.ConnectError("no route to host")

    names = ("gone", "plain", "away")
    rows = "".join(f"https://example.org/{name}.mp4,{name},a\n" for name in names)
    source_studies.write(tmp_path, {"list.csv": f"file,content,condition\n{rows}"})
    with pytest.raises(StimuliError) as caught:
        load_catalogue(
            source_studies.study_in(tmp_path, {"manifest": "list.csv"}), transport=httpx.MockTransport(answer)
        )
    fix = "Check the address, or put the file into the study folder."
    assert [str(problem) for problem in caught.value.problems] == [
        f"list.csv:2  https://example.org/gone.mp4 cannot be fetched: the server answers 404. {fix}",
        f"list.csv:3  https://example.org/plain.mp4 cannot be fetched: it leads on to http://example.org. {fix}",
        f"list.csv:4  https://example.org/away.mp4 cannot be fetched: no route to host. {fix}",
    ]
    assert list((tmp_path / "media" / "cache").iterdir()) == []
