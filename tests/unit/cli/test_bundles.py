"""bundle, verify and rerun on the command line."""

from __future__ import annotations

import json
from pathlib import Path

import beholder
from beholder.testing import write_study
from support.bundled_study import rewrite
from support.commands import command


def test_a_study_is_bundled_verified_and_repeated_by_three_commands(tmp_path: Path, tiny: Path) -> None:
    study = write_study(tmp_path / "study", tiny)
    beholder.simulate(study, participants=4)
    here = study.parent
    listed = command("bundle", "--archive", "--dry-run", cwd=here)
    assert listed.stdout.index("study/stimuli/") < listed.stdout.index("Nothing was written.")
    made = command("bundle", "--with-stimuli", cwd=here)
    assert (made.returncode, made.stderr) == (0, "")
    assert made.stdout.index("left out") < made.stdout.index("tiny-public.zip: ")
    both = command("bundle", "--public", "--archive", cwd=here)
    assert both.returncode == 2
    assert "--public and --archive are two bundles" in both.stderr
    checked = command("verify", "tiny-public.zip", "--out", "checked", cwd=here)
    assert checked.returncode == 0
    assert "Page: checked/index.html" in checked.stdout

    def change(files: dict[str, bytes]) -> None:
        files["README.md"] += b"!"

    rewrite(here / "tiny-public.zip", here / "x.zip", change, with_checksums=False)
    found = command("verify", "x.zip", "--json", cwd=here)
    assert found.returncode == 3
    assert json.loads(found.stdout)["faults"] == [
        {"file": "README.md", "what": "was changed after its checksum was made"}
    ]  # fmt: skip
    nobody = command("rerun", "tiny-public.zip", cwd=here)
    assert nobody.returncode == 2
    assert "has nobody to ask. Allowed: --new-people." in nobody.stderr
    again = command("rerun", "tiny-public.zip", "again", "--new-people", cwd=here)
    assert again.returncode == 0
    assert "beholder compare again/original again" in again.stdout
