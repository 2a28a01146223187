"""Repeating a study with other people: another seed, the same material, and earlier people kept out."""

from __future__ import annotations

from pathlib import Path

import pytest

import beholder
from beholder.bundling.archive_contents import Bundled
from beholder.errors import UserError
from beholder.methods import load_study
from beholder.testing import write_study
from support.bundled_study import rewrite


@pytest.fixture(scope="module")
def original(tmp_path_factory: pytest.TempPathFactory, tiny: Path) -> Path:
    """A rehearsed study with material."""
    recruit = {"mode": "link", "closes": "2031-01-01"}
    study = write_study(tmp_path_factory.mktemp("original"), tiny, recruit=recruit, publication={"licence": "CC0-1.0"})
    beholder.simulate(study, participants=4)
    return study


@pytest.fixture(scope="module")
def bundled(original: Path) -> Bundled:
    return beholder.bundle(original)


def test_a_study_is_repeated_with_a_new_seed_and_what_is_found_again_is_told(
    original: Path, bundled: Bundled, tmp_path: Path
) -> None:
    made = beholder.rerun(bundled.path, tmp_path / "again", stimuli=original.parent / "stimuli")
    before, again = load_study(original), load_study(made.study)
    assert again.name == f"{before.name}-rerun"
    assert again.design.seed == made.seed != before.design.seed
    assert again.source["rerun_of"] == {
        "study": before.name, "bundle": bundled.path.name, "digest": bundled.digest,
    }  # fmt: skip
    assert (again.recruit.closes, again.publication.licence) == (None, None)
    assert again.before[0].id == "took_part_before"
    assert again.questions == before.questions
    assert set(made.changed) == {"name", "design.seed", "source", "recruit.closes", "before", "publication"}
    assert made.words[0].endswith(f"seed {made.seed} (original: {made.original_seed}).")
    assert f"seed {made.seed}" in made._repr_html_()
    beholder.simulate(made.study, participants=4)
    beholder.clean(made.study)
    beholder.analyse(made.study)
    found = beholder.compare(made.original, made.study, out=tmp_path / "compared")
    assert found.words[1].startswith(f"{again.name} repeats {before.name}")
    assert set(found.also["replication"]["replication"]) <= {
        "found again", "not clear again", "clear the other way", "clear only again", "clear in neither",
    }  # fmt: skip


def test_who_took_part_is_turned_away_where_the_original_is_at_hand(
    original: Path, bundled: Bundled, tmp_path: Path
) -> None:
    made = beholder.rerun(
        bundled.path, tmp_path / "again", seed=7, stimuli=original.parent / "stimuli", earlier=original.parent
    )
    again = load_study(made.study)
    assert (again.design.seed, made.seed) == (7, 7)
    (excluded,) = again.recruit.exclude
    assert (made.study.parent / excluded).resolve() == original.parent.resolve()
    assert made.excluded.startswith(f"Whoever began the study in {original.parent} is turned away, by their ids there.")
    assert again.before[0].id == "took_part_before", "an open link tells nobody apart"


def test_what_is_missing_is_told_and_nothing_is_left_behind(original: Path, bundled: Bundled, tmp_path: Path) -> None:
    other = tmp_path / "other"
    for file in sorted((original.parent / "stimuli").rglob("*.mp4")):
        (copy := other / file.relative_to(original.parent / "stimuli")).parent.mkdir(parents=True, exist_ok=True)
        copy.write_bytes(file.read_bytes())
    first, second = sorted(other.rglob("*.mp4"))[:2]
    first.write_bytes(second.read_bytes())
    for keys, message in (
        ({}, "holds the hashes of its stimuli, and not the files"),
        ({"stimuli": tmp_path / "none"}, "there is no such folder"),
        ({"earlier": tmp_path}, "there is no store/ in it"),
        ({"stimuli": other}, "has other files for"),
        ({"new_people": False}, "has nobody to ask"),
    ):
        with pytest.raises(UserError, match=message):
            beholder.rerun(bundled.path, tmp_path / "again", **keys)
        assert not (tmp_path / "again").exists()
    (tmp_path / "again").mkdir()
    (tmp_path / "again" / "mine.txt").write_text("", "utf-8")
    with pytest.raises(UserError, match="is there already"):
        beholder.rerun(bundled.path, tmp_path / "again", stimuli=other)


def test_a_bundle_that_is_not_whole_is_not_repeated(bundled: Bundled, tmp_path: Path) -> None:
    broken = rewrite(
        bundled.path, tmp_path / "x.zip", lambda files: files.update({"README.md": b""}), with_checksums=False
    )
    with pytest.raises(UserError, match=r"is not whole: README\.md"):
        beholder.rerun(broken, tmp_path / "again")


def test_stimuli_in_a_bundle_are_enough_and_held_against_their_hashes(original: Path, tmp_path: Path) -> None:
    whole = beholder.bundle(original, out=tmp_path / "whole.zip", with_stimuli=True)
    assert beholder.rerun(whole.path, tmp_path / "again").lists == beholder.plan(original).lists[-1].number
    assert beholder.verify(whole.path).is_same

    def change(files: dict[str, bytes]) -> None:
        name = next(name for name in files if name.startswith("study/stimuli/"))
        files[name] += b"x"

    found = beholder.verify(rewrite(whole.path, tmp_path / "x.zip", change))
    assert [one.what for one in found.faults] == ["is no file that was shown to anybody, by its hash"]
