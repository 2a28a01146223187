"""`new`: a study folder with sample stimuli that runs as it is."""

from __future__ import annotations

from pathlib import Path

from beholder.errors import Problem, StudyError

_SCHEMA_LINE = "# yaml-language-server: $schema=study.schema.json"
_IGNORED = (
    "# Made by Beholder, or holding what people told us, or who they are: not for a repository.\n"
    "store/\nmedia/\nruns/\nlaunch/links.csv\ndecide/\npay/\n"
)
_RECRUIT = """
# People come by the link that `beholder run` prints. Or in another way, with one of these lines: docs/recruiting.md
# recruit: {mode: prolific, reward: 2.00 GBP, minutes: 10, filters: {languages: [English]}}
# recruit: {mode: panel, id_parameter: participantId, reward: 2.00 GBP}
# recruit: {mode: lab, stations: 4}
"""


def new(method: str, folder: str | Path, *, seconds: float = 3.0) -> Path:
    """Return the study.yaml of a new study in `folder`, with sample stimuli, a schema for editors and its texts.

    `seconds` is how long sample clips last.
    """
    import shutil
    import tempfile

    from beholder.methods import method_folder

    folder = Path(folder)
    source = method_folder(method, "beholder new")
    _refuse_used(folder)
    example = source / "example.yaml"
    if not example.is_file():
        raise StudyError(Problem(str(source), "has no example.yaml", "a method folder with an example", ""))
    folder.parent.mkdir(parents=True, exist_ok=True)
    # Written to a temporary folder and moved at the end, so that a failure leaves nothing that blocks the next try.
    with tempfile.TemporaryDirectory(prefix=".new-", dir=folder.parent) as aside:
        draft = Path(aside) / "study"
        _write(draft, example, seconds)
        folder.mkdir(exist_ok=True)
        for part in sorted(draft.iterdir()):
            shutil.move(part, folder / part.name)
    return folder / "study.yaml"


def _refuse_used(folder: Path) -> None:
    allowed, fix = "a new or an empty folder", "Choose another name."
    if folder.exists() and not folder.is_dir():
        raise StudyError(Problem(str(folder), "is a file", allowed, fix))
    if folder.is_dir() and any(folder.iterdir()):
        raise StudyError(Problem(str(folder), "is not empty", allowed, fix))


def _write(draft: Path, example: Path, seconds: float) -> None:
    """Write a whole study to a folder that does not exist yet."""
    import json
    import shutil

    from beholder.methods import load_study
    from beholder.stimuli.samples import make_samples, make_transcripts
    from beholder.study import schema

    draft.mkdir()
    lines = example.read_text("utf-8").splitlines()
    if lines[0] != _SCHEMA_LINE:
        lines.insert(0, _SCHEMA_LINE)
    text = "\n".join(lines) + "\n"
    if not any(line.startswith("recruit:") for line in lines):
        text += _RECRUIT
    (draft / "study.yaml").write_text(text, "utf-8", newline="\n")
    (draft / "study.schema.json").write_text(json.dumps(schema(), indent=2) + "\n", "utf-8", newline="\n")
    (draft / ".gitignore").write_text(_IGNORED, "utf-8", newline="\n")
    texts = example.parent / "texts"
    if texts.is_dir():
        shutil.copytree(texts, draft / "texts")
    study = load_study(draft)
    if study.stimuli.folder is not None:
        conditions = [condition.name for condition in study.conditions]
        make_samples(draft / study.stimuli.folder, conditions=conditions or None, seconds=seconds)
    if transcripts := study.options.get("transcripts"):
        make_transcripts(draft / transcripts)
