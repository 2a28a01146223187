"""Deliberate mistakes of a newcomer, and the message that each gets: the table of docs/mistakes.md.

Every mistake is made on a small study of texts, in a folder of its own, by the command line itself.
"""

from __future__ import annotations

import io
import os
import sys
import tempfile
from collections.abc import Iterator
from contextlib import chdir, contextmanager, redirect_stderr, redirect_stdout
from pathlib import Path
from typing import NamedTuple
from unittest.mock import patch

from beholder.cli import main

STUDY = """\
beholder: 1
name: wording
title: Which wording is better?
method: acr
stimuli: stimuli
conditions: [short, long]
questions:
  - {id: quality, text: How good is it?, scale: acr5}
design: {participants: 4, trials: 2}
contact: lab@example.org
"""
_FILES = {
    f"stimuli/{condition}/{content}.txt": f"{condition} words about {content}"
    for condition in ("short", "long")
    for content in ("city", "river")
}


class Mistake(NamedTuple):
    """What is done wrong: a line of study.yaml in place of another, a file, or only the command."""

    what: str
    command: str = "check"
    old: str = ""
    new: str = ""
    files: dict[str, str] = {}  # noqa: RUF012 - never changed
    """Files written besides, by name."""


MISTAKES = (
    Mistake("a misspelt command", "chekc"),
    Mistake("a command in capitals", "CHECK"),
    Mistake("an option of another command", "check --simulate"),
    Mistake("a misspelt option", "run --simulat"),
    Mistake("no method", "new"),
    Mistake("a method in capitals", "new MUSHRA sounds"),
    Mistake("a folder that is full", "new acr stimuli"),
    Mistake("a port that is no number", "serve --port eighty"),
    Mistake("another file than the study", "check studdy.yaml"),
    Mistake("one condition where two are compared", "better study.yaml short"),
    Mistake("a page that nothing has written", "open power"),
    Mistake("people are looked at before anybody came", "monitor"),
    Mistake("a misspelt method", old="method: acr", new="method: arc"),
    Mistake("a method in capitals in the file", old="method: acr", new="method: ACR"),
    Mistake("a misspelt key", old="method: acr", new="metod: acr"),
    Mistake("a key in capitals", old="title:", new="Title:"),
    Mistake("a key at the wrong depth", old="contact:", new="participants: 4\ncontact:"),
    Mistake("a key that there is not", old="contact:", new="logo: acme.png\ncontact:"),
    Mistake("the same key twice", old="contact:", new="title: Again\ncontact:"),
    Mistake("yes for true", old="contact:", new="playback: {fullscreen: yes}\ncontact:"),
    Mistake("a value in capitals", old="contact:", new="playback: {watch: Whole}\ncontact:"),
    Mistake("a word for a number", old="participants: 4", new="participants: four"),
    Mistake("a number out of range", old="participants: 4", new="participants: 0"),
    Mistake("more trials than contents", old="trials: 2", new="trials: 9, contents: once"),
    Mistake("a scale that there is not", old="scale: acr5", new="scale: ACR7"),
    Mistake("a question without an id", old="id: quality, ", new=""),
    Mistake("a condition in capitals", old="[short, long]", new="[Short, long]"),
    Mistake("a folder that is not there", old="stimuli: stimuli", new="stimuli: Stimulus"),
    Mistake("a tab in the file", old="design:", new="\tdesign:"),
    Mistake("a bracket left open", old="[short, long]", new="[short, long"),
    Mistake("an amount without a currency", old="contact:", new="recruit: {mode: link, reward: 2}\ncontact:"),
    Mistake("a text that is not there", old="contact:", new="texts: {consent: Consent.md}\ncontact:",
            files={"consent.md": "I agree."}),
    Mistake("an empty stimulus", files={"stimuli/short/city.txt": ""}),
    Mistake("an id with a space", old="id: quality", new="id: The Quality"),
    Mistake("a day in words", old="contact:", new="retention: {answers: next year}\ncontact:"),
    Mistake("nothing in the file", old=STUDY, new="# later\n"),
    Mistake("a list in place of keys", old=STUDY, new="[acr, stimuli]\n"),
    Mistake("a name with a space", old="name: wording", new="name: My study"),
    Mistake("a method that nobody has", old="method: acr", new="method: thermometer"),
    Mistake("a scale of another method", old="method: acr", new="method: dcr"),
    Mistake("an option of another method", old="contact:", new="options: {anchors: [lowpass-3500]}\ncontact:"),
    Mistake("a misspelt preset", old="contact:", new="preset: p911\ncontact:"),
    Mistake("a misspelt check", old="contact:", new="checks: {trapp: true}\ncontact:"),
    Mistake("gold without gold stimuli", old="contact:", new="checks: {gold: true}\ncontact:"),
    Mistake("a check that has no room", old="contact:", new="checks: {repeat: {per_session: 9}}\ncontact:"),
    Mistake("people and votes", old="participants: 4", new="participants: 4, votes: 4"),
    Mistake("sessions that do not fit", old="trials: 2}", new="trials: 2, sessions_per_participant: 9}"),
    Mistake("the same id twice", old="  - {id: quality,", new="  - {id: quality, text: Again?}\n  - {id: quality,"),
    Mistake("the same condition twice", old="[short, long]", new="[short, short]"),
    Mistake("a path out of the folder", old="contact:", new="texts: {consent: ../consent.md}\ncontact:"),
    Mistake("a right answer that is no option", old="contact:",
            new="before: [{id: job, text: Your job?, type: single, options: [a, b], correct: [c]}]\ncontact:"),
    Mistake("a misspelt type of question", old="contact:",
            new="before: [{id: age, text: Your age, type: numbr}]\ncontact:"),
    Mistake("a language without our words", old="contact:", new="language: xx\ncontact:"),
    Mistake("Prolific without a reward", old="contact:", new="recruit: {mode: prolific}\ncontact:"),
    Mistake("closes before it opens", old="contact:",
            new="recruit: {mode: link, opens: 2027-02-01, closes: 2027-01-01}\ncontact:"),
    Mistake("a column that is missing", old="stimuli: stimuli", new="stimuli: {manifest: files.csv}",
            files={"files.csv": "file,kondition\nstimuli/short/city.txt,short\n"}),
    Mistake("a picture that is none", files={"stimuli/short/city.png": "no picture"}),
    Mistake("a number with a comma", old="participants: 4", new="participants: 1,000"),
    Mistake("a word in place of keys", old="contact:", new="recruit: prolific\ncontact:"),
    Mistake("the name of a check alone", old="contact:", new="checks: attention\ncontact:"),
    Mistake("one word where a list is meant", old="contact:",
            new="before: [{id: job, text: Your job?, type: single, options: [a, b], correct: a}]\ncontact:"),
    Mistake("a question with one option", old="contact:",
            new="before: [{id: job, text: Your job?, type: single, options: [a]}]\ncontact:"),
    Mistake("a consent in another kind of file", old="contact:", new="texts: {consent: consent.txt}\ncontact:",
            files={"consent.txt": "I agree."}),
    Mistake("a scale for a method without", old="method: acr", new="method: transcribe"),
    Mistake("a scale upside down", old="scale: acr5", new="scale: {min: 5, max: 1}"),
    Mistake("an absolute path", old="stimuli: stimuli", new="stimuli: /data/stimuli"),
    Mistake("a seed below zero", old="trials: 2}", new="trials: 2, seed: -1}"),
    Mistake("two studies at once", "check study.yaml other.yaml"),
    Mistake("a format that there is not", "export --format xls"),
    Mistake("a kind of robot that there is not", "simulate --participants 4 --raters nobody"),
    Mistake("a misspelt metric", "metrics --metric PSNRR"),
    Mistake("results before anybody came", "compare study.yaml"),
    Mistake("Prolific without token, address and server", "launch", old="contact:",
            new="recruit: {mode: prolific, reward: 2.00 GBP, minutes: 10}\ncontact:"),
)  # fmt: skip


def mistake_table() -> str:
    """Return every mistake with the command and what it is answered with."""
    lines = ["| mistake | in study.yaml, or the command | message |", "| --- | --- | --- |"]
    for mistake in MISTAKES:
        made = mistake.new.removesuffix(f"\n{mistake.old}") if mistake.new else f"without `{mistake.old.strip(', ')}`"
        shown = f"`{made.strip()}`" if mistake.new else made if mistake.old else ""
        if mistake.command != "check":
            shown = f"`beholder {mistake.command}`" + (f" with {shown}" if shown else "")
        elif not shown:
            shown = ", ".join(f"`{name}`" for name in mistake.files)
        message = "<br>".join(map(_code, answer(mistake).splitlines()))
        lines.append(f"| {mistake.what} | {shown} | {message} |")
    return "\n".join(lines)


def answer(mistake: Mistake) -> str:
    """Return what the command line says to a mistake; raise AssertionError where it does not refuse it."""
    with tempfile.TemporaryDirectory(prefix="beholder-mistake-") as name:
        folder = Path(name).resolve()
        for file, text in {"study.yaml": _with(mistake), **_FILES, **mistake.files}.items():
            (folder / file).parent.mkdir(parents=True, exist_ok=True)
            (folder / file).write_text(text, "utf-8", newline="\n")
        with _caught(folder, mistake.command) as (codes, err):
            main()
        assert codes == [2], f"{mistake.what}: {codes}"
        return err.getvalue().replace(f"{folder}{os.sep}", "").strip()


def _with(mistake: Mistake) -> str:
    assert mistake.old in STUDY, mistake.what
    return STUDY.replace(mistake.old, mistake.new, 1) if mistake.old else STUDY


@contextmanager
def _caught(folder: Path, command: str) -> Iterator[tuple[list[int], io.StringIO]]:
    """Run as `beholder COMMAND` in a folder, without the token of an account, and catch its code and its messages."""
    codes: list[int] = []
    err = io.StringIO()
    environment = {name: value for name, value in os.environ.items() if name != "PROLIFIC_TOKEN"}
    with (
        chdir(folder), redirect_stdout(io.StringIO()), redirect_stderr(err),
        patch.object(sys, "argv", ["beholder", *command.split()]), patch.dict(os.environ, environment, clear=True),
    ):  # fmt: skip
        try:
            yield codes, err
        except SystemExit as end:
            codes.append(int(end.code or 0))


def _code(line: str) -> str:
    """Return a line as code in a table cell of Markdown, also where it quotes code itself."""
    text = line.replace("|", "\\|")
    return f"`` {text} ``" if "`" in text else f"`{text}`"
