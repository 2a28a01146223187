"""Our texts for participants in other languages: what there is, what is missing, and how translators get at it.

- `text_files`: every text by its file and key, in English and in another language
- `po_files`: PO files for translators, and back
"""
