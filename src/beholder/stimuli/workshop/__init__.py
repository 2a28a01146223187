"""The workshop: `beholder media` makes new files of the researcher's own, again only after a change.

jobs          run in parallel, recorded in .beholder-made.json; media files among folders
clips         videos as measured: rate, colours, when frames are shown
preparation   any media -> what browsers play
probe         any media -> what they hold, in rows
anchors       sounds and videos -> anchors, <out>/lowpass-3500/<name>.wav, <out>/blur-4/<name>.mp4
stacks        two videos, or two folders of them -> one video, side by side
impairments   a clean video -> one sample for each kind of impairment
messages      media -> copies that ask for an answer, and their lines for a manifest
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
