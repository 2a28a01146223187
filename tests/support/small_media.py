"""Small files of every medium."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from PIL import Image

from beholder.stimuli.ffmpeg import run_ffmpeg
from beholder.stimuli.pcm import write_wav


def write_stimulus(path: Path, strength: int, *, has_sound: bool = False) -> None:
    """Write a small file of the medium of its suffix; `strength`, from 1 to 9, makes it another one.

    A video is silent unless it `has_sound`.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    draw = np.random.default_rng(strength)
    if path.suffix == ".wav":
        write_wav(path, draw.uniform(-0.1, 0.1, 4410) * strength, 44100)
    elif path.suffix == ".png":
        Image.fromarray(draw.integers(0, 25 * strength, (16, 24, 3), dtype=np.uint8)).save(path)
    elif path.suffix == ".txt":
        path.write_text("Some words. " * strength, "utf-8")
    else:
        sound = ("-f", "lavfi", "-i", f"sine=f={200 * strength}:d=0.4") if has_sound else ()
        picture = ("-f", "lavfi", "-i", "testsrc2=s=64x48:d=0.4:r=25", *sound, "-vf", f"hue=h={strength * 40}")
        assert run_ffmpeg([*picture, "-c:v", "libx264", "-pix_fmt", "yuv420p", str(path)]).code == 0
