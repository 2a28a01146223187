"""The docs inside the package: every page and passage, offline.

passages     the pages cut at their headings, and the passage that explains a key, method, check, command or message
html_pages   the same pages as files that a browser shows
"""

from __future__ import annotations

from beholder.handbook.html_pages import write_html
from beholder.handbook.passages import Explanation, Passage, docs_passages, find_passages

__all__ = ["Explanation", "Passage", "docs_passages", "find_passages", "write_html"]
