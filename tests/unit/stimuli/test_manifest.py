"""Manifests and lists of items: columns, lines, roles and expected answers."""

from __future__ import annotations

from pathlib import Path

import pytest

from beholder.methods import find, load_study
from beholder.planning import open_plan
from beholder.planning.message_trials import load_stimuli
from beholder.stimuli.ingestion import load_catalogue
from beholder.testing import write_study
from support.gold_stimuli import ACR, GOLD
from support.source_studies import SUFFIXES, problems, study_in, warnings, write
from support.training_studies import write_manifest, write_taught


def test_a_manifest_gives_roles_and_factors(tmp_path: Path, video: bytes) -> None:
    lines = [
        "\ufefffile,content,condition,Role,bitrate,expected",
        "v/1.mp4,city,a,,500,",
        '"v/2.mp4", city ,b,reference,900,',
        "",
        "v/1.mp4,city,a,gold,500,5",
    ]
    write(tmp_path, {"v/1.mp4": video, "v/2.mp4": video, "list.csv": "\r\n".join(lines)})
    catalogue = load_catalogue(study_in(tmp_path, {"manifest": "list.csv", "accept": ["identical"]}))
    assert [(s.id, s.role, dict(s.factors), s.file) for s in catalogue.stimuli] == [
        ("a/city", "test", {"bitrate": "500"}, "v/1.mp4"),
        ("gold:a/city", "gold", {"bitrate": "500"}, "v/1.mp4"),
        ("b/city", "reference", {"bitrate": "900"}, "v/2.mp4"),
    ]
    assert (catalogue.conditions, catalogue.contents) == (("a", "b"), ("city",))
    expected = "list.csv  stimuli with role gold are not shown, as checks.gold is off. Write checks: {gold: true}."
    assert warnings(catalogue) == [expected]


def test_a_manifest_may_have_semicolons(tmp_path: Path, video: bytes) -> None:
    write(tmp_path, {"a.mp4": video, "list.csv": "file;content;condition\na.mp4;city, north;x\n"})
    assert [s.content for s in load_catalogue(study_in(tmp_path, {"manifest": "list.csv"})).stimuli] == ["city, north"]


@pytest.mark.parametrize(
    "lines",
    [
        ('file;content;condition;"bitrate, kbit/s"', "a.mp4;city;x;500"),
        ("file\tcontent\tcondition\tbitrate, kbit/s", "a.mp4\tcity\tx\t500"),
        ('"File",content,condition,"bitrate, kbit/s"', "a.mp4,city,x,500"),
    ],
)
def test_the_needed_columns_tell_what_stands_between_cells(
    tmp_path: Path, video: bytes, lines: tuple[str, str]
) -> None:
    write(tmp_path, {"a.mp4": video, "list.csv": "\n".join(lines)})
    (stimulus,) = load_catalogue(study_in(tmp_path, {"manifest": "list.csv"})).stimuli
    assert (stimulus.id, dict(stimulus.factors)) == ("x/city", {"bitrate, kbit/s": "500"})


def test_every_problem_of_a_manifest_has_its_line(tmp_path: Path, video: bytes) -> None:
    rows = [
        "file,content,condition,role",
        "city.mp4,city,a,",
        "city.mp4,city,a,test",
        "cite.mp4,sea,a,",
        "../out.mp4,park,a,",
        "http://example.org/x.mp4,hill,a,",
        "city.mp4,wood,a,refrence",
        "city.mp4,lake,a,repeat",
        "city.mp4,,a/b,",
        "tune.wav,song,a,",
        ",none,a,",
        "city.mp4,more,a,,,",
        "data.xyz,what,a,",
    ]
    write(tmp_path, {"city.mp4": video, "list.csv": "\n".join(rows)})
    roles = "test, reference, anchor, mismatched, gold, trap, attention, training, example"
    assert problems(tmp_path, {"manifest": "list.csv"}) == [
        "list.csv:4  cite.mp4 does not exist. Did you mean city.mp4?",
        "list.csv:5  ../out.mp4 lies outside the study folder. Allowed: paths inside it. "
        "Copy the files into the study folder.",
        "list.csv:6  http://example.org/x.mp4 is fetched over http. Allowed: https addresses. Write https:// in front.",
        f"list.csv:7  role refrence is unknown. Allowed: {roles}. Did you mean reference?",
        f"list.csv:8  role repeat belongs to a place in a trial, not to a stimulus. Allowed: {roles}.",
        "list.csv:9  the content is empty. Allowed: a name.",
        "list.csv:9  the condition 'a/b' has a slash or a control character. Allowed: a name without them.",
        "list.csv:10  tune.wav does not exist.",
        "list.csv:11  the file is empty. Allowed: a path inside the study folder, or an https address.",
        "list.csv:12  has 6 cells, the first line has 4.",
        f"list.csv:13  data.xyz: this kind of file is unknown. Allowed: {SUFFIXES}.",
        "list.csv:3  is content city under condition a again, as list.csv:2 is. "
        "Allowed: one file for each content and condition. Rename one of them or take it out.",
    ]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (
            b"file,contents,condition\n",
            ["list.csv:1  column content is missing. Allowed: file, content, condition, role, for, factors. "
             "Rename column contents to content."],
        ),
        (b"file,content,condition,x,x\n", ["list.csv:1  column x is there twice."]),
        (b"file,content,condition\n\xff\n", ["list.csv  is not UTF-8 text. Save it as CSV UTF-8."]),
        (b'file,content,condition\n"a"b,c,d\n', ["list.csv:2  is no CSV: ',' expected after '\"'."]),
        (
            b"file,content,condition\n",
            [f"list.csv  holds no stimuli. Allowed: {SUFFIXES}. Write a line for each file."],
        ),
    ],
)  # fmt: skip
def test_a_manifest_that_cannot_be_read_is_explained(tmp_path: Path, text: bytes, expected: list[str]) -> None:
    write(tmp_path, {"list.csv": text})
    assert problems(tmp_path, {"manifest": "list.csv"}) == expected


def test_a_missing_manifest_is_a_problem(tmp_path: Path) -> None:
    assert problems(tmp_path, {"manifest": "list.csv"}) == [
        "list.csv  does not exist. Write it, or change stimuli in the study."
    ]


def test_a_video_of_a_manifest_that_cannot_be_read_is_named_with_line_and_file(tmp_path: Path) -> None:
    write(tmp_path, {"list.csv": "file,content,condition\nx.mp4,city,a\n", "x.mp4": "text"})
    assert problems(tmp_path, {"manifest": "list.csv"}) == [
        "list.csv:2 x.mp4  cannot be read as video: it is no mp4, mov, webm or mkv, or it is cut off. "
        "Export or copy it again, or take it out."
    ]


def test_a_manifest_holds_gold_and_traps(tmp_path: Path, tiny: Path) -> None:
    rows = [
        GOLD | {"tolerance": "0"},
        {"condition": "frozen", "content": "gold2", "role": "gold", "expected_quality": "1"},
        {"condition": "smooth", "content": "ask1", "role": "trap", "expected": "2"},
    ]
    keys = {**ACR, "stimuli": {"manifest": "stimuli.csv"}, "checks": {"gold": {"per_session": 2}, "trap": True}}
    study = load_study(write_taught(tmp_path, tiny, rows, **keys))
    catalogue = load_stimuli(study, find("acr"))
    assert catalogue.warnings == ()
    assert [stimulus.id for stimulus in catalogue.of_role("trap")] == ["trap:smooth/ask1"]
    plan = open_plan(study, catalogue)
    targets = {
        slot.stimulus: tuple(trial.targets["q1.s1"])
        for planned in plan.lists for trial in planned.trials for slot in trial.slots if trial.targets
    }  # fmt: skip
    assert targets == {
        "gold:natural/gold1": (5, 0, "", False, ()), "gold:frozen/gold2": (1, 1, "", False, ()),
        "trap:smooth/ask1": (2, 0, "", True, ()),
    }  # fmt: skip
    assert not (tmp_path / "media" / "made").exists()


def test_a_folder_study_lists_its_own_gold(tmp_path: Path, tiny: Path) -> None:
    items = [{"file": "stimuli/natural/greeting.mp4", "expected": 5}, {"file": "stimuli/frozen/greeting.mp4",
             "content": "stop", "condition": "worst", "expected": {"quality": 1}, "tolerance": 0}]  # fmt: skip
    study = load_study(write_study(tmp_path, tiny, **ACR, checks={"gold": {"items": items, "tolerance": 2}}))
    catalogue = load_stimuli(study, find("acr"))
    plan = open_plan(study, catalogue)
    targets = {(t.slots[0].stimulus, t.targets["q1.s1"][:2]) for one in plan.lists for t in one.trials if t.targets}
    assert targets == {("gold:gold/greeting", (5, 2)), ("gold:worst/stop", (1, 0))}


def test_what_no_rule_shows_is_told(tmp_path: Path, tiny: Path) -> None:
    study = load_study(write_taught(tmp_path, tiny, [GOLD | {"message": "Look!"}]))
    assert [str(problem) for problem in load_stimuli(study, find("acr")).warnings] == [
        "stimuli.csv  column message is used on lines with role training or example alone.",
        "stimuli.csv  stimuli with role gold are not shown, as checks.gold is off. Write checks: {gold: true}.",
    ]


def test_columns_of_a_manifest_that_was_made_are_taken(tmp_path: Path, tiny: Path) -> None:
    path = write_study(tmp_path, tiny, stimuli={"manifest": "list.csv"}, checks={"attention": {"per_session": 1}})
    files = sorted((tmp_path / "stimuli").rglob("*.mp4"))
    rows = [{"file": f"stimuli/{f.parent.name}/{f.name}", "content": f.stem, "condition": f.parent.name} for f in files]
    first = [row for row in rows if row["condition"] == "smooth"]
    made = [row | {"condition": "attention", "role": "attention", "expected": "37"} for row in first]
    write_manifest(tmp_path / "list.csv", [*rows, *made])
    study = load_study(path)
    catalogue = load_stimuli(study, find("parallel"))
    plan = open_plan(study, catalogue)
    values = [target[:2] for one in plan.lists for trial in one.trials for target in trial.targets.values()]
    assert values == [(37, 3)] * 6
