"""How several workers share the tests: each collects from another place on, and begins with its share of slow ones."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

SLOW_FOLDERS = ("browser", "contracts", "end_to_end", "examples", "proofs")
BROWSER_WEIGHT = 10
"""A test with a browser takes as long as about so many others of the slow folders."""


def pytest_configure(config: pytest.Config) -> None:
    """Let each worker begin to collect with other folders.

    A test file is compiled, with what pytest adds to its assertions, by who reads it first, and kept for all. Where all
    read the same file at the same time, all compile it: 11 s of processor time for each worker of a fresh clone.
    """
    place, workers = _worker(config)
    if workers > 1 and config.args_source is pytest.Config.ArgsSource.TESTPATHS:
        (tests,) = (config.rootpath / name for name in config.args)
        ignored = {config.invocation_params.dir / name for name in config.getoption("ignore") or ()}
        folders = [path for path in _folders(tests) if path not in ignored]
        config.args = [str(path) for path in _begun_at(folders, place / workers)]


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> Iterator[None]:
    """Order the tests for `--dist worksteal`, which cuts the list into one piece for each worker."""
    _, workers = _worker(config)
    if workers > 1:
        items.sort(key=lambda item: item.path)  # all workers need the same order; tests of a file keep theirs
    yield  # pytest puts those together that share what a fixture makes
    if workers > 1:
        items[:] = _shared_out(items, workers)


def _worker(config: pytest.Config) -> tuple[int, int]:
    """Return the place of this worker and how many there are; 0 of 1 where pytest runs by itself."""
    told = getattr(config, "workerinput", None)
    return (int(told["workerid"].removeprefix("gw")), int(told["workercount"])) if told else (0, 1)


def _folders(tests: Path) -> list[Path]:
    """Return the folders with tests, those of the units one by one, and the files beside these."""
    units = tests / "unit"
    parts = [*(path for path in sorted(tests.iterdir()) if path != units), *sorted(units.glob("*"))]
    return [path for path in parts if path.match("test_*.py") or any(path.rglob("test_*.py"))]


def _begun_at(folders: Sequence[Path], share: float) -> list[Path]:
    """Return the folders from the one on before which this share of all files is."""
    sizes = [sum(1 for _ in path.rglob("test_*.py")) or 1 for path in folders]
    first = next(place for place in range(len(folders)) if sum(sizes[: place + 1]) > share * sum(sizes))
    return [*folders[first:], *folders[:first]]


def _shared_out(items: Sequence[pytest.Item], workers: int) -> list[pytest.Item]:
    """Return the tests in pieces of equal length, each with its share of the slow files, the slowest first."""
    files: dict[Path, list[pytest.Item]] = {}
    for item in items:
        if item.path.parent.name in SLOW_FOLDERS:
            files.setdefault(item.path, []).append(item)
    slow: list[list[list[pytest.Item]]] = [[] for _ in range(workers)]
    for tests in sorted(files.values(), key=_weight, reverse=True):
        min(slow, key=lambda share: sum(map(_weight, share))).append(tests)
    quick = [item for item in items if item.path not in files]
    pieces: list[pytest.Item] = []
    for place, share in enumerate(slow, 1):
        room = max(0, len(items) * place // workers - len(pieces) - sum(map(len, share)))
        pieces += _mixed(share, quick[:room] if place < workers else quick)
        quick = quick[room:]
    return pieces


def _mixed(slow: Sequence[Sequence[pytest.Item]], quick: Sequence[pytest.Item]) -> list[pytest.Item]:
    """Return all tests, with quick ones after each slow file.

    So workers wait for browsers at different times, and work in between. Files stay whole: their tests share fixtures.
    """
    mixed: list[pytest.Item] = []
    done = taken = 0
    for tests in slow:
        mixed += tests
        done += _weight(tests)
        until = len(quick) * done // sum(map(_weight, slow))
        while 0 < until < len(quick) and quick[until].path == quick[until - 1].path:
            until += 1
        mixed += quick[taken:until]
        taken = max(taken, until)
    return [*mixed, *quick[taken:]]


def _weight(tests: Sequence[pytest.Item]) -> int:
    """Return how long the tests of a slow file take, compared with those of others."""
    return sum(BROWSER_WEIGHT if item.get_closest_marker("browser") else 1 for item in tests)
