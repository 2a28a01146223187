"""The browser's half: modules, styles and words, served as they are."""
