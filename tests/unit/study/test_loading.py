"""Every problem of a study is reported at once: where it is, what is wrong, what is allowed, how to fix it."""

from __future__ import annotations

from pathlib import Path

import pytest

from beholder.formats import listed
from beholder.methods import names
from support.study_texts import HEAD, INSIDE, load, refusal


def test_the_shortest_study_is_filled_with_defaults(tmp_path: Path) -> None:
    study = load(tmp_path, HEAD)
    assert study.stimuli.folder == "stimuli"
    assert study.design.participants == 20
    assert study.folder == tmp_path
    assert study.preset == "none"


def test_defaults_of_the_method_lie_beneath_what_was_written(tmp_path: Path) -> None:
    assert load(tmp_path, HEAD).playback.fullscreen is True
    assert load(tmp_path, HEAD + "playback: {size: native}\n").playback.fullscreen is True
    assert load(tmp_path, HEAD + "playback: {fullscreen: false}\n").playback.fullscreen is False
    assert load(tmp_path, HEAD.replace("acr", "parallel")).design.contents == "once"


def test_options_of_the_method_are_filled_and_kept_plain(tmp_path: Path) -> None:
    assert load(tmp_path, HEAD.replace("acr", "parallel")).options == {
        "layout": "turns", "reference": "none", "anchors": [],
    }  # fmt: skip


def test_a_text_may_be_a_file(tmp_path: Path) -> None:
    (tmp_path / "hello.md").write_text("Hello", "utf-8")
    assert load(tmp_path, HEAD + "texts: {consent: hello.md, thanks: Thank *you*}\n").texts.consent == "hello.md"


def test_all_problems_are_told_at_once_in_the_order_of_lines(tmp_path: Path) -> None:
    text = "beholder: 2\nname: No Good\nmethod: acr\nstimuli: stimuli\ndesing: {}\nplayback: {watch: hole}\n"
    assert [line.split("  ")[0] for line in refusal(tmp_path, text)] == [
        "study.yaml:1", "study.yaml:1", "study.yaml:2", "study.yaml:5", "study.yaml:6",
    ]  # fmt: skip


DESIGN = (
    "participants, votes, looks, stop, sessions_per_participant, trials, per_trial, always, contents, order, blocks, "
    "pairs, arena, both_orders, between, plan, own, breaks and seed"
)
KNOWN = (
    "beholder, name, title, language, languages, method, options, preset, stimuli, media, conditions, questions, "
    "playback, stage, design, texts, before, during, after, ending, qualification, training, checks, clean, analyse, "
    "recruit, deploy, backup, budget, family, retention, run, contact, alarms, publication and source"
)
NAMED = "Allowed: acr5, acr9, acr11, cont100 or {min, max, step, labels, look}."
SLUG = "Allowed: up to 64 small letters, digits, - and _, beginning with a letter or digit."


@pytest.mark.parametrize(
    ("written", "message"),
    [
        # keys
        ("metod: acr", "metod is not a known key. Did you mean method?"),
        ("Design: {trials: 3}", "Design is not a known key. Did you mean design?"),
        ("participants: 9", "participants is not a known key. It is a key of design."),
        ("playback: {trials: 9}", "playback.trials is not a known key. It is a key of design."),
        ("design: {title: x}", "design.title is not a known key. title stands at the top of the file, not in here."),
        ("xyzzy: 1", f"xyzzy is not a known key. Allowed: {KNOWN}."),
        ("design: {trails: 3}", "design.trails is not a known key. Did you mean trials?"),
        ("options: {layout: rows}", "options.layout is not a known key. Allowed: marks."),
        ("questions: [{text: x}]", f"questions.0.id is missing. {SLUG}"),
        ("before: [{id: a, text: b}]", "before.0.type is missing. "
                                       "Allowed: single, multiple, likert, number or text."),
        # values
        ("design: 5", f"design is 5. Allowed: a map with the keys {DESIGN}."),
        ("design: {participants: 0}", "design.participants is 0. Allowed: a whole number, 1 to 100,000."),
        ("design: {participants: ten}", "design.participants is ten. Allowed: a whole number, 1 to 100,000."),
        ("design: {participants: 1.5}", "design.participants is 1.5. Allowed: a whole number, 1 to 100,000."),
        ("design: {participants: true}", "design.participants is true. Allowed: a whole number, 1 to 100,000."),
        ("design: {participants: [1]}", "design.participants is a list. Allowed: a whole number, 1 to 100,000."),
        ('design: {participants: "20"}', "design.participants is 20. Allowed: a whole number, 1 to 100,000. "
                                         "Take the quotes off."),
        ("design: {participants: 1_000}", "design.participants is 1_000. Allowed: a whole number, 1 to 100,000."),
        ("design: {participants: }", "design.participants is empty. Allowed: a whole number, 1 to 100,000."),
        ("design: {participants: 100000000}", "design.participants is 100000000. "
                                              "Allowed: a whole number, 1 to 100,000."),
        ("design: {trials: 10001}", "design.trials is 10001. Allowed: a whole number, 1 to 10,000."),
        ("design: {always: natural}", "design.always is natural. Allowed: a list. Write [natural]."),
        ("design: {always: [~]}", "design.always.0 is empty. Allowed: text that is not empty."),
        ("recruit: {minutes: 0}", "recruit.minutes is 0. Allowed: a number above 0, 600 or less."),
        ("recruit: {minutes: .inf}", "recruit.minutes is .inf. Allowed: a number above 0, 600 or less."),
        ("playback: {fullscreen: yes}", "playback.fullscreen is yes. Allowed: true or false. Write true."),
        ("playback: {fullscreen: 1}", "playback.fullscreen is 1. Allowed: true or false."),
        ("playback: {watch: hole}", "playback.watch is hole. Allowed: whole, start or none. Did you mean whole?"),
        ("playback: {size: huge}", "playback.size is huge. Allowed: fit, native or a percentage such as 50%."),
        ("conditions: [{name: }]", "conditions.0.name is empty. Allowed: text that is not empty."),
        ("conditions: [{name: a, label: ''}]", "conditions.0.label is empty. Allowed: text that is not empty."),
        ('conditions: [" "]', "conditions.0 is empty. Allowed: a name, or {name, label, role}."),
        ("conditions: [[a]]", "conditions.0 is a list. Allowed: a name, or {name, label, role}."),
        ("conditions: {a: b}",
         "conditions is a map. Allowed: a list. Begin each of its items with a dash and a blank, as - name: value."),
        ("conditions: short, long", "conditions is short, long. Allowed: a list. Write [short, long]."),
        ("conditions: [{name: a, role: control}]",
         "conditions.0.role is control. Allowed: test, reference or anchor. Did you mean reference?"),
        ("before: [{id: a, text: b, type: choice, options: [c, d]}]",
         "before.0.type is choice. Allowed: single, multiple, likert, number or text. Did you mean single?"),
        ("before: [{id: a, type: text, question: b}]",
         "before.0.question is not a known key. Write text in its place."),
        ("design: {break_every: 3}", "design.break_every is not a known key. Write breaks in its place."),
        ("questions: [{id: Big, text: x}]", f"questions.0.id is Big. {SLUG}"),
        ("contact: me", "contact is me. Allowed: an e-mail address, or a web address that begins with https://."),
        ("contact: http://a.b", "contact is http://a.b. "
                                "Allowed: an e-mail address, or a web address that begins with https://."),
        ("language: xx", "language is xx, and our words are not written in it. Allowed: those that `beholder words` "
                         "lists. docs/translating.md tells how another language is added."),
        ("source: .nan", "source is .nan. Allowed: a finite number."),
        # scales
        ("questions: [{id: q, text: x, scale: {min: 100, max: 0}}]",
         "questions.0.scale.min is 100, above max 0. Allowed: min below max. "
         "For the usual slider write scale: cont100."),
        ("questions: [{id: q, text: x, scale: {min: 1, max: 1}}]",
         "questions.0.scale.min is 1, the same as max 1. Allowed: min below max. "
         "For the usual slider write scale: cont100."),
        ("questions: [{id: q, text: x, scale: {min: 0, max: 10, step: 3}}]",
         "questions.0.scale.step is 3, which does not divide 0 to 10 into equal parts. "
         "Allowed: a step that leads from min to max."),
        ("questions: [{id: q, text: x, scale: {min: 0, max: 100, look: radio}}]",
         "questions.0.scale.look is radio with 101 categories. Allowed: up to 21 categories. Write look: slider."),
        ("questions: [{id: q, text: x, scale: {min: 0, max: 10, labels: {11: far}}}]",
         "questions.0.scale.labels has 'far' at 11, outside 0 to 10. Allowed: 0 to 10."),
        ("questions: [{id: q, text: x, scale: {min: 0, max: 10, labels: [[1, a], [1, b]]}}]",
         "questions.0.scale.labels has two words at 1. Allowed: one word for each value."),
        ("questions: [{id: q, text: x, scale: {min: 0, max: 10, labels: {far: 11}}}]",
         "questions.0.scale.labels.far is at far. Allowed: numbers as keys of labels."),
        ("questions: [{id: q, text: x, scale: {min: 0}}]", "questions.0.scale.max is missing. Allowed: a number."),
        ("questions: [{id: q, text: x, scale: acr4}]",
         f"questions.0.scale is acr4, which is not a scale. {NAMED} Did you mean acr9?"),
        ("questions: [{id: q, text: x, scale: [1]}]",
         "questions.0.scale is a list. Allowed: acr5, acr9, acr11, dcr5, dcr9, sig5, bak5, grade5, ccr5, "
         "ccr7, ccr9, pref2, pref3, order, agree5, cont100, or {min, max, step, labels, look}."),
        # what a later version brings
        ("questions: [{id: q, text: x, scale: dcr5}]",
         f"questions.0.scale is dcr5, which acr does not use. {NAMED}"),
        (
            "preset: hemvipp",
            "preset is hemvipp. Allowed: none, hemvip, p910, mushra, audio or genea. Did you mean hemvip?",
        ),
        (
            "checks: {atention: true}",
            "checks.atention is not a known key. Did you mean attention?",
        ),
        (
            "checks: {trap: {words: 'Choose {valu}.'}}",
            "checks.trap.words has {valu}. Allowed: {value} and {label} for the answer.",
        ),
        (
            "checks: {attention: {targets: [95, 5]}}",
            "checks.attention.targets is 95, 5. Allowed: the lower number first.",
        ),
        (
            "checks: {ratio: {range: [1.15, 0.95]}}",
            "checks.ratio.range is 1.15, 0.95. Allowed: the lower number first.",
        ),
        (
            "checks: {gold: 3}",
            "checks.gold is 3. Allowed: true or false, or a map with the keys action, retries, max_failed, end_after, "
            "per_session, tolerance and items.",
        ),
        ("playback: {loop: regions}", "playback.loop is regions. Allowed: off, after-first or region. "
                                      "Did you mean region?"),
        (
            'questions: [{id: q, text: x, keyed: "+", turned: Not x}]',
            "questions.0.turned is 'Not x', and keyed is +: its scores are shown as they are. Allowed: keyed: \"-\" "
            "beside it. Write it as label.",
        ),
        ("questions: [{id: q, text: x, keyed: minus}]", "questions.0.keyed is minus. Allowed: + or -."),
        # parts that do not fit
        ("questions: [{id: q, text: x}, {id: q, text: y}]",
         "questions.1.id is q, as is questions.0.id. Allowed: every id once. Rename or remove one."),
        ("questions: [{id: q, text: x, ticks: [a, b, a]}]",
         "questions.0.ticks.2 is a, as is questions.0.ticks.0. Allowed: every tick once. Rename or remove one."),
        ("before: [{id: q, text: x, type: text}]\nafter: [{id: q, text: x, type: text}]",
         "after.0.id is q, as is before.0.id. Allowed: every id once. Rename or remove one."),
        ("conditions: [a, {name: a}]",
         "conditions.1.name is a, as is conditions.0. Allowed: every condition once. Rename or remove one."),
        ("design: {always: [a, a]}",
         "design.always.1 is a, as is design.always.0. Allowed: every condition once. Rename or remove one."),
        ("conditions: [natural, full]\ndesign: {always: [naturel]}",
         "design.always.0 is naturel, which is not among the conditions. Allowed: natural or full. "
         "Did you mean natural?"),
        ("conditions: [a, b]\ndesign: {per_trial: 3}",
         "design.per_trial is 3, above the number of conditions 2. Allowed: at most 2. "
         "Leave it out to show all conditions."),
        ("design: {per_trial: 1, always: [a, b]}",
         "design.per_trial is 1, below the 2 conditions that are always shown. Allowed: at least 2. "
         "Shorten design.always, or show more per trial."),
        # questionnaires
        ("before: [{id: q, text: x, type: single, options: [a]}]",
         "before.0 has fewer than two options, and type single needs them. Allowed: two or more options."),
        ("before: [{id: q, text: x, type: likert, options: [a]}]",
         "before.0 has one option. Allowed: two or more labels, or none for the five usual ones."),
        ("before: [{id: q, text: x, type: number, options: [a, b]}]",
         "before.0.options does not go with type number. Take it out."),
        ("before: [{id: q, text: x, type: multiple, options: [a, b, a]}]",
         "before.0.options.2 is a a second time. Allowed: every option once."),
        ("before: [{id: q, text: x, type: single, options: [a, b], correct: [c]}]",
         "before.0.correct.0 is c, which is not among the options. Allowed: a, b."),
        ("before: [{id: q, text: x, type: single, options: [a, b], correct: []}]",
         "before.0.correct is an empty list. Allowed: one or more of the options."),
        ("before: [{id: q, text: x, type: number, correct: [3]}]",
         "before.0.correct does not go with type number. Allowed: types single and multiple."),
        ("before: [{id: q, text: x, type: number, min: 9, max: 3}]",
         "before.0.min is 9, above max 3. Allowed: min up to max."),
        ("before: [{id: q, text: x, type: text, min: 9}]", "before.0.min does not go with type text. Take it out."),
        ("before: [{id: q, text: x, type: text, max: 0.5}]",
         "before.0.max is 0.5. Allowed: a whole number of characters, 1 or more."),
        # files
        ("texts: {consent: none.md}",
         "texts.consent is none.md, and there is no such file. "
         "Allowed: Markdown, or the name of a file that ends in .md. Write it to none.md in the study folder."),
        ("texts: {consent: a/../../b.md}",
         f"texts.consent is a/../../b.md, outside the study folder. {INSIDE} Move it into the study folder."),
        ("texts: {consent: /b.md}",
         f"texts.consent is /b.md, an absolute path. {INSIDE} Move it into the study folder."),
        ("texts: {consent: 'C:/b.md'}",
         f"texts.consent is C:/b.md, an absolute path. {INSIDE} Move it into the study folder."),
        ("texts: {consent: 'a\\b.md'}", f"texts.consent is 'a\\\\b.md'. {INSIDE}"),
        ("texts: {consent: empty.md}",
         "texts.consent is empty.md, which is empty. Allowed: a file that says something."),
        ("texts: {consent: latin.md}",
         "texts.consent is latin.md, which is not UTF-8. Allowed: UTF-8. Save the file as UTF-8."),
        ("texts: {consent: ''}", "texts.consent is empty. Allowed: text that is not empty."),
    ],
)  # fmt: skip
def test_a_problem_says_what_is_wrong_and_what_is_allowed(tmp_path: Path, written: str, message: str) -> None:
    (tmp_path / "empty.md").write_text("\n", "utf-8")
    (tmp_path / "latin.md").write_bytes(b"caf\xe9")
    (line,) = refusal(tmp_path, HEAD + written + "\n")
    where, problem = line.split("  ", 1)
    assert problem == message
    assert where in ("study.yaml:6", "study.yaml:7")


@pytest.mark.parametrize(
    ("written", "message"),
    [
        ("method: acrr", "study.yaml:4  method is acrr, which is not a method. Allowed: {names}. Did you mean acr?"),
        ("method:", "study.yaml:4  method is empty. Allowed: {names}."),
        ("method: [acr]", "study.yaml:4  method is a list. Allowed: {names}."),
        ("", "study.yaml:1  method is missing. Allowed: {names}."),
    ],
)
def test_a_problem_with_the_method_is_told(tmp_path: Path, written: str, message: str) -> None:
    problems = refusal(tmp_path, HEAD.replace("method: acr", written))
    assert problems == [message.replace("{names}", listed(names()))]


def test_an_unknown_method_does_not_hide_other_problems(tmp_path: Path) -> None:
    problems = refusal(tmp_path, HEAD.replace("acr", "acrr") + "design: {seed: x}\n")
    assert [line.split("  ")[0] for line in problems] == ["study.yaml:4", "study.yaml:6"]


def test_a_wrong_option_of_the_method_is_told_at_its_place(tmp_path: Path) -> None:
    assert refusal(tmp_path, HEAD.replace("acr", "parallel") + "options:\n  layout: row\n") == [
        "study.yaml:7  options.layout is row. Allowed: turns or rows. Did you mean rows?"
    ]
    assert refusal(tmp_path, HEAD.replace("acr", "parallel") + "options: 5\n") == [
        "study.yaml:6  options is 5. Allowed: a map with the keys layout, reference, anchors and marks."
    ]


def test_a_block_list_that_is_not_there_is_named(tmp_path: Path) -> None:
    assert refusal(tmp_path, HEAD + "recruit: {block: blocked.txt}\n") == [
        "study.yaml:6  recruit.block is blocked.txt, and there is no such file. "
        "Allowed: a text file with one id a line."
    ]
