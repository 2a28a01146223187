"""Chains: studies that follow from the results of others, with new participants and one budget over all."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from beholder.errors import Problem, StoreError, UserError
from beholder.files import csv_lines, write_atomically
from beholder.formats import precise_percent

if TYPE_CHECKING:
    from beholder.analysis.result import Results
    from beholder.cleaning.collection import ChainShare
    from beholder.recruiting.collection import RunProgress
    from beholder.server import ServerStatus
    from beholder.study.chain import Chain, Follow
    from beholder.study.model import Study
    from beholder.study.recruitment import Sum


class NoOpenPairs(UserError):
    """The previous study has left no pair open."""


def chain(
    path: str | Path = "chain.yaml",
    *,
    simulate: bool = False,
    raters: str = "honest",
    seed: int = 1,
    source: str | Path | None = None,
    host: str = "127.0.0.1",
    port: int = 8000,
    public_url: str | None = None,
    publish: bool = False,
    budget: float | str | None = None,
    every: float = 60.0,
    tell: Callable[[ServerStatus], None] | None = None,
    news: Callable[[RunProgress], None] | None = None,
    progress: Callable[[int, int], None] | None = None,
    making: Callable[[int, int], None] | None = None,
) -> Mapping[str, Results]:
    """Return the results of every study of a chain by name, in order.

        found = beholder.chain("chain.yaml", simulate=True)

    Nobody takes part in more than one of them. A study that asks only the pairs that the previous one left open is
    skipped if there are none. All studies together have the error rate of one, of which each spends its share. After
    an interruption the chain continues: closed studies are not run again.

    What most chains need:
        path            the chain file
        simulate        robots answer in place of people
        port, host      where the studies are served on this machine, one after the other
        public_url      the address that people elsewhere reach them by
        tell            a function that gets the links and the live counts

    A rehearsal, with `simulate`:
        raters, seed    kinds of robots, as `honest:9,random:1`, and their random numbers
        source          what robots are like: as people of public data when left out; `ideal`, or a pilot's study file

    On a platform:
        publish         opens each study there within the budget
        budget          the most that all studies together may cost; if the file has one too, the smaller counts
        every           seconds between two looks at the platform
        news            a function that gets the progress

    Rarely:
        progress        a function that gets the number of robots that are done, and of all
        making          the same of stimuli that are made first
    """
    from beholder.recruiting.collection import RunProgress
    from beholder.study.chain import load_chain
    from beholder.workflow.run import run

    loaded = load_chain(path)
    folder = Path(path).absolute().parent
    files = [folder / follow.study for follow in loaded.studies]
    caps = [cap for cap in (budget, loaded.budget) if cap is not None]
    studies = _studies(loaded, files, publish=publish and not simulate, caps=caps)
    shares = _shares(loaded, studies, population="robots" if simulate else "people")
    _check_plans(loaded, files, studies, making)
    results: dict[str, Results] = {}
    for number, (follow, file, study) in enumerate(zip(loaded.studies, files, studies, strict=True)):
        before = studies[:number]
        try:
            if follow.asks == "inconclusive":
                write_open_pairs(study, list(results.values())[-1], follow.question)
        except NoOpenPairs as nothing:
            if news is not None:
                news(RunProgress("chain", str(nothing)))
            continue
        left = None if simulate else _budget_left(caps, before, study)
        with _problems_in_folder(follow.study, file):
            results[study.name] = run(
                file, simulate=simulate, raters=raters, seed=seed, source=source, host=host, port=port,
                public_url=public_url, publish=publish, budget=left, every=every,
                exclude=[one.folder for one in before if one.name in results], tell=tell, news=news, progress=progress,
                making=making,
                chain=shares[number]._replace(after=_study_before(follow, results)),
            )  # fmt: skip
    return results


def _studies(chain: Chain, files: Sequence[Path], *, publish: bool, caps: Sequence[float | str]) -> list[Study]:
    """Return the studies of a chain, or raise UserError with all their problems, each with its folder."""
    from beholder.methods import load_study

    studies, problems = [], []
    for follow, file in zip(chain.studies, files, strict=True):
        try:
            studies.append(load_study(file))
        except UserError as error:
            problems += [_in_folder(follow.study, file, problem) for problem in error.problems]
    if not problems:
        problems = list(_chain_problems(chain, files, studies, publish=publish))
    if problems:
        raise UserError(problems)
    for study in studies:
        _smallest_budget(caps, study)  # raises for an invalid amount before anybody is paid
    return studies


def _shares(chain: Chain, studies: Sequence[Study], *, population: str) -> list[ChainShare]:
    """Return the share of each study; those that were run keep theirs, and raise UserError if too little is left."""
    from beholder.cleaning.collection import ChainShare, chain_share

    shares = []
    for follow_share, study in zip(chain.shares, studies, strict=True):
        before = chain_share(_ledger(study), study.run, population)
        share = follow_share if before is None else before.share
        shares.append(ChainShare(chain.chain, len(studies), share))
    total = sum(one.share for one in shares)
    if total > 1 + 1e-9:
        what = f"would spend {precise_percent(total)} of its error rate: studies that were run have spent their shares"
        fix = "Give those that are to come smaller shares (share), or run them on their own."
        raise UserError(Problem(chain.chain, what, "100 % over all studies", fix))
    return shares


def _ledger(study: Study) -> list[dict[str, Any]]:
    """Return the entries of the ledger of a study; none before it begins."""
    from beholder.store.open import read_tables

    try:
        return read_tables(study.folder / "store", ("ledger",))["ledger"]
    except StoreError:
        return []


def _study_before(follow: Follow, results: Mapping[str, Results]) -> str:
    """Return the study whose open pairs are asked; empty where everything is."""
    return list(results)[-1] if follow.asks == "inconclusive" else ""


def _in_folder(name: str, file: Path, problem: Problem) -> Problem:
    """Return a problem with the folder before its location, because every study file is called study.yaml."""
    folder = name if file.is_dir() else Path(name).parent.as_posix()
    return replace(problem, where=f"{folder}/{problem.where}")


@contextmanager
def _problems_in_folder(name: str, file: Path) -> Iterator[None]:
    """Add the folder of a study to its problems."""
    try:
        yield
    except UserError as error:
        raise type(error)(_in_folder(name, file, problem) for problem in error.problems) from error.__cause__


def _check_plans(
    chain: Chain, files: Sequence[Path], studies: Sequence[Study], making: Callable[[int, int], None] | None
) -> None:
    """Raise UserError if a later study could not be planned, before anybody takes part or is paid."""
    from beholder.workflow.check import check

    problems: list[Problem] = []
    for follow, file, study in list(zip(chain.studies, files, studies, strict=True))[1:]:
        try:
            if follow.asks == "inconclusive":
                _check_pair_plan(study, making)
            else:
                check(study, progress=making)
        except UserError as error:
            problems += [_in_folder(follow.study, file, problem) for problem in error.problems]
    if problems:
        raise UserError(problems)


def _check_pair_plan(study: Study, making: Callable[[int, int], None] | None) -> None:
    """Raise UserError if a study could not compare pairs; which ones is not known yet."""
    from beholder.methods import find
    from beholder.planning.feasibility import check_comparing
    from beholder.planning.groups import for_each_group, groups_of
    from beholder.stimuli.ingestion import load_catalogue

    all_pairs = study.model_copy(update={"design": study.design.model_copy(update={"pairs": "all"})})
    method, catalogue = find(study.method), load_catalogue(study, making)
    groups = groups_of(all_pairs, catalogue, method)
    for_each_group(groups, lambda group: check_comparing(group.study, group.catalogue, method))


def _chain_problems(
    chain: Chain, files: Sequence[Path], studies: Sequence[Study], *, publish: bool
) -> Iterator[Problem]:
    """Yield the problems that keep studies from forming a chain."""
    from beholder.study.recruitment import modes_where

    names = [study.name for study in studies]
    for number, (follow, file, study) in enumerate(zip(chain.studies, files, studies, strict=True)):
        if study.name in names[:number]:
            what = f"has the name {study.name}, as {chain.studies[names.index(study.name)].study} has"
            yield Problem(follow.study, what, "a name of its own for each study of the chain")
        if follow.asks == "inconclusive" and study.design.given_pairs is None:
            yield _in_folder(follow.study, file, _no_file(study))
        if publish and not study.recruit.source.is_platform:
            what = f"is {study.recruit.mode}, and publishing goes with a platform"
            platforms = modes_where(lambda source: source.is_platform)
            yield _in_folder(follow.study, file, study.problem("recruit.mode", what, platforms))


def _no_file(study: Study) -> Problem:
    fix = "Write design: {pairs: open.csv}: the pairs that are left are written there."
    return study.problem("design.pairs", "names no file for the pairs that are left", "a CSV", fix)


def write_open_pairs(study: Study, before: Results, question: str | None = None, *, store: str | None = None) -> Path:
    """Write the pairs that a result left open to the file that `design.pairs` of a study names; return that file.

    Raise NoOpenPairs if there are none. The file is kept once a person has a list; robots do not count.
    """
    from beholder.analysis.condition_difference import inconclusive

    name = study.design.given_pairs
    if name is None:
        raise UserError(_no_file(study))
    file = study.folder / name
    if file.is_file() and _has_people(study, store):
        return file
    pairs = inconclusive(before, question)
    if not pairs:
        raise NoOpenPairs(Problem(study.name, "has nothing to ask: no pair of the study before it was left open"))
    rows = [(one, two, part) for (one, two), part in zip(pairs, _parts(pairs), strict=True)]
    write_atomically(file, csv_lines((("condition", "other", "part"), *rows)).encode())
    return file


def _has_people(study: Study, store: str | None) -> bool:
    """Return whether a person has a list of this run: from then on its plan must not change."""
    from beholder.store.open import read_tables
    from beholder.study.recruitment import is_person

    url = store or str(study.folder / "store")
    try:
        tables = read_tables(url, ("sessions", "claims"))
    except StoreError:  # it is created when the study begins
        return False
    people = {row["session"] for row in tables["sessions"] if row["run"] == study.run and is_person(row["mode"])}
    return any(row["session"] in people for row in tables["claims"])


def _parts(pairs: Sequence[tuple[str, str]]) -> list[int]:
    """Return the part of each pair: pairs that are connected through conditions are one part."""
    from beholder.methods.pairs import connected_parts

    groups = connected_parts(list(dict.fromkeys(name for pair in pairs for name in pair)), list(pairs))
    number = {name: place for place, part in enumerate(groups, 1) for name in part}
    return [number[one] for one, _ in pairs]


def _smallest_budget(caps: Sequence[float | str], study: Study) -> Sum | None:
    """Return the smallest budget; None if there is none, or if the study is paid by hand."""
    if not caps or not study.recruit.source.is_platform:
        return None
    from beholder.recruiting.collection import budget_amount

    return min(budget_amount(cap, study) for cap in caps)


def _budget_left(caps: Sequence[float | str], before: Sequence[Study], study: Study) -> str | None:
    """Return the remaining budget of a chain for a study; None if there is no budget."""
    from beholder.recruiting.collection import remaining_budget

    cap = _smallest_budget(caps, study)
    return None if cap is None else str(remaining_budget(study, before, cap))


def exclude_studies(study: Study, folders: Sequence[str | Path]) -> Study:
    """Return a study that excludes the participants of the studies in these folders."""
    if not folders:
        return study
    more = (os.path.relpath(folder, study.folder) for folder in folders)
    recruit = study.recruit
    named = tuple(dict.fromkeys((*recruit.exclude, *(Path(one).as_posix() for one in more))))
    return study.model_copy(update={"recruit": recruit.model_copy(update={"exclude": named})})


def folder_of(before: str | Path | Results) -> Path:
    """Return the folder of a study, given its file, its folder or its results."""
    if isinstance(before, str | Path):
        path = Path(before)
        return path.absolute() if path.is_dir() else path.absolute().parent
    if before.report is None:
        raise UserError(Problem("after", "are results without a report", "results of a study, or its study.yaml"))
    return before.report.absolute().parent.parent
