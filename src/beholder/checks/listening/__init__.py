"""Listening checks: `headphones` (with `pitch`), `tones` and `sides`; `sounds` is what they share."""
