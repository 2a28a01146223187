"""How several processes share the tests: one collects them all, and those that run them are forked from it.

So libraries and test files are read and compiled once, whatever the number of workers. Only Linux forks safely enough;
elsewhere `make test` uses pytest-xdist, whose workers each collect for themselves.

A test that fails beside five others is run once more when they have ended, alone: see decision 0068.
"""

from __future__ import annotations

import multiprocessing
import os
import traceback
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from multiprocessing.connection import Connection, wait
from multiprocessing.process import BaseProcess
from pathlib import Path
from typing import Any

import pytest

from support.processor_time import one_round, processor_s, table_of
from support.proof_parts import PARTS

SLOW_FOLDERS = ("browser", "contracts", "end_to_end", "examples", "proofs", "reporting")
SLOW_WEIGHT, BROWSER_WEIGHT = 5, 30
"""A test of a slow folder, and one with a browser or a deployment, takes as long as about so many others."""
TICKET_BYTES = 2
MOST_AGAIN = 5
"""Where more tests fail, it is no chance, and none is run again."""
FINAL = (*PARTS["kills"], *PARTS["power"], "end_to_end/test_blind", "proofs/test_pay_proof")
"""Beginnings of the paths of tests whose first word counts: a lost answer or a name that was told is never chance."""

Block = list[pytest.Item]
"""The tests of a file: one process runs them, as they share what fixtures make."""


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--workers", type=int, default=0, help="fork so many processes that share the tests (Linux)")


@pytest.hookimpl(tryfirst=True)
def pytest_runtestloop(session: pytest.Session) -> bool | None:
    """Run the tests in forked processes, if some are asked for."""
    count = session.config.getoption("--workers")
    if not count or session.testsfailed or session.config.getoption("collectonly"):
        return None
    # Forked processes put their folders into this one, which is removed once they have ended.
    session.config._tmp_path_factory.getbasetemp()  # type: ignore[attr-defined]
    workers = Workers(session, shared_out(session.items))
    session.config.stash[WORKERS] = workers
    workers.start(count)
    workers.follow()
    workers.run_again()
    if session.shouldfail:
        raise session.Failed(session.shouldfail)
    return True


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
    workers = config.stash.get(WORKERS, None)
    if workers is not None and not config.getoption("--whole", False):
        terminalreporter.section("processor time, with browsers and servers")
        for line in table_of(workers.spent_s, one_round()):
            terminalreporter.write_line(line)
    for test in workers.chance if workers is not None else ():
        terminalreporter.section(f"failed beside others and passed alone: {test.nodeid}")
        terminalreporter.write_line(test.longreprtext)


def shared_out(items: Sequence[pytest.Item]) -> list[Block]:
    """Return the tests file by file: those that take long first, with quick ones between them.

    So workers wait for browsers at different times and work in between, and at the end there is little to wait for.
    """
    files: dict[Path, Block] = {}
    for item in items:
        files.setdefault(item.path, []).append(item)
    slow: list[Block] = []
    quick: list[Block] = []
    for block in sorted(files.values(), key=_weight, reverse=True):
        (slow if _weight(block) > len(block) else quick).append(block)
    every: list[Block] = []
    for place, block in enumerate(slow, 1):
        every += [block, *quick[len(quick) * (place - 1) // len(slow) : len(quick) * place // len(slow)]]
    return every or quick


def _weight(block: Block) -> int:
    """Return how long the tests of a file take, compared with those of others."""
    path = block[0].path
    plain = SLOW_WEIGHT if path.parent.name in SLOW_FOLDERS else 1
    if path.name.startswith("test_deploy") and plain > 1:
        plain = BROWSER_WEIGHT
    return sum(BROWSER_WEIGHT if item.get_closest_marker("browser") else plain for item in block)


@dataclass(eq=False)
class Workers:
    """The processes that run the tests of a session, each block by whoever is free."""

    session: pytest.Session
    blocks: Sequence[Block]
    processes: dict[Connection, BaseProcess] = field(default_factory=dict)
    running: dict[Connection, str] = field(default_factory=dict)
    """The test that each of them has begun."""
    spent_s: Counter[str] = field(default_factory=Counter)
    """Processor time by the folder of the tests."""
    reports: dict[str, list[pytest.TestReport]] = field(default_factory=dict)
    """What has been reported of each test that has begun."""
    failed: dict[str, list[pytest.TestReport]] = field(default_factory=dict)
    """The same of tests that failed and may be run again."""
    chance: list[pytest.TestReport] = field(default_factory=list)
    """The failures of tests that passed when they were run again."""

    def start(self, count: int) -> None:
        """Fork the processes."""
        self._tickets, filled = os.pipe()
        # A pipe is a queue that processes share; a block has a number of a fixed length, so that none is read in half.
        os.set_blocking(filled, False)
        os.write(filled, b"".join(place.to_bytes(TICKET_BYTES, "big") for place in range(len(self.blocks))))
        os.close(filled)
        fork = multiprocessing.get_context("fork")
        for _ in range(min(count, len(self.blocks))):
            receiver, sender = fork.Pipe(duplex=False)
            self.processes[receiver] = process = fork.Process(target=self._run, args=(sender,))
            process.start()
            sender.close()

    def follow(self) -> None:
        """Tell this session what is reported, until all processes have ended."""
        try:
            while self.processes:
                for receiver in wait(list(self.processes)):
                    assert isinstance(receiver, Connection)
                    self._take_message(receiver)
                if self.session.shouldfail:
                    self._take_rest()
        finally:
            self._take_rest()
            os.close(self._tickets)

    def run_again(self) -> None:
        """Run the tests that have failed once more, one after the other, if they are few; tell how it ended."""
        first, self.failed = self.failed, {}
        if first and len(first) <= MOST_AGAIN:
            self.blocks = [[item for item in self.session.items if item.nodeid in first]]
            self.start(1)
            self.follow()
        for name, reports in first.items():
            if len(first) > MOST_AGAIN or name in self.failed:
                self._tell(self.failed.get(name, reports))
            else:
                self.chance += [report for report in reports if report.failed]

    def _keep(self, name: str) -> None:
        """Tell how a test went that has ended, or keep it where it failed and may be run again."""
        reports = self.reports.pop(name, [])
        path = self.session.config.rootpath / name.partition("::")[0]
        tests = self.session.config.rootpath / "tests"
        is_final = path.is_relative_to(tests) and path.relative_to(tests).as_posix().startswith(FINAL)
        stages = {report.when for report in reports if report.failed}
        # What fails while it is taken down may be shared by many tests: this one alone would not say that it is mended.
        if stages and "teardown" not in stages and not is_final and not self.session.config.getoption("maxfail"):
            self.failed[name] = reports
        else:
            self._tell(reports)

    def _tell(self, reports: Sequence[pytest.TestReport]) -> None:
        for report in reports:
            self.session.config.hook.pytest_runtest_logreport(report=report)

    def _take_rest(self) -> None:
        """Leave nothing to do, so that processes end with the tests that they have begun."""
        while self._next_ticket():
            pass

    def _take_message(self, receiver: Connection) -> None:
        hook = self.session.config.hook
        try:
            kind, content = receiver.recv()
        except EOFError:
            process = self.processes.pop(receiver)
            process.join()
            if process.exitcode:
                test = self.running.get(receiver, "no test")
                pytest.exit(
                    f"a worker ended with {process.exitcode} while it ran {test}", pytest.ExitCode.INTERNAL_ERROR
                )
            return
        if kind == "report":
            report = hook.pytest_report_from_serializable(config=self.session.config, data=content)
            self.reports.setdefault(report.nodeid, []).append(report)
        elif kind == "began":
            self.running[receiver] = content
        elif kind == "ended":
            self._keep(content[0])
            hook.pytest_runtest_logfinish(nodeid=content[0], location=content[1])
        elif kind == "spent":
            self.spent_s[content[0]] += content[1]
        else:
            pytest.exit(f"a worker broke:\n{content}", pytest.ExitCode.INTERNAL_ERROR)

    def _next_ticket(self) -> bytes:
        return os.read(self._tickets, TICKET_BYTES)

    def _run(self, sender: Connection) -> None:
        """Run one block after the other, in a process of their own."""
        config = self.session.config
        # What is printed here is caught in files of this process, and shown by the one that shows reports.
        config.pluginmanager.unregister(name="terminalreporter")
        capture: Any = config.pluginmanager.getplugin("capturemanager")
        capture.stop_global_capturing()
        capture.start_global_capturing()
        capture.suspend_global_capture()
        config.pluginmanager.register(Messages(config, sender))
        try:
            items = self._items(sender)
            item = next(items, None)
            while item is not None and not self.session.shouldfail:
                following = next(items, None)
                config.hook.pytest_runtest_protocol(item=item, nextitem=following)
                item = following
        except BaseException:
            sender.send(("broke", traceback.format_exc()))
        finally:
            self.session._setupstate.teardown_exact(None)

    def _items(self, sender: Connection) -> Iterator[pytest.Item]:
        before = processor_s()
        while ticket := self._next_ticket():
            block = self.blocks[int.from_bytes(ticket, "big")]
            yield from block
            now = processor_s()
            folder = block[0].path.parent.relative_to(self.session.config.rootpath)
            sender.send(("spent", ("/".join(folder.parts[:3]), now - before)))
            before = now


WORKERS = pytest.StashKey[Workers]()


@dataclass(eq=False)
class Messages:
    """A plugin that sends what pytest reports to the process that shows it."""

    config: pytest.Config
    sender: Connection

    def pytest_runtest_logstart(self, nodeid: str) -> None:
        self.sender.send(("began", nodeid))

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        data = self.config.hook.pytest_report_to_serializable(config=self.config, report=report)
        self.sender.send(("report", data))

    def pytest_runtest_logfinish(self, nodeid: str, location: tuple[str, int | None, str]) -> None:
        self.sender.send(("ended", (nodeid, location)))
