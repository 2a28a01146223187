"""`write_study`: tiny studies to test with."""

from __future__ import annotations

from pathlib import Path

import yaml

from beholder.testing import write_study


def test_keys_replace_add_or_drop_keys_of_a_tiny_study(tmp_path: Path, tiny: Path) -> None:
    study = write_study(tmp_path, tiny, title="Another", contact=None, run=2)
    written = yaml.safe_load(study.read_text("utf-8"))
    assert (written["title"], written["run"], "contact" in written) == ("Another", 2, False)
    assert written["method"] == "parallel"
    assert sorted(path.name for path in (tmp_path / "stimuli").iterdir()) == ["frozen", "jerky", "natural", "smooth"]
