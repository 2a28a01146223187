"""`check`: all problems of a study and its stimuli, and what a session will be like."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from beholder.formats import plain_count
from beholder.result_view import ResultView, ShownResult
from beholder.types import Medium, Role

if TYPE_CHECKING:
    from beholder.errors import Problem
    from beholder.methods.contract import Method
    from beholder.planning.model import Plan, PlannedList
    from beholder.server.session_stages import Stage
    from beholder.stimuli.catalogue import Catalogue
    from beholder.study.model import Study


class StimulusCount(NamedTuple):
    """How many stimuli a study needs, how many of them were made now, and how many are not made yet."""

    needed: int
    fresh: int
    unmade: int = 0


class GroupShare(NamedTuple):
    """A group of participants: the level of each factor, the number of lists, and the length of a session."""

    levels: Mapping[str, str]
    lists: int
    minutes: float


@dataclass(frozen=True, repr=False)
class Checked(ShownResult):
    """A study without problems, and what its sessions will be like."""

    study: Study
    stages: tuple[Stage, ...]
    stimuli: int
    conditions: tuple[str, ...]
    contents: int
    participants: int
    """The number of lists in the plan; one person may take several if the study says so."""
    ratings_per_stimulus: tuple[int, int]
    """Fewest and most ratings over all stimuli if everybody finishes; comparisons if stimuli are compared."""
    warnings: tuple[Problem, ...]
    is_compared: bool = False
    """Stimuli are compared in pairs."""
    asking: Mapping[Role, StimulusCount] = field(default_factory=dict)
    """Stimuli with a message, by role."""
    groups: tuple[GroupShare, ...] = ()
    """The groups of participants, if any; `stages` are those of the group with the longest session."""
    trials: int = 0
    """The number of rated trials of a session."""
    votes: tuple[int, int] = (0, 0)
    """Fewest and most ratings of a stimulus or, if stimuli are compared, of a pair."""
    pairs: int = 0
    """The number of pairs of conditions that are compared, in either order."""
    bound: str = ""
    """Which lists are for people with stimuli of their own; empty where none is."""
    default_texts: tuple[str, ...] = ()
    """Which of consent and instructions are ours, and not the researcher's."""

    def _view(self) -> ResultView:
        import pandas as pd

        low, high = self.ratings_per_stimulus
        each = f"{low}" if low == high else f"{low} to {high}"
        what = "comparisons" if self.is_compared else "ratings"
        lines = [
            f"{self.study.title}: about {self.minutes:.0f} min for each of {self.participants:,} lists.",
            f"{plain_count(self.stimuli, 'stimulus', 'stimuli')}: {plain_count(self.contents, 'content')}, "
            f"{plain_count(len(self.conditions), 'condition')}; {each} {what} of each.",
            *([f"{self.bound}."] if self.bound else []),
            *(f"Warning: {problem}" for problem in self.warnings),
            f"No errors, {plain_count(len(self.warnings), 'warning')}." if self.warnings else "No problems found.",
        ]
        rows = [{"stage": one.name, "minutes": f"{one.minutes:.1f}", "screens": one.screens} for one in self.stages]
        return ResultView(lines, pd.DataFrame(rows))

    @property
    def minutes(self) -> float:
        """The approximate length of a session."""
        return sum(stage.minutes for stage in self.stages)

    @property
    def minutes_before(self) -> float:
        """The approximate time to the first rating in a first session."""
        return sum(stage.minutes for stage in self.stages if stage.is_before)

    @property
    def screens_before(self) -> int:
        """The number of screens before the first rating if every check is passed at once."""
        return sum(stage.screens for stage in self.stages if stage.is_before)


def check(
    study: str | Path | Study = "study.yaml",
    *,
    make: bool = False,
    progress: Callable[[int, int], None] | None = None,
) -> Checked:
    """Return what a study will be like, or raise all its problems at once.

    What participants get is written to media/ where it is missing. Of stimuli that ask for an answer, one of each kind
    is made, to see that it can be, and all with `make`; the others are made when the study is first planned or served.
    """
    from beholder.checks.known_answers import missing_gold
    from beholder.checks.registry import check_problems, check_warnings
    from beholder.errors import Problem, StudyError
    from beholder.methods import find, load_study, method_folder
    from beholder.methods.contract import Trial
    from beholder.methods.waveform import waveform_warnings
    from beholder.planning.balance import ratings_range
    from beholder.planning.builder import make_plan
    from beholder.planning.counts import is_of_pairs
    from beholder.planning.feasibility import confounding_warnings
    from beholder.planning.list_counts import votes_range
    from beholder.planning.message_trials import load_with_messages
    from beholder.planning.own_stimuli import bound_warnings, describe_bound
    from beholder.server.session_stages import session_stages
    from beholder.study.groups import group_study
    from beholder.study.loading import HeadingError
    from beholder.study.texts import default_texts
    from beholder.types import MESSAGE_ROLES

    try:
        loaded = load_study(study) if isinstance(study, str | Path) else study
    except HeadingError as error:
        raise StudyError([*error.problems, *_further_problems(error.study)]) from None
    method = find(loaded.method)
    if not (method_folder(method.name) / "view.js").is_file():
        raise StudyError(Problem(f"method {method.name}", "has no view.js", "", "Add the view, or update its package."))
    if problems := check_problems(loaded):
        raise StudyError(problems)
    catalogue, fresh, unmade = load_with_messages(loaded, method, progress, samples_only=not make)
    unknown = [*unknown_contrasts(loaded, catalogue), *dmos_problems(loaded, catalogue, method)]
    unknown += earlier_problems(loaded)
    if problems := [*unknown, *margin_problems(loaded, method)]:
        raise StudyError(problems)
    plan = make_plan(loaded, catalogue, method)
    firsts: dict[object, PlannedList] = {}
    for planned in plan.lists:
        firsts.setdefault(planned.group_key, planned)
    sessions = [
        (first, session_stages(group_study(loaded, first.group), catalogue, method, first.entries))
        for first in firsts.values()
    ]
    first, stages = max(sessions, key=lambda session: sum(stage.minutes for stage in session[1]))
    trials = len(first.rated)
    return Checked(
        study=loaded,
        stages=stages,
        stimuli=len(catalogue.by_cell),
        conditions=catalogue.conditions,
        contents=len(catalogue.contents),
        participants=loaded.design.dealt_lists or len(plan.lists),
        ratings_per_stimulus=ratings_range(plan),
        warnings=(
            *catalogue.warnings,
            *check_warnings(loaded, {one.medium for one in catalogue.stimuli}),
            *missing_gold(loaded, catalogue),
            *_long_session(loaded, stages, trials),
            *_exclusion_warnings(loaded),
            *bound_warnings(catalogue),
            *_medium_warnings(loaded, {one.medium for one in catalogue.stimuli}),
            *_placeholder_warnings(loaded),
            *_media_warnings(loaded, catalogue),
            *waveform_warnings(loaded, method, (entry for entry in first.entries if isinstance(entry, Trial))),
            *(() if is_of_pairs(plan) else confounding_warnings(loaded, catalogue, plan)),
        ),
        is_compared=is_of_pairs(plan),
        asking={
            role: StimulusCount(count, fresh.get(role, 0), unmade.get(role, 0))
            for role in MESSAGE_ROLES
            # Stimuli with the same message and the same source share a file.
            if (count := len({one.sha256 for one in catalogue.of_role(role) if one.derived_from}))
        },
        trials=trials,
        groups=tuple(
            GroupShare(
                session.group,
                sum(one.group == session.group for one in plan.lists),
                sum(stage.minutes for stage in session_parts),
            )
            for session, session_parts in sessions
            if session.group
        ),
        votes=votes_range(plan),
        bound=describe_bound(plan.lists),
        default_texts=default_texts(loaded, method_folder(method.name) / "texts"),
        pairs=_pair_count(plan, catalogue) if is_of_pairs(plan) else 0,
    )


def _media_warnings(study: Study, catalogue: Catalogue) -> Iterator[Problem]:
    """Yield what is missing at the place that hands out media, or that it could not be compared."""
    if study.media is None:
        return
    from beholder.buckets.signed_addresses import marked_names
    from beholder.buckets.upload import compare_copies
    from beholder.errors import UserError

    yield from marked_names(study, catalogue.conditions)
    try:
        found = compare_copies(study, catalogue)
    except UserError as error:
        for one in error.problems:
            yield study.problem("media", f"could not be compared: {one.what}", one.allowed, one.fix)
        return
    if found.missing:
        what = f"holds {found.copies - len(found.missing)} of {found.copies} copies"
        fix = "`beholder media upload` uploads the others; `beholder serve` does so before it begins."
        yield study.problem("media", what, "", fix)


_FILLED = ("time", "pay", "task")
"""What is filled in where a consent has it in braces."""


def _placeholder_warnings(study: Study) -> Iterator[Problem]:
    """Yield the texts with a word in braces that nothing is filled in for, so that participants would read it so."""
    from beholder.errors import did_you_mean
    from beholder.study.texts import study_text

    for which in ("consent", "instructions", "pause", "thanks"):
        names = _FILLED if which == "consent" else ()
        for word in re.findall(r"\{([A-Za-z_]+)\}", study_text(study, which) or ""):
            if word not in names:
                what = f"holds {{{word}}}, which participants would read as it stands"
                allowed = "{time} and {pay}, in the consent"
                yield study.problem(f"texts.{which}", what, allowed, did_you_mean(word, names))
                break


_MEDIUM_WORDS: Mapping[Medium, str] = {
    "video": r"videos?|clips?", "audio": r"recordings?|sounds?|listen", "image": r"images?|pictures?",
}  # fmt: skip
"""By which English words a text speaks of a medium; of a text it speaks itself."""


def _medium_warnings(study: Study, media: set[Medium]) -> Iterator[Problem]:
    """Yield the texts that speak of another medium than that of the stimuli, as those of an example do."""
    from beholder.errors import Problem
    from beholder.study.texts import study_text

    if len(media) != 1 or study.language != "en":
        return
    (medium,) = media
    own = _MEDIUM_WORDS.get(medium, "texts?")
    nouns = {"video": "videos", "audio": "sounds", "image": "images", "text": "texts"}
    for which in ("consent", "instructions"):
        text = (study_text(study, which) or "").lower()
        if medium == "video" or re.search(rf"\b({own})\b", text):
            continue
        for other, words in _MEDIUM_WORDS.items():
            if other != medium and (found := re.search(rf"\b({words})\b", text)):
                what = f"speaks of {found[0]!r}, and the stimuli are {nouns[medium]}"
                yield Problem(f"texts.{which}", what, "", "Say what people see or hear in this study.")
                break


def _further_problems(study: Study) -> tuple[Problem, ...]:
    """Return what is wrong in a study besides its heading."""
    from beholder.errors import UserError

    try:
        check(study)
    except UserError as error:
        return error.problems
    return ()


def _pair_count(plan: Plan, catalogue: Catalogue) -> int:
    """Return the number of pairs of conditions that are compared."""
    units = plan.units.items if plan.units is not None else ()
    return len({frozenset(catalogue.by_id[stimulus].condition for stimulus in unit.stimuli) for unit in units})


def _long_session(study: Study, stages: Sequence[Stage], trials: int) -> Iterator[Problem]:
    """Yield a warning if a session is too long, with the number of trials that would fit."""
    from beholder.planning.capacity import LONGEST

    minutes = sum(stage.minutes for stage in stages)
    rating = sum(stage.minutes for stage in stages if stage.is_rating)
    if minutes <= LONGEST or not study.is_written("design.trials") or not rating:
        return
    fitting = int((LONGEST - minutes + rating) * trials / rating)
    what = f"is {study.design.trials}, and a session takes about {minutes:.0f} minutes"
    if fitting < 1:
        what += f", {minutes - rating:.0f} of them without any trial"
        yield study.problem("design.trials", what, "", "Shorten what comes before and after the trials.")
        return
    fix = (
        ""
        if study.design.sessions_per_participant > 1
        else "With design.sessions_per_participant people can come again."
    )
    yield study.problem("design.trials", what, f"up to {fitting} for a session under {LONGEST} minutes", fix)


def _exclusion_warnings(study: Study) -> Iterator[Problem]:
    """Yield a warning if `recruit.exclude` has no effect because participants have no id."""
    gap = study.recruit.source.exclusion_gap(study.recruit) if study.recruit.exclude else None
    if gap is not None:
        yield study.problem("recruit.exclude", gap.what, gap.allowed, gap.fix)


def unknown_contrasts(study: Study, catalogue: Catalogue) -> Iterator[Problem]:
    """Yield a problem for each unknown condition in `analyse.contrasts`."""
    from beholder.errors import did_you_mean

    known = catalogue.conditions
    for place, pair in enumerate(study.analyse.contrasts):
        for side, name in enumerate(pair):
            if name not in known:
                key, near = f"analyse.contrasts.{place}.{side}", did_you_mean(name, known)
                yield study.problem(key, f"is {name}, which is no condition", ", ".join(known), near)


def earlier_problems(study: Study) -> Iterator[Problem]:
    """Yield that the votes from before an arena are not there, without which its board cannot be made."""
    arena = study.design.arena
    if arena is not None and arena.earlier is not None and not (study.folder / arena.earlier).is_file():
        what, fix = f"is {arena.earlier}, and there is no such file", "Put it beside study.yaml, or take this out."
        yield study.problem("design.arena.earlier", what, "a table of votes", fix)


def dmos_problems(study: Study, catalogue: Catalogue, method: Method) -> Iterator[Problem]:
    """Yield a problem where `analyse.dmos` names no condition, another than the reference, or suits no such method."""
    from beholder.errors import did_you_mean
    from beholder.methods import find, names
    from beholder.methods.contract import scoring_of

    original, key = study.analyse.dmos, "analyse.dmos"
    if original is None:
        return
    known, hidden = catalogue.conditions, {one.condition for one in catalogue.references.values()}
    if "dmos" not in scoring_of(method).metrics:
        allowed = " or ".join(name for name in names() if "dmos" in scoring_of(find(name)).metrics)
        what = f"is {original}, and votes of {method.name} are not held against votes on an original"
        yield study.problem(key, what, f"with method: {allowed}", "Leave it out.")
    elif original not in known:
        what = f"is {original}, which is no condition"
        yield study.problem(key, what, ", ".join(known), did_you_mean(original, known))
    elif "dmos" in method.analyses and hidden and original not in hidden:
        what = f"is {original}, and {method.name} takes its reference"
        yield study.problem(key, what, " or ".join(sorted(hidden)), "Leave it out.")


def margin_problems(study: Study, method: Method) -> Iterator[Problem]:
    """Yield a problem for each margin of an unknown question, or as wide as its scale."""
    from beholder.errors import did_you_mean
    from beholder.methods.contract import all_questions

    scales = {one.id: one.scale for one in all_questions(study, method) if not one.ticks}
    margin = study.analyse.margin
    for name in margin if isinstance(margin, dict) else ():
        if name not in scales:
            what = f"names {name}, which is no question with a scale"
            yield study.problem("analyse.margin", what, ", ".join(scales), did_you_mean(name, [*scales]))
    for name, scale in scales.items():
        own, width = study.analyse.margin_of(name), scale.max - scale.min
        if own is not None and own >= width:
            key = f"analyse.margin.{name}" if isinstance(margin, dict) else "analyse.margin"
            what = f"is {own:g}, and the scale of {name} is {width:g} wide: all would be equivalent"
            yield study.problem(key, what, f"a difference that does not matter, well below {width:g}")
