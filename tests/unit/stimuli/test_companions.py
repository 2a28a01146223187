"""Companions: donors are drawn fairly and alike in length, and what cannot be is told with what to do."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from beholder.methods import find, load_study
from beholder.methods.contract import Catalogue, Study
from beholder.stimuli.companions import add_mismatched, companion_problems, draw_donors
from beholder.stimuli.ffmpeg import run_ffmpeg
from beholder.stimuli.ingestion import load_catalogue
from support.companion_texts import CONTENTS, TEXTS, in_folder
from support.method_studies import make_catalogue, make_study, problems
from support.variants import variant

METHOD = find("mismatch")


@pytest.fixture(scope="module")
def study(tmp_path_factory: pytest.TempPathFactory) -> Study:
    """A study of texts that belong to sounds, of two conditions."""
    return in_folder(tmp_path_factory.mktemp("companions"))


@given(seed=st.integers(0, 1000), lengths=st.lists(st.integers(20, 40), min_size=8, max_size=8))
def test_a_donor_is_another_content_alike_in_length_and_lends_once_where_that_can_be(
    study: Study, seed: int, lengths: list[int]
) -> None:
    texts = {name: letter * count for name, letter, count in zip(CONTENTS, "qwertyui", lengths, strict=True)}
    drawn = study.model_copy(update={"design": study.design.model_copy(update={"seed": seed})})
    found = draw_donors(drawn, make_catalogue(("good",), contents=CONTENTS, medium="audio"), texts)
    assert {*found.of, *found.alone} == set(CONTENTS)
    for one, donor in found.of.items():
        assert one != donor
        assert abs(len(texts[one]) - len(texts[donor])) <= 0.1 * max(len(texts[one]), len(texts[donor]))
    for name in found.alone:
        others = [len(texts[other]) for other in CONTENTS if other != name]
        assert all(abs(len(texts[name]) - other) > 0.1 * max(len(texts[name]), other) for other in others)
    if max(lengths) - min(lengths) <= 0.1 * max(lengths):
        assert sorted(found.of.values()) == sorted(CONTENTS)


def test_the_same_seed_draws_the_same_donors_and_another_seed_others(study: Study) -> None:
    plain = make_catalogue(("good",), contents=CONTENTS, medium="audio")

    def donors(seed: int) -> dict[str, str]:
        design = study.design.model_copy(update={"seed": seed})
        return dict(draw_donors(study.model_copy(update={"design": design}), plain, TEXTS).of)

    assert donors(1) == donors(1)
    assert len({tuple(donors(seed).items()) for seed in range(5)}) > 1


def test_donors_have_the_same_speaker_where_the_study_asks_for_it(study: Study) -> None:
    asking = study.model_copy(update={"options": {**study.options, "within": ["speaker"]}})
    plain = make_catalogue(("good",), contents=CONTENTS, medium="audio")
    spoken = replace(
        plain,
        stimuli=tuple(replace(one, factors={"speaker": "x" if one.content < "e" else "y"}) for one in plain.stimuli),
    )
    for one, donor in draw_donors(asking, spoken, TEXTS).of.items():
        assert (one < "e") == (donor < "e")


def test_every_problem_says_what_to_do(tmp_path: Path) -> None:
    def told(study: Study, catalogue: Catalogue) -> list[str]:
        return [str(problem) for problem in companion_problems(study, catalogue)]

    sounds = make_catalogue(("good", "poor"), contents=CONTENTS, medium="audio")
    video = make_catalogue(("good", "poor"), contents=("a", "b"), audio_codec="")
    plain = make_study("mismatch", ("good", "poor"))
    assert told(plain, sounds) == [
        "options.texts  is missing: what belongs to sounds is a text. Allowed: a folder of texts. Write options: "
        "{texts: texts}, with a text for each content in that folder."
    ]
    assert told(plain, video) == [
        "stimuli  have no sound, which is their companion: good/a, poor/a, good/b, poor/b. Allowed: videos with "
        "their speech. Add it to them. If it is a text: Write options: {texts: texts}, with a text for each content in "
        "that folder."
    ]
    missing = in_folder(tmp_path, {"a": "red", "b": "", "c": "oak"})
    assert told(missing, make_catalogue(("good",), contents=("a", "b", "c", "d"), medium="audio")) == [
        "texts/b.txt  holds no words. Allowed: what is read with the stimulus. Write the text.",
        "options.texts  is texts, which has no text of d. Allowed: a text for each content. Write texts/d.txt.",
    ]
    elsewhere = missing.model_copy(update={"options": {**missing.options, "texts": "words"}})
    assert told(elsewhere, make_catalogue(("good",), contents=("a",), medium="audio")) == [
        "options.texts  is words, which is not there. Allowed: a folder in the study folder. Make the folder words "
        "with a text for each content, such as words/a.txt."
    ]
    apart = in_folder(tmp_path, {"a": "ten words..", "b": "ten letters", "c": "a much longer text of thirty four"})
    three = make_catalogue(("good",), contents=("a", "b", "c"), medium="audio")
    assert told(apart, three) == [
        "options.tolerance  is 0.1, and no other content is so near in length to c (33 letters): the nearest is a (11 "
        "letters, 67 % apart). Allowed: 0.67 to 1. Write tolerance: 0.67, bring the lengths nearer to each other, or "
        "leave c out."
    ]
    assert told(apart, make_catalogue(("good",), contents=("a",), medium="audio")) == [
        "stimuli  hold one content, a, and a foreign companion is that of another. Allowed: two contents or more. Add "
        "contents."
    ]
    lacking = make_catalogue(("good", "poor"), contents=("a", "b"), medium="audio", without=[("b", "poor")])
    assert told(apart, lacking) == [
        "stimuli  of content a fit no other content: none has all of its conditions. Allowed: another content for "
        "each. Add such a content, or leave a out."
    ]
    asking = apart.model_copy(update={"options": {**apart.options, "within": ["speaker"]}})
    assert told(asking, three) == [
        "options.within.0  is speaker, which is no factor. Allowed: factors of the stimuli, and they have none."
    ]
    turned = apart.model_copy(update={"options": {**apart.options, "presentation": "sequential", "tolerance": 1.0}})
    assert [str(one) for one in METHOD.problems(turned, three)] == [
        "options.presentation  is sequential, and texts are read while either of the two is open. Allowed: free. Leave "
        "it out."
    ]
    assert problems(
        make_study("mismatch", ("good", "poor"), playback={"sound": "off"}), make_catalogue(("good", "poor"))
    )


@pytest.mark.parametrize("swap", ["companion", variant("stimulus")])
def test_neither_the_own_nor_the_foreign_one_ends_as_its_own_file_does(tmp_path: Path, swap: str) -> None:
    """Which of two sounds was cut would tell which belongs to the picture."""
    for content, seconds in (("long", 0.73), ("short", 0.68)):
        path = tmp_path / "clips" / "good" / f"{content}.mp4"
        path.parent.mkdir(parents=True, exist_ok=True)
        sources = [f"testsrc2=s=64x48:r=25:d={seconds}", f"sine=f=300:d={seconds}"]
        inputs = [word for source in sources for word in ("-f", "lavfi", "-i", source)]
        assert run_ffmpeg([*inputs, "-pix_fmt", "yuv420p", str(path)]).code == 0
    written = {
        "beholder": 1, "name": "tiny", "title": "Tiny", "method": "mismatch", "conditions": ["good"],
        "stimuli": {"folder": "clips", "accept": ["loudness", "file_size"]},
        "options": {"swap": swap, "tolerance": 0.2}, "questions": [{"id": "fit", "text": "Which fits?"}],
        "design": {"participants": 2, "trials": 2, "seed": 1}, "contact": "name@example.org",
    }  # fmt: skip
    (tmp_path / "study.yaml").write_text(json.dumps(written), "utf-8")
    stimuli = load_catalogue(load_study(tmp_path)).by_id
    assert len(stimuli) == 4
    for content in ("long", "short"):
        own, foreign = (packets(stimuli[name].served) for name in (f"good/{content}", f"mismatched:good/{content}"))
        assert own == foreign
        assert len(own) > 20


def packets(path: Path) -> list[list[str]]:
    """Return of each packet of a file its stream, its times and how long it lasts."""
    run = run_ffmpeg(["-i", str(path), "-c", "copy", "-f", "framecrc", "pipe:1"])
    lines = [line for line in run.out.decode("ascii").splitlines() if not line.startswith("#")]
    return [[cell.strip() for cell in line.split(",")[:4]] for line in lines]


def test_files_that_a_researcher_mismatched_stand_beside_their_own_and_last_as_long() -> None:
    study = make_study("mismatch", ("good",))
    plain = make_catalogue(("good",), contents=("a", "b"))
    ready = [replace(one, id=f"mismatched:{one.id}", role="mismatched", file=f"{one.file}-m") for one in plain.stimuli]
    beside = replace(plain, stimuli=(*plain.stimuli, *ready))
    assert list(companion_problems(study, beside)) == []
    assert [unit.stimuli for unit in METHOD.units(study, beside).items] == [
        ("good/a", "mismatched:good/a"), ("good/b", "mismatched:good/b"),
    ]  # fmt: skip
    assert add_mismatched(study, beside, lambda _: []).stimuli == beside.stimuli
    longer = [replace(one, probe=replace(one.probe, duration_ms=4000)) for one in ready[:1]]
    alone = [replace(one, content="z") for one in ready[1:]]
    told = [str(one) for one in companion_problems(study, replace(plain, stimuli=(*plain.stimuli, *longer, *alone)))]
    assert told == [
        "good/a-m  lasts 4.00 s, and good/a 3.00 s: its length tells that it is mismatched. Allowed: lengths "
        "within 0.1 s of each other. Cut both to the same length.",
        "good/b-m  is mismatched, and content z under condition good has no other file. Allowed: a matched and a "
        "mismatched file of each. Add the matched one.",
    ]
