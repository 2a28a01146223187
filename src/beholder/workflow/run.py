"""`run`: a whole study, from its file to the report. Plan, recruit, serve, clean, analyse, report, pay, close."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from beholder.errors import Problem, UserError

if TYPE_CHECKING:
    from beholder.analysis.result import Results
    from beholder.cleaning.collection import ChainShare
    from beholder.recruiting.collection import RunProgress
    from beholder.server import ServerStatus
    from beholder.study.model import Study


def run(
    study: str | Path | Study = "study.yaml",
    *,
    stimuli: str | Path | None = None,
    folder: str | Path | None = None,
    participants: int | None = None,
    to: str | None = None,
    simulate: bool = False,
    raters: str = "honest",
    seed: int = 1,
    source: str | Path | None = None,
    store: str | None = None,
    host: str = "127.0.0.1",
    port: int = 8000,
    public_url: str | None = None,
    publish: bool = False,
    play_money: bool = False,
    budget: float | str | None = None,
    after: str | Path | Results | None = None,
    exclude: Sequence[str | Path] = (),
    chain: ChainShare | None = None,
    draw: bool = True,
    every: float = 60.0,
    tell: Callable[[ServerStatus], None] | None = None,
    news: Callable[[RunProgress], None] | None = None,
    progress: Callable[[int, int], None] | None = None,
    making: Callable[[int, int], None] | None = None,
) -> Results:
    """Return the results of a study after enough people, or robots with `simulate`, have finished it.

        results = beholder.run("study.yaml", simulate=True)    # a rehearsal with robots
        results = beholder.run("study.yaml", participants=20)  # people, at a link on this machine
        results.summary(), results.plot()                      # and `open` shows the report

    A run that was interrupted continues when it is called again.

    What most studies need:
        study           the study file, or the study
        participants    how many are to finish; as many as the study asks for when left out
        simulate        robots answer in place of people
        port, host      where the study is served on this machine
        public_url      the address that people elsewhere reach it by
        tell            a function that gets the links and the live counts
        to              a machine that you reach by ssh, as user@host: the study is deployed there, run there to its
                        end, and taken down; the report is made here. `public_url` is what people open

    A rehearsal, with `simulate`:
        raters, seed    kinds of robots, as `honest:9,random:1`, and their random numbers
        source          what robots are like: as people of public data when left out; `ideal`, or a pilot's study file
        Once a person has come, what robots answer is reported in rehearsal/.

    On a platform:
        publish         opens the study there within the `budget`, adds places until enough ratings are usable, approves
                        and pays accepted participants, and closes; rejections and uncertain payments wait for a person
                        (`results.waiting`). Without it the study becomes a draft, and what costs money is left to you
        budget          the most that it may cost; a number is in the currency of `recruit.reward`
        play_money      rehearses all of this with simulated people, in a folder of its own
        every           seconds between two looks at the platform
        news            a function that gets the progress
        A panel, and personal links, are launched when the server answers; deciding and paying are left to a person.

    Other files, and several studies:
        stimuli, folder asks about the files of a folder in place of the study's own, in `folder`: when left out, in
                        `runs/` and a hash of study and stimuli beside the study. The same call again continues there
        after           a study or its results: only the pairs that it left open are asked, without its participants
        exclude         folders of studies whose participants may not take part
        chain           the share of an error rate that several studies have together

    Rarely:
        store           where answers are kept, if not in store/ beside the study
        draw            False leaves the report out
        progress        a function that gets the number of robots that are done, and of all
        making          the same of stimuli that are made first

    Where the study has looks (`design.looks`), it is cleaned and analysed at each and may stop there; `news` and
    `results.notes["look"]` say why.
    """
    from beholder.aio import block_on
    from beholder.analysis import analyse
    from beholder.analysis.result import read_results
    from beholder.cleaning import clean
    from beholder.cleaning.collection import ChainShare, record_chain, record_target
    from beholder.methods import find, load_study
    from beholder.planning import plan_study
    from beholder.recruiting.collection import LookOutcome, RunProgress, no_report, stop_reward_words
    from beholder.reporting import report
    from beholder.simulation import simulate as send
    from beholder.simulation.truth import truth_of
    from beholder.simulation.variance import planted_words, read_source
    from beholder.stimuli.ingestion import load_catalogue
    from beholder.workflow.chain import exclude_studies, folder_of, write_open_pairs
    from beholder.workflow.run_folder import make_run_folder, named_as_given

    if participants is not None and participants < 1:
        raise UserError(Problem("participants", f"is {participants}", "1 or more"))
    if folder is not None and stimuli is None and not play_money:
        fix = "A run on the study's own stimuli works in the folder of study.yaml."
        raise UserError(Problem("folder", "is for a run on other stimuli, and none are given", "with stimuli", fix))
    if play_money and (simulate or publish or store is not None):
        other = "simulate" if simulate else "publish" if publish else "store"
        fix = "Robots need no money, people need real money, and play money has a store of its own."
        raise UserError(Problem("play_money", f"and {other} are both given", "one of the two", fix))
    elsewhere = {
        "simulate": simulate, "play_money": play_money, "store": store, "stimuli": stimuli, "after": after,
        "exclude": exclude, "chain": chain,
    }  # fmt: skip
    if to is not None and (wrong := [key for key, value in elsewhere.items() if value]):
        fix = "Rehearse here first; then run it there."
        raise UserError([Problem(key, "goes without `to`, which runs the study elsewhere", "", fix) for key in wrong])
    if source is not None and not simulate:
        raise UserError(Problem("source", "tells what robots are like, and people are asked", "", "Use simulate."))
    population = read_source(source)
    report_news = news or no_report
    named: contextlib.AbstractContextManager[None] = contextlib.nullcontext()
    if stimuli is not None or play_money:
        given = study if isinstance(study, str | Path) else study.folder
        study = make_run_folder(given, stimuli, folder, play_money=play_money)
        named = named_as_given(study, stimuli) if stimuli is not None else named
        report_news(RunProgress("folder", f"this run works in {study.parent}"))
    loaded = load_study(study) if isinstance(study, str | Path) else study
    if after is not None:
        exclude, before = (*exclude, folder_of(after)), read_results(folder_of(after))
        if not simulate and before.notes["population"] == "robots":
            fix = "Run it with people first; robots stand for them where this is a rehearsal too (--simulate)."
            raise UserError(Problem("after", "names a study that only robots have taken", "", fix))
        write_open_pairs(loaded, before, store=store)
        chain = ChainShare("", 1, 1.0, load_study(folder_of(after)).name)
    loaded = exclude_studies(loaded, exclude)
    if to is not None:
        left = _run_elsewhere(
            loaded, study, to, public_url, participants=participants, publish=publish, budget=budget, every=every,
            news=news, making=making,
        )  # fmt: skip
        return _results_at_home(study, loaded, left, draw=draw)
    with named:
        lists = len(plan_study(study, progress=making).lists)
    waiting: tuple[str, ...] = ()
    url = store or str(loaded.folder / "store")

    evaluated = loaded

    def evaluate() -> Results:
        if chain is not None:
            record_chain(url, loaded.run, chain, population="robots" if simulate else "people")
        cleaned = clean(study, store=store, robots=simulate)
        nonlocal evaluated
        evaluated = loaded if cleaned.folder.parent == loaded.outputs else loaded.in_rehearsal()
        return analyse(evaluated, store=store)

    def take_look() -> LookOutcome:
        look = evaluate().notes["look"]
        if look is None:
            return LookOutcome(False, "It goes on, as nobody is used yet: clean/sessions.csv says why.")
        if look["kind"] == "anytime":
            return LookOutcome(False, "It goes on, as its size was changed after a look: the plan of looks is void.")
        return LookOutcome(look["stops"], look["words"])

    def rehearse(robots: int | None) -> None:
        send(study, participants=robots, raters=raters, seed=seed, store=store, source=population, progress=progress)

    if simulate:
        truth = truth_of(loaded, load_catalogue(loaded), find(loaded.method), seed, population.people, population.means)
        report_news(RunProgress("rehearsal", planted_words(truth, population)))
        for number, robots in enumerate(loaded.design.looks[:-1] if participants is None else ()):
            rehearse(robots)
            outcome = take_look()
            report_news(RunProgress("look", outcome.words))
            words = None if outcome.stops else stop_reward_words(loaded, loaded.design.looks[number + 1])
            if words is not None:
                report_news(RunProgress("look", words))
            if outcome.stops or words is not None:
                break
        else:
            rehearse(participants)
    elif loaded.recruit.source.is_platform:
        from beholder.recruiting.unattended_run import run_on_platform

        if participants is not None:
            fix = "Write recruit.places or design.participants in study.yaml."
            raise UserError(Problem("participants", "goes with an open link, not with a platform", "", fix))
        if play_money:
            from beholder.recruiting.fake.demo import run_on_play_money

            taken = run_on_play_money(loaded, budget=budget, news=news, port=port, take_look=take_look)
        else:
            taken = run_on_platform(
                loaded, publish=publish, budget=budget, every=every, news=news, store=store, host=host, port=port,
                public_url=public_url, take_look=take_look,
            )  # fmt: skip
        waiting = block_on(taken)
    else:
        from beholder.recruiting.unattended_run import run_by_hand
        from beholder.study.recruitment import modes_where

        if publish or play_money or budget is not None:
            what = f"goes with a platform, and recruit.mode is {loaded.recruit.mode}"
            platforms = modes_where(lambda source: source.is_platform)
            key = "publish" if publish else "play_money" if play_money else "budget"
            raise UserError(Problem(key, what, f"recruit.mode: {platforms}"))
        wanted = None if participants is None else _lists_of(loaded, participants, lists)
        waiting = block_on(
            run_by_hand(
                loaded, wanted, news=report_news, tell=tell, store=store, host=host, port=port, public_url=public_url,
                take_look=take_look,
            )
        )  # fmt: skip
        if wanted is not None:
            record_target(url, loaded.run, wanted)
    evaluate()
    if draw:
        report(evaluated)
    results = replace(read_results(evaluated.outputs), waiting=waiting)
    return results if draw else replace(results, report=None)


def _run_elsewhere(
    study: Study,
    given: str | Path | Study,
    to: str,
    public_url: str | None,
    *,
    participants: int | None,
    publish: bool,
    budget: float | str | None,
    every: float,
    news: Callable[[RunProgress], None] | None,
    making: Callable[[int, int], None] | None,
) -> tuple[str, ...]:
    """Run a study on a machine, bring its answers home, and return what is left to a person."""
    from beholder.deployment.unattended import run_arguments, run_on_machine

    path = Path(given) if isinstance(given, str | Path) else study.folder
    arguments = run_arguments(study, participants=participants, publish=publish, budget=budget, every=every)
    finished = run_on_machine(
        study, "study.yaml" if path.is_dir() else path.name, {"to": to, "address": public_url}, arguments, news=news,
        progress=making,
    )  # fmt: skip
    return finished.waiting


def _results_at_home(given: str | Path | Study, study: Study, waiting: tuple[str, ...], *, draw: bool) -> Results:
    """Clean, analyse and report what was brought home."""
    from beholder.analysis import analyse
    from beholder.analysis.result import read_results
    from beholder.cleaning import clean
    from beholder.reporting import report

    clean(given)
    analyse(study)
    if draw:
        report(study)
    results = replace(read_results(study.outputs), waiting=waiting)
    return results if draw else replace(results, report=None)


def _lists_of(study: Study, participants: int, lists: int) -> int:
    """Return the number of lists that these participants finish; raise UserError if the plan has fewer."""
    design = study.design
    people = -(-lists // design.sessions_per_participant)
    if participants > people:
        raise UserError(
            Problem(
                "participants",
                f"is {participants}, and the plan is for {people}",
                f"1 to {people}",
                f"Raise design.{'participants' if design.votes is None else 'votes'} in study.yaml.",
            )
        )
    return min(lists, participants * design.sessions_per_participant)
