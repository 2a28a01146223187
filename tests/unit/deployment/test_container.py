"""A study as a container: what is written passes the linter and the schema, runs as nobody, and keeps its secrets."""

from __future__ import annotations

import json
import stat
import subprocess
import sys
from importlib.resources import files
from pathlib import Path
from typing import Any

import jsonschema  # type: ignore[import-untyped]
import pytest
import yaml

from beholder.deployment.container import WrittenContainer, write_container
from beholder.deployment.engine import engine_of
from beholder.errors import DeployError
from beholder.methods import load_study
from beholder.testing import write_study
from beholder.testing.engines import AWAY, install_engine

ADDRESS = "https://study.example.org"


@pytest.fixture(autouse=True)
def _no_engine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let no engine be found but one that a test puts there."""
    (tmp_path / "bin").mkdir()
    monkeypatch.setenv("PATH", str(tmp_path / "bin"))


def write(study: Path, folder: Path | None = None, **options: Any) -> WrittenContainer:
    return write_container(load_study(study), study.name, folder, **{"address": ADDRESS, **options})


def test_what_is_written_passes_linter_and_schema(tmp_path: Path, tiny: Path) -> None:
    study = write_study(tmp_path / "study", tiny)
    schema = json.loads(
        files("check_jsonschema").joinpath("builtin_schemas", "vendor", "compose-spec.json").read_text("utf-8")
    )
    for tls, has_postgresql in (("public", False), ("proxy", True)):
        written = write(study, tmp_path / tls, tls=tls, has_postgresql=has_postgresql)
        compose = yaml.safe_load((written.folder / "compose.yaml").read_text("utf-8"))
        jsonschema.validate(compose, schema)
        services = compose["services"]
        assert set(services) == {"study", *(["database"] if has_postgresql else ["caddy"])}
        open_ports = {name: service.get("ports", []) for name, service in services.items() if service.get("ports")}
        result = {"proxy": {"study": ["127.0.0.1:8000:8000"]}, "public": {"caddy": ["80:80", "443:443", "443:443/udp"]}}
        assert open_ports == result[tls]
        store = "postgresql://beholder@database/beholder" if has_postgresql else "/srv/store"
        assert services["study"]["command"] == ["--store", store, "--public-url", ADDRESS]
        assert all(volume.split(":")[0] in compose["volumes"] for one in services.values() for volume in one["volumes"])
    hadolint = Path(sys.executable).with_name("hadolint")
    if not hadolint.is_file():
        pytest.skip("no hadolint for this system")
    linted = subprocess.run(
        [str(hadolint), "--failure-threshold", "style", str(written.folder / "Containerfile")],
        capture_output=True, text=True,
    )  # fmt: skip
    assert (linted.returncode, linted.stdout) == (0, "")


def test_the_image_has_everything_and_runs_as_nobody(tmp_path: Path, tiny: Path) -> None:
    study = write_study(tmp_path / "study", tiny)
    (study.parent / "store").mkdir()
    (study.parent / "store" / "facts.sqlite").touch()
    written = write(study)
    assert written.folder == study.parent / "container"
    lines = (written.folder / "Containerfile").read_text("utf-8").splitlines()
    assert lines.index("USER 10001") > max(number for number, line in enumerate(lines) if line.startswith("RUN"))
    assert (
        'ENTRYPOINT ["beholder", "serve", "/srv/study/study.yaml", "--host", "0.0.0.0", "--port", "8000", "--quiet"]'
        in (lines)
    )
    assert any("--require-hashes" in line for line in lines)
    copied = {word for line in lines if line.startswith("COPY") for word in line.split()[1:-1] if word[0] != "-"}
    assert all((written.folder / name).exists() for name in copied)
    ignored = (written.folder / ".dockerignore").read_text("utf-8").split()
    assert ignored[0] == "*"
    assert {name[1:] for name in ignored[1:]} == copied, "nothing else goes into an image, least of all secrets"
    inside = {path.relative_to(written.folder / "study").parts[0] for path in (written.folder / "study").rglob("*")}
    assert {"study.yaml", "plan"} <= inside
    assert not inside & {"store", "container"}, "an image holds no answers"
    # What was taken out of the study is taken out of the folder too.
    again = write(study)
    assert again.files == written.files


def test_secrets_are_in_one_file_of_their_owner(tmp_path: Path, tiny: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    study = write_study(tmp_path / "study", tiny, recruit={"mode": "prolific", "reward": "1.20 GBP"})
    monkeypatch.setenv("PROLIFIC_TOKEN", "a-token-that-nobody-may-read")
    written = write(study, has_postgresql=True)
    secret = written.folder / "secrets.env"
    assert stat.S_IMODE(secret.stat().st_mode) == 0o600
    values = dict(line.split("=", 1) for line in secret.read_text("utf-8").splitlines())
    assert values["PROLIFIC_TOKEN"] == "a-token-that-nobody-may-read"
    assert values["PGPASSWORD"] == values["POSTGRES_PASSWORD"] != ""
    others = [path for path in written.folder.rglob("*") if path.is_file() and path != secret]
    assert not [path for path in others for value in values.values() if value.encode() in path.read_bytes()]
    monkeypatch.delenv("PROLIFIC_TOKEN")
    write(study, has_postgresql=True)
    assert secret.read_text("utf-8") == "".join(f"{name}={value}\n" for name, value in sorted(values.items()))


def test_without_an_engine_that_is_said(tmp_path: Path, tiny: Path) -> None:
    study = write_study(tmp_path / "study", tiny)
    assert write(study).words[2:] == (
        "No container engine answers here, so the image was never built.",
        "To build and start it there: `docker compose up --build --detach --wait`.",
    )
    install_engine(tmp_path / "bin")
    (tmp_path / "bin" / AWAY).touch()
    assert engine_of() == "", "the program is there, and no engine behind it"
    with pytest.raises(DeployError) as refused:
        write(study, is_started=True)
    assert str(refused.value) == (
        "--start  finds no container engine that answers here. Allowed: docker, podman. Start Docker or Podman, with "
        "Compose (`docker compose version`); or leave out --start, and take the folder to where one runs."
    )


def test_what_cannot_be_is_told_at_once(tmp_path: Path, tiny: Path) -> None:
    study = write_study(tmp_path / "study", tiny)
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "thesis.tex").touch()
    with pytest.raises(DeployError) as refused:
        write(study, tmp_path / "other", address=None)
    assert [str(problem) for problem in refused.value.problems] == [
        "--address  is missing. Allowed: an address such as https://study.example.org, without a path. It is what "
        "participants open.",
        f"{tmp_path / 'other'}  holds something else. Allowed: a new folder, or one that was written before.",
    ]
    with pytest.raises(DeployError) as refused:
        write(study, address="https://study.example.org:8443")
    assert str(refused.value) == (
        "--address  names port 8443. Allowed: the usual port. Caddy gets a certificate on the usual ports alone; with "
        "--tls proxy the port is that of your proxy."
    )
    with pytest.raises(DeployError, match="--address  is http://study"):
        write(study, address="http://study.example.org")
    write(study, address="https://study.example.org:8443", tls="proxy")
