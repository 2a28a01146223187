"""Every command with --json and with --quiet, on a study that people have taken: what is printed, and how it ends.

The names in a document are those that docs/commands.md promises; a command that is in no call here fails.
"""

from __future__ import annotations

import asyncio
import json
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import click
import pytest

from beholder.cli import cli
from beholder.store.open import open_store, read_rows
from beholder.testing import write_study
from support.commands import command
from support.data import ROOT
from support.taken_study import TAKEN_KEYS, TakenStudy
from support.variants import variant

CHAIN = "beholder: 1\nchain: alone\nbudget: 40.00 GBP\nstudies:\n  - study: made\n"
CLIPS = "stimuli/natural/greeting.mp4 stimuli/smooth/greeting.mp4"


class Call(NamedTuple):
    """A command as it is written, in the order in which they are called; {done}, {open} and {receipt} are people."""

    line: str
    code: int = 0
    is_long: bool = False
    """Whether only `make prove` calls it."""
    again: str = ""
    """Another line for --quiet, where the same one cannot be done twice."""


CALLS = (
    Call("new pair made", again="check"),
    Call("check"),
    Call("plan"),
    Call("preregister --late --why late"),
    Call("doctor"),
    Call("media probe stimuli/natural"),
    Call(f"media stack {CLIPS} --sound none --out stacked.mp4"),
    Call("media anchor stimuli/natural/greeting.mp4 --bitrate 20k --out anchors"),
    Call("media impair stimuli/natural/greeting.mp4 --out impaired", code=2),
    Call("media attention stimuli/natural/greeting.mp4 --out asking", code=2),
    Call("media trap stimuli/natural/greeting.mp4 --out traps", code=2),
    Call("media prepare stimuli/natural --out prepared"),
    Call("media upload", code=2),
    Call("examples list"),
    Call("examples copy reseval --folder theirs", again="examples copy reseval --folder other"),
    Call("examples run reseval --small --folder small", is_long=True),
    Call("power --participants 4 --repetitions 20 --methods none", is_long=True),
    Call("monitor"),
    Call("import stimuli imported", code=2),
    Call("participants list"),
    Call("participants show {done}"),
    Call("participants resume-link {open} --public-url https://lab.example.org"),
    Call("participants shut-out {open} --reason late", again="participants shut-out {done} --reason late --dry-run"),
    Call("participants let-in {open} --reason early", again="participants take-in {done} --reason fine"),
    Call("participants reset {open} --reason again --dry-run"),
    Call("participants release {open} --reason gone --dry-run"),
    Call("participants leave-out {done} --reason odd --dry-run"),
    Call("participants take-in {done} --reason fine"),
    Call("access add Ada --password four-words-are-fine"),
    Call("access share Board --until 2099-01-01", code=2, again="access share Board"),
    Call("access token nightly --scope now"),
    Call("access list"),
    Call("access revoke Ada", again="access revoke Nobody"),
    Call("access unblind --by Ada --reason done"),
    Call("backup key"),
    Call("backup now --to ../backups"),
    Call("backup list --to ../backups"),
    Call("restore ../backups ../restored", again="restore ../backups --list"),
    Call("clean"),
    Call("analyse"),
    Call("report", is_long=True),
    Call("export"),
    Call("bundle --out ../handed.zip"),
    Call("verify ../handed.zip", is_long=True),
    Call("rerun ../handed.zip ../again --new-people --stimuli stimuli", again="rerun ../handed.zip ../again", code=0),
    Call("better study.yaml natural smooth", code=4),
    Call("compare study.yaml study.yaml", is_long=True),
    Call("dimensions", code=2),
    Call("board", code=2),
    Call("arena --list", code=2),
    Call("metrics --metric psnr --jobs 1", is_long=True),
    Call("extend --dry-run"),
    Call("launch --dry-run"),
    Call("decide"),
    Call("decide --sign Ann"),
    Call("pay --send"),
    Call("pay --paid"),
    Call("participants release {open} --reason gone", again="participants take-in {done} --reason fine"),
    Call("close"),
    Call("purge --dry-run"),
    Call("forget {receipt}", again="purge --dry-run"),
    Call("run --simulate --participants 4", is_long=True),
    Call("simulate --participants 4", is_long=True),
    Call("chain chain.yaml --simulate", is_long=True),
    Call("words --language de", again="words"),
    Call("docs --print attention"),
    Call("demo pair --exit --port 0 --folder shown", is_long=True),
)  # fmt: skip
SERVING = ("serve", "preview", "desk")
WITHOUT = {"schema", "open", "completion"}
REMOTE = {f"deploy {verb}" for verb in ("up", "status", "logs", "pull", "exec", "down", "container", "cloud-init")}
"""What is for a machine elsewhere: tests/end_to_end/test_deploy.py and tests/unit/deployment call them."""


def commands(group: click.Group, before: str = "") -> Iterator[tuple[str, click.Command]]:
    for name, inner in group.commands.items():
        if isinstance(inner, click.Group):
            yield from commands(inner, f"{before}{name} ")
        else:
            yield f"{before}{name}", inner


COMMANDS = dict(commands(cli))


def name_of(line: str) -> str:
    return max((name for name in COMMANDS if f"{line} ".startswith(f"{name} ")), key=len)


def promised() -> dict[str, set[str]]:
    """Return the names in the document of each command, as docs/commands.md has them."""
    text = (ROOT / "docs" / "commands.md").read_text("utf-8").partition("<!-- made: commands -->")[0]
    rows = re.findall(r"^\| ((?:`[a-z -]+`(?:, )?)+) \| (.*) \|$", text, re.MULTILINE)
    return {
        name: set(re.findall(r"`(\w+)`", keys)) for names, keys in rows for name in re.findall(r"`([a-z -]+)`", names)
    }


def test_every_command_is_called() -> None:
    called = {name_of(call.line) for call in CALLS} | {*SERVING} | WITHOUT | REMOTE
    assert set(COMMANDS) - called == set()
    assert set(promised()) == set(COMMANDS) - WITHOUT - REMOTE


@pytest.mark.long
def test_stdout_is_one_document_with_the_promised_names_and_quiet_is_quiet(
    taken: TakenStudy, whole: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder, people = taken
    monkeypatch.setenv("XDG_CONFIG_HOME", str(folder.parent / "config"))
    (folder / "chain.yaml").write_text(CHAIN, "utf-8")
    names = promised()
    ends = asyncio.run(_receipts(folder))
    for call in CALLS:
        if call.is_long and not whole:
            continue
        name = name_of(call.line)
        line = call.line.format(**people, receipt=ends[0])
        done = command(*line.split(), "--json", cwd=folder)
        document = json.loads(done.stdout)
        assert done.returncode == call.code, f"{line}: {document}"
        found = set(document) - {"problems"}
        assert found <= names[name], line
        assert ("problems" in document) is (done.returncode == 2), line
        assert found == names[name] or (done.returncode == 2 and not found), line
        assert numbers_as_text(document) == [], line
        if any("--quiet" in parameter.opts for parameter in COMMANDS[name].params) and not call.is_long:
            line = (call.again or call.line).format(**people, receipt=ends[0])
            done = command(*line.split(), "--quiet", cwd=folder)
            assert done.stdout == "", line
            assert done.returncode == 2 or all(said.startswith("Warning: ") for said in done.stderr.splitlines()), line


def numbers_as_text(value: object, where: str = "") -> list[str]:
    """Return the places in a document at which a number is written as text; an id may be made of digits by chance."""
    if isinstance(value, dict):
        inside = [(key, inner) for key, inner in value.items() if key != "id"]
        return [place for key, inner in inside for place in numbers_as_text(inner, f"{where}.{key}")]
    if isinstance(value, list):
        return [place for inner in value for place in numbers_as_text(inner, where)]
    return [where] if isinstance(value, str) and re.fullmatch(r"-?\d+(\.\d+)?", value) else []


async def _receipts(folder: Path) -> list[str]:
    async with open_store(folder / "store", write=False) as store:
        return [str(row["receipt"]) for row in await read_rows(store, "ends")]


@pytest.mark.parametrize("name", [SERVING[0], SERVING[2], variant(SERVING[1])])
def test_what_serves_prints_its_links_as_a_document_and_goes_on(
    name: str, tmp_path: Path, tiny: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    folder = write_study(tmp_path / "study", tiny, **TAKEN_KEYS).parent
    words = [sys.executable, "-m", "beholder", name, "--json", "--port", "0"]
    with subprocess.Popen(words, cwd=folder, stdout=subprocess.PIPE, text=True, encoding="utf-8") as served:
        assert served.stdout is not None
        text = ""
        for line in served.stdout:
            text += line
            if line == "}\n":
                break
        document = json.loads(text)
        assert served.poll() is None
        assert set(document) == promised()[name]
        link = document["link" if name == "desk" else "preview_link"]
        assert link.startswith(("http://127.0.0.1:", "http://localhost:"))
        # Not SIGINT: what is started in the background of a shell does not get it.
        served.terminate()
        assert served.stdout.read() == ""
