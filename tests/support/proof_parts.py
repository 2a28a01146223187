"""The parts of `make prove`, each by its name: `make prove PART=kills`. What is in none of them is in `statistics`."""

from __future__ import annotations

from pathlib import Path

import pytest

PARTS = {
    "kills": ("end_to_end/test_kill", "end_to_end/test_store_kill", "end_to_end/test_database_kill",
              "end_to_end/test_pay_kill"),
    "servers": ("end_to_end/test_many_servers", "end_to_end/test_workers", "contracts/test_store"),
    "power": ("proofs/test_power_loss",),
    "load": ("proofs/test_load_proof",),
    "requests": (
        "end_to_end/test_openapi", "end_to_end/test_desk_api", "end_to_end/test_floods", "end_to_end/test_drop_outs",
    ),
    "blindness": ("end_to_end/test_blind", "end_to_end/test_bucket", "unit/buckets"),
    "deploy": ("end_to_end/test_deploy", "unit/deployment", "end_to_end/test_backups", "unit/backups"),
    "money": ("proofs/test_pay_proof", "unit/recruiting"),
    "browser": ("browser",),
    "examples": ("unit/examples",),
}  # fmt: skip
"""Beginnings of the paths of test files, from `tests`."""
OTHERS = "statistics"


def part_of(path: Path, tests: Path) -> str:
    """Return the part to which the long tests of a file belong."""
    place = path.relative_to(tests).as_posix()
    return next((name for name, begins in PARTS.items() if place.startswith(begins)), OTHERS)


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--part", choices=[*PARTS, OTHERS], help="run the long tests of one part (make prove PART=...)")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    part, tests = config.getoption("--part"), config.rootpath / "tests"
    if part:
        others = [item for item in items if part_of(item.path, tests) != part]
        config.hook.pytest_deselected(items=others)
        items[:] = [item for item in items if item not in set(others)]
