"""Keeping a board fresh while an arena is served: a process beside the server writes it where anything is new.

Cleaning and fitting take seconds, for which answers should not wait; so it is another process, and of many servers
only the one that leads starts it.
"""

from __future__ import annotations

import contextlib
import json
import logging
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from datetime import timedelta
from pathlib import Path

from beholder.errors import BeholderError
from beholder.store.full_copy import live_counts
from beholder.store.open import read_tables
from beholder.study.model import Study
from beholder.types import Json

_log = logging.getLogger("beholder.board")
_FIRST_PAUSE = timedelta(seconds=5)
"""Until a server that does not lead looks again whether it does, and after a start."""
_ARGUMENTS = [sys.executable, "-m", "beholder.leaderboard.board_cycle"]


class BoardCycle:
    """A thread that has the board of a study written for as long as a server runs."""

    def __init__(self, study: Path, url: str | Path, every: timedelta, leads: Callable[[], bool]) -> None:
        self._study, self._url, self._every, self._leads = study, url, every, leads
        self._stop = threading.Event()
        self._written: Json = None
        self._was_told = ""
        self._process: subprocess.Popen[bytes] | None = None
        self._thread = threading.Thread(target=self._run, name="beholder board", daemon=True)

    def start(self) -> None:
        """Begin."""
        _log.info("The board is written every %s, where anything is new", self._every)
        self._thread.start()

    def stop(self) -> None:
        """End at once; a page that is half made is thrown away."""
        self._stop.set()
        with contextlib.suppress(OSError, AttributeError):
            self._process.kill()  # type: ignore[union-attr]
        self._thread.join()

    def _run(self) -> None:
        pause = min(_FIRST_PAUSE, self._every)
        while not self._stop.wait(pause.total_seconds()):
            pause = min(_FIRST_PAUSE, self._every)
            if self._leads():
                with contextlib.suppress(BeholderError, OSError):  # the store is away: so are the votes
                    self.look()
                pause = self._every

    def look(self) -> bool:
        """Have the board written if anything was stored since the last time; return whether it was."""
        there = self._state()
        if there == self._written:
            return False
        order = json.dumps({"study": str(self._study), "store": str(self._url)})
        # The address of a store may hold a password, which every process here could read in a list of arguments.
        with subprocess.Popen(
            _ARGUMENTS, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE
        ) as process:
            self._process = process
            if self._stop.is_set():
                process.kill()
            _, errors = process.communicate(order.encode())
        if process.returncode and not self._stop.is_set():
            self._tell(errors.decode(errors="replace").strip())
        if process.returncode:
            return False
        self._written, self._was_told = there, ""
        return True

    def _state(self) -> Json:
        """Return what there is to make a board of: looks at it, which are entries of the ledger, change nothing."""
        rows = read_tables(self._url, ["ledger"])["ledger"]
        counts = {file: {**tables, "ledger": 0} for file, tables in live_counts(self._url).items()}
        return {"counts": counts, "changes": sum(row["kind"] == "condition" for row in rows)}

    def _tell(self, why: str) -> None:
        """Say in the log that the board cannot be written; once for each reason."""
        if why != self._was_told:
            _log.warning("the board could not be written, and is tried again: %s", why)
            self._was_told = why


def keeping_board(
    path: str | Path,
) -> Callable[[Study, str | Path, Callable[[], bool]], contextlib.AbstractContextManager[BoardCycle | None]]:
    """Return what keeps the board of a study file fresh beside a server, where the study asks for that."""

    @contextlib.contextmanager
    def beside(study: Study, url: str | Path, leads: Callable[[], bool]) -> Iterator[BoardCycle | None]:
        every = study.design.arena.board_every if study.design.arena is not None else None
        if every is None:
            yield None
            return
        cycle = BoardCycle(Path(path), url, every, leads)
        cycle.start()
        try:
            yield cycle
        finally:
            cycle.stop()

    return beside


def main() -> int:
    """Write the board of a study that is told by standard input; return the exit code."""
    from beholder.leaderboard.folder import update_board

    order = json.loads(sys.stdin.read())
    try:
        update_board(order["study"], store=order["store"])
    except BeholderError as error:
        sys.stderr.write(f"{error}\n")
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
