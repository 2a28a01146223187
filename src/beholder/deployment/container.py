"""A study as a container: what an engine builds and starts, written beside the study.

`beholder deploy container` writes a folder with a Containerfile, a compose file, the lock with the hash of every
package, wheels of ours, and the study with its media. The image runs as a user without rights, keeps nothing in
itself, and says whether it is well. TLS is ended by Caddy beside it, or by a proxy that is there.
"""

from __future__ import annotations

import json
import os
import secrets
import shutil
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from importlib.metadata import distribution
from pathlib import Path
from typing import Any, Literal

import yaml

from beholder.deployment.bundle import bundle_of, lock_file, make_wheel, packages_of
from beholder.deployment.engine import COMPOSE, CONTAINER, CONTAINERFILE, ENGINES, PORT, STUDY_FOLDER, engine_of
from beholder.deployment.journal import Journal, one_at_a_time
from beholder.deployment.machine.places import write_private
from beholder.deployment.publication import look_from_outside
from beholder.deployment.rollout import prepare_study
from beholder.deployment.settings import DeploySettings, is_address, secrets_of
from beholder.deployment.store_copy import check_home_store
from beholder.errors import DeployError, Problem
from beholder.result_view import ResultView, ShownResult
from beholder.study.deployment import ADDRESS_WORDS, address_host, address_port
from beholder.study.model import Study

FOLDER = "container"
SECRETS, IGNORE = "secrets.env", ".containerignore"
_USER = 10001
_PYTHON, _CADDY, _POSTGRESQL = "python:3.12-slim-bookworm", "caddy:2.10-alpine", "postgres:17-alpine"
_PROXIES = "172.16.0.0/12,192.168.0.0/16,10.0.0.0/8,fd00::/8"
"""Networks that engines give to containers: who comes from there is Caddy or the engine, and tells for whom."""
ContainerTls = Literal["public", "proxy"]


@dataclass(frozen=True, repr=False)
class WrittenContainer(ShownResult):
    """The folder of a container, and whether it was built."""

    folder: Path
    files: tuple[str, ...]
    engine: str
    """The engine that answers here; empty where none does."""
    is_started: bool
    words: tuple[str, ...]

    def _view(self) -> ResultView:
        return ResultView(self.words)


def write_container(
    study: Study,
    file: str,
    folder: Path | None = None,
    *,
    address: str | None = None,
    tls: ContainerTls = "public",
    has_postgresql: bool = False,
    is_started: bool = False,
    progress: Callable[[int, int], None] | None = None,
) -> WrittenContainer:
    """Write the folder of a container, anew where it was written before; with `is_started`, build and start it."""
    folder = folder or study.folder / FOLDER
    address = address or (study.deploy.address if study.deploy is not None else None)
    _check(folder, address, tls)
    assert address is not None
    engine = engine_of()
    if is_started and not engine:
        fix = (
            "Start Docker or Podman, with Compose (`docker compose version`); or leave out --start, and take the "
            "folder to where one runs."
        )
        raise DeployError(Problem("--start", "finds no container engine that answers here", ", ".join(ENGINES), fix))
    prepare_study(study, progress)
    _write_study(study, folder / "study")
    wheels = _write_wheels(study, folder)
    (folder / "run.txt").write_bytes(lock_file("run.txt").read_bytes())
    (folder / CONTAINERFILE).write_text(containerfile(wheels, file), "utf-8")
    compose = compose_file(study.name, address, tls=tls, has_postgresql=has_postgresql, run=study.run)
    (folder / COMPOSE).write_text(yaml.safe_dump(compose, sort_keys=False), "utf-8")
    # Docker reads another name than Podman and Buildah.
    for name in (IGNORE, ".dockerignore"):
        (folder / name).write_text("\n".join(["*", *(f"!{one}" for one in ("study", "run.txt", *wheels)), ""]), "utf-8")
    _write_secrets(study, folder / SECRETS, address, has_postgresql=has_postgresql)
    if is_started:
        _start(study, file, folder, address, tls)
    files = tuple(sorted(path.name for path in folder.iterdir()))
    return WrittenContainer(
        folder, files, engine, is_started, tuple(_words(study, folder, address, engine, is_started, tls))
    )


def _check(folder: Path, address: str | None, tls: ContainerTls) -> None:
    """Raise DeployError where something else is in the folder, or people would not find the study."""
    problems = []
    if address is None:
        problems.append(Problem("--address", "is missing", ADDRESS_WORDS, "It is what participants open."))
    elif not is_address(address):
        problems.append(Problem("--address", f"is {address}", ADDRESS_WORDS))
    elif tls == "public" and address_port(address) != 443:
        fix = "Caddy gets a certificate on the usual ports alone; with --tls proxy the port is that of your proxy."
        problems.append(Problem("--address", f"names port {address_port(address)}", "the usual port", fix))
    if folder.exists() and (not folder.is_dir() or (any(folder.iterdir()) and not (folder / CONTAINERFILE).is_file())):
        problems.append(Problem(str(folder), "holds something else", "a new folder, or one that was written before"))
    if problems:
        raise DeployError(problems)


def _write_study(study: Study, folder: Path) -> None:
    """Write the files of the study, without a second copy of media where the disk can link."""
    shutil.rmtree(folder, ignore_errors=True)
    bundle = bundle_of(study, besides=folder.parent)
    for one in bundle.files:
        path, source = folder / one.path, bundle.folder / one.path
        path.parent.mkdir(parents=True, exist_ok=True)
        try:
            os.link(source, path)
        except OSError:
            shutil.copy2(source, path)


def _write_wheels(study: Study, folder: Path) -> list[str]:
    for old in folder.glob("*.whl"):
        old.unlink()
    return [make_wheel(package, folder).name for package in (distribution("beholder"), *packages_of(study))]


def _write_secrets(study: Study, path: Path, address: str, *, has_postgresql: bool) -> None:
    """Write what only the containers may know, for its owner only; a password that is there stays."""
    present: dict[str, str] = {}
    if path.is_file():
        present = dict(line.split("=", 1) for line in path.read_text("utf-8").splitlines() if "=" in line)
    values = {**present, **secrets_of(study, DeploySettings("container", address))}
    if has_postgresql:
        password = present.get("PGPASSWORD") or secrets.token_urlsafe(24)
        values |= {"PGPASSWORD": password, "POSTGRES_PASSWORD": password}
    write_private(path, "".join(f"{name}={value}\n" for name, value in sorted(values.items())).encode())


# What is written


def containerfile(wheels: list[str], file: str = "study.yaml") -> str:
    """Return the Containerfile: Debian's Python, the packages of the lock, the study, and a user without rights."""
    serve = ["beholder", "serve", f"{STUDY_FOLDER}/{file}", "--host", "0.0.0.0", "--port", str(PORT), "--quiet"]
    health = f"import urllib.request as u; u.urlopen('http://127.0.0.1:{PORT}/healthz', timeout=5)"
    return f"""# Built by Docker, Podman or Buildah: docker build --file {CONTAINERFILE} .
FROM {_PYTHON}

RUN useradd --system --uid {_USER} --create-home --home-dir /srv/home --shell /usr/sbin/nologin beholder \\
    && install --directory --owner={_USER} --mode=0700 /srv/store

WORKDIR /srv
COPY run.txt /srv/packages/
RUN pip install --no-cache-dir --disable-pip-version-check --require-hashes --requirement /srv/packages/run.txt
COPY {" ".join(wheels)} /srv/packages/
RUN pip install --no-cache-dir --disable-pip-version-check --no-deps /srv/packages/*.whl && rm -r /srv/packages
COPY --chown={_USER}:{_USER} study /srv/study

USER {_USER}
VOLUME ["/srv/store"]
EXPOSE {PORT}
ENV PYTHONUNBUFFERED=1
HEALTHCHECK --interval=30s --timeout=6s --start-period=60s --retries=3 \\
    CMD ["python", "-c", "{health}"]
ENTRYPOINT {json.dumps(serve)}
CMD ["--store", "/srv/store"]
"""


def compose_file(name: str, address: str, *, tls: ContainerTls, has_postgresql: bool, run: int = 1) -> dict[str, Any]:
    """Return the compose file: the study, Caddy before it unless a proxy is there, and PostgreSQL if asked for."""
    store = "postgresql://beholder@database/beholder" if has_postgresql else "/srv/store"
    study: dict[str, Any] = {
        "build": {"context": ".", "dockerfile": CONTAINERFILE},
        "image": f"beholder-{name}",
        "init": True,
        "restart": "unless-stopped",
        "env_file": [SECRETS],
        "command": ["--store", store, "--public-url", address],
        "environment": {
            "BEHOLDER_PROXY": _PROXIES,
            # For verbs that are run beside the server.
            "BEHOLDER_STORE": store,
            "BEHOLDER_PUBLIC_URL": address,
            "BEHOLDER_RUN": str(run),
        },
        "volumes": ["store:/srv/store"],
        **_CONFINED,
    }
    services: dict[str, Any] = {"study": study}
    volumes: dict[str, Any] = {"store": {}}
    if tls == "proxy":
        # For the proxy on this machine, and nobody else.
        study["ports"] = [f"127.0.0.1:{PORT}:{PORT}"]
    else:
        services["caddy"] = {
            "image": _CADDY,
            "command": ["caddy", "reverse-proxy", "--from", address_host(address), "--to", f"study:{PORT}"],
            "restart": "unless-stopped",
            "ports": ["80:80", "443:443", "443:443/udp"],
            "volumes": ["certificates:/data"],
            "depends_on": {"study": {"condition": "service_healthy"}},
            "security_opt": ["no-new-privileges:true"],
        }
        volumes["certificates"] = {}
    if has_postgresql:
        services["database"] = {
            "image": _POSTGRESQL,
            "restart": "unless-stopped",
            "env_file": [SECRETS],
            "environment": {"POSTGRES_USER": "beholder", "POSTGRES_DB": "beholder"},
            "volumes": ["database:/var/lib/postgresql/data"],
            "healthcheck": {
                "test": ["CMD", "pg_isready", "--username=beholder", "--dbname=beholder"],
                "interval": "5s", "timeout": "5s", "retries": 10,
            },
            "security_opt": ["no-new-privileges:true"],
        }  # fmt: skip
        study["depends_on"] = {"database": {"condition": "service_healthy"}}
        volumes["database"] = {}
    return {"name": f"beholder-{name}", "services": services, "volumes": volumes}


_CONFINED: Mapping[str, Any] = {
    "cap_drop": ["ALL"],
    "security_opt": ["no-new-privileges:true"],
    "stop_grace_period": "40s",
}


# Building and starting it


def _start(study: Study, file: str, folder: Path, address: str, tls: ContainerTls) -> None:
    """Build and start it, or bring it up to date; the journal knows it from before the first container is made."""
    journal = Journal(study.folder)
    with one_at_a_time(journal):
        record = journal.current()
        if record is not None and record.is_claimed and record.settings["to"] != CONTAINER:
            fix = "Take it down first: `beholder deploy down`. One study is in one place, so that no answer is in two."
            raise DeployError(Problem("--start", f"finds the study on {record.settings['to']}", "", fix))
        if record is None or not record.is_served:
            check_home_store(study)
        settings = DeploySettings(CONTAINER, address, tls, machine=str(folder.absolute()))
        record = journal.begin(settings.facts)
        with journal.step(record.id, "claim", {"file": file, "port": PORT}):
            pass  # what carries the label of its project is ours
        with journal.step(record.id, "serve", {"version": bundle_of(study, besides=folder).version, "run": study.run}):
            settings.target().create()
        look = look_from_outside(settings, study.name)
        if look.is_reached:
            journal.write(record.id, "reached", "done", {"address": address})


def _words(study: Study, folder: Path, address: str, engine: str, is_started: bool, tls: ContainerTls) -> list[str]:
    ports = f"127.0.0.1:{PORT}, for the proxy that is there" if tls == "proxy" else "ports 80 and 443, by Caddy"
    words = [f"Wrote {folder}: {CONTAINERFILE}, {COMPOSE} and what they need.", f"Public: {address}, through {ports}."]
    if is_started:
        more = "`beholder deploy status`, `logs`, `pull`, `exec` and `down` look after it."
        return [*words, f"It runs. Participants: {address}/s/{study.name}", more]
    program = engine or ENGINES[0]
    if not engine:
        words.append("No container engine answers here, so the image was never built.")
    return [*words, f"To build and start it there: `{program} compose up --build --detach --wait`."]
