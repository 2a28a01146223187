"""From a study to its catalogue: files are measured and copied once, addresses are fetched once."""

from __future__ import annotations

import shutil
from pathlib import Path

from beholder.stimuli.ingestion import load_catalogue
from support import media_folders
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
    assert problems_of(study_in(tmp_path, conditions=["jerky", "frozen"])) == [
        "study.yaml:1  conditions are jerky, frozen, and none of them has stimuli. Allowed: natural, noisy. Write "
        "conditions: [natural, noisy], or take the key out."
    ], "as in an example whose stimuli were replaced: told once"


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
