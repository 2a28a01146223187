"""The facts of a study on a desk: read when the store has changed, and conditions under names that tell nothing."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from beholder.desk.desk_study import DeskStudy
from beholder.desk.documents import decisions, now, people, replay, results, studies, study
from beholder.desk.documents.study_facts import CodeNames
from beholder.recruiting.participant_records import participant_records
from beholder.store.contract import LedgerEntry
from support.commands import command
from support.decision_store import DecisionSetup, at, run, three_participants
from support.desk_studies import BLINDED, UNBLINDED, desk_study, on_desk
from support.taken_study import LABEL, TakenStudy

NAMES = {"natural": "As recorded", "full": "Full model", "no-text": ""}
OWN_NAMES = ("natural", "smooth", "jerky", "frozen", LABEL)


def test_code_names_tell_neither_names_nor_the_order_of_the_study() -> None:
    names = CodeNames(NAMES, b"secret", is_blinded=True)
    told = [names.condition(name) for name in NAMES]
    assert sorted(told) == ["Condition A", "Condition B", "Condition C"]
    assert [names.condition(name) for name in names.order] == ["Condition A", "Condition B", "Condition C"]
    again = [CodeNames(NAMES, b"secret", is_blinded=True).condition(name) for name in NAMES]
    orders = {CodeNames(NAMES, bytes([n]), is_blinded=True).order for n in range(40)}
    assert again == told, "they are kept for a study"
    assert len(orders) > 3, "and drawn for each"
    assert names.text("full, unnatural, no-text and Full model") == (
        f"{told[1]}, unnatural, {told[2]} and {told[1]}"
    ), "whole words only"
    assert names.value({"failed": ["full", 3], "full": None}) == {"failed": [told[1], 3], told[1]: None}
    many = CodeNames({f"c{n}": "" for n in range(28)}, b"", is_blinded=True)
    assert {"Condition Z", "Condition AA", "Condition AB"} <= {many.condition(f"c{n}") for n in range(28)}


def test_unblinded_they_have_their_labels_in_the_order_of_the_study() -> None:
    names = CodeNames(NAMES, b"secret", is_blinded=False)
    assert [names.condition(name) for name in names.order] == ["As recorded", "Full model", "no-text"]
    assert names.text("full") == "full"


def test_the_store_is_read_again_when_it_has_changed(tmp_path: Path) -> None:
    async def work(setup: DecisionSetup) -> None:
        await three_participants(setup)
        facts = desk_study(setup.context).facts
        first = await facts.moment()
        assert await facts.moment() is first
        assert tuple(first.records) == tuple(await participant_records(setup.context))
        done = LedgerEntry("shut_out", "done", at(0), participant=first.records[0].participant, reason_text="why")
        await setup.store.ledger.append([done])
        second = await facts.moment()
        assert second is not first
        assert second.records[0].is_shut_out

    run(tmp_path, work)


def test_robots_are_shown_where_nobody_else_has_come(tmp_path: Path) -> None:
    async def work(setup: DecisionSetup) -> None:
        robot = await setup.come("robot", mode="robot")
        study = desk_study(setup.context)
        moment = await study.facts.moment()
        assert (moment.population, [one.participant for one in moment.records]) == ("robots", [robot])
        assert await now.has_only_robots(study)
        person = await setup.come("person")
        moment = await desk_study(setup.context).facts.moment()
        assert (moment.population, [one.participant for one in moment.records]) == ("people", [person])
        assert not await now.has_only_robots(study)

    run(tmp_path, work)


async def every_document(on: DeskStudy, viewer: Any) -> str:
    """Return all replies about a study as one text."""
    listed: Any = await people.document(on, viewer)
    replies: list[Any] = [listed]
    for one in listed["people"]:
        replies.append(await people.document(on, viewer, person=one["participant"]))
        for session in one["session_ids"]:
            first: Any = await replay.document(on, viewer, person=one["participant"], session=session)
            replies.append(first)
            for page in first["pages"]:
                replies.append(
                    await replay.document(on, viewer, person=one["participant"], session=session, page=page["key"])
                )
    replies.append(await studies.document([on], viewer))
    replies += [await one.document(on, viewer) for one in (now, decisions, results, study)]
    return json.dumps(replies, ensure_ascii=False)


def test_while_conditions_are_blinded_no_reply_holds_the_name_of_one(taken: TakenStudy) -> None:
    folder, _ = taken
    for verb in ("clean", "analyse"):
        command(verb, cwd=folder)

    async def work(on: DeskStudy) -> tuple[str, str]:
        return await every_document(on, BLINDED), await every_document(on, UNBLINDED)

    blinded, unblinded = on_desk(folder, work)
    assert [name for name in OWN_NAMES if json.dumps(name, ensure_ascii=False)[1:-1] in blinded] == []
    for name in OWN_NAMES[1:]:
        assert json.dumps(name, ensure_ascii=False)[1:-1] in unblinded, "the test looks for what would be there"
