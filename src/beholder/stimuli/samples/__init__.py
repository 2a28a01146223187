"""Sample stimuli of every medium, made by us, under degradations that people can rank: for demos and new studies.

qualities   the sample conditions of each medium, with the quality planted for robots to find
make        conditions -> files
talks       video: somebody who talks with face and hands (figure, motion, outline)
tunes       audio: short phrases of instruments and a voice (instruments, damage)
scenes      images: places and a portrait
passages    texts: answers to everyday questions, well and badly written
"""

from __future__ import annotations

from beholder.stimuli.samples.generation import QUALITIES, SAMPLE_CONDITIONS, content_name, make_samples, medium_of

__all__ = ["QUALITIES", "SAMPLE_CONDITIONS", "content_name", "make_samples", "medium_of"]
