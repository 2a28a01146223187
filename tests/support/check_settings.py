"""Settings of every check that has a page."""

from __future__ import annotations

QUIZ = [
    {"id": f"zqitem{n}", "text": f"Which is {n}?", "options": ["this", "zqright", "that"], "correct": "zqright"}
    for n in range(4)
]
EVERY = {
    "device": True, "screen": True, "refresh": True, "media": True, "network": True, "remote": True,
    "language": True,
    "questions": {"items": QUIZ, "draw": 2}, "colour": True, "acuity": True, "display": True, "brightness": True,
    "distance": True, "headphones": {"strict": True}, "tones": True, "sides": True,
}  # fmt: skip
