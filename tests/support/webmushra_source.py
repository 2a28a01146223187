"""Folders as webMUSHRA leaves them: a configuration, results and sounds, with people who were made up."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from support.small_media import write_stimulus

MUSHRA = """\
testname: Codecs at 24 kbit/s: a test
testId: Codec_Test
bufferSize: 2048
stopOnErrors: true
showButtonPreviousPage: true
remoteService: service/write.php
pages:
  - type: generic
    id: first
    name: Welcome
    content: Compare <b>all</b> versions with the reference: take your time. <script>alert(1)</script>
  - type: volume
    id: level
    name: Volume
    content: Set it once.
    stimulus: sounds/reference-a.wav
    defaultVolume: 0.5
  -
    - random
    - type: mushra
      id: a
      name: First
      content: Rate all
      showWaveform: true
      enableLooping: true
      reference: sounds/reference-a.wav
      createAnchor35: true
      createAnchor70: true
      stimuli:
        new: sounds/new-a.wav
        old: sounds/old-a.wav
    - type: mushra
      id: b
      name: Second
      content: Rate all
      reference: sounds/reference-b.wav
      createAnchor35: true
      createAnchor70: true
      stimuli:
        new: sounds/new-b.wav
        old: sounds/old-b.wav
  - type: finish
    name: Thanks
    content: That was it
    showResults: true
    writeResults: true
    questionnaire:
      - {type: text, label: E-mail, name: email}
      - {type: number, label: Age, name: age, min: 0, max: 120}
      - type: likert
        name: trained
        label: Trained?
        response: [{value: yes, label: A lot}, {value: no, label: Not at all}]
"""
"""Two pages with anchors, in an order of chance, between pages of words and a questionnaire."""
MUSHRA_COLUMNS = (
    "session_test_id", "email", "age", "trained", "session_uuid", "trial_id", "rating_stimulus", "rating_score",
    "rating_time", "rating_comment",
)  # fmt: skip
LEVELS: Mapping[str, int] = {"reference": 98, "new": 70, "old": 45, "anchor35": 10, "anchor70": 25}
"""What everybody scores, up to two points."""


def write_source(folder: Path, configuration: str = MUSHRA, results: Mapping[str, str] | None = None) -> Path:
    """Write a web root with a configuration, the sounds that it names, and files of results by their names."""
    (folder / "configs").mkdir(parents=True)
    (folder / "configs" / "test.yaml").write_text(configuration, "utf-8")
    for content in ("a", "b"):
        for strength, version in enumerate(("reference", "new", "old"), 3):
            write_stimulus(folder / "sounds" / f"{version}-{content}.wav", strength + 2 * (content == "b"))
    for name, text in (results or {}).items():
        path = folder / "results" / "codec-test" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, "utf-8", newline="")
    return folder


def mushra_results(people: int = 3, *more: Sequence[object]) -> str:
    """Return mushra.csv of people who scored both pages, and then `more` rows."""
    rows: list[Sequence[object]] = [MUSHRA_COLUMNS]
    for person in range(people):
        who = ("codec_test", f"p{person}@example.org", 20 + person, "yes" if person % 2 else "no", f"u{person}")
        for content in ("a", "b"):
            for name, level in LEVELS.items():
                rows.append((*who, content, name, min(100, level + person), 12_000 + person, ""))
    return "".join(",".join(f'"{cell}"' for cell in row) + "\r\n" for row in (*rows, *more))


# Every kind of page on which something is rated


EVERY_KIND = """\
testname: Every kind of page
testId: kinds
pages:
  - type: consent
    id: consent
    name: Consent
    content: Do you <em>agree</em>?
    mustConsent: true
  - type: generic
    id: training
    name: Training
    content: <p>Listen first.</p><audio><source src="sounds/old-a.wav"></audio>
  - type: bs1116
    id: grade
    name: Grade
    content: Which is worse?
    reference: sounds/reference-a.wav
    createAnchor35: true
    stimuli: {new: sounds/new-a.wav, old: sounds/old-a.wav}
  - type: paired_comparison
    id: which
    name: Which
    content: Which is the reference?
    unforced: I cannot tell
    reference: sounds/reference-a.wav
    stimuli: {new: sounds/new-a.wav, old: sounds/old-a.wav}
  - - random
    - - type: likert_single_stimulus
        id: single
        name: Natural
        content: How natural is it?
        mustPlayback: ended
        mustRate: true
        maxStimuli: 1
        stimuli: {new: sounds/new-a.wav, old: sounds/old-a.wav}
        response:
          - - {value: not at all, label: Not at all, img: no.png}
            - {value: somewhat, label: Somewhat}
            - {value: much, label: Much}
          - - {value: 1, label: Slow}
            - {value: 2, label: Fast}
      - type: likert_multi_stimulus
        id: many
        name: Loud
        content: How loud?
        mustPlayback: processUpdate
        stimuli: {new: sounds/new-b.wav, old: sounds/old-b.wav}
        response: [{value: low, label: Low}, {value: high, label: High}]
  - type: finish
    name: Thanks
    content: Bye
"""
KIND_RESULTS: Mapping[str, str] = {
    "bs1116.csv": "session_test_id,trial_id,rating_reference,rating_non_reference,rating_reference_score,"
    "rating_non_reference_score,rating_time,choice_comment\n"
    "kinds,grade,reference,new,5.0,4.25,9000,\nkinds,grade,reference,old,4.9,3.1,8000,\n"
    "kinds,grade,reference,new,5,4,7000,\n",
    "paired_comparison.csv": "session_test_id,trial_id,choice_reference,choice_non_reference,choice_answer,choice_time,"
    "choice_comment\n"
    "kinds,which,reference,new,correct,5000,\nkinds,which,reference,old,undecided,4000,\n"
    "kinds,which,reference,new,incorrect,3000,\nkinds,which,reference,old,unknown,3000,\n",
    "lss.csv": "session_test_id,trial_id,stimuli_rating1,stimuli_rating2,stimuli,rating_time\n"
    "kinds,single,somewhat,2,new,5000\nkinds,single,much,NA,old,4000\nkinds,single,never,1,new,4000\n",
    "lms.csv": "session_test_id,trial_id,stimuli_rating,stimuli,rating_time\n"
    "kinds,many, high ,new,5000\nkinds,many, low ,old,5000\n",
}  # fmt: skip
"""Results of two visits without an id, with an answer that is none and one that is no answer of the page."""
