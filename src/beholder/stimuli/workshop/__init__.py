"""The workshop: anchors, stacks and impaired samples of the researcher's own files, made again only after a change.

jobs      what is to be made, done in parallel, remembered beside the outputs
ledger    .beholder-made.json: what was made by which recipe
anchors   sounds -> low-pass anchors, <out>/lowpass-3500/<name>.wav
stacks    two videos, or two folders of them -> one video, side by side
frames    how two videos become one, frame by frame
impair    a clean video -> one sample for each kind of impairment
flaws     what each kind does to the pictures
"""

from __future__ import annotations

from beholder.stimuli.workshop.anchors import make_anchors
from beholder.stimuli.workshop.impair import make_impaired
from beholder.stimuli.workshop.jobs import Made
from beholder.stimuli.workshop.stacks import make_stacks

__all__ = ["Made", "make_anchors", "make_impaired", "make_stacks"]
