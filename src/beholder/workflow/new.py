"""`new`: a study folder with sample stimuli that runs as it is."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from beholder.errors import Problem, StudyError

if TYPE_CHECKING:
    from yaml import Node

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
    language: str = "en",
    seconds: float = 3.0,
    size: tuple[int, int] | None = None,
) -> Path:
    """Return the study.yaml of a new study in `folder`, with sample stimuli, a schema for editors and its texts.

    Most of the time:
        method          the method, which is what the study is an example of
        folder          a new or an empty folder
        preset          studies that belong together, such as `genea` of `mismatch`: then it is their chain.yaml that
                        is returned, and each of them has a folder of its own
        language        that of the texts for participants, such as `de`; or several, such as `en,de`: then people
                        can take part in each of them

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
    languages = _known_languages(language)
    folder.parent.mkdir(parents=True, exist_ok=True)
    # Written to a temporary folder and moved at the end, so that a failure leaves nothing that blocks the next try.
    with tempfile.TemporaryDirectory(prefix=".new-", dir=folder.parent) as aside:
        draft = Path(aside) / "study"
        if chain is None:
            _write(draft, example, languages, seconds, size)
        else:
            _write_chain(draft, chain, languages, seconds, size)
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


def _write_chain(
    draft: Path, chain: Path, languages: Sequence[str], seconds: float, size: tuple[int, int] | None
) -> None:
    """Write the studies of a chain, each to a folder of its own, with the same sample stimuli in all."""
    import shutil

    draft.mkdir()
    shutil.copyfile(chain, draft / chain.name)
    made: dict[tuple[str, ...], Path] = {}
    for example in sorted(chain.parent.glob("*/example.yaml")):
        _write(draft / example.parent.name, example, languages, seconds, size, made)


def _refuse_used(folder: Path) -> None:
    allowed, fix = "a new or an empty folder", "Choose another name."
    if folder.exists() and not folder.is_dir():
        raise StudyError(Problem(str(folder), "is a file", allowed, fix))
    if folder.is_dir() and any(folder.iterdir()):
        raise StudyError(Problem(str(folder), "is not empty", allowed, fix))


def _write(
    draft: Path,
    example: Path,
    languages: Sequence[str],
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
    lines = in_languages(example, languages).splitlines()
    if lines[0] != SCHEMA_LINE:
        lines.insert(0, SCHEMA_LINE)
    text = "\n".join(lines) + "\n"
    if not any(line.startswith("recruit:") for line in lines):
        text += _RECRUIT
    (draft / "study.yaml").write_text(text, "utf-8", newline="\n")
    (draft / "study.schema.json").write_text(json.dumps(schema(), indent=2) + "\n", "utf-8", newline="\n")
    (draft / ".gitignore").write_text(IGNORED, "utf-8", newline="\n")
    _write_texts(draft, example, languages)
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


# The example in other languages

_SOURCE = "en"


def _known_languages(language: str) -> tuple[str, ...]:
    """Return the languages of a new study; raise StudyError where our words are not written in one."""
    from beholder.errors import did_you_mean
    from beholder.formats import listed
    from beholder.words import languages

    codes, known = tuple(dict.fromkeys(code.strip() for code in language.split(","))), languages()
    problems = [
        Problem("--language", f"is {code or 'empty'}, and our words are not written in it", listed(known),
                did_you_mean(code, known))
        for code in codes
        if code not in known
    ]  # fmt: skip
    if problems:
        raise StudyError(problems)
    return codes


def example_words(example: Path, language: str) -> Mapping[str, str]:
    """Return the texts of an example in a language, by their places; none in English, which stands in it."""
    import json

    from beholder.words import word_file

    file = word_file(example.parent / "words" / "example" / f"{language}.json")
    if language == _SOURCE:
        return {}
    if not file.is_file():
        what = f"is {language}, and the example of this method has no texts in it"
        raise StudyError(Problem("--language", what, "a language into which the example is translated", ""))
    words: Mapping[str, str] = json.loads(file.read_text("utf-8"))
    return words


def in_languages(example: Path, languages: Sequence[str]) -> str:
    """Return the text of an example with its texts in the first language, and with the list of languages."""
    import json

    import yaml

    text = example.read_text("utf-8")
    words = example_words(example, languages[0])
    root = yaml.compose(text, Loader=yaml.SafeLoader)
    assert root is not None
    scalars = dict(_scalars(root))
    said = {node.value: words[place] for place, node in scalars.items() if place in words}
    changes = []
    for place, node in scalars.items():
        own = words.get(place, said.get(node.value) if ".correct." in place else None)
        if own is not None:
            changes.append((node.start_mark.index, node.end_mark.index, json.dumps(own, ensure_ascii=False)))
    for start, end, own in sorted(changes, reverse=True):
        text = text[:start] + own + text[end:]
    line = f"language: {languages[0]}" if len(languages) == 1 else f"languages: [{', '.join(languages)}]"
    if languages == (_SOURCE,):
        return text
    lines = text.splitlines()
    at = next(number for number, one in enumerate(lines) if one.startswith("title:"))
    return "\n".join([*lines[: at + 1], line, *lines[at + 1 :]]) + "\n"


def _scalars(node: Node, place: str = "") -> Iterator[tuple[str, Node]]:
    """Yield every single value of a YAML tree by its place, such as `questions.0.text`."""
    import yaml

    if isinstance(node, yaml.ScalarNode):
        yield place, node
    elif isinstance(node, yaml.SequenceNode):
        for number, below in enumerate(node.value):
            yield from _scalars(below, f"{place}.{number}")
    elif isinstance(node, yaml.MappingNode):
        for key, below in node.value:
            yield from _scalars(below, f"{place}.{key.value}".lstrip("."))


def _write_texts(draft: Path, example: Path, languages: Sequence[str]) -> None:
    """Write the texts of an example: those of the first language beside each other, a folder for each of the others."""
    import json
    import shutil

    from beholder.words import word_file

    texts = example.parent / "texts"
    for code in languages:
        own = draft / "texts" if code == languages[0] else draft / "texts" / code
        source = texts if code == _SOURCE else word_file(texts / code)
        for file in sorted(source.glob("*.md")):
            own.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(file, own / file.name)
        if code != languages[0]:
            words = example_words(example, code) or json.loads(
                (example.parent / "words" / "example" / f"{_SOURCE}.json").read_text("utf-8")
            )
            own.mkdir(parents=True, exist_ok=True)
            (own / "study.yaml").write_text(_overlay(words), "utf-8", newline="\n")


def _overlay(words: Mapping[str, str]) -> str:
    """Return texts by their places as a file with the keys of a study."""
    from beholder.study.serialization import yaml_text

    tree: dict[str, object] = {}
    for place, text in words.items():
        here: dict[str, object] = tree
        *above, last = place.split(".")
        for step in above:
            below = here.setdefault(step, {})
            assert isinstance(below, dict)
            here = below
        here[last] = text
    return "# The texts of study.yaml in this language, under the same keys.\n" + yaml_text(
        {key: _as_lists(value) for key, value in tree.items()}
    )


def _as_lists(value: object) -> object:
    """Return maps whose keys count from 0 as lists; those of labels count otherwise."""
    if not isinstance(value, dict):
        return value
    inner = {key: _as_lists(below) for key, below in value.items()}
    return list(inner.values()) if list(inner) == [str(number) for number in range(len(inner))] else inner
