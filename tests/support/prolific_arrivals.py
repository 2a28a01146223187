"""Addresses of participants from Prolific."""

from __future__ import annotations

BACK = "https://app.prolific.com/submissions/complete?cc="
