"""`new`: a study folder with sample stimuli that runs as it is."""

from __future__ import annotations

from pathlib import Path

from beholder.errors import Problem, StudyError

SCHEMA_LINE = "# yaml-language-server: $schema=study.schema.json"
IGNORED = (
    "# Made by Beholder, or holding what people told us, or who they are: not for a repository.\n"
    "store/\nmedia/\nruns/\nlaunch/links.csv\ndecide/\npay/\n"
)
_RECRUIT = """
# People come by the link that `beholder run` prints. Or in another way, with one of these lines: docs/recruiting.md
# recruit: {mode: prolific, reward: 2.00 GBP, minutes: 10, filters: {languages: [English]}}
# recruit: {mode: panel, id_parameter: participantId, reward: 2.00 GBP}
# recruit: {mode: lab, stations: 4}
"""


def new(
    method: str,
    folder: str | Path,
    *,
    preset: str | None = None,
    seconds: float = 3.0,
    size: tuple[int, int] | None = None,
) -> Path:
    """Return the study.yaml of a new study in `folder`, with sample stimuli, a schema for editors and its texts.

    Most of the time:
        method          the method, which is what the study is an example of
        folder          a new or an empty folder
        preset          studies that belong together, such as `genea` of `mismatch`: then it is their chain.yaml that
                        is returned, and each of them has a folder of its own

    Rarely:
        seconds         how long sample clips last
        size            the pixels of sample videos and images
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
    chain = _chain_of(source, method, preset) if preset is not None else None
    folder.parent.mkdir(parents=True, exist_ok=True)
    # Written to a temporary folder and moved at the end, so that a failure leaves nothing that blocks the next try.
    with tempfile.TemporaryDirectory(prefix=".new-", dir=folder.parent) as aside:
        draft = Path(aside) / "study"
        if chain is None:
            _write(draft, example, seconds, size)
        else:
            _write_chain(draft, chain, seconds, size)
        folder.mkdir(exist_ok=True)
        for part in sorted(draft.iterdir()):
            shutil.move(part, folder / part.name)
    return folder / ("study.yaml" if chain is None else chain.name)


def _chain_of(source: Path, method: str, preset: str) -> Path:
    """Return the file of the chain that a method has under this name."""
    from beholder.errors import did_you_mean
    from beholder.formats import listed

    chains = {path.parent.name: path for path in sorted(source.glob("*/chain.yaml"))}
    if preset not in chains:
        what = f"is {preset}, and {method} has no studies of this name"
        allowed = listed(list(chains)) if chains else f"none with {method}; mismatch has genea"
        raise StudyError(Problem("--preset", what, allowed, did_you_mean(preset, list(chains))))
    return chains[preset]


def _write_chain(draft: Path, chain: Path, seconds: float, size: tuple[int, int] | None) -> None:
    """Write the studies of a chain, each to a folder of its own, with the same sample stimuli in all."""
    import shutil

    draft.mkdir()
    shutil.copyfile(chain, draft / chain.name)
    made: dict[tuple[str, ...], Path] = {}
    for example in sorted(chain.parent.glob("*/example.yaml")):
        _write(draft / example.parent.name, example, seconds, size, made)


def _refuse_used(folder: Path) -> None:
    allowed, fix = "a new or an empty folder", "Choose another name."
    if folder.exists() and not folder.is_dir():
        raise StudyError(Problem(str(folder), "is a file", allowed, fix))
    if folder.is_dir() and any(folder.iterdir()):
        raise StudyError(Problem(str(folder), "is not empty", allowed, fix))


def _write(
    draft: Path,
    example: Path,
    seconds: float,
    size: tuple[int, int] | None,
    made: dict[tuple[str, ...], Path] | None = None,
) -> None:
    """Write a whole study to a folder that does not exist yet; samples that are `made` already are copied."""
    import json
    import shutil

    from beholder.methods import load_study
    from beholder.stimuli.samples import make_samples, make_transcripts
    from beholder.study import schema

    draft.mkdir()
    lines = example.read_text("utf-8").splitlines()
    if lines[0] != SCHEMA_LINE:
        lines.insert(0, SCHEMA_LINE)
    text = "\n".join(lines) + "\n"
    if not any(line.startswith("recruit:") for line in lines):
        text += _RECRUIT
    (draft / "study.yaml").write_text(text, "utf-8", newline="\n")
    (draft / "study.schema.json").write_text(json.dumps(schema(), indent=2) + "\n", "utf-8", newline="\n")
    (draft / ".gitignore").write_text(IGNORED, "utf-8", newline="\n")
    texts = example.parent / "texts"
    if texts.is_dir():
        # Its folders are translations.
        shutil.copytree(texts, draft / "texts", ignore=lambda _, names: {n for n in names if not n.endswith(".md")})
    study = load_study(draft)
    if study.stimuli.folder is not None:
        conditions, stimuli = tuple(condition.name for condition in study.conditions), draft / study.stimuli.folder
        if made is not None and conditions in made:
            shutil.copytree(made[conditions], stimuli)
        else:
            make_samples(stimuli, conditions=conditions or None, seconds=seconds, size=size)
        if made is not None:
            made[conditions] = stimuli
    if transcripts := study.options.get("transcripts"):
        make_transcripts(draft / transcripts)
