"""What keeps a server running: unit files that systemd takes, and lines of a crontab beside those of others."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

if sys.platform == "win32":
    pytest.skip("what runs on the machine needs Linux", allow_module_level=True)

from beholder.deployment.machine.services import unit_file, write_crontab
from beholder.deployment.machine.supervisor import ServiceUnit
from support.ssh_machine import CRONTAB


def unit(folder: Path) -> ServiceUnit:
    command = [sys.executable, "-m", "beholder", "serve", f"{folder}/100 % $HOME.yaml"]
    return ServiceUnit("beholder-tiny", "Beholder: tiny", command, str(folder), f"{folder}/out.log", f"{folder}/s.env")


@pytest.mark.parametrize("is_user", [True, False])
def test_systemd_takes_the_unit_file(tmp_path: Path, is_user: bool) -> None:
    analyse = shutil.which("systemd-analyze")
    if analyse is None:
        pytest.skip("no systemd-analyze to verify unit files with")
    path = tmp_path / "beholder-tiny.service"
    path.write_text(unit_file(unit(tmp_path), is_user=is_user), "utf-8")
    checked = subprocess.run([analyse, "verify", str(path)], capture_output=True, text=True)
    about = [line for line in checked.stderr.splitlines() if "beholder-tiny" in line and "Failed to" not in line]
    assert about == []


def test_a_unit_restarts_and_gains_no_rights(tmp_path: Path) -> None:
    text = unit_file(unit(tmp_path), is_user=True)
    for line in ("Restart=always", "NoNewPrivileges=yes", "UMask=0077", "WantedBy=default.target"):
        assert f"{line}\n" in text
    assert f'"{tmp_path}/100 %% $$HOME.yaml"' in text
    assert f"EnvironmentFile=-{tmp_path}/s.env\n" in text


def test_lines_of_others_in_a_crontab_stay_as_they_are(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file, program = tmp_path / "table", tmp_path / "crontab"
    program.write_text(CRONTAB.format(file=file), "utf-8")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    write_crontab("beholder-tiny", ["@reboot one # beholder-tiny"])
    assert file.read_text("utf-8") == "@reboot one # beholder-tiny\n"
    write_crontab("beholder-tiny", [])
    assert not file.exists()
    file.write_text("0 3 * * * backup # my own\n@reboot x # beholder-tiny-2\n", "utf-8")
    write_crontab("beholder-tiny", ["@reboot two # beholder-tiny"])
    write_crontab("beholder-tiny", ["@reboot three # beholder-tiny"])
    assert file.read_text("utf-8").splitlines() == [
        "0 3 * * * backup # my own", "@reboot x # beholder-tiny-2", "@reboot three # beholder-tiny",
    ]  # fmt: skip
