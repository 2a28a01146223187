"""Where stimuli come from: folders, patterns, manifests, addresses."""

from __future__ import annotations

import hashlib
import json
import unicodedata
from collections.abc import Mapping, Sequence
from pathlib import Path

import httpx
import pytest

from beholder.errors import StimuliError
from beholder.stimuli.catalogue import Catalogue
from beholder.stimuli.ffmpeg import run_ffmpeg
from beholder.stimuli.ingestion import load_catalogue
from beholder.study.loading import build_study
from beholder.study.model import Study
from beholder.study.yaml import read_document

SUFFIXES = (
    ".mp4, .m4v, .mov, .webm, .mkv, .wav, .mp3, .flac, .ogg, .oga, .opus, .m4a, .aac, .aif, .aiff, .png, .jpg, .jpeg, "
    ".webp, .avif, .gif, .bmp, .tif, .tiff, .svg, .txt, .md, .html, .htm"
)


@pytest.fixture(scope="session")
def video(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    path = tmp_path_factory.mktemp("video") / "tiny.mp4"
    picture = ("-f", "lavfi", "-i", "testsrc2=s=64x48:d=0.4:r=25")
    assert run_ffmpeg([*picture, "-c:v", "libx264", "-pix_fmt", "yuv420p", str(path)]).code == 0
    return path.read_bytes()


def write(folder: Path, files: Mapping[str, bytes | str]) -> None:
    for name, data in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data if isinstance(data, bytes) else data.encode())


def study_in(folder: Path, stimuli: object = "stimuli", conditions: Sequence[str] = ()) -> Study:
    keys = {"beholder": 1, "name": "tiny", "title": "Tiny", "method": "acr", "stimuli": stimuli}
    (folder / "study.yaml").write_text(json.dumps({**keys, **({"conditions": conditions} if conditions else {})}))
    return build_study(read_document(folder), None)


def problems(folder: Path, stimuli: object = "stimuli") -> list[str]:
    with pytest.raises(StimuliError) as caught:
        load_catalogue(study_in(folder, stimuli))
    return [str(problem) for problem in caught.value.problems]


def warnings(catalogue: Catalogue) -> list[str]:
    return [str(warning) for warning in catalogue.warnings]


def test_a_missing_folder_a_file_in_its_place_and_an_empty_one_are_problems(tmp_path: Path) -> None:
    fix = "Make the folder stimuli with one folder per condition, or change stimuli in the study."
    assert problems(tmp_path) == [f"stimuli  does not exist. {fix}"]
    (tmp_path / "stimuli").write_text("")
    assert problems(tmp_path) == [f"stimuli  is a file, not a folder. {fix}"]
    (tmp_path / "stimuli").unlink()
    (tmp_path / "stimuli" / "a").mkdir(parents=True)
    put = "Put files there as stimuli/<condition>/<content>, for example stimuli/a/city.mp4."
    assert problems(tmp_path) == [f"stimuli  holds no stimuli. Allowed: {SUFFIXES}. {put}"]
    write(tmp_path, {"stimuli/a/x.srt": "", "stimuli/a/y.json": ""})
    assert problems(tmp_path) == [f"stimuli  holds no stimuli (2 other files left out). Allowed: {SUFFIXES}. {put}"]


def test_hidden_files_are_ignored_and_other_kinds_are_told(tmp_path: Path, video: bytes) -> None:
    clutter = {
        "stimuli/.DS_Store": "x",
        "stimuli/a/Thumbs.db": "x",
        "stimuli/a/._city.mp4": "x",
        "stimuli/.git/x.mp4": "x",
    }
    others = {
        "stimuli/a/city.vtt": "x",
        "stimuli/README.md": "x",
        "stimuli/overview.PNG": "x",
        "stimuli/a/b/c.mp4": "x",
    }
    write(
        tmp_path, {"stimuli/a/city.MP4": video, **clutter, **others, "stimuli/a/notes.xyz": "x", "stimuli/a/bare": "x"}
    )
    catalogue = load_catalogue(study_in(tmp_path))
    assert [stimulus.id for stimulus in catalogue.stimuli] == ["a/city"]
    assert warnings(catalogue) == [
        "stimuli/a/b  is a folder inside a condition and is left out.",
        f"stimuli/a/bare  is left out: no suffix is an unknown kind of file. Allowed: {SUFFIXES}.",
        f"stimuli/a/city.vtt  is left out: .vtt is an unknown kind of file. Allowed: {SUFFIXES}.",
        f"stimuli/a/notes.xyz  is left out: .xyz is an unknown kind of file. Allowed: {SUFFIXES}.",
        "stimuli/README.md  is left out: text beside video.",
        "stimuli/overview.PNG  is left out: image beside video.",
    ]


def test_a_video_outside_a_condition_and_two_contents_of_one_name_are_problems(tmp_path: Path, video: bytes) -> None:
    write(tmp_path, {"stimuli/city.mp4": video, "stimuli/a/sea.mp4": video, "stimuli/a/sea.mov": video})
    assert problems(tmp_path) == [
        "stimuli/city.mp4  lies in no condition folder. "
        "Expected stimuli/<condition>/city.mp4  Move it there, or give a pattern for file names.",
        "stimuli/a/sea.mp4  is content sea under condition a again, as stimuli/a/sea.mov is. "
        "Allowed: one file for each content and condition. Rename one of them or take it out.",
    ]


def test_stimuli_of_several_media_are_a_problem_that_names_one_of_each(tmp_path: Path, video: bytes) -> None:
    write(tmp_path, {"stimuli/a/sea.mp4": video, "stimuli/a/wood.txt": "Trees.", "stimuli/b/sea.wav": "x"})
    assert problems(tmp_path)[0] == (
        "study.yaml:1  stimuli mix video (stimuli/a/sea.mp4), audio (stimuli/b/sea.wav) and text (stimuli/a/wood.txt). "
        "Allowed: one medium. Take the others out, or make a study of each."
    )
    rows = "file,content,condition\nsea.mp4,sea,a\nhttps://example.org/sea.png?x=1,sea,b\n"
    write(tmp_path, {"list.csv": rows, "sea.mp4": video})

    def away(request: httpx.Request) -> httpx.Response:
        return httpx.Response(404)

    with pytest.raises(StimuliError) as caught:
        load_catalogue(study_in(tmp_path, {"manifest": "list.csv"}), transport=httpx.MockTransport(away))
    assert str(caught.value.problems[0]) == (
        "study.yaml:1  stimuli mix video (sea.mp4) and image (https://example.org/sea.png?x=1). "
        "Allowed: one medium. Take the others out, or make a study of each."
    )


def test_names_in_another_unicode_form_are_the_same_names(tmp_path: Path, video: bytes) -> None:
    write(tmp_path, {f"stimuli/{unicodedata.normalize('NFD', 'Größe')}/café.mp4": video})
    catalogue = load_catalogue(study_in(tmp_path, conditions=[unicodedata.normalize("NFC", "Größe")]))
    assert [stimulus.id for stimulus in catalogue.stimuli] == [unicodedata.normalize("NFC", "Größe/café")]


def test_a_pattern_reads_content_condition_and_factors_and_lists_what_does_not_match(
    tmp_path: Path, video: bytes
) -> None:
    pattern = r"(?P<content>[^_]+)_(?P<condition>[^_]+)_(?P<rate>\d+)\.mp4"
    write(tmp_path, {"clips/city_h264_500.mp4": video, "clips/sea_h264_900.mp4": video})
    catalogue = load_catalogue(study_in(tmp_path, {"folder": "clips", "pattern": pattern}))
    assert [(s.id, dict(s.factors), s.file) for s in catalogue.stimuli] == [
        ("h264/city", {"rate": "500"}, "clips/city_h264_500.mp4"),
        ("h264/sea", {"rate": "900"}, "clips/sea_h264_900.mp4"),
    ]
    write(tmp_path, {"clips/park.mp4": video, "clips/wood.mp4": video})
    fix = "Rename it, take it out, or change the pattern."
    assert problems(tmp_path, {"folder": "clips", "pattern": pattern}) == [
        f"clips/{name}.mp4  does not match the pattern {pattern}. {fix}" for name in ("park", "wood")
    ]


def test_a_pattern_may_speak_of_the_name_without_its_suffix(tmp_path: Path, video: bytes) -> None:
    write(tmp_path, {"clips/city-a.mp4": video, "clips/notes.txt": "x"})
    study = study_in(tmp_path, {"folder": "clips", "pattern": "(?P<content>.+)-(?P<condition>.+)"})
    (tmp_path / "clips" / "more").mkdir()
    catalogue = load_catalogue(study)
    assert [stimulus.condition for stimulus in catalogue.stimuli] == ["a"]
    assert warnings(catalogue) == [
        "clips/more  is a folder and is left out: with a pattern the folder is flat.",
        "clips/notes.txt  is left out: text beside video.",
    ]


def test_a_pattern_that_leaves_a_name_empty_is_told(tmp_path: Path, video: bytes) -> None:
    write(tmp_path, {"clips/city-.mp4": video})
    stimuli = {"folder": "clips", "pattern": "(?P<content>.+)-(?P<condition>.*)[.]mp4"}
    assert problems(tmp_path, stimuli) == ["clips/city-.mp4  the condition is empty. Allowed: a name."]


def test_a_manifest_gives_roles_and_factors(tmp_path: Path, video: bytes) -> None:
    lines = [
        "\ufefffile,content,condition,Role,bitrate,expected",
        "v/1.mp4,city,a,,500,",
        '"v/2.mp4", city ,b,reference,900,',
        "",
        "v/1.mp4,city,a,gold,500,5",
    ]
    write(tmp_path, {"v/1.mp4": video, "v/2.mp4": video, "list.csv": "\r\n".join(lines)})
    catalogue = load_catalogue(study_in(tmp_path, {"manifest": "list.csv"}))
    assert [(s.id, s.role, dict(s.factors), s.file) for s in catalogue.stimuli] == [
        ("a/city", "test", {"bitrate": "500"}, "v/1.mp4"),
        ("gold:a/city", "gold", {"bitrate": "500"}, "v/1.mp4"),
        ("b/city", "reference", {"bitrate": "900"}, "v/2.mp4"),
    ]
    assert (catalogue.conditions, catalogue.contents) == (("a", "b"), ("city",))
    told = "list.csv  stimuli with role gold are not shown, as checks.gold is off. Write checks: {gold: true}."
    assert warnings(catalogue) == [told]


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
    roles = "test, reference, anchor, gold, trap, attention, training, example"
    assert problems(tmp_path, {"manifest": "list.csv"}) == [
        "list.csv:4  cite.mp4 does not exist. Did you mean city.mp4?",
        "list.csv:5  ../out.mp4 lies outside the study folder. Allowed: paths inside it. "
        "Copy or link the files into the study folder.",
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
            ["list.csv:1  column content is missing. Allowed: file, content, condition, role, factors. "
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


def test_addresses_are_fetched_once_and_their_hash_is_kept(tmp_path: Path, video: bytes) -> None:
    asked: list[str] = []

    def answer(request: httpx.Request) -> httpx.Response:
        asked.append(str(request.url))
        if request.url.path == "/old.mp4":
            return httpx.Response(302, headers={"location": "https://example.org/new.mp4"})
        return httpx.Response(200, content=video)

    address = "https://example.org/old.mp4?key=1"
    write(tmp_path, {"list.csv": f"file,content,condition\n{address},city,a\n"})
    study = study_in(tmp_path, {"manifest": "list.csv"})
    (stimulus,) = load_catalogue(study, transport=httpx.MockTransport(answer)).stimuli
    assert asked == [address, "https://example.org/new.mp4"]
    assert (stimulus.file, stimulus.sha256) == (address, hashlib.sha256(video).hexdigest())
    (record,) = (tmp_path / "media" / "cache").glob("*.json")
    assert json.loads(record.read_text()) == {"address": address, "sha256": stimulus.sha256, "bytes": len(video)}
    assert load_catalogue(study, transport=httpx.MockTransport(answer)).stimuli == (stimulus,)
    assert len(asked) == 2


def test_addresses_that_fail_are_problems_and_leave_nothing_behind(tmp_path: Path) -> None:
    def answer(request: httpx.Request) -> httpx.Response:
        if request.url.path == "/plain.mp4":
            return httpx.Response(302, headers={"location": "http://example.org/x.mp4"})
        if request.url.path == "/gone.mp4":
            return httpx.Response(404)
        raise httpx.ConnectError("no route to host")

    names = ("gone", "plain", "away")
    rows = "".join(f"https://example.org/{name}.mp4,{name},a\n" for name in names)
    write(tmp_path, {"list.csv": f"file,content,condition\n{rows}"})
    with pytest.raises(StimuliError) as caught:
        load_catalogue(study_in(tmp_path, {"manifest": "list.csv"}), transport=httpx.MockTransport(answer))
    fix = "Check the address, or put the file into the study folder."
    assert [str(problem) for problem in caught.value.problems] == [
        f"list.csv:2  https://example.org/gone.mp4 cannot be fetched: the server answers 404. {fix}",
        f"list.csv:3  https://example.org/plain.mp4 cannot be fetched: it leads on to http://example.org. {fix}",
        f"list.csv:4  https://example.org/away.mp4 cannot be fetched: no route to host. {fix}",
    ]
    assert list((tmp_path / "media" / "cache").iterdir()) == []
