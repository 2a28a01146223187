"""The workshop: anchors and stacks made from the researcher's own files, again only where something has changed.

jobs      what is to be made, done in parallel, remembered beside the outputs
ledger    .beholder-made.json: what was made by which recipe
anchors   sounds -> low-pass anchors, <out>/lowpass-3500/<name>.wav
stacks    two videos, or two folders of them -> one video, side by side
frames    how two videos become one, frame by frame
"""

from __future__ import annotations

from beholder.stimuli.workshop.anchors import make_anchors
from beholder.stimuli.workshop.jobs import Made
from beholder.stimuli.workshop.stacks import make_stacks

__all__ = ["Made", "make_anchors", "make_stacks"]
