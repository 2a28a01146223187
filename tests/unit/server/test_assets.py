"""What the browser is served: the modules as they were written, without their comments."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from pathlib import Path

import pytest

import beholder
from beholder.methods import find, load_study, method_folder, names
from beholder.server.assets import BUNDLE, Assets, bundle_modules, without_comments
from beholder.testing import write_study

WEB = Path(beholder.__file__).parent / "web"
STYLES = "style/first.css"
FROM_BUNDLE = re.compile(r'^import { modules } from "[./]*/bundle.js"; ')
IMPORT = re.compile(r"^import {[^}]*} from .*;$", re.MULTILINE)


@pytest.mark.parametrize("name", names())
def test_every_line_of_code_is_served_as_it_was_written_under_its_own_number(name: str) -> None:
    files = Assets(find(name)).files
    bundle = files[BUNDLE].body.decode()
    for path, asset in files.items():
        if not path.endswith((".js", ".css")) or path in (BUNDLE, STYLES):
            continue
        folder = method_folder(name) if path.startswith("methods/") else WEB
        source = (folder / (Path(path).name if folder != WEB else path)).read_text("utf-8").splitlines()
        served = FROM_BUNDLE.sub("", asset.body.decode()).splitlines()
        if f'modules["{path}"] = ' in bundle:
            continue
        assert [line for line in served if line.strip() and "= modules[" not in line] == [
            line
            for place, line in enumerate(source)
            if place < len(served) and served[place].strip() and "= modules[" not in served[place]
        ]
        assert not any(line.lstrip().startswith(("//", "/**")) and line.endswith("*/") for line in served)


def test_what_the_page_starts_with_is_in_one_file_and_line_for_line_as_it_was_written() -> None:
    files = Assets(find("acr")).files
    bundle = files[BUNDLE].body.decode()
    paths = re.findall(r'^modules\["(.*)"\] = ', bundle, re.MULTILINE)
    assert {"element.js", "stage/stage.js", "steps/trial.js", "frame/frame.js"} <= set(paths)
    for path in paths:
        text = IMPORT.sub("", without_comments((WEB / path).read_text("utf-8")))
        lines = [line.removeprefix("export ") for line in text.splitlines() if line.strip()]
        part = bundle.partition(f'modules["{path}"] = ')[2].partition("\n})();")[0].splitlines()
        assert [line for line in lines if line not in part and "import" not in line] == []
        assert part.index(lines[0]) < part.index(lines[-1])


def test_the_page_asks_for_one_style_sheet_and_two_scripts(tmp_path: Path, tiny: Path) -> None:
    assets = Assets(find("acr"))
    page = assets.page(load_study(write_study(tmp_path, tiny))).body.decode()
    asked = re.findall(rf'(?:href|src)="/web/{assets.hash}/([^"]*)"', page)
    assert asked == ["mark.svg", STYLES, BUNDLE, "run.js"]
    assert set(asked) <= set(assets.files)
    sheets = re.findall(r'href="{{web}}/(style/.*)"', (WEB / "index.html").read_text("utf-8"))
    assert len(sheets) > 5
    assert assets.files[STYLES].body == b"\n".join(assets.files[sheet].body for sheet in sheets)


def test_there_is_something_to_read_before_any_script_has_come_and_without_scripts_at_all(
    tmp_path: Path, tiny: Path
) -> None:
    study = load_study(write_study(tmp_path / "one", tiny, title="Braces {{contact}} & <b>", contact="lab@example.org"))
    assets = Assets(find("acr"))
    for page in (assets.page(study), assets.standalone(study, "forget.js", "steps")):
        body = page.body.decode().partition("<body>")[2]
        assert "<b>Braces {{contact}} &amp; &lt;b&gt;</b>" in body
        assert "The study is loading. If nothing has changed after a minute, please reload this page." in body
        assert "<noscript><p>This study needs JavaScript. Please allow it for this page, or open" in body
        assert 'Questions about this study: <a href="mailto:lab@example.org">lab@example.org</a>' in body
    assert "{{" not in assets.page(load_study(write_study(tmp_path / "alone", tiny, contact=None))).body.decode()


def test_a_notice_tells_something_in_the_look_of_the_study_without_a_script(tmp_path: Path, tiny: Path) -> None:
    study = load_study(write_study(tmp_path, tiny, contact="https://lab.example.org/who"))
    assets = Assets(find("acr"))
    page = assets.notice(study, "This address leads nowhere", "a < b", leads_to_study=True).body.decode()
    assert "<h1>This address leads nowhere</h1><p>a &lt; b</p>" in page
    assert f'href="/web/{assets.hash}/{STYLES}"' in page
    assert '<a class="button" href="/s/tiny">Go to the study</a>' in page
    assert '<a href="https://lab.example.org/who">https://lab.example.org/who</a>' in page
    assert "<script" not in page
    assert "{{" not in page
    assert "Go to the study" not in assets.notice(study, "Please try again in a moment", "").body.decode()


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


MODULES = {
    "run.js": """
import { box, Round } from "./kit/box.js";
import { say as tell } from "./say.js";
tell(await box());
const { late } = await import("./kit/late.js");
tell(late(), new Round().name, box.count);
""",
    "say.js": """
export const said = [];
export function say(...words) { said.push(words); console.log(...words); }
""",
    "kit/box.js": """
import {
  say,
  said,
} from "../say.js";
say("once");
export class Round { name = "round"; }
export async function box() {
  const name = "other";
  const { other } = await import(`../${name}.js`);
  box.count = said.length;
  return `${other} ${new URL("./x", import.meta.url).pathname.split("/").slice(-2).join("/")}`;
}
""",
    "kit/late.js": """
import { box } from "./box.js";
import { stranger } from "../stranger.js";
export const late = () => `late ${box.count} ${stranger}`;
""",
    "stranger.js": """
import * as boxes from "./kit/box.js"
export const stranger = Object.keys(boxes).sort();
""",
    "other.js": """
export const other = "other";
""",
}


def test_the_modules_of_the_start_are_in_one_file_after_what_they_need() -> None:
    made = bundle_modules(MODULES, "run.js")
    assert sorted(made) == sorted([*MODULES, BUNDLE])
    assert made[BUNDLE].index('modules["say.js"] =') < made[BUNDLE].index('modules["kit/box.js"] =')
    assert "late" not in made[BUNDLE]
    assert "tell(await box())" not in made[BUNDLE]


def test_a_module_outside_keeps_its_line_numbers_and_takes_from_the_bundle() -> None:
    made = bundle_modules(MODULES, "run.js")
    source, served = MODULES["kit/late.js"].splitlines(), made["kit/late.js"].splitlines()
    assert served[0] == 'import { modules } from "../bundle.js"; '
    assert served[1] == 'const { box } = modules["kit/box.js"];'
    assert served[2:] == source[2:]
    assert made["other.js"] == MODULES["other.js"]


def test_a_stranger_who_imports_in_another_way_gets_what_is_in_the_bundle() -> None:
    made = bundle_modules(MODULES, "run.js")
    assert made["stranger.js"] == MODULES["stranger.js"]
    assert made["kit/box.js"].endswith('export const { Round, box } = modules["kit/box.js"];\n')


@pytest.mark.skipif(shutil.which("node") is None, reason="needs node to run the modules")
def test_bundled_modules_do_what_they_did_apart_and_each_runs_once(tmp_path: Path) -> None:
    told = []
    for name, modules in {"apart": MODULES, "together": bundle_modules(MODULES, "run.js")}.items():
        for path, text in {**modules, "package.json": '{"type": "module"}'}.items():
            (tmp_path / name / path).parent.mkdir(parents=True, exist_ok=True)
            (tmp_path / name / path).write_text(text, "utf-8")
        command = ["node", str(tmp_path / name / "run.js")]
        told.append(subprocess.run(command, capture_output=True, text=True, check=True).stdout)
    assert told[0] == told[1] == "once\nother kit/x\nlate 1 Round,box round 1\n"


@pytest.mark.parametrize("line", ["export default 3;", "export const { a } = b;", 'import "./say.js";', "await 1;"])
def test_what_cannot_be_in_a_function_is_named(line: str) -> None:
    with pytest.raises(ValueError, match=r"^kit/box\.js cannot be in the bundle: ") as caught:
        bundle_modules({**MODULES, "kit/box.js": f"{line}\n"}, "run.js")
    assert str(caught.value).endswith(line)


def test_modules_in_a_circle_are_named() -> None:
    sources = {"a.js": 'import { b } from "./b.js";', "b.js": 'import { a } from "./a.js";'}
    with pytest.raises(ValueError, match=r"^modules import each other: a\.js -> b\.js -> a\.js$"):
        bundle_modules(sources, "a.js")
