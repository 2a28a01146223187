"""A deployment that is there: its journal, its machine, and the verbs that look at it or bring data home."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from beholder.backups.backup_state import state_words
from beholder.clock import utc_now
from beholder.deployment.contract import StudyProgram
from beholder.deployment.engine import ContainerMachine, ContainerProgram
from beholder.deployment.inspection import clock_skew, gigabytes, megabytes
from beholder.deployment.journal import DeploymentRecord, Journal, one_at_a_time
from beholder.deployment.machine.handed_files import put_handed, read_handed
from beholder.deployment.program import MachineProgram
from beholder.deployment.publication import OutsideLook, look_from_outside
from beholder.deployment.rollout import roots_of
from beholder.deployment.settings import DeploySettings
from beholder.deployment.store_copy import StoreCopy, facts_of, pull_store
from beholder.errors import DeployError, Problem
from beholder.formats import plain_count
from beholder.result_view import ResultView, ShownResult
from beholder.store.open import display_address
from beholder.study.model import Study
from beholder.study.recruitment import Sum


@dataclass(frozen=True)
class OpenDeployment:
    """A deployment with a connection to its machine."""

    study: Study
    journal: Journal
    record: DeploymentRecord
    settings: DeploySettings
    program: StudyProgram


def current_record(study: Study, journal: Journal) -> DeploymentRecord:
    """Return the deployment of a study, or raise DeployError where there is none."""
    record = journal.current()
    if record is None or not record.is_claimed:
        fix = "`beholder deploy up --to user@host --address https://…` puts it online."
        raise DeployError(Problem(str(journal.path), f"knows no deployment of {study.name}", "", fix))
    return record


@contextlib.contextmanager
def open_deployment(study: Study, journal: Journal, *, alone: bool = False) -> Iterator[OpenDeployment]:
    """Connect to the machine of the deployment of a study; with `alone`, no other command works on it from here."""
    record = current_record(study, journal)
    if "claim" not in record.done:
        fix = "Run `beholder deploy up` again, which goes on where it was broken off."
        raise DeployError(Problem(str(record.settings["to"]), "was left before anything was there", "", fix))
    settings = DeploySettings(**record.settings)
    claim = record.done["claim"]
    with one_at_a_time(journal) if alone else contextlib.nullcontext(), settings.target().connect() as machine:
        program: StudyProgram
        if isinstance(machine, ContainerMachine):
            program = ContainerProgram(machine, claim["file"], str(record.done["serve"]["version"]))
        else:
            program = MachineProgram(machine, claim["python"], claim["root"], study.name)
        yield OpenDeployment(study, journal, record, settings, program)


def pull(deployment: OpenDeployment) -> StoreCopy:
    """Bring a verified copy of the store home, and write down that it was."""
    with deployment.journal.step(deployment.record.id, "pull") as known:
        copy = pull_store(deployment.program, deployment.study)
        known.update(facts_of(copy))
    return copy


def run_there(deployment: OpenDeployment, arguments: Sequence[str]) -> Mapping[str, Any]:
    """Run a verb of Beholder on the machine, on the study that is served; return its code, and what it printed.

    Files that a person edits, such as decide/decisions.csv, go there before it and come home after it.
    """
    home = deployment.study.folder
    ran = deployment.program.call("command", arguments=list(arguments), files=read_handed(home))
    try:
        put_handed(home, ran.pop("files"))
    except ValueError as error:
        raise DeployError(Problem(deployment.settings.to, f"sent a file for {error}, and it was not taken")) from error
    return ran


def read_log(deployment: OpenDeployment, lines: int = 100) -> list[str]:
    """Return the last lines that the server has printed."""
    found: list[str] = deployment.program.call("log", lines=lines)["lines"]
    return found


def follow_log(
    deployment: OpenDeployment, lines: int = 100, sleep: Callable[[float], None] = time.sleep
) -> Iterator[list[str]]:
    """Yield the last lines that the server has printed, and then what it prints."""
    told = deployment.program.call("log", lines=lines)
    while True:
        if told["lines"]:
            yield told["lines"]
        sleep(_LOOK_AT_LOG_S)
        told = deployment.program.call("log", lines=lines, begin=told["end"])


_LOOK_AT_LOG_S = 2.0


# Status


@dataclass(frozen=True, repr=False)
class DeploymentStatus(ShownResult):
    """How a deployment is doing."""

    study: str
    to: str
    link: str
    is_reached: bool
    """Whether the public address leads to the study."""
    outside: str
    certificate_ends: datetime | None
    is_served: bool
    """Whether the server answers on its machine, and can store."""
    ended: int | None
    """The code with which a run came to its end there; None for one that goes on, and for a server."""
    is_kept: bool
    """Whether something starts it again."""
    service: str
    version: str
    """Of the study that is served."""
    software: str
    """The version of Beholder that serves it."""
    is_current: bool
    """Whether it is the study that is here."""
    inside: int | None
    """People who are taking part now."""
    counts: Mapping[str, int]
    disk_free: int
    memory_free: int
    """Bytes of memory that are free to use there; 0 where the machine does not tell."""
    store_bytes: int
    database: str
    """Where the answers are, if not on the disk of the machine."""
    clock_skew_s: float
    last_pull: datetime | None
    pulled_answers: int | None
    backup: str
    """What is known of the last backup; empty where the study names no place for them."""
    up_since: datetime
    cost: str

    @property
    def is_well(self) -> bool:
        """Whether people can take part, and go on doing so after a reboot."""
        return self.is_reached and self.is_served and self.is_kept

    def _view(self) -> ResultView:
        return ResultView([f"{name:<12} {words}" for name, words in self.rows])

    @property
    def _server_words(self) -> str:
        if self.ended is not None:
            return "has come to its end" if self.ended == 0 else "has ended; see `beholder deploy logs`"
        return "answers" if self.is_served else "does not answer; see `beholder deploy logs`"

    @property
    def _people_words(self) -> str:
        known = {name: self.counts.get(name, 0) for name in ("arrived", "completed", "ended", "answers")}
        if not known["arrived"]:
            return "nobody has come"
        otherwise = f", {known['ended']} ended otherwise" if known["ended"] else ""
        lists = f"{self.counts.get('finished', 0)} of {plain_count(self.counts.get('lists', 0), 'list')} finished"
        answers = plain_count(known["answers"], "answer")
        return f"{known['arrived']} arrived, {known['completed']} finished{otherwise}; {answers}; {lists}"

    @property
    def rows(self) -> list[tuple[str, str]]:
        """It line by line: what, and how it is."""
        ends = f"until {self.certificate_ends:%Y-%m-%d %H:%M} UTC" if self.certificate_ends else "not seen"
        behind = "" if self.is_current else "; the study here has changed since: `beholder deploy up`"
        answers = f" ({plain_count(self.pulled_answers, 'answer')})" if self.pulled_answers is not None else ""
        memory = f"{gigabytes(self.memory_free)} free" if self.memory_free else "not told"
        skew = round(self.clock_skew_s)
        where = (
            f"the answers are in {self.database}" if self.database else f"the store has {megabytes(self.store_bytes)}"
        )
        return [
            ("address", f"{self.link} {'is reached from here' if self.is_reached else self.outside}"),
            ("certificate", ends),
            ("server", self._server_words),
            ("restarts", f"by {self.service}" if self.is_kept else f"{self.service} does not keep it running"),
            ("version", f"{self.version}, by Beholder {self.software}{behind}"),
            ("inside", "nobody" if not self.inside else plain_count(self.inside, "person", "people")),
            ("people", self._people_words),
            ("disk", f"{gigabytes(self.disk_free)} free; {where}"),
            ("memory", memory),
            ("clock", f"{skew:+d} s beside the one here" if skew else "agrees with the one here"),
            ("pulled", f"{self.last_pull:%Y-%m-%d %H:%M} UTC{answers}" if self.last_pull else "never"),
            ("backup", self.backup or "none; `backup:` in the study names a place"),
            ("up since", f"{self.up_since:%Y-%m-%d %H:%M} UTC"),
            ("cost", self.cost),
        ]


def take_status(deployment: OpenDeployment, now: Callable[[], datetime] = utc_now) -> DeploymentStatus:
    """Return how a deployment is doing, on its machine and from outside."""
    from beholder.deployment.bundle import bundle_of

    state = deployment.program.call("state")
    if not state["record"]:
        fix = "`beholder deploy up` puts it there again; answers that were not pulled are gone with it."
        raise DeployError(Problem(deployment.settings.to, "holds the deployment no more", "", fix))
    settings, record = deployment.settings, deployment.record
    tunnel = state.get("tunnel") or {}
    look: OutsideLook = look_from_outside(settings, deployment.study.name, roots_of(settings, deployment.journal))
    pulled = record.done.get("pull")
    hourly = settings.target().hourly
    version = str(state["record"].get("version", ""))
    counts = {str(name): int(number) for name, number in state["counts"].items()}
    return DeploymentStatus(
        study=deployment.study.name,
        to=settings.to,
        link=f"{settings.address}/s/{deployment.study.name}",
        is_reached=look.is_reached,
        outside=_moved(tunnel, settings) or look.words,
        certificate_ends=look.certificate_ends,
        is_served=state["health"].get("store") == "ready",
        ended=state["ended"],
        is_kept=bool(state["is_kept"])
        and (not settings.has_caddy or bool(state["is_caddy_kept"]))
        and bool(tunnel.get("is_kept", True)),
        service=str(state["record"]["service"]),
        version=version,
        software=str(state["software"]),
        is_current=version == bundle_of(deployment.study).version,
        inside=counts.get("live"),
        counts=counts,
        disk_free=int(state["disk_free"]),
        memory_free=int(state["memory_free"]),
        store_bytes=int(state["store_bytes"]),
        database=display_address(settings.store) if settings.store else "",
        clock_skew_s=clock_skew(state["time"], now()),
        backup=state_words(backup, now()) if (backup := state["health"].get("backup")) else "",
        last_pull=record.at.get("pull"),
        pulled_answers=int(pulled["answers"]) if pulled else None,
        up_since=record.began,
        cost="nothing extra" if hourly is None else cost_words(hourly, record.began, now()),
    )


def _moved(tunnel: Mapping[str, Any], settings: DeploySettings) -> str:
    """Return that a tunnel has begun anew with another address; empty where it has not."""
    now = tunnel.get("address")
    if not now or now == settings.address:
        return ""
    return f"is over: the tunnel began anew, at {now}. `beholder deploy up` lets the study know"


def cost_words(hourly: Sum, began: datetime, now: datetime) -> str:
    """Return what a machine has cost since a time."""
    hours = (now.astimezone(UTC) - began) / timedelta(hours=1)
    return f"{Sum(round(hourly.minor * hours), hourly.currency)} for {hours:.1f} h at {hourly} an hour"


def journal_of(study: Study) -> Journal:
    """Return the journal of a study."""
    return Journal(Path(study.folder))
