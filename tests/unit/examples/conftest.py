"""Every example runs once, small or with `--whole` as large as it ships, and all tests look at what came out."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

import pytest

from beholder.examples import FinishedExample, run_example


@pytest.fixture(scope="session")
def finished_example(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Callable[[str], FinishedExample]:
    """Return a function that runs an example, once in a session."""

    @cache
    def run(name: str) -> FinishedExample:
        small = not request.config.getoption("--whole")
        return run_example(name, tmp_path_factory.mktemp("examples") / name, small=small)

    return run
