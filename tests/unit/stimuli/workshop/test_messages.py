"""`beholder media attention` and `beholder media trap`: copies that ask for an answer, and their lines."""

from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import CliRunner
from PIL import Image

from beholder.cli import cli
from beholder.errors import StimuliError
from beholder.stimuli.ffmpeg import file_argument, run_ffmpeg
from beholder.stimuli.probe import measure
from beholder.stimuli.workshop import WorkshopResult, make_messages

TEXT = "Bread gets stale. Water helps. Heat does too. Eat it soon."


def film(path: Path, seconds: float = 1.2, codec: str = "libx264") -> Path:
    source = f"testsrc2=s=96x54:r=25:d={seconds}"
    ran = run_ffmpeg(
        ["-v", "error", "-f", "lavfi", "-i", source, "-c:v", codec, "-pix_fmt", "yuv420p", file_argument(path)]
    )
    assert ran.code == 0, ran.log
    return path


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A study's folder, with a video, a picture and a text in a folder of it."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "raw").mkdir()
    film(tmp_path / "raw" / "street.mp4")
    Image.new("RGB", (160, 90), "teal").save(tmp_path / "raw" / "hill.jpg")
    (tmp_path / "raw" / "bread.txt").write_text(TEXT, "utf-8")
    (tmp_path / "raw" / "notes.pdf").write_bytes(b"not a stimulus")
    return tmp_path


def run(*arguments: str) -> tuple[int, str]:
    result = CliRunner().invoke(cli, ["media", *arguments])
    if isinstance(result.exception, StimuliError):
        return 2, str(result.exception)
    return result.exit_code, result.output


def test_a_folder_becomes_copies_that_ask_and_lines_for_a_manifest(here: Path) -> None:
    ask = ("attention", "raw", "--value", "37", "--value", "64.50", "--out", "asking")
    assert run(*ask) == (0, "Made 7 files.\n")
    names = [f"{name}-attention-{n}{suffix}"
             for n in (1, 2) for name, suffix in (("bread", ".txt"), ("hill", ".png"), ("street", ".mp4"))]  # fmt: skip
    assert sorted(path.name for path in (here / "asking").iterdir()) == sorted(
        [*names, ".beholder-made.json", "manifest.csv"]
    )
    assert (here / "asking" / "manifest.csv").read_text("utf-8") == (
        "file,content,condition,role,expected\n"
        "asking/bread-attention-1.txt,bread,attention-1,attention,37\n"
        "asking/hill-attention-1.png,hill,attention-1,attention,37\n"
        "asking/street-attention-1.mp4,street,attention-1,attention,37\n"
        "asking/bread-attention-2.txt,bread,attention-2,attention,64.5\n"
        "asking/hill-attention-2.png,hill,attention-2,attention,64.5\n"
        "asking/street-attention-2.mp4,street,attention-2,attention,64.5\n"
    )
    assert (here / "asking" / "bread-attention-2.txt").read_text("utf-8") == (
        "Bread gets stale. Water helps. Attention check: please set this slider to 64.5. Heat does too. Eat it soon."
    )
    assert measure(here / "asking" / "street-attention-1.mp4", "").frames == 30
    before = {path.name: path.stat().st_mtime_ns for path in (here / "asking").iterdir()}
    assert run(*ask) == (0, "Made 0 files. 7 already there.\n")
    assert {path.name: path.stat().st_mtime_ns for path in (here / "asking").iterdir()} == before


def test_a_trap_says_what_to_choose_in_words_of_ones_own_too(here: Path) -> None:
    assert run("trap", "raw/bread.txt", "--value", "2", "--label", "Poor", "--out", "out") == (0, "Made 2 files.\n")
    made = here / "out" / "bread-trap-1.txt"
    assert "Water helps. Attention check: please choose “Poor”. Heat" in made.read_text("utf-8")
    assert (here / "out" / "manifest.csv").read_text("utf-8").endswith("bread,trap,trap,2\n")
    own = ("--value", "2", "--label", "Poor", "--words", "This is a break; choose {label}.")
    assert run("trap", "raw/bread.txt", *own, "--out", "out") == (0, "Made 1 file. 1 already there.\n")
    assert "Water helps. This is a break; choose Poor. Heat" in made.read_text("utf-8")


def test_lines_of_earlier_runs_stay_as_long_as_their_files(here: Path) -> None:
    run("trap", "raw/bread.txt", "--value", "2", "--out", "out")
    run("attention", "raw/bread.txt", "--value", "1", "--words", "Choose this one.", "--out", "out")
    head, trap, attention = (here / "out" / "manifest.csv").read_text("utf-8").splitlines()
    assert head == "file,content,condition,role,expected"
    assert trap == "out/bread-trap-1.txt,bread,trap,trap,2"
    assert attention == "out/bread-attention-1.txt,bread,attention,attention,1"
    (here / "out" / "bread-trap-1.txt").unlink()
    run("attention", "raw/bread.txt", "--value", "1", "--words", "Choose this one.", "--out", "out")
    assert (here / "out" / "manifest.csv").read_text("utf-8").splitlines() == [head, attention]


def problems(*files: Path, out: Path, **options: object) -> list[str]:
    with pytest.raises(StimuliError) as refused:
        make_messages(files, out, role="trap", **options)  # type: ignore[arg-type]
    return [str(problem) for problem in refused.value.problems]


def test_all_that_is_wrong_is_told_at_once(here: Path) -> None:
    raw = Path("raw")
    film(raw / "short.mp4", 0.4)
    film(raw / "strange.mkv", 1.2, "mpeg4")
    (raw / "broken.mp4").write_bytes((raw / "street.mp4").read_bytes()[:2000])
    (raw / "tone.wav").write_bytes(b"RIFF")
    (raw / "street.txt").write_text(TEXT, "utf-8")
    Path("empty").mkdir()
    files = [raw / name for name in ("short.mp4", "strange.mkv", "broken.mp4", "tone.wav", "notes.pdf", "gone.mp4")]
    messages = problems(
        *files, raw / "street.txt", raw / "street.mp4", Path("empty"), out=raw / "street.mp4",
        value=["x", "nan", "37"], words="Set {valeu} to {label}.",
    )  # fmt: skip
    slash = str(Path("raw", "x"))[3]
    expected = [
        "--words  has {valeu}. Allowed: {value}, {label}.",
        "--words  has {label}, and there is no --label. Allowed: --label, or other words.",
        "--value  is x. Allowed: a number, as 37.",
        "--value  is nan. Allowed: a number, as 37.",
        "raw/gone.mp4  does not exist. Look for a slip in the name.",
        "empty  has no media in it. Allowed: a folder with media files.",
        "--out  is raw/street.mp4, which is a file. Allowed: a folder.",
        "raw/street.mp4  has the name of raw/street.txt, so that one copy would replace the other. "
        "Allowed: names that differ. Rename one, or make them in two runs with two --out.",
        "raw/short.mp4  lasts 0.40 s, too short to read a message in. Allowed: 1 s or more.",
    ]
    assert messages[: len(expected)] == [line.replace("raw/", f"raw{slash}") for line in expected]
    rest = messages[len(expected) :]
    assert [line.split("  ")[0] for line in rest] == [str(file) for file in files[1:5]]
    assert "is MPEG-4 part 2, which browsers do not play" in rest[0]
    assert "cannot be read as video" in rest[1]
    assert rest[2] == f"{files[3]}  is a sound, on which no text can be read. Allowed: --say voice."
    assert rest[3].startswith(f"{files[4]}  is of no medium that is known. Allowed: .mp4, .m4v")


def test_what_to_ask_for_has_to_be_said(here: Path) -> None:
    text, out = Path("raw/bread.txt"), Path("out")
    assert problems(text, out=out) == [
        "--value  is missing. Allowed: the number of the answer that is asked for, as 37."
    ]
    assert problems(out=out, value=["1"], words=" ") == ["--words  is empty. Allowed: what people are asked to do."]
    assert problems(out=out, value=["1"]) == [
        "FILES  holds no media. Allowed: video, sound, image or text files, or folders of them."
    ]
    assert problems(text, out=out, value=["1"], label=[""]) == [
        "--label  is empty. Allowed: the name of an answer, as Poor."
    ]
    assert problems(text, out=out, value=["1", "2"], label=["Poor"]) == [
        "--label  is given 1 times, and --value 2 times. Allowed: one for each --value, or none."
    ]
    assert problems(text, out=out, value=["1", "2"], words="Set it.") == [
        "--words  says the same for every answer. Allowed: words with {value} or {label}, or one answer."
    ]
    assert problems(text, out=out, value=["1"], say="voice") == [
        f"{text}  is a text, which cannot be heard. Allowed: --say text."
    ]


def test_nothing_of_somebody_else_is_replaced(here: Path) -> None:
    (here / "out").mkdir()
    manifest = here / "out" / "manifest.csv"
    manifest.write_bytes(b"mine \xff")
    messages = problems(Path("raw/bread.txt"), out=Path("out"), value=["1"])
    fix = "Choose another --out, or move it away."
    assert messages == [f"{Path('out', 'manifest.csv')}  is there, and is not what this command made. {fix}"]
    assert manifest.read_bytes() == b"mine \xff"
    manifest.unlink()
    (here / "out" / "bread-trap-1.txt").write_text("mine", "utf-8")
    messages = problems(Path("raw/bread.txt"), out=Path("out"), value=["1"])
    assert messages == [f"{Path('out', 'bread-trap-1.txt')}  is there, and is not what this command made. {fix}"]


def test_what_one_file_cannot_take_does_not_keep_the_others_from_being_made(here: Path) -> None:
    word = Path("raw/word.txt")
    word.write_text("Stop", "utf-8")
    messages = problems(word, Path("raw/bread.txt"), out=Path("out"), value=[3])
    assert messages == [
        f"{word}  has no two words that a message could stand between. Allowed: a text of two sentences or more."
    ]
    assert (here / "out" / "bread-trap-1.txt").exists()
    made = make_messages([Path("raw/bread.txt")], Path("out"), role="trap", value=[3])
    assert made == WorkshopResult((Path("out/manifest.csv"),), (Path("out/bread-trap-1.txt"),))
