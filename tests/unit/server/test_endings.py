"""How sessions end: the last page, completion codes, return addresses and outcomes."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from beholder.errors import Refused
from beholder.server import tokens
from beholder.server.entrances import shared_codes
from beholder.server.public_steps import step_texts
from beholder.server.requests import SubmittedAnswer
from beholder.study.model import installed_study_model
from beholder.words import read_words
from support.message_studies import Hosted, Rater, clip, serving, write_asking
from support.platform_visitors import PANEL, PROLIFIC, come, door, launch, prolific, refused
from support.prolific_arrivals import BACK
from support.rule_studies import fail_twice
from support.visitor import Site, Visitor


async def test_the_second_failure_ends_the_session_kindly_and_with_a_code_of_its_own(board: Hosted) -> None:
    host, clock = board
    ann = await Rater(host, clock).come()
    lines = []
    while ann.step["kind"] != "end":
        await ann.until_asked()
        facts = await ann.facts()
        (where, target), *_ = (await ann.asked()).items()
        label = next(one["label"] for one in ann.step["trial"]["slots"] if one["id"] == where.partition(".")[2])
        lines.append(f"Page {ann.step['progress'][0]}, {label}: asked to be set to {target.value:g}.")
        await ann.rate(obeys=False)
        assert ann.feedback is None
    assert len(lines) == 2
    assert ann.step["text"] == (
        "<p>Thank you for your time. Some of what this study shows asks for a certain answer itself, somewhere in the "
        "middle. Here it was answered in another way:</p>\n"
        f"<ul>\n<li>{lines[0]}</li>\n<li>{lines[1]}</li>\n</ul>\n"
        "<p>That happens easily. As the results depend on it, the study ends here for you. Everything that you have "
        "answered is stored. Please keep the code below: it shows that you were here.</p>\n"
        "<p>If you think that this is a mistake, or if you have a question, please write to "
        '<a href="mailto:tiny@example.org" target="_blank" rel="noopener noreferrer">tiny@example.org</a>.</p>'
    )
    own, whole = (
        tokens.completion_code(host.store.secret, ann.session, outcome) for outcome in ("failed_checks", "completed")
    )
    assert (ann.step["outcome"], ann.step["code"]) == ("failed_checks", own)
    assert own != whole
    assert ann.step["receipt"]
    facts = await ann.facts()
    assert facts.end is not None
    assert (facts.end.outcome, facts.end.reason) == ("failed_checks", "attention:wrong")
    rated = [key for key in facts.answers if key.startswith("trial:")]
    assert ann.step["answers"] == len(rated) >= 2, "everything that was answered is kept"
    counts = await host.store.counts(clock())
    assert (counts["live"], counts["ended"]) == (0, 1), "the list is open again"


async def test_after_the_end_nothing_is_taken_and_whoever_comes_back_reads_the_same(board: Hosted) -> None:
    host, clock = board
    ann, key, sent = await fail_twice(host, clock)
    end = ann.step
    again = await host.answer(ann.token, key, sent)
    assert (again["feedback"], again["step"]) == (None, end), "the same answer once more is harmless"
    for place in ("trial:4", "questions:after", "trial:9"):
        with pytest.raises(Refused) as refused:
            await host.answer(ann.token, place, sent)
        assert refused.value.status in (409, 410)
    with pytest.raises(Refused) as refused:
        await host.answer(ann.token, key, SubmittedAnswer({"scores": {"q1": {}}}, events=sent.events))
    assert refused.value.status == 409
    _, arrival = await host.arrive({"resume": ann.token}, {})
    assert arrival["step"] == end
    assert await host.step(ann.token) == end
    with pytest.raises(Refused) as refused:
        await host.arrive(ann.params, {})
    assert (refused.value.status, refused.value.code) == (403, "finished")
    facts = await ann.facts()
    assert facts.end is not None
    assert facts.end.code == end["code"]


@pytest.mark.parametrize(
    ("method", "line"),
    [
        ("acr", "Page [3-7]: asked for the answer “(Bad|Poor|Fair|Good|Excellent)”."),
        ("likert", "Page [3-7]: asked for the answer “[^”]+”."),
        ("ccr", "Page [3-7]: asked for the answer “[^”]+”."),
        ("pair", "Page [3-7], [AB]: asked to be chosen."),
    ],
)
async def test_the_last_page_says_in_the_words_of_the_method_what_was_asked(
    tmp_path: Path, method: str, line: str
) -> None:
    path = write_asking(tmp_path / "study", method=method, checks={"trap": {"end_after": 1}})
    async with serving(path, tmp_path / "store") as (host, _):
        lines = re.findall("<li>(.*)</li>", str(host.preview.step("end:failed_checks")["text"]))
        assert [bool(re.fullmatch(line, one)) for one in lines] == [True], lines


async def test_what_a_gold_stimulus_is_worth_is_never_told(tmp_path: Path) -> None:
    gold = {"file": "stimuli/zqplain/zqsea.txt", "content": "zqgold", "expected": 5}
    rule = {"action": "warn", "end_after": 1, "items": [gold]}
    path = write_asking(tmp_path / "study", method="acr", checks={"gold": rule})
    async with serving(path, tmp_path / "store") as (host, clock):
        ann = await Rater(host, clock).come()
        while ann.step["kind"] != "end":
            await ann.answer(clip(ann.step, 1) if ann.step["kind"] == "trial" else None)
        end = (await ann.facts()).end
        assert end is not None
        assert (end.outcome, end.reason, ann.feedback) == ("failed_checks", "gold:wrong", None)
        page = 2 + int(next(iter((await ann.facts()).verdicts)).partition(":")[2])
        assert str(ann.step["text"]).startswith(
            "<p>Thank you for your time. On these pages the answers are far from those of nearly everybody else:</p>\n"
            f"<ul>\n<li>Page {page}</li>\n</ul>\n"
        )


async def test_a_questionnaire_of_the_study_has_its_own_last_words(server: Site) -> None:
    visitor = Visitor(server, participant="ada")
    await visitor.arrive()
    await visitor.answer({"agree": True})
    await visitor.answer({"answers": {"field": "yes"}})
    assert visitor.step["outcome"] == "screened_out"
    assert "other experience" in visitor.step["text"]


def test_every_outcome_has_words() -> None:
    base = {"beholder": 1, "name": "a", "title": "A", "method": "acr", "stimuli": "s"}
    shown = step_texts(installed_study_model().model_validate(base), read_words("en"))
    for outcome in ("screened_out", "wrong_device", "no_consent", "failed_checks", "technical", "withdrawn"):
        assert shown[outcome].startswith("<p>")


async def test_nobody_without_a_place_is_left_without_a_way_back(tmp_path: Path) -> None:
    async with door(tmp_path, PROLIFIC, design={"participants": 1, "trials": 2, "seed": 3}) as (host, clock):
        await launch(host)
        await (await come(host, clock, **prolific())).until("end")
        refusal = await refused(host, clock, **prolific("bea", "s2"))
        code = shared_codes(host.served.study, host.store.secret)["technical"]
        assert (refusal.code, refusal.more) == ("full", {"return_url": BACK + code})
        assert [one.submission for one in await host.store.platform_visits()] == [
            "s1",
            "s2",
        ]  # the platform lists it too


async def test_whoever_does_not_agree_or_withdraws_gets_the_way_back_and_nothing_else(tmp_path: Path) -> None:
    async with door(tmp_path, PROLIFIC) as (host, clock):
        await launch(host)
        code = shared_codes(host.served.study, host.store.secret)["no_consent"]
        ann = await come(host, clock, **prolific())
        await ann.answer(SubmittedAnswer({"agree": False}))
        assert (ann.step["outcome"], ann.step["return_url"]) == ("no_consent", BACK + code)
        bea = await come(host, clock, **prolific("bea", "s2"))
        await bea.until("trial:2")
        step = await host.withdraw(bea.token)
        assert (step["outcome"], step["return_url"]) == ("withdrawn", BACK + code)
        assert (await host.store.platform_identities(), await host.store.platform_visits()) == ([], [])


async def test_no_byte_before_the_end_holds_a_code(tmp_path: Path) -> None:
    async with door(tmp_path, PROLIFIC) as (host, clock):
        await launch(host)
        codes = shared_codes(host.served.study, host.store.secret).values()
        ann = await come(host, clock, **prolific())
        while ann.step["kind"] != "end":
            assert not any(code in json.dumps(ann.step) for code in codes)
            await ann.answer()
        assert sum(code in json.dumps(ann.step) for code in codes) == 1


async def test_a_panel_passes_its_own_id_and_gets_its_own_codes_and_addresses_back(tmp_path: Path) -> None:
    recruit = {
        **PANEL, "visit_parameter": "visit", "codes": {"completed": "C7", "no_consent": "N1"},
        "return_to": {
            "completed": "https://panel.example/done?c={code}&who={id}", "no_consent": "https://panel.example/{id}",
        },
    }  # fmt: skip
    async with door(tmp_path, recruit) as (host, clock):
        ann = await come(host, clock, pid="a-1", visit="v1")
        await ann.until("end")
        assert (ann.step["code"], ann.step["return_url"]) == ("C7", "https://panel.example/done?c=C7&who=a-1")
        assert (await come(host, clock, ann, pid="a-1", visit="v1")).step["code"] == "C7"
        assert (await refused(host, clock, pid="a-1", visit="v1")).code == "other_device"
        assert (await refused(host, clock, pid="a-1", visit="v2")).code == "finished"
        bea = await come(host, clock, pid="b-2")
        step = await host.withdraw(bea.token)
        assert (step["outcome"], step["code"], step["return_url"]) == ("withdrawn", "N1", "https://panel.example/b-2")
        assert [one.platform_id for one in await host.store.platform_identities()] == ["a-1"]


async def test_without_codes_of_its_own_a_panel_gets_one_for_each_session_and_shows_it_again(tmp_path: Path) -> None:
    async with door(tmp_path, PANEL) as (host, clock):
        ann, bea = await come(host, clock, pid="ann"), await come(host, clock, pid="bea")
        await ann.until("end")
        await bea.until("end")
        assert ann.step["code"] != bea.step["code"]
        assert (await come(host, clock, ann, pid="ann")).step["code"] == ann.step["code"]
        assert (await refused(host, clock, pid="ann")).code == "finished", "somebody else's browser sees no code"
        assert (await refused(host, clock)).code == "no_id"
