"""Deployment: put a study online with one command, bring the data home, and take it down again.

The functions here are the verbs of the package. Their chapters:

- `contract`, `settings`: what a target is, and what is asked of it. `ssh`, `here`, `ec2`: a machine behind
  ssh, this one, and one that is made at Amazon; `cloud_init`: how a fresh machine is set up.
- `journal`: every step, written down before it is done.
- `bundle`, `program`, `machine/`: what is sent, the program on the machine, and its modules.
- `inspection`, `rollout`, `publication`: what keeps a machine from taking it; up, step by step; how people reach it.
- `access`, `served`, `store_copy`, `removal`: status, logs and verbs there; pull; down.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from beholder.result_view import ResultView, ShownResult

if TYPE_CHECKING:
    from beholder.deployment.access import DeploymentStatus
    from beholder.deployment.removal import TakenDown
    from beholder.deployment.rollout import Deployed
    from beholder.deployment.store_copy import StoreCopy
    from beholder.study.model import Study

__all__ = ["Deployment", "deploy"]


def deploy(
    study: str | Path = "study.yaml",
    *,
    to: str | None = None,
    address: str | None = None,
    tls: str | None = None,
    tunnel: str | None = None,
    via: str | None = None,
    hourly: str | None = None,
    service: str | None = None,
    offline: bool | None = None,
    volatile: bool | None = None,
    store: str | None = None,
    acme: str | None = None,
    acme_root: str | Path | None = None,
    ssh_config: str | Path | None = None,
    dry_run: bool = False,
    tell: Callable[[str], None] = lambda _: None,
    progress: Callable[[int, int], None] | None = None,
) -> Deployment:
    """Put a study online, or bring it up to date, and return the deployment.

        online = beholder.deploy("study.yaml", to="ada@lab.example.org", address="https://study.example.org")
        online.status()
        online.pull()
        online.down()

    What is written in the study's `deploy` need not be given. A second call goes on with the first.

    What most studies need:
        study           the study file
        to              the machine: user@host, or a name from your ssh configuration; `here` for this one;
                        `ec2:REGION` for one that is made at Amazon
        address         what participants open
        tls             who vouches for the address: `public`, `internal` (a laboratory), `proxy` (one that is there),
                        or `tunnel`
        hourly          what a machine that is made may cost for an hour, as `dry_run` says, such as `0.05 USD`
        dry_run         nothing is done: `deployed` says what would be, what it costs and what is public

    Rarely:
        tunnel          the tunnel program through which people come: `cloudflared`, `tailscale` or `ngrok`
        via             user@host of yours, whose proxy passes people on through ssh to where the study is
        offline         packages are fetched here and sent, for a machine that reaches no package index; an update
                        does the same, until it is told False
        service         what starts the server again: `systemd-user`, `systemd-system` or `cron`
        volatile        True takes a disk that loses everything with a reboot
        store           a PostgreSQL database that the machine reaches; its password is taken from PGPASSWORD
        acme, acme_root the directory of an authority in place of the public ones, and a file with its roots
        ssh_config      a file to give to ssh, in place of your own
        tell            a function that gets each step when it is done
        progress        a function that gets the number of stimuli that are made first, and of all
    """
    from beholder.deployment.rollout import roll_out
    from beholder.methods import load_study

    loaded, file = load_study(study), _file(study)
    given = {
        "to": to, "address": address, "tls": tls, "tunnel": tunnel, "via": via, "hourly": hourly, "service": service,
        "is_volatile": volatile, "is_offline": offline, "store": store, "acme": acme,
        "acme_root": str(acme_root) if acme_root is not None else None,
        "ssh_config": str(ssh_config) if ssh_config is not None else None,
    }  # fmt: skip
    deployed = roll_out(loaded, file, given, dry_run=dry_run, tell=tell, progress=progress)
    return Deployment(Path(study), deployed)


@dataclass(frozen=True, repr=False)
class Deployment(ShownResult):
    """A study that is online, and what can be asked of it."""

    study: Path
    deployed: Deployed | None = None
    """What `deploy` has done; None for a deployment that was there."""

    def _view(self) -> ResultView:
        return self.deployed._view() if self.deployed is not None else ResultView([f"{self.study} is online."])

    def status(self) -> DeploymentStatus:
        """Return how it is doing, there and from outside."""
        from beholder.deployment.access import journal_of, open_deployment, take_status

        loaded = self._load()
        with open_deployment(loaded, journal_of(loaded)) as deployment:
            return take_status(deployment)

    def logs(self, lines: int = 100) -> list[str]:
        """Return the last lines that the server has printed."""
        from beholder.deployment.access import journal_of, open_deployment, read_log

        loaded = self._load()
        with open_deployment(loaded, journal_of(loaded)) as deployment:
            return read_log(deployment, lines)

    def follow_logs(self, lines: int = 100) -> Iterator[list[str]]:
        """Yield the last lines that the server has printed, and then those that it prints, until it is left."""
        from beholder.deployment.access import follow_log, journal_of, open_deployment

        loaded = self._load()
        with open_deployment(loaded, journal_of(loaded)) as deployment:
            yield from follow_log(deployment, lines)

    def pull(self) -> StoreCopy:
        """Bring a verified copy of all answers home into store/, also while people take part."""
        from beholder.deployment.access import journal_of, open_deployment, pull

        loaded = self._load()
        with open_deployment(loaded, journal_of(loaded), alone=True) as deployment:
            return pull(deployment)

    def keep_pulling(
        self, every_s: float, tell: Callable[[str], None], sleep: Callable[[float], None] = time.sleep
    ) -> Iterator[StoreCopy]:
        """Yield a copy after the other; a machine that is not reached for a while, or is at work, is tried again."""
        from beholder.deployment.contract import MachineUnreachable
        from beholder.deployment.journal import DeploymentBusy

        while True:
            try:
                yield self.pull()
            except (MachineUnreachable, DeploymentBusy) as error:
                tell(f"{error} Trying again in {every_s:.0f} s; the copy before is as it was.")
            sleep(every_s)

    def exec(self, *arguments: str) -> Mapping[str, Any]:
        """Run a verb of Beholder there, such as `launch` or `decide`; return its code, and what it printed."""
        from beholder.deployment.access import journal_of, open_deployment, run_there

        loaded = self._load()
        with open_deployment(loaded, journal_of(loaded)) as deployment:
            return run_there(deployment, arguments)

    def down(
        self,
        *,
        wait: str | None = None,
        anyway: str | None = None,
        lost: str | None = None,
        dry_run: bool = False,
        tell: Callable[[str], None] = lambda _: None,
    ) -> TakenDown:
        """Stop arrivals, wait for those inside, bring the answers home, and remove everything there.

        Refused while something is owed to people, unless `anyway` says why in words; `wait` is the limit, as `30 min`.
        `lost` says in words that the machine is gone for good: then it is only forgotten here.
        """
        from beholder.deployment.access import journal_of, open_deployment
        from beholder.deployment.journal import one_at_a_time
        from beholder.deployment.removal import already_down, give_back, give_up, take_down

        loaded = self._load()
        if lost is not None:
            return give_up(loaded.name, journal_of(loaded), lost)
        if gone := already_down(loaded.name, journal_of(loaded)):
            return gone
        if not dry_run:
            with one_at_a_time(journal_of(loaded)):
                if gone := give_back(loaded.name, journal_of(loaded)):
                    return gone
        with open_deployment(loaded, journal_of(loaded), alone=True) as deployment:
            return take_down(deployment, wait=wait, anyway=anyway, dry_run=dry_run, tell=tell)

    def _load(self) -> Study:
        from beholder.methods import load_study

        return load_study(self.study)


def _file(study: str | Path) -> str:
    """Return the name of the study file in its folder."""
    path = Path(study)
    return "study.yaml" if path.is_dir() else path.name
