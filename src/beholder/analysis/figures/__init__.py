"""Figures: each function draws a table of results as an Altair chart."""
