"""What the browser is served: the modules as they were written, without their comments."""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path

import pytest

import beholder
from beholder.methods import find, method_folder, names
from beholder.server.assets import Assets, without_comments

WEB = Path(beholder.__file__).parent / "web"


@pytest.mark.parametrize("name", names())
def test_every_line_of_code_is_served_as_it_was_written_under_its_own_number(name: str) -> None:
    for path, asset in Assets(find(name)).files.items():
        if not path.endswith((".js", ".css")):
            continue
        folder = method_folder(name) if path.startswith("methods/") else WEB
        source = (folder / (Path(path).name if folder != WEB else path)).read_text("utf-8").splitlines()
        served = asset.body.decode().splitlines()
        assert [line for line in served if line.strip()] == [
            line for place, line in enumerate(source) if place < len(served) and served[place].strip()
        ]
        assert not any(line.lstrip().startswith(("//", "/**")) and line.endswith("*/") for line in served)


def test_a_comment_inside_a_line_stays_and_whole_lines_go() -> None:
    text = "// why\nlet a = /** @type {B} */ (c); // here\n/** one\n *  two */\n/** @type {D} */ (e).f();\n/* g */\n"
    assert without_comments(text) == "\nlet a = /** @type {B} */ (c); // here\n\n\n/** @type {D} */ (e).f();\n\n"


@pytest.mark.skipif(shutil.which("node") is None, reason="needs node to parse the modules")
def test_what_is_served_still_parses() -> None:
    modules = {
        path: asset.body.decode() for path, asset in Assets(find("likert")).files.items() if path.endswith(".js")
    }
    parse = "for (const [identifier, text] of Object.entries(JSON.parse(require('fs').readFileSync(0)))) "
    parse += "new (require('vm').SourceTextModule)(text, { identifier })"
    command = ["node", "--no-warnings", "--experimental-vm-modules", "-e", parse]
    parsed = subprocess.run(command, input=json.dumps(modules), capture_output=True, text=True, check=False)
    assert (parsed.returncode, parsed.stderr) == (0, "")


def test_the_words_of_the_server_are_not_served() -> None:
    assert b'"server"' not in Assets(find("acr")).files["words/en.json"].body
