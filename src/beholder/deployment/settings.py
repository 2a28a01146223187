"""What a deployment is asked to be: where to, under which address, and how people get there."""

from __future__ import annotations

import os
import secrets
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, fields, replace
from pathlib import Path, PurePosixPath
from typing import Any, Literal

from beholder.backups.backup_settings import deployed_variables
from beholder.buckets.upload import hosting_variables
from beholder.deployment.contract import DeployTarget
from beholder.deployment.engine import CONTAINER, CONTAINER_WORDS
from beholder.deployment.machine.places import CADDY
from beholder.errors import DeployError, Problem
from beholder.stimuli.addresses import ALLOWED_HOSTS
from beholder.store.open import display_address
from beholder.study.deployment import (
    ADDRESS_WORDS,
    AUTHORITY_WORDS,
    DATABASE_WORDS,
    AuthorityAddress,
    DatabaseAddress,
    Deploy,
    PublicAddress,
    Tls,
    TunnelKind,
    address_host,
    address_port,
)
from beholder.study.model import Study
from beholder.study.recruitment import Sum, is_money, money

HERE, HERE_WORDS = "here", "this machine"
"""`--to` for this machine, and what sentences call it."""
EC2 = "ec2"
"""How `--to` begins for a machine at Amazon."""
PLACE_WORDS = "user@host, a name from your ssh configuration, here, or ec2:REGION"
ServiceKind = Literal["systemd-user", "systemd-system", "cron"]


@dataclass(frozen=True)
class DeploySettings:
    """The settings of a deployment, as the journal keeps them: no secret is among them."""

    to: str
    address: str
    """What people open; empty while nothing has given one yet."""
    tls: Tls = "public"
    tunnel: TunnelKind | None = None
    """Which tunnel program; None for the first that the machine has."""
    via: str | None = None
    """A machine whose proxy passes people on through ssh to where the study is."""
    service: ServiceKind | None = None
    """What keeps the server running; None for what the machine offers."""
    is_volatile: bool = False
    """Whether a disk is taken that loses everything with a reboot."""
    is_offline: bool = False
    """Whether packages are fetched here and sent, as the machine reaches no package index."""
    ssh_config: str | None = None
    store: str | None = None
    """A PostgreSQL database for the answers, without its password; None for files on the machine."""
    acme: str | None = None
    """The directory of an authority in place of the public ones."""
    acme_root: str | None = None
    """A file here with the roots of that authority."""
    machine: str = ""
    """What tells a machine that is made from all others, or the folder of containers; empty for one that is there."""
    hourly: str | None = None
    """What it may cost for an hour, as whoever deploys has confirmed it."""

    @property
    def place(self) -> str:
        """The machine, in a sentence."""
        return {HERE: HERE_WORDS, CONTAINER: CONTAINER_WORDS}.get(self.to, self.to)

    @property
    def has_caddy(self) -> bool:
        """Whether Caddy ends TLS on the machine."""
        return self.tls in ("public", "internal")

    @property
    def is_temporary(self) -> bool:
        """Whether the address ends with a machine that somebody may close and take home."""
        return self.tls == "tunnel" or self.via is not None

    @property
    def host(self) -> str:
        """The name or number that people open."""
        return address_host(self.address)

    @property
    def port(self) -> int:
        """The port that people open."""
        return address_port(self.address)

    @property
    def ports(self) -> list[int]:
        """The ports that Caddy would listen on."""
        return [] if self.tls in ("proxy", "tunnel") else [80, 443] if self.port == 443 else [self.port]

    @property
    def facts(self) -> dict[str, Any]:
        """It as JSON."""
        return asdict(self)

    def target(self) -> DeployTarget:
        """Return the target that `to` names."""
        from beholder.deployment.ec2 import Ec2Target
        from beholder.deployment.engine import ContainerTarget
        from beholder.deployment.here import HereTarget
        from beholder.deployment.ssh import SshTarget

        if self.to == CONTAINER:
            return ContainerTarget(Path(self.machine))
        if self.machine:
            estimate = money(self.hourly) if self.hourly and is_money(self.hourly) else None
            return Ec2Target(self.to, self.machine, self.ssh_config, estimate)
        return HereTarget() if self.to == HERE else SshTarget(self.to, self.ssh_config)


def settings_of(study: Study, given: Mapping[str, Any], before: Mapping[str, Any] | None) -> DeploySettings:
    """Return the settings: those given now, else those of the deployment that goes on, else those of the study.

    All that is wrong with them is raised at once.
    """
    written = study.deploy.model_dump(exclude_none=True, exclude_unset=True) if study.deploy is not None else {}
    known = {field.name for field in fields(DeploySettings)}
    asked = {key: value for key, value in given.items() if value is not None}
    for key in ("ssh_config", "acme_root"):
        if asked.get(key):
            asked[key] = str(Path(asked[key]).absolute())
    if written.get("acme_root"):
        written["acme_root"] = str((study.folder / written["acme_root"]).absolute())
    values = {key: value for key, value in {**written, **(before or {}), **asked}.items() if key in known}
    values = {"address": "", **values}
    is_alone = values.get("to") == HERE and not values["address"]
    values.setdefault(
        "tls", "proxy" if values.get("via") else "tunnel" if values.get("tunnel") or is_alone else "public"
    )
    is_made = str(values.get("to", "")).partition(":")[0] == EC2
    if is_made and not values.get("machine"):
        values["machine"] = f"beholder-{study.name[:30]}-{secrets.token_hex(4)}"
    problems = list(_tunnel_problems(values, asked.get("address") or written.get("address")))
    if not values.get("to"):
        fix = "Write it once in the study: deploy: {to: ada@lab.example.org, address: https://study.example.org}."
        problems.append(Problem("--to", "is missing", PLACE_WORDS, fix))
    if not values["address"] and (values["tls"] == "tunnel" or is_made):
        pass  # it is given with the tunnel, or with the machine
    elif not values["address"]:
        fix = "It is what participants open; the name has to lead to the machine, or to a proxy before it."
        problems.append(Problem("--address", "is missing", ADDRESS_WORDS, fix))
    elif not is_address(str(values["address"])):
        problems.append(Problem("--address", f"is {values['address']}", ADDRESS_WORDS))
    problems += _store_problems(values, before)
    problems += _authority_problems(values)
    if study.backup is not None and "://" not in study.backup.to and not PurePosixPath(study.backup.to).is_absolute():
        what = f"is {study.backup.to}, a folder beside the study, which is replaced there with every `up`"
        problems.append(study.problem("backup", what, "a whole path there, s3://… or sftp://…"))
    if study.name == CADDY:
        problems.append(study.problem("name", f"is {CADDY}, under which Caddy is kept", "another name"))
    if values.get("to") == CONTAINER:
        problems.append(Problem("--to", "is container", PLACE_WORDS, "`beholder deploy container --start` starts one."))
    if before and values.get("to") != before["to"]:
        fix = "Take it down first: `beholder deploy down`. One study is in one place, so that no answer is in two."
        problems.append(Problem("--to", f"is {values.get('to')}, and the study is on {before['to']}", "", fix))
    if problems:
        raise DeployError(problems)
    return DeploySettings(**values)


def _tunnel_problems(values: Mapping[str, Any], address: str | None) -> Iterator[Problem]:
    """Yield what does not go together in the ways through which people come; `address` is the one asked for."""
    tls, tunnel, via = values["tls"], values.get("tunnel"), values.get("via")
    if via and tls != "proxy":
        fix = "Leave out --tls: the proxy on that machine has the certificate."
        yield Problem("--via", f"does not go with --tls {tls}", "", fix)
    elif tunnel and tls != "tunnel":
        yield Problem("--tunnel", f"does not go with --tls {tls}", "", "Leave out one of the two.")
    if via and tunnel:
        yield Problem("--via", "does not go with --tunnel", "", "It is a machine of yours, or a tunnel program.")
    if tls == "tunnel" and address and tunnel != "ngrok":
        fix = "Leave out --address. A name of your own goes with ngrok, with --via, or with a proxy (--tls proxy)."
        yield Problem("--address", f"is {address}, and the tunnel gives one by itself", "", fix)


def _store_problems(values: Mapping[str, Any], before: Mapping[str, Any] | None) -> Iterator[Problem]:
    store = values.get("store")
    if store and not _is_a(DatabaseAddress, store):
        fix = "Its password goes by the environment, which nobody else reads: set PGPASSWORD, and leave it out."
        yield Problem("--store", "is no address of a database that may be written down", DATABASE_WORDS, fix)
    elif before and store != before.get("store"):
        kept = display_address(before["store"]) if before.get("store") else "the disk of the machine"
        fix = "Take it down first: `beholder deploy down`. Answers are in one place, so that none is in two."
        yield Problem("--store", f"is another one than {kept}, where the answers are", "", fix)


def _authority_problems(values: Mapping[str, Any]) -> Iterator[Problem]:
    acme, root = values.get("acme"), values.get("acme_root")
    if acme and not _is_a(AuthorityAddress, acme):
        yield Problem("--acme", f"is {acme}", AUTHORITY_WORDS)
    if acme and values.get("tls", "public") != "public":
        yield Problem("--acme", f"goes with --tls public, and --tls is {values['tls']}")
    if root and not Path(root).is_file():
        yield Problem("--acme-root", f"is {root}, and there is no such file")


def is_address(text: str) -> bool:
    """Return whether a text is an address that people could open."""
    return _is_a(PublicAddress, text)


def _is_a(kind: Any, text: object) -> bool:
    from pydantic import TypeAdapter, ValidationError

    try:
        TypeAdapter(kind).validate_python(text)
    except ValidationError:
        return False
    return True


def check_cost(settings: DeploySettings, hourly: Sum | None) -> None:
    """Raise DeployError unless what a machine costs for an hour was confirmed by whoever deploys."""
    if hourly is None:
        return
    allowed, fix = (
        f'"{hourly}" or more',
        "It costs that from now until `beholder deploy down`, whether people come or not.",
    )
    if settings.hourly is None:
        raise DeployError(Problem("--hourly", f"is missing, and the machine costs at most {hourly}", allowed, fix))
    if not is_money(settings.hourly):
        raise DeployError(Problem("--hourly", f"is {settings.hourly}", allowed))
    stated = money(settings.hourly)
    if stated.currency != hourly.currency or stated.minor < hourly.minor:
        raise DeployError(Problem("--hourly", f"is {stated}, and the machine costs at most {hourly}", allowed, fix))


def secrets_of(study: Study, settings: DeploySettings) -> dict[str, str]:
    """Return the variables of this environment that the server and its verbs need there; some are secrets.

    DeployError is raised where one cannot be kept in a file of lines.
    """
    names = [study.recruit.source.token_variable, "BEHOLDER_PROLIFIC_URL", "BEHOLDER_PROLIFIC_APP", ALLOWED_HOSTS]
    if settings.store is not None:
        names += ["PGPASSWORD", "PGSSLMODE"]
    found = {name: os.environ[name].strip() for name in names if name and os.environ.get(name, "").strip()}
    if wrong := [name for name, value in sorted(found.items()) if not value.isprintable()]:
        what = "has a line break or another control character in it"
        raise DeployError([Problem(name, what, "one line of text", "See how it was set.") for name in wrong])
    return found | deployed_variables(study) | hosting_variables(study)


def with_service(settings: DeploySettings, found: str) -> DeploySettings:
    """Return the settings with what keeps the server running, as the machine offers it."""
    return settings if settings.service or not found else replace(settings, service=found)  # type: ignore[arg-type]


__all__ = ["Deploy", "DeploySettings", "secrets_of", "settings_of", "with_service"]
