"""What every command shares: stages in the help, --json, --quiet, --open, and errors that say what was meant."""

from __future__ import annotations

import json
import logging
import sys
import traceback
import webbrowser
from collections.abc import Iterator
from pathlib import Path

import click
import pytest

from beholder.cli import cli
from beholder.cli.command import STAGES, CommandResult, StageCommand, plain_output, terminal
from support.commands import command

NO_JSON = {
    "schema": "it prints JSON as it is",
    "open": "it opens a page",
    "completion": "it prints a script",
}
NO_QUIET = NO_JSON | dict.fromkeys(
    (
        "monitor",
        "access list",
        "participants list",
        "participants show",
        "participants resume-link",
        "media probe",
        "examples list",
        "docs",
    ),
    "it only prints",
)


def commands(group: click.Group, before: str = "") -> Iterator[tuple[str, click.Command]]:
    for name, inner in group.commands.items():
        if isinstance(inner, click.Group):
            yield from commands(inner, f"{before}{name} ")
        else:
            yield f"{before}{name}", inner


COMMANDS = dict(commands(cli))


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_has_the_shared_options_or_a_reason(name: str) -> None:
    flags = {flag for parameter in COMMANDS[name].params for flag in parameter.opts}
    assert isinstance(COMMANDS[name], StageCommand)
    assert ("--json" in flags) is (name not in NO_JSON)
    assert ("--quiet" in flags) is (name not in NO_QUIET)


def test_the_help_lists_commands_by_stage_and_cuts_none_off(tmp_path: Path) -> None:
    text = command("--help", cwd=tmp_path).stdout
    places = [text.index(f"\n{heading}:\n") for heading in STAGES.values()]
    assert places == sorted(places)
    assert "..." not in text.partition("\nMake a study:")[2]
    for name, one in cli.commands.items():
        assert getattr(one, "stage", "") in STAGES, name
        assert f"\n  {name} " in text
    assert command(cwd=tmp_path).stdout == text, "beholder alone is help, and no error"


@pytest.mark.parametrize("name", [name for name in COMMANDS if name not in NO_JSON])
def test_with_json_an_error_is_one_document_on_stdout(name: str, tmp_path: Path) -> None:
    done = command(*name.split(), "--no-such-option", "--json", cwd=tmp_path)
    assert (done.returncode, done.stderr) == (2, "")
    (problem,) = json.loads(done.stdout)["problems"]
    assert problem.keys() == {"where", "what", "allowed", "fix"}
    assert (problem["where"], problem["what"]) == (f"beholder {name}", "has no option --no-such-option")


STUDY_COMMANDS = [
    name for name, one in COMMANDS.items()
    if name not in NO_JSON and any(parameter.name in ("study", "source") and not parameter.required
                                   for parameter in one.params)
]  # fmt: skip


@pytest.mark.parametrize("name", STUDY_COMMANDS)
def test_with_json_a_missing_study_is_a_document_too(name: str, tmp_path: Path) -> None:
    missing = "chain.yaml" if name == "chain" else "study.yaml"
    needed_by = {
        "participants show": ["p1"],
        "participants resume-link": ["p1"],
        "forget": ["r"],
        "access share": ["Board"],
        "access unblind": ["--by", "Ada", "--reason", "x"],
        "deploy exec": ["monitor"],
    }
    needed = needed_by.get(name, [])
    if name.startswith("participants ") and not needed and name != "participants list":
        needed = ["p1", "--reason", "x"]
    done = command(*name.split(), *needed, "--json", cwd=tmp_path)
    assert done.returncode == 2, done.stdout
    assert [problem["where"] for problem in json.loads(done.stdout)["problems"]] == [missing]


def test_quiet_prints_nothing_and_json_only_its_document(study: Path) -> None:
    done = command("check", "--quiet", cwd=study.parent)
    assert (done.returncode, done.stdout) == (0, "")
    checked = json.loads(command("check", "--json", cwd=study.parent).stdout)
    assert checked["conditions"]
    assert checked["warnings"] == []
    resolved = json.loads(command("check", "--json", "--resolved", cwd=study.parent).stdout)
    assert resolved["study"]["method"] == "parallel"
    planned = json.loads(command("plan", "--json", "-q", cwd=study.parent).stdout)
    assert planned["lists"]
    assert planned["balance"]


def test_an_answer_in_json_keeps_its_exit_code_and_a_page_is_opened(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    opened: list[str] = []

    def keep(link: str) -> bool:
        opened.append(link)
        return True

    monkeypatch.setattr(webbrowser, "open", keep)
    page = tmp_path / "page.html"

    @click.group()
    def group() -> None: ...

    @group.command(cls=StageCommand, has_open=True)
    def no() -> CommandResult:
        click.echo("No.")
        return CommandResult({"answer": "no"}, page, code=3)

    from click.testing import CliRunner

    done = CliRunner().invoke(group, ["no", "--json", "--open"])
    assert (done.exit_code, json.loads(done.stdout)) == (3, {"answer": "no"})
    assert opened == [page.as_uri()]
    assert CliRunner().invoke(group, ["no"]).stdout == "No.\n"
    assert len(opened) == 1


def test_without_a_browser_the_page_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "report").mkdir()
    page = tmp_path / "report" / "index.html"
    page.write_text("<p>a report", "utf-8")
    monkeypatch.setattr(webbrowser, "open", lambda link: False)
    done = command("open", cwd=tmp_path)
    assert done.returncode == 0
    assert done.stderr == f"There is no browser to open here. Look at it at {page.as_uri()}\n"


MEANT = {
    ("chekc",): "beholder  has no command chekc. Did you mean check?",
    ("REPORT",): "beholder  has no command REPORT. Did you mean report?",
    ("media", "Probe"): "beholder media  has no command Probe. Did you mean probe?",
    ("check", "--Resolved"): "beholder check  has no option --Resolved. Did you mean --resolved?",
    ("check", "--simulate"): "beholder check  has no option --simulate. --simulate is an option of `beholder run` and "
    "`beholder chain`.",
    ("open", "--quiet"): "beholder open  has no option --quiet. --quiet is an option of `beholder new`, "
    "`beholder import`, `beholder doctor`, `beholder check` and others.",
    ("check", "--xyz"): "beholder check  has no option --xyz. Allowed: --resolved, --make, --json, --quiet and --help.",
    ("export", "--format", "CSV"): "beholder export  --format is CSV. Allowed: csv, parquet or psych-ds. Did you mean "
    "csv?",
    ("serve", "--port", "x"): "beholder serve  --port is x. Allowed: a whole number, 0 to 65535.",
    ("run", "--every", "0"): "beholder run  --every is 0.0. Allowed: a number, 0.05 or more.",
    ("power", "--repetitions", "x"): "beholder power  --repetitions is x. Allowed: a whole number.",
    ("open", "Report"): "beholder open  PAGE is Report. Allowed: report, plan, power, metrics, dimensions, compare, "
    "board, preregistration, storyboard, preview or desk. Did you mean report?",
    ("forget",): "beholder forget  RECEIPT is missing. Write `beholder forget [OPTIONS] RECEIPT [STUDY]`; `--help` "
    "shows more.",
}  # fmt: skip


@pytest.mark.parametrize("arguments", MEANT, ids=" ".join)
def test_a_command_line_that_is_wrong_says_what_was_meant(arguments: tuple[str, ...], tmp_path: Path) -> None:
    done = command(*arguments, cwd=tmp_path)
    assert (done.returncode, done.stdout, done.stderr) == (2, "", f"{MEANT[arguments]}\n")


def test_an_unknown_command_far_from_all_lists_them(tmp_path: Path) -> None:
    said = command("xyzzy", cwd=tmp_path).stderr
    assert all(name in said for name in cli.commands)


def test_a_missing_page_says_what_writes_it(tmp_path: Path) -> None:
    said = command("open", "plan", cwd=tmp_path).stderr
    assert said == "plan/report/index.html  is not there. `beholder plan --report` writes it.\n"


HOSTILE = "\x1b]0;owned\x07\x1b[2J\x9b31m\r\u202egpj.exe"


def test_nothing_that_is_printed_steers_the_terminal(tmp_path: Path) -> None:
    """A name of a file that clears the screen, in a problem on stderr and in a document on stdout."""
    folder = tmp_path / "study"
    folder.mkdir()
    (folder / "study.yaml").write_text(json.dumps({"beholder": 1, f"tit{HOSTILE}le": "x"}), "utf-8")
    for arguments in (["check", "study"], ["check", "study", "--json"], [f"ch{HOSTILE}eck"]):
        ended = command(*arguments, cwd=tmp_path)
        assert ended.returncode == 2
        printed = ended.stdout + ended.stderr
        assert not set(printed) & {"\x1b", "\x07", "\x9b", "\r", "\u202e"}
        assert "\\u001b]0;owned\\u0007" in printed, "it is seen instead"
        if "--json" in arguments:
            assert HOSTILE in str(json.loads(ended.stdout)["problems"][0]["what"]), "a program reads what it is"


def test_what_is_logged_and_raised_does_not_steer_the_terminal(capsys: pytest.CaptureFixture[str]) -> None:
    with plain_output():
        assert logging.lastResort is not None, "the handler of a program that sets up none"
        logging.lastResort.emit(logging.makeLogRecord({"msg": "the store is away: %s", "args": (HOSTILE,)}))
        traceback.print_exception(ValueError(HOSTILE))
        terminal(sys.stdout).write("\r drawn")
    said = capsys.readouterr()
    assert "\x1b" not in said.err
    assert said.err.count("\\u001b]0;owned") == 2
    assert said.out == "\r drawn"
