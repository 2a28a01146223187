"""Checks: from evidence to a verdict with its reason.

Rules over a session (`contract`, `registry`) judge what somebody did while rating: `known_answers`, `answer_patterns`,
`playback`, `agreement`. Checks with a page of their own (`page_contract`, `page_registry`) are a folder each,
with the page and its words; `pictures` and `sounds` are what they draw with.
"""
