"""Every example runs once, small, and all tests look at what came out."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

import pytest

from beholder.examples import FinishedExample, run_example


@pytest.fixture(scope="session")
def small_example(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], FinishedExample]:
    """Return a function that runs an example, once in a session."""

    @cache
    def run(name: str) -> FinishedExample:
        return run_example(name, tmp_path_factory.mktemp("examples") / name, small=True)

    return run
