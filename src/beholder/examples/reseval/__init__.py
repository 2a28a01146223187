"""ReSEval's tests: A/B, ABX, MOS and MUSHRA on audio, images, text and video, from one file and one line."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from beholder.examples.contract import ExampleRun, Exhibit, PaperStudy, sheet
from beholder.examples.steps import picture_of_step, rehearse, set_size, stages_of, write_clips
from beholder.formats import interval, number
from beholder.types import Medium

if TYPE_CHECKING:
    from beholder.reporting.sheets import TextTable

_FOLDER = Path(__file__).parent
_STUDIES = {
    "ab-image": ("pristine", "soft"), "ab-text": ("edited", "clumsy"), "abx-image": ("pristine", "soft", "blocked"),
    "mos-video": ("natural", "smooth", "jerky", "frozen"), "mushra-audio": ("original", "light", "medium", "strong"),
}  # fmt: skip
"""The sample conditions of each study."""
_PAGES = {"ab-text": "An A/B test with texts", "abx-image": "An ABX test with images", "mos-video": "MOS of videos",
          "mushra-audio": "A MUSHRA-style test of sounds"}  # fmt: skip
_TESTS = {"A/B": "ab", "ABX": "abx", "MOS": "acr", "MUSHRA": "mushra"}
_MEDIA: dict[Medium, tuple[str, ...]] = {
    "audio": ("original", "light", "strong"), "image": ("pristine", "soft", "blocked"),
    "text": ("edited", "plain", "garbled"), "video": ("natural", "smooth", "frozen"),
}  # fmt: skip
"""A reference and two conditions of each medium, the better one first."""


def _prepare(run: ExampleRun) -> None:
    for name, conditions in _STUDIES.items():
        write_clips(run, run.folder / name / "stimuli", {one: one for one in conditions}, 4)


def _exhibits(run: ExampleRun) -> Iterator[Exhibit]:
    for name in _STUDIES:
        study = run.folder / name / "study.yaml"
        set_size(study, participants=run.size(24, 8))
        rehearse(run, study, {})
    first = run.folder / "ab-image" / "study.yaml"
    yield Exhibit(
        "Figure 1", "From one file and a folder of stimuli to a statistical analysis", "drawing",
        "`beholder run study.yaml --stimuli DIR`; the way is drawn on the page Architecture",
    )  # fmt: skip
    yield Exhibit(
        "Figure 2", "The stages of a session", "page", "`beholder simulate --browser 1`: storyboard/",
        stages_of(first), figure=picture_of_step(run, first, "consent"),
    )  # fmt: skip
    for place, (name, title) in zip(
        ("top left", "top right", "bottom left", "bottom right"), _PAGES.items(), strict=True
    ):
        yield Exhibit(
            f"Figure 3, {place}", title, "page", "`beholder preview`",
            figure=picture_of_step(run, run.folder / name / "study.yaml", "trial"),
        )  # fmt: skip
    yield Exhibit(
        "Appendix A", "The configuration file of an A/B test on images", "page", "ab-image/study.yaml",
        note="Storage, database and server are not configured: `beholder serve` has them in it, `beholder launch` "
        "speaks to the platform.",
    )  # fmt: skip
    yield Exhibit(
        "Section 3, analysis", "What each of the five tests found", "rehearsal", "`beholder run --simulate`: analyse/",
        _found(run),
    )  # fmt: skip
    yield Exhibit(
        "Section 3, media", "Every test on every medium", "rehearsal", "`beholder simulate --memory`: media/",
        _every_medium(run), note="Each cell is a study: whether the better of two planted conditions was found.",
    )  # fmt: skip


def _found(run: ExampleRun) -> TextTable:
    from beholder.analysis.result import records
    from beholder.analysis.sides import read_side

    rows = [
        (name, row["condition"], f"{row['n']:.0f}", number(row["mean"], 2), interval(row["ci_low"], row["ci_high"], 2))
        for name in _STUDIES
        for row in records(read_side(run.folder / name / "study.yaml").conditions)
    ]
    return sheet(("Study", "Condition", "Answers", "Mean", "95 % interval"), rows, names=2)


def _every_medium(run: ExampleRun) -> TextTable:
    """Return for every test and medium whether a study of it finds the better condition."""
    for medium, conditions in _MEDIA.items():
        write_clips(run, run.folder / "media" / medium, {one: one for one in conditions}, 2)
    rows = []
    for title, method in _TESTS.items():
        cells = []
        for medium in _MEDIA:
            cells.append("found" if _finds_better(run, method, medium) else "not found")
        rows.append((title, *cells))
    return sheet(("", *_MEDIA), rows)


def _finds_better(run: ExampleRun, method: str, medium: Medium) -> bool:
    import beholder
    from beholder.analysis.pairs import pairs

    reference, better, worse = _MEDIA[medium]
    folder = run.folder / "media" / f"{method}-{medium}"
    needs_reference = method in ("abx", "mushra")
    conditions = [f"{{name: {reference}, role: reference}}"] if needs_reference else []
    for one in (reference, better, worse) if needs_reference else (better, worse):
        shutil.copytree(run.folder / "media" / medium / one, folder / "stimuli" / one)
    options = {"abx": "options: {mode: closest}\n", "mushra": "options: {anchors: []}\n"}.get(method, "")
    (folder / "study.yaml").write_text(
        f"beholder: 1\nname: {method}-{medium}\ntitle: Which is better?\nmethod: {method}\n{options}stimuli: stimuli\n"
        f"conditions: [{', '.join((*conditions, better, worse))}]\n"
        "questions: [{id: quality, text: How good is it?}]\n"
        "design: {participants: 24, seed: 0}\ncontact: researcher@example.org\n",
        "utf-8",
    )
    rated = beholder.simulate(folder / "study.yaml", memory=True, participants=24)
    found = pairs(rated.ratings)
    assert found is not None
    table = found.table[
        found.table["condition"].isin((better, worse)) & found.table["other_condition"].isin((better, worse))
    ]
    row = table.iloc[0]
    ahead = row["mean_difference"] * (1 if row["condition"] == better else -1)
    return bool(ahead > 0) and row["verdict"] in ("beyond", "these")


EXAMPLE = PaperStudy(
    "reseval",
    "Four tests, four media, one line",
    "Morrison, Tang, Tan and Pardo (2022), Reproducible Subjective Evaluation, ICLR ML Evaluation Standards",
    "A/B, ABX, MOS and MUSHRA on audio, images, text and video",
    _FOLDER,
    _prepare,
    _exhibits,
)
