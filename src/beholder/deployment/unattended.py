"""A whole study on a machine, as one command: up, launch, collect, decide, pay there; pull, down and report at home.

What serves the study there is `beholder run` itself, kept running as a server is, so that a lid that is closed here
stops nothing. The command looks on; when it is given again, it goes on looking.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from beholder.deployment.access import OpenDeployment, journal_of, open_deployment, pull
from beholder.deployment.contract import MachineUnreachable
from beholder.deployment.journal import DeploymentBusy
from beholder.deployment.removal import take_down
from beholder.deployment.rollout import Deployed, roll_out
from beholder.errors import DeployError, Problem
from beholder.recruiting.collection import ReportProgress, RunProgress, no_report
from beholder.study.model import Study

Sleep = Callable[[float], None]
_LOOK_S = 2.0
_LONGEST_LOOK_S = 60.0


@dataclass(frozen=True)
class FinishedRun:
    """A run on a machine that came to its end, whose answers are at home."""

    waiting: tuple[str, ...]
    """What is left to a person; while there is something, the study stays on the machine."""


def run_arguments(
    study: Study, *, participants: int | None, publish: bool, budget: float | str | None, every: float
) -> list[str]:
    """Return the verb and the options with which a study is run there."""
    options = ["run", "--every", str(every)]
    if participants is not None:
        options += ["--participants", str(participants)]
    if publish:
        options.append("--publish")
    if budget is not None:
        currency = study.recruit.reward.partition(" ")[2] if study.recruit.reward else ""
        options += ["--budget", budget if isinstance(budget, str) else f"{budget:.2f} {currency}".strip()]
    return options


def run_on_machine(
    study: Study,
    file: str,
    given: Mapping[str, Any],
    arguments: Sequence[str],
    *,
    news: ReportProgress | None = None,
    progress: Callable[[int, int], None] | None = None,
    sleep: Sleep = time.sleep,
) -> FinishedRun:
    """Run a study on a machine to its end, bring the answers home, and take it down; or go on where that was left.

    Where something is owed to people it is not taken down, and what is owed is returned.
    """
    report = news or no_report
    _check_platform(study, arguments)
    if not _has_ended(study, given):
        deployed: Deployed = roll_out(
            study, file, given, arguments=arguments, tell=lambda words: report(RunProgress("deploy", words)),
            progress=progress,
        )  # fmt: skip
        for words in deployed.words:
            report(RunProgress("deploy", words))
    _look_on(study, report, sleep)
    return _finish(study, report)


def _check_platform(study: Study, arguments: Sequence[str]) -> None:
    """Raise DeployError where a run would wait for ever for somebody to publish it."""
    if study.recruit.source.is_platform and "--publish" not in arguments:
        what = f"is missing, and people come from {study.recruit.mode} only once the study is published there"
        fix = "Or deploy it, and publish by hand: `beholder deploy up`, then `beholder deploy exec launch`."
        raise DeployError(Problem("--publish", what, "with --to, --publish and a budget", fix))


def _has_ended(study: Study, given: Mapping[str, Any]) -> bool:
    """Return whether a run that was begun before has come to its end meanwhile."""
    record = journal_of(study).current()
    if record is None or not record.is_served:
        return False
    if given.get("to") not in (None, record.settings["to"]):
        return False  # `up` tells what is wrong with it
    with open_deployment(study, journal_of(study)) as deployment:
        return bool(_progress(deployment, None)["ended"] == 0)


def _progress(deployment: OpenDeployment, begin: int | None) -> dict[str, Any]:
    return deployment.program.call("progress", begin=begin)


def _look_on(study: Study, report: ReportProgress, sleep: Sleep) -> None:
    """Report what is printed there until it comes to its end; a machine that is not reached is asked again."""
    begin: int | None = None
    pause, told = _LOOK_S, ""
    while True:
        try:
            with open_deployment(study, journal_of(study)) as deployment:
                while True:
                    seen = _progress(deployment, begin)
                    for line in seen["lines"]:
                        report(RunProgress("there", line))
                    begin, pause, told = int(seen["end"]), _LOOK_S, ""
                    if seen["ended"] == 0:
                        return
                    if seen["ended"] is not None:
                        raise DeployError(_stopped(deployment, seen["lines"]))
                    sleep(_LOOK_S)
        except (MachineUnreachable, DeploymentBusy) as error:
            if str(error) != told:
                report(RunProgress("there", f"{error} The run goes on there; it is asked again."))
            told = str(error)
            sleep(pause)
            pause = min(2 * pause, _LONGEST_LOOK_S)


def _stopped(deployment: OpenDeployment, lines: Sequence[str]) -> Problem:
    said = " ".join(line.strip() for line in lines[-3:] if line.strip()) or "see `beholder deploy logs`"
    fix = "Mend it and give the command again: it goes on. What people have answered is kept there."
    return Problem(deployment.settings.to, f"the run has stopped: {said}", "", fix)


def _finish(study: Study, report: ReportProgress) -> FinishedRun:
    """Bring the answers home, and take the study down unless something is owed."""
    with open_deployment(study, journal_of(study), alone=True) as deployment:
        copy = pull(deployment)
        report(RunProgress("pull", copy.words))
        try:
            gone = take_down(deployment, tell=lambda words: report(RunProgress("down", words)))
        except MachineUnreachable:
            raise
        except DeployError as error:
            return FinishedRun(tuple(str(problem) for problem in error.problems))
    for words in gone.words:
        report(RunProgress("down", words))
    return FinishedRun(())
