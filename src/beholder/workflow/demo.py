"""`demo`: a whole study with sample stimuli and robots, from the study file to the report."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from beholder.errors import Problem, UserError

if TYPE_CHECKING:
    from beholder.analysis.result import Results
    from beholder.recruiting.collection import RunProgress
    from beholder.recruiting.fake.demo import MoneySummary
    from beholder.server import ServerStatus
    from beholder.simulation.truth import Truth
    from beholder.simulation.variance import PopulationSource

_THEIR_OWN = "Who comes from the Prolific of play money is as people of public data are."
DEFAULT_METHOD, _FOLDER, _ROBOTS = "parallel", "beholder-demo", 40


def demo(
    method: str = DEFAULT_METHOD,
    folder: str | Path | None = None,
    *,
    prolific: bool = False,
    robots: int = _ROBOTS,
    source: str | Path | None = None,
    stay: bool = False,
    port: int | None = None,
    on_link: Callable[[str], None] | None = None,
    on_result: Callable[[Truth, Results], None] | None = None,
    on_money: Callable[[MoneySummary], None] | None = None,
    news: Callable[[RunProgress], None] | None = None,
    tell: Callable[[ServerStatus], None] | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> Results:
    """Return the results of robots in a study of sample stimuli, written to `folder`; an existing one is continued.

        results = beholder.demo("mushra")

    What most people want:
        method, folder  the method, and where to: beholder-demo, or beholder-demo-METHOD, when left out
        robots          how many of them take the study
        stay, port      serves the study until it is interrupted, so that you can take it yourself, on this port: 8000
                        when left out, or a free one if that is in use
        prolific        people come from a Prolific of play money on this machine, in beholder-demo-prolific
        source          what robots are like: as people of public data when left out; `ideal`, or a pilot's study file

    Rarely, functions that get:
        on_link         the link to take the study
        on_result       the planted truth and the results
        on_money        the summary of all play money
        news, tell      the progress, and the links and live counts of the server
        progress        the number of robots that are done, and of all
    """
    from beholder.aio import block_on
    from beholder.server.process import port_for_a_look
    from beholder.simulation.variance import read_source
    from beholder.workflow.new import new

    port = port_for_a_look() if port is None else port
    if prolific and source is not None:
        raise UserError(Problem("--ideal", "and --prolific are both given", "one of the two", _THEIR_OWN))
    folder = Path(folder if folder is not None else usual_folder(method, prolific=prolific))
    study = folder / "study.yaml"
    is_new = not study.exists()
    if is_new:
        new(method, folder)
    if prolific:
        from beholder.recruiting.fake.demo import demonstrate, put_on_prolific

        if is_new:
            put_on_prolific(study)
        _refuse_another(method, study, prolific=True)
        work = demonstrate(
            study, stay=stay, port=port, on_link=on_link, on_result=on_result, on_money=on_money, news=news, tell=tell
        )
    else:
        _refuse_another(method, study, prolific=False)
        population = read_source(source)
        work = _run_with_robots(study, robots, population, stay, port, on_link, on_result, news, tell, progress)
    return block_on(work)


def usual_folder(method: str, *, prolific: bool) -> str:
    """Return the folder of a demo where none is named."""
    parts = [_FOLDER]
    if method != DEFAULT_METHOD:
        parts.append(method)
    if prolific:
        parts.append("prolific")
    return "-".join(parts)


def _refuse_another(method: str, study: Path, *, prolific: bool) -> None:
    from beholder.errors import StudyError
    from beholder.methods import load_study

    existing = load_study(study)
    what = ""
    if existing.method != method:
        what = f"holds a study of method {existing.method}, and {method} is asked for"
    elif existing.recruit.source.is_platform != prolific:
        what = f"holds a study whose people come by {existing.recruit.mode}"
    if what:
        raise StudyError(Problem(str(study.parent), what, "", "Choose another folder with --folder."))


def planted_values(results: Results, truth: Mapping[str, float]) -> Mapping[tuple[str, str], str]:
    """Return the planted value of each question and condition, comparable with the column of means.

    For scores it is on their scale. For comparisons, places and ticks, which depend on the other conditions, it is the
    planted quality from 0 to 1; for identification, the distance in quality from the other conditions.
    """
    from beholder.analysis.result import has_analysis

    scores = results.ratings[results.ratings["kind"] == "score"]
    places = [method for method in set(scores["method"]) if has_analysis(str(method), "plackett_luce")]
    scores = scores[~scores["method"].isin(places)]
    scales: dict[str, tuple[float, float]] = {}
    for question, votes in scores.groupby("question", sort=False):
        low, high = float(votes["scale_min"].iloc[0]), float(votes["scale_max"].iloc[0])
        scales[str(question)] = (low, high)
    unit = "" if results.is_identification else " apart"
    values: dict[tuple[str, str], str] = {}
    for row in results.conditions.to_dict("records"):
        question, condition = str(row["question"]), str(row["condition"])
        quality = truth.get(condition)
        if quality is None:
            values[question, condition] = ""
        elif question in scales:
            worst, best = scales[question]
            values[question, condition] = f"{worst + quality * (best - worst):.2f}"
        elif results.notes["kinds"].get(question) == "correct":
            values[question, condition] = f"{_mean_distance(results, condition, truth):.2f}{unit}"
        else:
            values[question, condition] = f"quality {quality:.2f}"
    return values


def _mean_distance(results: Results, condition: str, truth: Mapping[str, float]) -> float:
    """Return the mean distance of a condition from those it was compared with."""
    others = results.ratings[results.ratings["condition"] == condition]["other_condition"]
    apart = [abs(truth[condition] - truth[other]) for other in set(others) if other in truth]
    return sum(apart) / len(apart) if apart else 0.0


async def _run_with_robots(
    study: Path,
    robots: int,
    population: PopulationSource,
    stay: bool,
    port: int,
    on_link: Callable[[str], None] | None,
    on_result: Callable[[Truth, Results], None] | None,
    news: Callable[[RunProgress], None] | None,
    tell: Callable[[ServerStatus], None] | None,
    progress: Callable[[int, int], None] | None,
) -> Results:
    import asyncio

    from beholder.analysis import analyse
    from beholder.analysis.result import read_results
    from beholder.cleaning import clean, rehearsal_of
    from beholder.methods import load_study
    from beholder.recruiting.collection import RunProgress, no_report
    from beholder.reporting import report
    from beholder.server.presence import close_server
    from beholder.server.process import report_until_stopped, run_server
    from beholder.simulation.crowd import send_robots

    def results() -> Results:
        clean(study, robots=True)
        rehearsed = rehearsal_of(study)
        analyse(rehearsed)
        report(rehearsed)
        return read_results(rehearsed.outputs)

    async with run_server(load_study(study), port=port) as server:
        if on_link:
            on_link(server.link)
        crowd = await send_robots(
            server.service.served, server.store, server.address, robots, people=population.people,
            means=population.means, progress=progress,
        )  # fmt: skip
        analysed = await asyncio.to_thread(results)
        if on_result:
            on_result(crowd.truth, analysed)
        if stay:
            await report_until_stopped(server, asyncio.Event(), tell)
        await close_server(server, lambda words: (news or no_report)(RunProgress("close", words)))
        return analysed
