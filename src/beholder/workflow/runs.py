"""`runs`: a study taken several times, each time by other people, and how well the runs agree."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from beholder.errors import Problem, UserError
from beholder.formats import plain_count
from beholder.result_view import PagedResult, ResultView

if TYPE_CHECKING:
    from beholder.analysis.result import Results
    from beholder.comparison.result import Comparison
    from beholder.recruiting.collection import RunProgress
    from beholder.study.model import Study

_MOST = 1000
"""As many as `run` of a study file allows."""


@dataclass(frozen=True, repr=False)
class RepeatedStudy(PagedResult):
    """The results of every run, and how well they agree."""

    results: tuple[Results, ...]
    """In the order of the runs; the report is of the last one."""
    comparison: Comparison
    """Every run beside every other, and beside what they were held against."""

    def _view(self) -> ResultView:
        return self.comparison._view()

    @property
    def waiting(self) -> tuple[str, ...]:
        """Work that the runs leave to a person, with the number of the run."""
        return tuple(f"run {one.notes['run']}: {words}" for one in self.results for words in one.waiting)


def runs(
    study: str | Path = "study.yaml",
    count: int = 5,
    *,
    stimuli: str | Path | None = None,
    folder: str | Path | None = None,
    against: str | Path | None = None,
    out: str | Path | None = None,
    margin: float | None = None,
    simulate: bool = False,
    store: str | None = None,
    draw: bool = True,
    news: Callable[[RunProgress], None] | None = None,
    drawing: Callable[[int, int], None] | None = None,
    **options: Any,
) -> RepeatedStudy:
    """Run a study so many times, each time with a new plan and other people; compare the runs and return both.

        found = beholder.runs("study.yaml", 5, simulate=True)

    The runs are numbered from 1, whatever `run` in the study file says, and the file stays as it is. Nobody takes part
    in two of them. clean/, analyse/ and report/ are of the last run, and `clean --run 1` looks at another again. After
    an interruption it continues with the run that was not finished.

    What most studies need:
        study, count    the study file, and how many runs
        simulate        robots answer in place of people
        against         a side as `compare` takes it, such as the scores of a laboratory (lab.csv): all runs are held
                        against it too
        margin          two runs are equivalent within so many points: 5 % of the scale when left out
        options         more keywords, those of `run`; a budget covers all runs together

    Rarely:
        stimuli, folder asks about other files, as in `run`
        out             another folder for the comparison than compare/
        store           where answers are kept, if not in store/ beside the study
        draw            False leaves the report out
        news            a function that gets the progress
        drawing         a function that gets the number of figures of the comparison that are drawn, and of all
    """
    from beholder.analysis.sides import Side, read_side, side_of_run
    from beholder.comparison.page import compare_folder
    from beholder.comparison.sides import named_source
    from beholder.methods import load_study
    from beholder.recruiting.collection import RunProgress
    from beholder.workflow.run import run
    from beholder.workflow.run_folder import make_run_folder

    if not 2 <= count <= _MOST:
        fix = "Run a study once with `beholder run`." if count == 1 else ""
        raise UserError(Problem("--runs", f"is {count}", f"2 to {_MOST:,}", fix))
    loaded = load_study(study if stimuli is None else make_run_folder(study, stimuli, folder))
    sides: list[Side] = []
    if against is not None:
        name, place = named_source(against)
        # Before anybody comes, as a table that cannot be read would be found after weeks.
        sides.append(read_side(place, name))
    results: list[Results] = []
    for number in range(1, count + 1):
        if news is not None:
            news(RunProgress("run", f"Run {number} of {count}."))
        taken = run(
            _numbered(loaded, number),
            simulate=simulate,
            store=store,
            news=news,
            draw=draw and number == count,
            **options,
        )
        results.append(taken)
    for number in range(1, count + 1):
        sides.append(side_of_run(_numbered(loaded, number), number, f"run {number}", store=store, robots=simulate))
    page_folder = Path(out) if out is not None else loaded.folder / "compare"
    comparison = compare_folder(sides, out=page_folder, margin=margin, questions=(), progress=drawing)
    return RepeatedStudy(tuple(results), comparison)


def _numbered(study: Study, run: int) -> Study:
    """Return the study as its file would give it with another run."""
    return study.model_copy(update={"run": run})


def people_by_run(repeated: RepeatedStudy) -> str:
    """Return how many people took part in each run, and that they were others, in a sentence."""
    people = [set(one.ratings["participant"]) for one in repeated.results]
    twice = sum(map(len, people)) - len(set().union(*people))
    numbers = ", ".join(str(len(one)) for one in people)
    who = "nobody in two of them" if not twice else f"{plain_count(twice, 'participant')} in more than one of them"
    return f"{plain_count(len(people), 'run')} of {numbers} participants, {who}."
