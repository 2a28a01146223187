"""Sample stimuli of every medium under degradations that people can rank: for demos and new studies.

generation   the sample conditions of each medium with their planted quality, and writing all files
video        a person who talks with face and hands (drawn by figure)
audio        short phrases of instruments and a voice
sentences    spoken sentences under noise, with transcripts
image        places and a portrait
text         answers to everyday questions, well and badly written
"""

from __future__ import annotations

from beholder.stimuli.samples.generation import (
    QUALITIES,
    SAMPLE_ASPECTS,
    SAMPLE_CONDITIONS,
    content_name,
    make_samples,
    make_transcripts,
    medium_of,
)

__all__ = [
    "QUALITIES",
    "SAMPLE_ASPECTS",
    "SAMPLE_CONDITIONS",
    "content_name",
    "make_samples",
    "make_transcripts",
    "medium_of",
]
