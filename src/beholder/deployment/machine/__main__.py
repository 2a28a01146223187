"""The program on the machine: one verb, a request as a line of JSON on standard input, and an answer as JSON.

What follows the request on standard input are the bytes of what is sent. The answer is one line, and what follows it
are the bytes of what is fetched. A fault is an answer too, `{"fault": {...}}`.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Callable
from pathlib import Path
from typing import IO, Any

from beholder.deployment.machine.caddy import is_caddy_running, put_site, remove_site
from beholder.deployment.machine.handed_files import forget_handed, put_handed, read_handed
from beholder.deployment.machine.installation import (
    WHOLE,
    held_files,
    make_environment,
    receive_study,
    switch_study,
    tidy,
    write_secrets,
)
from beholder.deployment.machine.machine_facts import free_memory
from beholder.deployment.machine.places import MachineFault, Places, write_private
from beholder.deployment.machine.services import service_of
from beholder.deployment.machine.snapshot import FILES, describe_copies, held_sessions, take_snapshot
from beholder.deployment.machine.supervisor import ServiceUnit, ensure, read_secrets, supervise
from beholder.deployment.machine.tunnel import close_tunnel, open_tunnel, tunnel_state

Request = dict[str, Any]
_CLAIMED = ("id", "study", "since", "address", "tls", "service", "store", "is_temporary")
"""What the record of a deployment keeps of its claim."""
_PATIENCE_S = 90.0
_LONGEST_S = 3600
_SERVE = ["serve", "--quiet"]
_MENDED_BY_A_PERSON = 2


# Verbs: each takes the places, the request, and the rest of standard input


def claim(places: Places, request: Request, stream: IO[bytes]) -> Request:
    """Let this name be of this deployment, with a port of its own."""
    held = places.read()
    if held and held.get("id") != request["id"]:
        what = f"holds the study {held.get('study')} already, deployed from elsewhere on {held.get('since')}"
        fix = "Give your study another name; or take the other one down from the folder that it was deployed from."
        raise MachineFault(str(places.folder), what, "one deployment for each name of a study", fix)
    places.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    if held.get("service") and held["service"] != request["service"]:
        # What kept it running would go on doing so beside what is to do it now, and a store has one server.
        service_of(held["service"]).stop(_unit(places, held))
    return places.write(
        **{key: request.get(key) for key in _CLAIMED},
        port=held.get("port") or _free_port(places),
    )


def _free_port(places: Places) -> int:
    import socket

    others = [json.loads(file.read_text("utf-8")).get("port") for file in places.root.glob("*/deployment.json")]
    while True:
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            port = int(probe.getsockname()[1])
        if port not in others:
            return port


def inventory(places: Places, request: Request, stream: IO[bytes]) -> Request:
    """Return what is here and need not be sent: hashes of files, and whole environments."""
    whole = (places.folder / "environments").glob(f"*/{WHOLE}")
    return {"held": held_files(places), "environments": [path.parent.name for path in whole]}


def study(places: Places, request: Request, stream: IO[bytes]) -> Request:
    """Receive a version of the study."""
    receive_study(places, request["version"], request["files"], stream)
    return {}


def environment(places: Places, request: Request, stream: IO[bytes]) -> Request:
    """Make the environment."""
    make_environment(places, request["version"], request, stream)
    return {}


def secrets(places: Places, request: Request, stream: IO[bytes]) -> Request:
    """Keep secrets for the server."""
    write_secrets(places, request["values"])
    return {"names": sorted(read_secrets(str(places.secrets)))}


def serve(places: Places, request: Request, stream: IO[bytes]) -> Request:
    """Serve a version of the study; where it does not come up, the version before it is served again."""
    record = places.read()
    service = service_of(record["service"])
    # What it does stays as it was where nothing is said: an update does not turn a run into a server.
    arguments = request.get("arguments") or record.get("arguments") or _SERVE
    record = places.write(file=request["file"], arguments=arguments)
    unit = _unit(places, record)
    asked = _fingerprint(places, record, request)
    if asked == record.get("served") and service.is_running(unit) and _health(record).get("study") == places.name:
        return {"port": record["port"]}  # nothing has changed: nobody has to wait for a start
    places.write(served="", printed=places.log.stat().st_size if places.log.is_file() else 0)
    previous = switch_study(places, request["version"])
    service.start(unit, places.program)
    said = _until_well(places, record, unit)
    if said is None:
        places.write(version=request["version"], run=request["run"], served=asked)
        tidy(places, previous)
        return {"port": record["port"]}
    if previous and previous != request["version"]:
        switch_study(places, previous)
        service.start(unit, places.program)
        _until_well(places, record, unit)
        fix = "The version before is served again. Nobody has lost anything."
    else:
        service.stop(unit)
        fix = "Nothing is served. `beholder deploy logs` shows more."
    raise MachineFault("the study", f"is not served there: {said}", "", fix)


def _fingerprint(places: Places, record: Request, request: Request) -> str:
    """Return the hash of everything that a start of the server depends on."""
    secrets_text = places.secrets.read_text("utf-8") if places.secrets.is_file() else ""
    parts = [request["version"], places.environment.resolve().name, _unit(places, record).command, secrets_text]
    return hashlib.sha256(json.dumps(parts).encode()).hexdigest()


def _unit(places: Places, record: Request) -> ServiceUnit:
    verb, *options = record.get("arguments") or _SERVE
    trust = [f"{name}={value}" for name, value in _trust(places).items()] if verb == "run" else []
    command = [
        # Named, a proxy may hold as many connections as it has people.
        "/usr/bin/env", "BEHOLDER_PROXY=127.0.0.1", *trust, str(places.python), "-m", "beholder", verb,
        str(places.study / record.get("file", "study.yaml")), "--store", _store(places, record),
        "--host", "127.0.0.1", "--port", str(record["port"]), "--public-url", record["address"], *options,
    ]  # fmt: skip
    title = f"Beholder: the study {places.name}"
    return ServiceUnit(
        places.unit, title, command, str(places.folder), str(places.log), str(places.secrets), ends=verb == "run"
    )


def _store(places: Places, record: Request) -> str:
    """Return where the answers are: a database, whose password is in the environment, or the folder here."""
    return str(record.get("store") or places.store)


def _until_well(places: Places, record: Request, unit: ServiceUnit) -> str | None:
    """Wait until the server answers as this study, and return None; else what it said when it ended."""
    ends = time.monotonic() + _PATIENCE_S
    begin = places.log.stat().st_size if places.log.is_file() else 0
    while time.monotonic() < ends:
        if _health(record).get("study") == places.name:
            return None
        printed = _printed(places, begin)
        if f"{unit.name} has ended with 2" in printed or f"{unit.name} has ended with 1" in printed:
            return _own_words(printed)
        service = service_of(record["service"])
        if service.has_failed(unit) or service.ended_with(unit) == _MENDED_BY_A_PERSON:
            return _own_words(printed)
        if unit.ends and service.ended_with(unit) == 0:
            return None  # there was nothing left to do
        time.sleep(0.1)
    return f"it does not answer within {_PATIENCE_S:.0f} s ({_own_words(_printed(places, begin))})"


def _printed(places: Places, begin: int) -> str:
    if not places.log.is_file():
        return ""
    with places.log.open("rb") as file:
        file.seek(min(begin, places.log.stat().st_size))
        return file.read().decode("utf-8", "replace")


def _own_words(printed: str) -> str:
    """Return what the server itself has printed last."""
    lines = [line for line in printed.splitlines() if line.strip() and " supervisor: " not in line]
    return " ".join(lines[-3:]) or "it says nothing"


def _health(record: Request) -> Request:
    try:
        with urllib.request.urlopen(f"http://127.0.0.1:{record['port']}/healthz", timeout=5) as answer:
            found: Request = json.loads(answer.read())
            return found
    except (OSError, ValueError, urllib.error.HTTPError):
        return {}


def site(places: Places, request: Request, stream: IO[bytes]) -> Request:
    """Let Caddy serve the address; without a site, no more, as a proxy does."""
    if not request["site"]:
        remove_site(places)
        return {}
    answer = put_site(places, {**request, "service": places.read()["service"]})
    _keep_roots(places, [answer["root"], request["roots"]])
    return answer


def _keep_roots(places: Places, roots: list[str]) -> None:
    """Let verbs here trust the authority of the address too, which a launch looks at; besides those that all know."""
    known = sorted((places.environment / "lib").glob("python*/site-packages/certifi/cacert.pem"))
    if any(roots) and known:
        write_private(places.trusted, "\n".join([known[0].read_text("utf-8"), *filter(None, roots)]).encode())
    else:
        places.trusted.unlink(missing_ok=True)


def _trust(places: Places) -> dict[str, str]:
    return {"SSL_CERT_FILE": str(places.trusted)} if places.trusted.is_file() else {}


def tunnel(places: Places, request: Request, stream: IO[bytes]) -> Request:
    """Let a tunnel lead to the server, or take one away that is wanted no more."""
    if not request["kind"]:
        close_tunnel(places)
        return {}
    return open_tunnel(places, request)


def state(places: Places, request: Request, stream: IO[bytes]) -> Request:
    """Return how the deployment is doing."""
    record = places.read()
    if not record:
        return {"record": {}}
    size = sum(path.stat().st_size for path in places.store.glob("*") if path.is_file()) if places.store.is_dir() else 0
    return {
        "record": record,
        "is_kept": service_of(record["service"]).is_running(_unit(places, record)),
        "is_caddy_kept": is_caddy_running(places),
        "tunnel": tunnel_state(places),
        "ended": service_of(record["service"]).ended_with(_unit(places, record)),
        "health": _health(record),
        "software": _software(places),
        "counts": ask(places, {"what": "people"}, stream).get("counts", {}),
        "disk_free": shutil.disk_usage(places.folder).free,
        "memory_free": free_memory(),
        "store_bytes": size,
        "time": time.time(),
    }


def _software(places: Places) -> str:
    """Return the version of the Beholder that serves the study."""
    found = sorted((places.environment / "lib").glob("python*/site-packages/beholder-*.dist-info"))
    return found[-1].name.removesuffix(".dist-info").partition("-")[2] if found else "?"


def ask(places: Places, request: Request, stream: IO[bytes]) -> Request:
    """Ask the Beholder that serves the study, with its secrets: who is inside, what is owed, to stop arrivals."""
    record = places.read()
    file = places.study / record.get("file", "study.yaml")
    if not places.python.exists() or not file.is_file():
        if not (record.get("store") or (places.store / FILES[0]).is_file()):
            return {}  # nothing was served yet
        what = "cannot be asked, as its environment is gone"
        problem = MachineFault("the study", what, "", "`beholder deploy up` makes it again.").parts
        return {"problems": [problem]}
    ran = subprocess.run(
        _question(places, record, request["what"]), cwd=places.study, env=_environment(places), capture_output=True,
        text=True, stdin=subprocess.DEVNULL, timeout=_LONGEST_S,
    )  # fmt: skip
    if ran.returncode:
        last = (ran.stderr.strip().splitlines() or ["it says nothing"])[-1]
        raise MachineFault("the study", f"cannot be asked: {last}", "", "See `beholder deploy logs`.")
    answer: Request = json.loads(ran.stdout)
    return answer


def _question(places: Places, record: Request, what: str, *more: str) -> list[str]:
    file = places.study / record.get("file", "study.yaml")
    return [str(places.python), "-m", "beholder.deployment.served", what, str(file), *more]


def _environment(places: Places) -> dict[str, str]:
    """Return the variables with which verbs of Beholder work on this deployment as the server does."""
    record = places.read()
    own = {
        "BEHOLDER_STORE": _store(places, record), "BEHOLDER_PUBLIC_URL": record.get("address", ""),
        "BEHOLDER_RUN": str(record.get("run", 1)),
    }  # fmt: skip
    if record.get("is_temporary"):
        own["BEHOLDER_TEMPORARY"] = "1"
    return {**os.environ, **read_secrets(str(places.secrets)), **_trust(places), **own}


def snapshot(places: Places, request: Request, stream: IO[bytes]) -> Request:
    """Copy the store, and return what the copy holds; a database becomes files of the same tables."""
    folder = places.folder / "snapshot"
    if not places.read().get("store"):
        return {"files": take_snapshot(places.store, folder) if places.store.is_dir() else []}
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(mode=0o700, parents=True)
    told = ask(places, {"what": "copy"}, stream)
    if told.get("problems"):
        raise MachineFault(**told["problems"][0])
    return {"files": describe_copies(folder)}


def fetch(places: Places, request: Request, stream: IO[bytes]) -> Request:
    """Send a file of the snapshot."""
    path = places.folder / "snapshot" / Path(request["file"]).name
    _print({"size": path.stat().st_size})
    with path.open("rb") as file:
        shutil.copyfileobj(file, sys.stdout.buffer)
    sys.stdout.buffer.flush()
    raise SystemExit(0)


def forget_snapshot(places: Places, request: Request, stream: IO[bytes]) -> Request:
    """Remove the copy, which would keep what people erase."""
    shutil.rmtree(places.folder / "snapshot", ignore_errors=True)
    return {}


def log(places: Places, request: Request, stream: IO[bytes]) -> Request:
    """Return the last lines of the log from a place on, and where it ends."""
    if not places.log.is_file():
        return {"lines": [], "end": 0}
    size = places.log.stat().st_size
    begin = request.get("begin")
    with places.log.open("rb") as file:
        file.seek(max(0, size - 1_000_000) if begin is None or begin > size else begin)
        lines = file.read().decode("utf-8", "replace").splitlines()
    return {"lines": lines[-int(request["lines"]) :] if begin is None else lines, "end": size}


def progress(places: Places, request: Request, stream: IO[bytes]) -> Request:
    """Return whether what runs here has come to its end, and what it has printed since; at first, since its start.

    A panel's link is among the first lines, and those are printed before anybody can ask.
    """
    record = places.read()
    if not record:
        return {"ended": None, "is_kept": False, "lines": [], "end": 0}
    unit, service = _unit(places, record), service_of(record["service"])
    ended = service.ended_with(unit) if unit.ends else None  # asked first: what it says last is in the log then
    begin = request["begin"]
    printed = log(places, {"begin": record.get("printed", 0) if begin is None else begin}, stream)
    lines = [line for line in printed["lines"] if " supervisor: " not in line]
    lines = lines[-_FIRST_LINES:] if begin is None else lines
    return {"ended": ended, "is_kept": service.is_running(unit), "lines": lines, "end": printed["end"]}


_FIRST_LINES = 100
"""How many lines are told at most to whoever asks for the first time: the run may be days old."""


def command(places: Places, request: Request, stream: IO[bytes]) -> Request:
    """Run a verb of Beholder on the study that is served, with its secrets; return what it printed, and its files."""
    record = places.read()
    put_handed(places.study, request.get("files", {}))
    ran = subprocess.run(
        [str(places.python), "-m", "beholder", *request["arguments"]],
        cwd=places.study, env=_environment(places), capture_output=True, text=True, stdin=subprocess.DEVNULL,
        timeout=_LONGEST_S,
    )  # fmt: skip
    files = read_handed(places.study)
    if not record.get("arguments"):  # a run goes on with them; without one they are at home, and nobody needs them here
        forget_handed(places.study, files)
    return {"code": ran.returncode, "out": ran.stdout, "err": ran.stderr, "study": record["study"], "files": files}


def stop(places: Places, request: Request, stream: IO[bytes]) -> Request:
    """Stop the server; nothing starts it again."""
    record = places.read()
    if record:
        service_of(record["service"]).stop(_unit(places, record))
    return {}


def remove(places: Places, request: Request, stream: IO[bytes]) -> Request:
    """Remove everything of the deployment: service, site, environment, study and store."""
    record = places.read()
    if request.get("only_unused") and (found := held_sessions(places.store)):
        what = f"holds {found} sessions of people, and stays"
        raise MachineFault(str(places.store), what, "", "`beholder deploy down` brings them home first.")
    if record and record.get("id") != request["id"]:
        raise MachineFault(
            str(places.folder), "is of another deployment, and stays", "", "Its own folder takes it down."
        )
    if record:
        service_of(record["service"]).stop(_unit(places, record))
        close_tunnel(places)
    remove_site(places)
    # The record goes last: until then, the same command goes on.
    for path in places.folder.iterdir() if places.folder.is_dir() else ():
        if path not in (places.record, places.program):
            shutil.rmtree(path) if path.is_dir() and not path.is_symlink() else path.unlink()
    if places.folder.is_dir():
        shutil.rmtree(places.folder)
    _remove_root(places)
    return {"is_gone": not places.folder.exists()}


def _remove_root(places: Places) -> None:
    """Remove the folder of all deployments where none is left."""
    if {path.name for path in places.root.iterdir()} <= {"lock"}:
        shutil.rmtree(places.root, ignore_errors=True)


VERBS: dict[str, Callable[[Places, Request, IO[bytes]], Request]] = {
    "ask": ask, "claim": claim, "command": command, "environment": environment, "fetch": fetch,
    "forget-snapshot": forget_snapshot, "inventory": inventory, "log": log, "progress": progress, "remove": remove,
    "secrets": secrets, "serve": serve, "site": site, "snapshot": snapshot, "state": state, "stop": stop,
    "study": study, "tunnel": tunnel,
}  # fmt: skip
_UNLOCKED = {"ask", "command", "fetch", "inventory", "log", "progress", "state"}
"""Verbs that change nothing in the installation, and wait for nobody."""


def main(arguments: list[str]) -> None:
    """Run one verb."""
    os.umask(0o077)
    verb = arguments[0]
    if verb == "supervise":
        supervise(Path(arguments[1]))
        return
    if verb == "ensure":
        ensure(Path(arguments[1]), Path(sys.argv[0]).resolve())
        return
    request = json.loads(sys.stdin.buffer.readline())
    places = Places(Path(request["root"]), request["name"])
    try:
        if verb in _UNLOCKED:
            answer = VERBS[verb](places, request, sys.stdin.buffer)
        else:
            with places.locked():
                answer = VERBS[verb](places, request, sys.stdin.buffer)
    except MachineFault as fault:
        answer = {"fault": fault.parts}
    _print(answer)


def _print(answer: Request) -> None:
    sys.stdout.write(f"{json.dumps(answer)}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    main(sys.argv[1:])
