"""What routes share: a study that is broken hides none of the others."""

from __future__ import annotations

from pathlib import Path

from beholder.desk.logins import make_link, use_link
from beholder.testing import write_study
from support.desk_browsers import open_desk


async def test_a_study_that_is_broken_hides_none_of_the_others(tmp_path: Path, tiny: Path) -> None:
    for name in ("whole", "broken"):
        write_study(tmp_path / name, tiny, name=name)
    async with open_desk(tmp_path, tmp_path / "whole", tmp_path / "broken") as bench:
        (tmp_path / "broken" / "study.yaml").write_text("method: nothing\n")
        begun = use_link(bench.file, make_link(bench.file, "Ada"), "")
        assert begun is not None
        found, wrong = await bench.desk.visible(begun[1])
        assert [study.key for study in found] == ["whole"]
        assert "study.yaml" in str(wrong["broken"])
