"""The workshop: what can be made of the researcher's own files, made again only after a change.

jobs      what is to be made, done in parallel, remembered beside the outputs
ledger    .beholder-made.json: what was made by which recipe
walking   the media among files and folders
anchors   sounds and videos -> anchors, <out>/lowpass-3500/<name>.wav, <out>/blur-4/<name>.mp4
degrade   how a video is made worse, in step with its reference
cadence   when the frames of a video are shown
encoding  how videos are written
stacks    two videos, or two folders of them -> one video, side by side
frames    how two videos become one, frame by frame
impair    a clean video -> one sample for each kind of impairment
messages  media -> copies that ask for an answer, and their lines for a manifest
flaws     what each kind does to the pictures
prepare   any media -> what browsers play
reencode  how a video becomes one that browsers play
levelling sounds brought to one loudness
probing   any media -> what they hold, in rows
"""

from __future__ import annotations

from beholder.stimuli.workshop.anchors import make_anchors
from beholder.stimuli.workshop.impairments import make_impaired
from beholder.stimuli.workshop.jobs import WorkshopResult
from beholder.stimuli.workshop.messages import make_messages
from beholder.stimuli.workshop.preparation import make_prepared
from beholder.stimuli.workshop.probe import ProbeRow, as_json, as_table, probe_media
from beholder.stimuli.workshop.stacks import make_stacks

__all__ = [
    "ProbeRow",
    "WorkshopResult",
    "as_json",
    "as_table",
    "make_anchors",
    "make_impaired",
    "make_messages",
    "make_prepared",
    "make_stacks",
    "probe_media",
]
