"""A check with a page of another package works as ours do: the one of the guide, from its page to the report."""

from __future__ import annotations

import csv
import json
import re
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

import beholder
from beholder.checks.page_registry import check_title, page_check_kinds, page_checks, reason_title
from beholder.errors import Refused, StudyError
from beholder.methods import find, load_study
from beholder.server.assets import Assets
from beholder.testing import check_step, write_study
from beholder.testing.browser import oracle_for
from support.browser import StudyServers
from support.data import ROOT
from support.instruction_pages import served, until
from support.visitor import Visitor

GUIDE = ROOT / "docs" / "writing-a-check-with-a-page.md"
DESIGN = {"participants": 6, "trials": 2, "seed": 3}
ACR: dict[str, Any] = {"method": "acr", "design": DESIGN, "questions": [{"id": "quality", "text": "How good is it?"}]}


def write_package(folder: Path) -> Path:
    """Write the package of the guide, as an installation would."""
    for name, body in re.findall(
        r"\*\*`([^`]+)`\*\*\n\n```[^\n]*\n(.*?)^```$", GUIDE.read_text("utf-8"), re.MULTILINE | re.DOTALL
    ):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(body, "utf-8")
    info = folder / "beholder_contrast-0.1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: beholder-contrast\nVersion: 0.1.0\n", "utf-8")
    (info / "entry_points.txt").write_text("[beholder.checks]\ncontrast = beholder_contrast:Contrast\n", "utf-8")
    return folder


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    folder = write_package(tmp_path / "package")
    monkeypatch.syspath_prepend(folder)
    yield folder
    sys.modules.pop("beholder_contrast", None)


def test_the_check_of_the_guide_is_registered_as_it_says_and_keeps_the_contract(package: Path) -> None:
    assert 'contrast = "beholder_contrast:Contrast"' in (package / "pyproject.toml").read_text("utf-8")
    kind = page_check_kinds()["contrast"]
    check_step(kind(kind.Options()))


def test_it_comes_after_ours_of_its_stage_and_brings_its_page(package: Path, tmp_path: Path, tiny: Path) -> None:
    on = {"contrast": True, "sides": True, "colour": True}
    study = load_study(write_study(tmp_path / "study", tiny, **ACR, qualification=on))
    checks = page_checks(study)
    assert [check.name for check in checks] == ["colour", "sides", "contrast"]
    page = Assets(find("acr"), checks).files["checks/contrast/page.js"]
    assert b"export default async function contrast" in page.body


def test_robots_take_it_clean_judges_it_again_and_the_report_names_it(
    package: Path, tmp_path: Path, tiny: Path
) -> None:
    study = write_study(tmp_path / "study", tiny, **ACR, qualification={"contrast": {"attempts": 2}})
    beholder.simulate(study, participants=4, raters="honest:0.5,unable-contrast:0.5")
    beholder.clean(study)
    with (study.parent / "clean" / "qualification.csv").open(encoding="utf-8") as file:
        rows = [(row["check"], row["verdict"], row["reason"]) for row in csv.DictReader(file)]
    assert set(rows) == {("contrast", "pass", ""), ("contrast", "fail", "missed")}
    account = json.loads((study.parent / "clean" / "account.json").read_text("utf-8"))
    (funnel,) = account["qualification"]["checks"]
    assert (funnel["title"], funnel["turned_away"]) == ("Small differences of grey", 2)
    beholder.analyse(study)
    assert "Small differences of grey" in beholder.report(study).read_text("utf-8")
    assert check_title("contrast") == "Small differences of grey"
    assert reason_title("contrast:missed") == "Small differences of grey: the lighter square not found"


async def test_it_refuses_an_answer_in_words_of_its_own_in_every_language(
    package: Path, tmp_path: Path, tiny: Path
) -> None:
    folder = package / "beholder_contrast"
    code, words = (folder / "__init__.py").read_text("utf-8"), folder / "words"
    read = 'return {"square": read_whole_number('
    refusal = 'if answer.get("square") == 10:\n            raise self.refuse("square", "beyond", "1 to 9", most=9)\n'
    assert read in code
    (folder / "__init__.py").write_text(code.replace(read, f"{refusal}        {read}"), "utf-8")
    english = {**json.loads((words / "en.json").read_text("utf-8")), "refused.beyond": "There are {most} squares"}
    (words / "en.json").write_text(json.dumps(english), "utf-8")
    (words / "de.json").write_text('{"refused.beyond": "Es sind {most} Quadrate"}', "utf-8")
    kind = page_check_kinds()["contrast"]
    with pytest.raises(Refused) as caught:
        kind(kind.Options()).read({}, {"square": 10})
    said = {language: caught.value.text(language) for language in ("en", "de", "fi")}
    assert said == {"en": "There are 9 squares", "de": "Es sind 9 Quadrate", "fi": "There are 9 squares"}
    async with served(write_study(tmp_path / "study", tiny, **ACR, qualification={"contrast": True})) as site:
        visitor = Visitor(site, participant="ada")
        await until(visitor, "check:contrast:1")
        assert "refused.beyond" not in visitor.step["words"], "the page has no use for it"
        refused = await visitor.answer({"square": 10})
        assert (refused.status_code, refused.json()["error"]["message"]) == (422, said["en"])
        ours = await visitor.answer({"square": 11})
        assert ours.json()["error"]["message"] == "square is missing or out of bounds"


def test_a_study_switches_it_on_as_the_guide_says(package: Path, tmp_path: Path, tiny: Path) -> None:
    (written,) = re.findall(r"^```text\n(.*?)^```$", GUIDE.read_text("utf-8"), re.MULTILINE | re.DOTALL)
    (check,) = page_checks(load_study(write_study(tmp_path / "study", tiny, **ACR, **yaml.safe_load(written))))
    assert (check.name, check.action, check.options.model_dump()["level"]) == ("contrast", "warn", 8)


def test_its_options_are_read_like_ours(package: Path, tmp_path: Path, tiny: Path) -> None:
    study = write_study(tmp_path / "study", tiny, **ACR, qualification={"contrast": {"level": 99, "colour": "red"}})
    with pytest.raises(StudyError) as caught:
        load_study(study)
    assert [problem.what for problem in caught.value.problems] == [
        "qualification.contrast.level is 99", "qualification.contrast.colour is not a known key",
    ]  # fmt: skip


def _without_page(folder: Path) -> None:
    (folder / "page.js").unlink()


def _without_title(folder: Path) -> None:
    (folder / "words" / "en.json").write_text("{}", "utf-8")


def _with_broken_words(folder: Path) -> None:
    (folder / "words" / "en.json").write_text("{", "utf-8")


def _without_stage(folder: Path) -> None:
    code = (folder / "__init__.py").read_text("utf-8")
    (folder / "__init__.py").write_text(code.replace('stage = "setup"', 'stage = "later"'), "utf-8")


@pytest.mark.parametrize(
    ("spoil", "told"),
    [
        (_without_page, "has no page.js beside it"),
        (_without_title, "has no title in words/en.json"),
        (_with_broken_words, "has words that cannot be read: Expecting property name"),
        (_without_stage, "has no stage, one of device, qualify, setup"),
    ],
)
def test_a_broken_one_cannot_be_used_and_is_in_nobody_s_way(
    package: Path, tmp_path: Path, tiny: Path, spoil: Callable[[Path], None], told: str
) -> None:
    spoil(package / "beholder_contrast")
    study = write_study(tmp_path / "study", tiny, **ACR, qualification={"contrast": True})
    with pytest.raises(StudyError) as caught:
        load_study(study)
    (problem,) = caught.value.problems
    assert problem.what.startswith(f"check contrast, entry point beholder_contrast:Contrast, {told}")
    other = write_study(tmp_path / "other", tiny, **ACR, qualification={"colour": True})
    assert [check.name for check in page_checks(load_study(other))] == ["colour"]


@pytest.mark.browser
@pytest.mark.asyncio(loop_scope="session")
async def test_a_person_takes_it_in_a_real_browser(package: Path, servers: StudyServers) -> None:
    site = await servers.serve(**ACR, qualification={"contrast": True})
    visit = await site.visit()
    assert await visit.go("trial:1", oracle=oracle_for(site.server, visit.page)) == "trial:1"
