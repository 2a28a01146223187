"""The workers that share our tests report what one process would, and their processor time is told."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from support.data import ROOT
from support.processor_time import ROUNDS_OF_THE_SUITE, processor_s, table_of

ON_LINUX = pytest.mark.skipif(sys.platform != "linux", reason="workers are forked on Linux only")
OF_EVERY_KIND = """
import pytest

@pytest.fixture(scope="session")
def torn_down_late():
    yield
    raise ValueError("at the end")

def test_passes(torn_down_late): pass

def test_fails():
    print("printed before")
    assert 1 == 2

def test_is_skipped(): pytest.skip("not today")
"""
DYING = """
import os

def test_dies(): os._exit(7)
"""


def run(folder: Path, *options: str) -> subprocess.CompletedProcess[str]:
    """Run the tests of a folder in two workers."""
    command = [sys.executable, "-m", "pytest", "-p", "no:xdist", "-p", "support.workers", "--workers", "2", *options]
    paths = os.pathsep.join([str(ROOT / "tests"), str(ROOT / "src")])
    return subprocess.run(
        [*command, "--rootdir", str(folder), str(folder)],
        env={**os.environ, "PYTHONPATH": paths}, cwd=folder, capture_output=True, text=True,
    )  # fmt: skip


@ON_LINUX
def test_workers_report_each_test_once_and_what_it_printed(tmp_path: Path) -> None:
    for name in "abc":
        (tmp_path / f"test_{name}.py").write_text("def test_one(): pass\n" * (name != "a") or OF_EVERY_KIND, "utf-8")
    shown = run(tmp_path)
    assert shown.returncode == 1, shown.stdout + shown.stderr
    assert "1 failed, 3 passed, 1 skipped, 1 error" in shown.stdout
    assert "printed before" in shown.stdout
    assert "ValueError: at the end" in shown.stdout
    assert "s  all tests together" in shown.stdout


BY_CHANCE = """
from pathlib import Path

def test_fails_once():
    began = Path(__file__).with_suffix(".began")
    assert began.exists() or began.write_text("") > 0, "the machine was busy"
"""


@ON_LINUX
def test_what_fails_beside_others_and_passes_alone_is_told_and_no_failure(tmp_path: Path) -> None:
    (tmp_path / "test_chance.py").write_text(BY_CHANCE, "utf-8")
    shown = run(tmp_path)
    assert shown.returncode == 0, shown.stdout + shown.stderr
    assert "1 passed" in shown.stdout
    assert "failed beside others and passed alone: test_chance.py::test_fails_once" in shown.stdout
    assert "the machine was busy" in shown.stdout


@ON_LINUX
def test_where_many_fail_or_a_lost_answer_is_meant_the_first_word_counts(tmp_path: Path) -> None:
    (tmp_path / "tests" / "end_to_end").mkdir(parents=True)
    (tmp_path / "tests" / "end_to_end" / "test_kill.py").write_text(BY_CHANCE, "utf-8")
    assert "1 failed" in run(tmp_path).stdout
    for number in range(6):
        (tmp_path / f"test_{number}.py").write_text(BY_CHANCE, "utf-8")
    assert "6 failed, 1 passed" in run(tmp_path).stdout


@ON_LINUX
def test_a_worker_that_dies_is_told_with_its_test(tmp_path: Path) -> None:
    (tmp_path / "test_dying.py").write_text(DYING, "utf-8")
    (tmp_path / "test_other.py").write_text("def test_one(): pass\n", "utf-8")
    shown = run(tmp_path)
    assert shown.returncode == pytest.ExitCode.INTERNAL_ERROR
    assert "a worker ended with 7 while it ran test_dying.py::test_dies" in shown.stdout + shown.stderr


@ON_LINUX
def test_processor_time_counts_processes_that_run_and_those_that_have_ended() -> None:
    spin = "import time\nwhile time.process_time() < 0.3: pass\n"
    before = processor_s()
    subprocess.run([sys.executable, "-c", spin], check=True)
    ended = processor_s()
    assert ended - before >= 0.25
    with subprocess.Popen([sys.executable, "-c", spin + "print(flush=True)\ninput()"],
                          stdin=subprocess.PIPE, stdout=subprocess.PIPE) as running:  # fmt: skip
        assert running.stdout is not None
        running.stdout.readline()
        assert processor_s() - ended >= 0.25
        running.communicate(b"\n")


def test_a_suite_that_has_grown_is_told_with_its_dearest_folders() -> None:
    spent_s = {"tests/browser": 60.0, "tests/unit/stats": 38.0, "tests/unit/words": 0.1}
    lines = table_of(spent_s, round_s=200 / ROUNDS_OF_THE_SUITE)
    assert [line.split()[-1] for line in lines[:2]] == ["tests/browser", "tests/unit/stats"]
    assert lines[2:] == ["   98.1 s  all tests together; 200 s of a processor like this were agreed"]
    assert "has grown" in table_of(spent_s, round_s=90 / ROUNDS_OF_THE_SUITE)[3]
