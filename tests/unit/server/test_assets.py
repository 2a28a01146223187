"""What the browser is served: the modules as they were written, without their comments."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from pathlib import Path

import pytest

import beholder
from beholder.checks.page_registry import page_checks
from beholder.methods import find, load_study, method_folder, names
from beholder.server.assets import Assets, without_comments
from beholder.testing import write_study
from support.data import ROOT

WEB = Path(beholder.__file__).parent / "web"
STYLES = "bundle/first.css"
FROM_BUNDLES = re.compile(r'^(?:import (?:{ modules } from )?"[./]*/bundle/\w+\.js"; )+')
SECTION = re.compile(r'^modules\["(.*)"\] = ', re.MULTILINE)


def bundles(assets: Assets) -> dict[str, list[str]]:
    """Return the modules in each bundle."""
    return {
        Path(path).stem: SECTION.findall(asset.body.decode())
        for path, asset in assets.files.items()
        if path.startswith("bundle/") and path.endswith(".js")
    }


def test_every_line_outside_of_bundles_is_served_as_it_was_written_under_its_own_number() -> None:
    assets = Assets(find("acr"))
    inside = {module for modules in bundles(assets).values() for module in modules}
    looked_at = 0
    for path, asset in assets.files.items():
        if not path.endswith((".js", ".css")) or path.startswith("bundle/") or path in inside:
            continue
        source = (WEB / path).read_text("utf-8").splitlines()
        served = FROM_BUNDLES.sub("", asset.body.decode()).splitlines()
        assert [line for line in served if line.strip() and "= modules[" not in line] == [
            line
            for place, line in enumerate(source)
            if place < len(served) and served[place].strip() and "= modules[" not in served[place]
        ]
        assert not any(line.lstrip().startswith(("//", "/**")) and line.endswith("*/") for line in served)
        looked_at += 1
    assert looked_at > 30


@pytest.mark.parametrize("name", names())
def test_every_method_of_ours_is_in_one_file_with_what_it_draws_with_line_for_line(name: str) -> None:
    assets = Assets(find(name), media=["video"])
    made = bundles(assets)
    assert {"element.js", "steps/consent.js", "frame/frame.js", "words/en.js"} <= set(made["page"])
    assert {f"methods/{name}/view.js", "media/tracks/video.js", "steps/trial.js", "steps/end.js"} <= set(made["rating"])
    assert any(path.startswith("stage/") for path in made["rating"])
    written = assets.files["bundle/rating.js"].body.decode()
    for path in set(made["rating"]) - {"sheets.js"}:  # which the server writes
        source = method_folder(name) / "view.js" if path.startswith("methods/") else WEB / path
        text = re.sub(r"^import {[^}]*} from .*;$", "", without_comments(source.read_text("utf-8")), flags=re.MULTILINE)
        lines = [re.sub("^export (default )?", "", line) for line in text.splitlines() if line.strip()]
        part = written.partition(f'modules["{path}"] = ')[2].partition("\n})();")[0].splitlines()
        assert [line for line in lines if line not in part and "import" not in line] == []
        assert part.index(lines[0]) <= part.index(lines[-1])


def test_what_a_call_of_the_stage_needs_is_found_through_what_it_calls_itself() -> None:
    rating = bundles(Assets(find("pair"), media=["audio", "text"]))["rating"]
    assert {"stage/compare.js", "stage/showcase.js", "stage/theatre.js"} <= set(rating)
    assert {"media/tracks/audio.js", "media/tracks/still.js"} <= set(rating)
    assert not {"stage/board.js", "stage/survey.js", "media/tracks/video.js"} & set(rating)


def test_checks_of_a_study_come_together_with_their_style_sheets(tmp_path: Path, tiny: Path) -> None:
    study = load_study(write_study(tmp_path, tiny, qualification={"colour": True, "sides": True}))
    assets = Assets(find("parallel"), page_checks(study))
    assert {"checks/colour/page.js", "checks/sides/page.js", "steps/check.js"} <= set(bundles(assets)["checks"])
    assert "checks/card/page.js" not in assets.files
    sheets = json.loads(assets.files["bundle/rating.js"].body.decode().split("const sheets = ")[1].split(";")[0])
    assert sheets["vision"] == sheets["checks"] == "./bundle/checks.css"
    assert assets.files["style/vision.css"].body in assets.files["bundle/checks.css"].body


def test_the_view_of_somebody_else_stays_a_file_of_its_own_and_what_it_calls_comes_together(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.syspath_prepend(ROOT / "tests" / "third_party")
    assets = Assets(find("thumbs"), media=["video"])
    made = bundles(assets)
    assert "methods/thumbs/view.js" not in {module for modules in made.values() for module in modules}
    assert (
        assets.files["methods/thumbs/view.js"].body.decode().lstrip().startswith("export default async function thumbs")
    )
    assert "stage/theatre.js" in made["rating"]


def test_the_page_asks_for_one_style_sheet_and_one_script(tmp_path: Path, tiny: Path) -> None:
    assets = Assets(find("acr"))
    page = assets.page(load_study(write_study(tmp_path, tiny))).body.decode()
    asked = re.findall(rf'(?:href|src)="/web/{assets.hash}/([^"]*)"', page)
    assert asked == ["mark.svg", STYLES, "bundle/page.js"]
    assert set(asked) <= set(assets.files)
    sheets = re.findall(r'href="{{web}}/(style/.*)"', (WEB / "index.html").read_text("utf-8"))
    assert len(sheets) > 5
    assert assets.files[STYLES].body == b"\n".join(assets.files[sheet].body for sheet in sheets)


def test_pages_beside_that_of_the_study_come_alone(tmp_path: Path, tiny: Path) -> None:
    assets = Assets(find("acr"))
    page = assets.standalone(load_study(write_study(tmp_path, tiny)), "forget", "steps").body.decode()
    assert f'src="/web/{assets.hash}/bundle/forget.js"' in page
    for name in ("forget", "operator"):
        text = assets.files[f"bundle/{name}.js"].body.decode()
        assert not re.search(r"\bimport ?[({]", text), "it would start the page of the study"
        assert 'modules["words/en.js"]' in text
    assert not {"run.js", "forget.js", "kiosk/operator.js"} & set(assets.files)


def test_there_is_something_to_read_before_any_script_has_come_and_without_scripts_at_all(
    tmp_path: Path, tiny: Path
) -> None:
    study = load_study(write_study(tmp_path / "one", tiny, title="Braces {{contact}} & <b>", contact="lab@example.org"))
    assets = Assets(find("acr"))
    for page in (assets.page(study), assets.standalone(study, "forget", "steps")):
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
        path: asset.body.decode()
        for path, asset in Assets(find("likert"), media=["video"]).files.items()
        if path.endswith(".js")
    }
    parse = "for (const [identifier, text] of Object.entries(JSON.parse(require('fs').readFileSync(0)))) "
    parse += "new (require('vm').SourceTextModule)(text, { identifier })"
    command = ["node", "--no-warnings", "--experimental-vm-modules", "-e", parse]
    parsed = subprocess.run(command, input=json.dumps(modules), capture_output=True, text=True, check=False)
    assert (parsed.returncode, parsed.stderr) == (0, "")


def test_the_words_of_the_server_are_not_served() -> None:
    assets = Assets(find("acr"))
    assert "words/en.json" not in assets.files
    assert b"page_loading" not in b"".join(asset.body for asset in assets.files.values())
    assert b'"consent.' in assets.files["bundle/page.js"].body
