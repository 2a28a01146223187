"""The folder power/: tables, figures, notes and the page of a power analysis."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

from beholder.errors import Problem, StudyError, UserError
from beholder.methods import find as find_method
from beholder.methods import load_study
from beholder.methods.transcripts import TranscriptMethod
from beholder.planning.builder import make_plan
from beholder.reporting.result_page import refuse_taken, write_outcome
from beholder.sample_size.design import SimulatedWorld, with_message_stimuli
from beholder.sample_size.estimates import estimate_power
from beholder.sample_size.page import KIND, Power, chance_table, finding_words, outcome
from beholder.sample_size.request import (
    SIZES,
    PowerRequest,
    ladder,
    ladder_conditions,
    ladder_problems,
    page_problems,
    problems_of,
    read_pages,
    read_sizes,
)
from beholder.sample_size.tests import Contents
from beholder.sample_size.variants import USUAL, page_sizes
from beholder.simulation.truth import plant_truth
from beholder.simulation.variance import read_source
from beholder.stimuli.ingestion import load_catalogue
from beholder.workflow.check import unknown_contrasts


def power_folder(
    source: str | Path,
    *,
    participants: str | Sequence[int] | None,
    difference: float | None,
    repetitions: int,
    pilot: str | Path | None,
    people: str,
    methods: Sequence[str] | None,
    pages: str | Sequence[int] | None,
    contents: Contents | None,
    rate: str | None,
    seed: int,
    out: Path | None,
    progress: Callable[[int, int], None] | None,
    stimuli: Callable[[int, int], None] | None,
) -> Power:
    """Simulate the study many times, write the folder, and return the result."""
    sizes, problems = read_sizes(participants)
    request = PowerRequest(sizes, difference, repetitions, contents or "random", rate, seed)
    written_pages, wrong_pages = read_pages(pages)
    if problems := [*problems, *wrong_pages, *problems_of(request)]:
        raise UserError(problems)
    study = load_study(source)
    if study.design.active is not None:
        what = "is active: what is compared follows from answers, which cannot be simulated at once"
        fix = "Write pairs: all in a copy: active pairs need fewer votes for the same ranks."
        raise StudyError(study.problem("design.pairs", what, "", fix))
    if contents is None:
        request = replace(request, contents="fixed" if study.analyse.claim == "these" else "random")
    method = find_method(study.method)
    for name in methods or ():
        find_method(name, "--methods")
    folder = out or study.folder / "power"
    refuse_taken(folder, KIND)
    population = read_source(pilot, people)
    if population.people.leaving >= 1:
        raise UserError(Problem("--people", "leaving is 1, and nobody would finish", "a number below 1"))
    catalogue = load_catalogue(study, stimuli).common
    on_a_page = page_sizes(study) if written_pages is None else written_pages
    problems = [*unknown_contrasts(study, catalogue), *ladder_problems(study, catalogue, method, difference)]
    if problems := [*problems, *page_problems(study, catalogue, method, on_a_page)]:
        raise StudyError(problems)
    if len(catalogue.contents) < 2:
        # One content is no sample: the result holds for it alone.
        request = replace(request, contents="fixed")
    is_ladder = difference is not None or not population.means
    quality = ladder(study, catalogue, method, difference)
    if not is_ladder:
        means = plant_truth(catalogue, (), seed, means=population.means).conditions
        quality = {name: means[name] for name in ladder_conditions(study, catalogue)}
    world = SimulatedWorld(study, catalogue, method, quality, population.people, request.contents, seed)
    if not sizes:
        request = replace(request, sizes=tuple(sorted({*SIZES, max(2, _own_size(world))})))
    # What people understand is not what they think of it: no other method measures the same.
    usual = () if isinstance(method, TranscriptMethod) else USUAL
    compared = list(dict.fromkeys(usual if methods is None else methods))
    tables = estimate_power(
        world, request, population, compared, is_ladder=is_ladder, pages=on_a_page, progress=progress
    )
    result = outcome(tables)
    page = write_outcome(result, folder)
    return Power(
        tables.table("power"), tables.table("sizes"), tables.table("needed"), tables.table("methods"),
        tables.table("looks"), finding_words(tables), page, chance_table(tables.of("power", world.questions[0])),
        result.notes, tables.plot,
    )  # fmt: skip


def _own_size(world: SimulatedWorld) -> int:
    """Return the study's number of participants; if it requests votes, how many participants these need."""
    design = world.study.design
    if design.votes is None:
        return design.participants
    plan = make_plan(world.study, with_message_stimuli(world.study, world.catalogue, world), world.method)
    return -(-len(plan.lists) // design.sessions_per_participant)
