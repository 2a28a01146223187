"""Modules that are sent together do what they do apart."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from beholder.server.page_bundles import PageModules, bundle_modules, needed_modules

MODULES = {
    "run.js": """
import { box, Round } from "./kit/box.js";
import { say as tell } from "./say.js";
void start();
async function start() {
  tell(await box());
  const { late } = await import("./kit/late.js");
  tell(late(), new Round().name, box.count);
  const view = await import("./views/view.js");
  tell(view.default(), view.size, (await import("./views/plain.js")).plain);
}
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
    "views/view.js": """
import { small } from "./small.js";
export default function view() { return small("view"); }
export const size = 2;
""",
    "views/small.js": """
import { say } from "../say.js";
say("small once");
export const small = (text) => `small ${text}`;
""",
    "views/plain.js": """
import { small } from "./small.js";
import whole from "./view.js";
export const plain = `${small("plain")} ${whole()}`;
""",
    "aside.js": """
import { say } from "./say.js";
say(await_words("aside"));
function await_words(text) { return text; }
""",
    "other.js": """
export const other = "other";
""",
}


PAGE = PageModules("page", "run.js", ("other.js",), {"rating": ["views/view.js"]})
ASIDE = PageModules("aside", "aside.js")


def test_the_modules_of_the_start_are_in_one_file_after_what_they_need_and_the_page_runs_last() -> None:
    made = bundle_modules(MODULES, PAGE, ASIDE)
    bundles = {"bundle/page.js", "bundle/rating.js", "bundle/aside.js"}
    assert set(made) == {*MODULES, *bundles} - {"run.js", "aside.js"}
    page = made["bundle/page.js"]
    assert page.index('modules["say.js"] =') < page.index('modules["kit/box.js"] =') < page.index("void start();")
    assert 'later("kit/late.js")' in page
    assert '"late ' not in page
    assert 'modules["views/small.js"] =' not in page


def test_a_part_takes_from_the_page_what_is_there_and_has_the_rest() -> None:
    part = bundle_modules(MODULES, PAGE)["bundle/rating.js"]
    assert part.startswith('import { later, modules } from "./page.js";\nexport { modules };\n')
    assert part.index('modules["views/small.js"] =') < part.index('modules["views/view.js"] =')
    assert 'modules["say.js"] =' not in part
    assert "return { default: view, size };" in part


def test_a_part_that_comes_first_brings_the_part_that_holds_what_it_needs() -> None:
    tick = 'import { small } from "./small.js";\nexport const tick = small("tick");\n'
    page = PageModules("page", "run.js", ("other.js",), {"rating": ["views/view.js"], "checks": ["views/tick.js"]})
    part = bundle_modules({**MODULES, "views/tick.js": tick}, page)["bundle/checks.js"]
    assert 'import "./rating.js";\n' in part
    assert 'modules["views/small.js"] =' not in part


def test_a_module_outside_keeps_its_line_numbers_and_takes_from_the_bundles() -> None:
    made = bundle_modules(MODULES, PAGE)
    source, served = MODULES["kit/late.js"].splitlines(), made["kit/late.js"].splitlines()
    assert served[0] == 'import { modules } from "../bundle/page.js"; '
    assert served[1] == 'const { box } = modules["kit/box.js"];'
    assert served[2:] == source[2:]
    assert made["views/plain.js"].splitlines()[0] == 'import { modules } from "../bundle/rating.js"; '
    assert "views/plain.js" not in made["bundle/rating.js"]


def test_a_stranger_who_imports_in_another_way_gets_what_is_in_a_bundle() -> None:
    made = bundle_modules(MODULES, PAGE)
    assert made["stranger.js"] == MODULES["stranger.js"]
    assert made["kit/box.js"].endswith('export const { Round, box } = modules["kit/box.js"];\n')
    assert made["views/view.js"].splitlines()[1:] == [
        'export const { size } = modules["views/view.js"];',
        'export default modules["views/view.js"].default;',
    ]


@pytest.mark.skipif(shutil.which("node") is None, reason="needs node to run the modules")
def test_bundled_modules_do_what_they_did_apart_and_each_runs_once(tmp_path: Path) -> None:
    told = []
    pages = {"apart": (MODULES, "run.js"), "together": (bundle_modules(MODULES, PAGE), "bundle/page.js")}
    for name, (modules, first) in pages.items():
        for path, text in {**modules, "package.json": '{"type": "module"}'}.items():
            (tmp_path / name / path).parent.mkdir(parents=True, exist_ok=True)
            (tmp_path / name / path).write_text(text, "utf-8")
        command = ["node", str(tmp_path / name / first)]
        told.append(subprocess.run(command, capture_output=True, text=True, check=True).stdout)
    lines = ["once", "other kit/x", "late 1 Round,box round 1", "small once", "small view 2 small plain small view"]
    assert told[0].splitlines() == told[1].splitlines() == lines


@pytest.mark.parametrize("line", ["export { a };", "export const { a } = b;", 'import "./say.js";', "await 1;"])
@pytest.mark.parametrize("module", ["kit/box.js", "run.js"])
def test_what_cannot_be_in_a_bundle_is_named(line: str, module: str) -> None:
    with pytest.raises(ValueError, match=rf"^{module} cannot be in a bundle: ") as caught:
        bundle_modules({**MODULES, module: f"{MODULES[module]}{line}\n"}, PAGE)
    assert str(caught.value).endswith(line)


def test_a_page_beside_must_not_import_what_would_run_the_page_of_the_study() -> None:
    sources = {**MODULES, "aside.js": 'export const a = () => import("./kit/late.js");\n'}
    with pytest.raises(ValueError, match=r'^aside\.js cannot be a page of its own: aside\.js has import\("./kit/late'):
        bundle_modules(sources, PAGE, ASIDE)


def test_modules_in_a_circle_are_named() -> None:
    sources = {"a.js": 'import { b } from "./b.js";', "b.js": 'import { a } from "./a.js";'}
    with pytest.raises(ValueError, match=r"^modules import each other: a\.js -> b\.js -> a\.js$"):
        needed_modules(sources, ["a.js"])
