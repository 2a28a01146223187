"""What a clip is follows from a pattern, from its reference, from its folder, or from a CSV; else that is told."""

from __future__ import annotations

from pathlib import Path

import pytest

from beholder import import_study
from beholder.errors import UserError
from beholder.importing.p910.clip_addresses import Clips
from beholder.importing.source_folder import SourceFolder
from beholder.methods import load_study
from support.imported_folders import import_document
from support.toolkit_sources import MASTER, url, write_p910


def test_a_pattern_that_does_not_fit_is_told_with_the_clips_that_it_misses(tmp_path: Path) -> None:
    source = write_p910(tmp_path / "batch", suffix=".wav")
    (source / "master.cfg").write_text(MASTER.replace("_c(", "_C(").replace(".mp4", ".wav"), "utf-8")
    done = import_study(source, tmp_path / "mine")
    (warning,) = import_document(done)["warnings"]
    assert warning.startswith("condition_pattern fits 0 of 4 clips, and not src1_c01_v1.wav, src1_c02_v1.wav")
    assert {"key": "conditions", "default": "all"}.items() <= next(
        one for one in import_document(done)["assumed"] if one.get("key") == "conditions"
    ).items()


def test_a_csv_says_which_clip_is_which_content_and_condition(tmp_path: Path) -> None:
    source = write_p910(tmp_path / "batch", suffix=".wav")
    (source / "master.cfg").unlink()
    lines = [f"{url(f'src{n}_c0{c}_v1', '.wav')},,street {n},codec {c}" for n in (1, 2) for c in (1, 2)]
    (tmp_path / "map.csv").write_text("source,file,content,condition\n" + "\n".join(lines) + "\n", "utf-8")
    done = import_study(source, tmp_path / "mine", stimuli=tmp_path / "map.csv")
    assert [one.name for one in load_study(done.studies[0]).conditions] == ["codec 1", "codec 2"]
    assert done.missing == ()


@pytest.mark.parametrize(
    ("pattern", "what"),
    [
        ("(?P<c", "condition_pattern is no pattern: missing >, unterminated name"),
        ("(?P<c>(a+)+)b", "condition_pattern is no pattern: a repeated part within a repeated part"),
        ("(?P<c>a)", "condition_keys has condition_num, which condition_pattern has not"),
    ],
)
def test_a_pattern_that_is_none_is_refused(tmp_path: Path, pattern: str, what: str) -> None:
    source = write_p910(tmp_path / "batch", suffix=".wav")
    text = f"[create_input]\ncondition_pattern:{pattern}\ncondition_keys = condition_num\n"
    (source / "master.cfg").write_text(text, "utf-8")
    with pytest.raises(UserError) as refused:
        import_study(source, tmp_path / "mine")
    (problem,) = refused.value.problems
    assert problem.what.startswith(what)
    assert problem.where == "master.cfg:2"


def test_of_clips_with_references_the_name_beside_that_of_the_reference_is_the_condition() -> None:
    clips = Clips()
    for name in ("a_low", "a_high", "b_low"):
        clips.add(f"x/{name}.mp4", "test", f"x/{name[0]}.mp4")
    made = clips.named(SourceFolder(Path(__file__)), None, 1, ".mp4")
    assert [(one.content, one.condition, one.role) for one in made] == [
        ("a", "reference", "reference"), ("b", "reference", "reference"), ("a", "low", "test"), ("a", "high", "test"),
        ("b", "low", "test"),
    ]  # fmt: skip


def test_the_same_names_in_several_folders_are_conditions_and_addresses_lose_their_queries() -> None:
    clips = Clips()
    for folder in ("new", "old"):
        clips.add(f"https://x.example.org/{folder}/a.mp4?sig=secret")
    made = clips.named(SourceFolder(Path(__file__)), None, 1, ".mp4")
    assert [(one.content, one.condition, one.named) for one in made] == [
        ("a", "new", "https://x.example.org/new/a.mp4"), ("a", "old", "https://x.example.org/old/a.mp4"),
    ]  # fmt: skip


def test_what_is_rated_somewhere_is_no_training_and_a_trap_is_a_trap_everywhere() -> None:
    clips = Clips()
    clips.add("a.mp4", "training")
    clips.add("a.mp4")
    clips.add("b.mp4", "trap")
    clips.add("b.mp4")
    assert clips.roles == {"a.mp4": "test", "b.mp4": "trap"}
