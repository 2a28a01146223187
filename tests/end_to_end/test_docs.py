"""The documentation is correct: studies load, commands and names exist, links work, generated pages are current."""

from __future__ import annotations

import ast
import importlib.util
import json
import re
import runpy
import shlex
import struct
import subprocess
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import click
import pytest
import yaml
from pydantic import BaseModel

import beholder
from beholder.analysis.registry import is_ours
from beholder.analysis.registry import names as analysis_names
from beholder.cli import cli
from beholder.methods import find, load_study, names
from beholder.planning import plan_study
from beholder.study.chain import load_chain
from beholder.testing import check_analysis, check_metric, check_rule, write_study
from documentation.mistakes import MISTAKES
from support.data import ROOT
from support.installed_packages import install

PAGES = sorted([
    *ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md"), *ROOT.glob("src/beholder/methods/*/README.md"),
])  # fmt: skip
RECORDS = sorted((ROOT / "docs" / "decisions").glob("*.md"))
REFERENCE = runpy.run_path(str(ROOT / "tools" / "documentation" / "reference.py"))
BENCHMARKS = "benchmarks.md"


class Block(NamedTuple):
    """A fenced block: its position, its info string, its text."""

    where: str
    info: str
    text: str


def name_of(page: Path) -> str:
    return page.relative_to(ROOT).as_posix()


def blocks(page: Path) -> Iterator[Block]:
    text = page.read_text("utf-8")
    for match in re.finditer(r"^```([^\n`]*)\n(.*?)^```$", text, re.MULTILINE | re.DOTALL):
        line = text.count("\n", 0, match.start()) + 1
        yield Block(f"{name_of(page)}:{line}", match[1].strip(), match[2])


def prose(page: Path) -> str:
    return re.sub(r"^```.*?^```$", "", page.read_text("utf-8"), flags=re.MULTILINE | re.DOTALL)


ALL = [block for page in PAGES for block in blocks(page)]


def of(*infos: str) -> pytest.MarkDecorator:
    chosen = [block for block in ALL if block.info in infos]
    assert chosen, f"no block is marked {infos}"
    return pytest.mark.parametrize("block", chosen, ids=[block.where for block in chosen])


# Blocks


@of("yaml")
def test_a_study_in_the_docs_loads_and_can_be_planned(block: Block, tiny: Path, tmp_path: Path) -> None:
    path = write_study(tmp_path / "study", tiny)
    path.write_text(block.text, "utf-8")
    loaded = load_study(path)
    assert len(plan_study(loaded).lists) == loaded.design.participants


@of("yaml chain")
def test_a_chain_in_the_docs_loads(block: Block, tmp_path: Path) -> None:
    for name in re.findall(r"study: (\S+)", block.text):
        (tmp_path / name).mkdir()
    path = tmp_path / "chain.yaml"
    path.write_text(block.text, "utf-8")
    assert load_chain(path).studies


@of("yaml wording")
def test_a_wording_in_the_docs_has_words_for_items(block: Block, tmp_path: Path) -> None:
    (tmp_path / "wording.yaml").write_text(block.text, "utf-8")
    study = "beholder: 1\nname: x\ntitle: x\nmethod: likert\nstimuli: stimuli\n"
    (tmp_path / "study.yaml").write_text(f"{study}options: {{items: avatar-a, wording: wording.yaml}}\n", "utf-8")
    assert load_study(tmp_path).options["wording"]["statements"]


def test_the_follow_up_in_the_docs_can_be_planned(tiny: Path, tmp_path: Path) -> None:
    (block,) = [one for one in ALL if one.info == "yaml fragment" and "pairs: open.csv" in one.text]
    keys = yaml.safe_load(block.text)
    questions = [{"id": "preference", "text": "Which one do you prefer?"}]
    path = write_study(tmp_path, tiny, questions=questions, **{**keys, "design": {"per_trial": None, **keys["design"]}})
    (tmp_path / "open.csv").write_text("condition,other,part\nfrozen,jerky,1\nnatural,smooth,2\n", "utf-8")
    assert len(plan_study(load_study(path)).lists) == keys["design"]["participants"]


def test_every_block_says_what_it_is() -> None:
    files = "console waits, yaml, yaml fragment, yaml method, yaml chain, yaml wording, yaml job"
    kinds = f"{files}, console, python, js, json, text, toml, markdown"
    assert {block.info for block in ALL} <= set(kinds.split(", "))


@of("yaml fragment")
def test_a_fragment_fits_into_a_study(block: Block, tiny: Path, tmp_path: Path) -> None:
    """Its keys are known; the files that it names need not exist."""
    path = write_study(tmp_path / "study", tiny)
    own = re.findall(r"^([a-z]+):", block.text, re.MULTILINE)
    kept = re.sub(rf"^({'|'.join(own)}):.*\n(?:[ -].*\n)*", "", path.read_text("utf-8"), flags=re.MULTILINE)
    path.write_text(kept + block.text, "utf-8")
    load_study(path)


@of("python")
def test_python_in_the_docs_compiles_and_its_names_exist(block: Block) -> None:
    tree = ast.parse(block.text)
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == "beholder":
            assert node.attr in beholder.__all__, f"{block.where}: beholder.{node.attr}"
        elif isinstance(node, ast.ImportFrom) and (node.module or "").startswith("beholder."):
            module = __import__(str(node.module), fromlist=["*"])
            for alias in node.names:
                assert hasattr(module, alias.name), f"{block.where}: {node.module}.{alias.name}"


def commands(text: str) -> Iterator[list[str]]:
    for line in text.splitlines():
        if line.startswith("$ beholder"):
            yield shlex.split(line.removeprefix("$ beholder"), comments=True)


def test_every_command_in_the_docs_exists_with_its_options() -> None:
    written = [
        (block.where, words) for block in ALL if block.info.startswith("console") for words in commands(block.text)
    ]
    spans = [
        (name_of(page), shlex.split(match[1]))
        for page in PAGES
        if page.name != "mistakes.md"  # on purpose
        for match in re.finditer(r"`beholder ([a-z][^`…]*)`", prose(page))
    ]
    assert len(written) > 20
    for where, words in [*written, *spans]:
        group: click.Group = cli
        while isinstance(inner := group.commands.get(words[0]), click.Group) and len(words) > 1:
            group, words = inner, words[1:]
        if len(words) > 1 and words[0] == "exec" and words[1] in cli.commands:  # what follows is a command there
            group, words = cli, words[1:]
        assert words[0] in group.commands, f"{where}: beholder {words[0]}"
        known = {option for parameter in group.commands[words[0]].params for option in parameter.opts} | {"--help"}
        unknown = {word for word in words if word.startswith("-") and not word[1:2].isdigit()} - known
        assert not unknown, f"{where}: beholder {words[0]} {unknown}"


def test_every_function_in_the_docs_exists() -> None:
    for page in PAGES:
        for name in re.findall(r"`beholder\.([a-z]+)\(", prose(page)):
            assert name in beholder.__all__, f"{name_of(page)}: beholder.{name}"


def test_every_make_verb_in_the_docs_exists() -> None:
    known = set(re.findall(r"^([a-z]+):", (ROOT / "Makefile").read_text("utf-8"), re.MULTILINE))
    written = {verb for page in PAGES for verb in re.findall(r"(?:`|\$ )make ([a-z]+)", page.read_text("utf-8"))}
    assert written - known == set()
    assert {"demo", "test"} <= written


def test_the_worked_method_of_contributing_keeps_its_word(
    tiny: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A package on the path is discovered, its example can be planned, and its answers can be read."""
    import numpy as np

    text = (ROOT / "CONTRIBUTING.md").read_text("utf-8")
    for name, body in re.findall(r"\*\*`([^`]+)`\*\*\n\n```[^\n]*\n(.*?)^```$", text, re.MULTILINE | re.DOTALL):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(body, "utf-8")
    info = tmp_path / "beholder_yesno-0.1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: beholder-yesno\nVersion: 0.1.0\n", "utf-8")
    (info / "entry_points.txt").write_text("[beholder.methods]\nyesno = beholder_yesno:yesno\n", "utf-8")
    monkeypatch.syspath_prepend(tmp_path)
    assert "yesno" in names()
    assert 'yesno = "beholder_yesno:yesno"' in (tmp_path / "pyproject.toml").read_text("utf-8")
    method = find("yesno")
    path = write_study(tmp_path / "study", tiny)
    path.write_text((tmp_path / "beholder_yesno" / "example.yaml").read_text("utf-8"), "utf-8")
    trial = plan_study(load_study(path)).lists[0].trials[0]
    answer = method.respond(trial, {"q1.s1": 1.0}, np.random.default_rng(1))
    assert method.read(trial, answer) == answer == {"scores": {"q1": {"s1": 1}}}
    assert [rating.value for rating in method.judgements(trial, answer)] == [1]


def test_the_worked_analysis_keeps_its_word(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A package on the path is discovered and keeps the contract."""
    blocks = [block for block in ALL if block.where.startswith("docs/writing-an-analysis.md")]
    (package,) = [block.text for block in blocks if "EXTREMES = Analysis(" in block.text]
    (project,) = [tomllib.loads(block.text) for block in blocks if block.info == "toml"]
    value = project["project"]["entry-points"]["beholder.analyses"]["extremes"]
    install(tmp_path, monkeypatch, "extremes", package, f"[beholder.analyses]\nextremes = {value}\n")
    check_analysis("extremes")


def test_the_worked_metric_keeps_its_word(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A package on the path is discovered and keeps the contract."""
    blocks = [block for block in ALL if block.where.startswith("docs/writing-a-metric.md")]
    (package,) = [block.text for block in blocks if "LOST_DETAIL = " in block.text]
    (project,) = [tomllib.loads(block.text) for block in blocks if block.info == "toml"]
    value = project["project"]["entry-points"]["beholder.metrics"]["lost-detail"]
    install(tmp_path, monkeypatch, "sharpness", package, f"[beholder.metrics]\nlost-detail = {value}\n")
    check_metric("lost-detail")


def test_the_worked_rule_of_the_docs_keeps_its_word(
    tiny: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its package is discovered, a study switches it on, robots are judged by it, and the outputs speak of it."""
    text = (ROOT / "docs" / "writing-a-rule.md").read_text("utf-8")
    files = dict(re.findall(r"\*\*`([^`]+)`\*\*\n\n```[^\n]*\n(.*?)^```$", text, re.MULTILINE | re.DOTALL))
    entry = tomllib.loads(files["pyproject.toml"])["project"]["entry-points"]["beholder.checks"]["extremes"]
    source, entry_points = files["beholder_extremes.py"], f"[beholder.checks]\nextremes = {entry}\n"
    install(tmp_path / "site", monkeypatch, "beholder_extremes", source, entry_points)
    check_rule("extremes")
    path = write_study(
        tmp_path / "study", tiny, checks={"extremes": {"answers": 2}}, clean={"use": {"extremes": {"most": 0}}},
    )  # fmt: skip
    beholder.simulate(path, participants=4)
    cleaned = beholder.clean(path)
    (lost,) = [lost for lost in cleaned.lost if lost.rule == "extremes"]
    assert (lost.reason, lost.words) == ("ends", "Nearly all answers at the ends of the scale")
    assert lost.sessions > 0
    (rule,) = [rule for rule in json.loads((cleaned.folder / "account.json").read_text("utf-8"))["trust"]
               if rule["check"] == "extremes"]  # fmt: skip
    assert rule["title"] == "Ends of the scale"
    assert rule["words"] == "At most 0% of the answers are at the ends of the scale."
    beholder.analyse(path)
    page = beholder.report(path).read_text("utf-8")
    for words in (rule["title"], rule["words"], lost.words):
        assert words in page


# Links


def anchors(page: Path) -> set[str]:
    """Return the anchors of a page's headings, as GitHub makes them."""
    heads = re.findall(r"^#+ (.+)$", prose(page), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", head.lower()).strip().replace(" ", "-") for head in heads}


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_every_link_leads_somewhere(page: Path) -> None:
    for target in re.findall(r"\]\(([^)\s]+)\)", prose(page)):
        if target.startswith(("https://", "mailto:")):
            continue
        file, _, anchor = target.partition("#")
        there = (page.parent / file).resolve() if file else page
        assert there.exists(), f"{name_of(page)} links to {target}"
        assert there.is_relative_to(ROOT), f"{name_of(page)} links out of the repository: {target}"
        if anchor:
            assert anchor in anchors(there), f"{name_of(page)} links to {target}, and there is no such heading"


def test_every_module_on_the_page_of_the_architecture_exists() -> None:
    text = (ROOT / "docs" / "architecture.md").read_text("utf-8")
    modules = re.findall(r"`(beholder\.[a-z0-9_.]+)`", text)
    assert len(modules) > 40
    for module in modules:
        assert importlib.util.find_spec(module), module
    scripts = re.findall(r"`(web/[a-z_/]+\.js)`", text)
    assert scripts
    for script in scripts:
        assert (ROOT / "src" / "beholder" / script).is_file(), script


def test_a_change_touches_three_files_at_most() -> None:
    text = (ROOT / "docs" / "architecture.md").read_text("utf-8").partition("## How many files a change touches")[2]
    rows = re.findall(r"^\| ([^|]+) \| ([^|]+) \|$", text, re.MULTILINE)[1:]
    assert len(rows) == 13, "twelve changes, and a language"
    for change, files in rows:
        assert len(files.split(";")) <= 3, change
    paths = re.findall(r"`([a-z_/]+(?:\.(?:py|js|json)|/))`", text)
    assert len(paths) > 20
    for path in paths:
        assert (ROOT / "src" / "beholder" / path).exists(), path


def test_every_page_of_the_docs_can_be_reached_from_the_index() -> None:
    linked = set(re.findall(r"\]\(([a-z0-9-]+\.md)", (ROOT / "docs" / "index.md").read_text("utf-8")))
    pages = {page.name for page in (ROOT / "docs").glob("*.md")} - {"index.md", BENCHMARKS}
    assert linked >= pages


def test_every_method_has_a_readme_in_the_list_of_methods() -> None:
    text = (ROOT / "docs" / "methods.md").read_text("utf-8")
    for folder in (ROOT / "src" / "beholder" / "methods").iterdir():
        if (folder / "view.js").exists():
            assert f"(../src/beholder/methods/{folder.name}/README.md)" in text


def test_every_method_has_its_picture_in_the_gallery() -> None:
    parts = (ROOT / "docs" / "gallery.md").read_text("utf-8").split("\n## ")
    pictured = {part.partition("\n")[0]: re.findall(r"\(pictures/([a-z0-9-]+\.png)\)", part) for part in parts[1:]}
    for name in REFERENCE["OURS"]:
        assert pictured.get(name), f"{name} has no picture in the gallery"


def test_every_column_that_clean_writes_is_described() -> None:
    from beholder.cleaning import devices, payouts, playback, ratings, shortfall, tables
    from beholder.columns import names_of

    text = (ROOT / "docs" / "data.md").read_text("utf-8")
    heads = {
        "## The rating row": ratings.COLUMNS,
        "## How everything played": playback.PLAYBACK,
        "## What people wrote": tables.COMMENTS,
        "## On which devices": devices.DEVICES,
        "## Sessions and participants": (*tables.SESSIONS, *tables.PARTICIPANTS),
        "## What checks say": (*tables.VERDICTS, *tables.CHECKS, *tables.ATTEMPTS),
        "## Lists for paying and going on": (
            *payouts.REJECT, *payouts.LOOK, *payouts.BONUSES, *shortfall.VOTES, *shortfall.EXTEND,
        ),
    }  # fmt: skip
    for head, columns in heads.items():
        part = text.partition(f"\n{head}\n")[2].partition("\n## ")[0]
        cells = re.findall(r"^\| `([a-z_, ]+)` \|", part, re.MULTILINE)
        described = {column for cell in cells for column in cell.split(", ")}
        assert set(names_of(columns)) <= described, f"{head} leaves out {set(names_of(columns)) - described}"


def test_every_table_that_analyse_writes_is_described_once() -> None:
    text = (ROOT / "docs" / "data.md").read_text("utf-8")
    blocks = re.findall(r"^<!-- made: analysis-columns ([a-z_ ]+) -->$", text, re.MULTILINE)
    described = [name for names in blocks for name in names.split()]
    assert sorted(described) == [name for name in analysis_names() if is_ours(name)]


# Messages


def literals() -> str:
    """Return the source of the program, texts over several lines joined, with a gap where a value is put in."""
    sources = "\n".join(path.read_text("utf-8") for path in sorted((ROOT / "src" / "beholder").rglob("*.py")))
    joined = re.sub(r"\"\n\s*f?\"", "", sources)
    return plain_words(re.sub(r"\{[^{}\n]*\}", "\0", joined))


def plain_words(text: str) -> str:
    return re.sub(r" +", " ", re.sub(r"[.,;:()…`]", " ", text)).strip()


def share_found(message: str, texts: str) -> float:
    """Return the share of the words of a message that stand in the texts beside a neighbour of theirs."""
    words, found, place = plain_words(message).split(" "), 0, 0
    while place < len(words):
        end = place
        while end < len(words) and " ".join(words[place : end + 1]) in texts:
            end += 1
        found += (end - place) * (end - place > 1)
        place = max(end, place + 1)
    return found / len(words)


def test_messages_that_the_docs_explain_are_messages_of_the_program() -> None:
    page = (ROOT / "docs" / "troubleshooting.md").read_text("utf-8")
    cells = [line.split(" | ")[0] for line in page.splitlines() if line.startswith("| `")]
    messages = [message.removeprefix("Warning: ") for cell in cells for message in re.findall(r"`([^`]+)`", cell)]
    explained = [message for message in messages if len(plain_words(message).split(" ")) > 2]
    assert len(explained) > 30
    texts = literals()
    assert share_found("the kettle boils over at noon", texts) < 0.6
    gone = {message: share for message in explained if (share := share_found(message, texts)) < 0.6}
    assert gone == {}


def test_three_dozen_mistakes_are_shown_with_their_messages() -> None:
    assert len(MISTAKES) >= 30
    page = (ROOT / "docs" / "mistakes.md").read_text("utf-8")
    assert page.count("\n| ") == len(MISTAKES) + 2
    assert "Traceback" not in page


# Generated pages


@pytest.mark.parametrize("page", sorted((ROOT / "docs").glob("*.md")), ids=name_of)
def test_made_pages_are_up_to_date(page: Path) -> None:
    text = page.read_text("utf-8")
    assert REFERENCE["renew"](text) == text, "run `make docs`"


def models(model: type[BaseModel]) -> Iterator[type[BaseModel]]:
    """Yield a model and every model below it."""
    yield model
    for field in model.model_fields.values():
        names = re.findall(
            r"(beholder\.study\.(?:model|questionnaire|questions|design|recruitment))\.(\w+)", repr(field.annotation)
        )
        for module, name in names:
            below = getattr(__import__(module, fromlist=["*"]), name, None)
            if isinstance(below, type) and issubclass(below, BaseModel):
                yield from models(below)


def test_every_field_of_a_study_is_described() -> None:
    from beholder.study.model import Study

    text = (ROOT / "docs" / "study-file.md").read_text("utf-8")
    every_model = set(models(Study))
    assert {model.__name__ for model in every_model} >= {
        "Study",
        "Stimuli",
        "Question",
        "Scale",
        "Ask",
        "Design",
        "Recruit",
    }
    for model in every_model:
        for name in model.model_fields:
            row = re.search(rf"^\| `{name}` \|.*\| (\S.*) \|$", text, re.MULTILINE)
            assert row, f"{model.__name__}.{name} is not described"


def test_every_verb_and_option_is_in_the_commands() -> None:
    text = (ROOT / "docs" / "commands.md").read_text("utf-8")
    for name, command in REFERENCE["flat_commands"](cli):
        _, _, part = text.partition(f"\n## {name}\n")
        part = part.partition("\n## ")[0]
        assert part, f"beholder {name} is not described"
        for parameter in command.params:
            if isinstance(parameter, click.Option) and not parameter.hidden:
                assert parameter.opts[0] in part, f"beholder {name} {parameter.opts[0]} is not described"


# The repository


def test_the_readme_is_two_screens() -> None:
    text = (ROOT / "README.md").read_text("utf-8")
    assert len(text.splitlines()) < 90
    for needed in (
        "make demo",
        "make test",
        "beholder run --simulate",
        "beholder run  ",
        'beholder.run("study.yaml"',
        "rating-page.png",
    ):
        assert needed in text


def test_pictures_are_small_and_wide_enough() -> None:
    pictures = sorted((ROOT / "docs" / "pictures").glob("*.png"))
    assert {picture.stem for picture in pictures} >= {"rating-page", "consent", "acr-scale", "end-page", "report"}
    for picture in pictures:
        data = picture.read_bytes()
        width, height = struct.unpack(">II", data[16:24])
        assert data.startswith(b"\x89PNG")
        assert len(data) < 150_000, f"{picture.name} has {len(data)} bytes"
        assert (width, height) == (780, 1688) if picture.stem.endswith("-phone") else width >= 1000


def test_decision_records_are_numbered_without_gaps_and_have_their_four_parts() -> None:
    assert [int(record.name[:4]) for record in RECORDS] == list(range(1, len(RECORDS) + 1))
    for record in RECORDS:
        text = record.read_text("utf-8")
        heads = re.findall(r"^## (.+)$", text, re.MULTILINE)
        assert heads == ["Context", "Choice", "Cost", "When to revisit"], record.name
        assert text.startswith(f"# {record.name[:4]}: ")
        assert len(text.splitlines()) <= 60, f"{record.name} is longer than a page"


def test_the_changelog_names_this_version() -> None:
    version = re.search(r'^version = "(.+)"$', (ROOT / "pyproject.toml").read_text("utf-8"), re.MULTILINE)
    assert version
    assert f"## {version[1]}" in (ROOT / "CHANGELOG.md").read_text("utf-8")


MACHINE = re.compile(r"(?<![\w.])/(?:work|farm|root|home)/|/tmp/[a-z]|[A-Z]:\\\\Users")
REGISTRY = re.compile(
    r"(?:index-url|extra-index|registry\s*=|\"resolved\":)\s*\S*https?://|artifactory|devpi", re.IGNORECASE
)

SIGNS = (
    "/work/", "/farm/", "/root/", "/home/", "/tmp/", "users", "index-url", "extra-index", "registry", '"resolved"',
    "artifactory", "devpi",
)  # fmt: skip
"""One of them is in whatever the patterns find, and looking for words takes a tenth of the time."""


def test_no_file_names_a_machine_or_a_registry() -> None:
    """Paths of one machine and hosts of a package index belong to neither code nor lock files."""
    listed = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        cwd=ROOT,
        capture_output=True,
        check=False,
    )
    if listed.returncode:
        pytest.skip("this is no checkout of git")
    hits = []
    for name in listed.stdout.decode().split("\0"):
        path = ROOT / name
        if not name or not path.is_file() or path == Path(__file__):
            continue
        try:
            text = path.read_text("utf-8")
        except UnicodeDecodeError:
            continue
        lower = text.lower()
        if any(sign in lower for sign in SIGNS):
            hits += [f"{name}: {hit[0]}" for pattern in (MACHINE, REGISTRY) for hit in pattern.finditer(text)]
    assert not hits
