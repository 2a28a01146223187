"""The page's player in Node, on a simulated clock: what it holds for watched, and the log that it writes."""

from __future__ import annotations

import json
import shutil
import subprocess
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

import beholder
from beholder.server.playback import COUNTING

DRIVER = Path(__file__).with_suffix(".mjs")
MEDIA = Path(beholder.__file__).parent / "web" / "media"


@dataclass
class PlayedPages:
    """One Node process that opens pages and counts logs."""

    process: subprocess.Popen[str]

    def visit(self, trial: dict[str, Any], doing: Sequence[Sequence[Any]], until: str = "") -> dict[str, Any]:
        """Return what the page holds for watched after a person did this, since when, and its log."""
        return self._ask({"trial": trial, "events": [], "doing": doing, "until": until})

    def count(self, trial: dict[str, Any], events: Sequence[Any], *, twice: bool = False) -> dict[str, bool]:
        """Return what a page that opens with this log holds for watched, or for watched twice."""
        answer = self._ask({"trial": trial, "events": events})
        counted: dict[str, bool] = answer["isTwice" if twice else "watched"]
        return counted

    def _ask(self, what: dict[str, Any]) -> dict[str, Any]:
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self.process.stdin.write(json.dumps(what) + "\n")
        self.process.stdin.flush()
        answer: dict[str, Any] = json.loads(self.process.stdout.readline())
        return answer


def shown_trial(lengths_ms: dict[str, int], medium: str = "audio", *, together: bool = False, **playback: Any) -> Any:
    """Return a trial as the page gets it, as far as the player reads it."""
    rules = {"watch": "whole", "switching": "restart", "loop": "off", "max_plays": None, "sound": "on", "skip": True}
    slots = [{"id": slot, "media": {"ms": ms, "medium": medium}} for slot, ms in lengths_ms.items()]
    return {"slots": slots, "together": together, "playback": {**rules, "whole": dict(COUNTING), **playback}}


@pytest.fixture(scope="module")
def pages(tmp_path_factory: pytest.TempPathFactory) -> Iterator[PlayedPages]:
    """The page's modules in Node; the test is skipped where there is none."""
    if shutil.which("node") is None:
        pytest.skip("needs node to run the modules")
    folder = tmp_path_factory.mktemp("media")
    (folder / "package.json").write_text('{"type": "module"}', "utf-8")
    for name in ("player.js", "watched.js"):
        shutil.copy(MEDIA / name, folder)
    command = ["node", str(DRIVER), str(folder)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        yield PlayedPages(process)
        assert process.stdin is not None
        process.stdin.close()
