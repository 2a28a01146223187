"""The consistency check detects planted random raters by the scatter of their votes, and spares honest raters."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import yaml

import beholder
from beholder.checks.agreement import Consistency, scatter_z
from beholder.checks.contract import Scatter, SessionEvidence
from beholder.stats.rater_models import Floats, RaterVotes
from beholder.stats.shrinkage import shrunken
from beholder.testing import write_study
from support.cleaning_store import rows
from support.variants import cases

RANDOM = 0.05
"""Share of random raters."""
DESIGNS = {10: (320, 160), 20: (160, 160), 50: (500, 1000)}
"""Raters and stimuli by the votes of each rater, as in the simulations behind the threshold."""
BIAS, MEDIAN, SPREAD = 0.47, 0.59, 0.18
"""Of honest raters, in points: bias (SD), median inconsistency and its spread (SD of the logarithm), as 24 people in a
laboratory had them, to whom `honest` robots are fitted too."""
RULE = Consistency(Consistency.Options())


def planted(rng: np.random.Generator, raters: int, stimuli: int, each: int) -> tuple[RaterVotes, Floats]:
    """Return votes on five points, and which raters are random; honest ones differ in bias and inconsistency."""
    quality = rng.uniform(1.3, 4.7, stimuli)
    bias, inconsistency = rng.normal(0, BIAS, raters), MEDIAN * np.exp(rng.normal(0, SPREAD, raters))
    is_random = rng.random(raters) < RANDOM
    rater = np.repeat(np.arange(raters), each)
    stimulus = np.concatenate([rng.choice(stimuli, each, replace=False) for _ in range(raters)])
    felt = quality[stimulus] + bias[rater] + inconsistency[rater] * rng.normal(size=len(rater))
    anywhere = rng.integers(1, 6, len(rater)).astype(float)
    value = np.where(is_random[rater], anywhere, np.clip(np.round(felt), 1, 5))
    return RaterVotes(value / 4, rater, stimulus, raters, stimuli), is_random.astype(float)


def flagged(votes: RaterVotes) -> Floats:
    """Return 1 for each rater who fails the check, else 0."""
    fitted = shrunken(votes)
    z = scatter_z(votes, fitted, RULE.options.ratings)
    counts = votes.sum_by_rater()
    verdicts = [
        RULE.judge(
            SessionEvidence("completed", "whole", scatter=Scatter(int(count), votes.raters, float(one), float(width)))
        )
        for count, one, width in zip(counts, z, fitted.inconsistency, strict=True)
    ]
    return np.array([float(verdict.verdict == "fail") for verdict in verdicts])


@pytest.mark.long
@pytest.mark.parametrize("each", cases(DESIGNS, (10, 20)))
def test_random_clickers_are_flagged_and_honest_people_are_not(each: int, whole: bool) -> None:
    raters, stimuli = DESIGNS[each]
    rng = np.random.default_rng(each)
    flags_of_studies, is_random = [], []
    for _ in range(100 if whole else 12):
        votes, who = planted(rng, raters, stimuli, each)
        flags_of_studies.append(flagged(votes))
        is_random.append(who)
    flags, clickers = np.concatenate(flags_of_studies), np.concatenate(is_random) == 1
    assert flags[clickers].mean() >= 0.9
    assert flags[~clickers].mean() < 0.03


@pytest.fixture(scope="module")
def study(tmp_path_factory: pytest.TempPathFactory, tiny: Path) -> Path:
    path = write_study(tmp_path_factory.mktemp("scattered") / "study", tiny)
    text = yaml.safe_load(path.read_text("utf-8"))
    text["clean"] = {"use": {"consistency": {"action": "flag"}}}
    path.write_text(yaml.safe_dump(text), encoding="utf-8")
    return path


@pytest.mark.variant
def test_robots_who_click_anywhere_are_not_used(study: Path) -> None:
    crowd = beholder.simulate(study, participants=30, raters="honest:0.9,careless:0.1")
    careless = {robot.session for robot, kind in zip(crowd.robots, crowd.kinds, strict=True) if kind == "careless"}
    assert len(careless) == 3
    sessions = rows(beholder.clean(study), "sessions")
    out = {row["session"] for row in sessions if "consistency:inconsistent" in row["reasons"]}
    assert careless <= out
    assert len(out - careless) <= 1
    assert {row["accept"] for row in sessions} == {"true"}
