"""Taking a study down: no new arrivals, those inside finish, the last copy comes home and is verified, then it goes."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import datetime

from beholder.deployment.access import OpenDeployment, pull
from beholder.deployment.journal import BEGIN, END, Journal
from beholder.deployment.program import ProgramGone
from beholder.deployment.settings import DeploySettings
from beholder.deployment.store_copy import StoreCopy
from beholder.errors import DeployError, Problem
from beholder.formats import plain_count
from beholder.result_view import ResultView, ShownResult
from beholder.store.open import display_address
from beholder.study.parts import duration

Tell = Callable[[str], None]
_EVERY_S = 1.0


@dataclass(frozen=True, repr=False)
class TakenDown(ShownResult):
    """A deployment that is gone, or what would be done."""

    study: str
    to: str
    sessions: int
    answers: int
    is_gone: bool
    words: tuple[str, ...]

    def _view(self) -> ResultView:
        return ResultView(self.words)


def take_down(
    deployment: OpenDeployment,
    *,
    wait: str | None = None,
    anyway: str | None = None,
    dry_run: bool = False,
    tell: Tell = lambda _: None,
    sleep: Callable[[float], None] = time.sleep,
) -> TakenDown:
    """Take a study down, or go on where that was broken off; raise DeployError while something is owed or unverified.

    `anyway` are the words of a person who takes it down although something is owed; they are written down.
    """
    settings, record, journal = deployment.settings, deployment.record, deployment.journal
    if anyway is not None and len(anyway.split()) < _FEWEST_WORDS:
        raise DeployError(Problem("--anyway", f"is {anyway!r}", "why, in three words or more; they are kept"))
    # Removing is begun only after the copy was verified; it may even be done, and only its end not written down.
    is_removing = "remove" in record.open or "remove" in record.done
    is_asked = record.is_served and "stop" not in record.done and not is_removing
    owed = list(_owed(deployment)) if is_asked else []
    if dry_run:
        return _announce(deployment, owed)
    if owed and anyway is None:
        raise DeployError(owed)
    if anyway is not None:
        journal.write(record.id, "anyway", "done", {"words": anyway, "open": [str(one) for one in owed]})
    copy: StoreCopy | None = None
    if record.is_served and not is_removing:
        if "stop" not in record.done:
            with journal.step(record.id, "arrivals"):
                _stop_arrivals(deployment)
            tell("Nobody can begin any more.")
            _wait_for_people(deployment, wait, anyway is not None, tell, sleep)
        with journal.step(record.id, "stop"):
            deployment.program.call("stop")
        tell("The server has stopped.")
        copy = pull(deployment)
        tell(copy.words)
    with journal.step(record.id, "remove"):
        gone = _remove(deployment)
    if not gone:
        raise DeployError(Problem(settings.to, "still holds files of the deployment", "", "Run it again."))
    _destroy(settings, journal, record.id)
    journal.write(record.id, END, "done", {"why": "taken down"})
    held = f"{copy.words} " if copy is not None else ""
    stays = f" The database {display_address(settings.store)} stays, with all answers." if settings.store else ""
    words = (
        f"Nothing of {deployment.study.name} is left on {settings.place}.{stays}",
        f"{held}Go on with `beholder clean`.",
    )
    return TakenDown(
        deployment.study.name, settings.to, copy.sessions if copy else 0, copy.answers if copy else 0, True, words
    )


def _remove(deployment: OpenDeployment) -> bool:
    """Remove everything there, and return whether it is gone."""
    for _ in range(_TRIES):
        with contextlib.suppress(
            ProgramGone
        ):  # a command that was killed here may go on there, and has just removed it
            deployment.program.send()  # it goes last, so it may be gone already
            return bool(deployment.program.call("remove", id=deployment.record.id)["is_gone"])
    return False


_TRIES = 3


def already_down(study: str, journal: Journal) -> TakenDown | None:
    """Return that a study is down already; None while it is deployed, or where it never was."""
    end = journal.last_end()
    if end is None:
        return None
    settings = next(one.facts for one in journal.entries() if one.step == BEGIN and one.deployment == end.deployment)
    at = datetime.fromisoformat(end.at)
    words = f"{study} is down since {at:%Y-%m-%d %H:%M} UTC ({end.facts.get('why', 'taken down')}): nothing was done."
    return TakenDown(study, str(settings["to"]), 0, 0, True, (words,))


def give_back(study: str, journal: Journal) -> TakenDown | None:
    """Give a machine back that was made and holds nothing: before anybody came, or after everything was removed.

    None where there is more to take down.
    """
    record = journal.current()
    settings = DeploySettings(**record.settings) if record is not None else None
    if record is None or settings is None or not settings.target().is_made:
        return None
    if record.is_served and "remove" not in record.done:
        return None
    _destroy(settings, journal, record.id)
    journal.write(record.id, END, "done", {"why": "taken down"})
    return TakenDown(study, settings.to, 0, 0, True, (f"Nothing of {study} is left on {settings.place}.",))


def _destroy(settings: DeploySettings, journal: Journal, deployment: str) -> None:
    """Give a machine back that was made, and see that nothing is left of it."""
    target = settings.target()
    if target.is_made:
        with journal.step(deployment, "destroy"):
            target.destroy()
        if left := target.remains():
            raise DeployError(Problem(settings.to, f"has left {', '.join(left)}", "", "Run it again."))


_FEWEST_WORDS = 3


def give_up(study: str, journal: Journal, words: str) -> TakenDown:
    """Forget a deployment whose machine is gone for good; the words of the person who says so are kept."""
    record = journal.current()
    if record is None:
        raise DeployError(Problem(str(journal.path), f"knows no deployment of {study}"))
    if len(words.split()) < _FEWEST_WORDS:
        raise DeployError(Problem("--lost", f"is {words!r}", "why, in three words or more; they are kept"))
    target = DeploySettings(**record.settings).target()
    if target.is_made and target.address is not None:
        what = f"still has the machine ({', '.join(target.remains())})"
        fix = "Answers that were not pulled are on it. Where they may go, terminate it there; then run this again."
        raise DeployError(Problem(target.place, what, "", fix))
    target.destroy()
    journal.write(record.id, END, "done", {"why": words, "lost": True})
    to = str(record.settings["to"])
    pulled = record.at.get("pull")
    since = f"since the pull of {pulled:%Y-%m-%d %H:%M} UTC" if pulled else "at all"
    lines = (
        f"{to} was not asked. What came {since} is not here.",
        f"Should it come back: what is in ~/.beholder/{study} there holds answers of people, and has to be removed.",
    )
    return TakenDown(study, to, 0, 0, False, lines)


def _owed(deployment: OpenDeployment) -> Iterator[Problem]:
    """Yield what is owed to people, as `close` tells it there."""
    told = deployment.program.call("ask", what="owed")
    for one in (*told.get("problems", ()), *told.get("owed", ())):
        more = "`beholder deploy exec` runs the verbs there; --anyway WORDS takes it down all the same."
        yield Problem(one["where"], one["what"], one["allowed"], f"{one['fix']} {more}".strip())


def _stop_arrivals(deployment: OpenDeployment) -> None:
    """Let nobody begin; who has begun goes on. A study on a platform is paused there."""
    told = deployment.program.call("ask", what="stop-arrivals")
    if problems := told.get("problems"):
        raise DeployError([Problem(**one) for one in problems])


def _wait_for_people(
    deployment: OpenDeployment, wait: str | None, is_forced: bool, tell: Tell, sleep: Callable[[float], None]
) -> None:
    """Wait until nobody is inside, at most as long as a session may take."""
    limit = duration(wait or deployment.study.recruit.time_limit or "60 min").total_seconds()
    ends, told = time.monotonic() + limit, -1
    most = f"{limit / 60:.0f} min" if limit >= 60 else f"{limit:.0f} s"
    while inside := int(deployment.program.call("ask", what="people").get("counts", {}).get("live", 0)):
        if inside != told:
            tell(f"{plain_count(inside, 'person is', 'people are')} inside; waiting for at most {most}.")
            told = inside
        if time.monotonic() >= ends:
            if is_forced:
                return
            what = f"has {plain_count(inside, 'person', 'people')} inside after {most} of waiting"
            fix = "Run it again to wait longer; with --anyway WORDS they are cut off; their answers so far are kept."
            raise DeployError(Problem(deployment.settings.to, what, "", fix))
        sleep(_EVERY_S)


def _announce(deployment: OpenDeployment, owed: list[Problem]) -> TakenDown:
    settings = deployment.settings
    lines = [
        "Nothing was done. This would be, in order:",
        "1. Let nobody begin any more.",
        "2. Wait for those inside.",
        "3. Stop the server, bring the last copy of the store home, and verify it.",
        f"4. Remove the server, its environment, the study and the store from {settings.place}.",
        *(["5. Give the machine back, and see that nothing of it is left."] if settings.machine else []),
        *(["It is refused before that, as this is owed:", *map(str, owed)] if owed else ["Nothing is owed."]),
    ]
    return TakenDown(deployment.study.name, settings.to, 0, 0, False, tuple(lines))
