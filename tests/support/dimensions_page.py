"""Score tables and ratings for analyses of dimensions, and the result of one."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import beholder
from beholder.dimensionality.text import Dimensions

CONDITIONS = ("no", "01", "NA", "Größe 2", "e")


def score_table(folder: Path, name: str, questions: tuple[str, ...], conditions: tuple[str, ...] = CONDITIONS) -> Path:
    rng = np.random.default_rng(len(questions))
    good = np.linspace(1, 4, len(conditions))
    rows = [
        (question, condition, round(float(mean), 2))
        for question in questions
        for condition, mean in zip(conditions, good + 0.2 * rng.normal(size=len(conditions)), strict=True)
    ]
    path = folder / f"{name}.csv"
    pd.DataFrame(rows, columns=["question", "condition", "mean"]).to_csv(path, index=False)
    return path


def answers(people: int, questions: tuple[str, ...], *, seed: int = 1) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    person, condition, content, question = np.indices((people, 4, 3, len(questions))).reshape(4, -1)
    good = rng.normal(size=(4, 3))
    return pd.DataFrame({
        "participant": [f"p{one}" for one in person], "content": [f"k{one}" for one in content],
        "condition": [f"c{one}" for one in condition], "question": [questions[one] for one in question],
        "value": 5 + good[condition, content] + 0.5 * rng.normal(size=len(person)),
    })  # fmt: skip


@pytest.fixture(scope="session")
def dimensions(tmp_path_factory: pytest.TempPathFactory) -> Dimensions:
    folder = tmp_path_factory.mktemp("joined")
    a = score_table(folder, "a", ("real", "trust", "warm"))
    b = score_table(folder, "b", ("mood",), CONDITIONS[:4])
    pd.DataFrame({"condition": CONDITIONS, "psnr": [20.0, 25.0, 30.0, 31.0, 35.0]}).to_csv(
        folder / "values.csv", index=False
    )
    return beholder.dimensions(a, b, split=("real", 2), metrics=folder / "values.csv")
