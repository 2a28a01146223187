"""How many trials a list has: of each content, in total, in the time of a short session, in a square, or in blocks."""

from __future__ import annotations

from typing import Literal

import numpy as np

from beholder.errors import PlanError, Problem
from beholder.formats import plain_count, plural, up_to
from beholder.methods.contract import Method, Unit, Units
from beholder.planning.blocks import block_quotas
from beholder.planning.even_rounding import Ints
from beholder.planning.grid import StimulusGrid, between, reference_alone
from beholder.planning.squares import ITEMS, is_square
from beholder.stimuli.catalogue import Catalogue
from beholder.study.design import Design
from beholder.study.model import Study

MOST_TRIALS = 12
"""Trials of a list if the study does not say how many."""

LONGEST = 15
"""Minutes of the longest short session."""

_RATING_MINUTES = 12
"""Minutes of it for the trials."""

_SAMPLE = 12
"""Contents whose trials are timed as a sample."""


def count_trials(grid: StimulusGrid, design: Design, at_most: int = MOST_TRIALS) -> int:
    """Return how many trials a list has, or raise PlanError if it cannot have as many as the study requests.

    If the study does not say, as many as possible up to `at_most`.
    """
    chain = design.sessions_per_participant
    if grid.companions:
        trials = _count_with_companions(grid, design, at_most)
    else:
        most = most_trials(grid, design)
        trials = min(at_most, most) if design.trials is None else design.trials
        if is_square(design):
            trials = count_square_trials(grid, design, content_capacity(grid, design))
        elif trials > most:
            raise PlanError(_too_many(grid, design, trials, most))
        elif grid.blocks:
            trials = check_block_trials(grid, design, trials, most)
    if chain == 1 or _fits(grid, design, trials, chain):
        return trials
    most = 0 if is_square(design) or grid.blocks else _most_of_chain(grid, design, trials, chain)
    if design.trials is None and most:
        return most
    raise PlanError(_too_long(grid, design, trials, most))


def content_capacity(grid: StimulusGrid, design: Design) -> Ints:
    """Return how many trials of each content a list can have."""
    if design.contents == "once" or grid.always:
        return np.ones(len(grid.contents), dtype=np.int64)
    return np.asarray(grid.present.sum(axis=1) // grid.free_per_trial, dtype=np.int64)


def most_trials(grid: StimulusGrid, design: Design) -> int:
    """Return how many trials a list can have."""
    capacity, apart = content_capacity(grid, design), design.contents == "apart"
    if grid.kind == "content" or (capacity == capacity[0]).all():
        return 1 if apart and len(capacity) == 1 else int(capacity.min()) * len(capacity)
    if not apart:
        return int(capacity.sum())
    return next(n for n in range(int(capacity.sum()), 0, -1) if np.minimum(capacity, -(-n // 2)).sum() >= n)


def trials_in_time(study: Study, catalogue: Catalogue, method: Method, units: Units, grid: StimulusGrid) -> int:
    """Return how many trials fit into a short session, at least one, by the method's estimate for some contents."""
    contents = np.unique(np.linspace(0, len(grid.contents) - 1, _SAMPLE).astype(np.int64)).tolist()
    rng = np.random.default_rng(0)
    seconds = []
    for content in contents:
        free = [column for column in grid.free if grid.cells[content][column]][: grid.free_per_trial]
        cells = [grid.cells[content][column] for column in sorted((*free, *grid.always))]
        stimuli = tuple(stimulus for cell in cells for stimulus in cell)
        if not stimuli:
            continue  # only a reference, which is reported elsewhere
        seconds.append(
            sum(
                method.seconds(
                    method.compose(study, Unit(grid.contents[content], stimuli, asks), catalogue, rng), catalogue
                )
                for asks in units.asks or ((),)
            )
        )
    return max(1, int(_RATING_MINUTES * 60 / max(float(np.mean(seconds or [0])), 1e-9)))


# Companions


def count_companions(grid: StimulusGrid, trials: int, chain: int = 1) -> int | None:
    """Return how many contents, each with its companion, fill a list; None if no number does.

    About two tests to each companion if there is a choice. Lists of a chain share no content, as its companion would
    be repeated.
    """
    # Trials of a single content would be neighbours.
    low = max(2, grid.apart, -(-trials // (_fewest_tests(grid) + 1)))
    high = min(len(grid.contents) // chain, trials // 2)
    return min(max(round(trials / 3), low), high) if low <= high else None


def _count_with_companions(grid: StimulusGrid, design: Design, at_most: int) -> int:
    least, tests = 2 * max(2, grid.apart), _fewest_tests(grid)
    if 2 * len(grid.contents) < least:
        what = f"are of {plain_count(len(grid.contents), 'content')}, too few to keep a reference from its tests"
        raise PlanError(Problem("stimuli", what, f"{least // 2} contents or more", "Add contents."))
    poorest = grid.contents[int(grid.present.sum(axis=1).argmin())]
    if tests == 0:
        raise PlanError(reference_alone(poorest))
    most = len(grid.contents) * (tests + 1)
    trials = design.trials
    if trials is None:
        return next(n for n in range(min(max(at_most, least), most), 0, -1) if count_companions(grid, n))
    if count_companions(grid, trials):
        return trials
    allowed = f"{least} to {most}" if most > least else str(most)
    if trials < least:
        what = f"is {trials}, but each content comes with its reference, at least {grid.apart} trials apart"
        raise PlanError(Problem("design.trials", what, allowed))
    if trials > most:
        what = (
            f"is {trials}, but there are {len(grid.contents)} contents, each with its reference, content {poorest} has "
            f"{plain_count(tests, 'stimulus', 'stimuli')} under test, and none may come twice in a list"
        )
        raise PlanError(Problem("design.trials", what, allowed, "Add contents, or conditions."))
    what = f"is {trials}, but content {poorest} has 1 stimulus under test, which comes with its reference"
    raise PlanError(Problem("design.trials", what, f"even numbers, {allowed}"))


def _fewest_tests(grid: StimulusGrid) -> int:
    return int(grid.present.sum(axis=1).min())


# Squares and blocks


def square_items(grid: StimulusGrid) -> Ints:
    """Return the items of a square: all contents if a trial is a content, else all columns that have stimuli."""
    if grid.kind == "content":
        return np.arange(len(grid.contents))
    return np.asarray(np.array(grid.free)[grid.present.any(axis=0)], dtype=np.int64)


def count_square_trials(grid: StimulusGrid, design: Design, capacity: Ints) -> int:
    """Return how many trials a list has: its items once, or as often as the study says. `capacity` is by content."""
    items = len(square_items(grid))
    one, many = ITEMS[grid.kind]
    most = int(capacity.min()) if grid.kind == "content" else _most_rounds(items, len(grid.contents), design)
    if most == 0:
        raise PlanError(_no_round(items, many, len(grid.contents), design))
    if design.trials is None:
        return items
    rounds, over = divmod(design.trials, items)
    if over == 0 and rounds <= most:
        return design.trials
    near = sorted({min(max(number, 1), most) * items for number in (rounds, rounds + 1)})
    times = "once" if most == 1 else f"once, or up to {most} times"
    what = f"is {design.trials}, but design.order is {design.order}, and a list goes through "
    what += f"{'all ' if items > 1 else ''}{plain_count(items, one, many)} {times}"
    raise PlanError(Problem("design.trials", what, " or ".join(str(number) for number in near)))


def square_fits(grid: StimulusGrid, design: Design, trials: int, chain: int) -> bool:
    """Return whether items that are repeated in a chain of lists can come with another content each time."""
    takes_turns = grid.kind != "content" and design.contents == "apart" and len(grid.contents) == 2
    return not takes_turns or trials * chain <= len(square_items(grid))


def check_block_trials(grid: StimulusGrid, design: Design, trials: int, most: int) -> int:
    """Return how many trials a list has that holds trials of each block, or raise PlanError if none can."""
    blocks = len(grid.block_names)
    if design.trials is None:
        trials = min(max(trials, blocks), most)
    if trials < blocks:
        what = f"is {trials}" if design.trials else f"can be {trials} at most"
        what += f", but design.blocks is {design.blocks}, and a list holds something of each of its {blocks} blocks"
        raise PlanError(Problem("design.trials", what, between(blocks, most)))
    block_quotas(grid, trials, design)
    return trials


def _most_rounds(items: int, contents: int, design: Design) -> int:
    """Return how often a list can go through all conditions or pairs, with another content each time."""
    if design.contents == "once":
        return contents // items
    if design.contents == "apart" and contents <= 2:
        # Two contents alternate, so that a repeated item cannot always come with the other one.
        return contents - 1
    return contents


def _no_round(items: int, many: str, contents: int, design: Design) -> Problem:
    what = f"is {design.order}, and a list goes through all {items} {many}, but there "
    what += f"{plural(contents, 'is', 'are')} {plain_count(contents, 'content')}"
    if design.contents == "once":
        what += " and each may come once"
        fix = f"Add contents up to {items}, or write contents: {'apart' if contents > 1 else 'free'}."
    else:
        what += ", and trials of one content may not be neighbours"
        fix = "Add contents, or write contents: free."
    return Problem("design.order", what, "balanced", fix)


# Chains of sessions


def _fits(grid: StimulusGrid, design: Design, trials: int, chain: int) -> bool:
    """Return whether `chain` lists of `trials` trials are possible without repeating a stimulus."""
    if grid.companions:
        return count_companions(grid, trials, chain) is not None
    if is_square(design) and not square_fits(grid, design, trials, chain):
        return False
    stimuli = grid.present.sum(axis=1)
    if grid.always:
        return trials * chain <= len(grid.contents)
    if grid.kind == "content" or (stimuli == stimuli[0]).all():
        return trials * chain <= int(stimuli.min()) // grid.free_per_trial * len(grid.contents)
    capacity = content_capacity(grid, design)
    if design.contents == "apart":
        capacity = np.minimum(capacity, -(-trials // 2))
    return bool(np.minimum(stimuli, capacity * chain).sum() >= trials * chain)


def _most_of_chain(grid: StimulusGrid, design: Design, trials: int, chain: int) -> int:
    """Return the largest number of trials, up to this one, that each list of a chain can have; 0 if none."""
    return next((n for n in range(trials, 0, -1) if _fits(grid, design, n, chain)), 0)


def _too_long(grid: StimulusGrid, design: Design, trials: int, most: int) -> Problem:
    """Return the problem that a participant would meet a stimulus twice, with the numbers that are possible."""
    chain = design.sessions_per_participant
    contents = plain_count(len(grid.contents), "content")
    if grid.companions:
        available = f"there are {contents}, each with its reference"
    elif grid.always or grid.kind == "content":
        times = 1 if grid.always else int(grid.present.sum(axis=1).min()) // grid.free_per_trial
        available = f"there {plural(len(grid.contents), 'is', 'are')} {contents}"
        available += f", each with stimuli for {plain_count(times, 'trial')}"
    else:
        one, many = ("pair", "pairs") if grid.kind == "pair" else ("stimulus", "stimuli")
        number = int(grid.present.sum())
        available = f"there {plural(number, 'is', 'are')} {plain_count(number, one, many)} of {contents}"
    sessions = plain_count(chain, "session")
    what = f"is {chain}, but {sessions} of {plain_count(trials, 'trial')} are {chain * trials} trials, "
    what += f"{available}, and nobody may meet the same one twice"
    fewer_sessions = next(n for n in range(chain, 0, -1) if _fits(grid, design, trials, n))
    allowed = f"{up_to(fewer_sessions)} with {plain_count(trials, 'trial')}"
    if most:
        # With companions not every smaller number is possible.
        allowed += f", or design.trials {most if grid.companions else up_to(most)} with {sessions}"
    return Problem("design.sessions_per_participant", what, allowed)


# Messages


def _too_many(grid: StimulusGrid, design: Design, requested: int, most: int) -> Problem:
    contents = plain_count(len(grid.contents), "content")
    are = f"there {plural(len(grid.contents), 'is', 'are')}"
    allowed = between(max(1, len(grid.block_names)), most)
    if design.contents == "once":
        what = f"is {requested}, but {are} {contents} and each may come once"
        fix = f"Add contents{_rule_that_fits(grid, design, 'apart', requested, most)}."
    elif grid.always:
        because = "with design.always" if design.always else "with conditions that are in every trial"
        what = f"is {requested}, but {are} {contents} and {because} each may come once"
        fix = "Add contents: no stimulus comes twice in a list."
    elif most == 1 and len(grid.contents) == 1 and design.contents == "apart":
        what = f"is {requested}, but there is 1 content, and trials of one content may not be neighbours"
        fix = f"Add contents{_rule_that_fits(grid, design, 'free', requested, most)}."
    elif grid.kind == "content":
        capacity = content_capacity(grid, design)
        least = int(capacity.argmin())
        times = plain_count(int(capacity[least]), "trial")
        what = f"is {requested}, but {are} {contents}, "
        what += f"and content {grid.contents[least]} has stimuli for {times} of a list"
        stimuli = grid.present.sum(axis=1)
        smaller = [n for n in range(2, grid.per_trial) if int((stimuli // n).min()) * len(stimuli) >= requested]
        fix = f", or write per_trial: {max(smaller)}" if smaller else ""
        fix = f"Add contents{fix}: no stimulus comes twice in a list."
    else:
        one, many = ("pair", "pairs") if grid.kind == "pair" else ("stimulus", "stimuli")
        number = int(grid.present.sum())
        what = f"is {requested}, but there {plural(number, 'is', 'are')} {plain_count(number, one, many)} of {contents}"
        what += ", and none may come twice in a list"
        fix = "Add stimuli."
    return Problem("design.trials", what, allowed, fix)


def _rule_that_fits(
    grid: StimulusGrid, design: Design, contents: Literal["apart", "free"], asked: int, most: int
) -> str:
    """Return another rule for contents as a fix, if it allows more trials."""
    more = most_trials(grid, design.model_copy(update={"contents": contents}))
    if more <= most:
        return ""
    return f", or write contents: {contents}" + ("" if more >= asked else f", which allows {up_to(more)}")
