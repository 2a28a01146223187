"""The context of recruiting: the recruiter of a study, and the study as it was served."""

from __future__ import annotations

from pathlib import Path

import pytest

from beholder.planning.serialization import lists_to_json
from beholder.recruiting.context import open_context, recruiter_of, served_study, without_budget
from beholder.server.process import load_served
from beholder.store.open import open_store
from beholder.store.rules import record_of
from beholder.study.model import Study
from support.recruit_context import URL, launch_setup
from support.recruit_studies import recruit_study


@pytest.mark.parametrize(("mode", "more"), [("link", {}), ("panel", {"id_parameter": "pid"}), ("lab", {})])
async def test_the_mode_of_a_study_names_its_recruiter(tmp_path: Path, mode: str, more: dict[str, str]) -> None:
    study = recruit_study(tmp_path, {"mode": mode, **more})
    async with open_store(tmp_path / "store") as store:
        recruiter = await recruiter_of(study, store)
    assert recruiter.mode == mode
    assert "submissions" not in recruiter.can


async def test_a_context_is_opened_on_the_store_of_a_study(tmp_path: Path, tiny: Path) -> None:
    async with launch_setup(tmp_path, tiny, recruit={"mode": "link"}) as setup:
        study = setup.study
    async with open_context(study) as context:
        assert context.study == study
        assert context.url == str(tmp_path / "store")
        assert context.is_by_hand


def test_only_the_budget_is_left_out_of_a_text() -> None:
    assert without_budget("name: tiny\nbudget: 20 GBP\ntitle: a budget: 3\n") == "name: tiny\ntitle: a budget: 3\n"


def excluding(study: Study, *names: str) -> Study:
    return study.model_copy(update={"recruit": study.recruit.model_copy(update={"exclude": names})})


async def test_a_study_of_a_chain_excludes_those_it_was_served_with(tmp_path: Path, tiny: Path) -> None:
    async with launch_setup(tmp_path, tiny, recruit={"mode": "link"}) as setup:
        store, study = setup.context.store, setup.study
        assert await served_study(study, store) == study
        chained = excluding(study, "../before")
        served, plan = load_served(chained, URL)
        record = record_of(chained, served.catalogue, plan.plan_digest, list(lists_to_json(plan)), setup.fake.now)
        await store.begin(record, study.run)
        assert await served_study(study, store) == chained
        changed = study.model_copy(update={"title": "Another title"})
        assert await served_study(changed, store) == changed, "a study that was changed otherwise stays as it is"
