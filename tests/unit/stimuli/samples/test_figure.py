"""The sample figure: drawn at the size of its wall, and differently for each pose and person."""

from __future__ import annotations

import numpy as np

from beholder.stimuli.samples.figure import FIGURES, draw_figure, paint_wall
from beholder.stimuli.samples.video import talk_motion

SIZE = (96, 54)


def test_the_figure_shows_its_pose_and_its_person() -> None:
    motion = talk_motion(0, 20, np.random.default_rng(0))
    poses = [{name: float(curve[place]) for name, curve in motion.items()} for place in (0, 19)]
    pictures = [
        draw_figure(pose, person, paint_wall(person, SIZE)) for pose in poses for person in (FIGURES[0], FIGURES[1])
    ]
    assert {picture.size for picture in pictures} == {SIZE}
    assert len({picture.tobytes() for picture in pictures}) == 4
