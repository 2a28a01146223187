"""Studies of published papers that run: from stimuli through a rehearsal to the tables and figures of the paper.

contract   what an example is; a table or figure of a paper, ours beside theirs
steps      stimuli that Beholder draws, and the way of a study from plan to report
page       the page of an example
hemvip, p910_acr, avatar, reseval: one folder for each paper, with its study files, its published numbers in
published/, and what makes its exhibits
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from beholder.examples.contract import Exhibit, PaperStudy

__all__ = ["FinishedExample", "copy_example", "examples", "run_example"]


class FinishedExample(NamedTuple):
    """An example that ran: its exhibits, and the page that shows them."""

    example: PaperStudy
    exhibits: tuple[Exhibit, ...]
    page: Path


def examples() -> Mapping[str, PaperStudy]:
    """Return all examples by name, in the order of their papers."""
    from beholder.examples import avatar, hemvip, p910_acr, reseval

    return {one.EXAMPLE.name: one.EXAMPLE for one in (hemvip, p910_acr, avatar, reseval)}


def copy_example(name: str, folder: str | Path | None = None) -> Path:
    """Copy the study files and texts of an example to a new folder, named after it when left out; return the folder."""
    import shutil

    example = _find(name)
    target = _new_folder(example, folder)
    for path in sorted(example.source.rglob("*")):
        inside = path.relative_to(example.source)
        if path.is_file() and path.suffix != ".py" and not {"published", "__pycache__"} & set(inside.parts):
            (target / inside).parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(path, target / inside)
    return target


def run_example(
    name: str,
    folder: str | Path | None = None,
    *,
    small: bool = False,
    pictures: bool = False,
    tell: Callable[[str], None] | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> FinishedExample:
    """Take an example from its stimuli to every table and figure of its paper; return them with their page.

    `folder` is named after the example when left out, and must be new or empty. `small` takes fewer stimuli and
    people than the paper, `pictures` sends a robot through the pages in a real browser. `tell` hears of each step,
    `progress` counts what a step makes.
    """
    from beholder.examples.contract import ExampleRun
    from beholder.examples.page import write_example

    example = _find(name)
    target = copy_example(name, folder)
    run = ExampleRun(target, small, pictures, tell or (lambda step: None), progress)
    example.prepare(run)
    exhibits = tuple(example.run(run))
    return FinishedExample(example, exhibits, write_example(example, exhibits, target))


def _new_folder(example: PaperStudy, folder: str | Path | None) -> Path:
    from beholder.errors import Problem, UserError

    target = Path(folder if folder is not None else example.name)
    if target.exists() and (not target.is_dir() or any(target.iterdir())):
        fix = "Choose another with --folder, or delete it."
        raise UserError(Problem(str(target), "exists already and is not empty", "a new or an empty folder", fix))
    return target


def _find(name: str) -> PaperStudy:
    from beholder.errors import Problem, UserError, did_you_mean

    known = examples()
    if name not in known:
        raise UserError(Problem("NAME", f"{name} is no example", ", ".join(known), did_you_mean(name, list(known))))
    return known[name]
