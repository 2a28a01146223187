"""What is sent: a wheel that installs, the hashed lock, and the files of a study that a server needs."""

from __future__ import annotations

import base64
import hashlib
import io
import tarfile
import zipfile
from importlib.metadata import distribution
from pathlib import Path

from beholder.deployment.bundle import bundle_of, lock_file, make_wheel
from beholder.methods import load_study
from beholder.testing import write_study
from support.data import ROOT


def test_the_wheel_of_an_installed_package_is_whole_and_the_same_each_time(tmp_path: Path) -> None:
    (tmp_path / "again").mkdir()
    wheel = make_wheel(distribution("beholder"), tmp_path)
    with zipfile.ZipFile(wheel) as archive:
        held = {name: archive.read(name) for name in archive.namelist()}
    version = distribution("beholder").version
    assert wheel.name == f"beholder-{version}-py3-none-any.whl"
    for path in ("web/run.js", "store/schema/sqlite/0001.sql", "deployment/machine/__main__.py"):
        matches = [name for name in held if name.startswith(f"beholder/{path.rpartition('/')[0]}")]
        assert matches, path
    assert held["beholder/deployment/locks/run.txt"] == (ROOT / "requirements" / "run.txt").read_bytes()
    info = f"beholder-{version}.dist-info"
    assert b"beholder.methods" in held[f"{info}/entry_points.txt"]
    record = [line.split(",") for line in held[f"{info}/RECORD"].decode().splitlines()]
    assert {name for name, *_ in record} == set(held)
    for name, digest, size in record[:-1]:
        found = base64.urlsafe_b64encode(hashlib.sha256(held[name]).digest()).rstrip(b"=").decode()
        assert (digest, size) == (f"sha256={found}", str(len(held[name])))
    assert not [name for name in held if "__pycache__" in name]
    assert make_wheel(distribution("beholder"), tmp_path / "again").read_bytes() == wheel.read_bytes()


def test_every_package_of_a_lock_has_a_hash() -> None:
    for name in ("run.txt", "caddy.txt", "uv.txt"):
        lines = lock_file(name).read_text("utf-8").splitlines()
        packages = [line for line in lines if "==" in line]
        assert packages
        assert all(line.endswith("\\") for line in packages), name
        assert "://" not in "".join(lines)


def test_a_study_is_sent_without_what_verbs_wrote_and_hidden_files(tmp_path: Path, tiny: Path) -> None:
    study = write_study(tmp_path, tiny)
    for name in ("store/facts.sqlite", "report/index.html", "deploy/journal.jsonl", ".env", ".git/config"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text("secret", "utf-8")
    bundle = bundle_of(load_study(study))
    names = [one.path for one in bundle.files]
    assert "study.yaml" in names
    assert {name.partition("/")[0] for name in names} == {"media", "stimuli", "study.yaml"}
    assert bundle.version == bundle_of(load_study(study)).version
    study.write_text(study.read_text("utf-8").replace("tiny study", "small study"), "utf-8")
    assert bundle.version != bundle_of(load_study(study)).version


def test_only_files_that_are_not_there_are_in_the_tar(tmp_path: Path, tiny: Path) -> None:
    bundle = bundle_of(load_study(write_study(tmp_path, tiny)))
    first, *others = bundle.files
    missing = bundle.missing([one.sha256 for one in others])
    assert [one.sha256 for one in missing] == [first.sha256]
    with tarfile.open(fileobj=io.BytesIO(b"".join(bundle.tar(missing)))) as archive:
        (member,) = archive.getmembers()
        content = archive.extractfile(member)
        assert content is not None
        assert hashlib.sha256(content.read()).hexdigest() == member.name == first.sha256
