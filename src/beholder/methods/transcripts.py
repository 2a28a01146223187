"""Transcripts: what is said in each content, as words with their times, from files beside the stimuli.

`<folder>/<content>.txt` is plain text; `<folder>/<content>.csv` has a line for each word: word, and in seconds start
and end. What is said otherwise under one condition stands in `<folder>/<condition>/`. A text has its own words.
"""

from __future__ import annotations

import csv
import hashlib
import io
import math
import unicodedata
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Annotated, ClassVar, NamedTuple

import regex
from pydantic import Field

from beholder.errors import StudyError
from beholder.formats import first_names
from beholder.methods.boards import single_units
from beholder.methods.contract import (
    Catalogue,
    Generator,
    Json,
    Medium,
    Problem,
    Question,
    Refused,
    Scale,
    Slot,
    Stimulus,
    Study,
    Trial,
    Unit,
    Units,
)
from beholder.methods.presentation import (
    hidden_role,
    medium_problems,
    question_problems,
    single_problems,
    unscaled_problems,
)
from beholder.methods.scores import answer_parts, ask_cached, exact_object, read_comment, read_missing
from beholder.stats.word_errors import word_errors
from beholder.stimuli.sources import normalised_name, path_inside
from beholder.stimuli.text import UNSPACED, visible_text
from beholder.study.parts import Text

TranscriptFolder = Annotated[
    Text,
    Field(
        description="The folder of what is said in each content: `<content>.txt`, or `<content>.csv` with word, start "
        "and end in seconds. Under one condition otherwise: `<condition>/<content>.txt`.",
    ),
]
_SUFFIXES = (".csv", ".txt")
_MOST_WORDS = 300
_MOST_LETTERS = 200
_MOST_BYTES = 100_000
_COLUMNS = ("word", "start", "end")
_EXPECTED = "a header line word,start,end, and a line for each word"
_CONTROLS = regex.compile(r"[\p{Cc}--[\t\n\v\f\r\x85]]", regex.V1)
_LATEST_MS = 500
"""How far the last word may end after its clip: aligners round."""


class Transcript(NamedTuple):
    """The words of a content in order, each with what follows it up to the next: `storm. `."""

    words: tuple[str, ...]
    times: tuple[tuple[int, int], ...] = ()
    """When each word begins and ends, in milliseconds; empty where that is not known."""

    @property
    def text(self) -> str:
        """The whole text."""
        return "".join(self.words).strip()


class TranscriptMethod:
    """Base of methods whose trial is one stimulus, and whose ratings are shares of the words that are said in it.

    An answer is by question; of a stimulus that would not play it is empty.
    """

    name: ClassVar[str]
    media: ClassVar[frozenset[Medium]]
    scale: ClassVar[Scale]
    """Of the ratings: a study writes none."""
    answered_by: ClassVar[str]
    """How people answer, as a reason why there is no scale."""
    part: ClassVar[str]
    """The key of an answer that holds the questions."""
    shape: ClassVar[str]
    """An answer to show."""
    most_characters: ClassVar[int] = _MOST_BYTES
    """Of a transcript."""
    counts_faults: ClassVar[bool] = False
    """Whether more words mean less quality."""

    def word_count(self, trial: Trial) -> int:
        """Return of how many words the rating is a share."""
        raise NotImplementedError

    def draws(self, study: Study, transcript: Transcript) -> dict[str, Json]:
        """Return what a trial keeps of a transcript."""
        raise NotImplementedError

    def read_question(self, trial: Trial, given: Json, where: str) -> Json:
        """Return the answer to one question as it is kept, or raise Refused."""
        raise NotImplementedError

    def questions(self, study: Study) -> tuple[Question, ...]:
        return _scaled_questions(study.questions, self.scale)

    def problems(self, study: Study, catalogue: Catalogue) -> Iterable[Problem]:
        yield from question_problems(self.name, self.questions(study))
        yield from unscaled_problems(self.name, study, self.answered_by)
        yield from medium_problems(self.name, self.media, catalogue)
        yield from single_problems(self.name, study)
        yield from transcript_problems(study, catalogue, self.most_characters)

    def units(self, study: Study, catalogue: Catalogue) -> Units:
        return single_units(catalogue.by_cell.values())

    def compose(self, study: Study, unit: Unit, catalogue: Catalogue, rng: Generator) -> Trial:
        stimulus = catalogue.by_id[unit.stimuli[0]]
        return Trial(
            id=stimulus.id,
            content=unit.content,
            purpose="rate",
            slots=(Slot("s1", stimulus.id, hidden_role(stimulus), None, True, None),),
            asked=ask_cached(self.questions(study)),
            draws=self.draws(study, transcript_of(study, stimulus)),
        )

    def read(self, trial: Trial, answer: Json) -> Json:
        given = answer_parts(answer, (self.part, "missing", "comment"), self.shape)
        where = f"answer.{self.part}"
        missing = read_missing(trial, given.get("missing", {}))
        if missing:
            if given.get(self.part, {}) != {}:
                raise Refused.because("nothing_to_answer", where=where, allowed="{} where a slot is missing")
            return {self.part: {}, "missing": missing, **read_comment(given)}
        asked = exact_object(given.get(self.part), [one.id for one in trial.asked], where, self.part)
        read = {name: self.read_question(trial, one, f"{where}.{name}") for name, one in asked.items()}
        return {self.part: read, **read_comment(given)}


# A plan composes every trial from the same few questions.
@lru_cache(maxsize=32)
def _scaled_questions(questions: tuple[Question, ...], scale: Scale) -> tuple[Question, ...]:
    return tuple(question.model_copy(update={"scale": scale}) for question in questions)


def transcript_of(study: Study, stimulus: Stimulus) -> Transcript:
    """Return the words of a stimulus; raises StudyError where they cannot be read, which `problems` has told before."""
    if stimulus.medium == "text":
        return Transcript(split_words(visible_text(stimulus.served.read_text("utf-8"))))
    path = _find(study, stimulus)
    if path is None:
        raise StudyError(study.problem("options.transcripts", f"has no text of {stimulus.content}"))
    return _read(path, path.relative_to(study.folder.absolute()).as_posix(), path.stat().st_mtime_ns)


def transcript_problems(study: Study, catalogue: Catalogue, most_characters: int) -> Iterator[Problem]:
    """Yield contents without a transcript, and files that cannot be read, do not fit their clip or are too long."""
    clips = [stimulus for stimulus in catalogue.stimuli if stimulus.medium != "text"]
    texts = [stimulus for stimulus in catalogue.stimuli if stimulus.medium == "text"]
    for stimulus in texts:
        if stimulus.probe.words > _MOST_WORDS:
            yield _too_long(stimulus.file, stimulus.probe.words)
    name = str(study.options["transcripts"])
    folder = path_inside(study.folder.absolute(), name)
    if clips and (folder is None or not folder.is_dir()):
        what = "lies outside the study folder" if folder is None else "is not there"
        fix = f"Make the folder {name} with a text for each content, such as {name}/{clips[0].content}.txt."
        yield Problem("options.transcripts", f"is {name}, which {what}", "a folder in the study folder", fix)
        return
    without = sorted({stimulus.content for stimulus in clips if _find(study, stimulus) is None})
    if without:
        what = f"is {name}, which has no text of {first_names(without, 4)}"
        fix = f"Write {name}/{without[0]}.txt, or {name}/{without[0]}.csv with the time of every word."
        yield Problem("options.transcripts", what, "a text for each content", fix)
    longest: dict[Path, int] = {}
    for stimulus in clips:
        if path := _find(study, stimulus):
            longest[path] = max(longest.get(path, 0), stimulus.probe.duration_ms)
    for path, duration_ms in longest.items():
        where = path.relative_to(study.folder.absolute()).as_posix()
        try:
            read = _read(path, where, path.stat().st_mtime_ns)
        except StudyError as error:
            yield from error.problems
            continue
        last_ms = max((end for _, end in read.times), default=0)
        if last_ms > duration_ms + _LATEST_MS:
            what = f"ends at {last_ms / 1000:g} s, and its clip lasts {duration_ms / 1000:g} s"
            yield Problem(where, what, "times in seconds, within the clip")
        if len(read.text) > most_characters:
            what = f"has {len(read.text)} characters, and people type up to {most_characters}"
            yield Problem(where, what, f"up to {most_characters}", "Cut the clip into parts.")


def transcript_hash(study: Study) -> str:
    """Return the SHA-256 of all transcripts of a study, which its plan depends on; empty where it has none."""
    folder = path_inside(study.folder.absolute(), str(study.options.get("transcripts") or ""))
    if "transcripts" not in study.options or folder is None or not folder.is_dir():
        return ""
    found = hashlib.sha256()
    for path in sorted(path for path in folder.rglob("*") if path.suffix.lower() in _SUFFIXES and path.is_file()):
        found.update(f"{path.relative_to(folder).as_posix()}\n".encode() + path.read_bytes() + b"\0")
    return found.hexdigest()


def _find(study: Study, stimulus: Stimulus) -> Path | None:
    """Return the file of a stimulus: that of its condition before that of its content, with times before without."""
    folder = path_inside(study.folder.absolute(), str(study.options["transcripts"]))
    if folder is None:
        return None
    for place in (folder / stimulus.condition, folder):
        known = {normalised_name(name): path for name, path in _names_in(place).items()}
        for suffix in _SUFFIXES:
            if found := known.get(normalised_name(stimulus.content) + suffix):
                return found
    return None


def _names_in(folder: Path) -> dict[str, Path]:
    return {path.name: path for path in folder.iterdir() if path.is_file()} if folder.is_dir() else {}


# A plan composes very many trials from the same few files.
@lru_cache(maxsize=4096)
def _read(path: Path, where: str, _changed_ns: int) -> Transcript:
    """Return the words in a file, or raise StudyError with every problem; `where` is how problems call it."""
    if path.stat().st_size > _MOST_BYTES:
        raise StudyError(Problem(where, f"has more than {_MOST_BYTES} bytes", "the words of one clip"))
    try:
        text = path.read_text("utf-8-sig")
    except UnicodeDecodeError:
        raise StudyError(Problem(where, "is not UTF-8", "UTF-8", "Save it as UTF-8.")) from None
    if odd := _CONTROLS.search(text):
        what = f"has the control character {odd[0]!r} in line {text.count(chr(10), 0, odd.start()) + 1}"
        raise StudyError(Problem(where, what, "text", "Take it out: it cannot be read."))
    read = _read_timed(text, where) if path.suffix.lower() == ".csv" else Transcript(split_words(text))
    if not read.words:
        raise StudyError(Problem(where, "holds no words", "what is said in the clip", "Write the text."))
    if len(read.words) > _MOST_WORDS:
        raise StudyError(_too_long(where, len(read.words)))
    if (longest := max(map(len, read.words))) > _MOST_LETTERS:
        raise StudyError(Problem(where, f"has a word of {longest} letters", f"up to {_MOST_LETTERS}"))
    return read


def _too_long(where: str, count: int) -> Problem:
    return Problem(where, f"has {count} words", f"up to {_MOST_WORDS}", "Cut the clip into parts.")


def _read_timed(text: str, where: str) -> Transcript:
    rows = csv.DictReader(io.StringIO(text))
    if tuple(name.strip().lower() for name in rows.fieldnames or ()) != _COLUMNS:
        found = ",".join(rows.fieldnames or ()) or "nothing"
        raise StudyError(Problem(f"{where}:1", f"begins with {found}", _EXPECTED))
    problems, words, times, before = [], [], [], 0
    for row in rows:
        line = f"{where}:{rows.line_num}"
        if None in row:
            problems.append(Problem(line, f"has {len(row) - 1 + len(row[None])} cells", _EXPECTED))
            continue
        cells = {str(name).strip().lower(): " ".join(str(cell or "").split()) for name, cell in row.items()}
        if not any(letter.isalnum() for letter in cells["word"]):
            problems.append(Problem(line, f"has no word in {','.join(cells.values())!r}", _EXPECTED))
            continue
        start, end = (_milliseconds(cells[name]) for name in ("start", "end"))
        if start is None or end is None or not before <= start <= end:
            what = f"begins at {cells['start'] or 'nothing'} and ends at {cells['end'] or 'nothing'}"
            problems.append(Problem(line, what, f"seconds from {before / 1000:g} on, the end after the start"))
            continue
        words.append(f"{cells['word']} ")
        times.append((start, end))
        before = start
    if problems:
        raise StudyError(problems)
    return Transcript(tuple(words), tuple(times))


def _milliseconds(cell: str) -> int | None:
    try:
        seconds = float(cell)
    except ValueError:
        return None
    return round(1000 * seconds) if math.isfinite(seconds) and 0 <= seconds < 86400 else None


# Words


def split_words(text: str) -> tuple[str, ...]:
    """Return the words of a text, each with the punctuation around it and the space after it.

    Where a script puts no space between words, by the boundaries of Unicode (UAX 29): of Chinese, every character.
    """
    words: list[str] = []
    opening = ""
    for run in regex.findall(r"\S+\s*", unicodedata.normalize("NFC", text).strip()):
        run = regex.sub(r"\s+", lambda space: "\n" if "\n" in space[0] else " ", run)
        for piece in regex.split(r"(?V1w)\b", run) if UNSPACED.search(run) else [run]:
            if any(letter.isalnum() for letter in piece):
                words.append(opening + piece)
                opening = ""
            elif words and not opening and (not piece.strip() or not _opens(piece)):
                words[-1] += piece
            else:
                opening += piece
    if words:
        words[-1] = f"{words[-1]}{opening}".rstrip()
    return tuple(words)


def _opens(piece: str) -> bool:
    """Return whether punctuation belongs to what follows: brackets and quotation marks that open."""
    return unicodedata.category(piece.strip()[-1]) in ("Ps", "Pi") or piece.strip()[-1] in "¿¡"


def bare_word(word: str) -> str:
    """Return a word without the punctuation and space around it."""
    return str(regex.sub(r"^[\p{P}\p{S}\s]+|[\p{P}\p{S}\s]+$", "", word)) or word.strip()


# Words as they are compared


_UNSEEN = regex.compile(r"[\p{Cf}'’‘ʼ`´]")
"""Apostrophes, and what joins or parts letters and is not seen."""
_POINTED = regex.compile(r"[\p{Script=Arabic}\p{Script=Hebrew}]")
_POINTS = regex.compile(r"[\p{Mn}ـ]")
_SEPARATORS = regex.compile(r"[^\p{L}\p{M}\p{N}]+")


def compared_words(text: str, alike: Mapping[str, str] | None = None) -> tuple[str, ...]:
    """Return the words of a text as two texts are compared: without case, punctuation and ways to write the same.

    Unicode's compatibility form (NFKC) with case folded; apostrophes go (`don't` is `dont`), and all other punctuation
    parts words; the vowel signs of Arabic and Hebrew go, which few people type. Of scripts without spaces words are
    those of `split_words`: of Chinese, every character. `alike` has words in place of which others are taken.
    """
    plain = unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", text).casefold())
    words: list[str] = []
    for run in _SEPARATORS.split(_UNSEEN.sub("", plain)):
        run = _POINTS.sub("", run) if _POINTED.search(run) else run
        words += split_words(run) if UNSPACED.search(run) else [run] if run else []
    return tuple(words) if not alike else tuple(alike.get(word, word) for word in words)


def share_right(said: Sequence[str], heard: Sequence[str]) -> float:
    """Return the share of the words that were said which are right in what was heard."""
    return word_errors(said, heard).right / len(said)
