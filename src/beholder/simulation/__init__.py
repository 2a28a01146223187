"""Simulated participants, and the verb `simulate`.

truth         the planted quality of every stimulus, and the population that rates it
raters        rater models: traits of a person, and what that person perceives
participants  simulated people: percepts, habits, and all random draws, by name
variance      variance components of ratings, and the sources of a population's numbers
pilot         a population estimated from the store of a pilot study
robot         a participant that takes a study over HTTP, and the log of its pages
oracle        the answers of robots, from plan and truth
cheats        robots that send other requests than honest participants
crowd         many robots at a running server, and visitors from a platform
rating_sheet  every judgement of a plan, as arrays
memory        the ratings of robots without a server
storyboard    robots in real browsers, with a picture of every step
"""

from __future__ import annotations

import os
import shutil
from pathlib import Path
from typing import TYPE_CHECKING, Literal, overload

if TYPE_CHECKING:
    from beholder.simulation.crowd import Crowd
    from beholder.simulation.memory import MemoryRehearsal
    from beholder.simulation.participants import Progress
    from beholder.simulation.storyboard import Storyboard
    from beholder.simulation.variance import PopulationSource
    from beholder.study.model import Study


CHROMIUM_NAMES = ("chromium", "chromium-browser", "google-chrome")
# Chromium without windows, of the same version: it draws the same pages with a fifth less processor time.
HEADLESS_NAME = "chromium-headless-shell"


def find_chromium() -> str | None:
    """Return the path of an installed Chromium, or of the one in BEHOLDER_CHROMIUM."""
    configured = os.environ.get("BEHOLDER_CHROMIUM")
    return configured or next((path for name in (HEADLESS_NAME, *CHROMIUM_NAMES) if (path := shutil.which(name))), None)


@overload
def simulate(
    study: str | Path | Study = "study.yaml",
    *,
    participants: int | None = None,
    raters: str = "honest",
    seed: int = 1,
    store: str | None = None,
    source: str | Path | PopulationSource | None = None,
    people: str = "",
    memory: Literal[False] = False,
    browser: Literal[False] = False,
    progress: Progress | None = None,
) -> Crowd: ...


@overload
def simulate(
    study: str | Path | Study = "study.yaml",
    *,
    participants: int | None = None,
    raters: str = "honest",
    seed: int = 1,
    store: str | None = None,
    source: str | Path | PopulationSource | None = None,
    people: str = "",
    browser: Literal[True],
    progress: Progress | None = None,
) -> Storyboard: ...


@overload
def simulate(
    study: str | Path | Study = "study.yaml",
    *,
    participants: int | None = None,
    raters: str = "honest",
    seed: int = 1,
    store: str | None = None,
    source: str | Path | PopulationSource | None = None,
    people: str = "",
    memory: Literal[True],
    progress: Progress | None = None,
) -> MemoryRehearsal: ...


def simulate(
    study: str | Path | Study = "study.yaml",
    *,
    participants: int | None = None,
    raters: str = "honest",
    seed: int = 1,
    store: str | None = None,
    source: str | Path | PopulationSource | None = None,
    people: str = "",
    memory: bool = False,
    browser: bool = False,
    progress: Progress | None = None,
) -> Crowd | MemoryRehearsal | Storyboard:
    """Return robots that took the study over its own HTTP interface, with the truth that they rated.

        robots = beholder.simulate("study.yaml", participants=20)

    What most studies need:
        study           the study file, or the study
        participants    how many robots; as many as needed to finish every list when left out
        raters, seed    kinds of robots, as `honest:9,random:1`, and their random numbers

    Without a server, or with a real browser:
        memory          nothing is sent: what the same robots would answer is written to rehearsal/ratings.csv
        browser         the robots use real browsers, and a picture of every step is kept in storyboard/

    Rarely:
        source          where the population's numbers come from: `public`, `ideal`, or the study file of a pilot
        people          changes some of them, as `fatigue:0.5,lapse:0.02`
        store           where answers are kept, if not in store/ beside the study
        progress        a function that gets the number of robots that are done, and of all
    """
    from beholder.aio import block_on
    from beholder.errors import Problem, UserError
    from beholder.methods import load_study
    from beholder.simulation.variance import read_source

    if participants is not None and participants < 1:
        raise UserError(Problem("--participants", f"is {participants}", "1 or more"))
    if memory and store is not None:
        raise UserError(Problem("--memory", "keeps nothing in a store, and --store names one", "one of the two"))
    population = read_source(source, people)
    study = load_study(study) if isinstance(study, str | Path) else study
    if browser:
        from beholder.simulation.storyboard import storyboard

        return storyboard(
            study, participants or 1, raters=raters, seed=seed, source=population, store=store, progress=progress
        )
    if memory:
        from beholder.simulation.memory import rehearse_folder

        return rehearse_folder(
            study, participants=participants, raters=raters, seed=seed, source=population, progress=progress
        )

    from beholder.server.process import run_server
    from beholder.simulation.crowd import robots_needed, send_robots

    async def send() -> Crowd:
        async with run_server(study, store=store, port=0, hosts_media=False) as server:
            return await send_robots(
                server.service.served,
                server.store,
                server.address,
                participants or await robots_needed(server.service.served, server.store, seed),
                raters=raters,
                seed=seed,
                people=population.people,
                means=population.means,
                progress=progress,
            )

    return block_on(send())
